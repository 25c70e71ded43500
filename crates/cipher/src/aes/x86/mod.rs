//! AES with the instructions of x86-64: AES-NI on 128-bit registers, VAES on 256 and 512 bits.
//!
//! Written once over [`Register`]; `registers.rs` says what each width is made of. An AESENC takes three or four cycles
//! and one or two start in each, so eight registers have to be in flight.

// SAFETY notes in this folder rely on one fact: an engine value holds a token of `crate::cpu`, which exists only on a
// machine with the instructions.

use core::arch::x86_64::*;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Aes, Inner};
use crate::engine::{Direction, Engine, MAX_GROUPS, Meanwhile, Nothing, Operation};
use crate::{Block, cpu};

mod chain;
mod keys;
mod registers;

pub(crate) use keys::{Keys, expand_key};
use registers::Register;

const MAX_ROUNDS: usize = 14;

/// Round keys of `MAX_GROUPS` registers of lanes.
pub(crate) struct LaneKeys<R> {
    round_keys: [[R; MAX_GROUPS]; MAX_ROUNDS + 1],
    rounds: usize,
}

impl<R: Register> Zeroize for LaneKeys<R> {
    fn zeroize(&mut self) {
        let bytes = core::mem::size_of_val(&self.round_keys);
        // SAFETY: registers are plain bytes, any value of them is valid, and the slice covers exactly the array.
        unsafe { core::slice::from_raw_parts_mut(self.round_keys.as_mut_ptr().cast::<u8>(), bytes) }.zeroize();
        self.rounds = 0;
    }
}

/// Defines the engine of one register width. The flight (vectors in one operation) is as many as the register file
/// holds beside the keys.
macro_rules! engine {
    ($(#[$doc:meta])* $name:ident, $register:ty, $features:literal, $flight:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name(cpu::$name);

        impl $name {
            pub(crate) fn detect() -> Option<Self> {
                cpu::$name::detect().map(Self)
            }
        }

        impl Engine for $name {
            type Cipher = Aes;
            type Vector = $register;
            const SLOTS: usize = size_of::<$register>() / 16;
            type Keys = Keys;
            type LaneKeys = LaneKeys<$register>;

            #[inline(always)]
            fn keys_of(cipher: &Aes) -> Option<&Keys> {
                match &cipher.inner {
                    Inner::$name(_, keys) => Some(keys),
                    _ => None,
                }
            }

            #[inline(always)]
            fn rounds(keys: &Keys) -> usize {
                keys.rounds
            }

            #[inline]
            fn run<O: Operation<Aes>>(self, keys: &Keys, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<O: Operation<Aes>>(engine: $name, keys: &Keys, operation: O) -> O::Output {
                    operation.call::<$name, $flight>(engine, keys)
                }
                // SAFETY: the token in `self` proves that the machine has these features.
                unsafe { with_features(self, keys, operation) }
            }

            #[inline(always)]
            fn load(self, bytes: &[u8]) -> $register {
                assert_eq!(bytes.len(), size_of::<$register>());
                // SAFETY: token; the length was checked.
                unsafe { <$register>::load(bytes.as_ptr()) }
            }

            #[inline(always)]
            fn store(self, vector: $register, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), size_of::<$register>());
                // SAFETY: token; the length was checked.
                unsafe { vector.store(bytes.as_mut_ptr()) }
            }

            #[inline(always)]
            fn splat(self, block: &Block) -> $register {
                // SAFETY: token.
                unsafe { <$register>::splat(_mm_loadu_si128(block.as_ptr().cast())) }
            }

            #[inline(always)]
            fn xor(self, a: $register, b: $register) -> $register {
                // SAFETY: token.
                unsafe { a.xor(b) }
            }

            #[inline(always)]
            fn and(self, a: $register, b: $register) -> $register {
                // SAFETY: token.
                unsafe { a.and(b) }
            }

            #[inline(always)]
            fn reverse(self, a: $register) -> $register {
                // SAFETY: token.
                unsafe { a.reverse() }
            }

            #[inline(always)]
            fn add64(self, a: $register, b: $register) -> $register {
                // SAFETY: token.
                unsafe { a.add64(b) }
            }

            #[inline(always)]
            unsafe fn gather(self, pointers: &[*mut u8]) -> [$register; 4] {
                // SAFETY: token; the caller vouches for the pointers.
                unsafe { <$register>::gather(pointers) }
            }

            #[inline(always)]
            unsafe fn scatter(self, vectors: [$register; 4], pointers: &[*mut u8]) {
                // SAFETY: token; the caller vouches for the pointers.
                unsafe { <$register>::scatter(vectors, pointers) }
            }

            #[inline(always)]
            fn encrypt<const G: usize, const K: usize>(
                self,
                keys: &Keys,
                x: &mut [[$register; G]; K],
                meanwhile: &mut impl Meanwhile,
            ) {
                // SAFETY: token.
                unsafe { encrypt(keys, x, meanwhile) }
            }

            #[inline(always)]
            fn decrypt<const G: usize>(self, keys: &Keys, x: &mut [$register; G]) {
                // SAFETY: token.
                unsafe { decrypt(keys, x) }
            }

            #[inline(always)]
            fn encrypt_lanes<const G: usize, const K: usize>(
                self,
                keys: &Self::LaneKeys,
                x: &mut [[$register; G]; K],
                meanwhile: &mut impl Meanwhile,
            ) {
                // SAFETY: token.
                unsafe { encrypt(keys, x, meanwhile) }
            }

            #[inline(always)]
            fn lane_keys(self) -> Self::LaneKeys {
                // SAFETY: token.
                let zero = unsafe { <$register>::splat(_mm_setzero_si128()) };
                LaneKeys { round_keys: [[zero; MAX_GROUPS]; MAX_ROUNDS + 1], rounds: 0 }
            }

            #[inline(always)]
            fn set_lane_key(self, lane_keys: &mut Self::LaneKeys, lane: usize, keys: &Keys) {
                lane_keys.rounds = keys.rounds;
                let group = lane / Self::SLOTS;
                let slot = lane - group * Self::SLOTS;
                for round in 0..=keys.rounds {
                    let register = &mut lane_keys.round_keys[round][group];
                    // SAFETY: a register is `SLOTS` blocks of 16 bytes, and `slot < SLOTS`.
                    unsafe {
                        let block = core::ptr::from_mut(register).cast::<__m128i>().add(slot);
                        _mm_storeu_si128(block, keys.encryption(round));
                    }
                }
            }

            #[inline(always)]
            fn encrypt_block(self, keys: &Keys, block: &mut Block) {
                // SAFETY: token: AES-NI is part of every engine here.
                unsafe { chain::encrypt_block(keys, block) }
            }

            #[inline(always)]
            fn ccm_blocks(
                self,
                keys: &Keys,
                mac: &mut Block,
                counter: &mut Block,
                data: &mut [u8],
                direction: Direction,
            ) {
                // SAFETY: token.
                unsafe { chain::ccm_blocks::<$register>(keys, mac, counter, data, direction) }
            }

            #[inline(always)]
            fn cbc_encrypt_blocks(self, keys: &Keys, chain: &mut Block, data: &mut [u8]) {
                // SAFETY: token.
                unsafe { chain::cbc_encrypt_blocks(keys, chain, data) }
            }
        }
    };
}

engine!(
    /// One block a register.
    AesNi, __m128i, "aes,ssse3,sse4.1", 4
);
engine!(
    /// Two blocks a register.
    Vaes256, __m256i, "aes,ssse3,sse4.1,avx,avx2,vaes", 4
);
engine!(
    /// Four blocks a register, 32 registers.
    Vaes512, __m512i, "aes,ssse3,sse4.1,avx,avx2,vaes,avx512f,avx512bw,avx512dq,avx512vl", 8
);

/// Where a register's round keys come from.
trait RoundKeys<R> {
    fn rounds(&self) -> usize;
    /// The key of a round for register `group` of a row.
    ///
    /// # Safety
    /// The machine needs the instructions of `R`.
    unsafe fn round_key(&self, round: usize, group: usize) -> R;
}

impl<R: Register> RoundKeys<R> for Keys {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize, _: usize) -> R {
        // SAFETY: the caller vouches for the instructions.
        unsafe { R::splat(self.encryption(round)) }
    }
}

impl<R: Register> RoundKeys<R> for LaneKeys<R> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize, group: usize) -> R {
        self.round_keys[round][group]
    }
}

// Loops, not closures: a closure is a function of its own without the target features, and where the compiler does not
// inline it every instruction in it becomes a call.

/// `K` rows of `G` registers through all rounds.
///
/// # Safety
/// The machine needs the instructions of `R`.
#[inline(always)]
unsafe fn encrypt<R: Register, const G: usize, const K: usize>(
    keys: &impl RoundKeys<R>,
    x: &mut [[R; G]; K],
    meanwhile: &mut impl Meanwhile,
) {
    let rounds = keys.rounds();
    let mut y = *x;
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        for g in 0..G {
            let key = keys.round_key(0, g);
            for row in &mut y {
                row[g] = row[g].xor(key);
            }
        }
        for round in 1..rounds {
            for g in 0..G {
                let key = keys.round_key(round, g);
                for row in &mut y {
                    row[g] = row[g].encrypt_round(key);
                }
            }
            if round < 10 {
                meanwhile.round(round);
            }
        }
        for g in 0..G {
            let key = keys.round_key(rounds, g);
            for row in &mut y {
                row[g] = row[g].encrypt_last(key);
            }
        }
    }
    *x = y;
}

/// The equivalent inverse cipher (FIPS 197 section 5.3.5).
///
/// # Safety
/// The machine needs the instructions of `R`.
#[inline(always)]
unsafe fn decrypt<R: Register, const G: usize>(keys: &Keys, x: &mut [R; G]) {
    let mut y = *x;
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let key = R::splat(keys.decryption(0));
        for y in &mut y {
            *y = y.xor(key);
        }
        for round in 1..keys.rounds {
            let key = R::splat(keys.decryption(round));
            for y in &mut y {
                *y = y.decrypt_round(key);
            }
        }
        let key = R::splat(keys.decryption(keys.rounds));
        for y in &mut y {
            *y = y.decrypt_last(key);
        }
    }
    *x = y;
}
