//! Registers of 1, 2 and 4 blocks, and their operations.

use core::arch::x86_64::*;

use crate::Block;
use crate::engine::{register_methods, transpose_quarters};

/// The operations of a vector of blocks that the rounds use.
///
/// # Safety
/// The machine must have the instructions of the vector's registers for every method.
pub trait AesRounds: Copy {
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn encrypt_round(self, round_key: Self) -> Self;
    unsafe fn encrypt_last(self, round_key: Self) -> Self;
    unsafe fn decrypt_round(self, round_key: Self) -> Self;
    unsafe fn decrypt_last(self, round_key: Self) -> Self;
}

/// A vector register of whole 128-bit blocks.
///
/// # Safety
/// The machine must have the register's instructions for every method, and pointers must be valid for the bytes that a method names.
pub trait BlockRegister: AesRounds {
    /// Number of blocks in the register.
    const SLOTS: usize;

    /// Reads `16 * SLOTS` bytes.
    unsafe fn load(bytes: *const u8) -> Self;
    /// Writes `16 * SLOTS` bytes.
    unsafe fn store(self, bytes: *mut u8);
    /// Copies the block to every slot.
    unsafe fn splat(block: __m128i) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn add64(self, other: Self) -> Self;
    /// Reverses the bytes of every slot.
    unsafe fn reverse(self) -> Self;
    /// A register of the first `SLOTS` blocks.
    unsafe fn collect(blocks: &[&Block]) -> Self;
    /// Reads 64 bytes at each of `SLOTS` addresses; register `j` gets block `j` of each.
    unsafe fn gather(pointers: &[*mut u8]) -> [Self; 4];
    /// The inverse of `gather`.
    unsafe fn scatter(registers: [Self; 4], pointers: &[*mut u8]);
}

/// Implements the rounds, which are single instructions at every width.
macro_rules! rounds {
    ($register:ty, $xor:ident, $enc:ident, $enclast:ident, $dec:ident, $declast:ident) => {
        impl AesRounds for $register {
            register_methods! {
                fn xor(self, other) = $xor(self, other);
                fn encrypt_round(self, round_key) = $enc(self, round_key);
                fn encrypt_last(self, round_key) = $enclast(self, round_key);
                fn decrypt_round(self, round_key) = $dec(self, round_key);
                fn decrypt_last(self, round_key) = $declast(self, round_key);
            }
        }
    };
}

rounds!(__m128i, _mm_xor_si128, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_aesdec_si128, _mm_aesdeclast_si128);
rounds!(
    __m256i,
    _mm256_xor_si256,
    _mm256_aesenc_epi128,
    _mm256_aesenclast_epi128,
    _mm256_aesdec_epi128,
    _mm256_aesdeclast_epi128
);
rounds!(
    __m512i,
    _mm512_xor_si512,
    _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128,
    _mm512_aesdec_epi128,
    _mm512_aesdeclast_epi128
);

/// Defines the other methods that are single instructions at every width.
macro_rules! plain {
    ($load:ident, $store:ident, $splat:expr, $and:ident, $add64:ident, $shuffle:ident) => {
        #[inline(always)]
        unsafe fn load(bytes: *const u8) -> Self {
            // SAFETY: the caller guarantees the bytes and the instructions; the load needs no alignment.
            unsafe { $load(bytes.cast()) }
        }
        #[inline(always)]
        unsafe fn store(self, bytes: *mut u8) {
            // SAFETY: the caller guarantees the bytes and the instructions; the store needs no alignment.
            unsafe { $store(bytes.cast(), self) }
        }
        #[inline(always)]
        unsafe fn splat(block: __m128i) -> Self {
            // SAFETY: the caller guarantees the instructions.
            #[allow(unused_unsafe)]
            unsafe {
                $splat(block)
            }
        }
        register_methods! {
            fn and(self, other) = $and(self, other);
            fn add64(self, other) = $add64(self, other);
            fn reverse(self) = {
                let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                $shuffle(self, Self::splat(order))
            };
        }
    };
}

impl BlockRegister for __m128i {
    const SLOTS: usize = 1;
    plain!(_mm_loadu_si128, _mm_storeu_si128, |block| block, _mm_and_si128, _mm_add_epi64, _mm_shuffle_epi8);

    #[inline(always)]
    unsafe fn collect(blocks: &[&Block]) -> Self {
        // SAFETY: the caller guarantees the instructions; a block has 16 bytes.
        unsafe { Self::load(blocks[0].as_ptr()) }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [Self; 4] {
        // SAFETY: the caller guarantees 64 bytes at the pointer.
        unsafe {
            let bytes = pointers[0];
            [Self::load(bytes), Self::load(bytes.add(16)), Self::load(bytes.add(32)), Self::load(bytes.add(48))]
        }
    }

    #[inline(always)]
    unsafe fn scatter(registers: [Self; 4], pointers: &[*mut u8]) {
        let [r0, r1, r2, r3] = registers;
        // SAFETY: the caller guarantees 64 bytes at the pointer.
        unsafe {
            let bytes = pointers[0];
            r0.store(bytes);
            r1.store(bytes.add(16));
            r2.store(bytes.add(32));
            r3.store(bytes.add(48));
        }
    }
}

impl BlockRegister for __m256i {
    const SLOTS: usize = 2;
    plain!(
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_broadcastsi128_si256,
        _mm256_and_si256,
        _mm256_add_epi64,
        _mm256_shuffle_epi8
    );

    #[inline(always)]
    unsafe fn collect(blocks: &[&Block]) -> Self {
        // SAFETY: the caller guarantees AVX2; a block has 16 bytes.
        unsafe { _mm256_loadu2_m128i(blocks[1].as_ptr().cast(), blocks[0].as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [Self; 4] {
        // SAFETY: the caller guarantees 64 bytes at each pointer and for AVX2.
        unsafe {
            let [a, b] = [pointers[0], pointers[1]];
            let [a0, a2] = [Self::load(a), Self::load(a.add(32))];
            let [b0, b2] = [Self::load(b), Self::load(b.add(32))];
            [
                _mm256_permute2x128_si256::<0x20>(a0, b0),
                _mm256_permute2x128_si256::<0x31>(a0, b0),
                _mm256_permute2x128_si256::<0x20>(a2, b2),
                _mm256_permute2x128_si256::<0x31>(a2, b2),
            ]
        }
    }

    #[inline(always)]
    unsafe fn scatter([r0, r1, r2, r3]: [Self; 4], pointers: &[*mut u8]) {
        // SAFETY: the caller guarantees 64 bytes at each pointer and for AVX2.
        unsafe {
            let [a, b] = [pointers[0], pointers[1]];
            _mm256_permute2x128_si256::<0x20>(r0, r1).store(a);
            _mm256_permute2x128_si256::<0x20>(r2, r3).store(a.add(32));
            _mm256_permute2x128_si256::<0x31>(r0, r1).store(b);
            _mm256_permute2x128_si256::<0x31>(r2, r3).store(b.add(32));
        }
    }
}

impl BlockRegister for __m512i {
    const SLOTS: usize = 4;
    plain!(
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_broadcast_i32x4,
        _mm512_and_si512,
        _mm512_add_epi64,
        _mm512_shuffle_epi8
    );

    #[inline(always)]
    unsafe fn collect(blocks: &[&Block]) -> Self {
        // SAFETY: the caller guarantees AVX-512.
        unsafe {
            let [low, high] = [__m256i::collect(blocks), __m256i::collect(&blocks[2..])];
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [Self; 4] {
        // SAFETY: the caller guarantees 64 bytes at each pointer and for AVX-512.
        unsafe {
            transpose_quarters([
                Self::load(pointers[0]),
                Self::load(pointers[1]),
                Self::load(pointers[2]),
                Self::load(pointers[3]),
            ])
        }
    }

    #[inline(always)]
    unsafe fn scatter(registers: [Self; 4], pointers: &[*mut u8]) {
        // SAFETY: the caller guarantees 64 bytes at each pointer and for AVX-512.
        unsafe {
            let [a, b, c, d] = transpose_quarters(registers);
            a.store(pointers[0]);
            b.store(pointers[1]);
            c.store(pointers[2]);
            d.store(pointers[3]);
        }
    }
}
