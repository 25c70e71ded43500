//! LEA in assembly. It uses the rotations of Zbb if the target has them.

use crate::block::Block;
use crate::ciphers::lea::keys::{ROUND_WORDS, RoundKeys};
use crate::ciphers::words::riscv32::KernelKeys;
use crate::cpu::Riscv32;
use crate::engine::CipherDirection;

core::arch::global_asm!(include_str!("lea.S"), options(raw));

// SAFETY: the signatures are those in the assembly file.
unsafe extern "C" {
    #[cfg_attr(target_feature = "zbb", link_name = "tress_lea_zbb_encrypt")]
    fn tress_lea_encrypt(keys: *const u32, key_bytes: usize, out: *mut u8, input: *const u8, bytes: usize);
    #[cfg_attr(target_feature = "zbb", link_name = "tress_lea_zbb_decrypt")]
    fn tress_lea_decrypt(keys: *const u32, key_bytes: usize, out: *mut u8, input: *const u8, bytes: usize);
    #[cfg_attr(target_feature = "zbb", link_name = "tress_lea_zbb_stream")]
    fn tress_lea_stream(
        keys: *const u32,
        key_bytes: usize,
        counter: *const Block,
        out: *mut u8,
        input: *const u8,
        bytes: usize,
    );
}

impl RoundKeys {
    /// Address and bytes of the round keys.
    fn parts(&self) -> (*const u32, usize) {
        (self.words.as_ptr(), 4 * ROUND_WORDS * self.rounds)
    }
}

impl KernelKeys for RoundKeys {
    fn ecb(&self, _: Riscv32, blocks: &mut [Block], direction: CipherDirection) {
        // A lane that has no key yet. The kernels take at least four rounds.
        if self.rounds == 0 {
            return;
        }
        let (data, bytes) = (blocks.as_mut_ptr().cast::<u8>(), 16 * blocks.len());
        let (keys, key_bytes) = self.parts();
        // SAFETY: the token proves the target; keys and data are valid for their lengths, and the output may be the input.
        unsafe {
            match direction {
                CipherDirection::Encrypt => tress_lea_encrypt(keys, key_bytes, data, data, bytes),
                CipherDirection::Decrypt => tress_lea_decrypt(keys, key_bytes, data, data, bytes),
            }
        }
    }

    fn ctr(&self, _: Riscv32, counter: &Block, data: &mut [u8]) {
        let (keys, key_bytes) = self.parts();
        // SAFETY: the token proves the target; all pointers are valid for their lengths, and the output may be the input.
        unsafe { tress_lea_stream(keys, key_bytes, counter, data.as_mut_ptr(), data.as_ptr(), data.len()) }
    }
}
