//! Products, squares and Montgomery reductions of numbers of whole blocks of eight digits, with MULX, ADCX and ADOX.
//!
//! Rows of eight products run against columns that stay in eight registers, r8 to r15: a row multiplies one digit by a
//! block, adds one digit of memory to the lowest column, which leaves, and takes a new highest column in. ADCX and ADOX
//! keep two chains of carries: one for low halves, one for high halves. What a row adds up fits in nine digits:
//! (b⁸ − 1) + (b − 1) + (b⁸ − 1)(b − 1) = b⁹ − 1.
//!
//! In assembly, since compilers do not make two chains of carries. Every instruction takes the same time for all values,
//! and branches depend on lengths only.

use core::arch::naked_asm;

/// `$column += low half`, `$above += high half` of rdx times digit `$j` of the block at rsi.
macro_rules! product {
    ($j:literal $column:literal $above:literal) => {
        concat!("mulx rbx, rax, [rsi + 8*", $j, "]\n", "adcx ", $column, ", rax\n", "adox ", $above, ", rbx\n",)
    };
}

/// The last product of a row: its high half becomes the new highest column, in the register that has become free.
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

/// Digit `$row` of the block at rbp times the block at rsi; the lowest column and the digit at rdi go to memory there.
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

/// The same where the digits at rdi are in the columns already.
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

/// Two quotient digits, which clear the two lowest columns; they go to memory at rbp. Both come from the columns at once,
/// with the inverse modulo b² at rsp + 24, so that the second does not wait for the first one's row.
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

/// A row of a triangle: digit `$row` of the block at rsi times the digits above it in the same block. The lowest column is
/// complete and goes to memory at rdi.
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
            // No product is left for the last one.
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

/// Zero to rcx blocks at rdi; changes xmm0 and rax.
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

/// Digits 2 `$i` and 2 `$i` + 1 at rdi, twice, and the square of digit `$i` at rsi.
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

/// Digit `$i` at rdi less rdx times the one at rsi, to rbp, with a borrow.
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

/// `t = a · b` of as many blocks each, at least one.
///
/// # Safety
/// The machine has BMI2 and ADX; the pointers are good for `16 blocks`, `8 blocks` and `8 blocks` digits.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn multiply(t: *mut u64, a: *const u64, b: *const u64, blocks: usize) {
    naked_asm!(
        enter!(),
        "mov rbp, rdx",
        "mov [rsp], rsi",
        "mov [rsp + 8], rcx",
        "mov [rsp + 16], rcx",
        zero_blocks!(),
        // A block of b after the other,
        "2:",
        load_columns!(),
        // times a block of a after the other.
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
/// The machine has BMI2 and ADX; the pointers are good for `16 blocks` and `8 blocks` digits.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square(t: *mut u64, a: *const u64, blocks: usize) {
    naked_asm!(
        enter!(),
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov rcx, rdx",
        zero_blocks!(),
        // A block of a after the other,
        "2:",
        "mov rbp, rsi",
        "mov [rsp + 24], rdi",
        "mov [rsp + 32], rcx",
        load_columns!(),
        // with itself,
        triangle!(),
        "add rsi, 64",
        "add rdi, 64",
        "dec rcx",
        "jz 4f",
        // and with those above it.
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
        // All twice (carry), and the squares of digits (overflow).
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

/// `result = t / R` modulo N, below R: `t` becomes a multiple of R by adding a multiple of N, and where that carries, N is
/// subtracted. `inverse` is −1 / N modulo b², its lower digit first.
///
/// # Safety
/// The machine has BMI2 and ADX; the pointers are good for `16 blocks`, `8 blocks`, `8 blocks`, 2 and, the quotient, 8
/// digits.
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
        // then those times the others.
        "3:",
        block!(row),
        "add rsi, 64",
        "add rdi, 64",
        "dec rcx",
        "jnz 3b",
        "4:",
        // The carry of the block before belongs where this block's columns go.
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
        // The upper half less N times the carry: MULX leaves the borrow alone.
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
        leave!(),
    )
}
