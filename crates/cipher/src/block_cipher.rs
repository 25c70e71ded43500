//! The interface of a cipher to modes and lanes.

use crate::cpu::Backend;
use crate::operation::{CcmModes, Modes};

/// Keeps other crates from implementing [`BlockCipher`].
pub trait Sealed {}

/// A block cipher with its key, which modes and lanes take.
///
/// The trait is sealed: other crates cannot implement it.
pub trait BlockCipher: Sealed {
    /// Length of a block in bytes.
    const BLOCK_BYTES: usize;
    /// Number of a block's last bytes that [`crate::modes::ctr`] uses as its counter.
    const COUNTER_BYTES: usize = Self::BLOCK_BYTES;
    /// The backends of this cipher, from slow to fast.
    const BACKENDS: &'static [Backend];

    /// The prepared key, usable only inside this crate.
    type Core: Modes;

    #[doc(hidden)]
    fn core(&self) -> &Self::Core;

    /// The backend that this key was prepared for.
    fn backend(&self) -> Backend;
}

/// A [`BlockCipher`] with 128-bit blocks, which [`crate::modes::ccm`] and [`crate::lanes::ccm`] need.
pub trait CcmCipher: BlockCipher<Core: CcmModes + Sync> {}

impl<C: BlockCipher<Core: CcmModes + Sync>> CcmCipher for C {}
