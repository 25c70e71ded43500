//! Which of a machine's roofs binds a row, and how much of it the row reaches: [`bounds`] says how much of which roof a row needs at
//! least, [`Share`] which one binds it. [`command`] is `tress bench roofs`, with a [`picture`].

pub mod bounds;
pub mod command;
pub mod picture;
mod share;

pub use share::{Share, fill};
