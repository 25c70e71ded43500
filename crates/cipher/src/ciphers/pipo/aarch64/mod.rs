//! PIPO on the 128-bit registers of aarch64: byte `b` of a register is the row of block `b`.
//!
//! Rotating a row takes two instructions: a shift, and a shift that keeps the bits that it does not fill. In the bitsliced form of
//! `portable/` it would take one, but packing would cost more than the saved instruction.

use core::arch::aarch64::*;

use super::keys::{self, RoundKeys};
use super::layers::{Block, StateRow, decrypt, encrypt};
use super::portable::encrypt_block;
use super::registers::{LaneRoundKeys, ROUND_NUMBERS_IN_BYTES, RowRegister, engine, repeat};
use crate::engine::{Engine, Interleave, Operation, STEP_BLOCKS, counters, register_methods};

engine!(
    /// The engine with 16 blocks in eight 128-bit registers, a byte for each block in a register.
    Neon,
    uint8x16_t,
    "neon",
    repeat
);

impl StateRow for uint8x16_t {
    type Word = u64;

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: the caller guarantees NEON.
        unsafe { vreinterpretq_u8_u64(vdupq_n_u64(word)) }
    }

    register_methods! {
        fn xor(self, a) = veorq_u8(self, a);
        fn xor3(self, a, b) = veorq_u8(veorq_u8(self, a), b);
        fn xnor(self, a) = veorq_u8(self, vmvnq_u8(a));
        fn xnor3(self, a, b) = vmvnq_u8(self).xor3(a, b);
        fn xor_and(self, a, b) = veorq_u8(self, vandq_u8(a, b));
        fn xor_or(self, a, b) = veorq_u8(self, vorrq_u8(a, b));
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: u32>(self) -> Self {
        const { assert!(LEFT >= 1 && LEFT <= 7) };
        // SAFETY: the caller guarantees NEON.
        unsafe {
            match LEFT {
                1 => vsliq_n_u8::<1>(vshrq_n_u8::<7>(self), self),
                2 => vsliq_n_u8::<2>(vshrq_n_u8::<6>(self), self),
                3 => vsliq_n_u8::<3>(vshrq_n_u8::<5>(self), self),
                4 => vsliq_n_u8::<4>(vshrq_n_u8::<4>(self), self),
                5 => vsliq_n_u8::<5>(vshrq_n_u8::<3>(self), self),
                6 => vsliq_n_u8::<6>(vshrq_n_u8::<2>(self), self),
                _ => vsliq_n_u8::<7>(vshrq_n_u8::<1>(self), self),
            }
        }
    }
}

/// Separates the bytes of each pair of registers: those with even indices, then those with odd ones.
///
/// # Safety
/// The machine must have NEON.
#[inline(always)]
unsafe fn separate([x0, x1, x2, x3, x4, x5, x6, x7]: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    // SAFETY: the caller guarantees NEON.
    unsafe {
        [
            vuzp1q_u8(x0, x1),
            vuzp1q_u8(x2, x3),
            vuzp1q_u8(x4, x5),
            vuzp1q_u8(x6, x7),
            vuzp2q_u8(x0, x1),
            vuzp2q_u8(x2, x3),
            vuzp2q_u8(x4, x5),
            vuzp2q_u8(x6, x7),
        ]
    }
}

/// The inverse of `separate`.
///
/// # Safety
/// The machine must have NEON.
#[inline(always)]
unsafe fn interleave([x0, x1, x2, x3, x4, x5, x6, x7]: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    // SAFETY: the caller guarantees NEON.
    unsafe {
        [
            vzip1q_u8(x0, x4),
            vzip2q_u8(x0, x4),
            vzip1q_u8(x1, x5),
            vzip2q_u8(x1, x5),
            vzip1q_u8(x2, x6),
            vzip2q_u8(x2, x6),
            vzip1q_u8(x3, x7),
            vzip2q_u8(x3, x7),
        ]
    }
}

/// The lower halves of two registers, and the upper halves.
///
/// # Safety
/// The machine must have NEON.
#[inline(always)]
unsafe fn halves(a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
    // SAFETY: the caller guarantees NEON.
    unsafe {
        let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
        [vreinterpretq_u8_u64(vzip1q_u64(a, b)), vreinterpretq_u8_u64(vzip2q_u64(a, b))]
    }
}

const NUMBERS: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

impl RowRegister for uint8x16_t {
    const SLOTS: usize = 16;

    #[inline(always)]
    unsafe fn round_number(round: usize) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { Self::splat(ROUND_NUMBERS_IN_BYTES[round]) }
    }

    #[inline(always)]
    unsafe fn load_register(bytes: *const u8) -> Self {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { vld1q_u8(bytes) }
    }

    #[inline(always)]
    unsafe fn store_register(self, bytes: *mut u8) {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { vst1q_u8(bytes, self) }
    }

    /// The three lowest bits of a byte's index are its row. Each separation moves the lowest bit of the index to the top; after three of
    /// them these bits are the number of the register.
    #[inline(always)]
    unsafe fn pack(x: [Self; 8]) -> [Self; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe { separate(separate(separate(x))) }
    }

    #[inline(always)]
    unsafe fn unpack(rows: [Self; 8]) -> [Self; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe { interleave(interleave(interleave(rows))) }
    }

    #[inline(always)]
    unsafe fn counters(block: &Block, first: u16) -> [Self; 8] {
        let [high, low] = first.to_be_bytes();
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            let mut rows = [vdupq_n_u8(block[0]); 8];
            for row in 1..6 {
                rows[row] = vdupq_n_u8(block[row]);
            }
            let low = vdupq_n_u8(low);
            rows[7] = vaddq_u8(low, vld1q_u8(NUMBERS.as_ptr()));
            // The comparison is −1 where there is a carry.
            rows[6] = vsubq_u8(vdupq_n_u8(high), vcltq_u8(rows[7], low));
            rows
        }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [[Self; 8]; STEP_BLOCKS] {
        let pointers = &pointers[..Self::SLOTS];
        // SAFETY: the caller guarantees 32 bytes at each pointer and for the instructions.
        unsafe {
            let mut states = [[vdupq_n_u8(0); 8]; STEP_BLOCKS];
            for i in 0..8 {
                let [a, b] = [pointers[2 * i].cast_const(), pointers[2 * i + 1].cast_const()];
                let [x0, x1] = halves(vld1q_u8(a), vld1q_u8(b));
                let [x2, x3] = halves(vld1q_u8(a.add(16)), vld1q_u8(b.add(16)));
                states[0][i] = x0;
                states[1][i] = x1;
                states[2][i] = x2;
                states[3][i] = x3;
            }
            for state in &mut states {
                *state = Self::pack(*state);
            }
            states
        }
    }

    #[inline(always)]
    unsafe fn scatter(mut states: [[Self; 8]; STEP_BLOCKS], pointers: &[*mut u8]) {
        let pointers = &pointers[..Self::SLOTS];
        // SAFETY: the caller guarantees 32 bytes at each pointer and for the instructions.
        unsafe {
            for state in &mut states {
                *state = Self::unpack(*state);
            }
            for i in 0..8 {
                let [a, b] = [pointers[2 * i], pointers[2 * i + 1]];
                let [a0, b0] = halves(states[0][i], states[1][i]);
                let [a1, b1] = halves(states[2][i], states[3][i]);
                vst1q_u8(a, a0);
                vst1q_u8(a.add(16), a1);
                vst1q_u8(b, b0);
                vst1q_u8(b.add(16), b1);
            }
        }
    }

    #[inline(always)]
    fn slot(&self, slot: usize) -> u8 {
        assert!(slot < Self::SLOTS);
        // SAFETY: a register is 16 bytes, and `slot` was checked.
        unsafe { core::ptr::from_ref(self).cast::<u8>().add(slot).read() }
    }

    #[inline(always)]
    fn set_slot(&mut self, slot: usize, row: u8) {
        assert!(slot < Self::SLOTS);
        // SAFETY: a register is 16 bytes, and `slot` was checked.
        unsafe { core::ptr::from_mut(self).cast::<u8>().add(slot).write(row) }
    }

    #[inline(always)]
    fn set_slot_of_word(&mut self, slot: usize, word: u64) {
        self.set_slot(slot, word as u8);
    }
}
