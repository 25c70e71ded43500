//! Computing overlapped with communicating: how long a transfer takes, in how many stages, on how many cores.
//!
//! [`model`] is the paper (Lee, Lee, Chung, Lee and Min, "Computation-Communication Overlapping in AES-CCM Using
//! Thread-Level Parallelism on a Multi-Core Processor", KIISE 16(8), 2010): equations 1 and 2 and the strategies of its
//! section 2.2. [`Problem::plan`] adds what a real transfer meets: whole stages, a smallest batch, a buffer, more cores
//! and several links (its Fig. 5), and chunks in lanes, which the paper does not have. [`measure()`] finds out what this
//! machine does, [`cache`] keeps it, and [`Recorded`] reads it from a record of `tress bench`. [`picture`] draws a plan.
//!
//! ```
//! use tress_plan::Problem;
//!
//! // 10 GB, 0.037 µs a byte to encrypt, 0.08 µs a byte to send (100 Mbit/s), 10 µs for each barrier.
//! let plan = Problem::new(10_000_000_000, 0.037e-6, 0.08e-6, 10e-6).plan()?;
//! assert_eq!(plan.stages, 8944);
//! assert!((1.46..1.47).contains(&plan.speedup));
//! # Ok::<(), tress_plan::Invalid>(())
//! ```

pub mod cache;
pub mod measure;
pub mod model;
pub mod picture;
mod planner;
#[cfg(test)]
mod properties;
mod recorded;
mod sync;
#[cfg(test)]
mod table1;

pub use measure::{Measurement, measure};
pub use model::Strategy;
pub use planner::{Compute, Invalid, Limit, Plan, Problem, Rate, SyncCost};
pub use recorded::{RecordError, Recorded, Row};
#[doc(hidden)]
pub use recorded::{date, sync_name};
