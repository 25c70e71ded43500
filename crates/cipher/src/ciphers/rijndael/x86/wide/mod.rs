//! Blocks of 160, 192, 224 and 256 bits.
//!
//! AESENC has the ShiftRows of blocks with four columns. A permutation of the bytes before it turns this into the ShiftRows of wide
//! blocks (`shape.rs`); the round keys are not permuted. AESDEC and InvShiftRows work alike.
//!
//! | engine | a block | file |
//! |---|---|---|
//! | `aesni`, `vaes256` | columns 0 to 3 in one register, the others in a second ([`Halves`]) | `halves.rs` |
//! | `vaes512` | consecutive bytes, two or three blocks a register ([`Whole`]) | `whole.rs` |

use core::arch::x86_64::*;
use core::marker::PhantomData;

use super::keys::{KeyGenAssist, inverse_keys};
use super::registers::{AesRounds, BlockRegister};
use super::{LaneRoundKeys, MAX_GROUPS, RoundKeySource, decrypt, encrypt};
use crate::block::{BlockBytes, wipe};
use crate::ciphers::rijndael::expand;
use crate::ciphers::rijndael::keys::RoundKeys;
use crate::ciphers::rijndael::shape::{MAX_COLUMNS, MAX_ROUNDS};
use crate::cpu;
use crate::engine::{Engine, Interleave, KeyBuffer, NoInterleave, Operation, STEP_BLOCKS, counters};

mod halves;
mod whole;

use halves::Halves;
use whole::Whole;

/// A vector of wide blocks.
///
/// # Safety
/// The machine must have the vector's instructions for every method, and pointers must be valid for the bytes that a method names.
pub(crate) trait WideVector<B: BlockBytes>: AesRounds {
    const SLOTS: usize;
    /// Length of a round key in bytes: copies of the block, as many as fit, and zeros.
    const KEY_BYTES: usize;

    /// Reads `SLOTS` blocks.
    unsafe fn load(bytes: *const u8) -> Self;
    /// Writes `SLOTS` blocks.
    unsafe fn store(self, bytes: *mut u8);
    /// Reads a block into slot 0 and sets the other slots to zero.
    unsafe fn load_block(block: *const u8) -> Self;
    /// Writes slot 0.
    unsafe fn store_block(self, block: *mut u8);
    /// Reads a round key of `KEY_BYTES` bytes for all slots.
    unsafe fn round_key(bytes: *const u8) -> Self;
    /// One block.
    unsafe fn slot(&self, slot: usize) -> B;
    /// Replaces one block.
    unsafe fn set_slot(&mut self, slot: usize, block: &B);
    /// Blocks of consecutive big-endian numbers, starting with `first`. Their last four bytes must not overflow.
    unsafe fn consecutive<const N: usize>(first: &B) -> [Self; N];
    /// Reads four blocks at each of `SLOTS` addresses; vector `j` gets block `j` of each.
    unsafe fn gather(pointers: &[*mut u8]) -> [Self; STEP_BLOCKS];
    /// The inverse of `gather`.
    unsafe fn scatter(vectors: [Self; STEP_BLOCKS], pointers: &[*mut u8]);
}

/// The round keys of one key for blocks `B`.
struct WideRoundKeys<'a, B, const BYTES: usize>(&'a RoundKeys<[u8; BYTES]>, PhantomData<B>);

impl<B: BlockBytes, W: WideVector<B>, const BYTES: usize> RoundKeySource<W> for WideRoundKeys<'_, B, BYTES> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0.rounds()
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize, _: usize) -> W {
        const { assert!(BYTES == W::KEY_BYTES) };
        // SAFETY: the caller guarantees the instructions, and a round key has the `KEY_BYTES` bytes that the vector reads.
        unsafe { W::round_key(self.0.round_keys[round].as_ptr()) }
    }
}

/// Computes the round keys. `key` must have 16, 20, 24, 28 or 32 bytes.
#[target_feature(enable = "aes,sse4.1")]
fn expand_key<B: BlockBytes, const BYTES: usize>(key: &[u8]) -> RoundKeys<[u8; BYTES]> {
    let mut w = [[0; 4]; MAX_COLUMNS * (MAX_ROUNDS + 1)];
    // SAFETY: this function enables the instructions.
    let s_box = unsafe { KeyGenAssist::new() };
    let rounds = expand::expand_key(&s_box, B::BYTES / 4, key, &mut w);
    let mut round_keys = RoundKeys::<[u8; BYTES]>::ZERO;
    for (round_key, block) in round_keys.iter_mut().zip(w.as_flattened().chunks_exact(B::BYTES)) {
        for copy in round_key.chunks_exact_mut(B::BYTES) {
            copy.copy_from_slice(block);
        }
    }
    wipe(&mut w);
    RoundKeys::new(rounds, round_keys)
}

/// Defines the engine of one register width. `BLOCKS` is the number of blocks of a flight.
macro_rules! engine {
    ($(#[$doc:meta])* $name:ident, $vector:ty, $key_bytes:literal, $features:literal, $flight:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<B, const BLOCKS: usize>(cpu::$name, PhantomData<B>);

        impl<B: BlockBytes, const BLOCKS: usize> Engine for $name<B, BLOCKS> {
            type Block = B;
            type Vector = $vector;
            const SLOTS: usize = BLOCKS / $flight;
            type RoundKeys = RoundKeys<[u8; $key_bytes]>;
            type LaneRoundKeys = LaneRoundKeys<$vector>;

            fn detect() -> Option<Self> {
                cpu::$name::detect().map(|token| $name(token, PhantomData))
            }

            fn expand_key(self, key: &[u8]) -> Self::RoundKeys {
                // SAFETY: the token in `self` proves AES-NI and SSE4.1 at every width.
                unsafe { expand_key::<B, $key_bytes>(key) }
            }

            #[inline(always)]
            fn rounds(keys: &Self::RoundKeys) -> usize {
                keys.rounds()
            }

            #[inline]
            fn run<O: Operation<B>>(self, keys: &Self::RoundKeys, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<B: BlockBytes, const BLOCKS: usize, O: Operation<B>>(
                    engine: $name<B, BLOCKS>,
                    keys: &RoundKeys<[u8; $key_bytes]>,
                    operation: O,
                ) -> O::Output {
                    operation.call::<$name<B, BLOCKS>, $flight, BLOCKS>(engine, keys)
                }
                const { assert!(Self::SLOTS == <$vector as WideVector<B>>::SLOTS && BLOCKS == $flight * Self::SLOTS) };
                // SAFETY: the token in `self` proves that the machine has these features.
                unsafe { with_features(self, keys, operation) }
            }

            #[inline(always)]
            fn load(self, bytes: &[u8]) -> $vector {
                assert_eq!(bytes.len(), Self::SLOTS * B::BYTES);
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { <$vector as WideVector<B>>::load(bytes.as_ptr()) }
            }

            #[inline(always)]
            fn store(self, vector: $vector, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), Self::SLOTS * B::BYTES);
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { vector.store(bytes.as_mut_ptr()) }
            }

            #[inline(always)]
            fn zero(self) -> $vector {
                // SAFETY: the token in `self` proves the instructions, and the array has the bytes of a round key.
                unsafe { <$vector as WideVector<B>>::round_key([0; $key_bytes].as_ptr()) }
            }

            #[inline(always)]
            fn xor(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { a.xor(b) }
            }

            #[inline(always)]
            fn slot(self, vector: &$vector, slot: usize) -> B {
                assert!(slot < Self::SLOTS);
                // SAFETY: the token in `self` proves the instructions.
                unsafe { WideVector::slot(vector, slot) }
            }

            #[inline(always)]
            fn set_slot(self, vector: &mut $vector, slot: usize, block: &B) {
                assert!(slot < Self::SLOTS);
                // SAFETY: the token in `self` proves the instructions.
                unsafe { vector.set_slot(slot, block) }
            }

            #[inline(always)]
            fn counters<const N: usize>(self, first: &B) -> [$vector; N] {
                let mut low = [0; 4];
                low.copy_from_slice(&first.as_ref()[B::BYTES - 4..]);
                if u32::from_be_bytes(low).checked_add((N * Self::SLOTS) as u32).is_none() {
                    // A carry into the other bytes, once in 2^32 blocks.
                    return counters(self, first);
                }
                // SAFETY: the token in `self` proves the instructions.
                unsafe { WideVector::consecutive(first) }
            }

            #[inline(always)]
            unsafe fn gather(self, pointers: &[*mut u8]) -> [$vector; STEP_BLOCKS] {
                // SAFETY: the token in `self` proves the instructions, and the caller guarantees the bytes at the pointers.
                unsafe { WideVector::gather(pointers) }
            }

            #[inline(always)]
            unsafe fn scatter(self, vectors: [$vector; STEP_BLOCKS], pointers: &[*mut u8]) {
                // SAFETY: the token in `self` proves the instructions, and the caller guarantees the bytes at the pointers.
                unsafe { WideVector::scatter(vectors, pointers) }
            }

            #[inline(always)]
            fn encrypt<const G: usize, const K: usize>(
                self,
                keys: &Self::RoundKeys,
                x: &mut [[$vector; G]; K],
                between_rounds: &mut impl Interleave,
            ) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { encrypt(&WideRoundKeys::<B, $key_bytes>(keys, PhantomData), x, between_rounds) }
            }

            #[inline(always)]
            fn inverse_keys<'k>(self, keys: &'k Self::RoundKeys, buffer: &'k mut KeyBuffer<Self::RoundKeys>) -> &'k Self::RoundKeys {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { inverse_keys(keys, buffer) }
            }

            #[inline(always)]
            fn decrypt<const G: usize>(self, keys: &Self::RoundKeys, x: &mut [$vector; G]) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { decrypt(&WideRoundKeys::<B, $key_bytes>(keys, PhantomData), x) }
            }

            #[inline(always)]
            fn encrypt_lanes<const G: usize, const K: usize>(
                self,
                keys: &Self::LaneRoundKeys,
                first: usize,
                x: &mut [[$vector; G]; K],
                between_rounds: &mut impl Interleave,
            ) {
                assert!(first + G <= MAX_GROUPS);
                // SAFETY: the token in `self` proves the instructions.
                unsafe { encrypt(&(keys, first), x, between_rounds) }
            }

            #[inline(always)]
            fn zero_lane_keys(self) -> Self::LaneRoundKeys {
                LaneRoundKeys { round_keys: [[self.zero(); MAX_GROUPS]; MAX_ROUNDS + 1], rounds: 0, groups: 0 }
            }

            #[inline(always)]
            fn set_lane_key(self, lane_keys: &mut Self::LaneRoundKeys, lane: usize, keys: &Self::RoundKeys) {
                let group = lane / Self::SLOTS;
                let slot = lane - group * Self::SLOTS;
                lane_keys.begin(keys.rounds(), group);
                for (vectors, key) in lane_keys.round_keys.iter_mut().zip(&keys.round_keys[..=keys.rounds()]) {
                    let mut block = B::ZERO;
                    block.as_mut().copy_from_slice(&key[..B::BYTES]);
                    self.set_slot(&mut vectors[group], slot, &block);
                }
            }

            #[inline(always)]
            fn encrypt_block(self, keys: &Self::RoundKeys, block: &mut B) {
                let bytes = block.as_mut().as_mut_ptr();
                // SAFETY: the token in `self` proves the instructions, and `bytes` points to a block.
                unsafe {
                    let mut x = [[<$vector as WideVector<B>>::load_block(bytes)]];
                    self.encrypt(keys, &mut x, &mut NoInterleave);
                    x[0][0].store_block(bytes);
                }
            }

            #[inline(always)]
            fn cbc_encrypt_blocks(self, keys: &Self::RoundKeys, chain: &mut B, data: &mut [u8]) {
                // SAFETY: the token in `self` proves the instructions, and all addresses are those of blocks.
                unsafe {
                    let mut x = [[<$vector as WideVector<B>>::load_block(chain.as_ref().as_ptr())]];
                    for block in data.chunks_exact_mut(B::BYTES) {
                        x[0][0] = x[0][0].xor(<$vector as WideVector<B>>::load_block(block.as_ptr()));
                        self.encrypt(keys, &mut x, &mut NoInterleave);
                        x[0][0].store_block(block.as_mut_ptr());
                    }
                    x[0][0].store_block(chain.as_mut().as_mut_ptr());
                }
            }
        }
    };
}

engine!(
    /// The engine with 128-bit registers, one block a vector.
    AesNi, Halves<__m128i, B>, 32, "aes,ssse3,sse4.1", 4
);
engine!(
    /// The engine with 256-bit registers, two blocks a vector.
    Vaes256, Halves<__m256i, B>, 32, "aes,ssse3,sse4.1,avx,avx2,vaes", 4
);
engine!(
    /// The engine with 512-bit registers, two blocks a vector, or three of 160 bits.
    Vaes512, Whole<B>, 64, "aes,ssse3,sse4.1,avx,avx2,vaes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi", 8
);
