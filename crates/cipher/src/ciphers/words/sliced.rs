//! Ciphers on vector registers, word by word: register 0 of a vector holds word 0 of all its blocks; registers 1 to 3 hold words 1 to 3.
//!
//! The code is written once, over [`WordRegister`]. A cipher adds its rounds ([`SlicedKeys`]).
//!
//! Reading blocks transposes four rows of words in each 128 bits of the registers. This permutes the blocks in a register; only
//! [`position`] depends on their order.

// The SAFETY notes in the engines rely on one fact: an engine value holds a token of `crate::cpu`, which exists only on a machine with
// the instructions of the engine. Loads and stores need no alignment.

use zeroize::Zeroize;

use super::WordKeys;
use crate::block::Block;
use crate::engine::{Interleave, STEP_BLOCKS};

/// A vector register of 32-bit words.
///
/// # Safety
/// The machine must have the register's instructions for every method, and pointers must be valid for the bytes that a method names.
pub(crate) trait WordRegister: Copy {
    /// Number of words in the register, and of blocks in a vector.
    const WORDS: usize;

    /// Reads `4 * WORDS` bytes as little-endian words.
    unsafe fn load(bytes: *const u8) -> Self;
    /// Sets all words to `word`.
    unsafe fn splat(word: u32) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    /// Rotates each word to the left by `LEFT`, of which `RIGHT` is the difference to 32.
    unsafe fn rotate_by<const LEFT: i32, const RIGHT: i32>(self) -> Self;
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
    /// The inverse of `gather`. With `XOR` the words are added to those at the addresses.
    unsafe fn scatter<const XOR: bool>(vectors: [[Self; 4]; STEP_BLOCKS], pointers: &[*mut u8]);
}

/// The index in a register of the words of a slot. The transposition moves row `slot / rows` to word `slot / rows` of the 128 bits
/// with number `slot % rows`.
#[inline(always)]
pub(crate) const fn position<R: WordRegister>(slot: usize) -> usize {
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

/// The number of its slot in each word.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
pub(crate) unsafe fn slot_numbers<R: WordRegister>() -> R {
    // SAFETY: the caller guarantees the instructions, and `NUMBERS` is as long as the longest register.
    unsafe { R::load(SlotNumbers::<R>::NUMBERS.as_ptr().cast()) }
}

/// One block of a vector.
#[inline(always)]
pub(crate) fn slot<R: WordRegister>(vector: &[R; 4], slot: usize) -> Block {
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
pub(crate) fn set_slot<R: WordRegister>(vector: &mut [R; 4], slot: usize, block: &Block) {
    assert!(slot < R::WORDS);
    for (word, bytes) in block.as_chunks::<4>().0.iter().enumerate() {
        set_word(&mut vector[word], slot, u32::from_le_bytes(*bytes));
    }
}

/// Replaces the word of one slot.
#[inline(always)]
pub(crate) fn set_word<R: WordRegister>(register: &mut R, slot: usize, word: u32) {
    assert!(slot < R::WORDS);
    // SAFETY: a register is `WORDS` words with at least their alignment, and `position` is less than `WORDS`.
    unsafe { core::ptr::from_mut(register).cast::<u32>().add(position::<R>(slot)).write(word) };
}

/// Blocks of consecutive big-endian numbers, starting with `first`. Their last 32 bits must not overflow, so the blocks differ only in
/// word 3.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
pub(crate) unsafe fn consecutive<R: WordRegister, const N: usize>(first: &Block) -> [[R; 4]; N] {
    let [a, b, c, d] = super::to_words(first);
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let common = [R::splat(a), R::splat(b), R::splat(c), R::splat(0)];
        let mut next = R::splat(d.swap_bytes()).add(slot_numbers());
        let step = R::splat(R::WORDS as u32);
        let mut vectors = [common; N];
        for vector in &mut vectors {
            vector[3] = next.reverse_words();
            next = next.add(step);
        }
        vectors
    }
}

/// The round keys of all lanes, in `GROUPS` registers for each word, and their number of rounds.
pub struct LaneRoundKeys<R, const GROUPS: usize, const WORDS: usize> {
    pub(crate) words: [[R; GROUPS]; WORDS],
    pub(crate) rounds: usize,
}

impl<R: WordRegister, const GROUPS: usize, const WORDS: usize> Zeroize for LaneRoundKeys<R, GROUPS, WORDS> {
    #[inline(always)]
    fn zeroize(&mut self) {
        let size = core::mem::size_of_val(&self.words) / 16;
        let blocks = self.words.as_mut_ptr().cast::<u128>();
        // SAFETY: registers have at least the alignment of `u128`, and any value of them is valid. The slice covers exactly the
        // array.
        unsafe { core::slice::from_raw_parts_mut(blocks, size) }.zeroize();
    }
}

/// A source of round keys.
pub(crate) trait RoundKeySource<R> {
    /// Number of rounds.
    fn rounds(&self) -> usize;
    /// Word `index` of the round keys, for vector `group` of a row.
    ///
    /// # Safety
    /// The machine must have the instructions of `R`.
    unsafe fn word(&self, index: usize, group: usize) -> R;
}

impl<R: WordRegister, K: WordKeys> RoundKeySource<R> for K {
    #[inline(always)]
    fn rounds(&self) -> usize {
        WordKeys::rounds(self)
    }

    #[inline(always)]
    unsafe fn word(&self, index: usize, _: usize) -> R {
        // SAFETY: the caller guarantees the instructions.
        unsafe { R::splat(WordKeys::word(self, index)) }
    }
}

/// The round keys of all lanes, and the group that is vector 0 of a row.
impl<R: WordRegister, const GROUPS: usize, const WORDS: usize> RoundKeySource<R>
    for (&LaneRoundKeys<R, GROUPS, WORDS>, usize)
{
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0.rounds
    }

    #[inline(always)]
    unsafe fn word(&self, index: usize, group: usize) -> R {
        self.0.words[index][self.1 + group]
    }
}

/// The rounds of a cipher on registers. Write loops, not closures: a closure is a separate function without the target features. If the
/// compiler does not inline it, every instruction in it becomes a call.
pub(crate) trait SlicedKeys: WordKeys {
    /// Largest number of vectors whose rounds overlap. More vectors are encrypted row by row.
    const IN_FLIGHT: usize;

    /// Encrypts `K` rows of `G` vectors together.
    ///
    /// # Safety
    /// The machine must have the instructions of `R`.
    unsafe fn encrypt_rows<R: WordRegister, const G: usize, const K: usize>(
        keys: &impl RoundKeySource<R>,
        x: &mut [[[R; 4]; G]; K],
        between_rounds: &mut impl Interleave,
    );

    /// Decrypts `G` vectors.
    ///
    /// # Safety
    /// The machine must have the instructions of `R`.
    unsafe fn decrypt_row<R: WordRegister, const G: usize>(keys: &impl RoundKeySource<R>, x: &mut [[R; 4]; G]);
}

/// Encrypts `K` rows of `G` vectors: together if they are at most `IN_FLIGHT` vectors, otherwise row by row.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
pub(crate) unsafe fn encrypt<C: SlicedKeys, R: WordRegister, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<R>,
    x: &mut [[[R; 4]; G]; K],
    between_rounds: &mut impl Interleave,
) {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        if G * K <= C::IN_FLIGHT || K == 1 {
            C::encrypt_rows(keys, x, between_rounds);
        } else if let [first, others @ ..] = x.as_mut_slice() {
            C::encrypt_rows(keys, core::array::from_mut(first), between_rounds);
            for row in others {
                C::encrypt_rows(keys, core::array::from_mut(row), &mut crate::engine::NoInterleave);
            }
        }
    }
}

/// Defines the engine of a cipher for one type of register. `$flight` is the number of vectors in flight. `$keys` has at most `$words`
/// words.
macro_rules! engine {
    ($(#[$doc:meta])* $name:ident, $register:ty, $features:literal, $flight:literal, $keys:ty, $words:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name($crate::cpu::$name);

        impl $crate::engine::Engine for $name {
            type Block = $crate::Block;
            type Vector = [$register; 4];
            const SLOTS: usize = <$register as WordRegister>::WORDS;
            type RoundKeys = $keys;
            type LaneRoundKeys = $crate::ciphers::words::sliced::LaneRoundKeys<$register, $flight, { $words }>;

            fn detect() -> Option<Self> {
                $crate::cpu::$name::detect().map(Self)
            }

            fn expand_key(self, key: &[u8]) -> $keys {
                WordKeys::expand_key(key)
            }

            #[inline(always)]
            fn rounds(keys: &$keys) -> usize {
                WordKeys::rounds(keys)
            }

            #[inline]
            fn run<O: Operation<Block>>(self, keys: &$keys, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<O: Operation<Block>>(engine: $name, keys: &$keys, operation: O) -> O::Output {
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
                    // A carry out of word 3, once in 2^32 blocks.
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
                unsafe { <$register>::scatter::<false>(vectors, pointers) }
            }

            #[inline(always)]
            fn encrypt<const G: usize, const K: usize>(
                self,
                keys: &$keys,
                x: &mut [[Self::Vector; G]; K],
                between_rounds: &mut impl Interleave,
            ) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { sliced::encrypt::<$keys, _, G, K>(keys, x, between_rounds) }
            }

            #[inline(always)]
            fn decrypt<const G: usize>(self, keys: &$keys, x: &mut [Self::Vector; G]) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { <$keys as SlicedKeys>::decrypt_row(keys, x) }
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
                unsafe { sliced::encrypt::<$keys, _, G, K>(&(keys, first), x, between_rounds) }
            }

            #[inline(always)]
            fn zero_lane_keys(self) -> Self::LaneRoundKeys {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { sliced::LaneRoundKeys { words: [[<$register>::splat(0); $flight]; $words], rounds: 0 } }
            }

            #[inline(always)]
            fn set_lane_key(self, lane_keys: &mut Self::LaneRoundKeys, lane: usize, keys: &$keys) {
                lane_keys.rounds = WordKeys::rounds(keys);
                for (index, registers) in lane_keys.words.iter_mut().enumerate() {
                    let word = WordKeys::word(keys, index);
                    sliced::set_word(&mut registers[lane / Self::SLOTS], lane % Self::SLOTS, word);
                }
            }

            #[inline(always)]
            fn encrypt_block(self, keys: &$keys, block: &mut Block) {
                words::encrypt_block(keys, block);
            }

            #[inline(always)]
            fn cbc_encrypt_blocks(self, keys: &$keys, chain: &mut Block, data: &mut [u8]) {
                words::chain::cbc_encrypt_blocks(keys, chain, data);
            }
        }

        impl CcmEngine for $name {
            #[inline]
            fn run_ccm<O: CcmOperation>(self, keys: &$keys, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<O: CcmOperation>(engine: $name, keys: &$keys, operation: O) -> O::Output {
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
                keys: &$keys,
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

pub(crate) use engine;
