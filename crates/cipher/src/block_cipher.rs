//! What a cipher of this crate is to modes and lanes.

use crate::cpu::Backend;
use crate::operation::{CcmModes, Modes};

/// Only types of this crate have it.
pub trait Sealed {}

/// A block cipher of this crate with its key, as modes and lanes take it.
///
/// Sealed: no type of another crate can be one.
pub trait BlockCipher: Sealed {
    /// Bytes of a block.
    const BLOCK_BYTES: usize;
    /// How many of a block's last bytes count in [`crate::modes::ctr`].
    const COUNTER_BYTES: usize = Self::BLOCK_BYTES;
    /// The backends of this cipher, slower ones first.
    const BACKENDS: &'static [Backend];

    /// The prepared key. Only this crate can use it.
    type Core: Modes;

    #[doc(hidden)]
    fn core(&self) -> &Self::Core;

    /// The backend that this key was prepared for.
    fn backend(&self) -> Backend;
}

/// A [`BlockCipher`] with 128-bit blocks, which [`crate::modes::ccm`] and [`crate::lanes::ccm`] need.
pub trait CcmCipher: BlockCipher<Core: CcmModes + Sync> {}

impl<C: BlockCipher<Core: CcmModes + Sync>> CcmCipher for C {}
