//! The same work on several threads at the same time, each with its own messages and keys, timed by the wall clock.
//!
//! The threads live as long as a visit of the row. They start together at a gate where they spin, because waking a
//! sleeping thread takes as long as some of the work. The time runs from when the first thread starts until the last
//! one ends.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tress_plan::SpinningBarrier;

use super::Error;
use super::work::{Contender, TimedWork, WorkResult};

/// Spins before a waiting thread yields its core, which it must do if there are more threads than cores.
const SPINS: u32 = 20_000;

/// Makes a thread's work, on that thread.
pub(crate) type MakeThreadWork = Arc<dyn Fn() -> WorkResult + Send + Sync>;

/// A closure that a thread runs on its work.
type ThreadTask = Box<dyn FnOnce(&mut dyn TimedWork) + Send>;

pub(crate) struct Threads {
    threads: Vec<(Sender<ThreadTask>, JoinHandle<()>)>,
    gate: Arc<SpinningBarrier>,
    /// Bytes of one run of one thread.
    bytes: u64,
    output: Vec<u8>,
}

impl Threads {
    pub(crate) fn new(threads: usize, make: &MakeThreadWork) -> Result<Threads, Error> {
        let mut made = Threads {
            threads: Vec::with_capacity(threads),
            gate: Arc::new(SpinningBarrier::new(threads, SPINS)),
            bytes: 0,
            output: Vec::new(),
        };
        let mut answers = Vec::with_capacity(threads);
        for _ in 0..threads {
            let (make, (jobs, inbox), (outbox, answer)) = (Arc::clone(make), channel::<ThreadTask>(), channel());
            let serve = move || match make() {
                Ok(mut work) => {
                    let _ = outbox.send(Ok(work.bytes(Contender::Tress)));
                    inbox.into_iter().for_each(|job| job(&mut *work));
                }
                Err(error) => drop(outbox.send(Err(error))),
            };
            made.threads.push((jobs, thread::Builder::new().spawn(serve).map_err(failed)?));
            answers.push(answer);
        }
        for answer in answers {
            made.bytes = answer.recv().map_err(|_| thread_ended())??;
        }
        Ok(made)
    }

    /// Runs a closure on all threads, and returns their results.
    fn run_on_all<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn TimedWork) -> Result<T, Error> + Clone + Send + 'static,
    ) -> Result<Vec<T>, Error> {
        let ask = |(jobs, _): &(Sender<ThreadTask>, _)| {
            let (question, (outbox, answer)) = (question.clone(), channel());
            jobs.send(Box::new(move |work| drop(outbox.send(question(work))))).map_err(|_| thread_ended())?;
            Ok(answer)
        };
        let answers = self.threads.iter().map(ask).collect::<Result<Vec<_>, Error>>()?;
        // Collects all results first, so that an error leaves no thread running.
        let answers: Vec<_> = answers.into_iter().map(|answer| answer.recv()).collect();
        answers.into_iter().map(|answer| answer.map_err(|_| thread_ended())?).collect()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for (jobs, thread) in self.threads.drain(..) {
            drop(jobs);
            let _ = thread.join();
        }
    }
}

/// The start and end of each timed run. After an error, the thread still passes the gate as often as the others do,
/// so that they do not hang.
fn time(
    work: &mut dyn TimedWork,
    contender: Contender,
    runs: u32,
    gate: &SpinningBarrier,
) -> Result<Vec<(Instant, Instant)>, Error> {
    let (stretches, runs) = if work.needs_preparation() { (runs, 1) } else { (1, runs) };
    let mut times = Vec::with_capacity(stretches as usize);
    let mut result = Ok(());
    for _ in 0..stretches {
        if work.needs_preparation() {
            result = result.and(work.prepare(contender));
        }
        gate.wait();
        let start = Instant::now();
        for _ in 0..runs {
            result = result.and(work.run(contender));
        }
        times.push((start, Instant::now()));
    }
    result.map(|()| times)
}

/// The sum of the runs' times, each from the first thread's start to the last thread's end.
fn total(times: &[Vec<(Instant, Instant)>]) -> Duration {
    let stretch = |place: usize| {
        let begin = times.iter().map(|times| times[place].0).min();
        let end = times.iter().map(|times| times[place].1).max();
        end.zip(begin).map_or(Duration::ZERO, |(end, begin)| end - begin)
    };
    (0..times.first().map_or(0, Vec::len)).map(stretch).sum()
}

impl TimedWork for Threads {
    fn bytes(&self, _: Contender) -> u64 {
        self.bytes * self.threads.len() as u64
    }

    fn counts_cycles(&self) -> bool {
        false
    }

    fn external_time(&mut self, contender: Contender, runs: u32) -> Option<Result<Duration, Error>> {
        let gate = Arc::clone(&self.gate);
        let times = self.run_on_all(move |work| time(work, contender, runs, &gate));
        Some(times.map(|times| total(&times)))
    }

    /// Each thread prepares its own messages. All have the same input, so all outputs are equal.
    fn run(&mut self, contender: Contender) -> Result<(), Error> {
        let mut shown = self.run_on_all(move |work| {
            work.prepare(contender)?;
            work.run(contender)?;
            Ok(work.output(contender).to_vec())
        })?;
        self.output = shown.pop().ok_or_else(thread_ended)?;
        if shown.iter().any(|other| *other != self.output) {
            return Err(failed(std::io::Error::other("two threads produced different outputs for the same messages")));
        }
        Ok(())
    }

    fn output(&self, _: Contender) -> &[u8] {
        &self.output
    }
}

fn thread_ended() -> Error {
    failed(std::io::Error::other("a thread ended unexpectedly"))
}

fn failed(error: std::io::Error) -> Error {
    Error::Threads(error)
}
