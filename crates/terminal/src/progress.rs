//! Progress on standard error, on a terminal only: a line for bytes where a run takes longer than half a second, and lines
//! for steps and instructions.

mod line;

use std::{
    env,
    io::{self, IsTerminal, Write as _},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use self::line::{Window, line};
use crate::units::count_text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Delay from the first byte to the first line, and from the last byte of a receiver until the line is erased.
const PATIENCE: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);

/// Length of the line that is on the terminal. Every writer to the terminal holds the lock.
static SHOWN: Mutex<usize> = Mutex::new(0);

/// Writes the line over the one before it and the terminal's `^C`, in one call so that nothing flickers.
fn draw(shown: &mut usize, line: &str) {
    let width = (*shown + 2).min(columns());
    // A standard error that is gone does not matter.
    let _ = io::stderr().lock().write_all(format!("\r{line:<width$}\r{line}").as_bytes());
    *shown = line.len();
}

/// Prints something while the line is gone. `print` must not call this function.
pub fn aside<T>(print: impl FnOnce() -> T) -> T {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if *shown > 0 {
        draw(&mut shown, "");
    }
    print()
}

/// Columns of the terminal but the last, after which a line may wrap.
fn columns() -> usize {
    #[cfg(unix)]
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    #[cfg(not(unix))]
    let columns = 0;
    // Some terminals do not know.
    if columns == 0 { 79 } else { columns - 1 }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Bytes that this run has moved itself.
    pub moved: u64,
    /// Bytes that are done.
    pub done: u64,
    /// All bytes, where that is known.
    pub total: Option<u64>,
}

/// A thread that does something at each interval until this is dropped. Where the system refuses a thread, nothing is done.
struct Ticks(Option<(Sender<()>, JoinHandle<()>)>);

impl Ticks {
    fn start(mut tick: impl FnMut() + Send + 'static) -> Ticks {
        let (stop, stopped) = mpsc::channel();
        let run = move || {
            // A message never comes: a timeout is time for the next, a hang-up the end.
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        };
        Ticks(thread::Builder::new().spawn(run).ok().map(|thread| (stop, thread)))
    }
}

impl Drop for Ticks {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

/// The thread that draws. Dropping it leaves a clean line.
pub struct Progress(Option<Ticks>);

impl Progress {
    /// Begins to draw, on a terminal only.
    pub fn start(count: impl Fn() -> Count + Send + 'static) -> Progress {
        if !io::stderr().is_terminal() || env::var_os("TERM").is_some_and(|kind| kind == "dumb") {
            return Progress(None);
        }
        let start = Instant::now();
        let (mut window, mut moved_before) = (Window::default(), 0);
        let (mut idle_since, mut busy_since) = (Duration::ZERO, None);
        Progress(Some(Ticks::start(move || {
            let now = start.elapsed();
            let Count { moved, done, total } = count();
            // Before the first byte keys are derived, and a plugin may be asking for something.
            if done == 0 {
                // A receiver between two files is not idle yet.
                if now - idle_since >= PATIENCE {
                    (window, moved_before, busy_since) = (Window::default(), moved, None);
                    aside(|| ());
                }
                return;
            }
            idle_since = now;
            window.note(now, moved - moved_before);
            if now - *busy_since.get_or_insert(now) >= PATIENCE {
                let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
                draw(&mut shown, &line(done, total, window.per_second(), columns()));
            }
        })))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.0.take().is_some() {
            aside(|| ());
        }
    }
}

/// A bar for work that is counted in steps, each with a name.
pub struct Steps(ProgressBar);

impl Steps {
    /// An empty bar.
    pub fn start() -> Steps {
        // Drawn on standard error, and only where that is a terminal.
        let bar = if columns() < 60 { "" } else { "[{bar:20}]  " };
        let style = ProgressStyle::with_template(&format!("{bar}{{pos}} of {{len}}  {{wide_msg}}"));
        let bar = ProgressBar::no_length()
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        Steps(bar)
    }

    /// What is done next, after `done` of `total`.
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

/// How many instructions were simulated, once that takes longer than a second. What the program prints has to be written
/// inside of [`Instructions::aside`], so that the two do not mix.
#[derive(Clone)]
pub struct Instructions(ProgressBar, Instant, Arc<Mutex<Window>>);

impl Instructions {
    const PATIENCE: Duration = Duration::from_secs(1);

    /// Nothing is shown yet.
    pub fn start() -> Instructions {
        let style = ProgressStyle::with_template("{spinner} {msg}");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        Instructions(bar.with_style(style), Instant::now(), Arc::default())
    }

    /// So many so far.
    pub fn show(&self, done: u64) {
        if self.0.is_hidden() && io::stderr().is_terminal() && self.1.elapsed() > Self::PATIENCE {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
        let mut window = self.2.lock().unwrap_or_else(PoisonError::into_inner);
        window.note(self.1.elapsed(), done);
        let rate = window.per_second().map(|rate| format!("  {:.1} million per second", rate / 1e6));
        self.0.set_message(format!("{} instructions{}", count_text(done), rate.unwrap_or_default()));
        self.0.set_position(done);
    }

    /// Does something while the line is gone.
    pub fn aside<T>(&self, something: impl FnOnce() -> T) -> T {
        self.0.suspend(something)
    }

    /// Removes the line.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Something that turns, for work of which nobody knows how long it takes. Dropping it leaves a clean line.
pub struct Waiting {
    bar: ProgressBar,
    /// A thread of ours: the library's panics where the system refuses it.
    ticks: Option<Ticks>,
}

impl Waiting {
    /// Begins to turn.
    pub fn start(what: &'static str) -> Waiting {
        // Drawn on standard error, and only where that is a terminal.
        let bar = ProgressBar::new_spinner().with_message(what);
        bar.tick();
        let turning = bar.clone();
        Waiting { bar, ticks: Some(Ticks::start(move || turning.tick())) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.ticks.take());
        self.bar.finish_and_clear();
    }
}
