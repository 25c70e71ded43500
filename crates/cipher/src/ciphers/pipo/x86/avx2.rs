//! PIPO with AVX2. Word `q` of a register holds the row of blocks `4i + q` in the form of `portable/`: its bit `8j + i` is bit `j` of
//! that block's row. So one byte shuffle rotates a row; with a byte for each block it would take up to five operations.

use core::arch::x86_64::*;

use super::*;
use crate::ciphers::pipo::portable::{ROUND_NUMBERS, bits_to_bytes};
use crate::engine::register_methods;

impl StateRow for __m256i {
    type Word = u64;

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: the caller guarantees AVX2.
        unsafe { _mm256_set1_epi64x(word as i64) }
    }

    register_methods! {
        fn xor(self, a) = _mm256_xor_si256(self, a);
        fn xor3(self, a, b) = _mm256_xor_si256(_mm256_xor_si256(self, a), b);
        fn xnor(self, a) = self.xor3(a, _mm256_set1_epi8(-1));
        fn xnor3(self, a, b) = _mm256_xor_si256(self, _mm256_set1_epi8(-1)).xor3(a, b);
        fn xor_and(self, a, b) = _mm256_xor_si256(self, _mm256_and_si256(a, b));
        fn xor_or(self, a, b) = _mm256_xor_si256(self, _mm256_or_si256(a, b));
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: u32>(self) -> Self {
        // SAFETY: the caller guarantees AVX2.
        unsafe { _mm256_shuffle_epi8(self, twice(const { rotation(LEFT) })) }
    }
}

/// The byte shuffle that rotates both words by `left` bytes.
const fn rotation(left: u32) -> [u8; 16] {
    let mut from = [0; 16];
    let mut byte = 0;
    while byte < 16 {
        from[byte] = (byte / 8 * 8 + (byte + 8 - left as usize) % 8) as u8;
        byte += 1;
    }
    from
}

/// Copies `half` to both halves of a register.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn twice(half: [u8; 16]) -> __m256i {
    // SAFETY: the caller guarantees AVX2; the array has 16 bytes, and the load needs no alignment.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(half.as_ptr().cast())) }
}

/// Exchanges the bits of `b` in `mask` with the bits of `a` that are `BITS` above them.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn exchange<const BITS: i32>(a: &mut __m256i, b: &mut __m256i, mask: u64) {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let t = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<BITS>(*a), *b), __m256i::splat(mask));
        *a = a.xor(_mm256_slli_epi64::<BITS>(t));
        *b = b.xor(t);
    }
}

const BITS: [u64; 3] = [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0f0f_0f0f_0f0f_0f0f];

/// Exchanges bit `j` of every byte of register `i` with bit `i` of that byte of register `j`.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn transpose_bits(x: [__m256i; 8]) -> [__m256i; 8] {
    let [mut x0, mut x1, mut x2, mut x3, mut x4, mut x5, mut x6, mut x7] = x;
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        exchange::<4>(&mut x0, &mut x4, BITS[2]);
        exchange::<4>(&mut x1, &mut x5, BITS[2]);
        exchange::<4>(&mut x2, &mut x6, BITS[2]);
        exchange::<4>(&mut x3, &mut x7, BITS[2]);
        exchange::<2>(&mut x0, &mut x2, BITS[1]);
        exchange::<2>(&mut x1, &mut x3, BITS[1]);
        exchange::<2>(&mut x4, &mut x6, BITS[1]);
        exchange::<2>(&mut x5, &mut x7, BITS[1]);
        exchange::<1>(&mut x0, &mut x1, BITS[0]);
        exchange::<1>(&mut x2, &mut x3, BITS[0]);
        exchange::<1>(&mut x4, &mut x5, BITS[0]);
        exchange::<1>(&mut x6, &mut x7, BITS[0]);
    }
    [x0, x1, x2, x3, x4, x5, x6, x7]
}

/// Exchanges byte `r` of every eight bytes of register `i` with byte `i` of the same eight of register `r`.
///
/// Each of three interleavings moves the top bit of a byte's index to the number of the register, and a bit of that number to the
/// lowest bit of the index. The shuffle before them brings the right three bits to the top.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn transpose_bytes(mut x: [__m256i; 8]) -> [__m256i; 8] {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let pairs = twice([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]);
        for x in &mut x {
            *x = _mm256_shuffle_epi8(*x, pairs);
        }
        let [x0, x1, x2, x3, x4, x5, x6, x7] = x;
        // Bytes 0 to 3 of every eight, and bytes 4 to 7.
        let (a0, b0) = (_mm256_unpacklo_epi8(x0, x4), _mm256_unpackhi_epi8(x0, x4));
        let (a1, b1) = (_mm256_unpacklo_epi8(x1, x5), _mm256_unpackhi_epi8(x1, x5));
        let (a2, b2) = (_mm256_unpacklo_epi8(x2, x6), _mm256_unpackhi_epi8(x2, x6));
        let (a3, b3) = (_mm256_unpacklo_epi8(x3, x7), _mm256_unpackhi_epi8(x3, x7));
        let [x0, x1, x2, x3] = interleave([a0, a1, a2, a3]);
        let [x4, x5, x6, x7] = interleave([b0, b1, b2, b3]);
        [x0, x1, x2, x3, x4, x5, x6, x7]
    }
}

/// The second and third interleaving.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn interleave([a0, a1, a2, a3]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let (even_low, even_high) = (_mm256_unpacklo_epi8(a0, a2), _mm256_unpackhi_epi8(a0, a2));
        let (odd_low, odd_high) = (_mm256_unpacklo_epi8(a1, a3), _mm256_unpackhi_epi8(a1, a3));
        [
            _mm256_unpacklo_epi8(even_low, odd_low),
            _mm256_unpackhi_epi8(even_low, odd_low),
            _mm256_unpacklo_epi8(even_high, odd_high),
            _mm256_unpackhi_epi8(even_high, odd_high),
        ]
    }
}

/// Converts one row from bytes, of which that of block `4i + q` is at `8q + i`, to a row of a state.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn row_of_bytes(bytes: [u8; 32]) -> __m256i {
    // SAFETY: the caller guarantees AVX2; the array has 32 bytes, and the load needs no alignment.
    unsafe {
        let mut x = _mm256_loadu_si256(bytes.as_ptr().cast());
        // Transposes the matrix of 8 × 8 bits of every word.
        let t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<7>(x)), __m256i::splat(0x00aa_00aa_00aa_00aa));
        x = x.xor3(t, _mm256_slli_epi64::<7>(t));
        let t =
            _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<14>(x)), __m256i::splat(0x0000_cccc_0000_cccc));
        x = x.xor3(t, _mm256_slli_epi64::<14>(t));
        let t =
            _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<28>(x)), __m256i::splat(0x0000_0000_f0f0_f0f0));
        x.xor3(t, _mm256_slli_epi64::<28>(t))
    }
}

/// Transposes four registers of four words: exchanges word `j` of register `i` with word `i` of register `j`.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn transpose_words([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let (ab_even, ab_odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (cd_even, cd_odd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd),
            _mm256_permute2x128_si256::<0x31>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd),
        ]
    }
}

/// The word that holds the row of a block, and the bit of each of its bytes.
#[inline(always)]
fn place(slot: usize) -> (usize, usize) {
    (slot % 4, slot / 4)
}

impl RowRegister for __m256i {
    const SLOTS: usize = 32;

    #[inline(always)]
    unsafe fn round_number(round: usize) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { Self::splat(ROUND_NUMBERS[round]) }
    }

    #[inline(always)]
    unsafe fn load_register(bytes: *const u8) -> Self {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { _mm256_loadu_si256(bytes.cast()) }
    }

    #[inline(always)]
    unsafe fn store_register(self, bytes: *mut u8) {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { _mm256_storeu_si256(bytes.cast(), self) }
    }

    #[inline(always)]
    unsafe fn pack(x: [Self; 8]) -> [Self; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe { transpose_bytes(transpose_bits(x)) }
    }

    #[inline(always)]
    unsafe fn unpack(rows: [Self; 8]) -> [Self; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe { transpose_bits(transpose_bytes(rows)) }
    }

    #[inline(always)]
    unsafe fn counters(block: &Block, first: u16) -> [Self; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            let mut rows = [Self::splat(spread(block[0])); 8];
            for row in 1..6 {
                rows[row] = Self::splat(spread(block[row]));
            }
            let [high, low] = first.to_be_bytes();
            let mut lows = [0; 32];
            for byte in 0..32_u8 {
                lows[usize::from(byte)] = low.wrapping_add(4 * (byte % 8) + byte / 8);
            }
            rows[6] = Self::splat(spread(high));
            if low > 255 - 31 {
                let mut highs = [high; 32];
                for byte in 0..32 {
                    highs[byte] += u8::from(lows[byte] < low);
                }
                rows[6] = row_of_bytes(highs);
            }
            rows[7] = row_of_bytes(lows);
            rows
        }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [[Self; 8]; STEP_BLOCKS] {
        let pointers = &pointers[..Self::SLOTS];
        // SAFETY: the caller guarantees 32 bytes at each pointer and for the instructions.
        unsafe {
            let mut states = [[_mm256_setzero_si256(); 8]; STEP_BLOCKS];
            for i in 0..8 {
                let p = &pointers[4 * i..4 * i + 4];
                let [x0, x1, x2, x3] = transpose_words([
                    _mm256_loadu_si256(p[0].cast()),
                    _mm256_loadu_si256(p[1].cast()),
                    _mm256_loadu_si256(p[2].cast()),
                    _mm256_loadu_si256(p[3].cast()),
                ]);
                states[0][i] = x0;
                states[1][i] = x1;
                states[2][i] = x2;
                states[3][i] = x3;
            }
            for state in &mut states {
                *state = Self::pack(*state);
            }
            states
        }
    }

    #[inline(always)]
    unsafe fn scatter(mut states: [[Self; 8]; STEP_BLOCKS], pointers: &[*mut u8]) {
        let pointers = &pointers[..Self::SLOTS];
        // SAFETY: the caller guarantees 32 bytes at each pointer and for the instructions.
        unsafe {
            for state in &mut states {
                *state = Self::unpack(*state);
            }
            for i in 0..8 {
                let p = &pointers[4 * i..4 * i + 4];
                let [x0, x1, x2, x3] = transpose_words([states[0][i], states[1][i], states[2][i], states[3][i]]);
                _mm256_storeu_si256(p[0].cast(), x0);
                _mm256_storeu_si256(p[1].cast(), x1);
                _mm256_storeu_si256(p[2].cast(), x2);
                _mm256_storeu_si256(p[3].cast(), x3);
            }
        }
    }

    #[inline(always)]
    fn slot(&self, slot: usize) -> u8 {
        let (word, bit) = place(slot);
        // SAFETY: a register is four words with at least their alignment, and `word` is less than 4.
        let word = unsafe { core::ptr::from_ref(self).cast::<u64>().add(word).read() };
        // The product moves bit 8j to bit 56 + j.
        let bits = word >> bit & 0x0101_0101_0101_0101;
        (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    }

    #[inline(always)]
    fn set_slot(&mut self, slot: usize, row: u8) {
        self.set_slot_of_word(slot, bits_to_bytes(row) * 0xff);
    }

    #[inline(always)]
    fn set_slot_of_word(&mut self, slot: usize, word: u64) {
        assert!(slot < Self::SLOTS);
        let (index, bit) = place(slot);
        let mask = 0x0101_0101_0101_0101 << bit;
        // SAFETY: a register is four words with at least their alignment, and `index` is less than 4.
        unsafe {
            let place = core::ptr::from_mut(self).cast::<u64>().add(index);
            place.write(place.read() & !mask | word & mask);
        }
    }
}
