//! Products, squares and Montgomery reductions of numbers of whole blocks of eight digits, with MULX, ADCX and ADOX.
//!
//! Rows of eight products are added to columns that stay in eight registers, r8 to r15. A row multiplies one digit by a block, adds one
//! digit from memory to the lowest column, writes that column to memory, and starts a new highest column. ADCX and ADOX keep two chains of
//! carries: one for low halves, one for high halves. The sum of a row fits into nine digits: (b⁸ − 1) + (b − 1) + (b⁸ − 1)(b − 1) = b⁹ − 1.
//!
//! This is assembly because compilers do not generate two chains of carries. All instructions take the same time for all values, and
//! branches depend only on lengths.

use core::arch::naked_asm;

/// `$column += low half` and `$above += high half` of rdx times digit `$j` of the block at rsi.
macro_rules! product {
    ($j:literal $column:literal $above:literal) => {
        concat!("mulx rbx, rax, [rsi + 8*", $j, "]\n", "adcx ", $column, ", rax\n", "adox ", $above, ", rbx\n",)
    };
}

/// The last product of a row. Its high half becomes the new highest column, in the register that is free now.
macro_rules! last_product {
    ($column:literal $above:literal) => {
        concat!(
            "mulx ",
            $above,
            ", rax, [rsi + 8*7]\n",
            "adcx ",
            $column,
            ", rax\n",
            "mov eax, 0\n",
            "adox ",
            $above,
            ", rax\n",
            "adcx ",
            $above,
            ", rax\n",
        )
    };
}

/// Digit `$row` of the block at rbp times the block at rsi. The lowest column plus the digit at rdi is written to rdi.
macro_rules! row {
    ($row:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal $c7:literal) => {
        concat!(
            "mov rdx, [rbp + 8*", $row, "]\n",
            "xor eax, eax\n",
            "adox ", $c0, ", [rdi + 8*", $row, "]\n",
            product!(0 $c0 $c1),
            "mov [rdi + 8*", $row, "], ", $c0, "\n",
            product!(1 $c1 $c2), product!(2 $c2 $c3), product!(3 $c3 $c4), product!(4 $c4 $c5), product!(5 $c5 $c6),
            product!(6 $c6 $c7),
            last_product!($c7 $c0),
        )
    };
}

/// Like `row`, if the columns already contain the digits at rdi.
macro_rules! first_row {
    ($row:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal $c7:literal) => {
        concat!(
            "mov rdx, [rbp + 8*", $row, "]\n",
            "xor eax, eax\n",
            product!(0 $c0 $c1),
            "mov [rdi + 8*", $row, "], ", $c0, "\n",
            product!(1 $c1 $c2), product!(2 $c2 $c3), product!(3 $c3 $c4), product!(4 $c4 $c5), product!(5 $c5 $c6),
            product!(6 $c6 $c7),
            last_product!($c7 $c0),
        )
    };
}

/// rdx times the block at rsi, where the lowest column becomes zero.
macro_rules! clearing_row {
    ($c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal $c7:literal) => {
        concat!(
            "xor eax, eax\n",
            product!(0 $c0 $c1), product!(1 $c1 $c2), product!(2 $c2 $c3), product!(3 $c3 $c4), product!(4 $c4 $c5),
            product!(5 $c5 $c6), product!(6 $c6 $c7),
            last_product!($c7 $c0),
        )
    };
}

/// Two quotient digits, which clear the two lowest columns and are written to rbp. Both are computed together from these columns, with the
/// inverse modulo b² at rsp + 24, so that the second digit does not wait for the row of the first.
macro_rules! quotient_rows {
    ($row:literal $next:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal
        $c7:literal) => {
        concat!(
            "mov rdx, ", $c0, "\n",
            "mulx rcx, rax, [rsp + 24]\n",
            "imul rdx, [rsp + 32]\n",
            "mov rbx, ", $c1, "\n",
            "imul rbx, [rsp + 24]\n",
            "add rcx, rdx\n",
            "add rcx, rbx\n",
            "mov rdx, rax\n",
            "mov [rbp + 8*", $row, "], rax\n",
            "mov [rbp + 8*", $next, "], rcx\n",
            clearing_row!($c0 $c1 $c2 $c3 $c4 $c5 $c6 $c7),
            "mov rdx, rcx\n",
            clearing_row!($c1 $c2 $c3 $c4 $c5 $c6 $c7 $c0),
        )
    };
}

macro_rules! quotient_block {
    () => {
        concat!(
            quotient_rows!(0 1: "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
            quotient_rows!(2 3: "r10" "r11" "r12" "r13" "r14" "r15" "r8" "r9"),
            quotient_rows!(4 5: "r12" "r13" "r14" "r15" "r8" "r9" "r10" "r11"),
            quotient_rows!(6 7: "r14" "r15" "r8" "r9" "r10" "r11" "r12" "r13"),
        )
    };
}

/// A row of a triangle: digit `$row` of the block at rsi times the higher digits of the same block. The lowest column is complete and is
/// written to rdi.
macro_rules! triangle_row {
    ($row:literal: $c0:literal; $($j:literal $column:literal $above:literal),*; $last:literal) => {
        concat!(
            "mov rdx, [rsi + 8*", $row, "]\n",
            "xor eax, eax\n",
            "mov [rdi + 8*", $row, "], ", $c0, "\n",
            $(product!($j $column $above),)*
            last_product!($last $c0),
        )
    };
}

/// The eight rows of a block.
macro_rules! block {
    ($row:ident) => {
        concat!(
            $row!(0: "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
            $row!(1: "r9" "r10" "r11" "r12" "r13" "r14" "r15" "r8"),
            $row!(2: "r10" "r11" "r12" "r13" "r14" "r15" "r8" "r9"),
            $row!(3: "r11" "r12" "r13" "r14" "r15" "r8" "r9" "r10"),
            $row!(4: "r12" "r13" "r14" "r15" "r8" "r9" "r10" "r11"),
            $row!(5: "r13" "r14" "r15" "r8" "r9" "r10" "r11" "r12"),
            $row!(6: "r14" "r15" "r8" "r9" "r10" "r11" "r12" "r13"),
            $row!(7: "r15" "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        )
    };
}

/// The products of different digits of the block at rsi.
macro_rules! triangle {
    () => {
        concat!(
            triangle_row!(0: "r8"; 1 "r9" "r10", 2 "r10" "r11", 3 "r11" "r12", 4 "r12" "r13", 5 "r13" "r14",
                6 "r14" "r15"; "r15"),
            triangle_row!(1: "r9"; 2 "r11" "r12", 3 "r12" "r13", 4 "r13" "r14", 5 "r14" "r15", 6 "r15" "r8"; "r8"),
            triangle_row!(2: "r10"; 3 "r13" "r14", 4 "r14" "r15", 5 "r15" "r8", 6 "r8" "r9"; "r9"),
            triangle_row!(3: "r11"; 4 "r15" "r8", 5 "r8" "r9", 6 "r9" "r10"; "r10"),
            triangle_row!(4: "r12"; 5 "r9" "r10", 6 "r10" "r11"; "r11"),
            triangle_row!(5: "r13"; 6 "r11" "r12"; "r12"),
            triangle_row!(6: "r14"; ; "r13"),
            // The last digit has no products left.
            "mov [rdi + 8*7], r15\n",
            "xor r15d, r15d\n",
        )
    };
}

macro_rules! load_columns {
    () => {
        "mov r8, [rdi]\n mov r9, [rdi + 8]\n mov r10, [rdi + 16]\n mov r11, [rdi + 24]\n\
         mov r12, [rdi + 32]\n mov r13, [rdi + 40]\n mov r14, [rdi + 48]\n mov r15, [rdi + 56]\n"
    };
}

/// Writes zero to rcx blocks at rdi; changes xmm0 and rax.
macro_rules! zero_blocks {
    () => {
        "mov rax, rcx\n shl rax, 6\n add rax, rdi\n pxor xmm0, xmm0\n 7:\n \
         movdqu [rax - 64], xmm0\n movdqu [rax - 48], xmm0\n movdqu [rax - 32], xmm0\n movdqu [rax - 16], xmm0\n \
         sub rax, 64\n cmp rax, rdi\n jne 7b\n"
    };
}

macro_rules! store_columns {
    () => {
        "mov [rdi], r8\n mov [rdi + 8], r9\n mov [rdi + 16], r10\n mov [rdi + 24], r11\n\
         mov [rdi + 32], r12\n mov [rdi + 40], r13\n mov [rdi + 48], r14\n mov [rdi + 56], r15\n"
    };
}

macro_rules! enter {
    () => {
        "push rbx\n push rbp\n push r12\n push r13\n push r14\n push r15\n sub rsp, 56\n"
    };
}

macro_rules! leave {
    () => {
        "add rsp, 56\n pop r15\n pop r14\n pop r13\n pop r12\n pop rbp\n pop rbx\n ret\n"
    };
}

/// Doubles digits 2 `$i` and 2 `$i` + 1 at rdi, and adds the square of digit `$i` at rsi.
macro_rules! double_and_square {
    ($i:literal) => {
        concat!(
            "mov rdx, [rsi + 8*",
            $i,
            "]\n",
            "mulx rbx, rax, rdx\n",
            "mov r8, [rdi + 16*",
            $i,
            "]\n",
            "mov r9, [rdi + 16*",
            $i,
            " + 8]\n",
            "adcx r8, r8\n",
            "adox r8, rax\n",
            "adcx r9, r9\n",
            "adox r9, rbx\n",
            "mov [rdi + 16*",
            $i,
            "], r8\n",
            "mov [rdi + 16*",
            $i,
            " + 8], r9\n",
        )
    };
}

/// Digit `$i` at rdi minus rdx times the digit at rsi, with borrow, written to rbp.
macro_rules! subtract {
    ($i:literal) => {
        concat!(
            "mulx rbx, rax, [rsi + 8*",
            $i,
            "]\n",
            "mov rbx, [rdi + 8*",
            $i,
            "]\n",
            "sbb rbx, rax\n",
            "mov [rbp + 8*",
            $i,
            "], rbx\n",
        )
    };
}

/// `t = a · b`, where both factors have `blocks` blocks, at least one.
///
/// # Safety
/// The machine has BMI2 and ADX. `t` is valid for writes of 16 · `blocks` digits, and `a` and `b` for reads of 8 · `blocks` digits.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn multiply(t: *mut u64, a: *const u64, b: *const u64, blocks: usize) {
    naked_asm!(
        enter!(),
        "mov rbp, rdx",
        "mov [rsp], rsi",
        "mov [rsp + 8], rcx",
        "mov [rsp + 16], rcx",
        zero_blocks!(),
        // For each block of b,
        "2:",
        load_columns!(),
        // multiply it by each block of a.
        block!(first_row),
        "jmp 4f",
        "3:",
        block!(row),
        "4:",
        "add rsi, 64",
        "add rdi, 64",
        "dec rcx",
        "jnz 3b",
        store_columns!(),
        "mov rsi, [rsp]",
        "mov rcx, [rsp + 8]",
        "mov rax, rcx",
        "shl rax, 6",
        "sub rdi, rax",
        "add rdi, 64",
        "add rbp, 64",
        "dec qword ptr [rsp + 16]",
        "jnz 2b",
        leave!(),
    )
}

/// `t = a²`.
///
/// # Safety
/// The machine has BMI2 and ADX. `t` is valid for writes of 16 · `blocks` digits, and `a` for reads of 8 · `blocks` digits.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square(t: *mut u64, a: *const u64, blocks: usize) {
    naked_asm!(
        enter!(),
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov rcx, rdx",
        zero_blocks!(),
        // For each block of a,
        "2:",
        "mov rbp, rsi",
        "mov [rsp + 24], rdi",
        "mov [rsp + 32], rcx",
        load_columns!(),
        // multiply it with the same block,
        triangle!(),
        "add rsi, 64",
        "add rdi, 64",
        "dec rcx",
        "jz 4f",
        // and by the blocks above it.
        "3:",
        block!(row),
        "add rsi, 64",
        "add rdi, 64",
        "dec rcx",
        "jnz 3b",
        "4:",
        store_columns!(),
        "lea rsi, [rbp + 64]",
        "mov rdi, [rsp + 24]",
        "add rdi, 128",
        "mov rcx, [rsp + 32]",
        "dec rcx",
        "jnz 2b",
        // Double everything (carry chain), and add the squares of digits (overflow chain).
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rcx, [rsp + 16]",
        "add rcx, rcx",
        "xor eax, eax",
        "5:",
        double_and_square!(0),
        double_and_square!(1),
        double_and_square!(2),
        double_and_square!(3),
        "lea rsi, [rsi + 32]",
        "lea rdi, [rdi + 64]",
        "lea rcx, [rcx - 1]",
        // No flag changes here.
        "jrcxz 6f",
        "jmp 5b",
        "6:",
        leave!(),
    )
}

/// `result = t / R` modulo N, below R: adds a multiple of N to `t` such that it is divisible by R, and if that carries, subtracts N.
/// `inverse` is −1 / N modulo b², its lower digit first.
///
/// # Safety
/// The machine has BMI2 and ADX. The pointers are valid for 16 · `blocks` digits of `t`, 8 · `blocks` digits of the modulus and of the
/// result, 2 of `inverse`, and 8 of the quotient.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn reduce(
    t: *mut u64,
    n: *const u64,
    result: *mut u64,
    blocks: usize,
    inverse: *const u64,
    quotient: *mut u64,
) {
    naked_asm!(
        enter!(),
        "mov rbp, r9",
        "mov [rsp], rsi",
        "mov [rsp + 8], rcx",
        "mov [rsp + 16], rcx",
        "mov rax, [r8]",
        "mov [rsp + 24], rax",
        "mov rax, [r8 + 8]",
        "mov [rsp + 32], rax",
        "mov [rsp + 40], rdx",
        "mov qword ptr [rsp + 48], 0",
        "2:",
        // Eight quotient digits from the lowest block of n,
        load_columns!(),
        quotient_block!(),
        "mov rcx, [rsp + 8]",
        "add rsi, 64",
        "add rdi, 64",
        "dec rcx",
        "jz 4f",
        // then these digits times the other blocks.
        "3:",
        block!(row),
        "add rsi, 64",
        "add rdi, 64",
        "dec rcx",
        "jnz 3b",
        "4:",
        // The carry of the previous block is added where this block's columns are written.
        "mov rax, [rsp + 48]",
        "add rax, -1",
        "adc r8, [rdi]",
        "adc r9, [rdi + 8]",
        "adc r10, [rdi + 16]",
        "adc r11, [rdi + 24]",
        "adc r12, [rdi + 32]",
        "adc r13, [rdi + 40]",
        "adc r14, [rdi + 48]",
        "adc r15, [rdi + 56]",
        "setc al",
        "movzx eax, al",
        "mov [rsp + 48], rax",
        store_columns!(),
        "mov rsi, [rsp]",
        "mov rdx, [rsp + 8]",
        "shl rdx, 6",
        "sub rdi, rdx",
        "add rdi, 64",
        "dec qword ptr [rsp + 16]",
        "jnz 2b",
        // The upper half minus N times the carry. MULX does not change the borrow.
        "mov rdx, rax",
        "mov rbp, [rsp + 40]",
        "mov rcx, [rsp + 8]",
        "xor eax, eax",
        "5:",
        subtract!(0),
        subtract!(1),
        subtract!(2),
        subtract!(3),
        subtract!(4),
        subtract!(5),
        subtract!(6),
        subtract!(7),
        "lea rsi, [rsi + 64]",
        "lea rdi, [rdi + 64]",
        "lea rbp, [rbp + 64]",
        "lea rcx, [rcx - 1]",
        // No flag changes here.
        "jrcxz 6f",
        "jmp 5b",
        "6:",
        // The inverse would give away the modulus.
        "mov qword ptr [rsp + 24], 0",
        "mov qword ptr [rsp + 32], 0",
        leave!(),
    )
}
