//! Powers.

mod fixed_window;

pub use fixed_window::{fixed_window, fixed_window_scratch};
