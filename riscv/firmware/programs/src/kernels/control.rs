//! Branches and calls.

use core::arch::asm;

use super::Memory;
use crate::numbers::Numbers;

/// Inner loops of three iterations: taken, taken, not taken.
pub(super) fn branches_loop(memory: &mut Memory) -> u32 {
    let mut x = memory.from[0] as usize;
    // SAFETY: the instructions access only registers.
    unsafe {
        asm!(
            ".balign 64",
            "2:",
            "li {m}, 3",
            "3:",
            "addi {x}, {x}, 5",
            "addi {m}, {m}, -1",
            "bnez {m}, 3b",
            "addi {n}, {n}, -1",
            "bnez {n}, 2b",
            n = inout(reg) 64u32 => _,
            m = out(reg) _,
            x = inout(reg) x,
            options(nomem, nostack),
        );
    }
    x as u32
}

/// An unpredictable branch, on the upper bits of a generator's numbers.
pub(super) fn branches_random(memory: &mut Memory) -> u32 {
    let mut numbers = Numbers(memory.from[0]);
    let mut x = 0usize;
    for _ in 0..256 {
        let number = numbers.number();
        // SAFETY: the instructions access only registers. In assembly, because a compiler would remove the branch.
        unsafe {
            asm!(
                "bltz {s}, 2f",
                "addi {x}, {x}, 1",
                "j 3f",
                "2:",
                "slli {x}, {x}, 1",
                "3:",
                s = in(reg) number as i32,
                x = inout(reg) x,
                options(nomem, nostack),
            );
        }
    }
    x as u32
}

#[inline(never)]
fn tree(depth: u32, x: u32) -> u32 {
    if depth == 0 { x ^ 0x55 } else { tree(depth - 1, x.wrapping_add(depth)).wrapping_add(tree(depth - 1, x ^ depth)) }
}

/// A tree of calls with depth six.
pub(super) fn calls(memory: &mut Memory) -> u32 {
    tree(6, memory.from[0])
}
