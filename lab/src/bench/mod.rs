//! `tress bench`: rows of measurements, each measured alternately with its peers.
//!
//! A `work::BenchCase` is a piece of work that we and our peers can do over the same buffer; a `plan::Plan` is one that
//! the options select. `sample` times them alternately. `visits` comes back to each of them until `enough` stops it.
//! Medians and intervals are in [`crate::timing`]. [`record`] is the result, and `keep` its file during a run.
//! [`command`] does the same for whole commands. [`compare`] reports what changed between two records, and [`builds`]
//! what changed between two programs.
//!
//! The work of a cipher in a mode is always `messages`, for every library. `rows` lists the default rows, and
//! [`matrix`] makes those that options select; both read the catalogue of `tress-cipher`. [`roofline`] says which of
//! the machine's rooflines limits a row. No file imports from a higher floor (tests/python/test_floors.py lists the
//! floors).

pub mod builds;
mod call;
pub mod command;
pub mod compare;
mod enough;
mod error;
mod keep;
mod list;
mod machine;
pub mod matrix;
mod messages;
pub mod modular;
mod numbers;
mod options;
mod plan;
mod process;
pub mod record;
pub mod roofline;
mod rows;
mod run;
pub(crate) mod sample;
mod signatures;
mod table;
pub mod targets;
pub(crate) mod text;
mod theirs;
mod threads;
mod visits;
mod work;
mod worker;

pub use enough::Stopped;
pub use error::Error;
pub use list::{Listed, list, write_list};
pub use options::Options;
pub use record::{Against, BenchRow, Document, Missing};
pub use run::run;
pub use worker::serve;

pub(crate) use machine::inspect as machine;
pub(crate) use run::rows;
pub(crate) use table::{write_machine, write_rows};
pub(crate) use text::length;
