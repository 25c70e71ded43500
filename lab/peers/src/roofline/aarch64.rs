//! The loops of aarch64.

use core::arch::asm;
use std::arch::is_aarch64_feature_detected;

use super::Loop;

/// Defines a loop that repeats `$body` for a number of turns.
macro_rules! turns {
    ($name:ident, $features:literal, $($body:expr),+ $(,)?) => {
        fn $name(turns: u64) {
            #[target_feature(enable = $features)]
            fn looped(turns: u64) {
                // SAFETY: the block reads and changes only registers that it declares; it uses no memory and no stack.
                unsafe {
                    asm!(
                        "2:",
                        $($body,)+
                        "subs {turns}, {turns}, #1",
                        "b.ne 2b",
                        turns = inout(reg) turns => _,
                        out("x9") _, out("x10") _, out("x11") _, out("x12") _,
                        out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _,
                        out("v7") _, out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _,
                        options(nomem, nostack),
                    );
                }
            }
            // SAFETY: `loops` lists the function only if the processor has these features.
            unsafe { looped(turns) }
        }
    };
}

/// Repeats an instruction for 12 registers; `\r` is the register's number.
macro_rules! twelve {
    ($instruction:literal) => {
        concat!(".irp r,0,1,2,3,4,5,6,7,16,17,18,19\n", $instruction, "\n.endr")
    };
}

// One round of AES is these two instructions, which some processors fuse.
turns!(aes_128, "aes", twelve!("aese v\\r\\().16b, v20.16b\naesmc v\\r\\().16b, v\\r\\().16b"));
turns!(aes_chain, "aes", ".rept 12", "aese v0.16b, v20.16b", "aesmc v0.16b, v0.16b", ".endr");
turns!(multiply_64, "neon", ".rept 12", "mul x9, x11, x12", "umulh x10, x11, x12", ".endr");
// The dependent part of a round of RC6: 2x + 1, the product, its rotation, and the other word's XOR, rotation and key addition.
turns!(
    rc6_chain,
    "neon",
    ".rept 12",
    "add w9, w12, w10, lsl #1",
    "mul w9, w9, w10",
    "ror w9, w9, #27",
    "eor w9, w9, w11",
    "ror w9, w9, w12",
    "add w10, w9, w11",
    ".endr"
);
turns!(logic_128, "neon", twelve!("eor v\\r\\().16b, v20.16b, v21.16b"));

pub(super) fn loops() -> Vec<Loop> {
    let mut loops = Vec::new();
    let mut add = |name, counts, per_turn, run: fn(u64), is_there: bool| {
        if is_there {
            loops.push(Loop { name, counts, per_turn, run });
        }
    };
    let aes = is_aarch64_feature_detected!("aes");
    add("aes-128", "AES rounds of a block", 12, aes_128, aes);
    add("aes-chain", "AES rounds, each after the last", 12, aes_chain, aes);
    add("multiply-64", "products of 64 bits", 12, multiply_64, true);
    add("rc6-chain", "RC6 rounds, each after the last", 12, rc6_chain, true);
    add("logic-128", "bytes of logic", 12 * 16, logic_128, true);
    loops
}
