//! RC6-32/20 in assembly. It uses the rotations of Zbb if the target has them.

use crate::block::Block;
use crate::ciphers::rc6::keys::RoundKeys;
use crate::ciphers::words::riscv32::KernelKeys;
use crate::cpu::Riscv32;
use crate::engine::CipherDirection;

core::arch::global_asm!(include_str!("rc6.S"), options(raw));

/// Number of words of the round keys.
const WORDS: usize = 44;

// SAFETY: the signatures are those in the assembly file.
unsafe extern "C" {
    #[cfg_attr(target_feature = "zbb", link_name = "tress_rc6_zbb_encrypt")]
    fn tress_rc6_encrypt(keys: *const [u32; WORDS], out: *mut u8, input: *const u8, bytes: usize);
    #[cfg_attr(target_feature = "zbb", link_name = "tress_rc6_zbb_decrypt")]
    fn tress_rc6_decrypt(keys: *const [u32; WORDS], out: *mut u8, input: *const u8, bytes: usize);
    #[cfg_attr(target_feature = "zbb", link_name = "tress_rc6_zbb_stream")]
    fn tress_rc6_stream(keys: *const [u32; WORDS], counter: *mut Block, out: *mut u8, input: *const u8, bytes: usize);
}

impl KernelKeys for RoundKeys {
    fn ecb(&self, _: Riscv32, blocks: &mut [Block], direction: CipherDirection) {
        let (data, bytes) = (blocks.as_mut_ptr().cast::<u8>(), 16 * blocks.len());
        // SAFETY: the token proves the target; keys and data are valid for their lengths, and the output may be the input.
        unsafe {
            match direction {
                CipherDirection::Encrypt => tress_rc6_encrypt(&self.0, data, data, bytes),
                CipherDirection::Decrypt => tress_rc6_decrypt(&self.0, data, data, bytes),
            }
        }
    }

    fn ctr(&self, _: Riscv32, counter: &Block, data: &mut [u8]) {
        let mut counter = *counter;
        // SAFETY: the token proves the target; all pointers are valid for their lengths, and the output may be the input.
        unsafe { tress_rc6_stream(&self.0, &mut counter, data.as_mut_ptr(), data.as_ptr(), data.len()) }
    }
}
