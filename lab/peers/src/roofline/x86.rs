//! The loops of x86-64.
//!
//! If an instruction has a separate result operand, all instructions have the same inputs, so that none waits for
//! another. If it changes its operand, the loop uses twelve registers. That hides the latency on all processors that
//! we know: four cycles and two instructions per cycle need eight. docs/explanation/method.md says how the loops were
//! checked.

use core::arch::asm;

use super::Loop;

/// Clears the upper parts of wide registers; otherwise other code can be slow.
fn clear_upper_halves() {
    if is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX; the low 128 bits of all registers are unchanged.
        unsafe { core::arch::x86_64::_mm256_zeroupper() }
    }
}

/// Repeats two instructions, each for 12 registers; `\r` is the register's number.
macro_rules! twelve {
    ($one:literal, $other:literal) => {
        concat!(twelve!($one), "\n", twelve!($other))
    };
    ($instruction:literal) => {
        concat!(".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n", $instruction, "\n.endr")
    };
}

/// The loops that this processor can run: the amount of a turn, its unit, the CPU features that it needs, which decide
/// the registers that it may change, and the instructions that it repeats for a number of turns.
macro_rules! loops {
    ($($name:literal: $per_turn:expr, $counts:literal, [$($feature:tt),+], $($body:expr),+;)+) => {
        pub(super) fn loops() -> Vec<Loop> {
            let mut loops = Vec::new();
            $({
                $(#[target_feature(enable = $feature)])+
                fn looped(turns: u64) {
                    // SAFETY: the block reads and changes only registers that it declares; it uses no memory and no
                    // stack. The upper halves of wide registers are cleared afterwards, as other code expects.
                    unsafe {
                        asm!(
                            "2:",
                            $($body,)+
                            "dec {turns}",
                            "jnz 2b",
                            turns = inout(reg) turns => _,
                            out("rax") _, out("rcx") _, out("rdx") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                            out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                            options(nomem, nostack),
                        );
                    }
                    clear_upper_halves();
                }
                // SAFETY: only a loop whose features the processor has is in the list.
                let run = |turns| unsafe { looped(turns) };
                if $(is_x86_feature_detected!($feature))&&+ {
                    loops.push(Loop { name: $name, counts: $counts, per_turn: $per_turn, run });
                }
            })+
            loops
        }
    };
}

// All loops of 512-bit registers are for processors with the byte instructions of AVX-512, which some of them need.
loops! {
    "aes-512": 24 * 4, "AES rounds of a block", ["avx512f", "avx512bw", "vaes"],
        twelve!("vaesenc zmm\\r, zmm12, zmm13", "vaesenc zmm\\r, zmm12, zmm13");
    "aes-256": 24 * 2, "AES rounds of a block", ["avx2", "vaes"],
        twelve!("vaesenc ymm\\r, ymm12, ymm13", "vaesenc ymm\\r, ymm12, ymm13");
    "aes-128": 24, "AES rounds of a block", ["aes"], twelve!("aesenc xmm\\r, xmm13", "aesenc xmm\\r, xmm13");
    "aes-chain": 24, "AES rounds, each after the last", ["aes"], ".rept 24", "aesenc xmm0, xmm13", ".endr";
    "ifma-512": 24 * 8, "multiply-adds of 52 bits", ["avx512f", "avx512bw", "avx512ifma"],
        twelve!("vpmadd52luq zmm\\r, zmm12, zmm13", "vpmadd52huq zmm\\r, zmm12, zmm13");
    // One carry chain goes through all low halves, another through all high halves, as in rows of a product.
    "multiply-add-64": 24, "multiply-adds of 64 bits", ["bmi2", "adx"],
        "mov rdx, r11", ".rept 24", "mulx r8, rax, r11", "adcx r9, rax", "adox r10, r8", ".endr";
    "multiply-64": 24, "products of 64 bits", ["sse2"], ".rept 24", "mov rax, r11", "mul r10", ".endr";
    "logic-512": 24 * 64, "bytes of logic", ["avx512f", "avx512bw"],
        twelve!("vpternlogq zmm\\r, zmm12, zmm13, 0x96", "vpternlogq zmm\\r, zmm12, zmm13, 0x78");
    "logic-256": 24 * 32, "bytes of logic", ["avx2"],
        twelve!("vpxor ymm\\r, ymm12, ymm13", "vpand ymm\\r, ymm12, ymm13");
    "logic-128": 24 * 16, "bytes of logic", ["sse2"], twelve!("pxor xmm\\r, xmm13", "pand xmm\\r, xmm13");
    "add-32-512": 24 * 16, "sums of 32 bits", ["avx512f", "avx512bw"],
        twelve!("vpaddd zmm\\r, zmm12, zmm13", "vpaddd zmm\\r, zmm12, zmm13");
    "add-32-256": 24 * 8, "sums of 32 bits", ["avx2"],
        twelve!("vpaddd ymm\\r, ymm12, ymm13", "vpaddd ymm\\r, ymm12, ymm13");
    "rotate-32-512": 24 * 16, "rotations of 32 bits", ["avx512f", "avx512bw"],
        twelve!("vprold zmm\\r, zmm12, 5", "vprolvd zmm\\r, zmm12, zmm13");
    "multiply-32-512": 24 * 16, "products of 32 bits", ["avx512f", "avx512bw"],
        twelve!("vpmulld zmm\\r, zmm12, zmm13", "vpmulld zmm\\r, zmm12, zmm13");
    "multiply-32-256": 24 * 8, "products of 32 bits", ["avx2"],
        twelve!("vpmulld ymm\\r, ymm12, ymm13", "vpmulld ymm\\r, ymm12, ymm13");
    "affine-512": 24 * 64, "bytes through a matrix", ["avx512f", "avx512bw", "gfni"],
        twelve!("vgf2p8affineqb zmm\\r, zmm12, zmm13, 0", "vgf2p8affineqb zmm\\r, zmm12, zmm13, 0");
    "shuffle-512": 24 * 64, "bytes moved in a register", ["avx512f", "avx512bw"],
        twelve!("vpshufb zmm\\r, zmm12, zmm13", "vpshufb zmm\\r, zmm12, zmm13");
    // The operations of half a round of RC6: 2x + 1, the product, its rotation, and the other word's XOR, rotation and key addition.
    "rc6-512": 4 * 16, "half rounds of RC6", ["avx512f", "avx512bw"],
        ".irp r,0,1,2,3",
        "vpaddd zmm\\r, zmm12, zmm12",
        "vpsubd zmm\\r, zmm12, zmm13",
        "vpmulld zmm4, zmm12, zmm13",
        "vprold zmm5, zmm12, 5",
        "vpxord zmm6, zmm12, zmm13",
        "vprolvd zmm7, zmm12, zmm13",
        "vpaddd zmm8, zmm12, zmm13",
        ".endr";
    "rc6-256": 4 * 8, "half rounds of RC6", ["avx2"],
        ".irp r,0,1,2,3",
        "vpaddd ymm\\r, ymm12, ymm12",
        "vpsubd ymm\\r, ymm12, ymm13",
        "vpmulld ymm4, ymm12, ymm13",
        "vpsrld ymm5, ymm12, 27",
        "vpslld ymm6, ymm12, 5",
        "vpor ymm7, ymm12, ymm13",
        "vpxor ymm8, ymm12, ymm13",
        "vpsubd ymm9, ymm12, ymm13",
        "vpsllvd ymm10, ymm12, ymm13",
        "vpsrlvd ymm11, ymm12, ymm13",
        "vpor ymm4, ymm12, ymm13",
        "vpaddd ymm5, ymm12, ymm13",
        ".endr";
    // The dependent part of a round of RC6: 2x + 1, the product, its rotation, and the other word's XOR, rotation and key addition.
    "rc6-chain": 12, "RC6 rounds, each after the last", ["sse2"],
        ".rept 12",
        "lea edx, [rax + rax + 1]",
        "imul edx, eax",
        "rol edx, 5",
        "xor edx, r8d",
        "rol edx, cl",
        "lea eax, [rdx + r9]",
        ".endr";
    // The operations of a round of PIPO on eight rows: 26 on three operands and 7 rotations by a matrix.
    "pipo-512": 64, "rounds of PIPO", ["avx512f", "avx512bw", "gfni"],
        ".irp r,0,1,2,3,4,5,6",
        "vpternlogq zmm\\r, zmm12, zmm13, 0x96",
        "vpternlogq zmm7, zmm12, zmm13, 0x78",
        "vpternlogq zmm8, zmm12, zmm13, 0x1e",
        "vgf2p8affineqb zmm9, zmm12, zmm13, 0",
        ".endr",
        ".irp r,0,1,2,3,4",
        "vpternlogq zmm\\r, zmm12, zmm13, 0x96",
        ".endr";
}
