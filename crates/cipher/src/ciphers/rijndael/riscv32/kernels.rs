//! AES in assembly: eight blocks (barrel-shiftrows), or two (fixsliced) where a chain takes one at a time; constant time.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::block::Block;
use crate::cpu::Riscv32;
use crate::engine::Direction;

core::arch::global_asm!(
    include_str!("macros.S"),
    include_str!("bytes.S"),
    include_str!("generated/eight.S"),
    include_str!("generated/two.S"),
    include_str!("blocks.S"),
    include_str!("ctr.S"),
    include_str!("chain.S"),
    include_str!("generated/eight_inverse.S"),
    include_str!("decrypt.S"),
    options(raw)
);

/// Most rounds.
const MAX_ROUNDS: usize = 14;
/// What a round key has added from round 1 on: the circuits leave the constant of the S-box out.
const CONSTANT: u8 = 0x63;

/// Round keys for eight blocks: the number of rounds, then 32 words each; bit `i` of row `r` is word `4 i + r`, whose byte
/// `c` is ones or zeros, or, for lanes with keys of their own, has a bit for each of them.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(C)]
pub(crate) struct Eight {
    rounds: u32,
    words: [[u32; 32]; MAX_ROUNDS + 1],
}

/// Round keys for two blocks: eight words each; bit `8 r + 2 c + b` of word `i` is bit `i` of row `r`, block `b`. Column
/// `c` of row `r` stands `k r` places further on in the key of round `k`.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(C)]
pub(crate) struct Two {
    rounds: u32,
    words: [[u32; 8]; MAX_ROUNDS + 1],
}

// SAFETY: the signatures of the functions are those that the assembly files state.
unsafe extern "C" {
    fn tress_aes8_ecb_encrypt(keys: *const Eight, out: *mut u8, input: *const u8, bytes: usize);
    fn tress_aes8_ecb_decrypt(keys: *const Eight, out: *mut u8, input: *const u8, bytes: usize);
    fn tress_aes8_ctr(
        keys: *const Eight,
        counter: *mut Block,
        out: *mut u8,
        input: *const u8,
        bytes: usize,
        room: *mut [u32; 40],
    );
    fn tress_aes8_cbc_decrypt(keys: *const Eight, iv: *mut Block, out: *mut u8, input: *const u8, bytes: usize);
    fn tress_aes2_encrypt(keys: *const Two, out: *mut [Block; 2], input: *const [Block; 2]);
    fn tress_aes2_cbc_encrypt(keys: *const Two, iv: *mut Block, out: *mut u8, input: *const u8, bytes: usize);
    fn tress_aes2_ccm_encrypt(keys: *const Two, state: *mut State, data: *mut u8, blocks: usize);
    fn tress_aes2_ccm_decrypt(keys: *const Two, state: *mut State, data: *mut u8, blocks: usize);
}

/// A chain and a counter, where the assembly wants words.
#[repr(C, align(4))]
struct State([Block; 2]);

impl Eight {
    pub(crate) const ZERO: Eight = Eight { rounds: 0, words: [[0; 32]; MAX_ROUNDS + 1] };

    /// The form of round keys of 16 bytes, one a round.
    pub(crate) fn new(round_keys: &[Block]) -> Eight {
        let mut keys = Self::ZERO;
        keys.rounds = round_keys.len() as u32 - 1;
        for (round, (words, block)) in keys.words.iter_mut().zip(round_keys).enumerate() {
            for (place, byte) in block.iter().enumerate() {
                let byte = if round > 0 { byte ^ CONSTANT } else { *byte };
                for bit in 0..8 {
                    let ones = u32::from(byte >> bit & 1) * 0xff;
                    words[4 * bit + place % 4] |= ones << (8 * (place / 4));
                }
            }
        }
        keys
    }

    pub(crate) fn rounds(&self) -> usize {
        self.rounds as usize
    }

    /// Takes the key of block `lane` from another value.
    pub(crate) fn set_lane(&mut self, lane: usize, own: &Eight) {
        let mask = 0x0101_0101 << lane;
        self.rounds = own.rounds;
        for (merged, own) in self.words.as_flattened_mut().iter_mut().zip(own.words.as_flattened()) {
            *merged = *merged & !mask | own & mask;
        }
    }

    /// ECB on whole blocks.
    pub(crate) fn ecb(&self, _: Riscv32, blocks: &mut [Block], direction: Direction) {
        let (data, bytes) = (blocks.as_mut_ptr().cast::<u8>(), 16 * blocks.len());
        // SAFETY: keys and data are valid for their lengths; output may be input.
        unsafe {
            match direction {
                Direction::Encrypt => tress_aes8_ecb_encrypt(self, data, data, bytes),
                Direction::Decrypt => tress_aes8_ecb_decrypt(self, data, data, bytes),
            }
        }
    }

    /// CTR from a counter block on, which wraps.
    pub(crate) fn ctr(&self, _: Riscv32, counter: &mut Block, data: &mut [u8]) {
        let mut room = [0; 40];
        // SAFETY: all are valid for their lengths; output may be input. The room is wiped there.
        unsafe { tress_aes8_ctr(self, counter, data.as_mut_ptr(), data.as_ptr(), data.len(), &mut room) }
    }

    /// CBC decryption of whole blocks.
    pub(crate) fn cbc_decrypt(&self, _: Riscv32, iv: &mut Block, data: &mut [u8]) {
        debug_assert!(data.len().is_multiple_of(16));
        let whole = data.len() / 16 * 16;
        // SAFETY: all are valid for their lengths; output may be input.
        unsafe { tress_aes8_cbc_decrypt(self, iv, data.as_mut_ptr(), data.as_ptr(), whole) }
    }
}

impl Two {
    /// The form of round keys of 16 bytes, one a round.
    pub(crate) fn new(round_keys: &[Block]) -> Two {
        let mut keys = Two { rounds: round_keys.len() as u32 - 1, words: [[0; 8]; MAX_ROUNDS + 1] };
        for (round, (words, block)) in keys.words.iter_mut().zip(round_keys).enumerate() {
            for (place, byte) in block.iter().enumerate() {
                let byte = if round > 0 { byte ^ CONSTANT } else { *byte };
                let (row, column) = (place % 4, (place / 4 + round * (place % 4)) % 4);
                for bit in 0..8 {
                    words[bit] |= (u32::from(byte >> bit & 1) * 3) << (8 * row + 2 * column);
                }
            }
        }
        keys
    }

    pub(crate) fn encrypt(&self, _: Riscv32, blocks: &mut [Block; 2]) {
        // SAFETY: keys and blocks are valid; output may be input.
        unsafe { tress_aes2_encrypt(self, blocks, blocks) }
    }

    /// CBC encryption of whole blocks.
    pub(crate) fn cbc_encrypt(&self, _: Riscv32, iv: &mut Block, data: &mut [u8]) {
        debug_assert!(data.len().is_multiple_of(16));
        let whole = data.len() / 16 * 16;
        // SAFETY: all are valid for their lengths; output may be input.
        unsafe { tress_aes2_cbc_encrypt(self, iv, data.as_mut_ptr(), data.as_ptr(), whole) }
    }

    /// CCM over whole blocks: chain and counter go on.
    pub(crate) fn ccm(&self, _: Riscv32, mac: &mut Block, counter: &mut Block, data: &mut [u8], direction: Direction) {
        debug_assert!(data.len().is_multiple_of(16));
        let mut state = State([*mac, *counter]);
        let (data, blocks) = (data.as_mut_ptr(), data.len() / 16);
        // SAFETY: the state is two blocks at a word's border, the data are as many as said.
        unsafe {
            match direction {
                Direction::Encrypt => tress_aes2_ccm_encrypt(self, &mut state, data, blocks),
                Direction::Decrypt => tress_aes2_ccm_decrypt(self, &mut state, data, blocks),
            }
        }
        [*mac, *counter] = state.0;
        state.0.zeroize();
    }
}
