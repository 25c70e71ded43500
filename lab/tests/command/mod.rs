//! `tress-lab` as a script sees it.

mod bench;
mod faults;
mod formats;
mod links;
mod modular;
mod report;
mod roofs;
mod study;
