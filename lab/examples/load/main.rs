//! The queue of signatures under random load for ten minutes, with every result checked; part of `make soak`.
//!
//! ```text
//! load [--minutes 10] [--seed N] [--askers 24]
//! ```
//!
//! Threads ask queues for signatures under keys of every kind, one by one and in bursts, and some do not wait for the
//! answer. One digest in sixteen has a wrong length. Another thread replaces the queues, and drops some that have
//! pending requests. The seed determines the requests, but not their timing. A table follows; after any error the
//! exit status is 1.

#![allow(unreachable_pub, reason = "modules of one program")]

mod keys;
mod queue;

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::Parser;
use fastrand::Rng;
use queue::Queues;

/// Limit of resident memory: several times what is normal, and less than a few leaked bytes per request would add up to.
const MAX_KB: u64 = 64 << 10;
/// Limit of growth after the first fifth of the time, when buffers of every size have been used.
const GROWN_KB: u64 = 16 << 10;
/// If nothing is done for this long, a thread waits and is never woken.
const SILENCE: Duration = Duration::from_secs(60);

/// The queue of signatures under random load, every result checked.
#[derive(Parser)]
#[command(name = "load")]
struct Options {
    /// For how long.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// The seed of the requests; a random one otherwise.
    #[arg(long)]
    seed: Option<u64>,
    /// Threads that ask for signatures.
    #[arg(long, default_value_t = 24)]
    askers: u64,
}

/// Counts of all threads, and the number of errors.
#[derive(Default)]
struct Tally {
    is_over: AtomicBool,
    wrong: AtomicU64,
    /// In alphabetical order.
    counts: Mutex<BTreeMap<String, u64>>,
}

impl Tally {
    fn count(&self, what: &str) {
        // The join reports a thread that panicked; its counts are still valid.
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(what.to_owned()).or_default() += 1;
    }

    fn report_error(&self, what: &str) {
        println!("wrong: {what}");
        self.wrong.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn counts_so_far(&self) -> BTreeMap<String, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Resources of this process at one moment, from proc(5). `None` on systems without it.
#[derive(Clone, Copy)]
struct Process {
    /// Largest resident memory so far.
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
        // One of the handles is that of this folder.
        let handles = fs::read_dir("/proc/self/fd").ok()?.count() as u64 - 1;
        Some(Process { peak_kb: field("VmHWM:")?, threads: field("Threads:")?, handles })
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(wrong) => {
            println!("load: {wrong} errors");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("load: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the load, and returns the number of errors.
fn run(options: &Options) -> Result<u64, Box<dyn std::error::Error>> {
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let keys = keys::generate()?;
    // OpenSSL opens files that it keeps open. This also reports early if it is missing.
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
                tally.report_error("a thread panicked");
            }
        }
        drop(queues);
        check_resources(&tally, before, warm);
    }
    println!("in {:.0} s:", start.elapsed().as_secs_f64());
    for (what, count) in tally.counts_so_far() {
        println!("{count:>12} {what}");
    }
    Ok(tally.wrong.load(Ordering::Relaxed))
}

/// Waits until the time is over and every thread has ended, or until nothing happens any more. Returns the process's
/// resources after the first fifth of the time.
fn watch(threads: &[JoinHandle<()>], tally: &Tally, start: Instant, end: Duration) -> Option<Process> {
    let (mut moved, mut before) = (Instant::now(), 0);
    let mut warm = None;
    loop {
        if threads.iter().all(JoinHandle::is_finished) {
            if start.elapsed() < end {
                tally.report_error("all threads ended too early");
            }
            return warm;
        }
        let time = end.saturating_sub(start.elapsed()).clamp(Duration::from_millis(10), Duration::from_secs(1));
        thread::sleep(time);
        if start.elapsed() < end / 5 {
            warm = Process::now();
        }
        tally.is_over.store(start.elapsed() >= end, Ordering::Relaxed);
        let now = tally.counts_so_far().values().sum::<u64>();
        if now > before {
            (moved, before) = (Instant::now(), now);
        } else if moved.elapsed() > SILENCE {
            tally.report_error(&format!("nothing was done for {} s", SILENCE.as_secs()));
            return warm;
        }
    }
}

/// Checks for memory growth, and for threads and handles that were not released.
fn check_resources(tally: &Tally, before: Option<Process>, warm: Option<Process>) {
    let (Some(before), Some(warm), Some(after)) = (before, warm, Process::now()) else {
        return println!("SKIPPED: memory, threads and handles: this system has no /proc, or the run was too short");
    };
    for (when, process) in [("before", before), ("after a fifth of the time", warm), ("at the end", after)] {
        let Process { peak_kb, threads, handles } = process;
        println!("{when}: {peak_kb} kB at most, {threads} threads, {handles} handles");
    }
    if after.peak_kb > MAX_KB || after.peak_kb > warm.peak_kb + GROWN_KB {
        tally.report_error(&format!(
            "memory: at most {MAX_KB} kB are allowed, and {GROWN_KB} kB more than after a fifth"
        ));
    }
    if after.threads != before.threads || after.handles != before.handles {
        tally.report_error("threads or handles were not released");
    }
}
