//! The loops of x86-64.
//!
//! If an instruction has a separate result operand, all instructions have the same inputs, so that none waits for
//! another. If it changes its operand, the loop uses twelve registers. That hides the latency on all processors that
//! we know: four cycles and two instructions per cycle need eight. docs/explanation/method.md says how the loops were
//! checked.

use core::arch::asm;

use super::Loop;

/// Defines a loop that repeats `$body` for a number of turns. `$features` are the CPU features that it needs, and
/// decide which registers it may change.
macro_rules! turns {
    ($name:ident, $features:literal, $($body:expr),+ $(,)?) => {
        fn $name(turns: u64) {
            #[target_feature(enable = $features)]
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
            // SAFETY: `loops` lists the function only if the processor has these features.
            unsafe { looped(turns) }
        }
    };
}

/// Clears the upper parts of wide registers; otherwise other code can be slow.
fn clear_upper_halves() {
    if is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX; the low 128 bits of all registers are unchanged.
        unsafe { core::arch::x86_64::_mm256_zeroupper() }
    }
}

/// Repeats an instruction for 12 registers; `\r` is the register's number.
macro_rules! twelve {
    ($instruction:literal) => {
        concat!(".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n", $instruction, "\n.endr")
    };
}

turns!(aes_512, "avx512f,vaes", twelve!("vaesenc zmm\\r, zmm12, zmm13"), twelve!("vaesenc zmm\\r, zmm12, zmm13"));
turns!(aes_256, "avx2,vaes", twelve!("vaesenc ymm\\r, ymm12, ymm13"), twelve!("vaesenc ymm\\r, ymm12, ymm13"));
turns!(aes_128, "aes", twelve!("aesenc xmm\\r, xmm13"), twelve!("aesenc xmm\\r, xmm13"));
turns!(aes_chain, "aes", ".rept 24", "aesenc xmm0, xmm13", ".endr");
turns!(
    ifma_512,
    "avx512f,avx512ifma",
    twelve!("vpmadd52luq zmm\\r, zmm12, zmm13"),
    twelve!("vpmadd52huq zmm\\r, zmm12, zmm13")
);
// One carry chain goes through all low halves, another through all high halves, as in rows of a product.
turns!(
    multiply_add_64,
    "bmi2,adx",
    "mov rdx, r11",
    ".rept 24",
    "mulx r8, rax, r11",
    "adcx r9, rax",
    "adox r10, r8",
    ".endr"
);
turns!(multiply_64, "sse2", ".rept 24", "mov rax, r11", "mul r10", ".endr");
// The dependent part of a round of RC6: 2x + 1, the product, its rotation, and the other word's XOR, rotation and key addition.
turns!(
    rc6_chain,
    "sse2",
    ".rept 12",
    "lea edx, [rax + rax + 1]",
    "imul edx, eax",
    "rol edx, 5",
    "xor edx, r8d",
    "rol edx, cl",
    "lea eax, [rdx + r9]",
    ".endr"
);
turns!(
    logic_512,
    "avx512f",
    twelve!("vpternlogq zmm\\r, zmm12, zmm13, 0x96"),
    twelve!("vpternlogq zmm\\r, zmm12, zmm13, 0x78")
);
turns!(logic_256, "avx2", twelve!("vpxor ymm\\r, ymm12, ymm13"), twelve!("vpand ymm\\r, ymm12, ymm13"));
turns!(logic_128, "sse2", twelve!("pxor xmm\\r, xmm13"), twelve!("pand xmm\\r, xmm13"));
turns!(add_512, "avx512f", twelve!("vpaddd zmm\\r, zmm12, zmm13"), twelve!("vpaddd zmm\\r, zmm12, zmm13"));
turns!(add_256, "avx2", twelve!("vpaddd ymm\\r, ymm12, ymm13"), twelve!("vpaddd ymm\\r, ymm12, ymm13"));
turns!(rotate_512, "avx512f", twelve!("vprold zmm\\r, zmm12, 5"), twelve!("vprolvd zmm\\r, zmm12, zmm13"));
turns!(multiply_512, "avx512f", twelve!("vpmulld zmm\\r, zmm12, zmm13"), twelve!("vpmulld zmm\\r, zmm12, zmm13"));
turns!(multiply_256, "avx2", twelve!("vpmulld ymm\\r, ymm12, ymm13"), twelve!("vpmulld ymm\\r, ymm12, ymm13"));
turns!(
    affine_512,
    "avx512f,gfni",
    twelve!("vgf2p8affineqb zmm\\r, zmm12, zmm13, 0"),
    twelve!("vgf2p8affineqb zmm\\r, zmm12, zmm13, 0")
);
turns!(
    shuffle_512,
    "avx512f,avx512bw",
    twelve!("vpshufb zmm\\r, zmm12, zmm13"),
    twelve!("vpshufb zmm\\r, zmm12, zmm13")
);
// The operations of half a round of RC6: 2x + 1, the product, its rotation, and the other word's XOR, rotation and key addition.
turns!(
    rc6_512,
    "avx512f",
    ".irp r,0,1,2,3",
    "vpaddd zmm\\r, zmm12, zmm12",
    "vpsubd zmm\\r, zmm12, zmm13",
    "vpmulld zmm4, zmm12, zmm13",
    "vprold zmm5, zmm12, 5",
    "vpxord zmm6, zmm12, zmm13",
    "vprolvd zmm7, zmm12, zmm13",
    "vpaddd zmm8, zmm12, zmm13",
    ".endr"
);
turns!(
    rc6_256,
    "avx2",
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
    ".endr"
);
// The operations of a round of PIPO on eight rows: 26 on three operands and 7 rotations by a matrix.
turns!(
    pipo_512,
    "avx512f,gfni",
    ".irp r,0,1,2,3,4,5,6",
    "vpternlogq zmm\\r, zmm12, zmm13, 0x96",
    "vpternlogq zmm7, zmm12, zmm13, 0x78",
    "vpternlogq zmm8, zmm12, zmm13, 0x1e",
    "vgf2p8affineqb zmm9, zmm12, zmm13, 0",
    ".endr",
    ".irp r,0,1,2,3,4",
    "vpternlogq zmm\\r, zmm12, zmm13, 0x96",
    ".endr"
);

pub(super) fn loops() -> Vec<Loop> {
    let mut loops = Vec::new();
    let mut add = |name, counts, per_turn, run: fn(u64), is_there: bool| {
        if is_there {
            loops.push(Loop { name, counts, per_turn, run });
        }
    };
    let avx2 = is_x86_feature_detected!("avx2");
    // 512-bit registers, with the byte instructions that the loops need.
    let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
    let vaes = is_x86_feature_detected!("vaes");
    let aes = is_x86_feature_detected!("aes");
    let gfni = avx512 && is_x86_feature_detected!("gfni");
    let ifma = avx512 && is_x86_feature_detected!("avx512ifma");
    let adx = is_x86_feature_detected!("adx") && is_x86_feature_detected!("bmi2");
    let rounds = "AES rounds of a block";
    add("aes-512", rounds, 24 * 4, aes_512, avx512 && vaes);
    add("aes-256", rounds, 24 * 2, aes_256, avx2 && vaes);
    add("aes-128", rounds, 24, aes_128, aes);
    add("aes-chain", "AES rounds, each after the last", 24, aes_chain, aes);
    add("ifma-512", "multiply-adds of 52 bits", 24 * 8, ifma_512, ifma);
    add("multiply-add-64", "multiply-adds of 64 bits", 24, multiply_add_64, adx);
    add("multiply-64", "products of 64 bits", 24, multiply_64, true);
    let logic = "bytes of logic";
    add("logic-512", logic, 24 * 64, logic_512, avx512);
    add("logic-256", logic, 24 * 32, logic_256, avx2);
    add("logic-128", logic, 24 * 16, logic_128, true);
    add("add-32-512", "sums of 32 bits", 24 * 16, add_512, avx512);
    add("add-32-256", "sums of 32 bits", 24 * 8, add_256, avx2);
    add("rotate-32-512", "rotations of 32 bits", 24 * 16, rotate_512, avx512);
    add("multiply-32-512", "products of 32 bits", 24 * 16, multiply_512, avx512);
    add("multiply-32-256", "products of 32 bits", 24 * 8, multiply_256, avx2);
    add("affine-512", "bytes through a matrix", 24 * 64, affine_512, gfni);
    add("shuffle-512", "bytes moved in a register", 24 * 64, shuffle_512, avx512);
    add("rc6-512", "half rounds of RC6", 4 * 16, rc6_512, avx512);
    add("rc6-256", "half rounds of RC6", 4 * 8, rc6_256, avx2);
    add("rc6-chain", "RC6 rounds, each after the last", 12, rc6_chain, true);
    add("pipo-512", "rounds of PIPO", 64, pipo_512, gfni);
    loops
}
