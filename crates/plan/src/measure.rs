//! Measures R_comp, R_comm and T_syn of this machine, with the library's own code (docs/explanation/overlap.md defines each figure).
//!
//! Every figure is the median of [`SAMPLES`] samples in wall-clock time, with quartiles (fewer samples if a busy machine makes them slow).
//! Wall-clock time includes the effects of other programs, as a real transfer does.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::num::NonZero;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tress_cipher::Backend;
use tress_cipher::aes::Aes;

use super::sync::{Counter, MAX_SPINS, SpinningBarrier};
use super::{Compute, Rate, SyncCost};
use tress_container::commands::Control;
use tress_container::format::{Aead, Content, ContentType, LAYOUT, Payload};
use tress_container::threads::{start, together};
use tress_container::{Error, ErrorKind};

/// Version of [`Measurement`]. Other versions are not read.
pub(super) const SCHEMA: u32 = 1;

/// Largest number of samples of a figure.
pub const SAMPLES: usize = 15;

/// Approximate duration of a sample.
const SAMPLE_TIME: Duration = Duration::from_millis(8);
/// The clock is read after this many empty stages.
const CHECKED_STAGES: u64 = 16;
/// After this time a figure takes no more samples.
const MAX_FIGURE_TIME: Duration = Duration::from_millis(400);
/// Numbers of chunks in flight, in ascending order. 32 is a batch of the pipeline.
const LANES: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Numbers of threads that synchronise.
const SYNC_THREADS: [usize; 3] = [2, 4, 8];
/// Bytes that are copied or sent in one call.
const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
const PIECE_BYTES: usize = 32 * CHUNK_BYTES;
/// More than caches hold.
const MEMORY_BYTES: usize = 64 << 20;
/// Bytes sent in one sample.
const LOOPBACK_BYTES: usize = 16 << 20;
/// Timeout for a loopback that does not answer.
const LOOPBACK_TIMEOUT: Duration = Duration::from_secs(5);

/// A median with the quartiles of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The lower quartile.
    pub low: f64,
    /// The upper quartile.
    pub high: f64,
}

/// A figure for a number of lanes or threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Figure {
    /// Number of lanes or threads.
    pub count: usize,
    /// Seconds, or seconds per byte.
    pub cost: Spread,
}

/// How threads wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SyncKind {
    /// `std::sync::Barrier`, which sleeps.
    Barrier,
    /// A barrier that spins.
    SpinningBarrier,
    /// Point-to-point counters, with two buffers between the sides.
    Counter,
}

impl SyncKind {
    /// All kinds.
    pub const ALL: [SyncKind; 3] = [SyncKind::Barrier, SyncKind::SpinningBarrier, SyncKind::Counter];

    /// The name in the command's output.
    pub const fn name(self) -> &'static str {
        match self {
            SyncKind::Barrier => "barrier",
            SyncKind::SpinningBarrier => "spinning barrier",
            SyncKind::Counter => "counter",
        }
    }
}

/// Cost of one synchronisation, by the number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SyncFigures {
    /// Kind of synchronisation.
    pub kind: SyncKind,
    /// Seconds for one empty stage.
    pub seconds: Vec<Figure>,
}

/// The figures of a machine that a plan uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Measurement {
    /// Version of this structure.
    pub schema: u32,
    /// The machine that was measured. Figures of another machine or build are not used.
    pub machine: Machine,
    /// Seconds since 1970-01-01 00:00 UTC.
    pub time: u64,
    /// R_comp on one thread, in seconds per byte of plaintext, by the number of chunks in flight.
    pub lanes: Vec<Figure>,
    /// R_comp with 32 chunks in flight on every thread, by the number of threads.
    pub threads: Vec<Figure>,
    /// Copying from memory to memory, in seconds per byte.
    pub memory: Spread,
    /// One TCP connection of this machine to itself, in seconds per byte; `None` if there is no loopback.
    pub loopback: Option<Spread>,
    /// T_syn, by kind of synchronisation.
    pub sync: Vec<SyncFigures>,
}

/// The properties that must be equal for two measurements to be comparable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Machine {
    /// Name of the processor.
    pub model: String,
    /// Number of cores that this process may use.
    pub cores: usize,
    /// Backend of AES.
    pub backend: String,
    /// Version of Tress, with `+debug` if it was built without optimisation.
    pub tress: String,
}

impl Machine {
    /// The machine that this runs on.
    pub fn this() -> Machine {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim()));
        let debug = if cfg!(debug_assertions) { "+debug" } else { "" };
        Machine {
            model: model.unwrap_or(std::env::consts::ARCH).into(),
            cores: thread::available_parallelism().map_or(1, NonZero::get),
            backend: Backend::best_of(<Aes as tress_cipher::BlockCipher>::BACKENDS).name().into(),
            tress: format!("{}{debug}", env!("CARGO_PKG_VERSION")),
        }
    }
}

impl Measurement {
    /// R_comp in the form that a plan takes.
    pub fn compute(&self) -> Compute {
        let rates = |figures: &[Figure]| {
            figures.iter().map(|figure| Rate { count: figure.count, seconds_per_byte: figure.cost.median }).collect()
        };
        Compute::Measured { by_lanes: rates(&self.lanes), by_cores: rates(&self.threads) }
    }

    /// T_syn in the form that a plan takes.
    pub fn sync_cost(&self, kind: SyncKind) -> SyncCost {
        let figures = self.sync.iter().filter(|figures| figures.kind == kind).flat_map(|figures| &figures.seconds);
        SyncCost::Measured(figures.map(|figure| (figure.count, figure.cost.median)).collect())
    }

    /// R_comm of this machine to itself: the loopback, or copying in memory if there is none.
    pub fn r_comm(&self) -> f64 {
        self.loopback.unwrap_or(self.memory).median
    }

    /// Whether the figures are plausible: a file may hold anything.
    pub(super) fn is_plausible(&self) -> bool {
        let is_cost = |cost: &Spread| {
            [cost.low, cost.median, cost.high].iter().all(|value| value.is_finite() && *value > 0.0)
                && cost.low <= cost.median
                && cost.median <= cost.high
        };
        let is_list = |figures: &[Figure]| {
            figures.iter().all(|figure| figure.count >= 1 && is_cost(&figure.cost))
                && figures.is_sorted_by(|a, b| a.count < b.count)
        };
        [&self.lanes, &self.threads].iter().all(|list| is_list(list) && list.first().is_some_and(|f| f.count == 1))
            && is_cost(&self.memory)
            && self.loopback.as_ref().is_none_or(is_cost)
            && SyncKind::ALL.iter().all(|kind| {
                self.sync
                    .iter()
                    .find(|figures| figures.kind == *kind)
                    .is_some_and(|figures| !figures.seconds.is_empty() && is_list(&figures.seconds))
            })
    }
}

/// Measures all figures, in a few seconds. Calls `progress` before each figure with its name, the number of figures done, and their total
/// number.
///
/// ```no_run
/// use tress_container::Control;
///
/// let show = &mut |figure: &str, done, total| eprintln!("{done}/{total}: {figure}");
/// let machine = tress_plan::measure(&Control::new(), show)?;
/// println!("{:.1} MB/s over the loopback", 1e-6 / machine.r_comm());
/// # Ok::<(), tress_container::Error>(())
/// ```
///
/// # Errors
/// `Interrupted` when cancelled, `Io` when the system has no randomness for a key, `NoThread` when the system refuses a thread.
pub fn measure(control: &Control, progress: &mut dyn FnMut(&str, usize, usize)) -> Result<Measurement, Error> {
    let machine = Machine::this();
    let threads = thread_counts(machine.cores);
    let total = LANES.len() + threads.len() - 1 + 2 + SyncKind::ALL.len() * SYNC_THREADS.len();
    let mut done = 0;
    let mut step = |what: &str| {
        if control.is_cancelled() {
            return Err(Error::new(ErrorKind::Interrupted));
        }
        progress(what, done, total);
        done += 1;
        Ok(())
    };

    let content = Content::generate(Aead::Aes128Ccm, ContentType::File, None)?;
    let (payload, _) = Payload::create(&content)?;
    let mut by_lanes = Vec::with_capacity(LANES.len());
    for lanes in LANES {
        step(&format!("encrypting, chunks in flight: {lanes}"))?;
        by_lanes.push(Figure { count: lanes, cost: sealing(&payload, lanes, 1)? });
    }
    // The last figure is also that of one thread with all lanes filled.
    let all = by_lanes[LANES.len() - 1].cost;
    let mut by_threads = vec![Figure { count: 1, cost: all }];
    for count in threads.into_iter().skip(1) {
        step(&format!("encrypting, threads: {count}"))?;
        by_threads.push(Figure { count, cost: sealing(&payload, LANES[LANES.len() - 1], count)? });
    }
    step("memory")?;
    let memory = copying();
    step("loopback")?;
    let loopback = loopback_samples().ok().map(spread);
    let mut sync = Vec::with_capacity(SyncKind::ALL.len());
    for kind in SyncKind::ALL {
        let mut seconds = Vec::with_capacity(SYNC_THREADS.len());
        for count in SYNC_THREADS {
            step(&format!("{}, threads: {count}", kind.name()))?;
            seconds.push(Figure { count, cost: spread(sync_samples(kind, count)?) });
        }
        sync.push(SyncFigures { kind, seconds });
    }
    progress("", total, total);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    Ok(Measurement { schema: SCHEMA, machine, time, lanes: by_lanes, threads: by_threads, memory, loopback, sync })
}

/// Returns 1, 2, 4, ... and the number of cores.
fn thread_counts(cores: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = (0..).map(|power| 1 << power).take_while(|count| *count < cores).collect();
    counts.push(cores);
    counts
}

fn spread(mut samples: Vec<f64>) -> Spread {
    // If the clock did not advance, the cost is still not zero.
    samples.iter_mut().for_each(|sample| *sample = sample.max(1e-15));
    samples.sort_by(f64::total_cmp);
    let at = |quarter: usize| samples[quarter * (samples.len() - 1) / 4];
    Spread { median: at(2), low: at(1), high: at(3) }
}

/// How often to repeat work that took `once`, so that it fills a sample.
fn repetitions(once: Duration) -> u64 {
    let times = SAMPLE_TIME.as_nanos() / once.as_nanos().max(1);
    (times as u64).clamp(1, 1 << 20)
}

/// Seconds per byte of plaintext, when each of `threads` threads repeatedly seals a buffer of `lanes` chunks.
fn sealing(payload: &Payload, lanes: usize, threads: usize) -> Result<Spread, Error> {
    let bytes = lanes * CHUNK_BYTES;
    let seal = |buffer: &mut Vec<u8>, chunk: &mut u64, times: u64| {
        for _ in 0..times {
            payload.seal(*chunk, buffer, false).expect("a sample has fewer chunks than a payload allows");
            *chunk += lanes as u64;
        }
    };
    let (mut buffer, mut chunk) = (vec![0x33; lanes * LAYOUT.sealed_chunk_bytes()], 0);
    seal(&mut buffer, &mut chunk, 2);
    let start = Instant::now();
    seal(&mut buffer, &mut chunk, 2);
    let times = repetitions(start.elapsed() / 2);
    let seconds = samples_in_lockstep(threads, || {
        let (mut buffer, mut chunk) = (vec![0x33; lanes * LAYOUT.sealed_chunk_bytes()], 0);
        move || seal(&mut buffer, &mut chunk, times)
    })?;
    Ok(spread(seconds.into_iter().map(|seconds| seconds / (times as f64 * (threads * bytes) as f64)).collect()))
}

/// Measures the seconds in which each of `threads` threads does its work once. `work` is called on each thread to make its work.
fn samples_in_lockstep<W: FnMut()>(threads: usize, work: impl Fn() -> W + Sync) -> Result<Vec<f64>, Error> {
    let line = Barrier::new(threads);
    together(threads, |_| {
        let mut work = work();
        let mut seconds = Vec::with_capacity(SAMPLES);
        // The first sample warms up.
        for _ in 0..=SAMPLES {
            line.wait();
            let start = Instant::now();
            work();
            line.wait();
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.split_off(1)
    })
}

/// Seconds per byte of a copy between two buffers that no cache holds.
fn copying() -> Spread {
    let from = vec![0x33; MEMORY_BYTES];
    let mut to = vec![0; MEMORY_BYTES];
    let mut samples = Vec::with_capacity(SAMPLES);
    for _ in 0..=SAMPLES {
        let start = Instant::now();
        for (to, from) in to.chunks_mut(PIECE_BYTES).zip(from.chunks(PIECE_BYTES)) {
            to.copy_from_slice(from);
        }
        std::hint::black_box(&mut to);
        samples.push(start.elapsed().as_secs_f64() / MEMORY_BYTES as f64);
    }
    spread(samples.split_off(1))
}

/// Seconds per byte through one TCP connection of this machine to itself, one value per sample, for [`Measurement::loopback`]. The
/// connection carries no user data, so it does not go through `sys`.
///
/// # Errors
/// The errors of sockets, for example on a machine without a loopback.
pub fn loopback_samples() -> io::Result<Vec<f64>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut sender = TcpStream::connect_timeout(&listener.local_addr()?, LOOPBACK_TIMEOUT)?;
    let (mut receiver, peer) = listener.accept()?;
    if peer != sender.local_addr()? {
        // Another process connected first.
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    sender.set_write_timeout(Some(LOOPBACK_TIMEOUT))?;
    receiver.set_read_timeout(Some(LOOPBACK_TIMEOUT))?;
    thread::scope(|scope| {
        let sending = start(scope, move || {
            let piece = vec![0x33; PIECE_BYTES];
            // A receiver that stops early has closed its end.
            for _ in 0..(SAMPLES + 1) * LOOPBACK_BYTES / PIECE_BYTES {
                if sender.write_all(&piece).is_err() {
                    break;
                }
            }
        });
        sending.map_err(io::Error::other)?;
        let mut piece = vec![0; PIECE_BYTES];
        let mut samples = Vec::with_capacity(SAMPLES + 1);
        for _ in 0..=SAMPLES {
            let start = Instant::now();
            for _ in 0..LOOPBACK_BYTES / PIECE_BYTES {
                receiver.read_exact(&mut piece)?;
            }
            samples.push(start.elapsed().as_secs_f64() / LOOPBACK_BYTES as f64);
        }
        drop(receiver);
        Ok(samples.split_off(1))
    })
}

/// Seconds for one empty stage with `threads` threads, one value per sample, for [`Measurement::sync`].
///
/// # Errors
/// [`ErrorKind::NoThread`].
pub fn sync_samples(kind: SyncKind, threads: usize) -> Result<Vec<f64>, Error> {
    let begin = Instant::now();
    let mut samples = Vec::with_capacity(SAMPLES + 1);
    let mut rounds = 64;
    // The first sample warms up and determines how many stages fill a sample. If threads share a core, each sample determines it again.
    while samples.len() <= SAMPLES && (samples.len() < 5 || begin.elapsed() < MAX_FIGURE_TIME) {
        let seconds = stages(kind, threads, rounds)?;
        samples.push(seconds);
        rounds = repetitions(Duration::from_secs_f64(seconds));
    }
    Ok(samples.split_off(1))
}

/// Seconds for one of `rounds` empty stages, or of fewer if they take too long: on a busy machine a stage may take 10,000 times as long as
/// the one before. With counters, one thread is the link. It waits for all other threads, and they wait until it has emptied the buffer
/// that they fill next. There are two buffers, so the link may be one stage behind.
fn stages(kind: SyncKind, threads: usize, rounds: u64) -> Result<f64, Error> {
    let (sleeping, spinning) = (Barrier::new(threads), SpinningBarrier::new(threads, MAX_SPINS));
    let counters: Vec<Counter> = (0..threads).map(|_| Counter::default()).collect();
    let (line, end) = (Barrier::new(threads), AtomicU64::new(rounds));
    together(threads, |number| {
        line.wait();
        let (start, mut stage) = (Instant::now(), 0);
        while stage < end.load(Ordering::Relaxed) {
            if number == 0 && stage % CHECKED_STAGES == CHECKED_STAGES - 1 && start.elapsed() > 4 * SAMPLE_TIME {
                // No thread passes the stage after the next before this one has ended: all see the new end in time.
                end.fetch_min(stage + 3, Ordering::Relaxed);
            }
            match kind {
                SyncKind::Barrier => drop(sleeping.wait()),
                SyncKind::SpinningBarrier => spinning.wait(),
                SyncKind::Counter if number == 0 => {
                    counters[1..].iter().for_each(|counter| counter.wait_for(stage + 1));
                    counters[0].advance();
                }
                SyncKind::Counter => {
                    counters[0].wait_for(stage.saturating_sub(1));
                    counters[number].advance();
                }
            }
            stage += 1;
        }
        // The link ends last.
        start.elapsed().as_secs_f64() / stage as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: of 1 to 5, the middle half is from 2 to 4.
    #[test]
    fn spreads() {
        assert_eq!(spread(vec![5.0, 1.0, 4.0, 2.0, 3.0]), Spread { median: 3.0, low: 2.0, high: 4.0 });
        assert!(spread(vec![0.0; 3]).median > 0.0);
    }

    #[test]
    fn threads_double_up_to_the_cores() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
        assert_eq!(thread_counts(8), [1, 2, 4, 8]);
    }

    #[test]
    fn repetitions_fill_one_sample() {
        assert_eq!(repetitions(Duration::from_millis(2)), 4);
        assert_eq!(repetitions(Duration::from_secs(1)), 1);
        assert_eq!(repetitions(Duration::ZERO), 1 << 20);
    }

    #[test]
    fn stages_end_in_time() {
        for kind in SyncKind::ALL {
            assert!(stages(kind, 4, u64::MAX).expect("threads") > 0.0);
        }
    }

    #[test]
    fn a_measurement_is_plausible_and_gives_a_plan() {
        let mut steps = Vec::new();
        let measured = measure(&Control::new(), &mut |what, done, total| steps.push((what.to_string(), done, total)))
            .expect("a measurement");
        assert!(measured.is_plausible(), "{measured:?}");
        assert_eq!(steps.len(), steps[0].2 + 1);
        assert!(steps.iter().enumerate().all(|(number, step)| step.1 == number));
        for kind in SyncKind::ALL {
            let problem = crate::Problem {
                compute: measured.compute(),
                sync: measured.sync_cost(kind),
                min_batch_bytes: Some(CHUNK_BYTES as u64),
                ..crate::Problem::new(1 << 30, 1.0, measured.r_comm(), 1.0)
            };
            let plan = problem.plan().expect("a plan");
            assert!(plan.time_s >= plan.lower_bound_s && plan.stage_bytes >= CHUNK_BYTES as u64);
        }
    }

    #[test]
    fn a_refused_thread_is_an_error() {
        tress_container::threads::LEFT.set(0);
        for kind in SyncKind::ALL {
            assert_eq!(sync_samples(kind, 2).expect_err("no thread").kind, ErrorKind::NoThread);
        }
        tress_container::threads::LEFT.set(usize::MAX);
    }

    #[test]
    fn cancelled() {
        let control = Control::new();
        control.cancel();
        let error = measure(&control, &mut |_, _, _| {}).expect_err("nothing is measured");
        assert_eq!(error.kind, ErrorKind::Interrupted);
    }
}
