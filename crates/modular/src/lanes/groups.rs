//! Groups jobs that run in parallel lanes: their moduli must have the same length, and jobs with similar exponent lengths come together.

use alloc::vec;
use alloc::vec::Vec;
use core::array;

use zeroize::Zeroizing;

use super::ifma::{
    BLOCKS, Digit, Exponents, Factors, LANES, PowerInput, comb_digits, longest, memory_digits, pair_digits, pair_limbs,
    product_digits,
};
use super::{CombPower, Power, Product, comb_one, ifma, multiply_one, power_one, power_one_vartime};
use crate::cpu::Ifma;
use crate::{Modulus, add};

/// Smallest number of jobs for which eight lanes are faster than one job after the other, or as fast on processors with only one unit for
/// IFMA. There, eight lanes take as long as two jobs with secret exponents, and as long as two and a half with exponent 65537.
const fn min_jobs(exponents: Exponents) -> usize {
    match exponents {
        Exponents::Secret => 2,
        Exponents::Public => 3,
    }
}

/// Most jobs with secret exponents that are faster in pairs than in eight lanes.
const MAX_IN_PAIRS: usize = 4;

/// Above this length a public exponent is read in windows, like a secret one, instead of bit by bit.
const LONG_BITS: usize = 64;

/// Sort key of a job. The first three fields must be equal in a group: limbs of the modulus; its blocks, 0 if it is too short for lanes;
/// and whether the exponent is read bit by bit. The last one, the exponent's length in limbs, should be similar.
type GroupKey = (usize, usize, bool, usize);

fn blocks_of(modulus: &Modulus) -> usize {
    modulus.in_lanes().map_or(0, |prepared| prepared.blocks)
}

fn key(job: &Power<'_>, exponents: Exponents) -> GroupKey {
    let (is_short, length) = match exponents {
        Exponents::Secret => (false, job.exponent.len()),
        Exponents::Public => {
            let bits = add::bits_vartime(job.exponent);
            (bits <= LONG_BITS, bits.div_ceil(64))
        }
    };
    (job.modulus.limbs(), blocks_of(job.modulus), is_short, length)
}

/// Runs all jobs, as many as possible in lanes.
pub(super) fn power(token: Ifma, jobs: &mut [Power<'_>], exponents: Exponents) {
    let one_by_one = match exponents {
        Exponents::Secret => power_one,
        Exponents::Public => power_one_vartime,
    };
    let mut sorted: Vec<(GroupKey, &mut Power<'_>)> = jobs.iter_mut().map(|job| (key(job, exponents), job)).collect();
    sorted.sort_by_key(|(key, _)| *key);
    for alike in sorted.chunk_by_mut(|(a, _), (b, _)| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
        // From the end, where the exponents are longest, so that short ones are left over.
        for eight in alike.rchunks_mut(LANES) {
            if fit_in_pairs(eight, exponents) {
                eight.chunks_mut(2).for_each(|pair| power_pair(token, pair, exponents));
            } else if eight[0].0.1 == 0 || eight.len() < min_jobs(exponents) {
                eight.iter_mut().for_each(|(_, job)| one_by_one(job));
            } else {
                power_in_lanes(token, eight, exponents);
            }
        }
    }
}

/// Whether jobs are so few that pairs are the fastest. Public exponents must be equal and short.
fn fit_in_pairs(jobs: &[(GroupKey, &mut Power<'_>)], exponents: Exponents) -> bool {
    let (_, blocks, is_short, _) = jobs[0].0;
    let exponent = jobs[0].1.exponent;
    let is_fit = match exponents {
        Exponents::Secret => jobs.len() <= MAX_IN_PAIRS,
        Exponents::Public => {
            let is_equal = |(_, job): &(_, &mut Power<'_>)| add::compare_vartime(job.exponent, exponent).is_eq();
            jobs.len() < min_jobs(exponents) && is_short && jobs.iter().all(is_equal) && add::bits_vartime(exponent) > 0
        }
    };
    BLOCKS.contains(&blocks) && is_fit
}

/// Runs one or two jobs side by side.
fn power_pair(token: Ifma, jobs: &mut [(GroupKey, &mut Power<'_>)], exponents: Exponents) {
    let (limbs, blocks, ..) = jobs[0].0;
    let of = |i: usize| &jobs[i.min(jobs.len() - 1)].1;
    let bases: [_; 2] = array::from_fn(|i| reduced(of(i).modulus, of(i).base, pair_limbs(blocks)));
    let base = |i: usize| bases[i].as_deref().map_or(of(i).base, Vec::as_slice);
    let pair: [_; 2] =
        array::from_fn(|i| PowerInput { modulus: of(i).modulus, base: base(i), exponent: of(i).exponent });
    let mut memory = Zeroizing::new(vec![Digit::default(); pair_digits(blocks)]);
    let mut results = Zeroizing::new(vec![0; 2 * limbs]);
    ifma::power_pair(token, &pair, blocks, exponents, &mut memory, &mut results);
    for ((_, job), result) in jobs.iter_mut().zip(results.chunks_exact(limbs)) {
        job.result.copy_from_slice(result);
    }
}

/// Runs up to eight jobs of one group in lanes.
fn power_in_lanes(token: Ifma, jobs: &mut [(GroupKey, &mut Power<'_>)], exponents: Exponents) {
    let (limbs, blocks, is_short, _) = jobs[0].0;
    let bases: [_; LANES] = array::from_fn(|i| {
        let job = &jobs[if i < jobs.len() { i } else { 0 }].1;
        reduced(job.modulus, job.base, longest(blocks, job.modulus.bits()))
    });
    let lanes: [PowerInput<'_>; LANES] = array::from_fn(|i| {
        // Lanes without a job repeat the first job.
        let job = &jobs[if i < jobs.len() { i } else { 0 }].1;
        PowerInput {
            modulus: job.modulus,
            base: bases[i].as_deref().map_or(job.base, Vec::as_slice),
            exponent: match exponents {
                Exponents::Secret => job.exponent,
                Exponents::Public => add::strip_vartime(job.exponent),
            },
        }
    });
    let exponents = if is_short { Exponents::Public } else { Exponents::Secret };
    let longest = lanes.iter().map(|lane| lane.exponent.len()).max().unwrap_or(0);
    let mut memory = Zeroizing::new(vec![Digit::default(); memory_digits(blocks, exponents, longest)]);
    let mut results = Zeroizing::new(vec![0; LANES * limbs]);
    ifma::power(token, &lanes, blocks, exponents, &mut memory, &mut results);
    for ((_, job), result) in jobs.iter_mut().zip(results.chunks_exact(limbs)) {
        job.result.copy_from_slice(result);
    }
}

/// The number, reduced, if it has more limbs than a ring takes.
fn reduced(modulus: &Modulus, number: &[u64], limbs: usize) -> Option<Zeroizing<Vec<u64>>> {
    (number.len() > limbs).then(|| Zeroizing::new(modulus.reduce(number)))
}

/// Smallest number of products for which eight lanes are faster than one product after the other.
const MIN_PRODUCTS: usize = 3;

/// Runs all products, as many as possible in lanes.
pub(super) fn multiply(token: Ifma, jobs: &mut [Product<'_>]) {
    let mut sorted: Vec<((usize, usize), &mut Product<'_>)> =
        jobs.iter_mut().map(|job| ((job.modulus.limbs(), blocks_of(job.modulus)), job)).collect();
    sorted.sort_by_key(|(key, _)| *key);
    for alike in sorted.chunk_by_mut(|(a, _), (b, _)| a == b) {
        let (limbs, blocks) = alike[0].0;
        let mut memory = Zeroizing::new(vec![Digit::default(); product_digits(blocks)]);
        let mut results = Zeroizing::new(vec![0; LANES * limbs]);
        for eight in alike.chunks_mut(LANES) {
            if eight.len() < MIN_PRODUCTS || blocks == 0 {
                eight.iter_mut().for_each(|(_, job)| multiply_one(job));
                continue;
            }
            let of = |i: usize| if i < eight.len() { &eight[i].1 } else { &eight[0].1 };
            let factors: [_; LANES] = array::from_fn(|i| {
                let modulus = of(i).modulus;
                [of(i).a, of(i).b].map(|factor| reduced(modulus, factor, longest(blocks, modulus.bits())))
            });
            let lanes: [Factors<'_>; LANES] = array::from_fn(|i| {
                let [a, b] = factors[i].each_ref().map(|factor| factor.as_deref().map(Vec::as_slice));
                Factors { modulus: of(i).modulus, a: a.unwrap_or(of(i).a), b: b.unwrap_or(of(i).b) }
            });
            ifma::product(token, &lanes, blocks, &mut memory, &mut results);
            for ((_, job), result) in eight.iter_mut().zip(results.chunks_exact(limbs)) {
                job.result.copy_from_slice(result);
            }
        }
    }
}

/// Runs all powers of combs. Even a single one is faster in lanes.
pub(super) fn power_by_comb(token: Ifma, jobs: &mut [CombPower<'_>]) {
    let mut sorted: Vec<&mut CombPower<'_>> = jobs.iter_mut().collect();
    sorted.sort_by_key(|job| core::ptr::from_ref(job.comb).addr());
    for alike in sorted.chunk_by_mut(|a, b| core::ptr::eq(a.comb, b.comb)) {
        let comb = alike[0].comb;
        let blocks = blocks_of(comb.modulus());
        if blocks == 0 {
            alike.iter_mut().for_each(|job| comb_one(job));
            continue;
        }
        let mut memory = Zeroizing::new(vec![Digit::default(); comb_digits(blocks)]);
        let mut results = Zeroizing::new(vec![0; LANES * comb.modulus().limbs()]);
        for eight in alike.chunks_mut(LANES) {
            let exponents = array::from_fn(|i| eight.get(i).unwrap_or(&eight[0]).exponent);
            ifma::comb(token, comb, exponents, blocks, &mut memory, &mut results);
            for (job, result) in eight.iter_mut().zip(results.chunks_exact(comb.modulus().limbs())) {
                job.result.copy_from_slice(result);
            }
        }
    }
}
