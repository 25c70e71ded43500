//! Blocks as byte arrays of any length.

use zeroize::Zeroize;

/// Length of a 128-bit block in bytes.
pub const BLOCK_BYTES: usize = 16;

/// A 128-bit block.
pub type Block = [u8; BLOCK_BYTES];

/// An array of bytes that is a block.
pub trait BlockBytes: Copy + AsRef<[u8]> + AsMut<[u8]> + Zeroize + for<'a> TryFrom<&'a [u8]> + 'static {
    const BYTES: usize;
    const ZERO: Self;
}

impl<const N: usize> BlockBytes for [u8; N] {
    const BYTES: usize = N;
    const ZERO: Self = [0; N];
}

/// The bytes of `blocks`, one after another.
#[inline(always)]
pub(crate) fn flat_mut<B: BlockBytes>(blocks: &mut [B]) -> &mut [u8] {
    // SAFETY: a block is an array of `B::BYTES` bytes, and the slice covers exactly the blocks.
    unsafe { core::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * B::BYTES) }
}

/// Overwrites blocks with zeros. Faster than `zeroize`, which works byte by byte; the compiler cannot remove it either.
#[inline]
pub(crate) fn wipe<B: BlockBytes>(blocks: &mut [B]) {
    blocks.fill(B::ZERO);
    zeroize::optimization_barrier(blocks);
}
