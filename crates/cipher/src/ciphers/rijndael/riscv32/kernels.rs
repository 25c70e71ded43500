//! AES in constant-time assembly: eight blocks at a time (barrel-shiftrows), or two (fixsliced) for chains.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::block::Block;
use crate::cpu::Riscv32;
use crate::engine::CipherDirection;

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

/// Largest number of rounds.
const MAX_ROUNDS: usize = 14;
/// The constant of the S-box, which the circuits leave out. It is added to the round keys from round 1.
const CONSTANT: u8 = 0x63;

/// Round keys for eight blocks: the number of rounds, then 32 words for each round key. Bit `i` of row `r` is word `4 i + r`. Byte `c`
/// of a word is for column `c`: all ones or zeros if the blocks share a key, or a bit for each lane's key.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(C)]
pub(crate) struct EightBlockKeys {
    rounds: u32,
    words: [[u32; 32]; MAX_ROUNDS + 1],
}

/// Round keys for two blocks: the number of rounds, then eight words for each round key. Bit `8 r + 2 c + b` of word `i` is bit `i` of
/// row `r`, column `c`, block `b`. In the key of round `k`, column `c` of row `r` is moved by `k r` columns.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(C)]
pub(crate) struct TwoBlockKeys {
    rounds: u32,
    words: [[u32; 8]; MAX_ROUNDS + 1],
}

// SAFETY: the signatures are those in the assembly files.
unsafe extern "C" {
    fn tress_aes8_ecb_encrypt(keys: *const EightBlockKeys, out: *mut u8, input: *const u8, bytes: usize);
    fn tress_aes8_ecb_decrypt(keys: *const EightBlockKeys, out: *mut u8, input: *const u8, bytes: usize);
    fn tress_aes8_ctr(
        keys: *const EightBlockKeys,
        counter: *mut Block,
        out: *mut u8,
        input: *const u8,
        bytes: usize,
        room: *mut [u32; 40],
    );
    fn tress_aes8_cbc_decrypt(
        keys: *const EightBlockKeys,
        iv: *mut Block,
        out: *mut u8,
        input: *const u8,
        bytes: usize,
    );
    fn tress_aes2_encrypt(keys: *const TwoBlockKeys, out: *mut [Block; 2], input: *const [Block; 2]);
    fn tress_aes2_cbc_encrypt(keys: *const TwoBlockKeys, iv: *mut Block, out: *mut u8, input: *const u8, bytes: usize);
    fn tress_aes2_ccm_encrypt(keys: *const TwoBlockKeys, state: *mut ChainAndCounter, data: *mut u8, blocks: usize);
    fn tress_aes2_ccm_decrypt(keys: *const TwoBlockKeys, state: *mut ChainAndCounter, data: *mut u8, blocks: usize);
}

/// A chain and a counter, aligned to words as the assembly requires.
#[repr(C, align(4))]
struct ChainAndCounter([Block; 2]);

impl EightBlockKeys {
    pub(crate) const ZERO: EightBlockKeys = EightBlockKeys { rounds: 0, words: [[0; 32]; MAX_ROUNDS + 1] };

    /// Bitslices round keys, of which `round_keys` has one for each round.
    pub(crate) fn new(round_keys: &[Block]) -> EightBlockKeys {
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

    /// Copies the key of block `lane` from `own`.
    pub(crate) fn set_lane(&mut self, lane: usize, own: &EightBlockKeys) {
        let mask = 0x0101_0101 << lane;
        self.rounds = own.rounds;
        for (merged, own) in self.words.as_flattened_mut().iter_mut().zip(own.words.as_flattened()) {
            *merged = *merged & !mask | own & mask;
        }
    }

    /// ECB on whole blocks.
    pub(crate) fn ecb(&self, _: Riscv32, blocks: &mut [Block], direction: CipherDirection) {
        let (data, bytes) = (blocks.as_mut_ptr().cast::<u8>(), 16 * blocks.len());
        // SAFETY: the token proves RV32I; keys and data are valid for their lengths, and the output may be the input.
        unsafe {
            match direction {
                CipherDirection::Encrypt => tress_aes8_ecb_encrypt(self, data, data, bytes),
                CipherDirection::Decrypt => tress_aes8_ecb_decrypt(self, data, data, bytes),
            }
        }
    }

    /// CTR from a counter block, which wraps.
    pub(crate) fn ctr(&self, _: Riscv32, counter: &mut Block, data: &mut [u8]) {
        let mut room = [0; 40];
        // SAFETY: the token proves RV32I; all pointers are valid for their lengths, and the output may be the input. The callee wipes
        // `room`.
        unsafe { tress_aes8_ctr(self, counter, data.as_mut_ptr(), data.as_ptr(), data.len(), &mut room) }
    }

    /// CBC decryption of whole blocks.
    pub(crate) fn cbc_decrypt(&self, _: Riscv32, iv: &mut Block, data: &mut [u8]) {
        debug_assert!(data.len().is_multiple_of(16));
        let whole = data.len() / 16 * 16;
        // SAFETY: the token proves RV32I; all pointers are valid for their lengths, and the output may be the input.
        unsafe { tress_aes8_cbc_decrypt(self, iv, data.as_mut_ptr(), data.as_ptr(), whole) }
    }
}

impl TwoBlockKeys {
    /// Fixslices round keys, of which `round_keys` has one for each round. All other functions need an even number of rounds: the kernel
    /// looks for the last round key at every second one.
    pub(crate) fn new(round_keys: &[Block]) -> TwoBlockKeys {
        let mut keys = TwoBlockKeys { rounds: round_keys.len() as u32 - 1, words: [[0; 8]; MAX_ROUNDS + 1] };
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
        // SAFETY: the token proves RV32I, `RoundKeys::two` even rounds; keys and blocks are valid, and the output may be the input.
        unsafe { tress_aes2_encrypt(self, blocks, blocks) }
    }

    /// CBC encryption of whole blocks.
    pub(crate) fn cbc_encrypt(&self, _: Riscv32, iv: &mut Block, data: &mut [u8]) {
        debug_assert!(data.len().is_multiple_of(16));
        let whole = data.len() / 16 * 16;
        // SAFETY: the token proves RV32I, `RoundKeys::two` even rounds; all pointers are valid for their lengths, and the output may be
        // the input.
        unsafe { tress_aes2_cbc_encrypt(self, iv, data.as_mut_ptr(), data.as_ptr(), whole) }
    }

    /// CCM over whole blocks. Updates chain and counter.
    pub(crate) fn ccm(
        &self,
        _: Riscv32,
        mac: &mut Block,
        counter: &mut Block,
        data: &mut [u8],
        direction: CipherDirection,
    ) {
        debug_assert!(data.len().is_multiple_of(16));
        let mut state = ChainAndCounter([*mac, *counter]);
        let (data, blocks) = (data.as_mut_ptr(), data.len() / 16);
        // SAFETY: the token proves RV32I, `RoundKeys::two` even rounds; `state` is two blocks, aligned to words, and `data` has `blocks`
        // blocks.
        unsafe {
            match direction {
                CipherDirection::Encrypt => tress_aes2_ccm_encrypt(self, &mut state, data, blocks),
                CipherDirection::Decrypt => tress_aes2_ccm_decrypt(self, &mut state, data, blocks),
            }
        }
        [*mac, *counter] = state.0;
        state.0.zeroize();
    }
}
