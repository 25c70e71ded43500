//! GHASH of 16 blocks at a time, by carry-less multiplication of 256 and 512 bits.
//!
//! GHASH numbers the bits of a block from its first byte, the instructions from its last, so blocks are reversed. The product of two
//! reversed blocks lacks a factor x, which the key gets once (RFC 8452, appendix A), and the reduction is that of POLYVAL: a
//! multiplication also divides by x^128. The 16 products of a group are added before one reduction (Gueron and Kounavis, "Intel
//! Carry-Less Multiplication Instruction and its Usage for Computing the GCM Mode", 2010).

use core::arch::x86_64::*;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::cpu::{Clmul256, Clmul512};
use crate::engine::xor_block;
use crate::{BLOCK_BYTES, Block};

/// Blocks of a group.
const GROUP: usize = 16;
const GROUP_BYTES: usize = GROUP * BLOCK_BYTES;

/// Powers of the key, from the 16th down to the first, as POLYVAL has them.
#[derive(ZeroizeOnDrop)]
#[repr(align(64))]
pub(super) struct Powers {
    powers: [Block; GROUP],
    #[zeroize(skip)]
    _proof: Clmul256,
    #[zeroize(skip)]
    wide: Option<Clmul512>,
}

impl Powers {
    pub(super) fn new(key: &Block, proof: Clmul256) -> Self {
        // The key times x. The bit that leaves is a secret, so there is no branch.
        let mut number = u128::from_be_bytes(*key);
        number = number << 1 ^ (number >> 127).wrapping_neg() & (0xc2 << 120 | 1);
        let mut powers = [number.to_le_bytes(); GROUP];
        number.zeroize();
        for i in (0..GROUP - 1).rev() {
            let (rest, known) = powers.split_at_mut(i + 1);
            // SAFETY: `proof`.
            unsafe { multiply(&mut rest[i], &known[0]) };
        }
        Powers { powers, _proof: proof, wide: Clmul512::detect() }
    }

    /// Hashes data, padded with zeros to whole blocks.
    #[inline]
    pub(super) fn update(&self, hash: &mut Block, data: &[u8]) {
        // SAFETY: the proofs.
        unsafe {
            match self.wide {
                Some(_) => update512(&self.powers, hash, data),
                None => update256(&self.powers, hash, data),
            }
        }
    }
}

/// `a *= b`.
///
/// # Safety
/// The machine must have the instructions, here and below.
#[target_feature(enable = "pclmulqdq,sse4.1")]
unsafe fn multiply(a: &mut Block, b: &Block) {
    // SAFETY: the caller guarantees the instructions; blocks have 16 bytes.
    unsafe {
        let (x, y) = (_mm_loadu_si128(a.as_ptr().cast()), _mm_loadu_si128(b.as_ptr().cast()));
        let middle = _mm_xor_si128(_mm_clmulepi64_si128::<0x01>(x, y), _mm_clmulepi64_si128::<0x10>(x, y));
        let product = reduce(_mm_clmulepi64_si128::<0x00>(x, y), middle, _mm_clmulepi64_si128::<0x11>(x, y));
        _mm_storeu_si128(a.as_mut_ptr().cast(), product);
    }
}

/// The product of 256 bits, whose middle is to be added at bit 64, divided by x^128 modulo x^128 + x^127 + x^126 + x^121 + 1.
#[target_feature(enable = "pclmulqdq,sse4.1")]
#[inline]
unsafe fn reduce(low: __m128i, middle: __m128i, high: __m128i) -> __m128i {
    let polynomial = _mm_set_epi64x(0, 0xc2 << 56);
    let low = _mm_xor_si128(low, _mm_slli_si128::<8>(middle));
    let high = _mm_xor_si128(high, _mm_srli_si128::<8>(middle));
    let low = _mm_xor_si128(_mm_shuffle_epi32::<0x4e>(low), _mm_clmulepi64_si128::<0x00>(low, polynomial));
    let low = _mm_xor_si128(_mm_shuffle_epi32::<0x4e>(low), _mm_clmulepi64_si128::<0x00>(low, polynomial));
    _mm_xor_si128(low, high)
}

/// Defines [`Powers::update`] on registers of one width.
macro_rules! update {
    (
        $name:ident, $features:literal, $vector:ty, $load:ident, $clmul:ident, $xor:ident, $shuffle:ident, $zero:ident,
        first $first:ident, reversing $reversing:expr, fold $fold:expr
    ) => {
        #[target_feature(enable = $features)]
        unsafe fn $name(powers: &[Block; GROUP], hash: &mut Block, data: &[u8]) {
            // SAFETY: the caller guarantees the instructions; all addresses are inside of `powers` and of groups.
            unsafe {
                let reversing = $reversing;
                let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let group = |state: __m128i, blocks: *const u8| -> __m128i {
                    let (mut low, mut middle, mut high) = ($zero(), $zero(), $zero());
                    let mut state = $first(state);
                    for i in (0..GROUP_BYTES).step_by(size_of::<$vector>()) {
                        let x = $xor($shuffle($load(blocks.add(i).cast()), reversing), state);
                        let power = $load(powers.as_ptr().cast::<u8>().add(i).cast());
                        state = $zero();
                        low = $xor(low, $clmul::<0x00>(x, power));
                        middle = $xor(middle, $xor($clmul::<0x01>(x, power), $clmul::<0x10>(x, power)));
                        high = $xor(high, $clmul::<0x11>(x, power));
                    }
                    reduce($fold(low), $fold(middle), $fold(high))
                };
                let (groups, rest) = data.as_chunks::<GROUP_BYTES>();
                let mut state = _mm_shuffle_epi8(_mm_loadu_si128(hash.as_ptr().cast()), order);
                for blocks in groups {
                    state = group(state, blocks.as_ptr());
                }
                _mm_storeu_si128(hash.as_mut_ptr().cast(), _mm_shuffle_epi8(state, order));
                if !rest.is_empty() {
                    // The last blocks, behind zeros.
                    let mut padded = [[0; BLOCK_BYTES]; GROUP];
                    let start = GROUP - rest.len().div_ceil(BLOCK_BYTES);
                    padded[start..].as_flattened_mut()[..rest.len()].copy_from_slice(rest);
                    xor_block(&mut padded[start], hash);
                    state = group(_mm_setzero_si128(), padded.as_ptr().cast());
                    _mm_storeu_si128(hash.as_mut_ptr().cast(), _mm_shuffle_epi8(state, order));
                    padded.zeroize();
                }
            }
        }
    };
}

update!(
    update256, "avx2,pclmulqdq,vpclmulqdq", __m256i, _mm256_loadu_si256, _mm256_clmulepi64_epi128, _mm256_xor_si256,
    _mm256_shuffle_epi8, _mm256_setzero_si256, first _mm256_zextsi128_si256,
    reversing _mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
    fold |a| _mm_xor_si128(_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a))
);
update!(
    update512, "avx512f,avx512bw,pclmulqdq,vpclmulqdq", __m512i, _mm512_loadu_si512, _mm512_clmulepi64_epi128,
    _mm512_xor_si512, _mm512_shuffle_epi8, _mm512_setzero_si512, first _mm512_zextsi128_si512,
    reversing _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
    fold |a| {
        let half = _mm256_xor_si256(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64::<1>(a));
        _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths that the machine does not prefer, too: the whole of GCM is compared with a peer in `tests/properties/gcm.rs`.
    #[test]
    fn widths_agree() {
        let Some(proof) = Clmul256::detect() else { return };
        let bytes = std::vec::Vec::from_iter((0..1025u32).map(|i| (i * 37 + i / 256) as u8));
        for key in [[0x80; BLOCK_BYTES], [0x35; BLOCK_BYTES]] {
            let mut powers = Powers::new(&key, proof);
            for length in 0..bytes.len() {
                let made = [powers.wide, None].map(|wide| {
                    powers.wide = wide;
                    let mut hash = [7; BLOCK_BYTES];
                    powers.update(&mut hash, &bytes[..length]);
                    hash
                });
                let mut by_crate = [7; BLOCK_BYTES];
                super::super::HashKey::Crate(ghash::GHash::new(&key.into())).update(&mut by_crate, &bytes[..length]);
                assert_eq!(made, [by_crate; 2], "{length} bytes");
                powers.wide = Clmul512::detect();
            }
        }
    }
}
