//! A table of times, in lines that programs print on every system.

use tress_arithmetic::{Error, Limb};

use crate::{Calls, Clock, Operation, Time, measure};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub digit_bits: u32,
    pub bits: usize,
    pub operation: Operation,
    pub time: Time,
}

impl Line {
    /// Writes the line: digit bits, number bits, operation, runs, and the clock's count of all runs, separated by
    /// spaces. It does not use `core::fmt`, which is larger than the measured code.
    pub fn write(&self, put: &mut impl FnMut(u8)) {
        write_number(self.digit_bits.into(), put);
        put(b' ');
        write_number(self.bits as u64, put);
        put(b' ');
        for &letter in self.operation.name().as_bytes() {
            put(letter);
        }
        put(b' ');
        write_number(self.time.runs.into(), put);
        put(b' ');
        write_number(self.time.elapsed, put);
        put(b'\n');
    }
}

fn write_number(number: u64, put: &mut impl FnMut(u8)) {
    if number >= 10 {
        write_number(number / 10, put);
    }
    put(b'0' + (number % 10) as u8);
}

/// Measures these operations at these sizes. Each time is the least of `samples` samples, because other programs only
/// add time. Operations that need more memory are left out.
pub fn table<L: Limb, P: Calls<L>>(
    operations: &[Operation],
    sizes: &[usize],
    samples: u32,
    clock: &mut impl Clock,
    memory: &mut [L],
    found: &mut impl FnMut(Line),
) -> Result<(), Error> {
    for &bits in sizes {
        for &operation in operations {
            let Some(memory) = memory.get_mut(..operation.memory::<L>(bits)) else { continue };
            let mut time = measure::<L, P>(operation, bits, clock, memory)?;
            for _ in 1..samples {
                let other = measure::<L, P>(operation, bits, clock, memory)?;
                if other.thousandths() < time.thousandths() {
                    time = other;
                }
            }
            found(Line { digit_bits: L::BITS, bits, operation, time });
        }
    }
    Ok(())
}
