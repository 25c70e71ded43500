#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod cache;
pub mod measure;
pub mod model;
pub mod picture;
mod planner;
#[cfg(test)]
mod properties;
mod recorded;
mod sync;

pub use measure::{Measurement, measure};
pub use model::Strategy;
pub use planner::{Compute, Invalid, Limit, Plan, Problem, Rate, SyncCost};
pub use recorded::{RecordError, Recorded, Row};
#[doc(hidden)]
pub use recorded::{date, sync_name};
#[doc(hidden)]
pub use sync::SpinningBarrier;
