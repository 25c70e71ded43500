//! Systems that fail, and systems that remember: what tests of this crate and of those above put in the place of [`crate::sys::Os`].
//! Nothing that is released has them.

#[cfg(unix)]
pub mod disk;
pub mod faulty;
#[cfg(unix)]
pub mod recording;
