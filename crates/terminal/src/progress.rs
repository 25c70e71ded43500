//! Progress on standard error, on a terminal only: a line for bytes if a run takes longer than half a second, and lines for steps and
//! simulated instructions.

mod line;

use std::io::{self, IsTerminal, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, fmt};

use self::line::{RateWindow, left_text, line};
use crate::units::count_text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Delay from the first byte to the first line, and from a receiver's last byte until the line is erased.
const DISPLAY_DELAY: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);

/// Length of the line that the terminal shows, in columns. Every writer to the terminal holds the lock.
static SHOWN_COLUMNS: Mutex<usize> = Mutex::new(0);

/// Overwrites the previous line and the terminal's `^C`, in one call so that nothing flickers.
fn draw(shown: &mut usize, line: &str) {
    let width = (*shown + 2).min(columns());
    // A closed standard error is ignored.
    let _ = io::stderr().lock().write_all(format!("\r{line:<width$}\r{line}").as_bytes());
    *shown = line.len();
}

/// Prints something while the line is erased. `print` must not call this function.
pub fn aside<T>(print: impl FnOnce() -> T) -> T {
    // Without a terminal there is no line, and writers must not wait for one that is blocked.
    if !io::stderr().is_terminal() {
        return print();
    }
    let mut shown = SHOWN_COLUMNS.lock().unwrap_or_else(PoisonError::into_inner);
    if *shown > 0 {
        draw(&mut shown, "");
    }
    print()
}

/// Columns of the terminal without the last one, after which a line may wrap.
fn columns() -> usize {
    #[cfg(unix)]
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    #[cfg(not(unix))]
    let columns = 0;
    // Some terminals report 0.
    if columns == 0 { 79 } else { columns - 1 }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Bytes that this run has moved itself, without those of an earlier run.
    pub moved: u64,
    /// Bytes that are done.
    pub done: u64,
    /// All bytes, if known.
    pub total: Option<u64>,
    /// Files that are done, and all files, if there are several.
    pub files: Option<(u64, u64)>,
}

/// Whether a stream has no room for a line, and does not get any soon: a terminal that is stopped (Ctrl-S), a pipe that nobody reads.
#[cfg(unix)]
pub fn is_stuck(stream: impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let soon = Timespec { tv_sec: 0, tv_nsec: 400_000_000 };
    poll(&mut [PollFd::new(&stream, PollFlags::OUT)], Some(&soon)) == Ok(0)
}

/// `false`: this system does not say it.
#[cfg(not(unix))]
pub fn is_stuck<T>(_stream: T) -> bool {
    false
}

/// A thread that calls a function at each interval until this is dropped. If the system refuses the thread, nothing is called.
struct Ticker(Option<(Sender<()>, JoinHandle<()>)>);

impl Ticker {
    fn start(mut tick: impl FnMut() + Send + 'static) -> Ticker {
        let (stop, stopped) = mpsc::channel();
        let run = move || {
            // No message is ever sent: a timeout means the next tick, a disconnect the end.
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        };
        Ticker(thread::Builder::new().spawn(run).ok().map(|thread| (stop, thread)))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // It may wait for a terminal that is stopped.
            while !thread.is_finished() && !is_stuck(io::stderr()) {
                thread::yield_now();
            }
        }
    }
}

/// The thread that draws the progress line. Dropping it erases the line, unless the terminal takes nothing: the run does not wait for it.
pub struct Progress(Option<Ticker>);

impl Progress {
    /// Starts to draw, on a terminal only.
    pub fn start(count: impl Fn() -> Count + Send + 'static) -> Progress {
        if !io::stderr().is_terminal() || env::var_os("TERM").is_some_and(|kind| kind == "dumb") {
            return Progress(None);
        }
        let start = Instant::now();
        let (mut window, mut moved_before) = (RateWindow::default(), 0);
        let (mut idle_since, mut busy_since) = (Duration::ZERO, None);
        Progress(Some(Ticker::start(move || {
            let now = start.elapsed();
            let count = count();
            let Count { moved, done, .. } = count;
            // Before the first byte keys are derived, and a plugin may have a question on the terminal.
            if done == 0 {
                // A receiver may be between two files, and is not idle yet.
                if now - idle_since >= DISPLAY_DELAY {
                    (window, moved_before, busy_since) = (RateWindow::default(), moved, None);
                    aside(|| ());
                }
                return;
            }
            idle_since = now;
            window.note(now, moved - moved_before);
            if now - *busy_since.get_or_insert(now) >= DISPLAY_DELAY {
                let mut shown = SHOWN_COLUMNS.lock().unwrap_or_else(PoisonError::into_inner);
                draw(&mut shown, &line(&count, window.per_second(), columns()));
            }
        })))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.0.take().map(drop).is_some() && !is_stuck(io::stderr()) {
            aside(|| ());
        }
    }
}

/// The style of a bar for steps, with an estimate of the time left if `has_time_left`.
pub fn steps_style(has_time_left: bool) -> ProgressStyle {
    let bar = if columns() < 60 { "" } else { "[{bar:20}]  " };
    let left = if has_time_left { "  {left}" } else { "" };
    let style = ProgressStyle::with_template(&format!("{bar}{{pos}} of {{len}}{left}  {{wide_msg}}"));
    let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = out.write_str(&left_text(state.eta().as_secs_f64()).unwrap_or_default());
    };
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("left", left).progress_chars("=> ")
}

/// A bar for work in named steps.
pub struct Steps(ProgressBar);

impl Steps {
    /// Shows an empty bar, if standard error is a terminal.
    pub fn start() -> Steps {
        Steps(ProgressBar::no_length().with_style(steps_style(false)))
    }

    /// Shows `what` as the next step, after `done` of `total`.
    pub fn show(&self, what: &str, done: usize, total: usize) {
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

/// The number of simulated instructions, shown if the simulation takes longer than a second. Print the program's output inside of
/// [`Instructions::aside`], so that the two do not mix.
#[derive(Clone)]
pub struct Instructions(ProgressBar, Instant, Arc<Mutex<RateWindow>>);

impl Instructions {
    const DISPLAY_DELAY: Duration = Duration::from_secs(1);

    /// Starts the clock; the line appears after a second.
    pub fn start() -> Instructions {
        let style = ProgressStyle::with_template("{spinner} {msg}");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        Instructions(bar.with_style(style), Instant::now(), Arc::default())
    }

    /// Shows the number of instructions simulated up to now.
    pub fn show(&self, done: u64) {
        if self.0.is_hidden() && io::stderr().is_terminal() && self.1.elapsed() > Self::DISPLAY_DELAY {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
        let mut window = self.2.lock().unwrap_or_else(PoisonError::into_inner);
        window.note(self.1.elapsed(), done);
        let rate = window.per_second().map(|rate| format!("  {:.1} million per second", rate / 1e6));
        self.0.set_message(format!("{} instructions{}", count_text(done), rate.unwrap_or_default()));
        self.0.set_position(done);
    }

    /// Calls `something` while the line is erased.
    pub fn aside<T>(&self, something: impl FnOnce() -> T) -> T {
        self.0.suspend(something)
    }

    /// Erases the line.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// A spinner for work of unknown duration. Dropping it erases the line.
pub struct Waiting {
    bar: ProgressBar,
    /// Our own thread: the library panics if the system refuses a thread.
    ticks: Option<Ticker>,
}

impl Waiting {
    /// Starts the spinner, if standard error is a terminal.
    pub fn start(what: &'static str) -> Waiting {
        let bar = ProgressBar::new_spinner().with_message(what);
        bar.tick();
        let turning = bar.clone();
        Waiting { bar, ticks: Some(Ticker::start(move || turning.tick())) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.ticks.take());
        self.bar.finish_and_clear();
    }
}
