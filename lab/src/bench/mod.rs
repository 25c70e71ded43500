//! `tress bench`: rows of measurements, each against its peers in turn.
//!
//! A `work::Case` is one piece of work that we and our peers can do over the same buffer, a `plan::Plan` one that was asked for; `sample` times them in
//! turn, and `visits` comes back to them until `enough` says so; medians and intervals are in [`crate::timing`]; [`record`] is what
//! comes out, and `keep` where it lies while it is made. [`command`] does the same for whole commands; [`compare`] says what
//! changed between two records, and [`builds`] between two programs that take turns.
//!
//! A cipher in a mode is always the same work, `messages`, by whoever has it: `rows` lists what is measured as a rule, [`matrix`] makes what is
//! asked for, both over the catalogue of `tress-cipher`. [`roofline`] says which of the machine's roofs binds a row. No file imports from one of a
//! floor above its own (tests/python/test_floors.py has the floors).

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
mod text;
mod theirs;
mod threads;
mod visits;
mod work;
mod worker;

pub use enough::Stopped;
pub use error::Error;
pub use list::{Listed, list, write_list};
pub use options::Options;
pub use record::{Against, Document, Missing, Row};
pub use run::run;
pub use worker::serve;

pub(crate) use machine::inspect as machine;
pub(crate) use run::rows;
pub(crate) use table::{write_machine, write_rows};
pub(crate) use text::length;
