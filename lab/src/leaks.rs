//! Does time depend on keys or data? A statistical test in the manner of dudect (Reparaz, Balasch, Verbauwhede,
//! "Dude, is my code constant time?", DATE 2017): many runs with one fixed input and with random ones, in random
//! order, and Welch's t between the two. From |t| = 4.5 on, the difference of the means is not an accident. A smaller
//! t means that nothing was found, which proves nothing.
//!
//! Rare slow samples come from other programs. So t is also computed without the slowest samples, at several limits,
//! and the largest |t| counts. A test that finds something is repeated with other inputs and four times the samples,
//! and counts if it finds the same. Everything but the call itself is done before the clock starts, and at the same
//! addresses for both classes. The run also tests a comparison that stops at the first difference: this leak has to
//! be found.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

use fastrand::Rng;
use tress_cipher::catalogue::{CIPHERS, Cipher, FromKey, WithCipher};
use tress_cipher::{Aad, Backend, CcmCipher, Error, lanes, modes};

/// From this |t| on, a difference is not an accident.
pub const THRESHOLD: f64 = 4.5;

/// Bytes of a message: enough that every kernel reaches its inner loop, and long compared with reading the clock.
const MESSAGE_BYTES: usize = 1024;
const MESSAGES: usize = 4;
/// Shares of the samples to keep, in addition to all of them.
const KEPT: [f64; 6] = [0.5, 0.7, 0.8, 0.9, 0.95, 0.99];

/// The input that differs between the two classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// The key: fixed, or random.
    Key,
    /// The data: fixed, or random.
    Data,
}

#[derive(Clone, Debug)]
pub struct Finding {
    pub name: String,
    pub backend: &'static str,
    /// The input that was fixed or random.
    pub secret: Secret,
    /// The t with the largest absolute value.
    pub t: f64,
    /// The t of the repeated test, if there was one.
    pub again: Option<f64>,
}

impl Finding {
    /// Whether time depends on the secret. If this is `false`, nothing was found, which proves nothing.
    pub fn is_leak(&self) -> bool {
        let found = |t: f64| t.abs() >= THRESHOLD;
        found(self.t) && self.again.is_none_or(|again| found(again) && again.signum() == self.t.signum())
    }
}

/// Welch's t of two samples: the difference of their means in units of its standard error. Zero with fewer than two samples
/// in a class, or without any variance.
pub fn welch_t(classes: [&[f64]; 2]) -> f64 {
    if classes.iter().any(|class| class.len() < 2) {
        return 0.0;
    }
    let [a, b] = classes.map(|class| {
        let n = class.len() as f64;
        let mean = class.iter().sum::<f64>() / n;
        let variance = class.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    });
    let error = (a.1 + b.1).sqrt();
    if error > 0.0 { (a.0 - b.0) / error } else { 0.0 }
}

/// The t with the largest absolute value, over all limits below which samples are kept.
fn largest_t(samples: &[(bool, f64)]) -> f64 {
    let mut sorted: Vec<f64> = samples.iter().map(|sample| sample.1).collect();
    sorted.sort_by(f64::total_cmp);
    let limits = KEPT.iter().map(|share| sorted[(share * (sorted.len() - 1) as f64) as usize]).chain([f64::INFINITY]);
    let t_below = |limit: f64| {
        let class = |fixed| -> Vec<f64> {
            samples.iter().filter(|(own, time)| *own == fixed && *time <= limit).map(|sample| sample.1).collect()
        };
        welch_t([&class(true), &class(false)])
    };
    limits.map(t_below).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

/// Times `call` on inputs that `prepare` made for a class.
fn sample<S>(
    state: &mut S,
    (samples, seed): (usize, u64),
    mut prepare: impl FnMut(&mut S, bool, &mut Rng),
    mut call: impl FnMut(&mut S),
) -> f64 {
    let mut random = Rng::with_seed(seed);
    let mut taken = Vec::with_capacity(samples);
    for index in 0..samples + samples / 10 {
        let fixed = random.bool();
        prepare(state, fixed, &mut random);
        let start = Instant::now();
        call(state);
        let time = start.elapsed().as_nanos() as f64;
        // The first tenth warms up.
        if index >= samples / 10 {
            taken.push((fixed, time));
        }
    }
    largest_t(&taken)
}

/// A cipher and the messages that it works on, always at the same addresses.
struct LeakBench<C> {
    cipher: C,
    messages: MessageBuffers,
    fixed: MessageBuffers,
    random: MessageBuffers,
}

type MessageBuffers = [[u8; MESSAGE_BYTES]; MESSAGES];

type TestedCall<C> = fn(&C, &mut MessageBuffers);

/// The whole blocks of a message.
fn whole_blocks<C: FromKey>(message: &mut [u8]) -> &mut [u8] {
    let bytes = 960 - 960 % C::BLOCK_BYTES;
    &mut message[..bytes]
}

fn expect_success(result: Result<(), Error>) {
    result.expect("whole blocks, and counters have values left");
}

/// Tests one call with each of the two secrets.
fn test_both_secrets<C: FromKey>(
    out: &mut dyn FnMut(Finding) -> io::Result<()>,
    (name, key_bytes, backend, samples): (&str, usize, Backend, usize),
    call: TestedCall<C>,
) -> io::Result<()> {
    let make = |key: &[u8]| C::with_backend(&key[..key_bytes], backend).expect("an available backend");
    let t_of = |secret, samples, seed| {
        let fixed_key = [0x5a; 32];
        let none = [[0; MESSAGE_BYTES]; MESSAGES];
        let mut bench = LeakBench { cipher: make(&fixed_key), messages: none, fixed: none, random: none };
        sample(
            &mut bench,
            (samples, seed),
            |bench, fixed, random| {
                let mut random_key = [0; 32];
                random.fill(&mut random_key);
                random.fill(bench.random.as_flattened_mut());
                // Both classes read both messages, write one of them over the last message, and then make a key
                // schedule at a fixed address, so that the call finds the same state of caches and store buffers.
                let mask = if secret == Secret::Data && fixed { 0xff } else { 0 };
                let both = bench.fixed.as_flattened().iter().zip(bench.random.as_flattened());
                for (byte, (fixed, random)) in bench.messages.as_flattened_mut().iter_mut().zip(both) {
                    *byte = fixed & mask | random & !mask;
                }
                let is_random = secret == Secret::Key && !fixed;
                bench.cipher = make(if is_random { &random_key } else { &fixed_key });
            },
            |bench| call(&bench.cipher, black_box(&mut bench.messages)),
        )
    };
    for secret in [Secret::Key, Secret::Data] {
        let t = t_of(secret, samples, 1);
        // Repeats with other inputs and four times the samples. A difference that stays, in the same direction, is
        // not an accident.
        let again = (t.abs() >= THRESHOLD).then(|| t_of(secret, 4 * samples, 2));
        out(Finding { name: name.into(), backend: backend.name(), secret, t, again })?;
    }
    Ok(())
}

/// Tests all calls of a cipher, on every backend of this machine.
struct Tests<'a> {
    cipher: &'static Cipher,
    samples: usize,
    out: &'a mut dyn FnMut(Finding) -> io::Result<()>,
}

impl Tests<'_> {
    fn each<C: FromKey>(&mut self, calls: &[(&str, TestedCall<C>)]) -> io::Result<()> {
        let Cipher { name, key_bytes, .. } = *self.cipher;
        // The backend `reference` uses table lookups, so it is known to leak.
        for &backend in C::BACKENDS.iter().filter(|backend| backend.is_available() && **backend != Backend::Reference) {
            for (mode, call) in calls {
                test_both_secrets(self.out, (&format!("{name} {mode}"), key_bytes, backend, self.samples), *call)?;
            }
        }
        Ok(())
    }
}

impl WithCipher for Tests<'_> {
    type Output = io::Result<()>;

    fn block<C: FromKey>(mut self) -> io::Result<()> {
        self.each::<C>(&[
            ("ecb", |cipher, messages| {
                expect_success(modes::ecb::encrypt(cipher, whole_blocks::<C>(&mut messages[0])))
            }),
            ("cbc decrypt", |cipher, messages| {
                expect_success(modes::cbc::decrypt(
                    cipher,
                    &[1; 32][..C::BLOCK_BYTES],
                    whole_blocks::<C>(&mut messages[0]),
                ));
            }),
            ("ctr", |cipher, messages| {
                expect_success(modes::ctr::apply(cipher, &[1; 32][..C::BLOCK_BYTES], &mut messages[0]))
            }),
            ("cbc lanes", |cipher, messages| {
                let iv = &[1; 32][..C::BLOCK_BYTES];
                let mut jobs = messages.each_mut().map(|message| {
                    lanes::cbc::Job::new(cipher, iv, whole_blocks::<C>(message)).expect("whole blocks of every length")
                });
                lanes::cbc::encrypt(&mut jobs);
            }),
        ])
    }

    fn ccm<C: FromKey + CcmCipher>(mut self) -> io::Result<()> {
        self.each::<C>(&[
            ("ccm", |cipher, messages| {
                expect_success(modes::ccm::seal(cipher, &[1; 12], Aad(b""), &mut messages[0], &mut [0; 16]));
            }),
            // All tags are forged.
            ("ccm lanes decrypt", |cipher, messages| {
                let mut jobs = messages.each_mut().map(|message| {
                    lanes::ccm::Open::new(cipher, &[1; 12], Aad(b""), message, &[0; 16]).expect("lengths that CCM has")
                });
                let _ = black_box(lanes::ccm::open(&mut jobs));
            }),
        ])?;
        self.block::<C>()
    }
}

/// The planted leak: a comparison with zeros that stops at the first difference.
fn planted_leak(samples: usize) -> Finding {
    let mut message = [0; MESSAGE_BYTES];
    let t = sample(
        &mut message,
        (samples, 1),
        |message, fixed, random| {
            let mut bytes = [[0; MESSAGE_BYTES]; 2];
            random.fill(&mut bytes[1]);
            *message = bytes[usize::from(!fixed)];
        },
        |message| {
            black_box(black_box(&*message).iter().position(|byte| black_box(*byte) != 0));
        },
    );
    Finding { name: "planted comparison".into(), backend: "", secret: Secret::Data, t, again: None }
}

/// The ciphers with the shortest and with the longest key of each type, by their first names.
fn tested_ciphers() -> Vec<&'static Cipher> {
    let mut found: Vec<&Cipher> = Vec::new();
    for cipher in CIPHERS {
        let mut keys = CIPHERS.iter().filter(|one| one.of == cipher.of).map(|one| one.key_bytes);
        let is_between = keys.clone().any(|key| key < cipher.key_bytes) && keys.any(|key| key > cipher.key_bytes);
        let has_name = found.iter().any(|one| (one.of, one.key_bytes) == (cipher.of, cipher.key_bytes));
        if !is_between && !has_name {
            found.push(cipher);
        }
    }
    found
}

/// Tests the shortest and the longest key of each type of cipher, with `samples` samples each, on every backend of
/// this machine but `reference`. Writes a line for each finding. Returns the number of leaks in ciphers, and whether
/// the planted leak was found.
pub fn run(samples: usize, out: &mut dyn Write) -> io::Result<(usize, bool)> {
    let mut leaks = 0;
    let mut say = |finding: Finding| {
        leaks += usize::from(finding.is_leak());
        write_finding(out, &finding)
    };
    for cipher in tested_ciphers() {
        cipher.with(Tests { cipher, samples, out: &mut say })?;
    }
    let planted = planted_leak(samples);
    write_finding(out, &planted)?;
    Ok((leaks, planted.is_leak()))
}

fn write_finding(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    let Finding { name, backend, secret, t, .. } = finding;
    let verdict = if finding.is_leak() { "LEAK" } else { "" };
    let secret = format!("{secret:?}").to_lowercase();
    let again = finding.again.map(|again| format!("repeated {again:.2} ")).unwrap_or_default();
    writeln!(out, "{name:28} {backend:10} {secret:5} t {t:8.2} {again}{verdict}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: means 2 and 5, variances 1 and 1 of three: (2 - 5) / sqrt(1/3 + 1/3) = -3.674.
    #[test]
    fn welch_by_hand() {
        let t = welch_t([&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
        assert!((t + 3.674_234_6).abs() < 1e-6, "{t}");
        // Means 3 and 6, variances 4 of two and 9 of three: -3 / sqrt(2 + 3).
        let t = welch_t([&[3.0 - 2f64.sqrt(), 3.0 + 2f64.sqrt()], &[3.0, 6.0, 9.0]]);
        assert!((t + 3.0 / 5f64.sqrt()).abs() < 1e-9, "{t}");
        assert_eq!(welch_t([&[1.0], &[2.0, 3.0]]), 0.0);
        assert_eq!(welch_t([&[1.0, 1.0], &[2.0, 2.0]]), 0.0);
    }

    /// Two classes that differ only where a tenth of the samples is slow: the mean over all does not show it, that over
    /// the fast ones does.
    #[test]
    fn the_slow_tail_does_not_hide_a_difference() {
        let samples: Vec<(bool, f64)> = (0..10_000)
            .map(|i| {
                let fixed = i % 2 == 0;
                let tail = if i % 20 < 2 { 1e6 * f64::from(i % 7) } else { 0.0 };
                (fixed, 100.0 + f64::from(i * 7919 % 11) + tail + if fixed { 1.0 } else { 0.0 })
            })
            .collect();
        assert!(largest_t(&samples).abs() > THRESHOLD);
        let all = |class| samples.iter().filter(|sample| sample.0 == class).map(|sample| sample.1).collect::<Vec<_>>();
        assert!(welch_t([&all(true), &all(false)]).abs() < THRESHOLD);
    }

    /// The entries of the catalogue with the shortest and the longest key of each type.
    #[test]
    fn every_type_of_cipher_is_tested() {
        let names: Vec<&str> = tested_ciphers().iter().map(|cipher| cipher.name).collect();
        assert_eq!(names[..4], ["aes-128", "aes-256", "rijndael-160-128", "rijndael-160-256"]);
        assert!(CIPHERS.iter().all(|cipher| tested_ciphers().iter().any(|one| one.of == cipher.of)), "{names:?}");
    }

    #[test]
    fn the_planted_leak_is_found() {
        assert!((0..5).any(|_| planted_leak(4000).is_leak()));
    }
}
