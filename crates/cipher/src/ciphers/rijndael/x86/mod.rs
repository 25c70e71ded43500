//! Rijndael with the instructions of x86-64: AES-NI on 128-bit registers, VAES on 256 and 512 bits.
//!
//! The rounds are written once, over [`AesRounds`]. This file has the engines for blocks of 128 bits, whose vector is a [`BlockRegister`]
//! (`registers.rs`); `wide/` has the larger blocks. AESENC has a latency of three or four cycles, and one or two start in each cycle,
//! so eight registers have to be in flight.

// The SAFETY notes in this folder rely on one fact: an engine value holds a token of `crate::cpu`, which exists only on a machine with
// the instructions of the engine. Loads and stores need no alignment.

use core::arch::x86_64::*;

use zeroize::Zeroize;

use super::keys::RoundKeys;
use super::shape::MAX_ROUNDS;
use crate::engine::{
    CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, KeyBuffer, NoInterleave, Operation, STEP_BLOCKS,
    counters,
};
use crate::{Block, cpu};

mod chain;
mod keys;
mod registers;
pub(super) mod wide;

use registers::{AesRounds, BlockRegister};

/// Smallest number of rounds of Rijndael.
const MIN_ROUNDS: usize = 10;
/// Largest number of registers of lanes with a key each.
const MAX_GROUPS: usize = 8;

/// The round keys of all lanes, in `MAX_GROUPS` registers for each round.
pub struct LaneRoundKeys<R> {
    round_keys: [[R; MAX_GROUPS]; MAX_ROUNDS + 1],
    rounds: usize,
    /// Number of groups whose keys were set.
    groups: usize,
}

impl<R> LaneRoundKeys<R> {
    /// Prepares for keys of lanes of `group`.
    #[inline(always)]
    fn begin(&mut self, rounds: usize, group: usize) {
        assert!(group < MAX_GROUPS);
        (self.rounds, self.groups) = (rounds, self.groups.max(group + 1));
    }
}

impl<R: AesRounds> Zeroize for LaneRoundKeys<R> {
    #[inline(always)]
    fn zeroize(&mut self) {
        for round in &mut self.round_keys[..(self.rounds + 1).min(MAX_ROUNDS + 1)] {
            for vector in &mut round[..self.groups.min(MAX_GROUPS)] {
                // SAFETY: a mutable reference is aligned and valid for writes, and in registers any value is valid.
                unsafe { core::ptr::from_mut(vector).write_volatile(core::mem::zeroed()) };
            }
        }
        (self.rounds, self.groups) = (0, 0);
    }
}

/// Defines the engine of one register width. The flight is the number of vectors that fit into the register file beside the round
/// keys. CCM has two rows of them; in `Vaes256`, six in each row are slower than four, and `Vaes512` has several numbers
/// ([`cpu::ccm_registers`]). Fewer blocks get the least of the smaller flights that holds them: one of 512-bit registers that are half
/// empty takes as long as a full one.
macro_rules! engine {
    (
        $(#[$doc:meta])* $name:ident, $register:ty, $features:literal,
        $flight:literal $(or $small:literal)*, $ccm_flight:literal $(or $ccm_small:literal)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(cpu::$name);

        impl Engine for $name {
            type Block = Block;
            type Vector = $register;
            const SLOTS: usize = size_of::<$register>() / 16;
            const SPARE_REGISTERS: bool = Self::SLOTS == 4;
            type RoundKeys = RoundKeys<Block>;
            type LaneRoundKeys = LaneRoundKeys<$register>;

            fn detect() -> Option<Self> {
                cpu::$name::detect().map(Self)
            }

            fn expand_key(self, key: &[u8]) -> RoundKeys<Block> {
                // SAFETY: the token in `self` proves AES-NI, SSSE3 and SSE4.1 at every width.
                unsafe { keys::expand_key(key) }
            }

            #[inline(always)]
            fn rounds(keys: &RoundKeys<Block>) -> usize {
                keys.rounds()
            }

            #[inline]
            fn run<O: Operation<Block>>(self, keys: &RoundKeys<Block>, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<O: Operation<Block>>(engine: $name, keys: &RoundKeys<Block>, operation: O) -> O::Output {
                    $(if operation.most_blocks() <= $small * <$name as Engine>::SLOTS {
                        return operation.call::<$name, $small, { $small * <$name as Engine>::SLOTS }>(engine, keys);
                    })*
                    operation.call::<$name, $flight, { $flight * <$name as Engine>::SLOTS }>(engine, keys)
                }
                // SAFETY: the token in `self` proves that the machine has these features.
                unsafe { with_features(self, keys, operation) }
            }

            #[inline(always)]
            fn load(self, bytes: &[u8]) -> $register {
                assert_eq!(bytes.len(), size_of::<$register>());
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { <$register>::load(bytes.as_ptr()) }
            }

            #[inline(always)]
            fn store(self, vector: $register, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), size_of::<$register>());
                // SAFETY: the token in `self` proves the instructions, and the length was checked.
                unsafe { vector.store(bytes.as_mut_ptr()) }
            }

            #[inline(always)]
            fn zero(self) -> $register {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { <$register>::splat(_mm_setzero_si128()) }
            }

            #[inline(always)]
            fn xor(self, a: $register, b: $register) -> $register {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { a.xor(b) }
            }

            #[inline(always)]
            fn slot(self, vector: &$register, slot: usize) -> Block {
                assert!(slot < Self::SLOTS);
                // SAFETY: a register is `SLOTS` blocks, which have alignment 1, and `slot` was checked.
                unsafe { core::ptr::from_ref(vector).cast::<Block>().add(slot).read() }
            }

            #[inline(always)]
            fn set_slot(self, vector: &mut $register, slot: usize, block: &Block) {
                assert!(slot < Self::SLOTS);
                // SAFETY: a register is `SLOTS` blocks, which have alignment 1, and `slot` was checked.
                unsafe { core::ptr::from_mut(vector).cast::<Block>().add(slot).write(*block) }
            }

            #[inline(always)]
            fn collect(self, blocks: &[&Block]) -> $register {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { <$register>::collect(blocks) }
            }

            #[inline(always)]
            fn counters<const N: usize>(self, first: &Block) -> [$register; N] {
                let low = u128::from_be_bytes(*first) as u64;
                if low.checked_add((N * Self::SLOTS) as u64).is_none() {
                    // A carry into the upper half, once in 2^64 blocks.
                    return counters(self, first);
                }
                // SAFETY: the token in `self` proves the instructions.
                unsafe { consecutive(first) }
            }

            #[inline(always)]
            fn more_counters<const N: usize>(self, first: &Block) -> [$register; N] {
                if usize::from(first[15]) + N * Self::SLOTS > 256 {
                    return self.counters(first);
                }
                // SAFETY: the token in `self` proves the instructions.
                unsafe { consecutive_in_last_byte(first) }
            }

            #[inline(always)]
            unsafe fn gather(self, pointers: &[*mut u8]) -> [$register; STEP_BLOCKS] {
                // SAFETY: the token in `self` proves the instructions, and the caller guarantees the bytes at the pointers.
                unsafe { <$register>::gather(pointers) }
            }

            #[inline(always)]
            unsafe fn scatter(self, vectors: [$register; STEP_BLOCKS], pointers: &[*mut u8]) {
                // SAFETY: the token in `self` proves the instructions, and the caller guarantees the bytes at the pointers.
                unsafe { <$register>::scatter(vectors, pointers) }
            }

            // Block by block, volatile, because the compiler would make registers of the blocks: shuffles take the ports of AES.
            #[inline(always)]
            unsafe fn gather_to(self, pointers: &[*mut u8], vectors: &mut [$register; STEP_BLOCKS]) {
                let to = vectors.as_mut_ptr().cast::<__m128i>();
                for (slot, from) in pointers[..Self::SLOTS].iter().enumerate() {
                    for j in 0..STEP_BLOCKS {
                        // SAFETY: the caller guarantees `STEP_BLOCKS` blocks at the pointer, and the vectors are as many for each slot.
                        unsafe {
                            let block = _mm_loadu_si128(from.cast::<__m128i>().add(j));
                            to.add(j * Self::SLOTS + slot).write_volatile(block);
                        }
                    }
                }
            }

            #[inline(always)]
            unsafe fn scatter_from(self, vectors: &[$register; STEP_BLOCKS], pointers: &[*mut u8]) {
                let from = vectors.as_ptr().cast::<__m128i>();
                for (slot, to) in pointers[..Self::SLOTS].iter().enumerate() {
                    for j in 0..STEP_BLOCKS {
                        // SAFETY: as in `gather_to`.
                        unsafe {
                            let block = from.add(j * Self::SLOTS + slot).read_volatile();
                            _mm_storeu_si128(to.cast::<__m128i>().add(j), block);
                        }
                    }
                }
            }

            #[inline(always)]
            fn encrypt<const G: usize, const K: usize>(
                self,
                keys: &RoundKeys<Block>,
                x: &mut [[$register; G]; K],
                between_rounds: &mut impl Interleave,
            ) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { encrypt(keys, x, between_rounds) }
            }

            #[inline(always)]
            fn inverse_keys<'k>(self, keys: &'k RoundKeys<Block>, buffer: &'k mut KeyBuffer<RoundKeys<Block>>) -> &'k RoundKeys<Block> {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { keys::inverse_keys(keys, buffer) }
            }

            #[inline(always)]
            fn decrypt<const G: usize>(self, keys: &RoundKeys<Block>, x: &mut [$register; G]) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { decrypt(keys, x) }
            }

            #[inline(always)]
            fn encrypt_lanes<const G: usize, const K: usize>(
                self,
                keys: &Self::LaneRoundKeys,
                first: usize,
                x: &mut [[$register; G]; K],
                between_rounds: &mut impl Interleave,
            ) {
                assert!(first + G <= MAX_GROUPS);
                // SAFETY: the token in `self` proves the instructions.
                unsafe { encrypt(&(keys, first), x, between_rounds) }
            }

            #[inline(always)]
            fn encrypt_ccm<const G: usize>(
                self,
                keys: &RoundKeys<Block>,
                x: &mut [[$register; G]; 2],
                input: (&[[$register; STEP_BLOCKS]; G], usize),
                decrypts: bool,
                between_rounds: &mut impl Interleave,
            ) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { encrypt_ccm(keys, x, input, decrypts, between_rounds) }
            }

            #[inline(always)]
            fn encrypt_ccm_lanes<const G: usize>(
                self,
                keys: &Self::LaneRoundKeys,
                x: &mut [[$register; G]; 2],
                input: (&[[$register; STEP_BLOCKS]; G], usize),
                decrypts: bool,
                between_rounds: &mut impl Interleave,
            ) {
                assert!(G <= MAX_GROUPS);
                // SAFETY: the token in `self` proves the instructions.
                unsafe { encrypt_ccm(&(keys, 0), x, input, decrypts, between_rounds) }
            }

            #[inline(always)]
            fn zero_lane_keys(self) -> Self::LaneRoundKeys {
                LaneRoundKeys { round_keys: [[self.zero(); MAX_GROUPS]; MAX_ROUNDS + 1], rounds: 0, groups: 0 }
            }

            #[inline(always)]
            fn set_lane_key(self, lane_keys: &mut Self::LaneRoundKeys, lane: usize, keys: &RoundKeys<Block>) {
                let group = lane / Self::SLOTS;
                let slot = lane - group * Self::SLOTS;
                lane_keys.begin(keys.rounds(), group);
                // Two loops: the compiler unrolls the first, but would not for a range with `..=`.
                for round in 0..MIN_ROUNDS + 1 {
                    self.set_slot(&mut lane_keys.round_keys[round][group], slot, &keys.round_keys[round]);
                }
                for round in MIN_ROUNDS + 1..keys.rounds() + 1 {
                    self.set_slot(&mut lane_keys.round_keys[round][group], slot, &keys.round_keys[round]);
                }
            }

            #[inline(always)]
            fn set_lane_keys(self, lane_keys: &mut Self::LaneRoundKeys, group: usize, keys: &[&RoundKeys<Block>]) {
                #[inline(always)]
                fn round_key<'k>(keys: &[&'k RoundKeys<Block>], round: usize) -> [&'k Block; MAX_SLOTS] {
                    let mut blocks = [&keys[0].round_keys[round]; MAX_SLOTS];
                    for slot in 0..<$name as Engine>::SLOTS {
                        blocks[slot] = &keys[slot].round_keys[round];
                    }
                    blocks
                }
                lane_keys.begin(keys[0].rounds(), group);
                // Two loops, as above.
                for round in 0..MIN_ROUNDS + 1 {
                    lane_keys.round_keys[round][group] = self.collect(&round_key(keys, round));
                }
                for round in MIN_ROUNDS + 1..lane_keys.rounds + 1 {
                    lane_keys.round_keys[round][group] = self.collect(&round_key(keys, round));
                }
            }

            #[inline(always)]
            fn encrypt_block(self, keys: &RoundKeys<Block>, block: &mut Block) {
                // SAFETY: the token in `self` proves AES-NI at every width.
                unsafe { chain::encrypt_block(keys, block) }
            }

            #[inline(always)]
            fn cbc_encrypt_blocks(self, keys: &RoundKeys<Block>, chain: &mut Block, data: &mut [u8]) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { chain::cbc_encrypt_blocks(keys, chain, data) }
            }
        }

        impl CcmEngine for $name {
            #[inline]
            fn run_ccm<O: CcmOperation>(self, keys: &RoundKeys<Block>, operation: O) -> O::Output {
                #[target_feature(enable = $features)]
                fn with_features<O: CcmOperation>(
                    engine: $name,
                    keys: &RoundKeys<Block>,
                    operation: O,
                    _registers: usize,
                ) -> O::Output {
                    $(if _registers <= $ccm_small {
                        return operation.call::<$name, $ccm_small, { $ccm_small * <$name as Engine>::SLOTS }>(engine, keys);
                    })*
                    operation.call::<$name, $ccm_flight, { $ccm_flight * <$name as Engine>::SLOTS }>(engine, keys)
                }
                const SMALLER: &[usize] = &[$($ccm_small),*];
                let (mut operation, mut registers) = (operation, $ccm_flight);
                if !SMALLER.is_empty() {
                    let rest;
                    registers = cpu::ccm_registers();
                    (operation, rest) = operation.divide(registers * Self::SLOTS);
                    if let Some(rest) = rest {
                        self.run_ccm(keys, rest);
                    }
                    registers = registers.min(operation.most_blocks().div_ceil(Self::SLOTS));
                }
                // SAFETY: the token in `self` proves that the machine has these features.
                unsafe { with_features(self, keys, operation, registers) }
            }

            #[inline(always)]
            fn and(self, a: $register, b: $register) -> $register {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { a.and(b) }
            }

            #[inline(always)]
            fn reverse(self, a: $register) -> $register {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { a.reverse() }
            }

            #[inline(always)]
            fn increment(self, a: $register) -> $register {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { a.add64(<$register>::splat(_mm_set_epi64x(0, 1))) }
            }

            #[inline(always)]
            fn ccm_blocks(
                self,
                keys: &RoundKeys<Block>,
                mac: &mut Block,
                counter: &mut Block,
                data: &mut [u8],
                direction: CipherDirection,
            ) {
                // SAFETY: the token in `self` proves the instructions.
                unsafe { chain::ccm_blocks::<$register>(keys, mac, counter, data, direction) }
            }
        }
    };
}

engine!(
    /// The engine with 128-bit registers, one block each.
    AesNi, __m128i, "aes,ssse3,sse4.1", 8, 4
);
engine!(
    /// The engine with 256-bit registers, two blocks each.
    Vaes256, __m256i, "aes,ssse3,sse4.1,avx,avx2,vaes", 8, 4
);
engine!(
    /// The engine with 512-bit registers, four blocks each.
    Vaes512, __m512i, "aes,ssse3,sse4.1,avx,avx2,vaes,avx512f,avx512bw,avx512dq,avx512vl", 8 or 4, 8 or 2 or 4
);

/// Blocks of consecutive big-endian numbers, starting with `first`. Their lower halves must not overflow.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn consecutive<R: BlockRegister, const N: usize>(first: &Block) -> [R; N] {
    // SAFETY: the caller guarantees the instructions, and `SLOT_NUMBERS` is as long as the longest register.
    unsafe {
        let numbers = R::load(SLOT_NUMBERS.as_ptr().cast());
        let step = R::splat(_mm_set_epi64x(0, R::SLOTS as i64));
        let first = u128::from_be_bytes(*first);
        let first = _mm_set_epi64x((first >> 64) as i64, first as i64);
        let mut next = R::splat(first).add64(numbers);
        let mut registers = [next; N];
        for register in &mut registers {
            *register = next.reverse();
            next = next.add64(step);
        }
        registers
    }
}

/// Like [`consecutive`], without the shuffles, which take the ports of AES. Only the last bytes of the blocks differ.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn consecutive_in_last_byte<R: BlockRegister, const N: usize>(first: &Block) -> [R; N] {
    // SAFETY: the caller guarantees the instructions, and `SLOT_NUMBERS` is as long as the longest register.
    unsafe {
        let numbers = R::load(SLOT_NUMBERS.as_ptr().cast()).reverse();
        let step = R::splat(_mm_set_epi64x((R::SLOTS as i64) << 56, 0));
        let first = u128::from_le_bytes(*first);
        let (mut low, mut high) = (first as u64, (first >> 64) as u64);
        // Takes both halves to registers: to load a block whose halves were just written would stall. SAFETY: there are no instructions.
        core::arch::asm!("/* {} {} */", inout(reg) low, inout(reg) high, options(pure, nomem, nostack, preserves_flags));
        let mut next = R::splat(_mm_set_epi64x(high as i64, low as i64)).add64(numbers);
        let mut registers = [next; N];
        for register in &mut registers {
            *register = next;
            next = next.add64(step);
        }
        registers
    }
}

/// Largest number of blocks in a register.
const MAX_SLOTS: usize = 4;

/// The index of each slot, little-endian in its first eight bytes.
const SLOT_NUMBERS: [Block; MAX_SLOTS] = {
    let mut numbers = [[0; 16]; MAX_SLOTS];
    let mut slot = 0;
    while slot < MAX_SLOTS {
        numbers[slot][0] = slot as u8;
        slot += 1;
    }
    numbers
};

/// A source of round keys.
trait RoundKeySource<R> {
    /// Whether CCM unrolls the rounds between which data moves. Not for one block a register with a key each: the compiler would do these
    /// rounds after the moves, with their keys on the stack.
    const IS_UNROLLED: bool = true;
    fn rounds(&self) -> usize;
    /// The round key for vector `group` of a row.
    ///
    /// # Safety
    /// The machine must have the instructions of `R`.
    unsafe fn round_key(&self, round: usize, group: usize) -> R;
}

/// The round keys of all lanes, and the group that is vector 0 of a row.
impl<R: AesRounds> RoundKeySource<R> for (&LaneRoundKeys<R>, usize) {
    const IS_UNROLLED: bool = size_of::<R>() > 16;

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0.rounds
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize, group: usize) -> R {
        // Volatile: the compiler would read the keys of several rounds early, and keep them on the stack. SAFETY: it is a reference.
        unsafe { core::ptr::from_ref(&self.0.round_keys[round][self.1 + group]).read_volatile() }
    }
}

// Loops, not closures: a closure is a separate function without the target features. If the compiler does not inline it, every
// instruction in it becomes a call.

/// Encrypts `K` rows of `G` vectors.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn encrypt<R: AesRounds, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<R>,
    x: &mut [[R; G]; K],
    between_rounds: &mut impl Interleave,
) {
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        rounds_before_last(keys, &mut y, between_rounds, false);
        for g in 0..G {
            let key = keys.round_key(keys.rounds(), g);
            for row in &mut y {
                row[g] = row[g].encrypt_last(key);
            }
        }
    }
    *x = y;
}

/// All rounds of an encryption but the last.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn rounds_before_last<R: AesRounds, I: Interleave, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<R>,
    y: &mut [[R; G]; K],
    between_rounds: &mut I,
    is_unrolled: bool,
) {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for g in 0..G {
            let key = keys.round_key(0, g);
            for row in &mut *y {
                row[g] = row[g].xor(key);
            }
        }
        let parts = if is_unrolled { I::PARTS } else { 0 };
        for round in 1..=parts {
            encrypt_round(keys, round, y);
            between_rounds.run_part(round);
        }
        for round in parts + 1..keys.rounds() {
            encrypt_round(keys, round, y);
            if !is_unrolled && round <= I::PARTS {
                between_rounds.run_part(round);
            }
        }
    }
}

/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn encrypt_round<R: AesRounds, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<R>,
    round: usize,
    y: &mut [[R; G]; K],
) {
    for g in 0..G {
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            let key = keys.round_key(round, g);
            for row in &mut *y {
                row[g] = row[g].encrypt_round(key);
            }
        }
    }
}

/// [`Engine::encrypt_ccm`]. The input is XORed into the last round key, which the last round adds.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn encrypt_ccm<R: AesRounds, S: RoundKeySource<R>, const G: usize>(
    keys: &S,
    x: &mut [[R; G]; 2],
    (input, block): (&[[R; STEP_BLOCKS]; G], usize),
    decrypts: bool,
    between_rounds: &mut impl Interleave,
) {
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        rounds_before_last(keys, &mut y, between_rounds, S::IS_UNROLLED);
        // The compiler must not read the key once for all blocks: it would keep a copy on the stack, which nothing wipes.
        let last = core::hint::black_box(keys.rounds()).min(MAX_ROUNDS);
        let [chains, key_stream] = &mut y;
        for g in 0..G {
            let key = keys.round_key(last, g);
            let with_input = key.xor(input[g][block]);
            key_stream[g] = key_stream[g].encrypt_last(with_input);
            chains[g] = chains[g].encrypt_last(if decrypts { key } else { with_input });
        }
    }
    *x = y;
}

/// Decrypts with the equivalent inverse cipher and its round keys.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn decrypt<R: AesRounds, const G: usize>(keys: &impl RoundKeySource<R>, x: &mut [R; G]) {
    let rounds = keys.rounds();
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let key = keys.round_key(0, 0);
        for y in &mut y {
            *y = y.xor(key);
        }
        for round in 1..rounds {
            let key = keys.round_key(round, 0);
            for y in &mut y {
                *y = y.decrypt_round(key);
            }
        }
        let key = keys.round_key(rounds, 0);
        for y in &mut y {
            *y = y.decrypt_last(key);
        }
    }
    *x = y;
}
