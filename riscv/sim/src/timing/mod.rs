//! Timing models: when the instructions that the functional core executes would have happened on a described machine.
//!
//! A model takes instructions one at a time, in program order, and gives each its cycles: fetched, decoded, begun,
//! finished, retired. It walks no structure every cycle. What a cycle can hold (issue slots, units, wires of the bus) is
//! a `calendar` in which an instruction takes the first free place; what is taken in order (reorder buffer, queues,
//! registers) is a ring of the cycles in which places become free. As an instruction takes its place before all younger
//! ones do, the oldest ready instruction goes first, as in a machine that selects oldest first.
//!
//! ```text
//! calendar   places in cycles
//! cache      tags of one cache          bus       requests and lines on their wires
//! memory     level 1 caches, bus, level 2, regions: when data are there, who has to forget them
//! predict    target buffer, history, return stack
//! inorder    a pipeline in program order        outoforder   reorder buffer, renaming, queues
//! limit      the machine without limits: only data flow counts
//! account    where the slots went       trace     a window of cycles as a picture
//! ```

mod account;
mod bus;
mod cache;
mod calendar;
mod inorder;
mod limit;
#[cfg(test)]
mod listing;
mod memory;
mod outoforder;
mod predict;
mod trace;

pub use self::account::{Account, Cause};
pub use self::bus::BusFigures;
pub use self::cache::CacheFigures;
pub(crate) use self::inorder::InOrder;
pub(crate) use self::limit::Limit;
pub(crate) use self::memory::Memory;
pub use self::memory::{HartFigures, SharedFigures};
pub(crate) use self::outoforder::OutOfOrder;
pub use self::predict::PredictFigures;
pub use self::trace::Trace;

/// The cycles of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// Its first byte is fetched.
    pub fetch: u64,
    /// It is decoded; out of order, renamed and put into the reorder buffer.
    pub decode: u64,
    /// Its execution begins.
    pub issue: u64,
    /// Its result is there.
    pub complete: u64,
    /// It leaves the pipeline, in program order.
    pub retire: u64,
}
