//! Progress on standard error, on a terminal only: a bar of bytes where a run takes longer than half a second, and one of
//! steps.

use std::{
    io::{self, IsTerminal},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tress_stream::Control;

const PATIENCE: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);

/// The thread that draws. Dropping it leaves a clean line.
pub(crate) struct Progress {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn start(control: &Arc<Control>) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { thread: None };
        }
        let control = Arc::clone(control);
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            // A message never comes: a timeout is time to draw, a hang-up the end.
            if stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = new_bar();
                loop {
                    draw(&bar, &control);
                    if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                        break;
                    }
                }
                bar.finish_and_clear();
            }
        });
        Progress { thread: Some((stop, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

/// A bar for work that is counted in steps, each with a name.
pub(crate) struct Steps(ProgressBar);

impl Steps {
    pub(crate) fn start() -> Steps {
        // Drawn on standard error, and only where that is a terminal.
        let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}");
        let bar = ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Steps(bar)
    }

    /// What is done next, after `done` of `total`.
    pub(crate) fn show(&self, what: &str, done: usize, total: usize) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        self.0.set_message(what.to_string());
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// How many instructions were simulated, once that takes longer than a second. What the program prints has to be written
/// inside of [`Instructions::aside`], so that the two do not mix.
#[derive(Clone)]
pub(crate) struct Instructions(ProgressBar, Instant);

impl Instructions {
    const PATIENCE: Duration = Duration::from_secs(1);

    pub(crate) fn start() -> Instructions {
        let style = ProgressStyle::with_template("{spinner} {human_pos} instructions, {per_sec}");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Instructions(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())), Instant::now())
    }

    pub(crate) fn show(&self, done: u64) {
        if self.0.is_hidden() && io::stderr().is_terminal() && self.1.elapsed() > Self::PATIENCE {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.0.set_position(done);
    }

    /// Does something while the line is gone.
    pub(crate) fn aside<T>(&self, something: impl FnOnce() -> T) -> T {
        self.0.suspend(something)
    }

    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Something that turns, for work of which nobody knows how long it takes. Dropping it leaves a clean line.
pub(crate) struct Waiting(ProgressBar);

impl Waiting {
    pub(crate) fn start(what: &'static str) -> Waiting {
        // Drawn on standard error, and only where that is a terminal.
        let bar = ProgressBar::new_spinner().with_message(what);
        bar.enable_steady_tick(INTERVAL);
        Waiting(bar)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn new_bar() -> ProgressBar {
    ProgressBar::no_length().with_elapsed(PATIENCE)
}

fn draw(bar: &ProgressBar, control: &Control) {
    let (done, total) = (control.done_bytes(), control.total_bytes());
    // Before the first byte keys are derived, and a plugin may be asking for something.
    if done == 0 {
        return;
    }
    if bar.position() == 0 || bar.length() != total {
        bar.set_style(style(total.is_some()));
        match total {
            Some(total) => bar.set_length(total),
            None => bar.unset_length(),
        }
    }
    bar.set_position(done);
}

/// Without a total (a pipe) there is no bar and no time left to show.
fn style(has_total: bool) -> ProgressStyle {
    let template = if has_total {
        "{wide_bar} {percent:>3} % {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left"
    } else {
        "{binary_bytes}, {binary_bytes_per_sec}, {elapsed}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}
