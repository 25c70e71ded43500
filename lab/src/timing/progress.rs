//! Progress bars on standard error.

use std::time::Duration;

use indicatif::ProgressBar;
use tress_terminal::progress::steps_style;

/// A bar on standard error that also estimates the time left.
pub(crate) fn time_left(steps: u64) -> ProgressBar {
    bar(steps, true)
}

/// A bar on standard error if that is a terminal; otherwise hidden.
pub(crate) fn progress(steps: u64) -> ProgressBar {
    bar(steps, false)
}

fn bar(steps: u64, has_time_left: bool) -> ProgressBar {
    let bar = ProgressBar::new(steps).with_style(steps_style(has_time_left));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
