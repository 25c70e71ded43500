//! Adaptive planning: how many workers seal, and how large their batches are.
//!
//! Workers and connections count bytes and the time that these took. Every quarter of a second the measured costs are compared
//! with those of the current plan. If the cost of the slower side has drifted by more than a fifth, or the other side has
//! become slower than it by more than a fifth, the remaining bytes are planned anew ([`tress_plan`]). A trace shows every plan.
//!
//! Over a network the thread of a connection mostly waits and takes no core from the workers. A plan then has a core for each
//! worker, and one more for all connections together. If the connections' threads compute more than they wait, as in a
//! transfer within one machine, they take one of the workers' cores.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tress_cipher::aes::Aes;
use tress_cipher::lanes::ccm;
use tress_cipher::{Backend, BlockCipher as _};
use tress_container::format::LAYOUT;
use tress_container::pipeline::batch::BATCH_CHUNKS;
use tress_plan::{Compute, Plan, Problem, Rate, Strategy, SyncCost};

/// A rate that has changed by this factor, up or down, needs a new plan.
const DRIFT: f64 = 1.2;
/// Time between two comparisons.
const INTERVAL: Duration = Duration::from_millis(250);
/// Batches of each side that a comparison needs.
const MIN_BATCHES: u64 = 2;
/// Chunks of a batch before the first plan: few, so that the link does not wait long for the first batch, but enough that a fast
/// cipher loses little.
const FIRST_CHUNKS: u64 = 8;
/// T_syn in seconds: the paper's value, and about what `tress plan --measure` shows for threads that sleep.
const SYNC_S: f64 = 10e-6;

/// Counters of one side since they were last read.
#[derive(Default)]
struct Meter {
    bytes: AtomicU64,
    busy_ns: AtomicU64,
    /// The part of `busy_ns` that a thread spent on a core.
    core_ns: AtomicU64,
    batches: AtomicU64,
}

/// Values read from a [`Meter`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SideMeasurement {
    bytes: u64,
    busy_s: f64,
    core_s: f64,
    batches: u64,
}

/// Seconds per byte: for one worker with all lanes filled, and for all connections together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    pub(crate) compute: f64,
    pub(crate) link: f64,
}

/// Bounds on a plan, from the options of `send`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlanBounds {
    /// Most threads that may seal.
    pub(crate) max_workers: usize,
    /// The number of workers must not change.
    pub(crate) is_worker_count_fixed: bool,
    /// Chunks of a stage, if the caller chose it.
    pub(crate) stage_chunks: Option<u64>,
    pub(crate) links: usize,
    /// The workers' rate is limited: a byte costs the same for any number of filled lanes.
    pub(crate) is_throttled: bool,
}

pub(crate) struct AdaptivePlanner {
    bounds: PlanBounds,
    workers: AtomicUsize,
    batch_chunks: AtomicU64,
    compute: Meter,
    link: Meter,
    state: Mutex<State>,
}

struct State {
    compared: Instant,
    /// Measurements of workers and connections since the last comparison.
    seen: (SideMeasurement, SideMeasurement),
    /// The costs that the current plan assumes, and its number of workers.
    planned: Option<(Costs, usize)>,
}

impl Meter {
    fn add(&self, bytes: u64, busy: Duration, on_core: Duration) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.busy_ns.fetch_add(busy.as_nanos() as u64, Ordering::Relaxed);
        self.core_ns.fetch_add(on_core.as_nanos() as u64, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    fn take(&self) -> SideMeasurement {
        SideMeasurement {
            bytes: self.bytes.swap(0, Ordering::Relaxed),
            busy_s: self.busy_ns.swap(0, Ordering::Relaxed) as f64 / 1e9,
            core_s: self.core_ns.swap(0, Ordering::Relaxed) as f64 / 1e9,
            batches: self.batches.swap(0, Ordering::Relaxed),
        }
    }
}

impl SideMeasurement {
    fn add(&mut self, other: SideMeasurement) {
        self.bytes += other.bytes;
        self.busy_s += other.busy_s;
        self.core_s += other.core_s;
        self.batches += other.batches;
    }
}

/// Cost of a byte if batches have this number of chunks, relative to its cost if they fill `full` lanes or a multiple of these: an empty
/// lane takes as long as a filled one (docs/explanation/lanes.md).
fn lanes_factor(chunks: u64, full: u64) -> f64 {
    let chunks = chunks.max(1);
    chunks.next_multiple_of(full) as f64 / chunks as f64
}

impl AdaptivePlanner {
    pub(crate) fn new(bounds: PlanBounds) -> Self {
        let batch_chunks = bounds.stage_chunks.map_or(FIRST_CHUNKS, |chunks| batch_of(chunks, 1));
        Self {
            workers: AtomicUsize::new(bounds.max_workers),
            batch_chunks: AtomicU64::new(batch_chunks),
            compute: Meter::default(),
            link: Meter::default(),
            state: Mutex::new(State { compared: Instant::now(), seen: Default::default(), planned: None }),
            bounds,
        }
    }

    /// Number of workers that seal. Workers with this index or a higher one pause.
    pub(crate) fn workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }

    /// Number of chunks of the next batch.
    pub(crate) fn batch_chunks(&self) -> u64 {
        self.batch_chunks.load(Ordering::Relaxed)
    }

    /// Batches of a stage in barrier mode.
    pub(crate) fn stage_batches(&self) -> usize {
        match self.bounds.stage_chunks {
            Some(chunks) => chunks.div_ceil(self.batch_chunks()) as usize,
            None => self.workers(),
        }
    }

    /// Counts a batch that a worker has read and sealed.
    pub(crate) fn count_sealed(&self, bytes: u64, busy: Duration) {
        self.compute.add(bytes, busy, busy);
    }

    /// Counts a batch that a connection has written. `on_core` is the part of `busy` that its thread spent on a core.
    pub(crate) fn count_written(&self, bytes: u64, busy: Duration, on_core: Duration) {
        self.link.add(bytes, busy, on_core);
    }

    /// Compares the measured costs with the plan. Returns a new plan for the remaining bytes if one is needed.
    pub(crate) fn update(&self, bytes_left: u64, now: Instant) -> Option<(Costs, Plan)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // The first plan is made as soon as there are enough batches.
        if state.planned.is_some() && now.saturating_duration_since(state.compared) < INTERVAL {
            return None;
        }
        state.seen.0.add(self.compute.take());
        state.seen.1.add(self.link.take());
        let (compute, link) = state.seen;
        if compute.batches.min(link.batches) < MIN_BATCHES || compute.bytes == 0 || link.bytes == 0 {
            return None;
        }
        state.compared = now;
        state.seen = Default::default();
        let chunks = compute.bytes / compute.batches / LAYOUT.chunk_bytes() as u64;
        let lanes = if self.bounds.is_throttled { 1.0 } else { lanes_factor(chunks, full_lanes()) };
        let costs = Costs {
            // The clock may not have advanced, and a plan needs costs above zero.
            compute: (compute.busy_s / compute.bytes as f64 / lanes).max(1e-15),
            link: (link.busy_s / link.bytes as f64 / self.bounds.links as f64).max(1e-15),
        };
        if state.planned.is_some_and(|(planned, workers)| !has_drifted(planned, costs, workers)) {
            return None;
        }
        let links_compute = link.core_s > link.busy_s / 2.0;
        let plan = self.plan(bytes_left, costs, links_compute)?;
        self.apply(&plan);
        state.planned = Some((costs, plan.compute_cores));
        Some((costs, plan))
    }

    fn plan(&self, bytes_left: u64, costs: Costs, links_compute: bool) -> Option<Plan> {
        let workers = self.bounds.max_workers.max(1);
        let rate = |count: usize, seconds_per_byte: f64| Rate { count, seconds_per_byte };
        let compute = if self.bounds.is_throttled {
            Compute::Given { r_comp: costs.compute, strategy: Strategy::Chunks }
        } else {
            let mut by_cores = vec![rate(1, costs.compute)];
            by_cores.extend((workers > 1).then(|| rate(workers, costs.compute / workers as f64)));
            let full = full_lanes();
            let counts = (0..).map(|n| 1 << n).take_while(|lanes| *lanes <= full);
            let by_lanes =
                counts.map(|lanes| rate(lanes as usize, costs.compute * lanes_factor(lanes, full))).collect();
            Compute::Measured { by_lanes, by_cores }
        };
        let problem = Problem {
            size_bytes: bytes_left.max(1),
            compute,
            r_comm: costs.link,
            links: 1,
            sync: SyncCost::Given(SYNC_S),
            cores: if links_compute { workers.max(2) } else { workers + 1 },
            min_batch_bytes: Some(LAYOUT.chunk_bytes() as u64),
            buffer_bytes: Some(LAYOUT.plain_offset(BATCH_CHUNKS) * workers as u64),
        };
        problem.plan().ok()
    }

    fn apply(&self, plan: &Plan) {
        if !self.bounds.is_worker_count_fixed {
            self.workers.store(plan.compute_cores.clamp(1, self.bounds.max_workers.max(1)), Ordering::Relaxed);
        }
        if self.bounds.stage_chunks.is_none() {
            let stage = plan.stage_bytes.div_ceil(LAYOUT.chunk_bytes() as u64);
            let (mut chunks, full) = (batch_of(stage, self.workers() as u64), full_lanes());
            // Empty lanes would make computing, or keep it, the slower side: take the nearest number that leaves none.
            let is_slower = plan.r_comp * lanes_factor(chunks, full) > plan.r_comm;
            if chunks > full && is_slower && !self.bounds.is_throttled {
                chunks = ((chunks + full / 2) / full * full).min(BATCH_CHUNKS);
            }
            self.batch_chunks.store(chunks, Ordering::Relaxed);
        }
    }
}

/// Chunks of a batch if `workers` share a stage of `stage_chunks`.
fn batch_of(stage_chunks: u64, workers: u64) -> u64 {
    let batches = stage_chunks.div_ceil(BATCH_CHUNKS).max(workers.min(stage_chunks)).max(1);
    stage_chunks.div_ceil(batches).clamp(1, BATCH_CHUNKS)
}

/// Whether the cost of the slower side, on which the plan is based, has changed by more than [`DRIFT`], or the other side costs more
/// than it by this factor now.
fn has_drifted(planned: Costs, now: Costs, workers: usize) -> bool {
    let sides = |costs: Costs| (costs.compute / workers.max(1) as f64, costs.link);
    let ((compute, link), (compute_now, link_now)) = (sides(planned), sides(now));
    let ratio = compute_now.max(link_now) / compute.max(link);
    let other = if compute > link { link_now / compute_now } else { compute_now / link_now };
    !(1.0 / DRIFT..=DRIFT).contains(&ratio) || other > DRIFT
}

/// The number of chunks that fill the lanes of this processor.
fn full_lanes() -> u64 {
    ccm::full_lanes(Backend::best_of(Aes::BACKENDS)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    fn planner(max_workers: usize) -> AdaptivePlanner {
        AdaptivePlanner::new(PlanBounds { max_workers, links: 1, ..PlanBounds::default() })
    }

    /// Simulates both sides at these rates, in bytes per second, and compares.
    fn at(planner: &AdaptivePlanner, now: &mut Instant, compute: u64, link: u64) -> Option<(Costs, Plan)> {
        let bytes = BATCH_CHUNKS * 16384;
        let time = |rate: u64| Duration::from_secs_f64(bytes as f64 / rate as f64);
        for _ in 0..4 {
            planner.count_sealed(bytes, time(compute));
            planner.count_written(bytes, time(link), Duration::ZERO);
        }
        *now += INTERVAL;
        planner.update(1000 * MB, *now)
    }

    #[test]
    fn a_plan_is_made_once_and_again_when_the_slower_side_drifts() {
        let (planner, mut now) = (planner(4), Instant::now());
        assert_eq!((planner.workers(), planner.batch_chunks()), (4, FIRST_CHUNKS));
        // The link is far slower: one worker is enough.
        let (costs, plan) = at(&planner, &mut now, 4000 * MB, 100 * MB).unwrap();
        assert_eq!((plan.compute_cores, planner.workers()), (1, 1));
        assert!((costs.link - 10e-9).abs() < 1e-12 && (costs.compute - 0.25e-9).abs() < 1e-12);
        // A drift of up to a fifth is ignored, a larger one is not. The faster side may drift as long as it stays the faster one.
        assert!(at(&planner, &mut now, 4000 * MB, 110 * MB).is_none());
        assert!(at(&planner, &mut now, 1000 * MB, 85 * MB).is_none());
        assert!(at(&planner, &mut now, 4000 * MB, 50 * MB).is_some());
        assert!(at(&planner, &mut now, 4000 * MB, 50 * MB).is_none());
        // Computing becomes slower than the link: the new plan needs all workers.
        let (_, plan) = at(&planner, &mut now, 15 * MB, 50 * MB).unwrap();
        assert_eq!((plan.compute_cores, planner.workers()), (4, 4));
        assert!(at(&planner, &mut now, 15 * MB, 50 * MB).is_none());
    }

    /// By hand, with 8 lanes: 8 chunks fill them, 9 and 22 take as long as 16 and 24.
    #[test]
    fn empty_lanes_take_as_long_as_filled_ones() {
        for (chunks, factor) in
            [(0, 8.0), (1, 8.0), (2, 4.0), (7, 8.0 / 7.0), (8, 1.0), (9, 16.0 / 9.0), (22, 24.0 / 22.0)]
        {
            assert_eq!(lanes_factor(chunks, 8), factor, "{chunks}");
        }
        // Equation 2 wants 10 chunks: sqrt(20 MB · 8 ns / 10 us) = 126.5 stages. Those of 4, 8 or 16 lanes are 12, 8 or 16.
        let (planner, now) = (planner(1), Instant::now());
        for _ in 0..2 {
            planner.count_sealed(BATCH_CHUNKS * 16384, Duration::from_nanos(BATCH_CHUNKS * 16384 * 8));
            planner.count_written(BATCH_CHUNKS * 16384, Duration::from_millis(1), Duration::ZERO);
        }
        assert_eq!(planner.update(20 * MB, now + INTERVAL).unwrap().1.optimal_stages as u64, 126);
        assert_eq!(planner.batch_chunks(), [12, 8, 16][full_lanes().ilog2() as usize - 2]);
    }

    /// The slower side costs the same, but is the other one: by hand, 11/10 is not above a fifth, and 20/10 is.
    #[test]
    fn a_swap_of_the_slower_side_needs_a_plan() {
        let (planner, mut now) = (planner(1), Instant::now());
        for ([compute, link], is_planned) in
            [([100, 200], true), ([110, 100], false), ([200, 100], true), ([200, 100], false), ([100, 200], true)]
        {
            let plan = at(&planner, &mut now, compute * MB, link * MB);
            assert_eq!(plan.is_some(), is_planned, "{compute} {link}");
        }
    }

    /// A fast machine that sends to itself: the connection takes one of two cores.
    #[test]
    fn connections_that_compute_have_a_core() {
        for (on_core_ms, workers) in [(1, 2), (9, 1)] {
            let (planner, now) = (planner(2), Instant::now());
            for _ in 0..2 {
                planner.count_sealed(BATCH_CHUNKS * 16384, Duration::from_millis(12));
                planner.count_written(
                    BATCH_CHUNKS * 16384,
                    Duration::from_millis(10),
                    Duration::from_millis(on_core_ms),
                );
            }
            assert!(planner.update(1000 * MB, now + INTERVAL).is_some());
            assert_eq!(planner.workers(), workers, "{on_core_ms}");
        }
    }

    /// Equation 2 by hand: sqrt(100 MB · 8 ns / 10 us) = 282.8 stages, so a stage has 353 KB, which are 22 chunks.
    #[test]
    fn batches_follow_equation_2() {
        let (planner, mut now) = (planner(1), Instant::now());
        for _ in 0..2 {
            planner.count_sealed(BATCH_CHUNKS * 16384, Duration::from_millis(1));
            planner.count_written(BATCH_CHUNKS * 16384, Duration::from_nanos(BATCH_CHUNKS * 16384 * 8), Duration::ZERO);
        }
        now += INTERVAL;
        let (_, plan) = planner.update(100 * MB, now).unwrap();
        assert_eq!(plan.stages, 283);
        assert_eq!(planner.batch_chunks(), 22);
    }

    #[test]
    fn few_batches_make_no_plan() {
        let (planner, now) = (planner(2), Instant::now());
        assert!(planner.update(MB, now + INTERVAL).is_none());
        planner.count_sealed(1000, Duration::from_millis(1));
        planner.count_written(1000, Duration::from_millis(1), Duration::ZERO);
        assert!(planner.update(MB, now + INTERVAL).is_none());
        planner.count_sealed(1000, Duration::ZERO);
        planner.count_written(1000, Duration::ZERO, Duration::ZERO);
        assert!(planner.update(0, now).is_some());
        for _ in 0..2 {
            planner.count_sealed(1000, Duration::from_secs(1));
            planner.count_written(1000, Duration::ZERO, Duration::ZERO);
        }
        assert!(planner.update(MB, now + INTERVAL / 2).is_none());
        assert!(planner.update(MB, now + INTERVAL).is_some());
    }

    #[test]
    fn bounds_are_kept() {
        let bounds = PlanBounds {
            max_workers: 3,
            is_worker_count_fixed: true,
            stage_chunks: Some(80),
            links: 1,
            is_throttled: true,
        };
        let (planner, mut now) = (AdaptivePlanner::new(bounds), Instant::now());
        // 80 chunks are three batches of 27.
        assert_eq!((planner.batch_chunks(), planner.stage_batches()), (27, 3));
        assert!(at(&planner, &mut now, 4000 * MB, 10 * MB).is_some());
        assert_eq!((planner.workers(), planner.batch_chunks(), planner.stage_batches()), (3, 27, 3));
        for (stage, workers, batch) in [(1, 4, 1), (4, 4, 1), (9, 4, 3), (32, 1, 32), (33, 1, 17), (32, 2, 16)] {
            assert_eq!(batch_of(stage, workers), batch, "{stage} {workers}");
        }
    }
}
