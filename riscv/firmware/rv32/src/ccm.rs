//! AES-128-CCM (SP 800-38C) for packets: nonces of 13 bytes, tags of 8, no associated data. It uses the constant-time
//! kernel for one chain, which encrypts a counter block together with each block of the chain.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Length of a nonce in bytes.
pub const NONCE: usize = 13;
/// Length of a tag in bytes.
pub const TAG: usize = 8;
const BLOCK: usize = 16;
/// Rounds of AES-128.
const ROUNDS: usize = 10;

/// Flags of B_0 (SP 800-38C appendix A.2.1): tags of eight bytes, message length in two bytes.
const FLAGS: u8 = ((TAG as u8 - 2) / 2) << 3 | COUNTER_FLAGS;
/// Flags of counter blocks (appendix A.3): a counter of two bytes.
const COUNTER_FLAGS: u8 = 2 - 1;

/// The block of the chain and the counter block.
#[derive(Zeroize, ZeroizeOnDrop)]
#[repr(C, align(4))]
struct State([[u8; BLOCK]; 2]);

unsafe extern "C" {
    fn tress_aes2_expand_key(keys: *mut Keys, key: *const u8, bytes: usize);
    fn tress_aes2_encrypt(keys: *const Keys, out: *mut State, input: *const State);
    fn tress_aes2_ccm_encrypt(keys: *const Keys, state: *mut State, data: *mut u8, blocks: usize);
}

/// The number of rounds, and the round keys for two blocks.
#[derive(Zeroize, ZeroizeOnDrop)]
#[repr(C)]
struct Keys([u32; 1 + 8 * (ROUNDS + 1)]);

/// A prepared key of 356 bytes, which is wiped when dropped.
pub struct Ccm(Keys);

impl Ccm {
    /// Prepares a key.
    pub fn new(key: &[u8; 16]) -> Ccm {
        let mut keys = Keys([0; 1 + 8 * (ROUNDS + 1)]);
        // SAFETY: `keys` has room for the number of rounds and eleven round keys of eight words, and `key` has `key.len()` bytes.
        unsafe { tress_aes2_expand_key(&mut keys, key.as_ptr(), key.len()) };
        Ccm(keys)
    }

    /// Encrypts up to 65,535 bytes in place and returns the tag. A nonce must never be used twice with a key.
    ///
    /// # Panics
    /// For longer messages.
    pub fn encrypt(&self, nonce: &[u8; NONCE], data: &mut [u8]) -> [u8; TAG] {
        assert!(data.len() <= usize::from(u16::MAX), "too long for its nonce");
        // B_0 begins the chain, and counter 0 masks the tag.
        let mut state = State([first_block(FLAGS, nonce, data.len() as u16), first_block(COUNTER_FLAGS, nonce, 0)]);
        self.encrypt_both(&mut state);
        let mask = State([core::mem::replace(&mut state.0[1], first_block(COUNTER_FLAGS, nonce, 1)), [0; BLOCK]]);
        let (whole, rest) = data.split_at_mut(data.len() / BLOCK * BLOCK);
        // SAFETY: `whole` has this number of blocks. The kernel updates the chain and the counter in `state`.
        unsafe { tress_aes2_ccm_encrypt(&self.0, &mut state, whole.as_mut_ptr(), whole.len() / BLOCK) };
        if !rest.is_empty() {
            xor(&mut state.0[0], rest);
            self.encrypt_both(&mut state);
            xor(rest, &state.0[1]);
        }
        xor(&mut state.0[0], &mask.0[0]);
        core::array::from_fn(|byte| state.0[0][byte])
    }

    /// Encrypts the block of the chain and the counter block.
    fn encrypt_both(&self, state: &mut State) {
        let state: *mut State = state;
        // SAFETY: `state` has two blocks, and the output may be the input.
        unsafe { tress_aes2_encrypt(&self.0, state, state) };
    }
}

/// Flags, nonce, and a two-byte number: B_0 or a counter block.
fn first_block(flags: u8, nonce: &[u8; NONCE], number: u16) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[0] = flags;
    block[1..1 + NONCE].copy_from_slice(nonce);
    block[1 + NONCE..].copy_from_slice(&number.to_be_bytes());
    block
}

fn xor(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}
