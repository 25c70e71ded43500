//! What the simulator's tests share, with one difference: the numbers come from the fuzzer's input as long as there is any.

#[path = "../../riscv/sim/tests/common/mod.rs"]
mod tests;

use std::cell::RefCell;
use std::collections::VecDeque;

pub(crate) use tests::{Numbers as Seeded, elf, elf_with_data, encode};

/// Where a step of a program begins: the generator asks for a number below this one, and nobody else does.
const KINDS_OF_STEPS: u64 = 20;

thread_local! {
    /// What is left of the input, and whether the steps have begun: what a program finds in memory is of the seed alone.
    static FED: RefCell<(VecDeque<u8>, bool)> = const { RefCell::new((VecDeque::new(), false)) };
}

/// Numbers of an input, and where it ends those of the tests.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// The next program's steps are made of these bytes.
    pub(crate) fn feed(bytes: &[u8]) {
        FED.with_borrow_mut(|fed| *fed = (bytes.iter().copied().collect(), false));
    }

    fn fed() -> Option<u8> {
        FED.with_borrow_mut(|(left, has_begun)| if *has_begun { left.pop_front() } else { None })
    }

    /// Two bytes of the input make a number, so that an input of some hundred is a program of some hundred steps.
    pub(crate) fn next(&mut self) -> u64 {
        for byte in [Self::fed(), Self::fed()].into_iter().flatten() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        let mut numbers = tests::Numbers(self.0);
        let number = numbers.next();
        self.0 = numbers.0;
        number
    }

    /// One byte of the input where one is enough.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        if bound == KINDS_OF_STEPS {
            FED.with_borrow_mut(|(_, has_begun)| *has_begun = true);
        }
        let byte = if bound <= 0x100 { Self::fed() } else { None };
        byte.map_or_else(|| self.next() % bound, |byte| u64::from(byte) % bound)
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// An integer of 64 bits as programs meet them: small, extreme, or any.
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
