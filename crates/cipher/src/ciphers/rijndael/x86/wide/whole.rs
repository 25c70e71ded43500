//! Wide blocks, one after another in a 512-bit register: two, or three of 160 bits. The bytes after the last block are ignored.

use super::*;
use crate::ciphers::rijndael::shape::before_instruction;
use crate::engine::register_methods;

/// A vector of as many blocks as fit into a register.
#[derive(Clone, Copy)]
pub struct Whole<B>(__m512i, PhantomData<B>);

/// The permutation of a register's bytes before an instruction.
const fn order(nb: usize, inverse: bool) -> [u8; 64] {
    let mut order = [0; 64];
    let mut byte = 0;
    while byte < 64 {
        order[byte] = before_instruction(nb, 16 / nb, byte, inverse) as u8;
        byte += 1;
    }
    order
}

impl<B: BlockBytes> Whole<B> {
    const BLOCKS: usize = 64 / B::BYTES;
    const FORWARD: [u8; 64] = order(B::BYTES / 4, false);
    const BACKWARD: [u8; 64] = order(B::BYTES / 4, true);
    /// Mask of the first block's bytes.
    const FIRST: u64 = u64::MAX >> (64 - B::BYTES);
    /// Mask of the bytes of all blocks.
    const ALL: u64 = u64::MAX >> (64 - Self::BLOCKS * B::BYTES);
    /// A permutation that copies the first block to all blocks.
    const REPEAT: [u8; 64] = {
        let mut order = [0; 64];
        let mut byte = 0;
        while byte < 64 {
            order[byte] = (byte % B::BYTES) as u8;
            byte += 1;
        }
        order
    };
    /// A shuffle that reverses the bytes of each block's last column, the low word of a big-endian number.
    const REVERSE_LAST: [u8; 64] = {
        let mut order = [0; 64];
        let mut byte = 0;
        while byte < 64 {
            let reversed = if byte % B::BYTES >= B::BYTES - 4 { byte ^ 3 } else { byte };
            // The instruction shuffles inside each 16 bytes.
            order[byte] = (reversed % 16) as u8;
            byte += 1;
        }
        order
    };
    /// The index of each block in its last column.
    const NUMBERS: [u32; 16] = Self::last_columns(true);
    /// The number of blocks in the last column of each.
    const STEP: [u32; 16] = Self::last_columns(false);

    const fn last_columns(numbered: bool) -> [u32; 16] {
        let mut words = [0; 16];
        let mut block = 0;
        while block < Self::BLOCKS {
            words[(block + 1) * (B::BYTES / 4) - 1] = if numbered { block as u32 } else { Self::BLOCKS as u32 };
            block += 1;
        }
        words
    }

    #[inline(always)]
    fn new(register: __m512i) -> Self {
        Whole(register, PhantomData)
    }

    /// Mask of the bytes of a block.
    #[inline(always)]
    fn place(block: usize) -> u64 {
        Self::FIRST << (block * B::BYTES)
    }

    #[inline(always)]
    unsafe fn permute(self, order: &[u8; 64]) -> __m512i {
        // SAFETY: the caller guarantees the instructions, and `order` has 64 bytes.
        unsafe { _mm512_permutexvar_epi8(_mm512_loadu_si512(order.as_ptr().cast()), self.0) }
    }
}

impl<B: BlockBytes> AesRounds for Whole<B> {
    register_methods! {
        fn xor(self, other) = Self::new(_mm512_xor_si512(self.0, other.0));
        fn encrypt_round(self, round_key) = Self::new(_mm512_aesenc_epi128(self.permute(&Self::FORWARD), round_key.0));
        fn encrypt_last(self, round_key) = {
            Self::new(_mm512_aesenclast_epi128(self.permute(&Self::FORWARD), round_key.0))
        };
        fn decrypt_round(self, round_key) = Self::new(_mm512_aesdec_epi128(self.permute(&Self::BACKWARD), round_key.0));
        fn decrypt_last(self, round_key) = {
            Self::new(_mm512_aesdeclast_epi128(self.permute(&Self::BACKWARD), round_key.0))
        };
    }
}

// A masked load or store accesses only the bytes of its mask; the other bytes at its address need not be valid.

impl<B: BlockBytes> WideVector<B> for Whole<B> {
    const SLOTS: usize = Self::BLOCKS;
    const KEY_BYTES: usize = 64;

    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller guarantees the instructions and the bytes of all blocks.
        unsafe { Self::new(_mm512_maskz_loadu_epi8(Self::ALL, bytes.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, bytes: *mut u8) {
        // SAFETY: the caller guarantees the instructions and the bytes of all blocks.
        unsafe { _mm512_mask_storeu_epi8(bytes.cast(), Self::ALL, self.0) }
    }

    #[inline(always)]
    unsafe fn load_block(block: *const u8) -> Self {
        // SAFETY: the caller guarantees a block's bytes.
        unsafe { Self::new(_mm512_maskz_loadu_epi8(Self::FIRST, block.cast())) }
    }

    #[inline(always)]
    unsafe fn store_block(self, block: *mut u8) {
        // SAFETY: the caller guarantees a block's bytes.
        unsafe { _mm512_mask_storeu_epi8(block.cast(), Self::FIRST, self.0) }
    }

    #[inline(always)]
    unsafe fn round_key(bytes: *const u8) -> Self {
        // SAFETY: the caller guarantees 64 bytes.
        unsafe { Self::new(_mm512_loadu_si512(bytes.cast())) }
    }

    #[inline(always)]
    unsafe fn slot(&self, slot: usize) -> B {
        // SAFETY: the caller passes a `slot` below `SLOTS`, at which the register has a block's bytes.
        unsafe { core::ptr::from_ref(&self.0).cast::<u8>().add(slot * B::BYTES).cast::<B>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn set_slot(&mut self, slot: usize, block: &B) {
        // SAFETY: the caller passes a `slot` below `SLOTS`, at which the register has a block's bytes.
        unsafe {
            core::ptr::from_mut(&mut self.0).cast::<u8>().add(slot * B::BYTES).cast::<B>().write_unaligned(*block)
        }
    }

    #[inline(always)]
    unsafe fn consecutive<const N: usize>(first: &B) -> [Self; N] {
        // SAFETY: the caller guarantees the instructions; `first` has a block's bytes, and the constants have 64.
        unsafe {
            let order = _mm512_loadu_si512(Self::REVERSE_LAST.as_ptr().cast());
            let step = _mm512_loadu_si512(Self::STEP.as_ptr().cast());
            let all = Self::load_block(first.as_ref().as_ptr()).permute(&Self::REPEAT);
            let numbers = _mm512_loadu_si512(Self::NUMBERS.as_ptr().cast());
            let mut next = _mm512_add_epi32(_mm512_shuffle_epi8(all, order), numbers);
            let mut vectors = [Self::new(next); N];
            for vector in &mut vectors {
                vector.0 = _mm512_shuffle_epi8(next, order);
                next = _mm512_add_epi32(next, step);
            }
            vectors
        }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [Self; STEP_BLOCKS] {
        // SAFETY: the caller guarantees four blocks at each pointer.
        unsafe {
            let mut vectors = [Self::load_block(pointers[0]); STEP_BLOCKS];
            for j in 0..STEP_BLOCKS {
                let mut x = Self::load_block(pointers[0].add(j * B::BYTES)).0;
                for slot in 1..Self::BLOCKS {
                    let bytes = pointers[slot].wrapping_add(j * B::BYTES).wrapping_sub(slot * B::BYTES);
                    x = _mm512_mask_loadu_epi8(x, Self::place(slot), bytes.cast());
                }
                vectors[j].0 = x;
            }
            vectors
        }
    }

    #[inline(always)]
    unsafe fn scatter(vectors: [Self; STEP_BLOCKS], pointers: &[*mut u8]) {
        // SAFETY: the caller guarantees four blocks at each pointer.
        unsafe {
            for j in 0..STEP_BLOCKS {
                for slot in 0..Self::BLOCKS {
                    let bytes = pointers[slot].wrapping_add(j * B::BYTES).wrapping_sub(slot * B::BYTES);
                    _mm512_mask_storeu_epi8(bytes.cast(), Self::place(slot), vectors[j].0);
                }
            }
        }
    }
}
