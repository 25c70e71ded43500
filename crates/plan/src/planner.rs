//! From the model to a plan: whole stages within bounds, and cores divided between computing and communicating.
//!
//! Equation 2 gives a real number of stages. The plan takes the whole number beside it that makes equation 1 smaller; where
//! both times are the same to nine digits, the fewer stages, which is what the paper prints in its Table 1. Then the
//! bounds: a stage is not smaller than the smallest batch and not larger than the buffer, which wins where no number of
//! stages satisfies both.
//!
//! With more than two cores (the paper's Fig. 5) every division of them is tried, and the fewest cores that reach the
//! shortest time are taken; what a core more would not shorten is left to others.

use tress_container::container::CHUNK_BYTES;

use super::model::{self, Strategy};

/// Times that differ by a smaller part are the same.
const SAME: f64 = 1e-9;

/// Most cores, and most links, that are divided.
const MOST_CORES: usize = 1024;

/// A transfer to plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// M: bytes to compute and to send.
    pub size_bytes: u64,
    /// What computing costs.
    pub compute: Compute,
    /// R_comm: seconds per byte on one link.
    pub r_comm: f64,
    /// Links that can be used at once, each with a core of its own.
    pub links: usize,
    /// T_syn.
    pub sync: SyncCost,
    /// Cores for both sides together. A single one overlaps nothing.
    pub cores: usize,
    /// The smallest stage, but for a transfer that is smaller itself. One byte without it.
    pub min_batch_bytes: Option<u64>,
    /// The largest stage.
    pub buffer_bytes: Option<u64>,
}

/// What computing costs, in seconds per byte.
#[derive(Clone, Debug, PartialEq)]
pub enum Compute {
    /// One figure for one core, and how several share the work.
    Given {
        /// R_comp of one core.
        r_comp: f64,
        /// What several cores make of it.
        strategy: Strategy,
    },
    /// Chunks in lanes, as measured: R_comp falls with the lanes that a stage fills and with the cores.
    Measured {
        /// On one core, by the number of lanes filled, fewest first and 1 among them.
        by_lanes: Vec<Rate>,
        /// With all lanes filled, by the number of cores, fewest first and 1 among them.
        by_cores: Vec<Rate>,
    },
}

/// A cost that was measured with so many lanes, cores or threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How many.
    pub count: usize,
    /// Seconds per byte.
    pub seconds_per_byte: f64,
}

/// What one synchronisation costs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SyncCost {
    /// The same for any number of threads, in seconds.
    Given(f64),
    /// By the number of threads, fewest first. Between two of them the larger one counts.
    Measured(Vec<(usize, f64)>),
}

/// What keeps the time from being shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Computing is the slower side.
    Compute,
    /// The link is.
    Link,
    /// Both take the same time.
    Balanced,
    /// More stages would be better, but they would be smaller than the smallest batch.
    MinBatch,
    /// Fewer stages would be better, but they would be larger than the buffer.
    Buffer,
    /// More stages would be better, but they would leave lanes empty.
    Lanes,
    /// One synchronisation costs more than overlapping gains.
    SyncCost,
    /// A single core does one thing after the other.
    OneCore,
}

impl Limit {
    /// The word in the command's output.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::Compute => "compute",
            Limit::Link => "link",
            Limit::Balanced => "balanced",
            Limit::MinBatch => "min-batch",
            Limit::Buffer => "buffer",
            Limit::Lanes => "lanes",
            Limit::SyncCost => "sync-cost",
            Limit::OneCore => "one-core",
        }
    }
}

/// How to transfer, and how long it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// m: stages of equal size.
    pub stages: u64,
    /// What equation 2 gives for the cores and the rates of this plan, before it is made whole and bounded.
    pub optimal_stages: f64,
    /// Bytes of a stage, rounded up.
    pub stage_bytes: u64,
    /// Equation 1.
    pub time_s: f64,
    /// Everything computed on one core, then everything sent over one link.
    pub sequential_s: f64,
    /// `sequential_s` over `time_s`.
    pub speedup: f64,
    /// The slower side alone with these cores: what no number of stages goes below.
    pub lower_bound_s: f64,
    /// Cores that compute.
    pub compute_cores: usize,
    /// Cores that communicate, one for each link used.
    pub link_cores: usize,
    /// R_comp with these cores and stages.
    pub r_comp: f64,
    /// R_comm with these links.
    pub r_comm: f64,
    /// T_syn between these cores.
    pub sync_s: f64,
    /// What keeps the time from being shorter.
    pub limit: Limit,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// Nothing to transfer.
    #[error("the size must be greater than zero")]
    Size,
    /// R_comp is no positive number of seconds.
    #[error("the compute rate must be a positive number")]
    ComputeRate,
    /// R_comm is no positive number of seconds.
    #[error("the link rate must be a positive number")]
    LinkRate,
    /// T_syn is negative or no number.
    #[error("the synchronisation cost must not be negative")]
    SyncCost,
    /// Equation 2 has no answer.
    #[error("a synchronisation cost of zero needs a smallest batch: more stages are always faster")]
    NoOptimum,
    /// No stage satisfies both bounds.
    #[error("the buffer is smaller than the smallest batch")]
    BufferBelowBatch,
    /// A bound is zero.
    #[error("smallest batch and buffer must be at least one byte")]
    Bound,
    /// Too many, or none.
    #[error("cores and links must be 1 to {MOST_CORES}")]
    Cores,
    /// The time is beyond what a number can hold.
    #[error("the time is too long to show")]
    Endless,
}

impl SyncCost {
    /// Seconds for one synchronisation of so many threads.
    pub fn of(&self, threads: usize) -> f64 {
        match self {
            SyncCost::Given(seconds) => *seconds,
            SyncCost::Measured(costs) => {
                let found = costs.iter().find(|(count, _)| *count >= threads).or(costs.last());
                found.map_or(f64::NAN, |(_, seconds)| *seconds)
            }
        }
    }
}

/// A cost that holds for stages of at least so many bytes.
#[derive(Clone, Copy)]
struct Step {
    min_stage_bytes: u64,
    r_comp: f64,
}

impl Compute {
    /// R_comp of one core at its best: that of the sequential run.
    pub fn of_one_core(&self) -> f64 {
        self.steps(1).last().map_or(f64::NAN, |step| step.r_comp)
    }

    /// R_comp by the size of a stage, smallest stages first; it only falls.
    fn steps(&self, cores: usize) -> Vec<Step> {
        match self {
            Compute::Given { r_comp, strategy } => {
                vec![Step { min_stage_bytes: 0, r_comp: r_comp / strategy.speedup(cores) }]
            }
            Compute::Measured { by_lanes, by_cores } => {
                let speedup = between(by_cores, 1) / between(by_cores, cores);
                let mut best = f64::INFINITY;
                let mut steps = Vec::with_capacity(by_lanes.len());
                for rate in by_lanes {
                    // More lanes than a stage fills cannot be needed, whatever noise says.
                    best = f64::min(best, rate.seconds_per_byte);
                    let bytes = rate.count.saturating_mul(cores).saturating_mul(CHUNK_BYTES);
                    let min_stage_bytes = if steps.is_empty() { 0 } else { bytes as u64 };
                    steps.push(Step { min_stage_bytes, r_comp: best / speedup });
                }
                steps
            }
        }
    }

    fn is_valid(&self) -> bool {
        let is_cost = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        match self {
            Compute::Given { r_comp, .. } => is_cost(*r_comp),
            Compute::Measured { by_lanes, by_cores } => [by_lanes, by_cores].into_iter().all(|rates| {
                rates.first().is_some_and(|rate| rate.count == 1)
                    && rates.is_sorted_by(|a, b| a.count < b.count)
                    && rates.iter().all(|rate| is_cost(rate.seconds_per_byte))
            }),
        }
    }
}

/// The cost with so many cores: bytes per second on a straight line between the counts that were measured, and no more
/// than the last of them beyond.
fn between(rates: &[Rate], count: usize) -> f64 {
    let speed = |rate: &Rate| 1.0 / rate.seconds_per_byte;
    let after = rates.partition_point(|rate| rate.count < count);
    match (after.checked_sub(1).map(|before| &rates[before]), rates.get(after)) {
        (Some(low), Some(high)) => {
            let part = (count - low.count) as f64 / (high.count - low.count) as f64;
            1.0 / (speed(low) + part * (speed(high) - speed(low)))
        }
        (Some(only), None) | (None, Some(only)) => only.seconds_per_byte,
        (None, None) => f64::NAN,
    }
}

/// The whole number beside `optimal`, at least 1, with the shorter time; the smaller one where the times are the same.
fn best_whole(optimal: f64, time_s: impl Fn(f64) -> f64) -> u64 {
    let low = optimal.floor().max(1.0);
    let best = if time_s(low + 1.0) < time_s(low) * (1.0 - SAME) { low + 1.0 } else { low };
    // The cast saturates: an infinite optimum then meets a bound.
    best as u64
}

impl Problem {
    /// The paper's: two cores, one link, no bounds. Costs are seconds per byte and seconds.
    pub fn new(size_bytes: u64, r_comp: f64, r_comm: f64, sync_s: f64) -> Problem {
        Problem {
            size_bytes,
            compute: Compute::Given { r_comp, strategy: Strategy::default() },
            r_comm,
            links: 1,
            sync: SyncCost::Given(sync_s),
            cores: 2,
            min_batch_bytes: None,
            buffer_bytes: None,
        }
    }

    /// The shortest time and how to reach it.
    ///
    /// # Errors
    /// [`Invalid`], for figures that no machine has and bounds that no stage satisfies.
    pub fn plan(&self) -> Result<Plan, Invalid> {
        self.check()?;
        if self.cores == 1 {
            return self.on_one_core();
        }
        let mut best: Option<Plan> = None;
        for used in 2..=self.cores {
            for link_cores in 1..=self.links.min(used - 1) {
                for plan in self.candidates(used - link_cores, link_cores) {
                    if best.is_none_or(|best| plan.time_s < best.time_s * (1.0 - SAME)) {
                        best = Some(plan);
                    }
                }
            }
        }
        best.filter(|plan| plan.time_s.is_finite() && plan.sequential_s.is_finite()).ok_or(Invalid::Endless)
    }

    /// Equation 1 with these cores, where R_comp is that of stages of this size.
    pub fn time_s(&self, stages: f64, compute_cores: usize, link_cores: usize) -> f64 {
        let r_max = f64::max(self.r_comp(stages, compute_cores), self.r_comm / link_cores as f64);
        model::time_s(self.size_bytes as f64, stages, r_max, self.sync.of(compute_cores + link_cores))
    }

    fn check(&self) -> Result<(), Invalid> {
        if self.size_bytes == 0 {
            return Err(Invalid::Size);
        }
        if !self.compute.is_valid() {
            return Err(Invalid::ComputeRate);
        }
        if !(self.r_comm.is_finite() && self.r_comm > 0.0) {
            return Err(Invalid::LinkRate);
        }
        let costs = match &self.sync {
            SyncCost::Given(seconds) => vec![*seconds],
            SyncCost::Measured(costs) => costs.iter().map(|(_, seconds)| *seconds).collect(),
        };
        if costs.is_empty() || !costs.iter().all(|seconds| seconds.is_finite() && *seconds >= 0.0) {
            return Err(Invalid::SyncCost);
        }
        if self.min_batch_bytes == Some(0) || self.buffer_bytes == Some(0) {
            return Err(Invalid::Bound);
        }
        if ![self.cores, self.links].iter().all(|count| (1..=MOST_CORES).contains(count)) {
            return Err(Invalid::Cores);
        }
        if costs.contains(&0.0) && self.min_batch_bytes.is_none() && self.cores > 1 {
            return Err(Invalid::NoOptimum);
        }
        match (self.min_batch_bytes, self.buffer_bytes) {
            (Some(batch), Some(buffer)) if buffer < batch => Err(Invalid::BufferBelowBatch),
            _ => Ok(()),
        }
    }

    fn r_comp(&self, stages: f64, cores: usize) -> f64 {
        let stage_bytes = self.size_bytes as f64 / stages;
        let steps = self.compute.steps(cores);
        let fits = |step: &&Step| step.min_stage_bytes as f64 <= stage_bytes;
        steps.iter().rev().find(fits).map_or(f64::NAN, |step| step.r_comp)
    }

    fn most_stages(&self) -> u64 {
        (self.size_bytes / self.min_batch_bytes.unwrap_or(1)).max(1)
    }

    fn fewest_stages(&self) -> u64 {
        self.buffer_bytes.map_or(1, |bytes| self.size_bytes.div_ceil(bytes))
    }

    /// The best number of stages with these cores for each number of lanes that they may fill.
    fn candidates(&self, compute_cores: usize, link_cores: usize) -> impl Iterator<Item = Plan> {
        let r_comm = self.r_comm / link_cores as f64;
        let sync_s = self.sync.of(compute_cores + link_cores);
        self.compute.steps(compute_cores).into_iter().rev().filter_map(move |step| {
            let for_lanes = self.size_bytes.checked_div(step.min_stage_bytes).unwrap_or(u64::MAX);
            if for_lanes == 0 {
                return None;
            }
            let (size_bytes, r_max) = (self.size_bytes as f64, step.r_comp.max(r_comm));
            let optimal = model::optimal_stages(size_bytes, r_max, sync_s);
            let free = best_whole(optimal, |stages| model::time_s(size_bytes, stages, r_max, sync_s));
            let (most, fewest) = (self.most_stages(), self.fewest_stages());
            let stages = free.min(for_lanes).min(most).max(fewest);
            let side = match step.r_comp.total_cmp(&r_comm) {
                _ if (step.r_comp - r_comm).abs() <= SAME * r_comm => Limit::Balanced,
                std::cmp::Ordering::Greater => Limit::Compute,
                _ => Limit::Link,
            };
            let limit = if stages > free.min(for_lanes).min(most) {
                Limit::Buffer
            } else if stages < free {
                if for_lanes < most { Limit::Lanes } else { Limit::MinBatch }
            } else if optimal < 1.0 && stages == 1 {
                Limit::SyncCost
            } else {
                side
            };
            Some(self.plan_of(stages, optimal, compute_cores, link_cores, limit))
        })
    }

    fn plan_of(&self, stages: u64, optimal_stages: f64, compute_cores: usize, link_cores: usize, limit: Limit) -> Plan {
        let r_comp = self.r_comp(stages as f64, compute_cores);
        let r_comm = self.r_comm / link_cores as f64;
        let time_s = self.time_s(stages as f64, compute_cores, link_cores);
        let sequential_s = self.sequential_s();
        Plan {
            stages,
            optimal_stages,
            stage_bytes: self.size_bytes.div_ceil(stages),
            time_s,
            sequential_s,
            speedup: sequential_s / time_s,
            lower_bound_s: self.size_bytes as f64 * f64::max(r_comp, r_comm),
            compute_cores,
            link_cores,
            r_comp,
            r_comm,
            sync_s: self.sync.of(compute_cores + link_cores),
            limit,
        }
    }

    fn sequential_s(&self) -> f64 {
        model::sequential_s(self.size_bytes as f64, self.compute.of_one_core(), self.r_comm)
    }

    /// Nothing beside nothing: the sequential time, in as few pieces as the buffer allows, and nobody to wait for.
    fn on_one_core(&self) -> Result<Plan, Invalid> {
        let plan = self.plan_of(self.fewest_stages(), 1.0, 1, 1, Limit::OneCore);
        let sequential_s = plan.sequential_s;
        let plan = Plan { time_s: sequential_s, speedup: 1.0, lower_bound_s: sequential_s, sync_s: 0.0, ..plan };
        if sequential_s.is_finite() { Ok(plan) } else { Err(Invalid::Endless) }
    }
}
