//! Times of every algorithm of `tress-modular`, on any system: a program there brings a [`Clock`] and memory, and gets
//! [`Line`]s to print. Without heap and without `std`, so that it runs under MS-DOS as well as on a simulator.
//!
//! A clock counts what it counts, seconds or instructions or ticks of an emulator; figures of different clocks do not
//! belong in one column.
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

/// What counts time.
pub trait Clock {
    /// What is counted, such as `ns`.
    const UNIT: &'static str;

    /// How long a measurement has to last at least, so that the clock's step does not show.
    const ENOUGH: u64;

    /// The count, which never goes back.
    fn now(&mut self) -> u64;
}

/// How often an operation ran, and how long that took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Runs.
    pub runs: u32,
    /// What the clock counted for all of them.
    pub elapsed: u64,
}

impl Time {
    /// One run in thousandths of the clock's unit: without floating point, which not every system has.
    pub fn thousandths(self) -> u64 {
        (self.elapsed * 1000) / u64::from(self.runs.max(1))
    }
}

/// The sizes of the paper's tables 2 to 5, in bits.
pub const BITS: [usize; 4] = [256, 512, 768, 1024];
