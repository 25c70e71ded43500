//! The interface of a backend: a small vector of blocks, and the cipher on such vectors.
//!
//! Modes and lanes are written once, over [`Engine`]. A vector holds `SLOTS` blocks in an arrangement that the engine chooses. An
//! engine encrypts several vectors at a time (a flight), whose rounds overlap to hide the latency of the instructions. Every engine
//! value is a proof that the machine has the instructions: it is constructed from a token of [`crate::cpu`].
//!
//! All methods are `inline(always)`: they are inlined into [`Engine::run`], the one function per engine and operation that enables
//! the target features.
//!
//! The traits are `pub` because the sealed [`crate::BlockCipher`] names them; this module is private.

mod backends;
#[cfg(feature = "lanes")]
mod memory;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod register;
mod scalar;

pub(crate) use backends::backends;
#[cfg(feature = "lanes")]
pub(crate) use memory::{LaneMemory, with_lane_memory};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use register::register_methods;
#[cfg(target_arch = "x86_64")]
pub(crate) use register::transpose_quarters;
pub(crate) use scalar::{scalar_ccm_vector, scalar_vector};

use core::any::{Any, TypeId};

use zeroize::Zeroize;

use crate::block::{Block, BlockBytes};

/// Number of blocks of a lane that [`Engine::gather`] reads at a time.
pub(crate) const STEP_BLOCKS: usize = 4;

/// A buffer for round keys that an operation computes. On x86-64 it aligns them to 16 bytes: reading a round key that was just written
/// takes three times as long if it crosses the end of a page.
#[repr(C, align(16))]
pub struct KeyBuffer<K> {
    before: [u32; 2],
    pub(crate) keys: Option<K>,
}

impl<K> KeyBuffer<K> {
    pub(crate) const EMPTY: Self = KeyBuffer { before: [0; 2], keys: None };
}

/// A block cipher with a key and a backend, over which operations are dispatched.
pub trait Core: Sized {
    type Block: BlockBytes;
    /// Runs an operation on this key's backend. A batch dispatches once.
    fn run<O: Operation<Self::Block>>(&self, operation: O) -> O::Output;
    /// The round keys, or `None` if `E` is not this key's backend.
    fn round_keys<E: Engine>(&self) -> Option<&E::RoundKeys>;
}

/// A cipher with 128-bit blocks, which CCM needs.
pub trait CcmCore: Core<Block = Block> {
    /// [`Core::run`] for an operation that needs 128-bit blocks.
    fn run_ccm<O: CcmOperation>(&self, operation: O) -> O::Output;
}

/// One backend of a cipher.
pub trait Engine: Copy + 'static {
    type Block: BlockBytes;
    /// `SLOTS` blocks side by side.
    type Vector: Copy;
    /// Number of blocks in a vector.
    const SLOTS: usize;
    /// Whether the processor has more registers than the vectors of two rows of CCM.
    const SPARE_REGISTERS: bool = false;
    /// Whether modes that are parallel in a message have two vectors in flight, while lanes have one.
    const HAS_PAIRS: bool = false;
    /// The round keys of one key.
    type RoundKeys: Clone + 'static;
    /// The round keys of all lanes of a flight, a key for each slot.
    type LaneRoundKeys: Zeroize;

    /// The engine, or `None` if this machine lacks its instructions.
    fn detect() -> Option<Self>;
    /// Computes the round keys. The cipher must have keys of this length.
    fn expand_key(self, key: &[u8]) -> Self::RoundKeys;
    /// Number of rounds. Only lanes whose keys have the same number of rounds can share a vector.
    fn rounds(keys: &Self::RoundKeys) -> usize;
    /// Runs `operation` in a function that has this engine's target features.
    fn run<O: Operation<Self::Block>>(self, keys: &Self::RoundKeys, operation: O) -> O::Output;

    /// Reads a vector. Panics unless `bytes` is `SLOTS` blocks.
    fn load(self, bytes: &[u8]) -> Self::Vector;
    /// Writes a vector. Panics unless `bytes` is `SLOTS` blocks.
    fn store(self, vector: Self::Vector, bytes: &mut [u8]);
    /// The vector whose bits are all zero.
    fn zero(self) -> Self::Vector;
    /// Bitwise exclusive or.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// One block of a vector.
    fn slot(self, vector: &Self::Vector, slot: usize) -> Self::Block;
    /// Replaces one block of a vector.
    fn set_slot(self, vector: &mut Self::Vector, slot: usize, block: &Self::Block);
    /// A vector of `SLOTS` blocks. Engines override it where `set_slot` writes to memory.
    #[inline(always)]
    fn collect(self, blocks: &[&Self::Block]) -> Self::Vector {
        let mut vector = self.zero();
        for slot in 0..Self::SLOTS {
            self.set_slot(&mut vector, slot, blocks[slot]);
        }
        vector
    }
    /// `N * SLOTS` counter blocks: `first`, `first + 1` and so on. A block is a big-endian number, which wraps.
    fn counters<const N: usize>(self, first: &Self::Block) -> [Self::Vector; N];
    /// [`Engine::counters`] for a block that was computed, not loaded. Engines override it where that is faster.
    #[inline(always)]
    fn more_counters<const N: usize>(self, first: &Self::Block) -> [Self::Vector; N] {
        self.counters(first)
    }

    /// Reads `STEP_BLOCKS` blocks at each of `SLOTS` addresses; vector `j` holds block `j` of every address.
    ///
    /// # Safety
    /// `STEP_BLOCKS` blocks must be readable at each of the first `SLOTS` pointers.
    unsafe fn gather(self, pointers: &[*mut u8]) -> [Self::Vector; STEP_BLOCKS];
    /// The inverse of `gather`.
    ///
    /// # Safety
    /// `STEP_BLOCKS` blocks must be writable at each of the first `SLOTS` pointers.
    unsafe fn scatter(self, vectors: [Self::Vector; STEP_BLOCKS], pointers: &[*mut u8]);
    /// [`Engine::gather`] to memory that is read later. Engines override it where the ports that arrange registers are the limit.
    ///
    /// # Safety
    /// As for `gather`.
    #[inline(always)]
    unsafe fn gather_to(self, pointers: &[*mut u8], vectors: &mut [Self::Vector; STEP_BLOCKS]) {
        // SAFETY: the caller guarantees the same.
        *vectors = unsafe { self.gather(pointers) };
    }
    /// The inverse of `gather_to`, from memory that was written earlier.
    ///
    /// # Safety
    /// As for `scatter`.
    #[inline(always)]
    unsafe fn scatter_from(self, vectors: &[Self::Vector; STEP_BLOCKS], pointers: &[*mut u8]) {
        // SAFETY: the caller guarantees the same.
        unsafe { self.scatter(*vectors, pointers) }
    }

    /// Encrypts `K * G` vectors under one key.
    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Self::RoundKeys,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    );
    /// The round keys for `decrypt`. If they differ from those for `encrypt`, each operation that decrypts computes them into `buffer`.
    #[inline(always)]
    fn inverse_keys<'k>(
        self,
        keys: &'k Self::RoundKeys,
        _buffer: &'k mut KeyBuffer<Self::RoundKeys>,
    ) -> &'k Self::RoundKeys {
        keys
    }
    /// Decrypts `G` vectors under one key, whose `inverse_keys` are `keys`.
    fn decrypt<const G: usize>(self, keys: &Self::RoundKeys, x: &mut [Self::Vector; G]);
    /// Encrypts `K * G` vectors; slot `s` of vector `g` has the key of lane `(first + g) * SLOTS + s`.
    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &Self::LaneRoundKeys,
        first: usize,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    );

    /// One block of CCM in each slot: `x[0]` are chains, `x[1]` counter blocks. Encrypts both, then XORs block `block` of `input` into the
    /// key stream, which gives the output, and, unless the message `decrypts`, into the chains.
    #[inline(always)]
    fn encrypt_ccm<const G: usize>(
        self,
        keys: &Self::RoundKeys,
        x: &mut [[Self::Vector; G]; 2],
        (input, block): (&[[Self::Vector; STEP_BLOCKS]; G], usize),
        decrypts: bool,
        between_rounds: &mut impl Interleave,
    ) {
        self.encrypt(keys, x, between_rounds);
        add_ccm(self, x, (input, block), decrypts);
    }
    /// [`Engine::encrypt_ccm`] with a key for each lane.
    #[inline(always)]
    fn encrypt_ccm_lanes<const G: usize>(
        self,
        keys: &Self::LaneRoundKeys,
        x: &mut [[Self::Vector; G]; 2],
        (input, block): (&[[Self::Vector; STEP_BLOCKS]; G], usize),
        decrypts: bool,
        between_rounds: &mut impl Interleave,
    ) {
        self.encrypt_lanes(keys, 0, x, between_rounds);
        add_ccm(self, x, (input, block), decrypts);
    }

    /// Round keys of all lanes, all zero.
    fn zero_lane_keys(self) -> Self::LaneRoundKeys;
    /// Sets the key of one lane. The keys of all lanes in use must have the same number of rounds.
    fn set_lane_key(self, lane_keys: &mut Self::LaneRoundKeys, lane: usize, keys: &Self::RoundKeys);
    /// [`Engine::set_lane_key`] for all lanes of a vector. Engines override it where a vector is read right after its slots are written.
    #[inline(always)]
    fn set_lane_keys(self, lane_keys: &mut Self::LaneRoundKeys, group: usize, keys: &[&Self::RoundKeys]) {
        for slot in 0..Self::SLOTS {
            self.set_lane_key(lane_keys, group * Self::SLOTS + slot, keys[slot]);
        }
    }

    /// Encrypts one block.
    fn encrypt_block(self, keys: &Self::RoundKeys, block: &mut Self::Block);

    /// XORs a vector into `SLOTS` blocks of memory, as CTR does. Engines override it where `load` and `store` are costly.
    #[inline(always)]
    fn add_to(self, vector: Self::Vector, bytes: &mut [u8]) {
        let sum = self.xor(vector, self.load(bytes));
        self.store(sum, bytes);
    }

    /// CTR from a counter block, which wraps, in special code of the backend. Returns false and does nothing if there is no such code.
    #[inline(always)]
    fn ctr(self, _: &Self::RoundKeys, _: &Self::Block, _: &mut [u8]) -> bool {
        false
    }

    /// CBC decryption of whole blocks in special code of the backend. Returns false and does nothing if there is no such code.
    #[inline(always)]
    fn cbc_decrypt(self, _: &Self::RoundKeys, _: &Self::Block, _: &mut [u8]) -> bool {
        false
    }

    /// CBC encryption of whole blocks of one message. Sets `chain` to the last ciphertext block.
    #[inline(always)]
    fn cbc_encrypt_blocks(self, keys: &Self::RoundKeys, chain: &mut Self::Block, data: &mut [u8]) {
        cbc_encrypt_by_block(self, keys, chain, data);
    }
}

/// A backend of a cipher with 128-bit blocks, with the vector operations for the counters and masks of CCM.
pub trait CcmEngine: Engine<Block = Block> {
    /// [`Engine::run`] for an operation that needs 128-bit blocks.
    fn run_ccm<O: CcmOperation>(self, keys: &Self::RoundKeys, operation: O) -> O::Output;

    /// Bitwise and.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Reverses the 16 bytes of every slot.
    fn reverse(self, a: Self::Vector) -> Self::Vector;
    /// Adds one to the first eight bytes of every slot, as a little-endian number modulo 2^64.
    fn increment(self, a: Self::Vector) -> Self::Vector;

    /// CCM over whole blocks of one message. `mac` is the chain over the plaintext; `counter` is the next counter block, in the byte
    /// order of the cipher. Both are updated.
    fn ccm_blocks(
        self,
        keys: &Self::RoundKeys,
        mac: &mut Block,
        counter: &mut Block,
        data: &mut [u8],
        direction: CipherDirection,
    ) {
        ccm_by_block(self, keys, (mac, counter), data, direction);
    }
}

/// [`Engine::cbc_encrypt_blocks`] by calls of [`Engine::encrypt_block`].
#[inline(always)]
pub(crate) fn cbc_encrypt_by_block<E: Engine>(engine: E, keys: &E::RoundKeys, chain: &mut E::Block, data: &mut [u8]) {
    for block in data.chunks_exact_mut(E::Block::BYTES) {
        for (chain, byte) in chain.as_mut().iter_mut().zip(&*block) {
            *chain ^= byte;
        }
        engine.encrypt_block(keys, chain);
        block.copy_from_slice(chain.as_ref());
    }
}

/// [`CcmEngine::ccm_blocks`] by calls of [`Engine::encrypt_block`].
#[inline(always)]
pub(crate) fn ccm_by_block<E: CcmEngine>(
    engine: E,
    keys: &E::RoundKeys,
    (mac, counter): (&mut Block, &mut Block),
    data: &mut [u8],
    direction: CipherDirection,
) {
    for block in data.chunks_exact_mut(16) {
        let mut key_stream = *counter;
        engine.encrypt_block(keys, &mut key_stream);
        increment(counter);
        if direction == CipherDirection::Encrypt {
            xor_block(mac, block);
        }
        for (byte, key) in block.iter_mut().zip(key_stream) {
            *byte ^= key;
        }
        if direction == CipherDirection::Decrypt {
            xor_block(mac, block);
        }
        engine.encrypt_block(keys, mac);
    }
}

/// The XORs of [`Engine::encrypt_ccm`].
#[inline(always)]
fn add_ccm<E: Engine, const G: usize>(
    engine: E,
    [chains, key_stream]: &mut [[E::Vector; G]; 2],
    (input, block): (&[[E::Vector; STEP_BLOCKS]; G], usize),
    decrypts: bool,
) {
    for g in 0..G {
        let input = input[g][block];
        key_stream[g] = engine.xor(key_stream[g], input);
        if !decrypts {
            chains[g] = engine.xor(chains[g], input);
        }
    }
}

/// `keys` if the engines `F` and `E` are the same. The compiler evaluates the comparison.
#[inline(always)]
pub(crate) fn round_keys_if_same<F: Engine, E: Engine>(keys: &F::RoundKeys) -> Option<&E::RoundKeys> {
    let keys: &dyn Any = keys;
    if TypeId::of::<F>() == TypeId::of::<E>() { keys.downcast_ref() } else { None }
}

/// Other work to do between the rounds. The cipher alone leaves most of the processor's ports idle.
pub trait Interleave {
    /// Number of parts of the work, at most 9.
    const PARTS: usize;
    /// Does one of the parts, from 1 on. Engines call this once for each part, in order. Must be `#[inline(always)]`.
    fn run_part(&mut self, part: usize);
}

/// No work between the rounds.
pub(crate) struct NoInterleave;

impl Interleave for NoInterleave {
    const PARTS: usize = 0;
    #[inline(always)]
    fn run_part(&mut self, _: usize) {}
}

/// Whether an operation encrypts or decrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherDirection {
    Encrypt,
    Decrypt,
}

/// Code that runs on any engine. The engine chooses `FLIGHT`, the number of vectors in flight. `BLOCKS` is the number of blocks of a
/// flight: `FLIGHT * SLOTS`.
pub trait Operation<B: BlockBytes> {
    type Output;
    /// Largest number of blocks that it can process at the same time. An engine may choose a smaller flight for few.
    #[inline(always)]
    fn most_blocks(&self) -> usize {
        usize::MAX
    }
    /// Must be `#[inline(always)]`.
    fn call<E: Engine<Block = B>, const FLIGHT: usize, const BLOCKS: usize>(
        self,
        engine: E,
        keys: &E::RoundKeys,
    ) -> Self::Output;
}

/// An [`Operation`] on an engine with 128-bit blocks.
pub trait CcmOperation: Sized {
    type Output;
    /// As for [`Operation`].
    #[inline(always)]
    fn most_blocks(&self) -> usize {
        usize::MAX
    }
    /// Separates the rest that fills too few of a flight's `blocks` blocks, for engines with smaller flights.
    #[inline(always)]
    fn divide(self, _blocks: usize) -> (Self, Option<Self>) {
        (self, None)
    }
    /// Must be `#[inline(always)]`.
    fn call<E: CcmEngine, const FLIGHT: usize, const BLOCKS: usize>(
        self,
        engine: E,
        keys: &E::RoundKeys,
    ) -> Self::Output;
}

/// Overwrites vectors with zeros, with writes that the compiler cannot remove.
#[cfg(feature = "lanes")]
#[inline(always)]
pub(crate) fn wipe<E: Engine>(engine: E, vectors: &mut [E::Vector]) {
    let zero = engine.zero();
    for vector in vectors {
        // SAFETY: a mutable reference is aligned and valid for writes, and a vector is `Copy`, so nothing needs a drop.
        unsafe { core::ptr::write_volatile(vector, zero) };
    }
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}

/// [`Engine::counters`] for any engine, block by block.
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

/// Adds `by` to a big-endian number, which wraps.
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

/// Adds one to the last eight bytes as a big-endian number. The counter field of CCM has at most eight bytes.
#[inline(always)]
pub(crate) fn increment(counter: &mut Block) {
    let (_, low) = counter.split_at_mut(8);
    let mut word = [0; 8];
    word.copy_from_slice(low);
    low.copy_from_slice(&u64::from_be_bytes(word).wrapping_add(1).to_be_bytes());
}

/// `a ^= b`. A short `b` is padded with zeros.
#[inline(always)]
pub(crate) fn xor_block(a: &mut Block, b: &[u8]) {
    let mut padded = [0; 16];
    match <&Block>::try_from(b) {
        Ok(whole) => padded = *whole,
        Err(_) => padded[..b.len()].copy_from_slice(b),
    }
    *a = (u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(padded)).to_ne_bytes();
}
