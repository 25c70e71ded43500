//! Every operation runs in the memory that it asks for, at every digit size, and refuses less.

use tress_modular::{Error, Limb};
use tress_modular_times::{BITS, Clock, Operation, Time, measure};

/// Counts how often it was asked.
struct Asked(u64);

impl Clock for Asked {
    const UNIT: &'static str = "questions";
    const ENOUGH: u64 = 1;

    fn now(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

fn all<L: Limb>() {
    for operation in Operation::ALL {
        for bits in [BITS[0], BITS[3], 2048] {
            let mut memory = vec![L::ZERO; operation.memory::<L>(bits)];
            let time = measure(operation, bits, &mut Asked(0), &mut memory);
            assert_eq!(time, Ok(Time { runs: 1, elapsed: 1 }), "{} of {bits} bits", operation.name());
            let less = memory.len() - 1;
            assert_eq!(measure(operation, bits, &mut Asked(0), &mut memory[..less]), Err(Error::Length));
        }
    }
}

#[test]
fn every_operation_at_every_digit_size() {
    all::<u16>();
    all::<u32>();
    all::<u64>();
}

#[test]
fn a_time_is_told_without_fractions() {
    assert_eq!(Time { runs: 4, elapsed: 10 }.thousandths(), 2500);
    assert_eq!(Time { runs: 0, elapsed: 10 }.thousandths(), 10_000);
    assert!(Operation::PAPER.iter().all(|operation| Operation::ALL.contains(operation)));
}
