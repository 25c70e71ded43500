//! Measurements and comparisons: how fast Tress is on this machine, compared with which libraries, and with what certainty.
//!
//! [`mod@bench`] measures ciphers, modes and whole commands alternately with their peers. The page
//! docs/explanation/method.md describes the method; [`bench::Document`] is the schema of its JSON output. [`leaks`]
//! tests whether time depends on secrets (docs/explanation/side-channels.md). [`roofs`] measures the rooflines of
//! this machine. [`timing`] has the clocks and medians for all of them. [`study`] compares papers with measurements
//! on this machine; [`picture`] draws; [`report`] makes one page from the results.
#![allow(missing_docs, reason = "only this repository uses the crate, and most names say it")]
#![forbid(unsafe_code)]

/// Compiles the Rust example of the project's README, which is outside of every package.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub mod bench;
pub mod interrupted;
pub mod leaks;
pub mod picture;
pub mod report;
pub mod roofs;
pub mod study;
pub mod timing;
