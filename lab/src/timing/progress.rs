//! Progress bars on standard error.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error that also estimates the time left.
pub(crate) fn time_left(steps: u64) -> ProgressBar {
    bar(steps, "{bar:20} {pos}/{len} {elapsed}, about {eta} left  {wide_msg}")
}

/// A bar on standard error if that is a terminal; otherwise hidden.
pub(crate) fn progress(steps: u64) -> ProgressBar {
    bar(steps, "{bar:20} {pos}/{len} {elapsed} {msg}")
}

fn bar(steps: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template has the keys of indicatif");
    let bar = ProgressBar::new(steps).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
