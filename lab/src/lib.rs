//! Measuring and comparing: how fast Tress is on this machine, against what, and how sure that is.
//!
//! [`mod@bench`] measures ciphers, modes and whole commands against their peers, in turn and in one run. How it measures is
//! the page docs/explanation/method.md; what it prints for programs is the schema of [`bench::Document`]. [`leaks`] tests whether time
//! depends on secrets (docs/explanation/side-channels.md). [`roofs`] says what this machine does at most; [`timing`] has the clocks and medians of all. [`study`] puts papers beside what
//! this machine does; [`picture`] draws; [`report`] makes one page of it all.
#![forbid(unsafe_code)]

/// Compiles the Rust example of the project's README, which no package may reach for.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub mod bench;
pub mod leaks;
pub mod picture;
pub mod report;
pub mod roofs;
pub mod study;
pub mod timing;
