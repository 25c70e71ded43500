//! The round keys of one key.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::shape::MAX_ROUNDS;
use crate::block::{BlockBytes, wipe};

/// The round keys of one key, in order of use. `B` is a round key in the form of the backend.
// `rounds` comes first: a lane that takes a key then touches the fewest cache lines. No field has an alignment above four bytes, or
// the enum of backends would be padded.
#[repr(C)]
#[derive(Clone)]
pub struct RoundKeys<B: BlockBytes> {
    rounds: u32,
    pub(super) round_keys: [B; MAX_ROUNDS + 1],
}

impl<B: BlockBytes> RoundKeys<B> {
    /// All-zero round keys.
    pub(super) const ZERO: [B; MAX_ROUNDS + 1] = [B::ZERO; MAX_ROUNDS + 1];

    #[inline(always)]
    pub(super) fn new(rounds: usize, round_keys: [B; MAX_ROUNDS + 1]) -> Self {
        RoundKeys { rounds: rounds as u32, round_keys }
    }

    #[inline(always)]
    pub(super) fn rounds(&self) -> usize {
        self.rounds as usize
    }
}

impl<B: BlockBytes> Zeroize for RoundKeys<B> {
    fn zeroize(&mut self) {
        wipe(&mut self.round_keys);
    }
}

impl<B: BlockBytes> Drop for RoundKeys<B> {
    #[inline]
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl<B: BlockBytes> ZeroizeOnDrop for RoundKeys<B> {}
