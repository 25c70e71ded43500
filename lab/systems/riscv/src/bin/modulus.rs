//! Cycles of signature arithmetic on 32-bit RISC-V without an operating system, as on SiFive's FE310:
//! `tress_modular::Modulus` with 16 KiB of memory, and single products of 256 to 4096 bits.
//!
//! Writes lines of number bits, operation, and cycles of the second run (instructions with the feature `instructions`).
#![no_std]
#![no_main]

use core::hint::black_box;

use tress_arithmetic::multiply;
use tress_modular::{Limb, Modulus};
use tress_modular_times::Clock as _;
use tress_riscv::{Counter, heap, put, write};

/// Runs `work` twice and writes the cycles of the second run. Frees all memory that `work` allocated.
fn measure(bits: usize, what: &str, mut work: impl FnMut()) {
    let mark = heap::mark();
    let mut elapsed = 0;
    // Not unrolled, so that both runs are the same code.
    for _ in 0..black_box(2) {
        let start = Counter.now();
        work();
        elapsed = Counter.now() - start;
        // SAFETY: `work` returns nothing and keeps no reference, so no allocation after `mark` is in use.
        unsafe { heap::release(mark) };
    }
    number(bits as u64);
    put(b' ');
    write(what);
    put(b' ');
    number(elapsed);
    put(b'\n');
}

fn number(number: u64) {
    let mut digits = [0; 20];
    let (mut rest, mut i) = (number, digits.len());
    while rest > 0 || i == digits.len() {
        i -= 1;
        digits[i] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    digits[i..].iter().for_each(|&digit| put(digit));
}

/// Fills a number with pseudorandom digits; the highest bit and the lowest are set.
fn fill<L: Limb>(digits: &mut [L], seed: u64) {
    let mut word = seed | 1;
    for digit in &mut *digits {
        // G. Marsaglia: "Xorshift RNGs", 2003.
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        *digit = L::from_u64(word);
    }
    let n = digits.len();
    digits[0] = digits[0] | L::ONE;
    digits[n - 1] = digits[n - 1] | (L::ONE << (L::BITS - 1));
}

/// Measures a modulus of N digits.
fn modulus<const N: usize>() {
    let bits = 64 * N;
    let (mut n, mut base, mut exponent) = ([0; N], [0; N], [0; N]);
    fill(&mut n, 1);
    fill(&mut base, 2);
    base[N - 1] >>= 1;
    fill(&mut exponent, 3);
    measure(bits, "set-up", || _ = black_box(Modulus::new(black_box(&n))));
    let mark = heap::mark();
    let Ok(modulus) = Modulus::new(&n) else { return write("refused\n") };
    // Two Montgomery products: conversion to Montgomery form, and the product with the other factor.
    measure(bits, "multiply", || _ = black_box(modulus.multiply(black_box(&base), &exponent)));
    measure(bits, "power-65537", || _ = black_box(modulus.power_vartime(black_box(&base), &[65537])));
    measure(bits, "power", || _ = black_box(modulus.power(black_box(&base), &exponent)));
    measure(bits, "verify", || {
        let modulus = Modulus::new(black_box(&n));
        _ = black_box(modulus.map(|modulus| modulus.power_vartime(&base, &[65537])));
    });
    drop(modulus);
    // SAFETY: no allocation after `mark` is in use.
    unsafe { heap::release(mark) };
}

/// Measures products of N digits of 32 bits.
fn products<const N: usize, const DOUBLE: usize>() {
    let (mut a, mut b, mut product) = ([0u32; N], [0u32; N], [0u32; DOUBLE]);
    fill(&mut a, 4);
    fill(&mut b, 5);
    measure(32 * N, "rows", || multiply::rows(black_box(&a), black_box(&b), &mut product));
    #[cfg(not(tress_without_riscv32))]
    measure(32 * N, "assembly", || tress_arithmetic::riscv32::multiply(black_box(&a), black_box(&b), &mut product));
}

#[unsafe(no_mangle)]
fn run() -> bool {
    products::<8, 16>();
    products::<16, 32>();
    products::<32, 64>();
    products::<64, 128>();
    products::<128, 256>();
    modulus::<16>();
    modulus::<32>();
    true
}
