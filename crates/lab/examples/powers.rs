//! Exponentiations for secrets, one at a time and eight at a time, against those of other libraries: in one process, in
//! turn; prints the median of our time and of the ratios, with their quartiles. `powers [SECONDS]` measures that long for
//! each row.

use std::{env, hint::black_box, time::Instant};

use tress_modular::Modulus;
use tress_modular::lanes::{self, Power};
use tress_peers::{crypto_bigint, gmp, openssl_numbers};

/// Somebody's way to do some number of exponentiations.
type Run = Box<dyn FnMut()>;

/// xorshift64*, so that every run is the same.
fn random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

fn number(limbs: usize, state: &mut u64) -> Vec<u64> {
    (0..limbs).map(|_| random(state)).collect()
}

struct Problem {
    modulus: Vec<u64>,
    base: Vec<u64>,
    exponent: Vec<u64>,
}

impl Problem {
    /// With as many bits exactly; `exponent` of zero bits is 65537.
    fn new(bits: usize, exponent_bits: usize, state: &mut u64) -> Problem {
        let limbs = bits / 64;
        let mut modulus = number(limbs, state);
        modulus[0] |= 1;
        modulus[limbs - 1] |= 1 << 63;
        let mut base = number(limbs, state);
        base[limbs - 1] >>= 1;
        let exponent = if exponent_bits == 0 { vec![65537] } else { number(exponent_bits / 64, state) };
        Problem { modulus, base, exponent }
    }
}

fn lanes_of(problem: &Problem, count: usize, is_public: bool) -> Run {
    let modulus = Modulus::new(&problem.modulus).expect("an odd modulus");
    let (base, exponent) = (problem.base.clone(), problem.exponent.clone());
    let mut results = vec![vec![0; base.len()]; count];
    Box::new(move || {
        let mut jobs: Vec<_> = results
            .iter_mut()
            .map(|result| Power { modulus: &modulus, base: &base, exponent: &exponent, result })
            .collect();
        if is_public {
            lanes::power_vartime(&mut jobs)
        } else {
            lanes::power(&mut jobs)
        }
        black_box(&results);
    })
}

fn one(problem: &Problem, is_public: bool) -> Run {
    let modulus = Modulus::new(&problem.modulus).expect("an odd modulus");
    let (base, exponent) = (problem.base.clone(), problem.exponent.clone());
    Box::new(move || {
        black_box(if is_public { modulus.power_vartime(&base, &exponent) } else { modulus.power(&base, &exponent) });
    })
}

fn openssl(problem: &Problem) -> Result<Run, String> {
    let mut power = openssl_numbers::Power::new(&problem.modulus, &problem.base, &problem.exponent)
        .map_err(|error| error.to_string())?;
    Ok(Box::new(move || power.run().expect("libcrypto took these numbers")))
}

fn by_gmp(problem: &Problem) -> Result<Run, String> {
    let mut gmp = gmp::Power::new(&problem.modulus).map_err(|error| error.to_string())?;
    let (base, exponent) = (problem.base.clone(), problem.exponent.clone());
    let mut result = vec![0; base.len()];
    gmp.power(&base, &exponent, &mut result).map_err(|error| error.to_string())?;
    Ok(Box::new(move || gmp.power(&base, &exponent, &mut result).expect("GMP took these numbers")))
}

fn by_crypto_bigint<const LIMBS: usize>(problem: &Problem) -> Result<Run, String> {
    let mut power = crypto_bigint::Power::<LIMBS>::new(&problem.modulus, &problem.base, &problem.exponent)
        .map_err(|error| error.to_string())?;
    Ok(Box::new(move || power.run()))
}

/// Seconds of one of `times` runs.
fn time(run: &mut Run, times: u32) -> f64 {
    let start = Instant::now();
    (0..times).for_each(|_| run());
    start.elapsed().as_secs_f64() / f64::from(times)
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}

/// Measures ours, of `count` exponentiations, and theirs, of one each, in turn.
fn row(name: &str, count: usize, mut ours: Run, theirs: Vec<(&str, Result<Run, String>)>, seconds: f64) {
    let mut peers = Vec::new();
    for (peer, run) in theirs {
        match run {
            Ok(run) => peers.push((peer, run, Vec::new())),
            Err(error) => println!("{name}: {peer}: {error}"),
        }
    }
    let times = (2e-3 / time(&mut ours, 1)).ceil() as u32;
    let mut own = Vec::new();
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds || own.len() < 8 {
        let ours = time(&mut ours, times) / count as f64;
        own.push(ours);
        for (_, run, ratios) in &mut peers {
            let first = time(run, 1);
            let times = (2e-3 / first).ceil() as u32;
            ratios.push(time(run, times) / ours);
        }
    }
    let [_, median, _] = quartiles(own);
    print!("{name:34} {:9.2} us each", median * 1e6);
    for (peer, _, ratios) in peers {
        let [low, median, high] = quartiles(ratios);
        print!("  {peer} {median:.2}x ({low:.2} to {high:.2})");
    }
    println!();
}

fn main() {
    let seconds = env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(1.0);
    let mut state = 1;
    let mut problem = |bits, exponent_bits| Problem::new(bits, exponent_bits, &mut state);

    let p = problem(1024, 1024);
    let peers = vec![("openssl", openssl(&p)), ("gmp", by_gmp(&p)), ("crypto-bigint", by_crypto_bigint::<16>(&p))];
    row("1024 bits, one at a time", 1, one(&p, false), peers, seconds);
    for bits in [512, 1536, 2048, 3072, 4096] {
        let p = problem(bits, bits);
        let peers = vec![("openssl", openssl(&p)), ("gmp", by_gmp(&p))];
        row(&format!("{bits} bits, one at a time"), 1, one(&p, false), peers, seconds);
    }
    for bits in [2048, 4096] {
        let p = problem(bits, 0);
        row(&format!("{bits} bits, 65537, one at a time"), 1, one(&p, true), vec![], seconds);
    }
    for bits in [512, 1024, 1536, 2048, 3072, 4096] {
        let p = problem(bits, bits);
        let peers = vec![("openssl", openssl(&p)), ("one at a time", Ok(one(&p, false)))];
        row(&format!("{bits} bits, eight"), 8, lanes_of(&p, 8, false), peers, seconds);
    }
    for bits in [2048, 3072] {
        let p = problem(bits, 256);
        let peers = vec![("openssl", openssl(&p)), ("one at a time", Ok(one(&p, false)))];
        row(&format!("{bits} bits, 256 of exponent, eight"), 8, lanes_of(&p, 8, false), peers, seconds);
    }
    for bits in [1024, 2048, 3072, 4096] {
        let p = problem(bits, 0);
        row(
            &format!("{bits} bits, 65537, eight"),
            8,
            lanes_of(&p, 8, true),
            vec![("one at a time", Ok(one(&p, true)))],
            seconds,
        );
    }
}
