//! The engines with vector registers. A state is eight registers; each holds one row of many blocks.
//!
//! Vectors stay in this form between operations: modes and lanes add, chain and count in it. Only reading and writing messages packs
//! and unpacks.

// The SAFETY notes in the engines rely on one fact: an engine value holds a token of `crate::cpu`, which exists only on a machine with
// the instructions of the engine. Loads and stores need no alignment.

use zeroize::Zeroize;

use super::keys::{KeySchedule, MAX_WORDS};
use super::layers::{Block, RoundKeySource, StateRow};
use super::portable::ROUND_NUMBERS;
use crate::engine::STEP_BLOCKS;

/// A register with one row of `SLOTS` blocks.
///
/// # Safety
/// The machine must have the register's instructions for every method, and pointers must be valid for the bytes that a method names.
pub trait RowRegister: StateRow<Word = u64> {
    /// Number of blocks in a state, and of bytes in a register.
    const SLOTS: usize;
    /// The number of a round, as row 0 of every block.
    unsafe fn round_number(round: usize) -> Self;

    /// Reads a register.
    unsafe fn load_register(bytes: *const u8) -> Self;
    /// Writes a register.
    unsafe fn store_register(self, bytes: *mut u8);
    /// Converts blocks as in memory to rows.
    unsafe fn pack(x: [Self; 8]) -> [Self; 8];
    /// The inverse of `pack`.
    unsafe fn unpack(rows: [Self; 8]) -> [Self; 8];

    /// Reads `SLOTS` blocks.
    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> [Self; 8] {
        // SAFETY: the caller guarantees 8 · `SLOTS` bytes and the instructions.
        unsafe {
            let mut x = [Self::load_register(bytes); 8];
            for i in 1..8 {
                x[i] = Self::load_register(bytes.add(Self::SLOTS * i));
            }
            Self::pack(x)
        }
    }

    /// Writes `SLOTS` blocks.
    #[inline(always)]
    unsafe fn store(rows: [Self; 8], bytes: *mut u8) {
        // SAFETY: the caller guarantees 8 · `SLOTS` bytes and the instructions.
        unsafe {
            let x = Self::unpack(rows);
            for i in 0..8 {
                x[i].store_register(bytes.add(Self::SLOTS * i));
            }
        }
    }

    /// XORs a state into `SLOTS` blocks of memory.
    #[inline(always)]
    unsafe fn add_to(rows: [Self; 8], bytes: *mut u8) {
        // SAFETY: the caller guarantees 8 · `SLOTS` bytes and the instructions.
        unsafe {
            let x = Self::unpack(rows);
            for i in 0..8 {
                let bytes = bytes.add(Self::SLOTS * i);
                x[i].xor(Self::load_register(bytes)).store_register(bytes);
            }
        }
    }

    /// `SLOTS` copies of `block` whose last two bytes are replaced by the numbers from `first`. These must not overflow.
    unsafe fn counters(block: &Block, first: u16) -> [Self; 8];
    /// Reads `STEP_BLOCKS` blocks at each of `SLOTS` addresses. State `j` gets block `j` of each.
    unsafe fn gather(pointers: &[*mut u8]) -> [[Self; 8]; STEP_BLOCKS];
    /// The inverse of `gather`.
    unsafe fn scatter(states: [[Self; 8]; STEP_BLOCKS], pointers: &[*mut u8]);

    /// The row of one block.
    fn slot(&self, slot: usize) -> u8;
    /// Replaces the row of one block.
    fn set_slot(&mut self, slot: usize, row: u8);
    /// Replaces the row of one block by that of a [`KeySchedule`]'s word.
    fn set_slot_of_word(&mut self, slot: usize, word: u64);
}

/// The round keys of all lanes, a key for each block of a state.
pub struct LaneRoundKeys<R> {
    rounds: usize,
    last_word: usize,
    whitening: [R; 8],
    words: [[R; 8]; MAX_WORDS],
}

impl<R: RowRegister> LaneRoundKeys<R> {
    pub(super) fn new(zero: R) -> Self {
        LaneRoundKeys { rounds: 0, last_word: 0, whitening: [zero; 8], words: [[zero; 8]; MAX_WORDS] }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, slot: usize, keys: &KeySchedule<u64>) {
        assert!(slot < R::SLOTS);
        self.rounds = keys.rounds;
        self.last_word = keys.last_word;
        for row in 0..8 {
            self.whitening[row].set_slot_of_word(slot, keys.whitening[row]);
        }
        for word in 0..=keys.last_word {
            for row in 0..8 {
                self.words[word][row].set_slot_of_word(slot, keys.words[word][row]);
            }
        }
    }
}

impl<R: RowRegister> Zeroize for LaneRoundKeys<R> {
    #[inline(always)]
    fn zeroize(&mut self) {
        for rows in [&mut self.whitening].into_iter().chain(&mut self.words) {
            let words = core::mem::size_of_val(rows) / 8;
            // SAFETY: registers have at least the alignment of `u64`, and any value of them is valid. The slice covers exactly the
            // rows.
            unsafe { core::slice::from_raw_parts_mut(rows.as_mut_ptr().cast::<u64>(), words) }.zeroize();
        }
        self.rounds = 0;
    }
}

impl<R: RowRegister> RoundKeySource<R> for LaneRoundKeys<R> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    unsafe fn whitening(&self) -> [R; 8] {
        self.whitening
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize) -> [R; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            let mut rows = self.words[round & self.last_word & (MAX_WORDS - 1)];
            rows[0] = rows[0].xor(R::round_number(round));
            rows
        }
    }
}

/// Defines the engine for one type of register. Its token has the same name in `crate::cpu`. The flight is one state: its eight
/// registers are enough to keep the units busy.
macro_rules! engine {
    ($(#[$doc:meta])* $name:ident, $register:ty, $features:literal, $spread:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(crate::cpu::$name);

        impl Engine for $name {
            type Block = Block;
            type Vector = [$register; 8];
            const SLOTS: usize = <$register as RowRegister>::SLOTS;
            // Rounds are chains, and 32 registers have room for two states.
            const HAS_PAIRS: bool = Self::SLOTS == 64;
            type RoundKeys = RoundKeys;
            type LaneRoundKeys = LaneRoundKeys<$register>;

            fn detect() -> Option<Self> {
                crate::cpu::$name::detect().map(Self)
            }

            fn expand_key(self, key: &[u8]) -> RoundKeys {
                keys::expand_key(key, $spread)
            }

            #[inline(always)]
            fn rounds(keys: &RoundKeys) -> usize {
                keys.many.rounds
            }

            #[inline]
            fn run<O: Operation<Block>>(self, keys: &RoundKeys, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<O: Operation<Block>>(engine: $name, keys: &RoundKeys, operation: O) -> O::Output {
                    operation.call::<$name, 1, { <$name as Engine>::SLOTS }>(engine, keys)
                }
                // SAFETY: the token in `self` proves that the machine has these features.
                unsafe { with_features(self, keys, operation) }
            }

            #[inline(always)]
            fn load(self, bytes: &[u8]) -> Self::Vector {
                assert_eq!(bytes.len(), 8 * Self::SLOTS);
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { <$register>::load(bytes.as_ptr()) }
            }

            #[inline(always)]
            fn store(self, vector: Self::Vector, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), 8 * Self::SLOTS);
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { <$register>::store(vector, bytes.as_mut_ptr()) }
            }

            #[inline(always)]
            fn add_to(self, vector: Self::Vector, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), 8 * Self::SLOTS);
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { <$register>::add_to(vector, bytes.as_mut_ptr()) }
            }

            #[inline(always)]
            fn zero(self) -> Self::Vector {
                // SAFETY: the token in `self` proves the instructions.
                [unsafe { <$register>::splat(0) }; 8]
            }

            #[inline(always)]
            fn xor(self, mut a: Self::Vector, b: Self::Vector) -> Self::Vector {
                for row in 0..8 {
                    // SAFETY: the token in `self` proves the instructions.
                    a[row] = unsafe { a[row].xor(b[row]) };
                }
                a
            }

            #[inline(always)]
            fn slot(self, vector: &Self::Vector, slot: usize) -> Block {
                assert!(slot < Self::SLOTS);
                let mut block = [0; 8];
                for row in 0..8 {
                    block[row] = RowRegister::slot(&vector[row], slot);
                }
                block
            }

            #[inline(always)]
            fn set_slot(self, vector: &mut Self::Vector, slot: usize, block: &Block) {
                assert!(slot < Self::SLOTS);
                for row in 0..8 {
                    RowRegister::set_slot(&mut vector[row], slot, block[row]);
                }
            }

            #[inline(always)]
            fn counters<const N: usize>(self, first: &Block) -> [Self::Vector; N] {
                let mut number = u16::from_be_bytes([first[6], first[7]]);
                if number.checked_add((N * Self::SLOTS) as u16).is_none() {
                    // A carry out of the last two bytes, at the end of the counter's range.
                    return counters(self, first);
                }
                let mut vectors = [self.zero(); N];
                for vector in &mut vectors {
                    // SAFETY: the token in `self` proves the instructions, and the numbers were checked not to overflow.
                    *vector = unsafe { <$register>::counters(first, number) };
                    number += Self::SLOTS as u16;
                }
                vectors
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
                for row in x {
                    // SAFETY: the token in `self` proves the instructions.
                    unsafe { encrypt(&keys.many, row, between_rounds) }
                }
            }

            #[inline(always)]
            fn decrypt<const G: usize>(self, keys: &RoundKeys, x: &mut [Self::Vector; G]) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { decrypt(&keys.many, x) }
            }

            #[inline(always)]
            fn encrypt_lanes<const G: usize, const K: usize>(
                self,
                keys: &Self::LaneRoundKeys,
                _: usize,
                x: &mut [[Self::Vector; G]; K],
                between_rounds: &mut impl Interleave,
            ) {
                const { assert!(G == 1) };
                for row in x {
                    // SAFETY: the token in `self` proves the instructions.
                    unsafe { encrypt(keys, row, between_rounds) }
                }
            }

            #[inline(always)]
            fn zero_lane_keys(self) -> Self::LaneRoundKeys {
                LaneRoundKeys::new(self.zero()[0])
            }

            #[inline(always)]
            fn set_lane_key(self, lane_keys: &mut Self::LaneRoundKeys, lane: usize, keys: &RoundKeys) {
                lane_keys.set(lane, &keys.many);
            }

            #[inline(always)]
            fn encrypt_block(self, keys: &RoundKeys, block: &mut Block) {
                encrypt_block(keys, block);
            }
        }
    };
}

pub(super) use engine;

/// The number of each round as row 0, for registers with a byte for each block.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const ROUND_NUMBERS_IN_BYTES: [u64; ROUND_NUMBERS.len()] = {
    let mut numbers = [0; ROUND_NUMBERS.len()];
    let mut round = 0;
    while round < numbers.len() {
        numbers[round] = repeat(round as u8);
        round += 1;
    }
    numbers
};

/// A row with the same value for eight blocks, a byte for each.
pub(super) const fn repeat(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}
