//! 16 blocks at a time with AVX-512 IFMA, which multiplies numbers of 52 bits: limbs of 44 bits stay as they are.

use core::arch::x86_64::*;

use super::{GROUP_BYTES, LIMB_MASK, MARK, Number, Powers, carry};

/// Blocks of a row.
pub(super) const LANES: usize = 8;

/// # Safety
/// The machine must have AVX-512 F and IFMA.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn hash_groups(powers: &Powers, state: &mut Number, groups: &[[u8; GROUP_BYTES]]) {
    // SAFETY: the caller guarantees the instructions; all addresses are inside of `powers` and of groups.
    unsafe {
        let mask = _mm512_set1_epi64(LIMB_MASK as i64);
        let times20 = |x| _mm512_add_epi64(_mm512_slli_epi64::<4>(x), _mm512_slli_epi64::<2>(x));
        let row = |bytes: *const u8| -> [__m512i; 3] {
            let (a, b) = (_mm512_loadu_si512(bytes.cast()), _mm512_loadu_si512(bytes.add(64).cast()));
            let (low, high) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
            let middle = _mm512_or_si512(_mm512_srli_epi64::<44>(low), _mm512_slli_epi64::<20>(high));
            let marked = _mm512_or_si512(_mm512_srli_epi64::<24>(high), _mm512_set1_epi64(MARK as i64));
            [_mm512_and_si512(low, mask), _mm512_and_si512(middle, mask), marked]
        };
        // Adds a group and multiplies. Factors are less than 2^49, and limbs of `x` less than 2^46: so the six low halves of a limb are
        // less than 2^55 together, the high ones less than 2^46, a carry less than 2^55, and 20 times the last one less than 2^60.
        let group = |hash: [__m512i; 3], group: &[u8; GROUP_BYTES], factors: &[[__m512i; 5]; 2]| -> [__m512i; 3] {
            let mut low = [_mm512_setzero_si512(); 3];
            let mut high = low;
            for i in [1, 0] {
                let mut x = row(group.as_ptr().add(i * GROUP_BYTES / 2));
                if i == 0 {
                    for limb in 0..3 {
                        x[limb] = _mm512_add_epi64(x[limb], hash[limb]);
                    }
                }
                for from in 0..3 {
                    for to in 0..3 {
                        let by = if from <= to { to - from } else { to + 5 - from };
                        low[to] = _mm512_madd52lo_epu64(low[to], x[from], factors[i][by]);
                        high[to] = _mm512_madd52hi_epu64(high[to], x[from], factors[i][by]);
                    }
                }
            }
            let over = |low, high| _mm512_add_epi64(_mm512_srli_epi64::<44>(low), _mm512_slli_epi64::<8>(high));
            let b = _mm512_add_epi64(low[1], over(low[0], high[0]));
            let c = _mm512_add_epi64(low[2], over(b, high[1]));
            let d = over(c, high[2]);
            let a = _mm512_add_epi64(_mm512_and_si512(low[0], mask), times20(d));
            let b = _mm512_add_epi64(_mm512_and_si512(b, mask), _mm512_srli_epi64::<44>(a));
            [_mm512_and_si512(a, mask), b, _mm512_and_si512(c, mask)]
        };
        let with_times20 = |[a, b, c]: [__m512i; 3]| [a, b, c, times20(b), times20(c)];
        let of_first = |row: usize| {
            let limb = |limb: usize| _mm512_set1_epi64(powers[limb][row * LANES] as i64);
            with_times20([limb(0), limb(1), limb(2)])
        };
        let of_row = |row: usize| {
            let limb = |limb: usize| _mm512_loadu_si512(powers[limb][row * LANES..][..LANES].as_ptr().cast());
            with_times20([limb(0), limb(1), limb(2)])
        };
        let Some((last, others)) = groups.split_last() else { return };
        let mut hash = [_mm512_setzero_si512(); 3];
        for limb in 0..3 {
            hash[limb] = _mm512_maskz_set1_epi64(1, state[limb] as i64);
        }
        let factors = [of_first(0), of_first(1)];
        for each in others {
            hash = group(hash, each, &factors);
        }
        let [a, b, c] = group(hash, last, &[of_row(0), of_row(1)]);
        let sum = |lanes| u128::from(_mm512_reduce_add_epi64(lanes) as u64);
        *state = carry([sum(a), sum(b), sum(c)]);
    }
}
