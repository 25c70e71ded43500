//! Rooflines: the most that this machine allows, so that a rate can be given as a share of the roof that limits it.
//!
//! `loops` measures the processor's instructions, `memory` its caches and memory, `threads` synchronisation between
//! threads and the loopback. docs/explanation/method.md describes the loops and how they were checked.
//! [`crate::bench::roofline`] computes how much of a roof a row of `tress bench` needs.

mod loops;
mod memory;
pub(crate) mod table;
mod threads;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tress_container::Error;
use tress_peers::roofline;

use crate::timing::progress;
use crate::timing::statistics::{Median, median};

pub(crate) use table::write;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// The roof's name: that of a loop ([`roofline::NAMES`]), or for example `l1-read`, `memory-copy-all` (all
    /// cores), `loopback` or `barrier-2` (two threads).
    pub name: String,
    /// The unit that is counted.
    pub counts: String,
    pub threads: usize,
    /// The roof: units per second.
    pub per_s: f64,
    /// Units per cycle, where the loop runs at the core's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_cycle: Option<f64>,
    /// The median of the samples, in units per second.
    pub median_per_s: f64,
    /// Lower end of the median's 95 % confidence interval.
    pub low_per_s: f64,
    pub high_per_s: f64,
    /// The median of the samples in units per cycle, in a record that holds medians only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_per_cycle: Option<f64>,
    /// All samples in order of time, in units per second.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// All samples in order of time, in units per cycle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle_samples: Vec<f64>,
}

impl Roof {
    /// The median of the samples in units per cycle.
    pub(crate) fn median_per_cycle(&self) -> Option<f64> {
        let of_samples = || (!self.cycle_samples.is_empty()).then(|| median(&self.cycle_samples).median);
        self.median_per_cycle.or_else(of_samples)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    pub roofs: Vec<Roof>,
    /// Names of loops that need instructions which the machine lacks.
    pub missing: Vec<String>,
    /// Bytes of the data caches of a core, from the first level on, where the system reports them.
    pub cache_bytes: Vec<u64>,
}

impl Roofline {
    pub fn find(&self, name: &str) -> Option<&Roof> {
        self.roofs.iter().find(|roof| roof.name == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Roofs of the processor and its memory.
    Machine,
    /// Also those of threads and the loopback.
    All,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RoofEffort {
    pub(crate) samples: usize,
    pub(crate) sample: Duration,
    /// Number of samples of slow measurements.
    pub(crate) few: usize,
}

impl RoofEffort {
    pub(crate) fn new(quick: bool) -> RoofEffort {
        if quick {
            RoofEffort { samples: 11, sample: Duration::from_micros(500), few: 5 }
        } else {
            RoofEffort { samples: 31, sample: Duration::from_millis(2), few: 11 }
        }
    }
}

/// Measures the roofs of this machine, in a few seconds. A progress bar is shown on standard error if that is a terminal.
///
/// # Errors
/// `NoThread` if the system cannot start a thread.
pub(crate) fn measure(scope: Scope, quick: bool) -> Result<Roofline, Error> {
    let effort = RoofEffort::new(quick);
    let all = roofline::loops();
    let caches = memory::cache_bytes();
    let mut steps = all.len() + memory::steps(&caches);
    if scope == Scope::All {
        steps += threads::STEPS;
    }
    let progress = progress(steps as u64);
    let mut step = |name: &str| {
        progress.set_message(format!("roof {name}"));
        progress.inc(1);
    };
    let mut roofs = Vec::new();
    for one in &all {
        step(one.name);
        roofs.push(loops::measure(one, effort));
    }
    memory::measure(&caches, effort, &mut step, &mut roofs).and_then(|()| match scope {
        Scope::All => threads::measure(effort, &mut step, &mut roofs),
        Scope::Machine => Ok(()),
    })?;
    progress.finish_and_clear();
    let has = |name: &&&str| all.iter().all(|one| one.name != **name);
    let missing = roofline::NAMES.iter().filter(has).map(|name| (*name).into()).collect();
    Ok(Roofline { roofs, missing, cache_bytes: caches })
}

/// A sample: units per second, and per cycle.
type RateSample = (f64, Option<f64>);

fn roof(name: String, counts: &str, threads: usize, samples: &[RateSample]) -> Roof {
    let per_s: Vec<f64> = samples.iter().map(|sample| sample.0).collect();
    let per_cycle: Vec<f64> = samples.iter().filter_map(|sample| sample.1).collect();
    let Median { median, low, high } = median(&per_s);
    Roof {
        name,
        counts: counts.into(),
        threads,
        per_s: highest(&per_s),
        per_cycle: (!per_cycle.is_empty()).then(|| highest(&per_cycle)),
        median_per_s: median,
        low_per_s: low,
        high_per_s: high,
        median_per_cycle: None,
        samples: per_s,
        cycle_samples: per_cycle,
    }
}

/// The upper decile of the samples. Other programs only slow a loop down, so its roof is at the upper end of its
/// samples. From ten samples on the largest is not taken, because a clock that was read late may have caused it.
fn highest(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() * 9).div_ceil(10) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: nine tenths of 10 samples are 9, of 11 samples 9.9, so 10; of one it is itself.
    #[test]
    fn a_roof_is_the_upper_decile() {
        let samples = |n: u32| (1..=n).rev().map(f64::from).collect::<Vec<_>>();
        assert_eq!(highest(&samples(1)), 1.0);
        assert_eq!(highest(&samples(5)), 5.0);
        assert_eq!(highest(&samples(10)), 9.0);
        assert_eq!(highest(&samples(11)), 10.0);
        assert_eq!(highest(&samples(31)), 28.0);
    }

    #[test]
    fn a_roof_keeps_its_samples() {
        let samples: Vec<RateSample> = [3.0, 1.0, 2.0].map(|rate| (rate, Some(rate / 2.0))).into();
        let roof = roof("x".into(), "things", 1, &samples);
        assert_eq!((roof.per_s, roof.per_cycle, roof.median_per_s), (3.0, Some(1.5), 2.0));
        assert_eq!((roof.low_per_s, roof.high_per_s), (1.0, 3.0));
        assert_eq!(roof.samples, [3.0, 1.0, 2.0]);
        let text = serde_json::to_string(&roof).expect("JSON");
        assert_eq!(serde_json::from_str::<Roof>(&text).expect("a roof"), roof);
    }
}
