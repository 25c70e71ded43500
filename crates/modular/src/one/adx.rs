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

/// Digit `$row` of the block at rbp times the block at rsi; the lowest column goes to memory at rdi.
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

/// A quotient digit, which clears the lowest column; it goes to memory at rbp. The inverse is at rsp + 24.
macro_rules! quotient_row {
    ($row:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal $c7:literal) => {
        concat!(
            "xor eax, eax\n",
            "adox ", $c0, ", [rdi + 8*", $row, "]\n",
            "mov rdx, ", $c0, "\n",
            "mulx rbx, rdx, [rsp + 24]\n",
            "mov [rbp + 8*", $row, "], rdx\n",
            product!(0 $c0 $c1), product!(1 $c1 $c2), product!(2 $c2 $c3), product!(3 $c3 $c4), product!(4 $c4 $c5),
            product!(5 $c5 $c6), product!(6 $c6 $c7),
            last_product!($c7 $c0),
        )
    };
}

/// A row of a triangle: digit `$row` of the block at rsi times the digits above it in the same block.
macro_rules! triangle_row {
    ($row:literal: $c0:literal; $($passed:literal)*; $($j:literal $column:literal $above:literal),*; $last:literal) => {
        concat!(
            "mov rdx, [rsi + 8*", $row, "]\n",
            "xor eax, eax\n",
            "adox ", $c0, ", [rdi + 8*", $row, "]\n",
            "mov [rdi + 8*", $row, "], ", $c0, "\n",
            $("adox ", $passed, ", rax\n",)*
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
            triangle_row!(0: "r8"; "r9"; 1 "r9" "r10", 2 "r10" "r11", 3 "r11" "r12", 4 "r12" "r13", 5 "r13" "r14",
                6 "r14" "r15"; "r15"),
            triangle_row!(1: "r9"; "r10" "r11"; 2 "r11" "r12", 3 "r12" "r13", 4 "r13" "r14", 5 "r14" "r15", 6 "r15" "r8";
                "r8"),
            triangle_row!(2: "r10"; "r11" "r12" "r13"; 3 "r13" "r14", 4 "r14" "r15", 5 "r15" "r8", 6 "r8" "r9"; "r9"),
            triangle_row!(3: "r11"; "r12" "r13" "r14" "r15"; 4 "r15" "r8", 5 "r8" "r9", 6 "r9" "r10"; "r10"),
            triangle_row!(4: "r12"; "r13" "r14" "r15" "r8" "r9"; 5 "r9" "r10", 6 "r10" "r11"; "r11"),
            triangle_row!(5: "r13"; "r14" "r15" "r8" "r9" "r10" "r11"; 6 "r11" "r12"; "r12"),
            triangle_row!(6: "r14"; "r15" "r8" "r9" "r10" "r11" "r12" "r13"; ; "r13"),
            // No product is left: the lowest column leaves, and the highest one is the carry.
            "xor eax, eax\n",
            "adox r15, [rdi + 8*7]\n",
            "mov [rdi + 8*7], r15\n",
            "mov r15d, 0\n",
            "adox r8, rax\n", "adox r9, rax\n", "adox r10, rax\n", "adox r11, rax\n", "adox r12, rax\n", "adox r13, rax\n",
            "adox r14, rax\n", "adox r15, rax\n",
        )
    };
}

macro_rules! zero_columns {
    () => {
        "xor r8d, r8d\n xor r9d, r9d\n xor r10d, r10d\n xor r11d, r11d\n\
         xor r12d, r12d\n xor r13d, r13d\n xor r14d, r14d\n xor r15d, r15d\n"
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
        "push rbx\n push rbp\n push r12\n push r13\n push r14\n push r15\n sub rsp, 40\n"
    };
}

macro_rules! leave {
    () => {
        "add rsp, 40\n pop r15\n pop r14\n pop r13\n pop r12\n pop rbp\n pop rbx\n ret\n"
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

/// `t += a · b` of as many blocks each, at least one: `t`, of twice as many, is zero in its lower half and written in the
/// upper one.
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
        // A block of b after the other,
        "2:",
        zero_columns!(),
        // times a block of a after the other.
        "3:",
        block!(row),
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

/// `t = a²`, with `t` as in [`multiply`].
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
        // A block of a after the other,
        "2:",
        "mov rbp, rsi",
        "mov [rsp + 24], rdi",
        "mov [rsp + 32], rcx",
        zero_columns!(),
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

/// `t += quotient · n`, which clears the lower half of `t`; what stands there afterwards is of no use. Returns the carry
/// out of the upper half. `inverse` is −1 / N modulo b.
///
/// # Safety
/// The machine has BMI2 and ADX; the pointers are good for `16 blocks`, `8 blocks` and, the quotient, 8 digits.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn reduce(
    t: *mut u64,
    n: *const u64,
    blocks: usize,
    inverse: u64,
    quotient: *mut u64,
) -> u64 {
    naked_asm!(
        enter!(),
        "mov rbp, r8",
        "mov [rsp], rsi",
        "mov [rsp + 8], rdx",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov qword ptr [rsp + 32], 0",
        "2:",
        "mov rcx, [rsp + 8]",
        zero_columns!(),
        // Eight quotient digits from the lowest block of n,
        block!(quotient_row),
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
        // The carry out of the block before is one digit above it, where this block's columns go.
        "mov rax, [rsp + 32]",
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
        "mov [rsp + 32], rax",
        store_columns!(),
        "mov rsi, [rsp]",
        "mov rdx, [rsp + 8]",
        "shl rdx, 6",
        "sub rdi, rdx",
        "add rdi, 64",
        "dec qword ptr [rsp + 16]",
        "jnz 2b",
        leave!(),
    )
}
