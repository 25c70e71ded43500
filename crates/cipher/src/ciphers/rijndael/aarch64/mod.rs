//! Rijndael with the AES instructions of aarch64, on 128-bit registers.
//!
//! AESE adds the round key first, then does SubBytes and ShiftRows; AESMC is MixColumns. So the byte permutation that larger blocks
//! need before AESE (`vector.rs`) is applied to the round keys too.

// The SAFETY notes in this folder rely on one fact: an engine value holds a token of `crate::cpu`, which exists only on a machine with
// the AES instructions. Loads and stores need no alignment.

use core::marker::PhantomData;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::expand::{self, SubWord};
use super::shape::{MAX_COLUMNS, MAX_ROUNDS};
use crate::block::{self, Block, BlockBytes};
use crate::cpu;
use crate::engine::{
    CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, KeyBuffer, NoInterleave, Operation, STEP_BLOCKS,
    counters, increment, xor_block,
};

mod vector;

use vector::Vector;
pub(super) use vector::{OneRegister, TwoRegisters};

/// Largest number of lanes with a key each.
const MAX_GROUPS: usize = 8;

/// The round keys of one key, in order of use. All except the last are permuted for AESE or AESD.
#[derive(Clone)]
pub struct RoundKeys<V: Vector> {
    round_keys: [V; MAX_ROUNDS + 1],
    rounds: usize,
}

/// The round keys of `MAX_GROUPS` lanes, permuted as those of one key.
pub struct LaneRoundKeys<V: Vector> {
    round_keys: [[V; MAX_GROUPS]; MAX_ROUNDS + 1],
    rounds: usize,
}

fn wipe<V: Vector>(vectors: &mut [V]) {
    let blocks = vectors.as_mut_ptr().cast::<Block>();
    // SAFETY: a vector is registers of 16 bytes, in which any value is valid. The slice covers exactly these; blocks have alignment 1.
    block::wipe(unsafe { core::slice::from_raw_parts_mut(blocks, core::mem::size_of_val(vectors) / 16) });
}

impl<V: Vector> Drop for RoundKeys<V> {
    fn drop(&mut self) {
        wipe(&mut self.round_keys);
    }
}

impl<V: Vector> ZeroizeOnDrop for RoundKeys<V> {}

impl<V: Vector> Zeroize for LaneRoundKeys<V> {
    fn zeroize(&mut self) {
        wipe(self.round_keys.as_flattened_mut());
        self.rounds = 0;
    }
}

/// SubWord by AESE with a zero key on a word in every column: ShiftRows does not change these.
struct Aese(());

impl SubWord for Aese {
    #[inline(always)]
    fn sub_word(&self, word: u32) -> u32 {
        // SAFETY: only `expand_key` creates the value, and it enables the AES instructions.
        unsafe { vector::sub_word(word) }
    }
}

/// Computes the round keys. `key` must have 16, 20, 24, 28 or 32 bytes.
#[target_feature(enable = "aes")]
fn expand_key<V: Vector>(key: &[u8]) -> RoundKeys<V> {
    let block_bytes = V::Block::BYTES;
    let mut w = [[0; 4]; MAX_COLUMNS * (MAX_ROUNDS + 1)];
    let rounds = expand::expand_key(&Aese(()), block_bytes / 4, key, &mut w);
    // SAFETY: this function enables the AES instructions, and each chunk has the length of a block.
    unsafe {
        let mut round_keys = [V::zero(); MAX_ROUNDS + 1];
        for (round, block) in w.as_flattened().chunks_exact(block_bytes).take(rounds + 1).enumerate() {
            let round_key = V::load(block.as_ptr());
            round_keys[round] = if round == rounds { round_key } else { round_key.arrange() };
        }
        block::wipe(&mut w);
        RoundKeys { round_keys, rounds }
    }
}

/// The round keys of the equivalent inverse cipher (FIPS 197 section 5.3.5).
///
/// # Safety
/// The machine must have the AES instructions.
#[inline(always)]
unsafe fn inverse_keys<'k, V: Vector>(
    keys: &RoundKeys<V>,
    buffer: &'k mut KeyBuffer<RoundKeys<V>>,
) -> &'k RoundKeys<V> {
    let rounds = keys.rounds;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let inverse = buffer.keys.insert(RoundKeys { round_keys: [V::zero(); MAX_ROUNDS + 1], rounds });
        inverse.round_keys[0] = keys.round_keys[rounds].arrange_inverse();
        for round in 1..rounds {
            let round_key = keys.round_keys[rounds - round].undo_arrange();
            inverse.round_keys[round] = round_key.inverse_mix_columns().arrange_inverse();
        }
        inverse.round_keys[rounds] = keys.round_keys[0].undo_arrange();
        inverse
    }
}

/// A source of round keys.
trait RoundKeySource<V> {
    fn rounds(&self) -> usize;
    /// The round key for vector `group` of a row.
    fn round_key(&self, round: usize, group: usize) -> V;
}

impl<V: Vector> RoundKeySource<V> for RoundKeys<V> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    fn round_key(&self, round: usize, _: usize) -> V {
        self.round_keys[round]
    }
}

/// The round keys of all lanes, and the group that is vector 0 of a row.
impl<V: Vector> RoundKeySource<V> for (&LaneRoundKeys<V>, usize) {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0.rounds
    }

    #[inline(always)]
    fn round_key(&self, round: usize, group: usize) -> V {
        self.0.round_keys[round][self.1 + group]
    }
}

/// Encrypts `K` rows of `G` vectors.
///
/// # Safety
/// The machine must have the AES instructions.
#[inline(always)]
unsafe fn encrypt<V: Vector, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<V>,
    x: &mut [[V; G]; K],
    between_rounds: &mut impl Interleave,
) {
    let rounds = keys.rounds();
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for round in 1..rounds {
            for g in 0..G {
                let key = keys.round_key(round - 1, g);
                for row in &mut y {
                    row[g] = row[g].encrypt_round(key);
                }
            }
            if round < 10 {
                between_rounds.run_part(round);
            }
        }
        for g in 0..G {
            let (key, last) = (keys.round_key(rounds - 1, g), keys.round_key(rounds, g));
            for row in &mut y {
                row[g] = row[g].encrypt_last(key, last);
            }
        }
    }
    *x = y;
}

/// Decrypts with the equivalent inverse cipher and its round keys.
///
/// # Safety
/// The machine must have the AES instructions.
#[inline(always)]
unsafe fn decrypt<V: Vector, const G: usize>(keys: &RoundKeys<V>, x: &mut [V; G]) {
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for round in 1..keys.rounds {
            let key = keys.round_keys[round - 1];
            for y in &mut y {
                *y = y.decrypt_round(key);
            }
        }
        let (key, last) = (keys.round_keys[keys.rounds - 1], keys.round_keys[keys.rounds]);
        for y in &mut y {
            *y = y.decrypt_last(key, last);
        }
    }
    *x = y;
}

/// The engine. A vector has one block; a flight has `FLIGHT` vectors.
#[derive(Clone, Copy)]
pub struct ArmAes<V, const FLIGHT: usize>(cpu::ArmAes, PhantomData<V>);

impl<V: Vector, const FLIGHT: usize> Engine for ArmAes<V, FLIGHT> {
    type Block = V::Block;
    type Vector = V;
    const SLOTS: usize = 1;
    type RoundKeys = RoundKeys<V>;
    type LaneRoundKeys = LaneRoundKeys<V>;

    fn detect() -> Option<Self> {
        cpu::ArmAes::detect().map(|token| ArmAes(token, PhantomData))
    }

    fn expand_key(self, key: &[u8]) -> RoundKeys<V> {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { expand_key(key) }
    }

    #[inline(always)]
    fn rounds(keys: &RoundKeys<V>) -> usize {
        keys.rounds
    }

    #[inline]
    fn run<O: Operation<V::Block>>(self, keys: &RoundKeys<V>, operation: O) -> O::Output {
        #[target_feature(enable = "aes")]
        fn with_features<V: Vector, const FLIGHT: usize, O: Operation<V::Block>>(
            engine: ArmAes<V, FLIGHT>,
            keys: &RoundKeys<V>,
            operation: O,
        ) -> O::Output {
            operation.call::<ArmAes<V, FLIGHT>, FLIGHT, FLIGHT>(engine, keys)
        }
        const { assert!(FLIGHT <= MAX_GROUPS) };
        // SAFETY: the token in `self` proves that the machine has these features.
        unsafe { with_features(self, keys, operation) }
    }

    #[inline(always)]
    fn load(self, bytes: &[u8]) -> V {
        assert_eq!(bytes.len(), V::Block::BYTES);
        // SAFETY: the token in `self` proves the AES instructions, and the length was checked.
        unsafe { V::load(bytes.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, vector: V, bytes: &mut [u8]) {
        assert_eq!(bytes.len(), V::Block::BYTES);
        // SAFETY: the token in `self` proves the AES instructions, and the length was checked.
        unsafe { vector.store(bytes.as_mut_ptr()) }
    }

    #[inline(always)]
    fn zero(self) -> V {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { V::zero() }
    }

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { a.xor(b) }
    }

    #[inline(always)]
    fn slot(self, vector: &V, _: usize) -> V::Block {
        let mut block = V::Block::ZERO;
        self.store(*vector, block.as_mut());
        block
    }

    #[inline(always)]
    fn set_slot(self, vector: &mut V, _: usize, block: &V::Block) {
        *vector = self.load(block.as_ref());
    }

    #[inline(always)]
    fn counters<const N: usize>(self, first: &V::Block) -> [V; N] {
        counters(self, first)
    }

    #[inline(always)]
    unsafe fn gather(self, pointers: &[*mut u8]) -> [V; STEP_BLOCKS] {
        let mut vectors = [self.zero(); STEP_BLOCKS];
        for (j, vector) in vectors.iter_mut().enumerate() {
            // SAFETY: the token in `self` proves the AES instructions, and the caller guarantees that `STEP_BLOCKS` blocks are readable.
            *vector = unsafe { V::load(pointers[0].add(j * V::Block::BYTES)) };
        }
        vectors
    }

    #[inline(always)]
    unsafe fn scatter(self, vectors: [V; STEP_BLOCKS], pointers: &[*mut u8]) {
        for (j, vector) in vectors.into_iter().enumerate() {
            // SAFETY: the token in `self` proves the AES instructions, and the caller guarantees that `STEP_BLOCKS` blocks are writable.
            unsafe { vector.store(pointers[0].add(j * V::Block::BYTES)) };
        }
    }

    #[inline(always)]
    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &RoundKeys<V>,
        x: &mut [[V; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { encrypt(keys, x, between_rounds) }
    }

    #[inline(always)]
    fn inverse_keys<'k>(self, keys: &'k RoundKeys<V>, buffer: &'k mut KeyBuffer<RoundKeys<V>>) -> &'k RoundKeys<V> {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { inverse_keys(keys, buffer) }
    }

    #[inline(always)]
    fn decrypt<const G: usize>(self, keys: &RoundKeys<V>, x: &mut [V; G]) {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { decrypt(keys, x) }
    }

    #[inline(always)]
    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &LaneRoundKeys<V>,
        first: usize,
        x: &mut [[V; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        assert!(first + G <= MAX_GROUPS);
        // SAFETY: the token in `self` proves the instructions.
        unsafe { encrypt(&(keys, first), x, between_rounds) }
    }

    #[inline(always)]
    fn zero_lane_keys(self) -> LaneRoundKeys<V> {
        LaneRoundKeys { round_keys: [[self.zero(); MAX_GROUPS]; MAX_ROUNDS + 1], rounds: 0 }
    }

    #[inline(always)]
    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys<V>, lane: usize, keys: &RoundKeys<V>) {
        lane_keys.rounds = keys.rounds;
        for (row, key) in lane_keys.round_keys.iter_mut().zip(&keys.round_keys[..=keys.rounds]) {
            row[lane] = *key;
        }
    }

    #[inline(always)]
    fn encrypt_block(self, keys: &RoundKeys<V>, block: &mut V::Block) {
        let mut x = [[self.load(block.as_ref())]];
        self.encrypt(keys, &mut x, &mut NoInterleave);
        self.store(x[0][0], block.as_mut());
    }

    #[inline(always)]
    fn cbc_encrypt_blocks(self, keys: &RoundKeys<V>, chain: &mut V::Block, data: &mut [u8]) {
        let mut x = [[self.load(chain.as_ref())]];
        for block in data.chunks_exact_mut(V::Block::BYTES) {
            x[0][0] = self.xor(x[0][0], self.load(block));
            self.encrypt(keys, &mut x, &mut NoInterleave);
            self.store(x[0][0], block);
        }
        self.store(x[0][0], chain.as_mut());
    }
}

impl<const FLIGHT: usize> CcmEngine for ArmAes<OneRegister, FLIGHT> {
    #[inline]
    fn run_ccm<O: CcmOperation>(self, keys: &RoundKeys<OneRegister>, operation: O) -> O::Output {
        #[target_feature(enable = "aes")]
        fn with_features<const FLIGHT: usize, O: CcmOperation>(
            engine: ArmAes<OneRegister, FLIGHT>,
            keys: &RoundKeys<OneRegister>,
            operation: O,
        ) -> O::Output {
            operation.call::<ArmAes<OneRegister, FLIGHT>, FLIGHT, FLIGHT>(engine, keys)
        }
        // SAFETY: the token in `self` proves that the machine has these features.
        unsafe { with_features(self, keys, operation) }
    }

    #[inline(always)]
    fn and(self, a: OneRegister, b: OneRegister) -> OneRegister {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { a.and(b) }
    }

    #[inline(always)]
    fn reverse(self, a: OneRegister) -> OneRegister {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { a.reverse() }
    }

    #[inline(always)]
    fn increment(self, a: OneRegister) -> OneRegister {
        // SAFETY: the token in `self` proves the instructions.
        unsafe { a.increment() }
    }

    /// The chain over a block is encrypted together with the counter of the next block.
    #[inline(always)]
    fn ccm_blocks(
        self,
        keys: &RoundKeys<OneRegister>,
        mac: &mut Block,
        counter: &mut Block,
        data: &mut [u8],
        direction: CipherDirection,
    ) {
        for (index, block) in data.chunks_exact_mut(16).enumerate() {
            let mut key_stream = *counter;
            increment(counter);
            if index == 0 {
                self.encrypt_block(keys, &mut key_stream);
            } else {
                let mut x = [[self.load(&key_stream), self.load(mac)]];
                self.encrypt(keys, &mut x, &mut NoInterleave);
                self.store(x[0][0], &mut key_stream);
                self.store(x[0][1], mac);
            }
            if direction == CipherDirection::Encrypt {
                xor_block(mac, block);
            }
            for (byte, key) in block.iter_mut().zip(key_stream) {
                *byte ^= key;
            }
            if direction == CipherDirection::Decrypt {
                xor_block(mac, block);
            }
            key_stream.zeroize();
        }
        if !data.is_empty() {
            self.encrypt_block(keys, mac);
        }
    }
}
