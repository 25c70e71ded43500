//! The least that a row of `tress bench` takes of each roof, for each byte or each signature.
//!
//! | row | roof | needs |
//! |---|---|---|
//! | AES and Rijndael | `aes-…` of the backend's width | one round instruction for 16 bytes and round (FIPS-197: 10, 12, 14 rounds; Rijndael: max(Nb, Nk) + 6) |
//! | RC6-32/20 | `rc6-…` | 20 rounds of two halves for 16 bytes, mixed as in the cipher's definition |
//! | the same | `multiply-32-…` | a product for each half |
//! | PIPO-64 | `pipo-512` | 13 or 17 rounds for 8 bytes, the S-layer in 26 operations on three operands, key included |
//! | the same with AVX2, NEON | `logic-…` | 34 operations of the S-layer and 8 for the key on 8 bytes, each round |
//! | CCM | | all of these twice: a block for the key stream, one for the MAC |
//! | CBC encryption, CCM | `…-chain` | every round of a message after the one before; messages side by side share the time |
//! | all in place | `l1-update`, `l2-update`, `l3-update`, `memory-update` | each byte read and written once, in the
//! cache that holds all messages together |
//! | products of numbers | `multiply-64` | n² products of digits; 3 products of half the length from 32 digits on (Karatsuba) |
//! | powers, one at a time | `multiply-64` | [`power`] with squares of n (n + 1) / 2 products and reductions of n² |
//! | signatures with IFMA | `ifma-512` | [`power`] with squares of d (d + 1) and reductions of 2 d² multiply-adds, d digits of 52 bits in blocks of ten; eight lanes whether used or not; up to four powers of RSA signatures in pairs, whose registers have four digits of two numbers |
//! | files, encrypted or decrypted | `memory-read-all` | each byte read once, from a file that no cache holds |
//!
//! These are lower bounds on the work. Packing, counters, keys, hashing, carries and calls come on top, which is why
//! no row reaches its roof. They are the bounds of the algorithms in this library; another algorithm may need less. A
//! row that is not in the table has no bound: ciphers without special instructions, verification by other ways,
//! starting a program.

use tress_cipher::Backend;
use tress_cipher::catalogue::{self, Cipher, Mode, Type};

use crate::bench::BenchRow;
use crate::roofs::Roofline;

#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub roof: String,
    /// Amount of the roof's unit that a byte takes, or a run where the row counts runs.
    pub per_unit: f64,
    /// Whether each thread has its own roof (such as the units of its core), as opposed to a shared one (such as memory).
    pub of_each_thread: bool,
}

impl Bound {
    fn of_one(roof: impl Into<String>, per_unit: f64) -> Bound {
        Bound { roof: roof.into(), per_unit, of_each_thread: true }
    }
}

/// Least size in bytes of a file that no cache holds, nor one thread's part of it.
const LARGE_FILE: u64 = 200 << 20;

/// Every bound of this row, whether the machine has measured the roof or not.
pub fn bounds_of_row(row: &BenchRow, roofs: &Roofline) -> Vec<Bound> {
    if let Some((cipher, mode)) = cipher_and_mode(&row.name) {
        return blocks(row, mode, cost(cipher, Backend::from_name(&row.backend)), roofs);
    }
    let bits = |scheme| row.name.strip_prefix(scheme)?.split('-').next()?.parse().ok();
    match row.name.as_str() {
        "multiply" => product(row.message_bytes),
        "power" if row.lanes == 1 => one_power(row.message_bytes),
        "encrypt-file" | "decrypt-file" => file(row),
        _ if row.backend != "ifma" => Vec::new(),
        _ => match (bits("rsa-"), bits("dsa-")) {
            (Some(bits), _) => rsa(bits, &row.direction, row.lanes),
            (_, Some(bits)) => dsa(bits, &row.direction, row.lanes),
            _ => Vec::new(),
        },
    }
}

/// What a row named `CIPHER-MODE` measures.
fn cipher_and_mode(name: &str) -> Option<(&'static Cipher, Mode)> {
    let (cipher, mode) = name.rsplit_once('-')?;
    let cipher = catalogue::find(cipher)?;
    Some((cipher, cipher.modes.iter().copied().find(|known| known.name() == mode)?))
}

/// The least that one pass of a cipher over a message takes.
#[derive(Default)]
struct CipherCost {
    /// Roofs of throughput, with the amount for each byte.
    per_byte: Vec<(&'static str, f64)>,
    /// Roof of latency, with the amount for each byte of a single message that is a chain.
    chain: Option<(&'static str, f64)>,
}

fn aes_roof(backend: Option<Backend>) -> Option<&'static str> {
    match backend {
        Some(Backend::Vaes512) => Some("aes-512"),
        Some(Backend::Vaes256) => Some("aes-256"),
        Some(Backend::AesNi | Backend::ArmAes) => Some("aes-128"),
        _ => None,
    }
}

fn cost(cipher: &Cipher, backend: Option<Backend>) -> CipherCost {
    match cipher.of {
        Type::Rijndael128 | Type::Rijndael160 | Type::Rijndael192 | Type::Rijndael224 | Type::Rijndael256 => {
            rijndael(cipher, backend)
        }
        Type::Rc6 => rc6(backend),
        Type::Pipo => pipo(if cipher.key_bytes == 16 { 13.0 } else { 17.0 }, backend),
        // No roof counts its sums and rotations.
        Type::Lea => CipherCost::default(),
    }
}

/// A block that does not fill a register takes as many round instructions as one that does, so this is a bound for
/// all sizes. A round of a block of 256 bits has the latency of one of 128 bits.
fn rijndael(cipher: &Cipher, backend: Option<Backend>) -> CipherCost {
    let Some(roof) = aes_roof(backend) else { return CipherCost::default() };
    let rounds = (cipher.key_bytes.max(cipher.block_bytes) / 4 + 6) as f64;
    CipherCost { per_byte: vec![(roof, rounds / 16.0)], chain: Some(("aes-chain", rounds / cipher.block_bytes as f64)) }
}

fn rc6(backend: Option<Backend>) -> CipherCost {
    let halves = 40.0 / 16.0;
    let per_byte = match backend {
        Some(Backend::Avx512) => vec![("rc6-512", halves), ("multiply-32-512", halves)],
        Some(Backend::Avx2) => vec![("rc6-256", halves), ("multiply-32-256", halves)],
        _ => Vec::new(),
    };
    CipherCost { per_byte, chain: Some(("rc6-chain", 20.0 / 16.0)) }
}

fn pipo(rounds: f64, backend: Option<Backend>) -> CipherCost {
    let per_byte = match backend {
        Some(Backend::Gfni512) => vec![("pipo-512", rounds / 8.0)],
        Some(Backend::Avx2) => vec![("logic-256", rounds * 42.0 / 8.0)],
        Some(Backend::Neon) => vec![("logic-128", rounds * 42.0 / 8.0)],
        _ => Vec::new(),
    };
    CipherCost { per_byte, chain: None }
}

/// The bounds of a cipher in a mode.
fn blocks(row: &BenchRow, mode: Mode, work: CipherCost, roofs: &Roofline) -> Vec<Bound> {
    let passes = if mode == Mode::Ccm { 2.0 } else { 1.0 };
    let is_chain = mode == Mode::Ccm || (mode == Mode::Cbc && row.direction == "encrypt");
    // A single message that is a chain cannot fill the registers, so roofs of full registers do not limit it.
    let is_alone = is_chain && row.lanes == 1;
    let mut bounds = Vec::new();
    if !is_alone {
        bounds.extend(work.per_byte.iter().map(|(roof, per_byte)| Bound::of_one(*roof, passes * per_byte)));
    }
    if let Some((roof, per_byte)) = work.chain
        && is_chain
        && row.lanes > 0
    {
        // In CCM the MAC is the chain; the key stream is not.
        bounds.push(Bound::of_one(roof, per_byte / row.lanes as f64));
    }
    if bounds.is_empty() {
        return bounds;
    }
    let cache_level = cache_level((row.lanes as u64).saturating_mul(row.message_bytes), &roofs.cache_bytes);
    bounds.push(match cache_level.as_str() {
        "memory-update" if row.threads > 1 => {
            Bound { roof: "memory-update-all".into(), per_unit: 1.0, of_each_thread: false }
        }
        _ => Bound::of_one(cache_level, 1.0),
    });
    bounds
}

/// The cache level that holds this many bytes, or memory.
fn cache_level(bytes: u64, caches: &[u64]) -> String {
    let cache_level = caches.iter().position(|&cache| bytes <= cache);
    cache_level.map_or("memory-update".into(), |cache_level| format!("l{}-update", cache_level + 1))
}

/// Bound of a product: schoolbook below 32 digits of 64 bits, Karatsuba's method from there on.
fn product(factor_bytes: u64) -> Vec<Bound> {
    fn products(digits: u64) -> f64 {
        if digits < 32 {
            return (digits * digits) as f64;
        }
        let half = digits.div_ceil(2);
        2.0 * products(half) + products(digits - half)
    }
    let digits = factor_bytes / 8;
    if digits == 0 { Vec::new() } else { vec![Bound::of_one("multiply-64", products(digits) / factor_bytes as f64)] }
}

/// Number of operations of a power by windows: the exponent's squares, a product for each window but the first, and the table.
///
/// Every other entry of the table from 2 to 2^w − 1 is a square.
pub fn power(exponent_bits: u32, window: u32, square: f64, multiply: f64) -> f64 {
    let windows = exponent_bits.div_ceil(window);
    let (squares, products) = ((windows - 1) * window, windows - 1);
    let table = f64::from((1 << (window - 1)) - 1);
    (f64::from(squares) + table) * square + (f64::from(products) + table) * multiply
}

/// Bound of one power, with windows of five bits.
fn one_power(bytes: u64) -> Vec<Bound> {
    let n = bytes as f64 / 8.0;
    let (square, multiply) = (n * (n + 1.0) / 2.0 + n * n, 2.0 * n * n);
    let bits = 8 * bytes as u32;
    if bits < 240 { Vec::new() } else { vec![Bound::of_one("multiply-64", power(bits, 5, square, multiply))] }
}

/// Multiply-adds of a square and of a product, each with its reduction modulo a number of this length.
fn ifma(bits: u32) -> (f64, f64) {
    // Numbers below R / 4, in blocks of 520 bits.
    let digits = f64::from(10 * (bits + 2).div_ceil(520));
    (digits * (digits + 1.0) + 2.0 * digits * digits, 4.0 * digits * digits)
}

/// Lanes paid for each lane used: eight lanes at a time take as long as one.
fn lane_overhead(lanes: usize) -> f64 {
    if lanes == 0 { 1.0 } else { (lanes.div_ceil(8) * 8) as f64 / lanes as f64 }
}

/// Multiply-adds of a square and of a product in a pair, each with its reduction and its quotients, for one of the two numbers: a digit is
/// multiplied by registers of four digits, in a square only by those that are not below it.
fn ifma_pair(bits: u32) -> (f64, f64) {
    let digits = 10 * (bits + 2).div_ceil(520);
    let registers = digits.div_ceil(4);
    let in_square: u32 = (0..digits).map(|digit| 2 * (registers - digit / 4)).sum();
    let reduction = digits * (2 * registers + 1);
    (4.0 * f64::from(in_square + reduction), 4.0 * f64::from(2 * registers * digits + reduction))
}

/// Bound of RSA. A signature is two powers of half the length (CRT); a verification is a power with exponent 65537, bit by bit.
fn rsa(bits: u32, direction: &str, signatures: usize) -> Vec<Bound> {
    let multiply_adds = match direction {
        "sign" => {
            let (square, multiply) = ifma(bits / 2);
            let in_lanes = power(bits / 2, 4, square, multiply);
            let (square, multiply) = ifma_pair(bits / 2);
            let in_pairs = power(bits / 2, 5, square, multiply);
            let powers = 2 * signatures;
            match powers % 8 {
                few @ 1..=4 => ((powers - few) as f64 * in_lanes + few as f64 * in_pairs) / signatures as f64,
                _ => 2.0 * in_lanes * lane_overhead(powers),
            }
        }
        // Fewer verifications are done one by one or in pairs.
        "verify" if signatures >= 3 => {
            let (square, multiply) = ifma(bits);
            (16.0 * square + multiply) * lane_overhead(signatures)
        }
        _ => return Vec::new(),
    };
    vec![Bound::of_one("ifma-512", multiply_adds)]
}

/// Bound of DSA. A signature is a power of g with a table, 12 squares and 51 products for 256 bits; a verification is
/// that and a power of y.
fn dsa(bits: u32, direction: &str, signatures: usize) -> Vec<Bound> {
    if signatures < 8 {
        return Vec::new();
    }
    let (square, multiply) = ifma(bits);
    let of_g = 12.0 * square + 51.0 * multiply;
    let multiply_adds = match direction {
        "sign" => of_g,
        "verify" => of_g + power(256, 4, square, multiply),
        _ => return Vec::new(),
    };
    vec![Bound::of_one("ifma-512", multiply_adds * lane_overhead(signatures))]
}

/// Bounds of a file in memory, encrypted or decrypted by several threads.
fn file(row: &BenchRow) -> Vec<Bound> {
    let mut bounds = Vec::new();
    if row.message_bytes >= LARGE_FILE {
        bounds.push(Bound { roof: "memory-read-all".into(), per_unit: 1.0, of_each_thread: false });
    }
    if let Some(roof) = aes_roof(Backend::from_name(&row.backend)) {
        bounds.push(Bound::of_one(roof, 2.0 * 10.0 / 16.0));
    }
    bounds
}

#[cfg(test)]
#[path = "bounds_test.rs"]
mod tests;
