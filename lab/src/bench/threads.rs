//! The same work on several threads at once, each with messages and keys of its own, by the clock on the wall.
//!
//! The threads live as long as a visit of the row. They begin together, at a gate where they spin, because waking a sleeping thread takes
//! as long as some of the work; the time runs from when the first one begins to when the last one ends.

use std::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    Error,
    case::{Who, Work},
    messages::Messages,
};

/// Spins before a thread lets others have the core, as it must where there are more threads than cores.
const SPINS: u32 = 20_000;

/// Makes a thread's work, on that thread.
pub(crate) type Make = Arc<dyn Fn() -> Result<Messages, Error> + Send + Sync>;

/// Threads that wait for each other.
struct Gate {
    threads: usize,
    arrived: AtomicUsize,
    opened: AtomicUsize,
}

impl Gate {
    fn new(threads: usize) -> Gate {
        Gate { threads, arrived: AtomicUsize::new(0), opened: AtomicUsize::new(0) }
    }

    fn wait(&self) {
        let round = self.opened.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.opened.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.opened.load(Ordering::Acquire) == round {
            spins += 1;
            if spins < SPINS { hint::spin_loop() } else { thread::yield_now() }
        }
    }
}

enum Request {
    /// Prepare, run once, and send what is there then.
    Show(Who),
    /// So many runs.
    Time(Who, u32),
}

enum Answer {
    Output(Vec<u8>),
    /// When each timed stretch began and ended.
    Times(Vec<(Instant, Instant)>),
}

struct Worker {
    requests: Sender<Request>,
    answers: Receiver<Result<Answer, Error>>,
    thread: Option<JoinHandle<()>>,
}

/// Work on threads.
pub(crate) struct Threads {
    workers: Vec<Worker>,
    /// Bytes of a run of each.
    bytes: u64,
    output: Vec<u8>,
}

impl Threads {
    pub(crate) fn new(threads: usize, make: &Make) -> Result<Threads, Error> {
        let gate = Arc::new(Gate::new(threads));
        let bytes = make()?.bytes(Who::Ours);
        let mut workers = Vec::with_capacity(threads);
        for _ in 0..threads {
            let (make, gate) = (Arc::clone(make), Arc::clone(&gate));
            let ((requests, inbox), (outbox, answers)) = (channel(), channel());
            let spawned = thread::Builder::new().spawn(move || serve(&*make, &gate, &inbox, &outbox));
            let thread = Some(spawned.map_err(failed)?);
            workers.push(Worker { requests, answers, thread });
        }
        Ok(Threads { workers, bytes, output: Vec::new() })
    }

    fn ask(&self, request: impl Fn() -> Request) -> Result<Vec<Answer>, Error> {
        for worker in &self.workers {
            worker.requests.send(request()).map_err(|_| gone())?;
        }
        // All of them have answered before anything is said of one.
        let answers: Vec<_> = self.workers.iter().map(|worker| worker.answers.recv()).collect();
        answers.into_iter().map(|answer| answer.map_err(|_| gone())?).collect()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for worker in self.workers.drain(..) {
            let Worker { requests, thread, .. } = worker;
            drop(requests);
            let _ = thread.map(JoinHandle::join);
        }
    }
}

fn serve(
    make: &dyn Fn() -> Result<Messages, Error>,
    gate: &Gate,
    inbox: &Receiver<Request>,
    outbox: &Sender<Result<Answer, Error>>,
) {
    let mut made = make();
    while let Ok(request) = inbox.recv() {
        let answer = match &mut made {
            Ok(work) => match request {
                Request::Show(who) => show(work, who),
                Request::Time(who, runs) => time(work, who, runs, gate),
            },
            Err(_) => Err(std::mem::replace(&mut made, Err(gone())).err().unwrap_or_else(gone)),
        };
        if outbox.send(answer).is_err() {
            break;
        }
    }
}

fn show(work: &mut Messages, who: Who) -> Result<Answer, Error> {
    work.prepare(who)?;
    work.run(who)?;
    Ok(Answer::Output(work.output(who).to_vec()))
}

/// Whatever goes wrong, the gate is passed as often as the others pass it.
fn time(work: &mut Messages, who: Who, runs: u32, gate: &Gate) -> Result<Answer, Error> {
    let (stretches, runs) = if work.needs_preparation() { (runs, 1) } else { (1, runs) };
    let mut times = Vec::with_capacity(stretches as usize);
    let mut result = Ok(());
    for _ in 0..stretches {
        if work.needs_preparation() {
            result = result.and(work.prepare(who));
        }
        gate.wait();
        let start = Instant::now();
        for _ in 0..runs {
            result = result.and(work.run(who));
        }
        times.push((start, Instant::now()));
    }
    result.map(|()| Answer::Times(times))
}

impl Work for Threads {
    fn bytes(&self, _: Who) -> u64 {
        self.bytes * self.workers.len() as u64
    }

    fn counts_cycles(&self) -> bool {
        false
    }

    fn timed_elsewhere(&mut self, who: Who, runs: u32) -> Option<Result<Duration, Error>> {
        let answers = match self.ask(|| Request::Time(who, runs)) {
            Ok(answers) => answers,
            Err(error) => return Some(Err(error)),
        };
        let times: Vec<Vec<(Instant, Instant)>> = answers
            .into_iter()
            .filter_map(|answer| if let Answer::Times(times) = answer { Some(times) } else { None })
            .collect();
        let stretches = times.first().map_or(0, Vec::len);
        let stretch = |place: usize| {
            let begin = times.iter().map(|times| times[place].0).min();
            let end = times.iter().map(|times| times[place].1).max();
            end.zip(begin).map_or(Duration::ZERO, |(end, begin)| end - begin)
        };
        Some(Ok((0..stretches).map(stretch).sum()))
    }

    /// Each thread prepares its own.
    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        Ok(())
    }

    /// All threads work on the same, so they show the same.
    fn run(&mut self, who: Who) -> Result<(), Error> {
        let mut shown = self.ask(|| Request::Show(who))?.into_iter();
        let Some(Answer::Output(first)) = shown.next() else { return Err(gone()) };
        if !shown.all(|answer| matches!(answer, Answer::Output(other) if other == first)) {
            return Err(failed(std::io::Error::other("two threads produced different outputs for the same messages")));
        }
        self.output = first;
        Ok(())
    }

    fn output(&self, _: Who) -> &[u8] {
        &self.output
    }
}

fn gone() -> Error {
    failed(std::io::Error::other("a thread ended unexpectedly"))
}

fn failed(error: std::io::Error) -> Error {
    Error::Threads(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_the_gate_alone() {
        const THREADS: usize = 4;
        let (gate, before) = (Gate::new(THREADS), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 1..=200 {
                        before.fetch_add(1, Ordering::SeqCst);
                        gate.wait();
                        // Whoever is through knows that all others have come so far.
                        assert!(before.load(Ordering::SeqCst) >= round * THREADS);
                        gate.wait();
                    }
                });
            }
        });
    }
}
