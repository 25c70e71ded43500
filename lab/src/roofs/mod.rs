//! Roofs: what this machine does at most, so that a figure can be told as a share of what binds it.
//!
//! `loops` measures the processor's instructions, `memory` its caches and memory, `threads` what threads cost each other and
//! the loopback. docs/explanation/method.md says which loops these are, and how they were checked; [`crate::bench::roofline`] how much of a roof a row of
//! `tress bench` needs.

mod loops;
mod memory;
mod table;
mod threads;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tress_container::Error;
use tress_peers::ceilings;

use crate::timing::{
    progress,
    statistics::{Median, median},
};

pub(crate) use table::write;

/// One ceiling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// Its name: of a loop ([`ceilings::NAMES`]), `l1-read`, `memory-copy-all` (of all cores), `loopback`, `barrier-2` (of two
    /// threads) and the like.
    pub name: String,
    /// What is counted.
    pub counts: String,
    /// Threads at it together.
    pub threads: usize,
    /// How many of these a second: the roof.
    pub per_s: f64,
    /// How many a cycle, where cycles say something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_cycle: Option<f64>,
    /// The median of the samples a second.
    pub median_per_s: f64,
    /// Lower end of the median's 95 % confidence interval.
    pub low_per_s: f64,
    /// Upper end.
    pub high_per_s: f64,
    /// The median of the samples a cycle, in a record that holds medians only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_per_cycle: Option<f64>,
    /// Every sample a second, in the order of time.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// The same a cycle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle_samples: Vec<f64>,
}

impl Roof {
    /// The median of the samples a cycle.
    pub(crate) fn median_per_cycle(&self) -> Option<f64> {
        let of_samples = || (!self.cycle_samples.is_empty()).then(|| median(&self.cycle_samples).median);
        self.median_per_cycle.or_else(of_samples)
    }
}

/// All ceilings of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roofs {
    /// Those that it has.
    pub roofs: Vec<Roof>,
    /// Loops that it lacks the instructions for.
    pub missing: Vec<String>,
    /// Bytes of the data caches of a core, the first one first, where the system tells.
    pub cache_bytes: Vec<u64>,
}

impl Roofs {
    /// The roof of this name.
    pub fn find(&self, name: &str) -> Option<&Roof> {
        self.roofs.iter().find(|roof| roof.name == name)
    }
}

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The processor and its memory.
    Machine,
    /// What threads cost each other and the loopback, too.
    All,
}

/// How long and how often to sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) samples: usize,
    pub(crate) sample: Duration,
    /// Samples of what takes long.
    pub(crate) few: usize,
}

impl Effort {
    pub(crate) fn new(quick: bool) -> Effort {
        if quick {
            Effort { samples: 11, sample: Duration::from_micros(500), few: 5 }
        } else {
            Effort { samples: 31, sample: Duration::from_millis(2), few: 11 }
        }
    }
}

/// Measures the roofs of this machine, in a few seconds. Progress goes to a terminal on standard error.
///
/// # Errors
/// `NoThread` where the system refuses one.
pub(crate) fn measure(scope: Scope, quick: bool) -> Result<Roofs, Error> {
    let effort = Effort::new(quick);
    let all = ceilings::loops();
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
    let missing = ceilings::NAMES.iter().filter(has).map(|name| (*name).into()).collect();
    Ok(Roofs { roofs, missing, cache_bytes: caches })
}

/// A sample: how many a second, and a cycle.
type Sample = (f64, Option<f64>);

/// A roof of its samples.
fn roof(name: String, counts: &str, threads: usize, samples: &[Sample]) -> Roof {
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

/// The upper decile. Whatever else runs only takes from a loop, so its ceiling is at the upper end of its samples; the very
/// highest may owe that to a clock that was read late.
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
        let samples: Vec<Sample> = [3.0, 1.0, 2.0].map(|rate| (rate, Some(rate / 2.0))).into();
        let roof = roof("x".into(), "things", 1, &samples);
        assert_eq!((roof.per_s, roof.per_cycle, roof.median_per_s), (3.0, Some(1.5), 2.0));
        assert_eq!((roof.low_per_s, roof.high_per_s), (1.0, 3.0));
        assert_eq!(roof.samples, [3.0, 1.0, 2.0]);
        let text = serde_json::to_string(&roof).expect("JSON");
        assert_eq!(serde_json::from_str::<Roof>(&text).expect("a roof"), roof);
    }
}
