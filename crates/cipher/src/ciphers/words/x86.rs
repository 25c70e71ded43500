//! Registers of 8 and 16 words, and their operations.

use core::arch::x86_64::*;

use super::sliced::WordRegister;
use crate::engine::{register_methods, transpose_quarters};

/// Defines the methods that differ only in the names of instructions.
macro_rules! plain {
    ($load:ident, $splat:ident, $broadcast:ident, $xor:ident, $and:ident, $add:ident, $sub:ident,
     $shuffle:ident) => {
        #[inline(always)]
        unsafe fn load(bytes: *const u8) -> Self {
            // SAFETY: the caller guarantees the bytes and the instructions.
            unsafe { $load(bytes.cast()) }
        }
        #[inline(always)]
        unsafe fn splat(word: u32) -> Self {
            // SAFETY: the caller guarantees the instructions.
            unsafe { $splat(word as i32) }
        }
        register_methods! {
            fn xor(self, other) = $xor(self, other);
            fn and(self, other) = $and(self, other);
            fn add(self, other) = $add(self, other);
            fn sub(self, other) = $sub(self, other);
            fn reverse_words(self) = {
                let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
                $shuffle(self, $broadcast(order))
            };
        }

        #[inline(always)]
        unsafe fn load_blocks(bytes: *const u8) -> [Self; 4] {
            // SAFETY: the caller guarantees the bytes and the instructions.
            unsafe {
                transpose([
                    Self::load(bytes),
                    Self::load(bytes.add(size_of::<Self>())),
                    Self::load(bytes.add(2 * size_of::<Self>())),
                    Self::load(bytes.add(3 * size_of::<Self>())),
                ])
            }
        }
        #[inline(always)]
        unsafe fn store_blocks(vector: [Self; 4], bytes: *mut u8) {
            // SAFETY: the caller guarantees the bytes and the instructions.
            unsafe {
                let [a, b, c, d] = transpose(vector);
                a.store(bytes);
                b.store(bytes.add(size_of::<Self>()));
                c.store(bytes.add(2 * size_of::<Self>()));
                d.store(bytes.add(3 * size_of::<Self>()));
            }
        }
    };
}

/// Operations that only this file uses.
trait TransposeRegister: WordRegister {
    unsafe fn store(self, bytes: *mut u8);
    /// Stores the register, or its XOR with the bytes.
    #[inline(always)]
    unsafe fn put<const XOR: bool>(self, bytes: *mut u8) {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { if XOR { self.xor(Self::load(bytes)) } else { self }.store(bytes) }
    }
    /// Interleaves the low words of both registers in each 128 bits.
    unsafe fn low32(self, other: Self) -> Self;
    /// Interleaves the high words of both registers in each 128 bits.
    unsafe fn high32(self, other: Self) -> Self;
    /// The low pairs of words of both registers in each 128 bits.
    unsafe fn low64(self, other: Self) -> Self;
    /// The high pairs of words of both registers in each 128 bits.
    unsafe fn high64(self, other: Self) -> Self;
}

/// Transposes the matrix of 4 × 4 words in each 128 bits of the four registers. The operation is its own inverse.
#[inline(always)]
unsafe fn transpose<R: TransposeRegister>([a, b, c, d]: [R; 4]) -> [R; 4] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let (ab_low, ab_high) = (a.low32(b), a.high32(b));
        let (cd_low, cd_high) = (c.low32(d), c.high32(d));
        [ab_low.low64(cd_low), ab_low.high64(cd_low), ab_high.low64(cd_high), ab_high.high64(cd_high)]
    }
}

/// Implements [`TransposeRegister`] for one register width.
macro_rules! rows {
    ($register:ty, $store:ident, $low32:ident, $high32:ident, $low64:ident, $high64:ident) => {
        impl TransposeRegister for $register {
            #[inline(always)]
            unsafe fn store(self, bytes: *mut u8) {
                // SAFETY: the caller guarantees the bytes and the instructions.
                unsafe { $store(bytes.cast(), self) }
            }
            register_methods! {
                fn low32(self, other) = $low32(self, other);
                fn high32(self, other) = $high32(self, other);
                fn low64(self, other) = $low64(self, other);
                fn high64(self, other) = $high64(self, other);
            }
        }
    };
}

rows!(
    __m256i,
    _mm256_storeu_si256,
    _mm256_unpacklo_epi32,
    _mm256_unpackhi_epi32,
    _mm256_unpacklo_epi64,
    _mm256_unpackhi_epi64
);
rows!(
    __m512i,
    _mm512_storeu_si512,
    _mm512_unpacklo_epi32,
    _mm512_unpackhi_epi32,
    _mm512_unpacklo_epi64,
    _mm512_unpackhi_epi64
);

impl WordRegister for __m256i {
    const WORDS: usize = 8;
    plain!(
        _mm256_loadu_si256,
        _mm256_set1_epi32,
        _mm256_broadcastsi128_si256,
        _mm256_xor_si256,
        _mm256_and_si256,
        _mm256_add_epi32,
        _mm256_sub_epi32,
        _mm256_shuffle_epi8
    );

    #[inline(always)]
    unsafe fn rotate_by<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: the caller guarantees AVX2.
        unsafe { _mm256_or_si256(_mm256_slli_epi32::<LEFT>(self), _mm256_srli_epi32::<RIGHT>(self)) }
    }

    /// The amounts are the low five bits of the rotated f.
    #[inline(always)]
    unsafe fn quadratic(self) -> (Self, Self) {
        // SAFETY: the caller guarantees AVX2.
        unsafe {
            let odd = _mm256_sub_epi32(_mm256_add_epi32(self, self), Self::splat(u32::MAX));
            let f = _mm256_mullo_epi32(self, odd);
            let amounts = _mm256_srli_epi32::<27>(f);
            (_mm256_or_si256(_mm256_slli_epi32::<5>(f), amounts), amounts)
        }
    }

    register_methods! {
        /// For an amount of zero, the shift by 32 gives zero, as required.
        fn rotate_left(self, amounts) = {
            let rest = _mm256_sub_epi32(Self::splat(32), amounts);
            _mm256_or_si256(_mm256_sllv_epi32(self, amounts), _mm256_srlv_epi32(self, rest))
        };
        fn rotate_right(self, amounts) = {
            let rest = _mm256_sub_epi32(Self::splat(32), amounts);
            _mm256_or_si256(_mm256_srlv_epi32(self, amounts), _mm256_sllv_epi32(self, rest))
        };
    }

    #[inline(always)]
    unsafe fn increment(low: Self, high: Self) -> [Self; 2] {
        // SAFETY: the caller guarantees AVX2.
        unsafe {
            let low = _mm256_sub_epi32(low, Self::splat(u32::MAX));
            // The comparison is −1 where there is a carry.
            let carry = _mm256_cmpeq_epi32(low, Self::splat(0));
            [low, _mm256_sub_epi32(high, carry)]
        }
    }

    /// Row `row` of the 128 bits with number `half` is read from pointer `2 row + half`, as in `load_blocks`.
    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [[Self; 4]; 4] {
        let pointers = &pointers[..8];
        // SAFETY: the caller guarantees 64 bytes at each pointer and for AVX2.
        unsafe {
            let mut vectors = [[Self::splat(0); 4]; 4];
            for pair in 0..2 {
                // Each half has blocks 2 pair and 2 pair + 1 of half of the pointers.
                let mut halves = [[Self::splat(0); 4]; 2];
                for half in 0..2 {
                    for row in 0..4 {
                        halves[half][row] = Self::load(pointers[2 * row + half].add(32 * pair));
                    }
                    halves[half] = transpose(halves[half]);
                }
                for word in 0..4 {
                    let (a, b) = (halves[0][word], halves[1][word]);
                    vectors[2 * pair][word] = _mm256_permute2x128_si256::<0x20>(a, b);
                    vectors[2 * pair + 1][word] = _mm256_permute2x128_si256::<0x31>(a, b);
                }
            }
            vectors
        }
    }

    #[inline(always)]
    unsafe fn scatter<const XOR: bool>(vectors: [[Self; 4]; 4], pointers: &[*mut u8]) {
        let pointers = &pointers[..8];
        // SAFETY: the caller guarantees 64 bytes at each pointer and for AVX2.
        unsafe {
            for pair in 0..2 {
                let mut halves = [[Self::splat(0); 4]; 2];
                for word in 0..4 {
                    let (a, b) = (vectors[2 * pair][word], vectors[2 * pair + 1][word]);
                    halves[0][word] = _mm256_permute2x128_si256::<0x20>(a, b);
                    halves[1][word] = _mm256_permute2x128_si256::<0x31>(a, b);
                }
                for half in 0..2 {
                    let rows = transpose(halves[half]);
                    for row in 0..4 {
                        rows[row].put::<XOR>(pointers[2 * row + half].add(32 * pair));
                    }
                }
            }
        }
    }
}

impl WordRegister for __m512i {
    const WORDS: usize = 16;
    plain!(
        _mm512_loadu_si512,
        _mm512_set1_epi32,
        _mm512_broadcast_i32x4,
        _mm512_xor_si512,
        _mm512_and_si512,
        _mm512_add_epi32,
        _mm512_sub_epi32,
        _mm512_shuffle_epi8
    );

    #[inline(always)]
    unsafe fn rotate_by<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: the caller guarantees AVX-512.
        unsafe { _mm512_rol_epi32::<LEFT>(self) }
    }

    /// The rotation instructions take amounts modulo 32.
    #[inline(always)]
    unsafe fn quadratic(self) -> (Self, Self) {
        // SAFETY: the caller guarantees AVX-512.
        unsafe {
            let odd = _mm512_sub_epi32(_mm512_add_epi32(self, self), Self::splat(u32::MAX));
            let rotated = _mm512_rol_epi32::<5>(_mm512_mullo_epi32(self, odd));
            (rotated, rotated)
        }
    }

    register_methods! {
        fn rotate_left(self, amounts) = _mm512_rolv_epi32(self, amounts);
        fn rotate_right(self, amounts) = _mm512_rorv_epi32(self, amounts);
    }

    #[inline(always)]
    unsafe fn increment(low: Self, high: Self) -> [Self; 2] {
        // SAFETY: the caller guarantees AVX-512.
        unsafe {
            let low = _mm512_add_epi32(low, Self::splat(1));
            let carry = _mm512_testn_epi32_mask(low, low);
            [low, _mm512_mask_add_epi32(high, carry, high, Self::splat(1))]
        }
    }

    /// Row `row` of the 128 bits with number `quarter` is read from pointer `4 row + quarter`, as in `load_blocks`.
    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [[Self; 4]; 4] {
        let pointers = &pointers[..16];
        // SAFETY: the caller guarantees 64 bytes at each pointer and for AVX-512.
        unsafe {
            let mut quarters = [[Self::splat(0); 4]; 4];
            for quarter in 0..4 {
                for row in 0..4 {
                    quarters[quarter][row] = Self::load(pointers[4 * row + quarter]);
                }
                quarters[quarter] = transpose(quarters[quarter]);
            }
            exchange(quarters)
        }
    }

    #[inline(always)]
    unsafe fn scatter<const XOR: bool>(vectors: [[Self; 4]; 4], pointers: &[*mut u8]) {
        let pointers = &pointers[..16];
        // SAFETY: the caller guarantees 64 bytes at each pointer and for AVX-512.
        unsafe {
            let quarters = exchange(vectors);
            for quarter in 0..4 {
                let rows = transpose(quarters[quarter]);
                for row in 0..4 {
                    rows[row].put::<XOR>(pointers[4 * row + quarter]);
                }
            }
        }
    }
}

/// Exchanges, for each word, quarter `i` of vector `j` with quarter `j` of vector `i`.
#[inline(always)]
unsafe fn exchange(x: [[__m512i; 4]; 4]) -> [[__m512i; 4]; 4] {
    let mut y = x;
    for word in 0..4 {
        // SAFETY: the caller guarantees AVX-512.
        let words = unsafe { transpose_quarters([x[0][word], x[1][word], x[2][word], x[3][word]]) };
        for vector in 0..4 {
            y[vector][word] = words[vector];
        }
    }
    y
}
