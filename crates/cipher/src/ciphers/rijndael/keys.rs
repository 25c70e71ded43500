//! The round keys of a key.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::shape::MAX_ROUNDS;
use crate::block::{BlockBytes, wipe};

/// Round keys in the form of a backend, `B` each, in the order of their use.
// In this order, so that a lane that takes a key touches as few cache lines as can be. No field asks for more alignment
// than four bytes, which the choice of a backend would be padded to.
#[repr(C)]
#[derive(Clone)]
pub struct Keys<B: BlockBytes> {
    rounds: u32,
    pub(super) round_keys: [B; MAX_ROUNDS + 1],
}

impl<B: BlockBytes> Keys<B> {
    /// Round keys that are all zero.
    pub(super) const NONE: [B; MAX_ROUNDS + 1] = [B::ZERO; MAX_ROUNDS + 1];

    #[inline(always)]
    pub(super) fn new(rounds: usize, round_keys: [B; MAX_ROUNDS + 1]) -> Self {
        Keys { rounds: rounds as u32, round_keys }
    }

    #[inline(always)]
    pub(super) fn rounds(&self) -> usize {
        self.rounds as usize
    }
}

impl<B: BlockBytes> Zeroize for Keys<B> {
    fn zeroize(&mut self) {
        wipe(&mut self.round_keys);
    }
}

impl<B: BlockBytes> Drop for Keys<B> {
    #[inline]
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl<B: BlockBytes> ZeroizeOnDrop for Keys<B> {}
