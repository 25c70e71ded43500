//! The paper's tables 2 to 5 on 32-bit RISC-V without an operating system, as on SiFive's FE310: digits of 16, 32, 64
//! bits; or, with the feature `assembly`, digits of 32 bits with `tress_arithmetic::riscv32`.
//!
//! Writes lines of digit bits, number bits, operation, runs, elapsed cycles (instructions with the feature `instructions`).
#![no_std]
#![no_main]

#[cfg(feature = "assembly")]
mod assembly;

use tress_arithmetic::Limb;
use tress_modular_times::{BITS, Calls, Operation, agrees, table};
use tress_riscv::{Counter, put, write};

#[unsafe(no_mangle)]
fn run() -> bool {
    #[cfg(feature = "assembly")]
    return one::<u32, assembly::Assembly>();
    #[cfg(not(feature = "assembly"))]
    {
        use tress_modular_times::Inlined;
        one::<u16, Inlined>() && one::<u32, Inlined>() && one::<u64, Inlined>()
    }
}

#[inline(never)]
fn one<L: Limb, C: Calls<L>>() -> bool {
    if !agrees::<L, C>() {
        write("wrong\n");
        return false;
    }
    // Enough for each of the operations with digits of 16 bits; half of the memory with digits of 64.
    let mut memory = [L::ZERO; 1024];
    let done = table::<L, C>(&Operation::PAPER, &BITS, 1, &mut Counter, &mut memory, &mut |line| {
        line.write(&mut put);
    });
    if done.is_err() {
        write("refused\n");
    }
    done.is_ok()
}
