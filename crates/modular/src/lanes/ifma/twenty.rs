//! The inner loops over twenty digits of a factor or of the moduli. As many values as possible stay in registers.
//!
//! Twenty columns are in zmm0 to zmm19, column c in register c modulo 20. Ten digits are in zmm20 to zmm29 (a reduction needs one more
//! register, so nine are in zmm21 to zmm29). The ten digits above them are read from memory. A row of a product or of a reduction completes
//! the lowest column, whose register becomes the next higher column. Ten rows are unrolled; then the two halves of the registers are
//! exchanged for the next ten.
//!
//! Only the low 52 bits of digits matter, because `vpmadd52luq` and `vpmadd52huq` ignore the others. All instructions take the same time
//! for all values.

use core::arch::asm;

use super::digits::{BLOCK, Digit};
use super::ten::{
    LOW_BITS, columns, double, load, on_all_registers, products, quotient_digit, rows, squares, triangle, zero,
};

/// Number of digits of a piece.
pub(super) const TWENTY: usize = 2 * BLOCK;

/// Loads digit 10 or a later one, at `{name}`, into zmm`$y`, and multiplies it by zmm`$x`. With a memory operand, the two products would
/// read the digit twice, which takes longer.
macro_rules! products_from_memory {
    ($from:literal $x:literal $y:literal; $($index:literal $low:literal $high:literal),*) => {
        concat!($("vmovdqa64 zmm", $y, ", [{", $from, "} + 64*", $index, "]\n", products!($x; $y $low $high),)*)
    };
}

/// Digit `$i` of `b` times `a`. This completes the lowest column, and `$next` reuses its register for the new highest column.
macro_rules! product_row {
    ($next:ident $i:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal $c7:literal
        $c8:literal $c9:literal $c10:literal $c11:literal $c12:literal $c13:literal $c14:literal $c15:literal
        $c16:literal $c17:literal $c18:literal $c19:literal) => {
        concat!(
            "vmovdqa64 zmm30, [{b} + 64*", $i, "]\n",
            "vpmadd52luq zmm", $c0, ", zmm30, zmm20\n",
            "vmovdqa64 [{t} + 64*", $i, "], zmm", $c0, "\n",
            $next!($i $c0),
            "vpmadd52luq zmm", $c1, ", zmm30, zmm21\n",
            products!(30; 22 $c2 $c3, 23 $c3 $c4, 24 $c4 $c5, 25 $c5 $c6, 26 $c6 $c7, 27 $c7 $c8, 28 $c8 $c9, 29 $c9 $c10),
            "vpmadd52huq zmm", $c1, ", zmm30, zmm20\n",
            "vpmadd52huq zmm", $c2, ", zmm30, zmm21\n",
            products_from_memory!("a" 30 31; 10 $c10 $c11, 11 $c11 $c12, 12 $c12 $c13, 13 $c13 $c14, 14 $c14 $c15, 15 $c15 $c16,
                16 $c16 $c17, 17 $c17 $c18, 18 $c18 $c19, 19 $c19 $c0),
        )
    };
}

/// A row of a reduction with its quotient digit in zmm`$q`. It clears the low 52 bits of the first column. The low half of that column's
/// product is not computed: the column's carry is the column divided by 2^52, rounded up.
///
/// The next row's quotient digit is computed into zmm`$next` before most of this row's products. Processors execute ready instructions in
/// program order, so the digit is available when these products end. Otherwise every row would wait for its latency.
macro_rules! reduction_row {
    ($q:literal $next:literal $i:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal
        $c7:literal $c8:literal $c9:literal $c10:literal $c11:literal $c12:literal $c13:literal $c14:literal $c15:literal
        $c16:literal $c17:literal $c18:literal $c19:literal) => {
        concat!(
            "vpaddq zmm", $c0, ", zmm", $c0, ", [{low_bits}]\n",
            "vpsraq zmm", $c0, ", zmm", $c0, ", 52\n",
            "vpmadd52luq zmm", $c1, ", zmm", $q, ", zmm21\n",
            "vpmadd52huq zmm", $c0, ", zmm", $q, ", [{n}]\n",
            "vpaddq zmm", $c1, ", zmm", $c1, ", zmm", $c0, "\n",
            quotient_digit!($next $c1),
            "vmovdqa64 [{quotient} + 64*", $i, "], zmm", $q, "\n",
            next_column!($i $c0),
            "vpmadd52luq zmm", $c2, ", zmm", $q, ", zmm22\n",
            "vpmadd52huq zmm", $c2, ", zmm", $q, ", zmm21\n",
            "vpmadd52huq zmm", $c3, ", zmm", $q, ", zmm22\n",
            products!($q; 23 $c3 $c4, 24 $c4 $c5, 25 $c5 $c6, 26 $c6 $c7, 27 $c7 $c8, 28 $c8 $c9, 29 $c9 $c10),
            products_from_memory!("n" $q 20; 10 $c10 $c11, 11 $c11 $c12, 12 $c12 $c13, 13 $c13 $c14, 14 $c14 $c15, 15 $c15 $c16,
                16 $c16 $c17, 17 $c17 $c18, 18 $c18 $c19, 19 $c19 $c0),
        )
    };
}

/// One row type has its quotient digit in zmm30, the other in zmm31.
macro_rules! reduction_row_30 {
    ($($row:tt)*) => { reduction_row!(30 31 $($row)*) };
}
macro_rules! reduction_row_31 {
    ($($row:tt)*) => { reduction_row!(31 30 $($row)*) };
}

/// A new column of a product, zero.
macro_rules! new_column {
    ($i:literal $c:literal) => {
        zero!($c)
    };
}

/// A new column of a sum, loaded from memory.
macro_rules! next_column {
    ($i:literal $c:literal) => {
        concat!("vmovdqa64 zmm", $c, ", [{t} + 64*20 + 64*", $i, "]\n")
    };
}

/// Rows of a product.
macro_rules! new_row {
    ($($row:tt)*) => { product_row!(new_column $($row)*) };
}

/// Rows of a product that is added to `t`.
macro_rules! next_row {
    ($($row:tt)*) => { product_row!(next_column $($row)*) };
}

/// Ten rows, after which the columns are where the next ten rows expect them.
macro_rules! ten_rows {
    ($row:ident $other:ident) => {
        concat!(
            rows!($row $other; 0 1 2 3 4 5 6 7 8 9; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19),
            change_places!(0 10, 1 11, 2 12, 3 13, 4 14, 5 15, 6 16, 7 17, 8 18, 9 19),
        )
    };
}

macro_rules! change_places {
    ($($a:literal $b:literal),*) => {
        concat!($(
            "vmovdqa64 zmm31, zmm", $a, "\n", "vmovdqa64 zmm", $a, ", zmm", $b, "\n", "vmovdqa64 zmm", $b, ", zmm31\n",
        )*)
    };
}

/// Digit `$i` of `a` times zmm20 to zmm29, from column `$i` on.
macro_rules! cross_row {
    ($i:literal: $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal $c6:literal $c7:literal
        $c8:literal $c9:literal $c10:literal $($more:literal)*) => {
        concat!(
            "vmovdqa64 zmm30, [{a} + 64*10 + 64*", $i, "]\n",
            products!(30; 20 $c0 $c1, 21 $c1 $c2, 22 $c2 $c3, 23 $c3 $c4, 24 $c4 $c5, 25 $c5 $c6, 26 $c6 $c7, 27 $c7 $c8,
                28 $c8 $c9, 29 $c9 $c10),
        )
    };
}

/// Writes columns to memory, at an offset of `$from` columns.
macro_rules! store {
    ($from:literal; $($c:literal)*) => {
        concat!($("vmovdqa64 [{t} + 64*", $from, " + 64*", $c, "], zmm", $c, "\n"),*)
    };
}

/// `t = a · b`, where `a` has twenty digits and `b` any multiple of ten. The product has as many digits as both factors.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn multiply(t: &mut [Digit], a: &[Digit; TWENTY], b: &[Digit]) {
    assert!(!b.is_empty() && b.len().is_multiple_of(BLOCK) && t.len() >= TWENTY + b.len());
    // SAFETY: the assembly reads the twenty digits of `a` and all digits of `b`, and writes 20 + `b.len()` digits of `t`. The lengths were
    // asserted, and `Digit` is aligned to 64 bytes. AVX-512 F and IFMA are enabled by `target_feature`.
    unsafe {
        on_all_registers!(
            concat!(
                columns!(zero),
                load!("a"; 0 20, 1 21, 2 22, 3 23, 4 24, 5 25, 6 26, 7 27, 8 28, 9 29),
                "2:\n",
                ten_rows!(new_row new_row),
                "add {b}, 640\n",
                "add {t}, 640\n",
                "dec {tens}\n",
                "jnz 2b\n",
                columns!(store "t"),
            ),
            t = inout(reg) t.as_mut_ptr() => _, a = in(reg) a.as_ptr(), b = inout(reg) b.as_ptr() => _,
            tens = inout(reg) b.len() / BLOCK => _
        );
    }
}

/// `t += a · b`, where `a` has twenty digits and `b` any multiple of ten.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn multiply_add(t: &mut [Digit], a: &[Digit; TWENTY], b: &[Digit]) {
    assert!(!b.is_empty() && b.len().is_multiple_of(BLOCK) && t.len() >= TWENTY + b.len());
    // SAFETY: the assembly reads the twenty digits of `a` and all digits of `b`, and reads and writes 20 + `b.len()` digits of `t`. The
    // lengths were asserted, and `Digit` is aligned to 64 bytes. AVX-512 F and IFMA are enabled by `target_feature`.
    unsafe {
        on_all_registers!(
            concat!(
                columns!(load "t"),
                load!("a"; 0 20, 1 21, 2 22, 3 23, 4 24, 5 25, 6 26, 7 27, 8 28, 9 29),
                "2:\n",
                ten_rows!(next_row next_row),
                "add {b}, 640\n",
                "add {t}, 640\n",
                "dec {tens}\n",
                "jnz 2b\n",
                columns!(store "t"),
            ),
            t = inout(reg) t.as_mut_ptr() => _, a = in(reg) a.as_ptr(), b = inout(reg) b.as_ptr() => _,
            tens = inout(reg) b.len() / BLOCK => _
        );
    }
}

/// `t = a²`: the products of different digits, doubled, and the squares of digits.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn square(t: &mut [Digit; 2 * TWENTY], a: &[Digit; TWENTY]) {
    // SAFETY: the assembly reads the twenty digits of `a` and writes the forty of `t`. The types give these lengths, and `Digit` is aligned
    // to 64 bytes. AVX-512 F and IFMA are enabled by `target_feature`.
    unsafe {
        on_all_registers!(
            concat!(
                columns!(zero),
                load!("a"; 0 20, 1 21, 2 22, 3 23, 4 24, 5 25, 6 26, 7 27, 8 28, 9 29),
                triangle!(),
                double!(1 2 3 4 5 6 7 8 9),
                squares!(lower),
                store!(0; 0 1 2 3 4 5 6 7 8 9),
                zero!(0 1 2 3 4 5 6 7 8 9),
                rows!(cross_row cross_row; 0 1 2 3 4 5 6 7 8 9; 10 11 12 13 14 15 16 17 18 19 0 1 2 3 4 5 6 7 8 9),
                double!(10 11 12 13 14 15 16 17 18 19),
                squares!(upper),
                store!(0; 10 11 12 13 14 15 16 17 18 19),
                zero!(10 11 12 13 14 15 16 17 18 19),
                load!("a"; 10 20, 11 21, 12 22, 13 23, 14 24, 15 25, 16 26, 17 27, 18 28, 19 29),
                triangle!(),
                double!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18),
                squares!(lower),
                squares!(upper),
                store!(20; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19),
            ),
            t = in(reg) t.as_mut_ptr(), a = in(reg) a.as_ptr()
        );
    }
}

/// `t += quotient · n`, for twenty digits of the moduli and any multiple of ten digits of the quotient. The quotient is chosen such that as
/// many of the lowest digits of `t` become zero. Those digits are not written, and their carry is added to the digits above. `inverse` is
/// −1 / N modulo 2^52.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn reduce(t: &mut [Digit], n: &[Digit; TWENTY], inverse: &Digit, quotient: &mut [Digit]) {
    assert!(!quotient.is_empty() && quotient.len().is_multiple_of(BLOCK) && t.len() >= TWENTY + quotient.len());
    // SAFETY: the assembly reads the twenty digits of `n` and two single digits, writes all digits of `quotient`, and reads and writes
    // 20 + `quotient.len()` digits of `t`. The lengths were asserted, and `Digit` is aligned to 64 bytes. AVX-512 F and IFMA are enabled by
    // `target_feature`.
    unsafe {
        on_all_registers!(
            concat!(
                columns!(load "t"),
                load!("n"; 1 21, 2 22, 3 23, 4 24, 5 25, 6 26, 7 27, 8 28, 9 29),
                quotient_digit!(30 0),
                "2:\n",
                ten_rows!(reduction_row_30 reduction_row_31),
                "add {quotient}, 640\n",
                "add {t}, 640\n",
                "dec {tens}\n",
                "jnz 2b\n",
                columns!(store "t"),
            ),
            t = inout(reg) t.as_mut_ptr() => _, n = in(reg) n.as_ptr(), quotient = inout(reg) quotient.as_mut_ptr() => _,
            inverse = in(reg) &raw const inverse.0, low_bits = in(reg) &raw const LOW_BITS.0,
            tens = inout(reg) quotient.len() / BLOCK => _
        );
    }
}
