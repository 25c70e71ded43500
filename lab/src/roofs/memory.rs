//! Caches and memory: reading, writing, copying and updating in place, on one core; and memory on all cores.

use std::hint::black_box;
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tress_container::{Error, threads};
use tress_peers::roofline::traffic::{self, Access, CacheLine, LINES_PER_TURN};

use super::loops::sample;
use super::{RateSample, Roof, RoofEffort, roof};
use crate::timing::thread_time;

/// Cache sizes where the system does not report any: those that every processor of the last ten years has.
const USUAL: [u64; 2] = [32 << 10, 256 << 10];
/// Least and most bytes for memory. The least is larger than any cache, for systems that report none.
const LEAST_MEMORY: u64 = 64 << 20;
const MOST_MEMORY: u64 = 512 << 20;

/// Bytes of the data caches of a core, by level from the first on. Cores may share the last one.
pub(super) fn cache_bytes() -> Vec<u64> {
    let line = |path: String| fs::read_to_string(path).ok().map(|text| text.trim().to_string());
    let mut found: Vec<(u32, u64)> = (0..10)
        .filter_map(|index| {
            let of = |what: &str| line(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}"));
            let kind = of("type")?;
            (kind != "Instruction").then_some(())?;
            Some((of("level")?.parse().ok()?, size(&of("size")?)?))
        })
        .collect();
    found.sort_unstable();
    let sizes: Vec<u64> = found.into_iter().map(|(_, bytes)| bytes).collect();
    // A level that is not larger than the one below is ignored.
    if sizes.len() < 2 || !sizes.is_sorted_by(|a, b| a < b) { USUAL.into() } else { sizes }
}

/// A size in the notation of sysfs, such as `48K`.
fn size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 1 << 10),
        'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0)
}

/// The levels, and the bytes to work on. For a cache that is half of it, so that other data fits, too. For a cache
/// that cores share, it is four times the level below, if that is at most a quarter of the cache. For memory, it is
/// twice the largest cache.
fn levels(caches: &[u64]) -> Vec<(String, u64)> {
    let mut levels = Vec::new();
    for (number, &bytes) in caches.iter().enumerate() {
        let worked_on = match number {
            0 | 1 => bytes / 2,
            _ => (4 * caches[number - 1]).min(bytes / 4).max(caches[number - 1] * 2),
        };
        if worked_on < bytes {
            levels.push((format!("l{}", number + 1), worked_on));
        }
    }
    let largest = caches.last().copied().unwrap_or(0);
    levels.push(("memory".into(), (2 * largest).clamp(LEAST_MEMORY, MOST_MEMORY)));
    levels
}

/// Number of roofs that will be measured.
pub(super) fn steps(caches: &[u64]) -> usize {
    (levels(caches).len() + 1) * Access::ALL.len()
}

pub(super) fn measure(
    caches: &[u64],
    effort: RoofEffort,
    step: &mut dyn FnMut(&str),
    roofs: &mut Vec<Roof>,
) -> Result<(), Error> {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let levels = levels(caches);
    for (level, bytes) in &levels {
        let mut lines = touched_lines(*bytes);
        let count = if level == "memory" { effort.few } else { effort.samples };
        for access in Access::ALL {
            let name = format!("{level}-{}", access.name());
            step(&name);
            let times = passes_per_sample(access, &mut lines, effort.sample);
            let of_one = (access.bytes(lines.len()) * times) as f64;
            let samples: Vec<RateSample> = (0..count)
                .map(|_| {
                    let (per_s, per_cycle) = sample(|| traffic::pass(access, black_box(&mut lines), times), of_one);
                    // The clock of memory is not that of the core.
                    (per_s, per_cycle.filter(|_| level == "l1" || level == "l2"))
                })
                .collect();
            roofs.push(roof(name, unit_name(access), 1, &samples));
        }
    }
    let (_, bytes) = levels.last().expect("there is memory");
    for access in Access::ALL {
        let name = format!("memory-{}-all", access.name());
        step(&name);
        let samples: Vec<RateSample> =
            rates_of_all_cores(access, *bytes, cores, effort.few)?.into_iter().map(|rate| (rate, None)).collect();
        roofs.push(roof(name, unit_name(access), cores, &samples));
    }
    Ok(())
}

fn unit_name(access: Access) -> &'static str {
    match access {
        Access::Read => "bytes read",
        Access::Write => "bytes written",
        Access::Copy => "bytes copied",
        Access::Update => "bytes updated in place",
    }
}

/// Memory of up to `bytes` bytes, written once so that it has pages.
fn touched_lines(bytes: u64) -> Vec<CacheLine> {
    let lines = bytes as usize / size_of::<CacheLine>() / (2 * LINES_PER_TURN) * (2 * LINES_PER_TURN);
    let mut lines = vec![CacheLine::default(); lines.max(2 * LINES_PER_TURN)];
    traffic::pass(Access::Write, &mut lines, 1);
    lines
}

/// Number of passes in a sample, at least one.
fn passes_per_sample(access: Access, lines: &mut [CacheLine], sample: Duration) -> usize {
    let start = Instant::now();
    let mut passes = 0;
    while passes == 0 || start.elapsed() < sample {
        traffic::pass(access, lines, 1);
        passes += 1;
    }
    passes
}

/// Bytes per second of all cores at the same time, each with a part of `bytes`. It is the sum of the cores' rates by
/// processor time, because other programs may use a core during the measurement.
fn rates_of_all_cores(access: Access, bytes: u64, cores: usize, samples: usize) -> Result<Vec<f64>, Error> {
    let line = Barrier::new(cores);
    let sums = Mutex::new(vec![0.0; samples]);
    threads::together(cores, |_| {
        let mut lines = touched_lines(bytes / cores as u64);
        let of_one = access.bytes(lines.len()) as f64;
        let mut rates = Vec::with_capacity(samples);
        for _ in 0..=samples {
            line.wait();
            let start = thread_time();
            traffic::pass(access, black_box(&mut lines), 1);
            rates.push(of_one / (thread_time() - start).as_secs_f64().max(1e-9));
        }
        let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
        // The first sample is for warm-up.
        sums.iter_mut().zip(&rates[1..]).for_each(|(sum, rate)| *sum += rate);
    })?;
    Ok(sums.into_inner().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("48K"), Some(48 << 10));
        assert_eq!(size("2M"), Some(2 << 20));
        assert_eq!(size("512"), Some(512));
        for wrong in ["", "K", "-1K", "0", "99999999999999999999K", "18446744073709551615K"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }

    /// By hand, for an Ice Lake server: half of 48 KiB and of 1280 KiB, four times 1280 KiB of 48 MiB, and twice 48 MiB.
    #[test]
    fn sizes_of_working_sets() {
        let levels_of = |caches: &[u64]| levels(caches).into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>();
        assert_eq!(levels_of(&[48 << 10, 1280 << 10, 48 << 20]), [24 << 10, 640 << 10, 5 << 20, 96 << 20]);
        assert_eq!(levels_of(&USUAL), [16 << 10, 128 << 10, 64 << 20]);
        // A third cache of at most twice the second's size cannot be distinguished from it.
        assert_eq!(levels_of(&[32 << 10, 1 << 20, 2 << 20]), [16 << 10, 512 << 10, 64 << 20]);
    }

    #[test]
    fn lines_fill_turns() {
        assert_eq!(touched_lines(0).len(), 16);
        assert_eq!(touched_lines(24 << 10).len(), 384);
        assert_eq!(touched_lines((24 << 10) + 100).len(), 384);
    }

    #[test]
    fn all_cores_have_rates() {
        threads::LEFT.set(1);
        let refused = rates_of_all_cores(Access::Copy, 1 << 20, 3, 3).expect_err("no thread");
        assert_eq!(refused.kind, tress_container::ErrorKind::NoThread);
        threads::LEFT.set(usize::MAX);
        let rates = rates_of_all_cores(Access::Copy, 1 << 20, 2, 3).expect("threads");
        assert!(rates.len() == 3 && rates.iter().all(|rate| rate.is_finite() && *rate > 0.0), "{rates:?}");
    }
}
