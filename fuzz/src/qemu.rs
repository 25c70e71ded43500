//! Programs of instructions that the input selects, executed by the simulator and by QEMU's user mode. Afterwards all registers
//! and the memory must be equal. The generator and the runs are those of the simulator's tests.

#[path = "../../riscv/sim/tests/qemu/compressed.rs"]
mod compressed;
#[path = "../../riscv/sim/tests/qemu/program.rs"]
mod program;
#[path = "../../riscv/sim/tests/qemu/run.rs"]
mod run;

use program::{TEXT, generate};
use run::{with_qemu, with_simulator};
use tress_sim::Xlen;

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
    let (ours, _) = with_simulator(&file);
    let theirs = with_qemu(xlen, &file, &temp_folder::emptied().join("program.elf"));
    let first = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    assert!(first.is_none(), "{xlen:?}: byte {first:x?} of the data differs; the last step is {}", program.last);
}
