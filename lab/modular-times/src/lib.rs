//! Times of every algorithm of `tress-modular` on any system. A program provides a [`Clock`] and memory, and gets
//! [`Line`]s to print. The crate needs no heap and no `std`, so it runs under MS-DOS and on a simulator.
//!
//! A clock counts nanoseconds, instructions, or ticks of an emulator. Figures of clocks with different units must not
//! share a column.
#![allow(missing_docs, reason = "only this repository uses the crate, and most names say it")]
#![no_std]
#![forbid(unsafe_code)]

mod agree;
mod calls;
mod operation;
mod run;
mod table;

pub use agree::agrees;
pub use calls::{Calls, Inlined};
pub use operation::Operation;
pub use run::measure;
pub use table::{Line, table};

pub trait Clock {
    /// The unit, such as `ns`.
    const UNIT: &'static str;

    /// Least count of a measurement, so that the clock's resolution does not matter.
    const ENOUGH: u64;

    /// The current count, which never decreases.
    fn now(&mut self) -> u64;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    pub runs: u32,
    /// Count of the clock for all runs together.
    pub elapsed: u64,
}

impl Time {
    /// Time of one run in thousandths of the clock's unit. The result is an integer, because not every system has floating point.
    pub fn thousandths(self) -> u64 {
        (self.elapsed * 1000) / u64::from(self.runs.max(1))
    }
}

/// The sizes of the paper's tables 2 to 5, in bits.
pub const BITS: [usize; 4] = [256, 512, 768, 1024];
