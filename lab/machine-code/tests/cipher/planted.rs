//! Planted leaks, and code without a leak, which the interpreter must distinguish.

use core::arch::x86_64::*;
use core::hint::black_box;

use tress_machine_code::{Leak, planted};

const TABLE: [u8; 256] = [3; 256];
const WORDS: [u32; 256] = [3; 256];

planted! {
    [target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,vaes,gfni")] *const u8;

    /// A branch on a byte of a vector.
    fn branch(data) -> Some(Leak::Branch); {
        let x = _mm512_loadu_si512(data.cast());
        let byte = _mm512_cvtsi512_si32(_mm512_aesenc_epi128(x, x)) as u8;
        if byte & 1 == 1 { black_box(1) } else { 0 }
    }

    /// A table lookup with a byte of a vector.
    fn lookup(data) -> Some(Leak::Address); {
        let x = _mm512_loadu_si512(data.cast());
        u64::from(black_box(&TABLE)[usize::from(_mm512_cvtsi512_si32(_mm512_aesenc_epi128(x, x)) as u8)])
    }

    /// A branch on the result of a comparison of vectors.
    fn mask(data) -> Some(Leak::Mask); {
        let x = _mm512_loadu_si512(data.cast());
        if _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(9)) == 0 { black_box(1) } else { 0 }
    }

    /// A vector on the stack, from which a word is read as an index.
    fn spilled(data) -> Some(Leak::Address); {
        let mut bytes = [0u8; 64];
        let x = _mm512_loadu_si512(data.cast());
        _mm512_storeu_si512(bytes.as_mut_ptr().cast(), _mm512_gf2p8mul_epi8(x, x));
        black_box(&mut bytes);
        u64::from(black_box(&TABLE)[usize::from(bytes[17])])
    }

    /// A gather with sixteen secret indexes.
    fn gather(data) -> Some(Leak::Gather); {
        let x = _mm512_and_si512(_mm512_loadu_si512(data.cast()), _mm512_set1_epi32(0xff));
        _mm512_reduce_add_epi32(_mm512_i32gather_epi32::<4>(x, black_box(&WORDS).as_ptr().cast())) as u64
    }

    /// Division by a secret.
    fn division(data) -> Some(Leak::Time); {
        u64::from(black_box(1_000_000_007u32) / (u32::from(data.read()) | 1))
    }

    /// Floating point.
    fn floating(data) -> Some(Leak::Time); {
        let x = _mm512_loadu_ps(data.cast());
        _mm512_cvtsi512_si32(_mm512_castps_si512(_mm512_mul_ps(x, x))) as u64
    }

    /// A comparison that stops at the first difference.
    fn comparison(data) -> Some(Leak::Compare); {
        let length = black_box(40);
        u64::from(core::slice::from_raw_parts(data, length) == &black_box(&TABLE)[..length])
    }

    /// A copy with a secret length.
    fn length(data) -> Some(Leak::Address); {
        let mut bytes = [0u8; 256];
        core::ptr::copy_nonoverlapping(black_box(&TABLE).as_ptr(), bytes.as_mut_ptr(), usize::from(data.read()));
        u64::from(black_box(&bytes)[3])
    }

    /// A secret selects the function to call.
    fn target(data) -> Some(Leak::Target); {
        fn one() -> u64 { black_box(1) }
        let chosen = (one as *const ()).wrapping_byte_add(usize::from(data.read()) & black_box(1));
        core::mem::transmute::<*const (), fn() -> u64>(chosen)()
    }

    /// A branch after a spill, a selection and an addition with carry.
    fn devious(data) -> Some(Leak::Branch); {
        let mut words = [0u64; 8];
        _mm512_storeu_si512(words.as_mut_ptr().cast(), _mm512_loadu_si512(data.cast()));
        black_box(&mut words);
        let (sum, carry) = words[0].overflowing_add(words[5]);
        let chosen = core::hint::select_unpredictable(carry, sum, words[3].rotate_left(9));
        if chosen >> 63 == 1 { black_box(1) } else { 0 }
    }

    /// No leak: rounds, a loop over a public length, public masks and spills, a selection without a branch.
    fn clean(data) -> None; {
        let mut x = _mm512_loadu_si512(data.cast());
        let mut bytes = [0u8; 64];
        for round in 0..black_box(10) {
            x = _mm512_gf2p8affine_epi64_epi8::<3>(_mm512_aesenc_epi128(x, x), x);
            if _mm512_cmpeq_epi64_mask(_mm512_set1_epi64(black_box(round)), _mm512_set1_epi64(4)) != 0 {
                _mm512_storeu_si512(bytes.as_mut_ptr().cast(), x);
            }
        }
        black_box(&mut bytes);
        core::hint::select_unpredictable(bytes[3] & 1 == 1, 5, 6)
    }
}
