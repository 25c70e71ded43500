//! Loops over registers, timed by the processor time of this thread. The calibrated chain before and after each
//! sample counts cycles.

use tress_peers::roofline::Loop;

use super::{RateSample, Roof, RoofEffort, roof};
use crate::timing::{cycles_per_s, thread_time};

/// Number of turns to begin with.
const FIRST: u64 = 256;

pub(super) fn measure(one: &Loop, effort: RoofEffort) -> Roof {
    let turns = turns(one, effort);
    let samples: Vec<RateSample> = (0..effort.samples).map(|_| sample(|| one.run(turns), one.count(turns))).collect();
    roof(one.name.into(), one.counts, 1, &samples)
}

/// Times a run that counts `count` units. Returns the units per second and per cycle.
pub(super) fn sample(run: impl FnOnce(), count: f64) -> RateSample {
    let before = cycles_per_s();
    let start = thread_time();
    run();
    let seconds = (thread_time() - start).as_secs_f64().max(1e-9);
    let after = cycles_per_s();
    // An interruption makes the chain look slower, and nothing makes it look faster, so the larger figure is right.
    (count / seconds, before.zip(after).map(|(before, after)| count / (before.max(after) * seconds)))
}

/// Number of turns in a sample.
fn turns(one: &Loop, effort: RoofEffort) -> u64 {
    let mut turns = FIRST;
    loop {
        let start = thread_time();
        one.run(turns);
        let seconds = (thread_time() - start).as_secs_f64();
        let wanted = effort.sample.as_secs_f64();
        if seconds > wanted / 4.0 || turns >= 1 << 40 {
            return ((turns as f64 * wanted / seconds.max(1e-9)) as u64).max(1);
        }
        turns *= 4;
    }
}
