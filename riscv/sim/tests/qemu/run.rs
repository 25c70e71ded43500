//! Runs of a program, in this simulator and in QEMU's user mode.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::program::{DATA, MEMORY_BYTES, PRINTED_BYTES, TEXT};
use tress_sim::machine::Region;
use tress_sim::{ErrorKind, Image, Machine, System, Xlen, cause};

/// The memory after a run in QEMU, which the program prints. The program becomes a file at `path`.
pub(crate) fn with_qemu(xlen: Xlen, file: &[u8], path: &Path) -> Vec<u8> {
    fs::write(path, file).unwrap();
    // QEMU only runs files that are executable.
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    let (program, features) = match xlen {
        Xlen::Rv32 => ("qemu-riscv32", "rv32,zba=true,zbb=true,zbs=true,zbc=true,zkn=true"),
        Xlen::Rv64 => ("qemu-riscv64", "rv64,zba=true,zbb=true,zbs=true,zbc=true,zkn=true"),
    };
    let output = Command::new(program).args(["-cpu", features]).arg(path).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| {
        panic!("{program}: {error}; it is in Debian's package qemu-user: tools/setup test installs it")
    });
    assert!(output.status.success(), "{program}: {} {}", output.status, String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout.len(), PRINTED_BYTES);
    output.stdout
}

/// The memory that this simulator has when the program would print it, and the number of instructions.
pub(crate) fn with_simulator(file: &[u8]) -> (Vec<u8>, u64) {
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
