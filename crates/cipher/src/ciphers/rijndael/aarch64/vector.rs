//! A block in one register or in two.

// All functions here are inlined into functions of `mod.rs` that enable the target features.
#![allow(inline_always_mismatching_target_features)]

use core::arch::aarch64::*;
use core::marker::PhantomData;

use crate::block::{Block, BlockBytes};
use crate::ciphers::rijndael::shape::before_instruction;
use crate::engine::register_methods;

/// A block in registers.
///
/// # Safety
/// The machine must have the AES instructions for every method, and pointers must be valid for the bytes of a block.
pub trait Vector: Copy + 'static {
    type Block: BlockBytes;

    unsafe fn load(block: *const u8) -> Self;
    unsafe fn store(self, block: *mut u8);
    unsafe fn zero() -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// Permutes the bytes so that ShiftRows of AESE becomes that of this block length.
    unsafe fn arrange(self) -> Self;
    /// The inverse of `arrange` for the bytes of the block.
    unsafe fn undo_arrange(self) -> Self;
    /// Permutes the bytes so that InvShiftRows of AESD becomes that of this block length.
    unsafe fn arrange_inverse(self) -> Self;
    /// One round. The round key has been arranged, as in the methods below.
    unsafe fn encrypt_round(self, round_key: Self) -> Self;
    /// The last round, with the round keys before and after it. `last` has not been arranged.
    unsafe fn encrypt_last(self, round_key: Self, last: Self) -> Self;
    unsafe fn decrypt_round(self, round_key: Self) -> Self;
    unsafe fn decrypt_last(self, round_key: Self, last: Self) -> Self;
    unsafe fn inverse_mix_columns(self) -> Self;
}

/// The S-box on each byte of a word.
///
/// # Safety
/// The machine must have the AES instructions.
#[inline(always)]
pub(super) unsafe fn sub_word(word: u32) -> u32 {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let columns = vreinterpretq_u8_u32(vdupq_n_u32(word));
        vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vaeseq_u8(columns, vdupq_n_u8(0))))
    }
}

/// A block of 128 bits.
#[derive(Clone, Copy)]
pub struct OneRegister(uint8x16_t);

impl OneRegister {
    register_methods! {
        pub(super) fn and(self, other) = OneRegister(vandq_u8(self.0, other.0));
        /// Reverses the bytes.
        pub(super) fn reverse(self) = {
            let halves = vrev64q_u8(self.0);
            OneRegister(vextq_u8::<8>(halves, halves))
        };
        /// Adds one to the first eight bytes as a little-endian number.
        pub(super) fn increment(self) = {
            let one = vsetq_lane_u64::<0>(1, vdupq_n_u64(0));
            OneRegister(vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(self.0), one)))
        };
    }
}

impl Vector for OneRegister {
    type Block = Block;

    #[inline(always)]
    unsafe fn load(block: *const u8) -> Self {
        // SAFETY: the caller guarantees 16 bytes.
        unsafe { OneRegister(vld1q_u8(block)) }
    }

    #[inline(always)]
    unsafe fn store(self, block: *mut u8) {
        // SAFETY: the caller guarantees 16 bytes.
        unsafe { vst1q_u8(block, self.0) }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { OneRegister(vdupq_n_u8(0)) }
    }

    register_methods! {
        fn xor(self, other) = OneRegister(veorq_u8(self.0, other.0));
    }

    #[inline(always)]
    unsafe fn arrange(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn undo_arrange(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn arrange_inverse(self) -> Self {
        self
    }

    register_methods! {
        fn encrypt_round(self, round_key) = OneRegister(vaesmcq_u8(vaeseq_u8(self.0, round_key.0)));
        fn encrypt_last(self, round_key, last) = OneRegister(vaeseq_u8(self.0, round_key.0)).xor(last);
        fn decrypt_round(self, round_key) = OneRegister(vaesimcq_u8(vaesdq_u8(self.0, round_key.0)));
        fn decrypt_last(self, round_key, last) = OneRegister(vaesdq_u8(self.0, round_key.0)).xor(last);
        fn inverse_mix_columns(self) = OneRegister(vaesimcq_u8(self.0));
    }
}

/// A block of 160 to 256 bits: columns 0 to 3 in the first register, the others at the start of the second. The bytes after them are
/// ignored.
#[derive(Clone, Copy)]
pub struct TwoRegisters<B> {
    low: OneRegister,
    high: OneRegister,
    block: PhantomData<B>,
}

/// The byte permutation of two registers before an AES instruction.
const fn order(nb: usize, inverse: bool) -> [[u8; 16]; 2] {
    let mut order = [[0; 16]; 2];
    let mut byte = 0;
    while byte < 32 {
        order[byte / 16][byte % 16] = before_instruction(nb, 1, byte, inverse) as u8;
        byte += 1;
    }
    order
}

/// The inverse of `order` for the bytes of a block.
const fn undo_order(nb: usize) -> [[u8; 16]; 2] {
    let mut back = [ascending(0), ascending(16)];
    let mut byte = 0;
    while byte < 32 {
        let from = before_instruction(nb, 1, byte, false);
        // A byte behind the block may stay although another byte takes its place: only bytes that move are inverted.
        if from != byte {
            back[from / 16][from % 16] = byte as u8;
        }
        byte += 1;
    }
    back
}

/// The indices `from` to `from + 15`.
const fn ascending(from: usize) -> [u8; 16] {
    let mut order = [0; 16];
    let mut byte = 0;
    while byte < 16 {
        order[byte] = (from + byte) as u8;
        byte += 1;
    }
    order
}

impl<B: BlockBytes> TwoRegisters<B> {
    const FORWARD: [[u8; 16]; 2] = order(B::BYTES / 4, false);
    const UNDO_FORWARD: [[u8; 16]; 2] = undo_order(B::BYTES / 4);
    const BACKWARD: [[u8; 16]; 2] = order(B::BYTES / 4, true);
    /// Selects the last 16 bytes of the block from the two registers.
    const LAST: [u8; 16] = ascending(B::BYTES - 16);
    /// Selects the second register from the last 16 bytes of the block, with zeros after it.
    const HIGH: [u8; 16] = ascending(32 - B::BYTES);

    #[inline(always)]
    fn new(low: OneRegister, high: OneRegister) -> Self {
        TwoRegisters { low, high, block: PhantomData }
    }

    /// Selects bytes of the two registers.
    #[inline(always)]
    unsafe fn take(self, order: &[u8; 16]) -> OneRegister {
        // SAFETY: the caller guarantees the instructions, and `order` has 16 bytes.
        unsafe { OneRegister(vqtbl2q_u8(uint8x16x2_t(self.low.0, self.high.0), vld1q_u8(order.as_ptr()))) }
    }
}

impl<B: BlockBytes> Vector for TwoRegisters<B> {
    type Block = B;

    #[inline(always)]
    unsafe fn load(block: *const u8) -> Self {
        // SAFETY: the caller guarantees the instructions and a block's bytes, of which these are the first and the last 16.
        unsafe {
            let last = vld1q_u8(block.add(B::BYTES - 16));
            Self::new(OneRegister::load(block), OneRegister(vqtbl1q_u8(last, vld1q_u8(Self::HIGH.as_ptr()))))
        }
    }

    #[inline(always)]
    unsafe fn store(self, block: *mut u8) {
        // SAFETY: the caller guarantees the instructions and a block's bytes, of which these are the first and the last 16.
        unsafe {
            self.low.store(block);
            self.take(&Self::LAST).store(block.add(B::BYTES - 16));
        }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { Self::new(OneRegister::zero(), OneRegister::zero()) }
    }

    register_methods! {
        fn xor(self, other) = Self::new(self.low.xor(other.low), self.high.xor(other.high));
        fn arrange(self) = Self::new(self.take(&Self::FORWARD[0]), self.take(&Self::FORWARD[1]));
        fn undo_arrange(self) = Self::new(self.take(&Self::UNDO_FORWARD[0]), self.take(&Self::UNDO_FORWARD[1]));
        fn arrange_inverse(self) = Self::new(self.take(&Self::BACKWARD[0]), self.take(&Self::BACKWARD[1]));
        fn encrypt_round(self, round_key) = {
            let x = self.arrange();
            Self::new(x.low.encrypt_round(round_key.low), x.high.encrypt_round(round_key.high))
        };
        fn encrypt_last(self, round_key, last) = {
            let x = self.arrange();
            Self::new(x.low.encrypt_last(round_key.low, last.low), x.high.encrypt_last(round_key.high, last.high))
        };
        fn decrypt_round(self, round_key) = {
            let x = self.arrange_inverse();
            Self::new(x.low.decrypt_round(round_key.low), x.high.decrypt_round(round_key.high))
        };
        fn decrypt_last(self, round_key, last) = {
            let x = self.arrange_inverse();
            Self::new(x.low.decrypt_last(round_key.low, last.low), x.high.decrypt_last(round_key.high, last.high))
        };
        fn inverse_mix_columns(self) = Self::new(self.low.inverse_mix_columns(), self.high.inverse_mix_columns());
    }
}
