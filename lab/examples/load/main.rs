//! The queue of signatures and lanes under random load for ten minutes, every result checked; part of `make soak`.
//!
//! ```text
//! load [--minutes 10] [--seed N] [--askers 24] [--lanes 2]
//! ```
//!
//! Threads ask queues for signatures under keys of every kind, alone and in bursts, and some go away before the answer; one
//! digest in sixteen has a wrong length. Another thread replaces the queues, and drops some with requests in them. Others run
//! mixes of jobs in lanes on every backend of this machine, an eighth of what is decrypted forged. The seed decides what is
//! asked, not what meets what. A table follows; anything wrong ends with status 1.

#![allow(unreachable_pub, reason = "modules of one program")]

mod keys;
mod lanes;
mod numbers;
mod process;
mod queue;
mod tally;

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher as _,
    process::ExitCode,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use clap::Parser;
use numbers::Numbers;
use process::Process;
use queue::Queues;
use tally::{Counted, Tally};

/// Several times what it takes, and less than what a few bytes kept of every request or job would come to.
const MAX_KB: u64 = 64 << 10;
/// After the first fifth of the time buffers of every size have been used.
const GROWN_KB: u64 = 16 << 10;
/// Nothing was done for so long: something waits that nobody wakes.
const SILENCE: Duration = Duration::from_secs(60);

/// The queue of signatures and lanes under random load, every result checked.
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
    /// Threads that run jobs in lanes.
    #[arg(long, default_value_t = 2)]
    lanes: u64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("seed {seed}");
    match run(&options, seed) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("load: error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options, seed: u64) -> Result<bool, Box<dyn std::error::Error>> {
    let keys = keys::generate()?;
    // OpenSSL opens what it keeps; where it is missing, this says so.
    drop(keys::Checker::new(&keys)?);
    let mut numbers = Numbers(seed);
    let before = Process::now();
    let queues = Arc::new(Queues::new(keys, &mut numbers)?);
    let tally = Arc::new(Tally::default());
    let mut threads = Vec::new();
    for number in 0..options.askers + 1 {
        let (queues, tally, numbers) = (Arc::clone(&queues), Arc::clone(&tally), Numbers(numbers.next()));
        threads.push(thread::spawn(move || match number {
            0 => queues.replace(numbers, &tally),
            _ => queues.ask(numbers, &tally),
        }));
    }
    for _ in 0..options.lanes {
        let (tally, numbers) = (Arc::clone(&tally), Numbers(numbers.next()));
        threads.push(thread::spawn(move || lanes::run(numbers, &tally)));
    }

    let start = Instant::now();
    let end = Duration::try_from_secs_f64(60.0 * options.minutes)?;
    let warm = watch(&threads, &tally, start, end);
    // Threads that hang end with the program.
    if threads.iter().all(JoinHandle::is_finished) {
        for thread in threads {
            if thread.join().is_err() {
                tally.wrong("a thread panicked".into());
            }
        }
        drop(queues);
        look_at_the_end(&tally, before, warm);
    }
    Ok(table(&tally.so_far(), start.elapsed()))
}

/// Until the time is over and every thread has ended, or nothing moves any more. Returns what the process took when it was
/// warm.
fn watch(threads: &[JoinHandle<()>], tally: &Tally, start: Instant, end: Duration) -> Option<Process> {
    let (mut moved, mut before) = (Instant::now(), 0);
    let mut warm = None;
    loop {
        if threads.iter().all(JoinHandle::is_finished) {
            if start.elapsed() < end {
                tally.wrong("all threads ended too early".into());
            }
            return warm;
        }
        let time = end.saturating_sub(start.elapsed()).clamp(Duration::from_millis(10), Duration::from_secs(1));
        thread::sleep(time);
        if start.elapsed() < end / 5 {
            warm = Process::now();
        }
        if start.elapsed() >= end {
            tally.end();
        }
        let now = tally.so_far().counts.values().sum::<u64>();
        if now > before {
            (moved, before) = (Instant::now(), now);
        } else if moved.elapsed() > SILENCE {
            tally.wrong(format!("nothing was done for {} s", SILENCE.as_secs()));
            return warm;
        }
    }
}

/// Memory that grew, threads and handles that stay.
fn look_at_the_end(tally: &Tally, before: Option<Process>, warm: Option<Process>) {
    let (Some(before), Some(warm), Some(after)) = (before, warm, Process::now()) else {
        return println!("SKIPPED: memory, threads and handles: this system has no /proc, or the run was too short");
    };
    println!(
        "memory: {} kB before, {} kB after a fifth of the time, {} kB at the end, {} kB at most",
        before.resident_kb, warm.resident_kb, after.resident_kb, after.peak_kb
    );
    println!(
        "threads: {} before, {} at work, {} at the end; handles: {}, {}, {}",
        before.threads, warm.threads, after.threads, before.handles, warm.handles, after.handles
    );
    if after.peak_kb > MAX_KB {
        tally.wrong(format!("{} kB, where {MAX_KB} are allowed", after.peak_kb));
    }
    if after.peak_kb > warm.peak_kb + GROWN_KB {
        tally.wrong(format!("memory grew from {} kB to {} kB", warm.peak_kb, after.peak_kb));
    }
    if after.threads != before.threads || after.handles != before.handles {
        tally.wrong("threads or handles stay".into());
    }
}

/// Prints it; returns whether all is well.
fn table(counted: &Counted, time: Duration) -> bool {
    println!("in {:.0} s, the slowest answer after {:.0} ms:", time.as_secs_f64(), 1e3 * counted.slowest.as_secs_f64());
    for (what, count) in &counted.counts {
        println!("{count:>12} {what}");
    }
    for what in &counted.wrong {
        println!("wrong: {what}");
    }
    if counted.wrong_count > 0 {
        println!("load: {} things went wrong", counted.wrong_count);
    }
    counted.wrong_count == 0
}
