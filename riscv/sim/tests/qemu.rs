//! Random programs for RV32 and RV64, executed by this simulator and by QEMU's user mode. Afterwards all registers and
//! the memory must be equal. Together the programs execute more than a million instructions.

#![cfg(target_os = "linux")]

mod compressed;
mod program;
mod run;

use crate::common::elf;
use program::{TEXT, generate};
use run::{with_qemu, with_simulator};
use tress_sim::Xlen;

/// Number of programs for each width (environment variable `QEMU_PROGRAMS` overrides it), of steps, and of rounds.
const PROGRAMS: u64 = 12;
const STEPS: usize = 2200;
const ROUNDS: u32 = 10;

/// The first byte that differs.
fn difference(xlen: Xlen, seed: u64, steps: usize, rounds: u32) -> (Option<usize>, u64) {
    let file = elf(xlen, TEXT, &generate(xlen, seed, steps, rounds).bytes, &[]);
    let (ours, instructions) = with_simulator(&file);
    let folder = tempfile::tempdir().unwrap();
    let theirs = with_qemu(xlen, &file, &folder.path().join("program.elf"));
    (ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs), instructions)
}

fn compare(xlen: Xlen) {
    let programs = std::env::var("QEMU_PROGRAMS").ok().map_or(PROGRAMS, |number| number.parse().unwrap());
    let mut instructions = 0;
    for seed in 0..programs {
        let (first, executed) = difference(xlen, seed, STEPS, ROUNDS);
        instructions += executed;
        if let Some(first) = first {
            // The last step of the shortest program that still differs is the one that fails.
            let differs = |steps: usize| difference(xlen, seed, steps, ROUNDS).0.is_some();
            let (mut low, mut high) = (0, STEPS);
            while high - low > 1 {
                let middle = (low + high) / 2;
                if differs(middle) { high = middle } else { low = middle }
            }
            let last = generate(xlen, seed, high, ROUNDS).last;
            panic!("{xlen:?}, program {seed}: byte {first:#x} differs; step {high} is {last}");
        }
    }
    println!("{xlen:?}: {instructions} instructions");
    assert!(instructions > 550_000, "only {instructions} instructions");
}

#[test]
fn rv32() {
    compare(Xlen::Rv32);
}

#[test]
fn rv64() {
    compare(Xlen::Rv64);
}
