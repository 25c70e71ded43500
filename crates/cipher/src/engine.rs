//! What a backend provides: one small vector of blocks and the cipher on it.
//!
//! Modes and lanes are written once, over [`Engine`]. A vector holds `SLOTS` blocks; an engine encrypts several vectors
//! at a time so that the latency of one never shows (flights). Every engine value is a proof that the machine has
//! the instructions: it is made from a token of [`crate::cpu`].
//!
//! All methods are `inline(always)`: they end up inside the one function per engine and operation that has the target
//! features enabled ([`Engine::run`]).

mod scalar;

pub(crate) use scalar::scalar_vector;
use zeroize::Zeroize;

use crate::Block;

/// Vectors of one kind of key that a lane kernel keeps in flight, at most.
pub(crate) const MAX_GROUPS: usize = 8;

/// Most blocks in a vector.
pub(crate) const MAX_SLOTS: usize = 8;

/// 0, 1, 2, … in the first eight bytes of the slots, little-endian.
pub(crate) const SLOT_NUMBERS: [Block; MAX_SLOTS] = {
    let mut numbers = [[0; 16]; MAX_SLOTS];
    let mut slot = 0;
    while slot < MAX_SLOTS {
        numbers[slot][0] = slot as u8;
        slot += 1;
    }
    numbers
};

/// One backend of a cipher with 128-bit blocks.
pub(crate) trait Engine: Copy {
    /// The cipher that this is a backend of.
    type Cipher;
    /// `SLOTS` blocks side by side.
    type Vector: Copy;
    /// Blocks in a vector.
    const SLOTS: usize;
    /// The round keys of one key.
    type Keys;
    /// Round keys of `MAX_GROUPS * SLOTS` lanes with a key each, slot by slot.
    type LaneKeys: Zeroize;

    /// The round keys of a cipher value that uses this backend; `None` for another backend.
    fn keys_of(cipher: &Self::Cipher) -> Option<&Self::Keys>;
    /// Number of rounds. Only keys of the same number of rounds can share a vector.
    fn rounds(keys: &Self::Keys) -> usize;
    /// Runs `operation` in a function that has this engine's target features.
    fn run<O: Operation<Self::Cipher>>(self, keys: &Self::Keys, operation: O) -> O::Output;

    /// Reads a vector. Panics unless `bytes` has `16 * SLOTS` bytes.
    fn load(self, bytes: &[u8]) -> Self::Vector;
    /// Writes a vector. Panics unless `bytes` has `16 * SLOTS` bytes.
    fn store(self, vector: Self::Vector, bytes: &mut [u8]);
    /// The same block in every slot.
    fn splat(self, block: &Block) -> Self::Vector;
    /// Bitwise exclusive or.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Bitwise and.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Reverses the 16 bytes of every slot.
    fn reverse(self, a: Self::Vector) -> Self::Vector;
    /// Adds the first eight bytes of the slots as little-endian numbers modulo 2^64; the other eight bytes likewise.
    fn add64(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Reads 64 bytes at each of `SLOTS` addresses; vector `j` holds block `j` of every address.
    ///
    /// # Safety
    /// 64 bytes have to be readable at each of the first `SLOTS` pointers.
    unsafe fn gather(self, pointers: &[*mut u8]) -> [Self::Vector; 4];
    /// The inverse of `gather`.
    ///
    /// # Safety
    /// 64 bytes have to be writable at each of the first `SLOTS` pointers.
    unsafe fn scatter(self, vectors: [Self::Vector; 4], pointers: &[*mut u8]);

    /// Encrypts `K` times `G` vectors under one key.
    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Self::Keys,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    );
    /// Decrypts `G` vectors under one key.
    fn decrypt<const G: usize>(self, keys: &Self::Keys, x: &mut [Self::Vector; G]);
    /// Encrypts `K` times `G` vectors; slot `s` of vector `g` has the key of lane `g * SLOTS + s`.
    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &Self::LaneKeys,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    );

    /// Lane keys that are all zero.
    fn lane_keys(self) -> Self::LaneKeys;
    /// Gives a lane its key. All lanes in use have to have the same number of rounds.
    fn set_lane_key(self, lane_keys: &mut Self::LaneKeys, lane: usize, keys: &Self::Keys);

    /// Encrypts one block.
    fn encrypt_block(self, keys: &Self::Keys, block: &mut Block);

    /// CCM over whole blocks of one message: the chain `mac` over the plaintext, the key stream from `counter`, a block
    /// in the counter's byte order, which is left at the next one. `data` is a whole number of blocks.
    fn ccm_blocks(self, keys: &Self::Keys, mac: &mut Block, counter: &mut Block, data: &mut [u8], direction: Direction);

    /// CBC encryption of one message; `chain` is left at the last ciphertext block. Whole blocks.
    fn cbc_encrypt_blocks(self, keys: &Self::Keys, chain: &mut Block, data: &mut [u8]);
}

/// Other work to do between the rounds: the cipher leaves most of the processor's ports idle.
pub(crate) trait Meanwhile {
    /// Called once for each of the rounds 1 to 9, in order. Has to be `#[inline(always)]`.
    fn round(&mut self, round: usize);
}

/// No other work.
pub(crate) struct Nothing;

impl Meanwhile for Nothing {
    #[inline(always)]
    fn round(&mut self, _: usize) {}
}

/// Which way an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// Something that runs on an engine, with a number of vectors in flight that suits it.
pub(crate) trait Operation<C> {
    type Output;
    /// Has to be `#[inline(always)]`.
    fn call<E: Engine<Cipher = C>, const FLIGHT: usize>(self, engine: E, keys: &E::Keys) -> Self::Output;
}

/// Adds one to the last eight bytes, big-endian: enough for CCM, whose counter field is never longer.
#[inline(always)]
pub(crate) fn increment(counter: &mut Block) {
    let (_, low) = counter.split_at_mut(8);
    let mut word = [0; 8];
    word.copy_from_slice(low);
    low.copy_from_slice(&u64::from_be_bytes(word).wrapping_add(1).to_be_bytes());
}

/// `a ^= b`; `b` may be the beginning of a block, the rest of which is zero.
#[inline(always)]
pub(crate) fn xor_block(a: &mut Block, b: &[u8]) {
    let mut padded = [0; 16];
    match <&Block>::try_from(b) {
        Ok(whole) => padded = *whole,
        Err(_) => padded[..b.len()].copy_from_slice(b),
    }
    *a = (u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(padded)).to_ne_bytes();
}
