//! PIPO with AVX-512 and GFNI. Byte `8q + i` of a register is the row of block `8i + q`.
//!
//! With this order, packing and unpacking are the same operation: a transposition of the bytes of eight registers. One instruction
//! with a bit matrix rotates a row; VPTERNLOG does two logical operations at a time.

use core::arch::x86_64::*;

use super::*;
use crate::ciphers::pipo::registers::ROUND_NUMBERS_IN_BYTES;
use crate::engine::register_methods;

impl StateRow for __m512i {
    type Word = u64;

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: the caller guarantees AVX-512.
        unsafe { _mm512_set1_epi64(word as i64) }
    }

    register_methods! {
        fn xor(self, a) = _mm512_xor_si512(self, a);
        fn xor3(self, a, b) = _mm512_ternarylogic_epi64::<0x96>(self, a, b);
        fn xnor(self, a) = _mm512_ternarylogic_epi64::<0xc3>(self, a, a);
        fn xnor3(self, a, b) = _mm512_ternarylogic_epi64::<0x69>(self, a, b);
        fn xor_and(self, a, b) = _mm512_ternarylogic_epi64::<0x78>(self, a, b);
        fn xor_or(self, a, b) = _mm512_ternarylogic_epi64::<0x1e>(self, a, b);
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: u32>(self) -> Self {
        // SAFETY: the caller guarantees GFNI and AVX-512.
        unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(self, _mm512_set1_epi64(const { rotation(LEFT) })) }
    }
}

/// The bit matrix that rotates a byte to the left. Byte `7 - i` of the matrix selects the bits that are summed for bit `i` of the
/// result.
const fn rotation(left: u32) -> i64 {
    let mut matrix = 0;
    let mut i = 0;
    while i < 8 {
        matrix |= 1 << ((8 + i - left) % 8) << (8 * (7 - i));
        i += 1;
    }
    matrix
}

/// The index in a register of a block's row.
#[inline(always)]
fn place(slot: usize) -> usize {
    8 * (slot % 8) + slot / 8
}

/// The block whose row is at each byte.
const BLOCKS: [u8; 64] = {
    let mut blocks = [0; 64];
    let mut byte = 0;
    while byte < 64 {
        blocks[byte] = (8 * (byte % 8) + byte / 8) as u8;
        byte += 1;
    }
    blocks
};

/// A byte shuffle for [`exchange`]: moves every byte up or down by `DISTANCE` within its eight bytes.
#[repr(align(64))]
struct Shift([u8; 64]);

const fn shift(distance: u8, up: bool) -> Shift {
    let mut shift = [0; 64];
    let mut byte = 0;
    while byte < 64 {
        // The mask of `exchange` drops bytes that come from outside of the eight.
        let from = if up { (byte as u8).wrapping_sub(distance) } else { byte as u8 + distance };
        shift[byte] = from % 16;
        byte += 1;
    }
    Shift(shift)
}

/// Exchanges the upper `DISTANCE` bytes of every `2 * DISTANCE` bytes of `a` with the lower ones of `b`.
///
/// # Safety
/// The machine must have AVX-512 F and BW.
#[inline(always)]
unsafe fn exchange<const DISTANCE: u8>(a: __m512i, b: __m512i) -> [__m512i; 2] {
    const { assert!(matches!(DISTANCE, 1 | 2)) };
    let upper: u64 = if DISTANCE == 1 { 0xaaaa_aaaa_aaaa_aaaa } else { 0xcccc_cccc_cccc_cccc };
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let up = _mm512_load_si512((&raw const const { &shift(DISTANCE, true) }.0).cast());
        let down = _mm512_load_si512((&raw const const { &shift(DISTANCE, false) }.0).cast());
        [_mm512_mask_shuffle_epi8(a, upper, b, up), _mm512_mask_shuffle_epi8(b, !upper, a, down)]
    }
}

/// `exchange` for a distance of four bytes, with one instruction for each result.
///
/// # Safety
/// The machine must have AVX-512 F.
#[inline(always)]
unsafe fn exchange_halves(a: __m512i, b: __m512i) -> [__m512i; 2] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let lower = _mm512_setr_epi32(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
        let upper = _mm512_setr_epi32(1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
        [_mm512_permutex2var_epi32(a, lower, b), _mm512_permutex2var_epi32(a, upper, b)]
    }
}

/// Exchanges byte `r` of every eight bytes of register `i` with byte `i` of the same eight of register `r`.
///
/// # Safety
/// The machine must have AVX-512 F and BW.
#[inline(always)]
unsafe fn transpose_bytes([x0, x1, x2, x3, x4, x5, x6, x7]: [__m512i; 8]) -> [__m512i; 8] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let [x0, x4] = exchange_halves(x0, x4);
        let [x1, x5] = exchange_halves(x1, x5);
        let [x2, x6] = exchange_halves(x2, x6);
        let [x3, x7] = exchange_halves(x3, x7);
        let [x0, x2] = exchange::<2>(x0, x2);
        let [x1, x3] = exchange::<2>(x1, x3);
        let [x4, x6] = exchange::<2>(x4, x6);
        let [x5, x7] = exchange::<2>(x5, x7);
        let [x0, x1] = exchange::<1>(x0, x1);
        let [x2, x3] = exchange::<1>(x2, x3);
        let [x4, x5] = exchange::<1>(x4, x5);
        let [x6, x7] = exchange::<1>(x6, x7);
        [x0, x1, x2, x3, x4, x5, x6, x7]
    }
}

/// Reads 32 bytes at each of two addresses.
///
/// # Safety
/// The machine must have AVX-512 F, and the bytes must be readable.
#[inline(always)]
unsafe fn pair(low: *const u8, high: *const u8) -> __m512i {
    // SAFETY: the caller guarantees the instructions and the bytes.
    unsafe {
        let low = _mm512_castsi256_si512(_mm256_loadu_si256(low.cast()));
        _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(high.cast()))
    }
}

/// The inverse of `pair`.
///
/// # Safety
/// The machine must have AVX-512 F, and the bytes must be writable.
#[inline(always)]
unsafe fn store_pair(pair: __m512i, low: *mut u8, high: *mut u8) {
    // SAFETY: the caller guarantees the instructions and the bytes.
    unsafe {
        _mm256_storeu_si256(low.cast(), _mm512_castsi512_si256(pair));
        _mm256_storeu_si256(high.cast(), _mm512_extracti64x4_epi64::<1>(pair));
    }
}

impl RowRegister for __m512i {
    const SLOTS: usize = 64;

    #[inline(always)]
    unsafe fn round_number(round: usize) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { Self::splat(ROUND_NUMBERS_IN_BYTES[round]) }
    }

    #[inline(always)]
    unsafe fn load_register(bytes: *const u8) -> Self {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { _mm512_loadu_si512(bytes.cast()) }
    }

    #[inline(always)]
    unsafe fn store_register(self, bytes: *mut u8) {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { _mm512_storeu_si512(bytes.cast(), self) }
    }

    #[inline(always)]
    unsafe fn pack(x: [Self; 8]) -> [Self; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe { transpose_bytes(x) }
    }

    #[inline(always)]
    unsafe fn unpack(rows: [Self; 8]) -> [Self; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe { transpose_bytes(rows) }
    }

    #[inline(always)]
    unsafe fn counters(block: &Block, first: u16) -> [Self; 8] {
        let [high, low] = first.to_be_bytes();
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            let mut rows = [_mm512_set1_epi8(block[0] as i8); 8];
            for row in 1..6 {
                rows[row] = _mm512_set1_epi8(block[row] as i8);
            }
            let lows = _mm512_add_epi8(_mm512_set1_epi8(low as i8), _mm512_loadu_si512(BLOCKS.as_ptr().cast()));
            let carries = _mm512_cmplt_epu8_mask(lows, _mm512_set1_epi8(low as i8));
            let high = _mm512_set1_epi8(high as i8);
            rows[6] = _mm512_mask_add_epi8(high, carries, high, _mm512_set1_epi8(1));
            rows[7] = lows;
            rows
        }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [[Self; 8]; STEP_BLOCKS] {
        let pointers = &pointers[..Self::SLOTS];
        // SAFETY: the caller guarantees 32 bytes at each pointer and for the instructions.
        unsafe {
            let mut states = [[_mm512_setzero_si512(); 8]; STEP_BLOCKS];
            for i in 0..8 {
                let p = &pointers[8 * i..8 * i + 8];
                // Transposes eight lanes by four blocks: first pairs of lanes, then the four pairs.
                let (ac, bd) = (pair(p[0], p[2]), pair(p[1], p[3]));
                let (eg, fh) = (pair(p[4], p[6]), pair(p[5], p[7]));
                let (low, high) = (_mm512_unpacklo_epi64(ac, bd), _mm512_unpacklo_epi64(eg, fh));
                states[0][i] = _mm512_shuffle_i64x2::<0x88>(low, high);
                states[2][i] = _mm512_shuffle_i64x2::<0xdd>(low, high);
                let (low, high) = (_mm512_unpackhi_epi64(ac, bd), _mm512_unpackhi_epi64(eg, fh));
                states[1][i] = _mm512_shuffle_i64x2::<0x88>(low, high);
                states[3][i] = _mm512_shuffle_i64x2::<0xdd>(low, high);
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
            // Select the pairs of lanes in the lower halves of two vectors, or in the upper halves.
            let lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            for i in 0..8 {
                let p = &pointers[8 * i..8 * i + 8];
                let [x0, x1, x2, x3] = [states[0][i], states[1][i], states[2][i], states[3][i]];
                let even = _mm512_permutex2var_epi64(x0, lower, x2);
                let odd = _mm512_permutex2var_epi64(x1, lower, x3);
                store_pair(_mm512_unpacklo_epi64(even, odd), p[0], p[2]);
                store_pair(_mm512_unpackhi_epi64(even, odd), p[1], p[3]);
                let even = _mm512_permutex2var_epi64(x0, upper, x2);
                let odd = _mm512_permutex2var_epi64(x1, upper, x3);
                store_pair(_mm512_unpacklo_epi64(even, odd), p[4], p[6]);
                store_pair(_mm512_unpackhi_epi64(even, odd), p[5], p[7]);
            }
        }
    }

    #[inline(always)]
    fn slot(&self, slot: usize) -> u8 {
        assert!(slot < Self::SLOTS);
        // SAFETY: a register is 64 bytes, and `slot` was checked.
        unsafe { core::ptr::from_ref(self).cast::<u8>().add(place(slot)).read() }
    }

    #[inline(always)]
    fn set_slot(&mut self, slot: usize, row: u8) {
        assert!(slot < Self::SLOTS);
        // SAFETY: a register is 64 bytes, and `slot` was checked.
        unsafe { core::ptr::from_mut(self).cast::<u8>().add(place(slot)).write(row) }
    }

    #[inline(always)]
    fn set_slot_of_word(&mut self, slot: usize, word: u64) {
        self.set_slot(slot, word as u8);
    }
}
