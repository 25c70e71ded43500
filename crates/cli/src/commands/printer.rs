//! Prints lines on a separate thread, so that a terminal or pipe that nobody reads holds up neither sessions nor signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tress_container::{Error, ErrorKind};

use crate::failure::{self, Failure};

/// Most lines that wait: more than the small files that a receiver confirms together.
const MOST: usize = 8192;
const IDLE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(10);

/// A bounded queue of lines, and a thread that prints them in order.
pub(super) struct Printer<T> {
    queue: SyncSender<T>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    /// Lines that are not printed.
    waiting: AtomicU64,
    /// Those of them that did not fit into the queue.
    left_out: AtomicU64,
}

impl<T: Send + 'static> Printer<T> {
    /// Starts the thread. It calls `print` with each line; with `None` and the number of lines that did not fit, after the others; and with
    /// `None` and 0 when no line has come for a second.
    pub(super) fn start(mut print: impl FnMut(Option<T>, u64) + Send + 'static) -> Result<Printer<T>, Failure> {
        let (queue, lines) = sync_channel(MOST);
        let counts = Arc::<Counts>::default();
        let counted = Arc::clone(&counts);
        let run = move || {
            loop {
                let (line, left_out) = match (lines.try_recv(), counted.left_out.load(Ordering::SeqCst)) {
                    (Ok(line), _) => (Some(line), 0),
                    (Err(_), 0) => match lines.recv_timeout(IDLE) {
                        Err(RecvTimeoutError::Disconnected) => return,
                        line => (line.ok(), 0),
                    },
                    _ => (None, counted.left_out.swap(0, Ordering::SeqCst)),
                };
                let count = left_out + u64::from(line.is_some());
                print(line, left_out);
                counted.waiting.fetch_sub(count, Ordering::SeqCst);
            }
        };
        let started = thread::Builder::new().spawn(run);
        started.map_err(|_| failure::from_error(Error::new(ErrorKind::NoThread)))?;
        Ok(Printer { queue, counts })
    }

    /// Adds a line, or counts it if the queue is full.
    pub(super) fn push(&self, line: T) {
        self.counts.waiting.fetch_add(1, Ordering::SeqCst);
        if self.queue.try_send(line).is_err() {
            self.counts.left_out.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits until all lines are printed, or until nobody reads them. Returns the number of lines that are left.
    pub(super) fn finish(&self, is_stuck: impl Fn() -> bool) -> u64 {
        loop {
            let waiting = self.counts.waiting.load(Ordering::SeqCst);
            if waiting == 0 || is_stuck() {
                return waiting;
            }
            thread::sleep(TICK);
        }
    }
}

/// Whether standard output is a pipe whose other end is closed.
pub(super) fn has_no_reader() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdout = std::io::stdout();
        let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
        let _ = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
    }
    #[cfg(not(unix))]
    false
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_blocked_reader_blocks_nobody_and_loses_only_what_is_counted() {
        let (printed, seen) = mpsc::channel();
        let (go, blocked) = mpsc::channel::<()>();
        let print = move |line: Option<u64>, left_out| {
            if (line, left_out) != (None, 0) {
                let _ = printed.send((line, left_out));
                let _ = blocked.recv();
            }
        };
        let printer = Printer::start(print).unwrap();
        printer.push(0);
        assert_eq!(seen.recv(), Ok((Some(0), 0)));
        let (most, all) = (MOST as u64, 3 * MOST as u64);
        (1..=all).for_each(|line| printer.push(line));
        assert_eq!(printer.finish(|| true), all + 1);
        drop(go);
        assert_eq!(printer.finish(|| false), 0);
        let expected = (1..=most).map(|line| (Some(line), 0)).chain([(None, all - most)]);
        assert!(seen.try_iter().eq(expected));
    }
}
