//! Chains and streams of one kind of instruction. Each is 16 iterations of a loop over 32 or 64 instructions.

use core::arch::asm;

use super::Memory;

/// Iterations of every loop.
const TURNS: u32 = 16;

/// Repeats `$body` `$times` times in a loop. x, y, z and w are registers to work with, and `p` is the address of
/// `memory.from`.
macro_rules! turns {
    ($memory:expr, $times:literal, $($body:literal),+) => {{
        let memory: &mut Memory = $memory;
        let [mut x, mut y, mut z, mut w]: [usize; 4] = core::array::from_fn(|word| memory.from[word] as usize);
        // SAFETY: the instructions below access only `memory.from` and their own registers.
        unsafe {
            asm!(
                ".balign 64",
                "2:",
                concat!(".rept ", $times),
                $($body,)+
                ".endr",
                "addi {n}, {n}, -1",
                "bnez {n}, 2b",
                n = inout(reg) TURNS => _,
                x = inout(reg) x,
                y = inout(reg) y,
                z = inout(reg) z,
                w = inout(reg) w,
                p = in(reg) memory.from.as_mut_ptr(),
            );
        }
        (x ^ y ^ z ^ w) as u32
    }};
}

/// Each instruction depends on the one before.
pub(super) fn alu_chain(memory: &mut Memory) -> u32 {
    turns!(memory, 32, "add {x}, {x}, {y}", "xor {x}, {x}, {z} # {w} {p}")
}

/// Four independent chains.
pub(super) fn alu_streams(memory: &mut Memory) -> u32 {
    turns!(memory, 16, "addi {x}, {x}, 3", "xori {y}, {y}, 5", "slli {z}, {z}, 1", "addi {w}, {w}, 7 # {p}")
}

/// Makes `from` a ring of addresses: each word holds the address of the one seven words further. Seven and 256 have no
/// common factor, so the ring visits all words. On RV64 a word is the lower half of an address; the loads are 32-bit loads.
pub(super) fn ring(memory: &mut Memory) {
    let base = memory.from.as_ptr() as usize;
    for i in 0..256 {
        memory.from[i] = (base + 4 * ((i + 7) % 256)) as u32;
    }
}

/// The address of each load is the value of the load before.
pub(super) fn load_use(memory: &mut Memory) -> u32 {
    let mut address = memory.from.as_ptr() as usize;
    // SAFETY: `ring` has filled `from` with addresses of words in `from`, all below 2^32.
    unsafe {
        asm!(
            ".balign 64",
            "2:",
            ".rept 64",
            #[cfg(target_pointer_width = "32")]
            "lw {a}, 0({a})",
            #[cfg(target_pointer_width = "64")]
            "lwu {a}, 0({a})",
            ".endr",
            "addi {n}, {n}, -1",
            "bnez {n}, 2b",
            n = inout(reg) TURNS => _,
            a = inout(reg) address,
            options(readonly, nostack),
        );
    }
    (address - memory.from.as_ptr() as usize) as u32
}

/// The next instruction uses a loaded byte.
pub(super) fn load_byte_use(memory: &mut Memory) -> u32 {
    turns!(memory, 32, "lbu {z}, 5({p})", "add {x}, {x}, {z} # {y} {w}")
}

/// The second instruction after a load uses the word.
pub(super) fn load_late_use(memory: &mut Memory) -> u32 {
    turns!(memory, 16, "lw {z}, 8({p})", "addi {w}, {w}, 1", "add {x}, {x}, {z}", "xor {y}, {y}, {w}")
}

/// The instruction after a store loads the word.
pub(super) fn store_load(memory: &mut Memory) -> u32 {
    turns!(memory, 16, "sw {x}, 16({p})", "lw {y}, 16({p})", "add {x}, {x}, {y} # {z} {w}")
}

/// The third instruction after a store loads the word.
pub(super) fn store_load_apart(memory: &mut Memory) -> u32 {
    turns!(
        memory,
        16,
        "sw {x}, 16({p})",
        "addi {z}, {z}, 1",
        "addi {w}, {w}, 3",
        "lw {y}, 16({p})",
        "add {x}, {x}, {y}"
    )
}

/// Each product depends on the one before.
pub(super) fn mul_chain(memory: &mut Memory) -> u32 {
    turns!(memory, 32, "mul {x}, {x}, {y} # {z} {w} {p}")
}

/// Independent products.
pub(super) fn mul_streams(memory: &mut Memory) -> u32 {
    turns!(memory, 16, "mul {x}, {y}, {z}", "mul {w}, {z}, {y} # {p}")
}

/// A product, with other instructions before its use.
pub(super) fn mul_among_alu(memory: &mut Memory) -> u32 {
    turns!(
        memory,
        8,
        "mul {z}, {x}, {y}",
        "addi {w}, {w}, 1",
        "addi {y}, {y}, 3",
        "xori {w}, {w}, 9",
        "slli {y}, {y}, 1",
        "add {x}, {x}, {z} # {p}"
    )
}

/// Quotients of decreasing length.
pub(super) fn div(memory: &mut Memory) -> u32 {
    turns!(
        memory,
        8,
        "ori {y}, {y}, 257",
        "divu {z}, {x}, {y}",
        "srli {y}, {y}, 3",
        "add {x}, {x}, {z}",
        "divu {w}, {x}, {z} # {p}"
    )
}

/// Signed remainders.
pub(super) fn rem_signed(memory: &mut Memory) -> u32 {
    turns!(
        memory,
        8,
        "ori {y}, {y}, 17",
        "rem {z}, {x}, {y}",
        "add {x}, {x}, {w}",
        "srai {y}, {y}, 2",
        "xor {x}, {x}, {z}",
        "rem {z}, {x}, {z} # {p}"
    )
}
