//! Random programs for RV32 and RV64, executed by this simulator and by QEMU's user mode. Afterwards all registers and
//! the memory must be equal. Together the programs execute more than a million instructions.

#![cfg(target_os = "linux")]

mod compressed;
mod program;

use std::fs;
use std::process::Command;

use crate::common::elf;
use program::{DATA, MEMORY_BYTES, PRINTED_BYTES, TEXT, generate};
use tress_sim::machine::Region;
use tress_sim::{ErrorKind, Image, Machine, System, Xlen, cause};

/// Number of programs for each width (environment variable `QEMU_PROGRAMS` overrides it), of steps, and of rounds.
const PROGRAMS: u64 = 12;
const STEPS: usize = 2200;
const ROUNDS: u32 = 10;

fn qemu(xlen: Xlen) -> (&'static str, &'static str) {
    match xlen {
        Xlen::Rv32 => ("qemu-riscv32", "rv32,zba=true,zbb=true,zbs=true,zbc=true,zkn=true"),
        Xlen::Rv64 => ("qemu-riscv64", "rv64,zba=true,zbb=true,zbs=true,zbc=true,zkn=true"),
    }
}

/// The memory after a run in QEMU, which the program prints.
fn with_qemu(xlen: Xlen, file: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program.elf");
    fs::write(&path, file).unwrap();
    // QEMU only runs files that are executable.
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let (program, features) = qemu(xlen);
    let output = Command::new(program).args(["-cpu", features]).arg(&path).output();
    let output = output.unwrap_or_else(|error| {
        panic!("{program}: {error}; it is in Debian's package qemu-user: tools/setup test installs it")
    });
    assert!(output.status.success(), "{program}: {} {}", output.status, String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout.len(), PRINTED_BYTES);
    output.stdout
}

/// The memory that this simulator has when the program would print it, and the number of instructions.
fn with_simulator(file: &[u8]) -> (Vec<u8>, u64) {
    let machine = Machine { region: vec![Region::ram(TEXT, MEMORY_BYTES)], device: Vec::new(), ..Machine::generic() };
    let mut system = System::new(&machine, Image::parse(file).unwrap()).unwrap();
    system.harts[0].enable_float();
    let error = system.run(u64::MAX).expect_err("ends with a system call");
    match &error.kind {
        ErrorKind::Unhandled(trap) if trap.cause == cause::ECALL_MACHINE => {}
        _ => panic!("{error}"),
    }
    (system.bus.memory.bytes(DATA, PRINTED_BYTES as u64), system.instructions())
}

/// The first byte that differs.
fn difference(xlen: Xlen, seed: u64, steps: usize, rounds: u32) -> (Option<usize>, u64) {
    let file = elf(xlen, TEXT, &generate(xlen, seed, steps, rounds).bytes, &[]);
    let (ours, instructions) = with_simulator(&file);
    let theirs = with_qemu(xlen, &file);
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
