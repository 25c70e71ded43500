//! From the model to a plan: whole stages within bounds, and cores divided between computing and communicating.
//!
//! Equation 2 gives a real number of stages. The plan takes the neighbouring integer for which equation 1 gives the shorter time. If both
//! times are equal to nine digits, it takes fewer stages, as the paper's Table 1 does. Then the bounds apply: a stage is at least the
//! smallest batch and at most the buffer. If no number of stages satisfies both, the buffer wins.
//!
//! With more than two cores (the paper's Fig. 5) all divisions of the cores are tried. The plan uses the fewest cores that reach the
//! shortest time, and leaves the others idle.

use serde::Serialize;
use tress_container::format::LAYOUT;

use super::model::{self, Strategy};

/// Times with a smaller relative difference are equal.
const TIME_TOLERANCE: f64 = 1e-9;

/// Largest number of cores, and of links.
pub(crate) const MAX_CORES: usize = 1024;

/// A transfer to plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// M: number of bytes to compute and send.
    pub size_bytes: u64,
    /// Cost of computing.
    pub compute: Compute,
    /// R_comm: seconds per byte on one link.
    pub r_comm: f64,
    /// Number of links that can be used at the same time, each with its own core.
    pub links: usize,
    /// T_syn: cost of one synchronisation.
    pub sync: SyncCost,
    /// Number of cores for both sides together. With a single core nothing overlaps.
    pub cores: usize,
    /// Smallest stage in bytes, except for a transfer that is smaller. `None` means one byte.
    pub min_batch_bytes: Option<u64>,
    /// Largest stage in bytes.
    pub buffer_bytes: Option<u64>,
}

/// Cost of computing, in seconds per byte.
#[derive(Clone, Debug, PartialEq)]
pub enum Compute {
    /// One figure for one core, and a strategy for several.
    Given {
        /// R_comp of one core.
        r_comp: f64,
        /// How several cores share the work.
        strategy: Strategy,
    },
    /// Measured costs of chunks in lanes: R_comp falls with the number of lanes that a stage fills, and with the number of cores.
    Measured {
        /// Costs on one core, by the number of lanes filled, in ascending order from 1.
        by_lanes: Vec<Rate>,
        /// Costs with all lanes filled, by the number of cores, in ascending order from 1.
        by_cores: Vec<Rate>,
    },
}

/// A measured cost for a number of lanes, cores or threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Number of lanes, cores or threads.
    pub count: usize,
    /// Seconds per byte.
    pub seconds_per_byte: f64,
}

/// Cost of one synchronisation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SyncCost {
    /// The same for any number of threads, in seconds.
    Given(f64),
    /// Seconds by the number of threads, in ascending order. Between two numbers the larger one counts.
    Measured(Vec<(usize, f64)>),
}

/// Why the time is not shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Computing is the slower side.
    Compute,
    /// The link is the slower side.
    Link,
    /// Both take the same time.
    Balanced,
    /// More stages would be faster, but they would be smaller than the smallest batch.
    MinBatch,
    /// Fewer stages would be faster, but they would be larger than the buffer.
    Buffer,
    /// More stages would be faster, but they would leave lanes empty.
    Lanes,
    /// One synchronisation costs more than overlapping gains.
    SyncCost,
    /// A single core computes and communicates alternately.
    OneCore,
}

impl Limit {
    /// The name in the command's output.
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

/// How to transfer, and how long it takes. The names of the fields in JSON are those of the command's output.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// m: number of stages, all of equal size.
    pub stages: u64,
    /// Bytes of a stage, rounded up.
    pub stage_bytes: u64,
    /// Time by equation 1, in seconds.
    pub time_s: f64,
    /// Time to compute everything on one core and then send everything over one link, in seconds.
    pub sequential_s: f64,
    /// `sequential_s` over `time_s`.
    pub speedup: f64,
    /// Why the time is not shorter.
    pub limit: Limit,
    /// The result of equation 2 for the cores and rates of this plan, before rounding and bounds. Infinite if synchronisation costs
    /// nothing; JSON cannot represent that, and has `null`.
    pub optimal_stages: f64,
    /// Time of the slower side alone with these cores, in seconds: a lower bound for any number of stages.
    pub lower_bound_s: f64,
    /// Number of cores that compute.
    pub compute_cores: usize,
    /// Number of cores that communicate, one for each link used.
    pub link_cores: usize,
    /// R_comp with these cores and stages, in seconds per byte.
    #[serde(rename = "compute_s_per_byte")]
    pub r_comp: f64,
    /// R_comm with these links, in seconds per byte.
    #[serde(rename = "link_s_per_byte")]
    pub r_comm: f64,
    /// T_syn between these cores, in seconds.
    #[serde(rename = "sync_cost_s")]
    pub sync_s: f64,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// There is nothing to transfer.
    #[error("the size must be greater than zero")]
    Size,
    /// R_comp is not a positive number of seconds.
    #[error("the compute rate must be a positive number")]
    ComputeRate,
    /// R_comm is not a positive number of seconds.
    #[error("the link rate must be a positive number")]
    LinkRate,
    /// T_syn is negative or not a number.
    #[error("the synchronisation cost must not be negative")]
    SyncCost,
    /// Equation 2 has no finite result.
    #[error("a synchronisation cost of zero needs a smallest batch: more stages are always faster")]
    NoOptimum,
    /// No stage satisfies both bounds.
    #[error("the buffer is smaller than the smallest batch")]
    BufferBelowBatch,
    /// A bound is zero.
    #[error("smallest batch and buffer must be at least one byte")]
    Bound,
    /// The number of cores or links is 0 or too large.
    #[error("cores and links must be 1 to {MAX_CORES}")]
    Cores,
    /// The time exceeds the range of the number type.
    #[error("the time is too long to show")]
    Endless,
}

impl SyncCost {
    /// Seconds for one synchronisation of `threads` threads.
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

/// A cost that applies to stages of at least a number of bytes.
#[derive(Clone, Copy)]
struct CostStep {
    min_stage_bytes: u64,
    r_comp: f64,
}

impl Compute {
    /// R_comp of one core with all lanes filled, for the sequential time.
    pub fn of_one_core(&self) -> f64 {
        self.steps(1).last().map_or(f64::NAN, |step| step.r_comp)
    }

    /// R_comp by the size of a stage, in ascending order of size; costs only decrease.
    fn steps(&self, cores: usize) -> Vec<CostStep> {
        match self {
            Compute::Given { r_comp, strategy } => {
                vec![CostStep { min_stage_bytes: 0, r_comp: r_comp / strategy.speedup(cores) }]
            }
            Compute::Measured { by_lanes, by_cores } => {
                let speedup = interpolate(by_cores, 1) / interpolate(by_cores, cores);
                let mut best = f64::INFINITY;
                let mut steps = Vec::with_capacity(by_lanes.len());
                for rate in by_lanes {
                    // Filling more lanes cannot cost more, so an increase is noise.
                    best = f64::min(best, rate.seconds_per_byte);
                    let bytes = rate.count.saturating_mul(cores).saturating_mul(LAYOUT.chunk_bytes());
                    let min_stage_bytes = if steps.is_empty() { 0 } else { bytes as u64 };
                    steps.push(CostStep { min_stage_bytes, r_comp: best / speedup });
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

/// The cost with `count` cores: interpolates linearly in bytes per second between the measured counts. Beyond the last count, the rate
/// stays the same.
fn interpolate(rates: &[Rate], count: usize) -> f64 {
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

/// The integer next to `optimal`, at least 1, with the shorter time; the smaller one if the times are equal.
fn best_whole(optimal: f64, time_s: impl Fn(f64) -> f64) -> u64 {
    let low = optimal.floor().max(1.0);
    let best = if time_s(low + 1.0) < time_s(low) * (1.0 - TIME_TOLERANCE) { low + 1.0 } else { low };
    // The cast saturates; an infinite optimum is then limited by a bound.
    best as u64
}

impl Problem {
    /// The problem of the paper: two cores, one link, no bounds. Costs are in seconds per byte and seconds.
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

    /// Finds the shortest time and how to reach it.
    ///
    /// # Errors
    /// [`Invalid`], for impossible figures, and for bounds that no stage satisfies.
    pub fn plan(&self) -> Result<Plan, Invalid> {
        self.check()?;
        if self.cores == 1 {
            return self.on_one_core();
        }
        let mut best: Option<Plan> = None;
        for used in 2..=self.cores {
            for link_cores in 1..=self.links.min(used - 1) {
                for plan in self.candidates(used - link_cores, link_cores) {
                    if best.is_none_or(|best| plan.time_s < best.time_s * (1.0 - TIME_TOLERANCE)) {
                        best = Some(plan);
                    }
                }
            }
        }
        best.filter(|plan| plan.time_s.is_finite() && plan.sequential_s.is_finite()).ok_or(Invalid::Endless)
    }

    /// Equation 1 with these cores and R_comp for stages of this size, in seconds.
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
        if ![self.cores, self.links].iter().all(|count| (1..=MAX_CORES).contains(count)) {
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
        let fits = |step: &&CostStep| step.min_stage_bytes as f64 <= stage_bytes;
        steps.iter().rev().find(fits).map_or(f64::NAN, |step| step.r_comp)
    }

    fn max_stages(&self) -> u64 {
        (self.size_bytes / self.min_batch_bytes.unwrap_or(1)).max(1)
    }

    fn min_stages(&self) -> u64 {
        self.buffer_bytes.map_or(1, |bytes| self.size_bytes.div_ceil(bytes))
    }

    /// The best number of stages with these cores, for each number of lanes that the stages may fill.
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
            let (most, fewest) = (self.max_stages(), self.min_stages());
            let stages = free.min(for_lanes).min(most).max(fewest);
            let side = match step.r_comp.total_cmp(&r_comm) {
                _ if (step.r_comp - r_comm).abs() <= TIME_TOLERANCE * r_comm => Limit::Balanced,
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
        model::sequential_s(self.size_bytes as f64, self.r_comp(1.0, 1), self.r_comm)
    }

    /// The plan for one core, where nothing overlaps: the sequential time, in as few stages as the buffer allows, without synchronisation.
    fn on_one_core(&self) -> Result<Plan, Invalid> {
        let plan = self.plan_of(self.min_stages(), 1.0, 1, 1, Limit::OneCore);
        // Stages that a buffer makes small fill fewer lanes.
        let time_s = model::sequential_s(self.size_bytes as f64, plan.r_comp, plan.r_comm);
        let plan = Plan { time_s, speedup: plan.sequential_s / time_s, sync_s: 0.0, ..plan };
        if time_s.is_finite() { Ok(plan) } else { Err(Invalid::Endless) }
    }
}
