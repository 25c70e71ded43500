//! Which of a machine's roofs limits a row, and how much of it the row reaches. [`bounds`] has the least that a row
//! takes of each roof, and [`Share`] picks the roof that limits it. [`command`] is `tress bench roofs`, and
//! [`picture`] its picture.

pub mod bounds;
pub mod command;
pub mod picture;
mod share;

pub use share::{Share, fill};
