//! The inner loops over blocks of ten digits: for numbers of one block, and for the block that remains beside pieces of twenty digits.
//!
//! Twenty columns stay in zmm0 to zmm19 and one factor in zmm20 to zmm29, completely unrolled. This is assembly because compilers keep too
//! few values in registers: with intrinsics, the columns go to memory and back. All instructions take the same time for all values.

use core::arch::asm;

use super::digits::{BLOCK, DIGIT_MASK, Digit, LANES};

/// `vmovdqa64` to the given registers, from consecutive digits at `{name}`.
macro_rules! load {
    ($from:literal; $($index:literal $register:literal),*) => {
        concat!($("vmovdqa64 zmm", $register, ", [{", $from, "} + 64*", $index, "]\n"),*)
    };
}

macro_rules! zero {
    ($($c:literal)*) => { concat!($("vpxord xmm", $c, ", xmm", $c, ", xmm", $c, "\n"),*) };
}

macro_rules! double {
    ($($c:literal)*) => { concat!($("vpaddq zmm", $c, ", zmm", $c, ", zmm", $c, "\n"),*) };
}

/// One instruction for each column with its digit in memory: loads, stores or adds.
macro_rules! columns {
    (zero) => { zero!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19) };
    (load $from:literal) => { columns!(@load $from; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19) };
    (double) => { double!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18) };
    (store_upper $to:literal) => { columns!(@store $to; 10 11 12 13 14 15 16 17 18 19) };
    (store $to:literal) => { columns!(@store $to; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19) };
    (@load $from:literal; $($c:literal)*) => { concat!($("vmovdqa64 zmm", $c, ", [{", $from, "} + 64*", $c, "]\n"),*) };
    (@store $to:literal; $($c:literal)*) => { concat!($("vmovdqa64 [{", $to, "} + 64*", $c, "], zmm", $c, "\n"),*) };
}

/// Adds the products of zmm`$x` with each `$y`: the low half to column `$low`, the high half to the next column.
macro_rules! products {
    ($x:literal; $($y:literal $low:literal $high:literal),*) => {
        concat!(
            $("vpmadd52luq zmm", $low, ", zmm", $x, ", zmm", $y, "\n",)*
            $("vpmadd52huq zmm", $high, ", zmm", $x, ", zmm", $y, "\n",)*
        )
    };
}

/// Rows of two types alternately, each with the registers of its columns, which advance by one from row to row.
macro_rules! rows {
    ($row:ident $other:ident; ; $($c:literal)*) => { "" };
    ($row:ident $other:ident; $i:literal $($more:literal)*; $c0:literal $($c:literal)*) => {
        concat!($row!($i: $c0 $($c)*), rows!($other $row; $($more)*; $($c)* $c0))
    };
}

/// One row of a product: digit `$row` of `b` times zmm20 to zmm29.
macro_rules! row {
    ($row:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal $c7:literal
        $c8:literal $c9:literal $c10:literal $($more:literal)*) => {
        concat!(
            "vmovdqa64 zmm30, [{b} + 64*", $row, "]\n",
            products!(30; 20 $c0 $c1, 21 $c1 $c2, 22 $c2 $c3, 23 $c3 $c4, 24 $c4 $c5, 25 $c5 $c6, 26 $c6 $c7, 27 $c7 $c8, 28 $c8 $c9, 29 $c9 $c10)
        )
    };
}

macro_rules! product {
    () => {
        concat!(
            load!("a"; 0 20, 1 21, 2 22, 3 23, 4 24, 5 25, 6 26, 7 27, 8 28, 9 29),
            rows!(row row; 0 1 2 3 4 5 6 7 8 9; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19),
        )
    };
}

/// Computes the quotient digit that clears the low 52 bits of a column.
macro_rules! quotient_digit {
    ($q:literal $column:literal) => {
        concat!(
            "vpxord xmm",
            $q,
            ", xmm",
            $q,
            ", xmm",
            $q,
            "\n",
            "vpmadd52luq zmm",
            $q,
            ", zmm",
            $column,
            ", [{inverse}]\n",
        )
    };
}

/// One row of a reduction, in the same order as over twenty digits: the next quotient digit is computed before most products.
macro_rules! reduction_row {
    ($q:literal $next:literal $row:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal
        $c6:literal $c7:literal $c8:literal $c9:literal $c10:literal) => {
        concat!(
            "vpaddq zmm", $c0, ", zmm", $c0, ", [{low_bits}]\n",
            "vpsraq zmm", $c0, ", zmm", $c0, ", 52\n",
            "vpmadd52luq zmm", $c1, ", zmm", $q, ", zmm21\n",
            "vpmadd52huq zmm", $c0, ", zmm", $q, ", zmm20\n",
            "vpaddq zmm", $c1, ", zmm", $c1, ", zmm", $c0, "\n",
            quotient_digit!($next $c1),
            "vmovdqa64 [{m} + 64*", $row, "], zmm", $q, "\n",
            "vpmadd52luq zmm", $c2, ", zmm", $q, ", zmm22\n",
            "vpmadd52huq zmm", $c2, ", zmm", $q, ", zmm21\n",
            "vpmadd52huq zmm", $c3, ", zmm", $q, ", zmm22\n",
            products!($q; 23 $c3 $c4, 24 $c4 $c5, 25 $c5 $c6, 26 $c6 $c7, 27 $c7 $c8, 28 $c8 $c9, 29 $c9 $c10),
        )
    };
}

macro_rules! reduction {
    () => {
        concat!(
            load!("n"; 0 20, 1 21, 2 22, 3 23, 4 24, 5 25, 6 26, 7 27, 8 28, 9 29),
            quotient_digit!(30 0),
            reduction_row!(30 31 0: 0 1 2 3 4 5 6 7 8 9 10),
            reduction_row!(31 30 1: 1 2 3 4 5 6 7 8 9 10 11),
            reduction_row!(30 31 2: 2 3 4 5 6 7 8 9 10 11 12),
            reduction_row!(31 30 3: 3 4 5 6 7 8 9 10 11 12 13),
            reduction_row!(30 31 4: 4 5 6 7 8 9 10 11 12 13 14),
            reduction_row!(31 30 5: 5 6 7 8 9 10 11 12 13 14 15),
            reduction_row!(30 31 6: 6 7 8 9 10 11 12 13 14 15 16),
            reduction_row!(31 30 7: 7 8 9 10 11 12 13 14 15 16 17),
            reduction_row!(30 31 8: 8 9 10 11 12 13 14 15 16 17 18),
            reduction_row!(31 30 9: 9 10 11 12 13 14 15 16 17 18 19),
        )
    };
}

/// The products of different digits of zmm20 to zmm29.
macro_rules! triangle {
    () => {
        concat!(
            products!(20; 21 1 2, 22 2 3, 23 3 4, 24 4 5, 25 5 6, 26 6 7, 27 7 8, 28 8 9, 29 9 10),
            products!(21; 22 3 4, 23 4 5, 24 5 6, 25 6 7, 26 7 8, 27 8 9, 28 9 10, 29 10 11),
            products!(22; 23 5 6, 24 6 7, 25 7 8, 26 8 9, 27 9 10, 28 10 11, 29 11 12),
            products!(23; 24 7 8, 25 8 9, 26 9 10, 27 10 11, 28 11 12, 29 12 13),
            products!(24; 25 9 10, 26 10 11, 27 11 12, 28 12 13, 29 13 14),
            products!(25; 26 11 12, 27 12 13, 28 13 14, 29 14 15),
            products!(26; 27 13 14, 28 14 15, 29 15 16),
            products!(27; 28 15 16, 29 16 17),
            products!(28; 29 17 18),
        )
    };
}

/// The squares of zmm20 to zmm24, and of zmm25 to zmm29.
macro_rules! squares {
    (lower) => {
        concat!(
            products!(20; 20 0 1),
            products!(21; 21 2 3),
            products!(22; 22 4 5),
            products!(23; 23 6 7),
            products!(24; 24 8 9),
        )
    };
    (upper) => {
        concat!(
            products!(25; 25 10 11),
            products!(26; 26 12 13),
            products!(27; 27 14 15),
            products!(28; 28 16 17),
            products!(29; 29 18 19),
        )
    };
}

/// The products of different digits of `a`, then all of them doubled, then the squares of the digits.
macro_rules! square {
    () => {
        concat!(
            load!("a"; 0 20, 1 21, 2 22, 3 23, 4 24, 5 25, 6 26, 7 27, 8 28, 9 29),
            triangle!(),
            columns!(double),
            squares!(lower),
            squares!(upper),
        )
    };
}

macro_rules! on_all_registers {
    ($template:expr, $($operands:tt)*) => {
        asm!($template, $($operands)*,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
            out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
            out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _, out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
            out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
             options(nostack))
    };
}

pub(super) use {columns, double, load, on_all_registers, products, quotient_digit, rows, squares, triangle, zero};

/// `t += a · b`, where `b` has any multiple of ten digits.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn multiply_add(t: &mut [Digit], a: &[Digit; BLOCK], b: &[Digit]) {
    for (i, b) in b.as_chunks::<BLOCK>().0.iter().enumerate() {
        let t: &mut [Digit; 2 * BLOCK] = t[BLOCK * i..].first_chunk_mut().expect("as many digits as both");
        // SAFETY: the assembly reads `a`, a block of `b` and the two blocks of `t`, and writes those of `t`. The types give these lengths,
        // and `Digit` is aligned to 64 bytes. AVX-512 F and IFMA are enabled by `target_feature`.
        unsafe {
            on_all_registers!(
                concat!(columns!(load "t"), product!(), columns!(store "t")),
                t = in(reg) t.as_mut_ptr(), a = in(reg) a.as_ptr(), b = in(reg) b.as_ptr()
            );
        }
    }
}

/// `t = a²`
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn square(t: &mut [Digit; 2 * BLOCK], a: &[Digit; BLOCK]) {
    // SAFETY: the assembly reads the block `a` and writes the two blocks of `t`. The types give these lengths, and `Digit` is aligned to 64
    // bytes. AVX-512 F and IFMA are enabled by `target_feature`.
    unsafe {
        on_all_registers!(
            concat!(columns!(zero), square!(), columns!(store "t")),
            t = in(reg) t.as_mut_ptr(), a = in(reg) a.as_ptr()
        );
    }
}

/// Mask of the low 52 bits.
pub(super) static LOW_BITS: Digit = Digit([DIGIT_MASK; LANES]);

/// `t += m · n`, where `m` is chosen such that the lower block of `t` becomes zero. That block is not written, and its carry is added to
/// the upper one. `inverse` is −1 / N modulo 2^52.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn reduce(t: &mut [Digit; 2 * BLOCK], n: &[Digit; BLOCK], inverse: &Digit, m: &mut [Digit; BLOCK]) {
    // SAFETY: the assembly reads the block `n`, the two blocks of `t` and two digits, and writes `m` and the upper block of `t`. The types
    // give these lengths, and `Digit` is aligned to 64 bytes. AVX-512 F and IFMA are enabled by `target_feature`.
    unsafe {
        on_all_registers!(
            concat!(columns!(load "t"), reduction!(), columns!(store_upper "t")),
            t = in(reg) t.as_mut_ptr(), n = in(reg) n.as_ptr(), m = in(reg) m.as_mut_ptr(),
            inverse = in(reg) &raw const inverse.0, low_bits = in(reg) &raw const LOW_BITS.0
        );
    }
}
