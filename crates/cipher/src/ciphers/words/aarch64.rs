//! Registers of four words of aarch64, and their operations.

use core::arch::aarch64::*;

use super::sliced::WordRegister;
use crate::engine::register_methods;

/// Converts words between the byte order of the ciphers, little-endian, and that of the target.
#[inline(always)]
unsafe fn little_endian(x: uint32x4_t) -> uint32x4_t {
    if cfg!(target_endian = "little") {
        return x;
    }
    // SAFETY: the caller guarantees NEON.
    unsafe { x.reverse_words() }
}

/// Transposes 4 × 4 words. The operation is its own inverse.
#[inline(always)]
unsafe fn transpose([a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    // SAFETY: the caller guarantees NEON.
    unsafe {
        // First a0 b0 a2 b2, a1 b1 a3 b3 and so on, then pairs of words.
        let (ab_even, ab_odd) = (pairs(vtrn1q_u32(a, b)), pairs(vtrn2q_u32(a, b)));
        let (cd_even, cd_odd) = (pairs(vtrn1q_u32(c, d)), pairs(vtrn2q_u32(c, d)));
        [
            words(vtrn1q_u64(ab_even, cd_even)),
            words(vtrn1q_u64(ab_odd, cd_odd)),
            words(vtrn2q_u64(ab_even, cd_even)),
            words(vtrn2q_u64(ab_odd, cd_odd)),
        ]
    }
}

/// Reinterprets a register as pairs of words.
#[inline(always)]
unsafe fn pairs(x: uint32x4_t) -> uint64x2_t {
    // SAFETY: the caller guarantees NEON.
    unsafe { vreinterpretq_u64_u32(x) }
}

/// Reinterprets a register as words.
#[inline(always)]
unsafe fn words(x: uint64x2_t) -> uint32x4_t {
    // SAFETY: the caller guarantees NEON.
    unsafe { vreinterpretq_u32_u64(x) }
}

impl WordRegister for uint32x4_t {
    const WORDS: usize = 4;

    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller guarantees the bytes and NEON.
        unsafe { little_endian(vld1q_u32(bytes.cast())) }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        // SAFETY: the caller guarantees NEON.
        unsafe { vdupq_n_u32(word) }
    }

    register_methods! {
        fn xor(self, other) = veorq_u32(self, other);
        fn and(self, other) = vandq_u32(self, other);
        fn add(self, other) = vaddq_u32(self, other);
        fn sub(self, other) = vsubq_u32(self, other);
    }

    #[inline(always)]
    unsafe fn rotate_by<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: the caller guarantees NEON.
        unsafe { vsriq_n_u32::<RIGHT>(vshlq_n_u32::<LEFT>(self), self) }
    }

    /// f = x + 2x · x, with one instruction for sum and product. The amounts are the low five bits of the rotated f.
    #[inline(always)]
    unsafe fn quadratic(self) -> (Self, Self) {
        // SAFETY: the caller guarantees NEON.
        unsafe {
            let f = vmlaq_u32(self, vaddq_u32(self, self), self);
            let amounts = vshrq_n_u32::<27>(f);
            (vsliq_n_u32::<5>(amounts, f), amounts)
        }
    }

    register_methods! {
        /// A shift by a negative amount is a shift to the right. For an amount of zero, the shift by 32 gives zero, as required.
        fn rotate_left(self, amounts) = {
            let left = vreinterpretq_s32_u32(amounts);
            let right = vsubq_s32(left, vdupq_n_s32(32));
            vorrq_u32(vshlq_u32(self, left), vshlq_u32(self, right))
        };
        fn rotate_right(self, amounts) = {
            let right = vnegq_s32(vreinterpretq_s32_u32(amounts));
            let left = vaddq_s32(right, vdupq_n_s32(32));
            vorrq_u32(vshlq_u32(self, left), vshlq_u32(self, right))
        };
        fn reverse_words(self) = vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(self)));
    }

    #[inline(always)]
    unsafe fn increment(low: Self, high: Self) -> [Self; 2] {
        // SAFETY: the caller guarantees NEON.
        unsafe {
            let low = vaddq_u32(low, vdupq_n_u32(1));
            // The comparison is −1 where there is a carry.
            [low, vsubq_u32(high, vceqzq_u32(low))]
        }
    }

    #[inline(always)]
    unsafe fn load_blocks(bytes: *const u8) -> [Self; 4] {
        // SAFETY: the caller guarantees the bytes and NEON.
        unsafe {
            let uint32x4x4_t(a, b, c, d) = vld4q_u32(bytes.cast());
            [little_endian(a), little_endian(b), little_endian(c), little_endian(d)]
        }
    }

    #[inline(always)]
    unsafe fn store_blocks([a, b, c, d]: [Self; 4], bytes: *mut u8) {
        // SAFETY: the caller guarantees the bytes and NEON.
        unsafe {
            let words = uint32x4x4_t(little_endian(a), little_endian(b), little_endian(c), little_endian(d));
            vst4q_u32(bytes.cast(), words);
        }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [[Self; 4]; 4] {
        let pointers = &pointers[..4];
        // SAFETY: the caller guarantees 64 bytes at each pointer and for NEON.
        unsafe {
            let mut vectors = [[Self::splat(0); 4]; 4];
            for block in 0..4 {
                for row in 0..4 {
                    vectors[block][row] = Self::load(pointers[row].add(16 * block));
                }
                vectors[block] = transpose(vectors[block]);
            }
            vectors
        }
    }

    #[inline(always)]
    unsafe fn scatter<const XOR: bool>(vectors: [[Self; 4]; 4], pointers: &[*mut u8]) {
        let pointers = &pointers[..4];
        // SAFETY: the caller guarantees 64 bytes at each pointer and for NEON.
        unsafe {
            for block in 0..4 {
                let rows = transpose(vectors[block]);
                for row in 0..4 {
                    let bytes = pointers[row].add(16 * block);
                    let words = if XOR { rows[row].xor(Self::load(bytes)) } else { rows[row] };
                    vst1q_u32(bytes.cast(), little_endian(words));
                }
            }
        }
    }
}
