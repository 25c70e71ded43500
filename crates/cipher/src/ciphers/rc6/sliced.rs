//! RC6 on vector registers, word by word: register 0 of a vector holds word A of all its blocks; registers 1 to 3 hold B, C and D.
//!
//! The code is written once, over [`WordRegister`]. A multiplication has a long latency (10 cycles on x86), but several can overlap, so
//! each round runs for several vectors before the next round begins. Four are best. With AVX2, four fill all 16 registers, so that
//! temporary values go to memory, but two would wait for the multiplier.
//!
//! Reading blocks transposes four rows of words in each 128 bits of the registers. This permutes the blocks in a register; only
//! [`position`] depends on their order.

// The SAFETY notes in the engines rely on one fact: an engine value holds a token of `crate::cpu`, which exists only on a machine with
// the instructions of the engine. Loads and stores need no alignment.

use zeroize::Zeroize;

use super::keys::{ROUNDS, RoundKeys, WORDS};
use crate::block::Block;
use crate::engine::{Interleave, STEP_BLOCKS};

/// A vector register of 32-bit words.
///
/// # Safety
/// The machine must have the register's instructions for every method, and pointers must be valid for the bytes that a method names.
pub(super) trait WordRegister: Copy {
    /// Number of words in the register, and of blocks in a vector.
    const WORDS: usize;
    /// Largest number of vectors whose rounds overlap. More vectors are encrypted row by row.
    const IN_FLIGHT: usize;

    /// Reads `4 * WORDS` bytes as little-endian words.
    unsafe fn load(bytes: *const u8) -> Self;
    /// Sets all words to `word`.
    unsafe fn splat(word: u32) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    /// Computes f = x (2x + 1). Returns f rotated left by 5, and the rotation amounts for `rotate_left` in the low five bits of that.
    unsafe fn quadratic(self) -> (Self, Self);
    /// Rotates each word by an amount from `quadratic`.
    unsafe fn rotate_left(self, amounts: Self) -> Self;
    unsafe fn rotate_right(self, amounts: Self) -> Self;
    /// Reverses the bytes of every word.
    unsafe fn reverse_words(self) -> Self;
    /// Adds one to 64-bit numbers given as their low and high words.
    unsafe fn increment(low: Self, high: Self) -> [Self; 2];

    /// Reads `WORDS` blocks.
    unsafe fn load_blocks(bytes: *const u8) -> [Self; 4];
    /// The inverse of `load_blocks`.
    unsafe fn store_blocks(vector: [Self; 4], bytes: *mut u8);
    /// Reads 64 bytes at each of `WORDS` addresses. Vector `j` gets block `j` of each.
    unsafe fn gather(pointers: &[*mut u8]) -> [[Self; 4]; STEP_BLOCKS];
    /// The inverse of `gather`.
    unsafe fn scatter(vectors: [[Self; 4]; STEP_BLOCKS], pointers: &[*mut u8]);
}

/// The index in a register of the words of a slot. The transposition moves row `slot / rows` to word `slot / rows` of the 128 bits
/// with number `slot % rows`.
#[inline(always)]
pub(super) const fn position<R: WordRegister>(slot: usize) -> usize {
    let rows = R::WORDS / 4;
    4 * (slot % rows) + slot / rows
}

/// Largest number of words in a register.
const MAX_WORDS: usize = 16;

/// The number of the slot at each position.
struct SlotNumbers<R>(R);

impl<R: WordRegister> SlotNumbers<R> {
    const NUMBERS: [[u8; 4]; MAX_WORDS] = {
        let mut numbers = [[0; 4]; MAX_WORDS];
        let mut slot = 0;
        while slot < R::WORDS {
            numbers[position::<R>(slot)][0] = slot as u8;
            slot += 1;
        }
        numbers
    };
}

/// One block of a vector.
#[inline(always)]
pub(super) fn slot<R: WordRegister>(vector: &[R; 4], slot: usize) -> Block {
    assert!(slot < R::WORDS);
    let mut block = [0; 16];
    for (word, bytes) in block.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // SAFETY: a register is `WORDS` words with at least their alignment, and `position` is less than `WORDS`.
        let word = unsafe { core::ptr::from_ref(&vector[word]).cast::<u32>().add(position::<R>(slot)).read() };
        *bytes = word.to_le_bytes();
    }
    block
}

/// Replaces one block of a vector.
#[inline(always)]
pub(super) fn set_slot<R: WordRegister>(vector: &mut [R; 4], slot: usize, block: &Block) {
    assert!(slot < R::WORDS);
    for (word, bytes) in block.as_chunks::<4>().0.iter().enumerate() {
        set_word(&mut vector[word], slot, u32::from_le_bytes(*bytes));
    }
}

/// Replaces the word of one slot.
#[inline(always)]
pub(super) fn set_word<R: WordRegister>(register: &mut R, slot: usize, word: u32) {
    assert!(slot < R::WORDS);
    // SAFETY: a register is `WORDS` words with at least their alignment, and `position` is less than `WORDS`.
    unsafe { core::ptr::from_mut(register).cast::<u32>().add(position::<R>(slot)).write(word) };
}

/// Blocks of consecutive big-endian numbers, starting with `first`. Their last 32 bits must not overflow, so the blocks differ only in
/// word D.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn consecutive<R: WordRegister, const N: usize>(first: &Block) -> [[R; 4]; N] {
    let [a, b, c, d] = crate::ciphers::words::to_words(first);
    // SAFETY: the caller guarantees the instructions, and `NUMBERS` is as long as the longest register.
    unsafe {
        let common = [R::splat(a), R::splat(b), R::splat(c), R::splat(0)];
        let mut next = R::splat(d.swap_bytes()).add(R::load(SlotNumbers::<R>::NUMBERS.as_ptr().cast()));
        let step = R::splat(R::WORDS as u32);
        let mut vectors = [common; N];
        for vector in &mut vectors {
            vector[3] = next.reverse_words();
            next = next.add(step);
        }
        vectors
    }
}

/// The round keys of all lanes, in `GROUPS` registers for each word.
pub struct LaneRoundKeys<R, const GROUPS: usize>(pub(super) [[R; GROUPS]; WORDS]);

impl<R: WordRegister, const GROUPS: usize> Zeroize for LaneRoundKeys<R, GROUPS> {
    #[inline(always)]
    fn zeroize(&mut self) {
        let size = core::mem::size_of_val(&self.0) / 16;
        let blocks = self.0.as_mut_ptr().cast::<u128>();
        // SAFETY: registers have at least the alignment of `u128`, and any value of them is valid. The slice covers exactly the
        // array.
        unsafe { core::slice::from_raw_parts_mut(blocks, size) }.zeroize();
    }
}

/// A source of round keys.
pub(super) trait RoundKeySource<R> {
    /// Word `index` of the round keys, for vector `group` of a row.
    ///
    /// # Safety
    /// The machine must have the instructions of `R`.
    unsafe fn word(&self, index: usize, group: usize) -> R;
}

impl<R: WordRegister> RoundKeySource<R> for RoundKeys {
    #[inline(always)]
    unsafe fn word(&self, index: usize, _: usize) -> R {
        // SAFETY: the caller guarantees the instructions.
        unsafe { R::splat(self.0[index]) }
    }
}

/// The round keys of all lanes, and the group that is vector 0 of a row.
impl<R: WordRegister, const GROUPS: usize> RoundKeySource<R> for (&LaneRoundKeys<R, GROUPS>, usize) {
    #[inline(always)]
    unsafe fn word(&self, index: usize, group: usize) -> R {
        self.0.0[index][self.1 + group]
    }
}

// Loops, not closures: a closure is a separate function without the target features. If the compiler does not inline it, every
// instruction in it becomes a call.

/// One round. Register `P` holds A, and the next ones B, C and D: rounds rename the words instead of moving them.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn round<R: WordRegister, const P: usize, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<R>,
    number: usize,
    x: &mut [[[R; 4]; G]; K],
) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for g in 0..G {
            let key_a = keys.word(2 * number, g);
            let key_c = keys.word(2 * number + 1, g);
            for row in &mut *x {
                let x = &mut row[g];
                let (t, by_t) = x[b].quadratic();
                let (u, by_u) = x[d].quadratic();
                x[a] = x[a].xor(t).rotate_left(by_u).add(key_a);
                x[c] = x[c].xor(u).rotate_left(by_t).add(key_c);
            }
        }
    }
}

/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn inverse_round<R: WordRegister, const P: usize, const G: usize>(
    keys: &RoundKeys,
    number: usize,
    x: &mut [[R; 4]; G],
) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let key_a = keys.word(2 * number, 0);
        let key_c = keys.word(2 * number + 1, 0);
        for x in x {
            let (t, by_t) = x[b].quadratic();
            let (u, by_u) = x[d].quadratic();
            x[c] = x[c].sub(key_c).rotate_right(by_t).xor(u);
            x[a] = x[a].sub(key_a).rotate_right(by_u).xor(t);
        }
    }
}

/// Encrypts `K` rows of `G` vectors: together if they are at most `IN_FLIGHT` vectors, otherwise row by row.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn encrypt<R: WordRegister, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<R>,
    x: &mut [[[R; 4]; G]; K],
    between_rounds: &mut impl Interleave,
) {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        if G * K <= R::IN_FLIGHT || K == 1 {
            rows(keys, x, between_rounds);
        } else if let [first, others @ ..] = x.as_mut_slice() {
            rows(keys, core::array::from_mut(first), between_rounds);
            for row in others {
                rows(keys, core::array::from_mut(row), &mut crate::engine::NoInterleave);
            }
        }
    }
}

/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn rows<R: WordRegister, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<R>,
    x: &mut [[[R; 4]; G]; K],
    between_rounds: &mut impl Interleave,
) {
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for g in 0..G {
            let (key_b, key_d) = (keys.word(0, g), keys.word(1, g));
            for row in &mut y {
                row[g][1] = row[g][1].add(key_b);
                row[g][3] = row[g][3].add(key_d);
            }
        }
        for four in 0..ROUNDS / 4 {
            round::<R, 0, G, K>(keys, 4 * four + 1, &mut y);
            round::<R, 1, G, K>(keys, 4 * four + 2, &mut y);
            // The work between the rounds has nine parts; RC6 has 20 rounds.
            between_rounds.run_part(2 * four + 1);
            round::<R, 2, G, K>(keys, 4 * four + 3, &mut y);
            round::<R, 3, G, K>(keys, 4 * four + 4, &mut y);
            if four + 1 < ROUNDS / 4 {
                between_rounds.run_part(2 * four + 2);
            }
        }
        for g in 0..G {
            let (key_a, key_c) = (keys.word(WORDS - 2, g), keys.word(WORDS - 1, g));
            for row in &mut y {
                row[g][0] = row[g][0].add(key_a);
                row[g][2] = row[g][2].add(key_c);
            }
        }
    }
    *x = y;
}

/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn decrypt<R: WordRegister, const G: usize>(keys: &RoundKeys, x: &mut [[R; 4]; G]) {
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let (key_a, key_c): (R, R) = (keys.word(WORDS - 2, 0), keys.word(WORDS - 1, 0));
        for x in &mut y {
            x[0] = x[0].sub(key_a);
            x[2] = x[2].sub(key_c);
        }
        for four in (0..ROUNDS / 4).rev() {
            inverse_round::<R, 3, G>(keys, 4 * four + 4, &mut y);
            inverse_round::<R, 2, G>(keys, 4 * four + 3, &mut y);
            inverse_round::<R, 1, G>(keys, 4 * four + 2, &mut y);
            inverse_round::<R, 0, G>(keys, 4 * four + 1, &mut y);
        }
        let (key_b, key_d): (R, R) = (keys.word(0, 0), keys.word(1, 0));
        for x in &mut y {
            x[1] = x[1].sub(key_b);
            x[3] = x[3].sub(key_d);
        }
    }
    *x = y;
}

/// Defines the engine for one type of register. `$flight` is the number of vectors in flight.
macro_rules! engine {
    ($(#[$doc:meta])* $name:ident, $register:ty, $features:literal, $flight:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name($crate::cpu::$name);

        impl Engine for $name {
            type Block = Block;
            type Vector = [$register; 4];
            const SLOTS: usize = <$register as WordRegister>::WORDS;
            type RoundKeys = RoundKeys;
            type LaneRoundKeys = LaneRoundKeys<$register, $flight>;

            fn detect() -> Option<Self> {
                $crate::cpu::$name::detect().map(Self)
            }

            fn expand_key(self, key: &[u8]) -> RoundKeys {
                keys::expand_key(key)
            }

            #[inline(always)]
            fn rounds(_: &RoundKeys) -> usize {
                ROUNDS
            }

            #[inline]
            fn run<O: Operation<Block>>(self, keys: &RoundKeys, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<O: Operation<Block>>(engine: $name, keys: &RoundKeys, operation: O) -> O::Output {
                    operation.call::<$name, $flight, { $flight * <$name as Engine>::SLOTS }>(engine, keys)
                }
                // SAFETY: the token in `self` proves that the machine has these features.
                unsafe { with_features(self, keys, operation) }
            }

            #[inline(always)]
            fn load(self, bytes: &[u8]) -> Self::Vector {
                assert_eq!(bytes.len(), 16 * Self::SLOTS);
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { <$register>::load_blocks(bytes.as_ptr()) }
            }

            #[inline(always)]
            fn store(self, vector: Self::Vector, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), 16 * Self::SLOTS);
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { <$register>::store_blocks(vector, bytes.as_mut_ptr()) }
            }

            #[inline(always)]
            fn zero(self) -> Self::Vector {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { [<$register>::splat(0); 4] }
            }

            #[inline(always)]
            fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { [a[0].xor(b[0]), a[1].xor(b[1]), a[2].xor(b[2]), a[3].xor(b[3])] }
            }

            #[inline(always)]
            fn slot(self, vector: &Self::Vector, slot: usize) -> Block {
                sliced::slot(vector, slot)
            }

            #[inline(always)]
            fn set_slot(self, vector: &mut Self::Vector, slot: usize, block: &Block) {
                sliced::set_slot(vector, slot, block);
            }

            #[inline(always)]
            fn counters<const N: usize>(self, first: &Block) -> [Self::Vector; N] {
                let low = u128::from_be_bytes(*first) as u32;
                if low.checked_add((N * Self::SLOTS) as u32).is_none() {
                    // A carry out of word D, once in 2^32 blocks.
                    return counters(self, first);
                }
                // SAFETY: the token in `self` proves the instructions.
                unsafe { sliced::consecutive(first) }
            }

            #[inline(always)]
            unsafe fn gather(self, pointers: &[*mut u8]) -> [Self::Vector; STEP_BLOCKS] {
                // SAFETY: the token in `self` proves the instructions, and the caller guarantees the bytes at the pointers.
                unsafe { <$register>::gather(pointers) }
            }

            #[inline(always)]
            unsafe fn scatter(self, vectors: [Self::Vector; STEP_BLOCKS], pointers: &[*mut u8]) {
                // SAFETY: the token in `self` proves the instructions, and the caller guarantees the bytes at the pointers.
                unsafe { <$register>::scatter(vectors, pointers) }
            }

            #[inline(always)]
            fn encrypt<const G: usize, const K: usize>(
                self,
                keys: &RoundKeys,
                x: &mut [[Self::Vector; G]; K],
                between_rounds: &mut impl Interleave,
            ) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { sliced::encrypt(keys, x, between_rounds) }
            }

            #[inline(always)]
            fn decrypt<const G: usize>(self, keys: &RoundKeys, x: &mut [Self::Vector; G]) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { sliced::decrypt(keys, x) }
            }

            #[inline(always)]
            fn encrypt_lanes<const G: usize, const K: usize>(
                self,
                keys: &Self::LaneRoundKeys,
                first: usize,
                x: &mut [[Self::Vector; G]; K],
                between_rounds: &mut impl Interleave,
            ) {
                assert!(first + G <= $flight);
                // SAFETY: the token in `self` proves the instructions.
                unsafe { sliced::encrypt(&(keys, first), x, between_rounds) }
            }

            #[inline(always)]
            fn zero_lane_keys(self) -> Self::LaneRoundKeys {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { LaneRoundKeys([[<$register>::splat(0); $flight]; WORDS]) }
            }

            #[inline(always)]
            fn set_lane_key(self, lane_keys: &mut Self::LaneRoundKeys, lane: usize, keys: &RoundKeys) {
                for (registers, word) in lane_keys.0.iter_mut().zip(&keys.0) {
                    sliced::set_word(&mut registers[lane / Self::SLOTS], lane % Self::SLOTS, *word);
                }
            }

            #[inline(always)]
            fn encrypt_block(self, keys: &RoundKeys, block: &mut Block) {
                words::encrypt_block(keys, block);
            }

            #[inline(always)]
            fn cbc_encrypt_blocks(self, keys: &RoundKeys, chain: &mut Block, data: &mut [u8]) {
                words::chain::cbc_encrypt_blocks(keys, chain, data);
            }
        }

        impl CcmEngine for $name {
            #[inline]
            fn run_ccm<O: CcmOperation>(self, keys: &RoundKeys, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<O: CcmOperation>(engine: $name, keys: &RoundKeys, operation: O) -> O::Output {
                    operation.call::<$name, $flight, { $flight * <$name as Engine>::SLOTS }>(engine, keys)
                }
                // SAFETY: the token in `self` proves that the machine has these features.
                unsafe { with_features(self, keys, operation) }
            }

            #[inline(always)]
            fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { [a[0].and(b[0]), a[1].and(b[1]), a[2].and(b[2]), a[3].and(b[3])] }
            }

            #[inline(always)]
            fn reverse(self, [a, b, c, d]: Self::Vector) -> Self::Vector {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { [d.reverse_words(), c.reverse_words(), b.reverse_words(), a.reverse_words()] }
            }

            #[inline(always)]
            fn increment(self, [a, b, c, d]: Self::Vector) -> Self::Vector {
                // SAFETY: the token in `self` proves the instructions.
                let [a, b] = unsafe { <$register>::increment(a, b) };
                [a, b, c, d]
            }

            #[inline(always)]
            fn ccm_blocks(
                self,
                keys: &RoundKeys,
                mac: &mut Block,
                counter: &mut Block,
                data: &mut [u8],
                direction: CipherDirection,
            ) {
                words::chain_ahead::ccm_blocks(self, keys, mac, counter, data, direction);
            }
        }
    };
}

pub(super) use engine;
