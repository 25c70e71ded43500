//! Timing models: the cycles in which a described machine would execute the instructions of the functional core.
//!
//! A model takes instructions one at a time, in program order, and computes when each is fetched, decoded, issued,
//! completed and retired. It does not step through cycles. Resources with a number of entries per cycle (issue slots,
//! units, bus wires) are a `calendar`, in which an instruction takes the first free entry. Resources taken in order
//! (reorder buffer, queues, registers) are a ring of the cycles in which entries become free. An instruction takes its
//! entries before all younger ones, so the oldest ready instruction goes first, as in a machine that selects oldest
//! first.
//!
//! ```text
//! calendar   entries taken per cycle
//! cache      tags of one cache          bus       requests and lines on their wires
//! memory     level 1 caches, bus, level 2, regions: when data are ready, which lines are invalidated
//! predict    target buffer, history, return stack
//! inorder    a pipeline in program order        outoforder   reorder buffer, renaming, queues
//! limit      infinite resources: only data flow counts
//! account    how slots were used        trace     a window of cycles as a picture
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
pub(crate) use self::inorder::InOrderModel;
pub(crate) use self::limit::LimitModel;
pub(crate) use self::memory::MemoryModel;
pub use self::memory::{HartFigures, SharedFigures};
pub(crate) use self::outoforder::OutOfOrderModel;
pub use self::predict::PredictFigures;
pub use self::trace::Trace;

/// The cycles of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Times {
    /// The first byte is fetched.
    pub fetch: u64,
    /// The instruction is decoded; out of order, renamed and put into the reorder buffer.
    pub decode: u64,
    /// Execution begins.
    pub issue: u64,
    /// The result is ready.
    pub complete: u64,
    /// The instruction leaves the pipeline, in program order.
    pub retire: u64,
}
