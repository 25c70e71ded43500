//! Test doubles of [`crate::sys::Os`] that fail or record calls, for tests of this crate and of those that use it. Releases do not contain
//! them.

#[cfg(unix)]
pub mod disk;
pub mod faulty;
#[cfg(unix)]
pub mod recording;
