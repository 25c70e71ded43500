//! The queue of signatures under random load for ten minutes, every result checked; part of `make soak`.
//!
//! ```text
//! load [--minutes 10] [--seed N] [--askers 24]
//! ```
//!
//! Threads ask queues for signatures under keys of every kind, alone and in bursts, and some go away before the answer; one
//! digest in sixteen has a wrong length. Another thread replaces the queues, and drops some with requests in them. The seed
//! decides what is asked, not what meets what. A table follows; anything wrong ends with status 1.

#![allow(unreachable_pub, reason = "modules of one program")]

mod keys;
mod queue;

use std::{
    collections::BTreeMap,
    fs,
    process::ExitCode,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use clap::Parser;
use fastrand::Rng;
use queue::Queues;

/// Several times what it takes, and less than what a few bytes kept of every request would come to.
const MAX_KB: u64 = 64 << 10;
/// After the first fifth of the time buffers of every size have been used.
const GROWN_KB: u64 = 16 << 10;
/// Nothing was done for so long: something waits that nobody wakes.
const SILENCE: Duration = Duration::from_secs(60);

/// The queue of signatures under random load, every result checked.
#[derive(Parser)]
#[command(name = "load")]
struct Options {
    /// For how long.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// What is asked; a random one otherwise.
    #[arg(long)]
    seed: Option<u64>,
    /// Threads that ask for signatures.
    #[arg(long, default_value_t = 24)]
    askers: u64,
}

/// What all threads count, and whether anything was wrong.
#[derive(Default)]
struct Tally {
    is_over: AtomicBool,
    wrong: AtomicU64,
    /// In the order of their names.
    counts: Mutex<BTreeMap<String, u64>>,
}

impl Tally {
    fn count(&self, what: &str) {
        // A thread that panicked is told when it is joined; its counts hold.
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(what.to_owned()).or_default() += 1;
    }

    fn wrong(&self, what: &str) {
        println!("wrong: {what}");
        self.wrong.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn so_far(&self) -> BTreeMap<String, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What this process takes at one moment, from proc(5); nothing where there is none.
#[derive(Clone, Copy)]
struct Process {
    /// The most so far.
    peak_kb: u64,
    threads: u64,
    handles: u64,
}

impl Process {
    fn now() -> Option<Process> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        // One of the handles reads the folder.
        let handles = fs::read_dir("/proc/self/fd").ok()?.count() as u64 - 1;
        Some(Process { peak_kb: field("VmHWM:")?, threads: field("Threads:")?, handles })
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(wrong) => {
            println!("load: {wrong} things went wrong");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("load: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How many things went wrong.
fn run(options: &Options) -> Result<u64, Box<dyn std::error::Error>> {
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let keys = keys::generate()?;
    // OpenSSL opens what it keeps; where it is missing, this says so.
    drop(keys::Checker::new(&keys)?);
    let mut numbers = Rng::with_seed(seed);
    let before = Process::now();
    let queues = Arc::new(Queues::new(keys, &mut numbers)?);
    let tally = Arc::new(Tally::default());
    let mut threads = Vec::new();
    for number in 0..options.askers + 1 {
        let (queues, tally, numbers) = (Arc::clone(&queues), Arc::clone(&tally), numbers.fork());
        threads.push(thread::spawn(move || match number {
            0 => queues.replace(numbers, &tally),
            _ => queues.ask(numbers, &tally),
        }));
    }

    let start = Instant::now();
    let end = Duration::try_from_secs_f64(60.0 * options.minutes)?;
    let warm = watch(&threads, &tally, start, end);
    // Threads that hang end with the program.
    if threads.iter().all(JoinHandle::is_finished) {
        for thread in threads {
            if thread.join().is_err() {
                tally.wrong("a thread panicked");
            }
        }
        drop(queues);
        look_at_the_end(&tally, before, warm);
    }
    println!("in {:.0} s:", start.elapsed().as_secs_f64());
    for (what, count) in tally.so_far() {
        println!("{count:>12} {what}");
    }
    Ok(tally.wrong.load(Ordering::Relaxed))
}

/// Until the time is over and every thread has ended, or nothing moves any more. Returns what the process took when it was
/// warm.
fn watch(threads: &[JoinHandle<()>], tally: &Tally, start: Instant, end: Duration) -> Option<Process> {
    let (mut moved, mut before) = (Instant::now(), 0);
    let mut warm = None;
    loop {
        if threads.iter().all(JoinHandle::is_finished) {
            if start.elapsed() < end {
                tally.wrong("all threads ended too early");
            }
            return warm;
        }
        let time = end.saturating_sub(start.elapsed()).clamp(Duration::from_millis(10), Duration::from_secs(1));
        thread::sleep(time);
        if start.elapsed() < end / 5 {
            warm = Process::now();
        }
        tally.is_over.store(start.elapsed() >= end, Ordering::Relaxed);
        let now = tally.so_far().values().sum::<u64>();
        if now > before {
            (moved, before) = (Instant::now(), now);
        } else if moved.elapsed() > SILENCE {
            tally.wrong(&format!("nothing was done for {} s", SILENCE.as_secs()));
            return warm;
        }
    }
}

/// Memory that grew, threads and handles that stay.
fn look_at_the_end(tally: &Tally, before: Option<Process>, warm: Option<Process>) {
    let (Some(before), Some(warm), Some(after)) = (before, warm, Process::now()) else {
        return println!("SKIPPED: memory, threads and handles: this system has no /proc, or the run was too short");
    };
    for (when, process) in [("before", before), ("after a fifth of the time", warm), ("at the end", after)] {
        let Process { peak_kb, threads, handles } = process;
        println!("{when}: {peak_kb} kB at most, {threads} threads, {handles} handles");
    }
    if after.peak_kb > MAX_KB || after.peak_kb > warm.peak_kb + GROWN_KB {
        tally.wrong(&format!("memory: at most {MAX_KB} kB are allowed, and {GROWN_KB} kB more than after a fifth"));
    }
    if after.threads != before.threads || after.handles != before.handles {
        tally.wrong("threads or handles stay");
    }
}
