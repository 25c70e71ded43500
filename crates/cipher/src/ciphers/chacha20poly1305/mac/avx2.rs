//! Eight blocks at a time with AVX2, which multiplies numbers of 32 bits: five limbs of 26 bits. 2^130 is 5, so the product of limbs i and
//! j belongs to limb i + j, or 5 times to limb i + j − 5.

use core::arch::x86_64::*;
use core::hint::black_box;

use zeroize::Zeroize;

use super::{GROUP_BYTES, Number, Powers, carry};

/// Blocks of a row.
pub(super) const LANES: usize = 4;

/// # Safety
/// The machine must have AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn hash_groups(powers: &Powers, state: &mut Number, groups: &[[u8; GROUP_BYTES]]) {
    // SAFETY: the caller guarantees the instructions; all addresses are inside of `powers`, of arrays and of groups.
    unsafe {
        // If the compiler knows which bits are zero, it does not recognise all products of 32 bits, and makes some of 64.
        let mask = black_box(_mm256_set1_epi64x((1 << 26) - 1));
        let row = |bytes: *const u8| -> [__m256i; 5] {
            let (a, b) = (_mm256_loadu_si256(bytes.cast()), _mm256_loadu_si256(bytes.add(32).cast()));
            let (low, high) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            let middle = _mm256_or_si256(_mm256_srli_epi64::<52>(low), _mm256_slli_epi64::<12>(high));
            [
                _mm256_and_si256(low, mask),
                _mm256_and_si256(_mm256_srli_epi64::<26>(low), mask),
                _mm256_and_si256(middle, mask),
                _mm256_and_si256(_mm256_srli_epi64::<14>(high), mask),
                _mm256_or_si256(_mm256_srli_epi64::<40>(high), _mm256_set1_epi64x(1 << 24)),
            ]
        };
        // The same number in limbs of 26 bits. The last one is at most 2^28.
        let split = |[a, b, c]: [__m256i; 3]| -> [__m256i; 5] {
            [
                _mm256_and_si256(a, mask),
                _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<26>(a), _mm256_slli_epi64::<18>(b)), mask),
                _mm256_and_si256(_mm256_srli_epi64::<8>(b), mask),
                _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<34>(b), _mm256_slli_epi64::<10>(c)), mask),
                _mm256_srli_epi64::<16>(c),
            ]
        };
        let times5 = |x| _mm256_add_epi64(x, _mm256_slli_epi64::<2>(x));
        // Limbs of a power, and 5 times limbs 1 to 4.
        let factors = |number| {
            let [a, b, c, d, e] = split(number);
            [a, b, c, d, e, times5(b), times5(c), times5(d), times5(e)]
        };
        // Factors are at most 5 · 2^28, and limbs of `x` less than 2^28 + 2^27: so the ten products of a limb are less than 2^63 together,
        // and what is carried less than 2^38.
        let add_products = |sums: &mut [__m256i; 5], x: [__m256i; 5], factors: &[__m256i; 9]| {
            for from in 0..5 {
                for to in 0..5 {
                    let factor = factors[if from <= to { to - from } else { to + 9 - from }];
                    sums[to] = _mm256_add_epi64(sums[to], _mm256_mul_epu32(x[from], factor));
                }
            }
        };
        let zero = _mm256_setzero_si256();
        let first = |limb: usize| _mm256_zextsi128_si256(_mm_cvtsi64_si128(state[limb] as i64));
        let mut hash = split([first(0), first(1), first(2)]);
        let mut by = [[zero; 9]; 2];
        for i in 0..2 {
            let limb = |limb: usize| _mm256_set1_epi64x(powers[limb][i * LANES] as i64);
            by[i] = factors([limb(0), limb(1), limb(2)]);
        }
        let (groups, _) = groups.as_flattened().as_chunks::<{ GROUP_BYTES / 2 }>();
        for (number, group) in groups.iter().enumerate() {
            if number + 1 == groups.len() {
                // The compiler would read them before the first group, and keep copies on the stack.
                let powers = black_box(powers);
                for i in 0..2 {
                    let limb = |limb: usize| _mm256_loadu_si256(powers[limb][i * LANES..][..LANES].as_ptr().cast());
                    by[i] = factors([limb(0), limb(1), limb(2)]);
                }
            }
            // As above: there are more factors than registers.
            let by = black_box(&by);
            let mut sums = [zero; 5];
            add_products(&mut sums, row(group.as_ptr().add(GROUP_BYTES / 4)), &by[1]);
            let mut x = row(group.as_ptr());
            for limb in 0..5 {
                x[limb] = _mm256_add_epi64(x[limb], hash[limb]);
            }
            add_products(&mut sums, x, &by[0]);
            for [from, to] in [[0, 1], [3, 4], [1, 2], [4, 0], [2, 3], [0, 1], [3, 4]] {
                let over = _mm256_srli_epi64::<26>(sums[from]);
                sums[to] = _mm256_add_epi64(sums[to], if to == 0 { times5(over) } else { over });
                sums[from] = _mm256_and_si256(sums[from], mask);
            }
            hash = sums;
        }
        by.zeroize();
        let mut sums = [0; 5];
        for limb in 0..5 {
            let halves = _mm_add_epi64(_mm256_castsi256_si128(hash[limb]), _mm256_extracti128_si256::<1>(hash[limb]));
            sums[limb] = (_mm_cvtsi128_si64(halves) + _mm_extract_epi64::<1>(halves)) as u128;
        }
        let [a, b, c, d, e] = sums;
        *state = carry([a + (b << 26), (c << 8) + (d << 34), e << 16]);
    }
}
