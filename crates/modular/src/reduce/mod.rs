//! Remainders.

pub mod montgomery;
