//! Programs of instructions that the input selects, executed by the simulator and by QEMU's user mode. Afterwards all registers
//! and the memory must be equal. The generator is that of the simulator's tests.

#[path = "../../riscv/sim/tests/qemu/compressed.rs"]
mod compressed;
#[path = "../../riscv/sim/tests/qemu/program.rs"]
mod program;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, Stdio};

use program::{DATA, MEMORY_BYTES, PRINTED_BYTES, TEXT, generate};
use tress_sim::{ErrorKind, Image, Machine, System, Xlen, cause, machine::Region};

use crate::common::{Numbers, elf};
use crate::temp_folder;

/// Longer programs reach no other code.
const MOST_STEPS: usize = 300;
const ROUNDS: u32 = 2;

/// Panics if QEMU gives another result. The first byte selects the width, the next the contents of memory, the others the steps.
pub fn run(bytes: &[u8]) {
    let [kind, seed, steps @ ..] = bytes else { return };
    let xlen = if kind & 1 == 0 { Xlen::Rv32 } else { Xlen::Rv64 };
    Numbers::feed(steps);
    // A step takes about four bytes.
    let program = generate(xlen, u64::from(*seed), (steps.len() / 4).clamp(1, MOST_STEPS), ROUNDS);
    let file = elf(xlen, TEXT, &program.bytes, &[]);
    let (ours, theirs) = (here(&file), with_qemu(xlen, &file));
    let first = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    assert!(first.is_none(), "{xlen:?}: byte {first:x?} of the data differs; the last step is {}", program.last);
}

fn here(file: &[u8]) -> Vec<u8> {
    let machine = Machine { region: vec![Region::ram(TEXT, MEMORY_BYTES)], device: Vec::new(), ..Machine::generic() };
    let image = Image::parse(file).expect("a program");
    let mut system = System::new(&machine, image).expect("it fits");
    system.harts[0].enable_float();
    let error = system.run(u64::MAX).expect_err("it ends with a system call");
    let is_call = matches!(&error.kind, ErrorKind::Unhandled(trap) if trap.cause == cause::ECALL_MACHINE);
    assert!(is_call, "{error}");
    system.bus.memory.bytes(DATA, PRINTED_BYTES as u64)
}

fn with_qemu(xlen: Xlen, file: &[u8]) -> Vec<u8> {
    let path = temp_folder::emptied().join("program.elf");
    // QEMU refuses files that are not executable.
    let mut options = fs::OpenOptions::new();
    let mut written = options.write(true).create(true).mode(0o700).open(&path).expect("a file");
    written.write_all(file).expect("room for it");
    drop(written);
    let (program, features) = match xlen {
        Xlen::Rv32 => ("qemu-riscv32", "rv32,zba=true,zbb=true,zbs=true,zbc=true,zkn=true"),
        Xlen::Rv64 => ("qemu-riscv64", "rv64,zba=true,zbb=true,zbs=true,zbc=true,zkn=true"),
    };
    let output = Command::new(program).args(["-cpu", features]).arg(&path).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}; it is in Debian's package qemu-user"));
    assert!(output.status.success(), "{program}: {}", output.status);
    assert_eq!(output.stdout.len(), PRINTED_BYTES);
    output.stdout
}
