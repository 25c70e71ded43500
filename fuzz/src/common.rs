//! The common code of the simulator's tests, except that random numbers come from the fuzzer's input while it lasts.

#[path = "../../riscv/sim/tests/common/mod.rs"]
mod tests;

use std::cell::RefCell;
use std::collections::VecDeque;

pub(crate) use tests::{Numbers as Seeded, elf, elf_with_data, encode};

/// Only the generator asks for a number below this one, at the beginning of each step of a program.
const KINDS_OF_STEPS: u64 = 20;

thread_local! {
    /// The remaining input, and whether the steps have begun: the initial memory of a program depends only on the seed.
    static INPUT: RefCell<(VecDeque<u8>, bool)> = const { RefCell::new((VecDeque::new(), false)) };
}

/// Numbers from an input, and after its end from the generator of the tests.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Sets the input for the steps of the next program.
    pub(crate) fn feed(bytes: &[u8]) {
        INPUT.with_borrow_mut(|input| *input = (bytes.iter().copied().collect(), false));
    }

    fn input_byte() -> Option<u8> {
        INPUT.with_borrow_mut(|(left, has_begun)| if *has_begun { left.pop_front() } else { None })
    }

    /// Returns a number from two bytes of the input, so that an input of some hundred bytes is a program of about as many steps.
    pub(crate) fn next(&mut self) -> u64 {
        for byte in [Self::input_byte(), Self::input_byte()].into_iter().flatten() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        let mut numbers = tests::Numbers(self.0);
        let number = numbers.next();
        self.0 = numbers.0;
        number
    }

    /// Returns a number below `bound`, from one byte of the input if that is enough.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        if bound == KINDS_OF_STEPS {
            INPUT.with_borrow_mut(|(_, has_begun)| *has_begun = true);
        }
        let byte = if bound <= 0x100 { Self::input_byte() } else { None };
        byte.map_or_else(|| self.next() % bound, |byte| u64::from(byte) % bound)
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// Returns an integer of 64 bits: small, extreme, or any.
    pub(crate) fn integer(&mut self) -> u64 {
        match self.below(8) {
            0 => self.below(4),
            1 => self.below(4).wrapping_neg(),
            2 => 1 << self.below(64),
            3 => (1_u64 << self.below(64)).wrapping_sub(1),
            4 => (1 << self.below(64)) ^ u64::MAX,
            5 => u64::from(self.next() as u32),
            _ => self.next(),
        }
    }
}
