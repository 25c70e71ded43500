//! What a backend provides: one small vector of blocks and the cipher on it.
//!
//! Modes and lanes are written once, over [`Engine`]. A vector holds `SLOTS` blocks, in whatever arrangement suits the
//! cipher; an engine encrypts several vectors at a time so that the latency of one never shows (flights). Every engine
//! value is a proof that the machine has the instructions: it is made from a token of [`crate::cpu`].
//!
//! All methods are `inline(always)`: they end up inside the one function per engine and operation that has the target
//! features enabled ([`Engine::run`]).
//!
//! The traits are `pub` because the sealed [`crate::BlockCipher`] names them; this module is private.

mod backends;
mod scalar;

pub(crate) use backends::backends;
pub(crate) use scalar::{scalar_ccm_vector, scalar_vector};

use core::any::{Any, TypeId};

use zeroize::Zeroize;

use crate::block::{Block, BlockBytes};

/// Blocks of a lane that [`Engine::gather`] reads at a time.
pub(crate) const STEP_BLOCKS: usize = 4;

/// Room for keys that an operation makes. On x86-64 their blocks are aligned in it: across the end of a page, they would be
/// read three times as slowly right after they were written.
#[repr(C, align(16))]
pub struct Room<K> {
    before: [u32; 2],
    pub(crate) keys: Option<K>,
}

impl<K> Room<K> {
    pub(crate) const EMPTY: Self = Room { before: [0; 2], keys: None };
}

/// A block cipher with a key and a backend: what the dispatch is over.
pub trait Core: Sized {
    type Block: BlockBytes;
    /// Runs an operation on this key's backend: the one dispatch of a batch.
    fn run<O: Operation<Self::Block>>(&self, operation: O) -> O::Output;
    /// The round keys, if `E` is this key's backend.
    fn keys_of<E: Engine>(&self) -> Option<&E::Keys>;
}

/// A cipher that CCM can be built on.
pub trait CcmCore: Core<Block = Block> {
    /// Like `run`, for what only 128-bit blocks can do.
    fn run_ccm<O: CcmOperation>(&self, operation: O) -> O::Output;
}

/// One backend of a cipher.
pub trait Engine: Copy + 'static {
    type Block: BlockBytes;
    /// `SLOTS` blocks side by side.
    type Vector: Copy;
    /// Blocks in a vector.
    const SLOTS: usize;
    /// The round keys of one key.
    type Keys: Clone + 'static;
    /// Round keys of a flight of lanes with a key each, slot by slot.
    type LaneKeys: Zeroize;

    /// The engine, if this machine has what it needs.
    fn detect() -> Option<Self>;
    /// Prepares a key of a length that the cipher has.
    fn expand_key(self, key: &[u8]) -> Self::Keys;
    /// Number of rounds. Only keys of the same number of rounds can share a vector.
    fn rounds(keys: &Self::Keys) -> usize;
    /// Runs `operation` in a function that has this engine's target features.
    fn run<O: Operation<Self::Block>>(self, keys: &Self::Keys, operation: O) -> O::Output;

    /// Reads a vector. Panics unless `bytes` is `SLOTS` blocks.
    fn load(self, bytes: &[u8]) -> Self::Vector;
    /// Writes a vector. Panics unless `bytes` is `SLOTS` blocks.
    fn store(self, vector: Self::Vector, bytes: &mut [u8]);
    /// All zero.
    fn zero(self) -> Self::Vector;
    /// Bitwise exclusive or.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// One block of a vector.
    fn slot(self, vector: &Self::Vector, slot: usize) -> Self::Block;
    /// Replaces one block of a vector.
    fn set_slot(self, vector: &mut Self::Vector, slot: usize, block: &Self::Block);
    /// The `N * SLOTS` blocks from `first` on; a block is a big-endian number, which wraps.
    fn counters<const N: usize>(self, first: &Self::Block) -> [Self::Vector; N];

    /// Reads `STEP_BLOCKS` blocks at each of `SLOTS` addresses; vector `j` holds block `j` of every address.
    ///
    /// # Safety
    /// `STEP_BLOCKS` blocks have to be readable at each of the first `SLOTS` pointers.
    unsafe fn gather(self, pointers: &[*mut u8]) -> [Self::Vector; STEP_BLOCKS];
    /// The inverse of `gather`.
    ///
    /// # Safety
    /// `STEP_BLOCKS` blocks have to be writable at each of the first `SLOTS` pointers.
    unsafe fn scatter(self, vectors: [Self::Vector; STEP_BLOCKS], pointers: &[*mut u8]);

    /// Encrypts `K` times `G` vectors under one key.
    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Self::Keys,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    );
    /// The keys for `decrypt`. Where they are not those for `encrypt`, each operation that decrypts makes them, in `room`.
    #[inline(always)]
    fn inverse_keys<'k>(self, keys: &'k Self::Keys, _room: &'k mut Room<Self::Keys>) -> &'k Self::Keys {
        keys
    }
    /// Decrypts `G` vectors under one key, given as its `inverse_keys`.
    fn decrypt<const G: usize>(self, keys: &Self::Keys, x: &mut [Self::Vector; G]);
    /// Encrypts `K` times `G` vectors; slot `s` of vector `g` has the key of lane `(first + g) * SLOTS + s`.
    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &Self::LaneKeys,
        first: usize,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    );

    /// Lane keys that are all zero.
    fn lane_keys(self) -> Self::LaneKeys;
    /// Gives a lane its key. All lanes in use have to have the same number of rounds.
    fn set_lane_key(self, lane_keys: &mut Self::LaneKeys, lane: usize, keys: &Self::Keys);

    /// Encrypts one block.
    fn encrypt_block(self, keys: &Self::Keys, block: &mut Self::Block);

    /// XORs a vector to `SLOTS` blocks, as CTR does. Worth its own code where reading and writing vectors takes work.
    #[inline(always)]
    fn add_to(self, vector: Self::Vector, bytes: &mut [u8]) {
        let sum = self.xor(vector, self.load(bytes));
        self.store(sum, bytes);
    }

    /// CTR from a counter block on, which wraps, in code of the backend's own. False: it has none, and nothing is done.
    #[inline(always)]
    fn ctr(self, _: &Self::Keys, _: &Self::Block, _: &mut [u8]) -> bool {
        false
    }

    /// CBC decryption of whole blocks, likewise.
    #[inline(always)]
    fn cbc_decrypt(self, _: &Self::Keys, _: &Self::Block, _: &mut [u8]) -> bool {
        false
    }

    /// CBC encryption of one message; `chain` is left at the last ciphertext block. Whole blocks.
    #[inline(always)]
    fn cbc_encrypt_blocks(self, keys: &Self::Keys, chain: &mut Self::Block, data: &mut [u8]) {
        for block in data.chunks_exact_mut(Self::Block::BYTES) {
            for (chain, byte) in chain.as_mut().iter_mut().zip(&*block) {
                *chain ^= byte;
            }
            self.encrypt_block(keys, chain);
            block.copy_from_slice(chain.as_ref());
        }
    }
}

/// A backend of a cipher with 128-bit blocks, with what the counters and masks of CCM need.
pub trait CcmEngine: Engine<Block = Block> {
    /// [`Engine::run`] for an operation that needs such an engine.
    fn run_ccm<O: CcmOperation>(self, keys: &Self::Keys, operation: O) -> O::Output;

    /// Bitwise and.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Reverses the 16 bytes of every slot.
    fn reverse(self, a: Self::Vector) -> Self::Vector;
    /// Adds one to the first eight bytes of every slot as a little-endian number modulo 2^64.
    fn increment(self, a: Self::Vector) -> Self::Vector;

    /// CCM over whole blocks of one message: the chain `mac` over the plaintext, the key stream from `counter`, a block
    /// in the counter's byte order, which is left at the next one. `data` is a whole number of blocks.
    fn ccm_blocks(
        self,
        keys: &Self::Keys,
        mac: &mut Block,
        counter: &mut Block,
        data: &mut [u8],
        direction: Direction,
    ) {
        for block in data.chunks_exact_mut(16) {
            let mut key_stream = *counter;
            self.encrypt_block(keys, &mut key_stream);
            increment(counter);
            if direction == Direction::Encrypt {
                xor_block(mac, block);
            }
            for (byte, key) in block.iter_mut().zip(key_stream) {
                *byte ^= key;
            }
            if direction == Direction::Decrypt {
                xor_block(mac, block);
            }
            self.encrypt_block(keys, mac);
        }
    }
}

/// The keys of engine `F`, if that is `E`. Decided when it is compiled.
#[inline(always)]
pub(crate) fn keys_if_same<F: Engine, E: Engine>(keys: &F::Keys) -> Option<&E::Keys> {
    let keys: &dyn Any = keys;
    if TypeId::of::<F>() == TypeId::of::<E>() { keys.downcast_ref() } else { None }
}

/// Other work to do between the rounds: the cipher leaves most of the processor's ports idle.
pub trait Meanwhile {
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
pub enum Direction {
    Encrypt,
    Decrypt,
}

/// Something that runs on an engine, with a number of vectors in flight that suits it. `BLOCKS` are the blocks of a
/// flight: `FLIGHT * SLOTS`.
pub trait Operation<B: BlockBytes> {
    type Output;
    /// Has to be `#[inline(always)]`.
    fn call<E: Engine<Block = B>, const FLIGHT: usize, const BLOCKS: usize>(
        self,
        engine: E,
        keys: &E::Keys,
    ) -> Self::Output;
}

/// An [`Operation`] on an engine with 128-bit blocks.
pub trait CcmOperation {
    type Output;
    /// Has to be `#[inline(always)]`.
    fn call<E: CcmEngine, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::Keys) -> Self::Output;
}

/// Overwrites vectors with zeros, in a way that the compiler does not take away.
#[inline(always)]
pub(crate) fn wipe<E: Engine>(engine: E, vectors: &mut [E::Vector]) {
    let zero = engine.zero();
    for vector in vectors {
        // SAFETY: a reference is valid for writes, and a vector needs no drop.
        unsafe { core::ptr::write_volatile(vector, zero) };
    }
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}

/// [`Engine::counters`] for any engine, one block after the other.
#[inline(always)]
pub(crate) fn counters<E: Engine, const N: usize>(engine: E, first: &E::Block) -> [E::Vector; N] {
    let mut vectors = [engine.zero(); N];
    let mut next = *first;
    for vector in &mut vectors {
        for slot in 0..E::SLOTS {
            engine.set_slot(vector, slot, &next);
            increment_by(next.as_mut(), 1);
        }
    }
    vectors
}

/// Adds to a big-endian number, which wraps.
#[inline(always)]
pub(crate) fn increment_by(number: &mut [u8], by: u64) {
    if let Ok(block) = <&mut Block>::try_from(&mut *number) {
        *block = u128::from_be_bytes(*block).wrapping_add(u128::from(by)).to_be_bytes();
        return;
    }
    let mut carry = by;
    for byte in number.iter_mut().rev() {
        if carry == 0 {
            break;
        }
        let (low, over) = byte.overflowing_add(carry as u8);
        *byte = low;
        carry = (carry >> 8) + u64::from(over);
    }
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
