//! Wide blocks in two registers: columns 0 to 3 of each block in a slot of the first, the others at the start of the same slot of the
//! second. The bytes after them are ignored.

use core::marker::PhantomData;

use super::*;
use crate::ciphers::rijndael::shape::before_instruction;
use crate::engine::register_methods;

/// A vector in two registers: columns 0 to 3 in `low`, the others in `high`.
#[derive(Clone, Copy)]
pub struct Halves<R, B> {
    low: R,
    high: R,
    block: PhantomData<B>,
}

/// Registers of one and two slots.
///
/// # Safety
/// The machine must have the register's instructions for every method.
pub trait NarrowRegister: BlockRegister {
    /// A register from its slots. A register of one slot takes only the first.
    unsafe fn join(slots: [__m128i; 2]) -> Self;
    /// The slots of a register. The second is zero for a register of one slot.
    unsafe fn split(self) -> [__m128i; 2];
    /// In each slot, sets byte `i` to byte `order[i]`, or to zero if the high bit of `order[i]` is set.
    unsafe fn shuffle(self, order: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn add32(self, other: Self) -> Self;
}

impl NarrowRegister for __m128i {
    #[inline(always)]
    unsafe fn join([slot, _]: [__m128i; 2]) -> Self {
        slot
    }

    #[inline(always)]
    unsafe fn split(self) -> [__m128i; 2] {
        // SAFETY: SSE2 is part of x86-64.
        #[allow(unused_unsafe)]
        unsafe {
            [self, _mm_setzero_si128()]
        }
    }

    register_methods! {
        fn shuffle(self, order) = _mm_shuffle_epi8(self, order);
        // SSE2 is part of x86-64.
        #[allow(unused_unsafe)]
        fn or(self, other) = _mm_or_si128(self, other);
        #[allow(unused_unsafe)]
        fn add32(self, other) = _mm_add_epi32(self, other);
    }
}

impl NarrowRegister for __m256i {
    #[inline(always)]
    unsafe fn join([first, second]: [__m128i; 2]) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { _mm256_set_m128i(second, first) }
    }

    #[inline(always)]
    unsafe fn split(self) -> [__m128i; 2] {
        // SAFETY: the caller guarantees the instructions.
        unsafe { [_mm256_castsi256_si128(self), _mm256_extracti128_si256::<1>(self)] }
    }

    register_methods! {
        fn shuffle(self, order) = _mm256_shuffle_epi8(self, order);
        fn or(self, other) = _mm256_or_si256(self, other);
        fn add32(self, other) = _mm256_add_epi32(self, other);
    }
}

/// Byte shuffles: from the low and from the high half to the low half, then from both to the high half.
const fn orders(nb: usize, inverse: bool) -> [[u8; 16]; 4] {
    let mut orders = [[0x80; 16]; 4];
    let mut byte = 0;
    while byte < 32 {
        let source = before_instruction(nb, 1, byte, inverse);
        orders[2 * (byte / 16) + source / 16][byte % 16] = (source % 16) as u8;
        byte += 1;
    }
    orders
}

impl<R: NarrowRegister, B: BlockBytes> Halves<R, B> {
    const FORWARD: [[u8; 16]; 4] = orders(B::BYTES / 4, false);
    const BACKWARD: [[u8; 16]; 4] = orders(B::BYTES / 4, true);
    /// Index of the last column, the low word of a big-endian number, in the high half.
    const LAST: usize = B::BYTES - 20;
    /// Reverses the bytes of the last column.
    const REVERSE_LAST: [u8; 16] = {
        let mut order = [0; 16];
        let mut byte = 0;
        while byte < 16 {
            order[byte] = if byte / 4 == Self::LAST / 4 { (2 * Self::LAST + 3 - byte) as u8 } else { byte as u8 };
            byte += 1;
        }
        order
    };
    /// The numbers 0, 1 and `SLOTS`, in the last column.
    const NUMBERS: [[u8; 16]; 3] = {
        let mut numbers = [[0; 16]; 3];
        numbers[1][Self::LAST] = 1;
        numbers[2][Self::LAST] = R::SLOTS as u8;
        numbers
    };

    #[inline(always)]
    fn new(low: R, high: R) -> Self {
        Halves { low, high, block: PhantomData }
    }

    #[inline(always)]
    unsafe fn arrange(self, [low_low, low_high, high_low, high_high]: &[[u8; 16]; 4]) -> Self {
        // SAFETY: the caller guarantees the instructions, and an order has 16 bytes.
        unsafe {
            let order = |order: &[u8; 16]| R::splat(_mm_loadu_si128(order.as_ptr().cast()));
            let low = self.low.shuffle(order(low_low)).or(self.high.shuffle(order(low_high)));
            let high = self.low.shuffle(order(high_low)).or(self.high.shuffle(order(high_high)));
            Self::new(low, high)
        }
    }

    /// Reads the two halves of a block.
    #[inline(always)]
    unsafe fn read(block: *const u8) -> [__m128i; 2] {
        // SAFETY: the caller guarantees a block's bytes and for SSSE3; every address is inside of it.
        unsafe {
            let low = _mm_loadu_si128(block.cast());
            let high = match B::BYTES {
                20 => _mm_loadu_si32(block.add(16)),
                24 => _mm_loadl_epi64(block.add(16).cast()),
                28 => _mm_srli_si128::<4>(_mm_loadu_si128(block.add(12).cast())),
                _ => _mm_loadu_si128(block.add(16).cast()),
            };
            [low, high]
        }
    }

    /// The inverse of `read`.
    #[inline(always)]
    unsafe fn write([low, high]: [__m128i; 2], block: *mut u8) {
        // SAFETY: the caller guarantees a block's bytes and for SSSE3; every address is inside of it.
        unsafe {
            _mm_storeu_si128(block.cast(), low);
            match B::BYTES {
                20 => _mm_storeu_si32(block.add(16), high),
                24 => _mm_storel_epi64(block.add(16).cast(), high),
                // Overlaps the last column of the low half.
                28 => _mm_storeu_si128(block.add(12).cast(), _mm_alignr_epi8::<12>(high, low)),
                _ => _mm_storeu_si128(block.add(16).cast(), high),
            }
        }
    }

    /// Reads the block at pointer `s` into slot `s`.
    #[inline(always)]
    unsafe fn read_slots(pointers: [*const u8; 2]) -> Self {
        // SAFETY: the caller guarantees a block's bytes at each of the first `SLOTS` pointers.
        unsafe {
            let [low, high] = Self::read(pointers[0]);
            let [second_low, second_high] = if R::SLOTS == 2 { Self::read(pointers[1]) } else { [low, high] };
            Self::new(R::join([low, second_low]), R::join([high, second_high]))
        }
    }

    #[inline(always)]
    unsafe fn write_slots(self, pointers: [*mut u8; 2]) {
        // SAFETY: the caller guarantees a block's bytes at each of the first `SLOTS` pointers.
        unsafe {
            let ([low, second_low], [high, second_high]) = (self.low.split(), self.high.split());
            Self::write([low, high], pointers[0]);
            if R::SLOTS == 2 {
                Self::write([second_low, second_high], pointers[1]);
            }
        }
    }
}

impl<R: NarrowRegister, B: BlockBytes> AesRounds for Halves<R, B> {
    register_methods! {
        fn xor(self, other) = Self::new(self.low.xor(other.low), self.high.xor(other.high));
        fn encrypt_round(self, round_key) = {
            let x = self.arrange(&Self::FORWARD);
            Self::new(x.low.encrypt_round(round_key.low), x.high.encrypt_round(round_key.high))
        };
        fn encrypt_last(self, round_key) = {
            let x = self.arrange(&Self::FORWARD);
            Self::new(x.low.encrypt_last(round_key.low), x.high.encrypt_last(round_key.high))
        };
        fn decrypt_round(self, round_key) = {
            let x = self.arrange(&Self::BACKWARD);
            Self::new(x.low.decrypt_round(round_key.low), x.high.decrypt_round(round_key.high))
        };
        fn decrypt_last(self, round_key) = {
            let x = self.arrange(&Self::BACKWARD);
            Self::new(x.low.decrypt_last(round_key.low), x.high.decrypt_last(round_key.high))
        };
    }
}

impl<R: NarrowRegister, B: BlockBytes> WideVector<B> for Halves<R, B> {
    const SLOTS: usize = R::SLOTS;
    const KEY_BYTES: usize = 32;

    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller guarantees the instructions and `SLOTS` blocks; with one slot the second pointer is not read.
        unsafe { Self::read_slots([bytes, bytes.wrapping_add(B::BYTES)]) }
    }

    #[inline(always)]
    unsafe fn store(self, bytes: *mut u8) {
        // SAFETY: the caller guarantees the instructions and `SLOTS` blocks; with one slot the second pointer is not written.
        unsafe { self.write_slots([bytes, bytes.wrapping_add(B::BYTES)]) }
    }

    #[inline(always)]
    unsafe fn load_block(block: *const u8) -> Self {
        // SAFETY: the caller guarantees a block's bytes.
        unsafe {
            let ([low, high], zero) = (Self::read(block), _mm_setzero_si128());
            Self::new(R::join([low, zero]), R::join([high, zero]))
        }
    }

    #[inline(always)]
    unsafe fn store_block(self, block: *mut u8) {
        // SAFETY: the caller guarantees a block's bytes.
        unsafe { Self::write([self.low.split()[0], self.high.split()[0]], block) }
    }

    #[inline(always)]
    unsafe fn round_key(bytes: *const u8) -> Self {
        // SAFETY: the caller guarantees 32 bytes.
        unsafe {
            let [low, high] = [_mm_loadu_si128(bytes.cast()), _mm_loadu_si128(bytes.add(16).cast())];
            Self::new(R::splat(low), R::splat(high))
        }
    }

    #[inline(always)]
    unsafe fn slot(&self, slot: usize) -> B {
        let mut block = B::ZERO;
        // SAFETY: the caller guarantees the instructions, and `block` has a block's bytes.
        unsafe { Self::write([self.low.split()[slot], self.high.split()[slot]], block.as_mut().as_mut_ptr()) };
        block
    }

    #[inline(always)]
    unsafe fn set_slot(&mut self, slot: usize, block: &B) {
        // SAFETY: the caller guarantees the instructions, and `block` has a block's bytes.
        unsafe {
            let [low, high] = Self::read(block.as_ref().as_ptr());
            let (mut lows, mut highs) = (self.low.split(), self.high.split());
            (lows[slot], highs[slot]) = (low, high);
            *self = Self::new(R::join(lows), R::join(highs));
        }
    }

    #[inline(always)]
    unsafe fn consecutive<const N: usize>(first: &B) -> [Self; N] {
        // SAFETY: the caller guarantees the instructions; `first` has a block's bytes, and the constants have 16.
        unsafe {
            let [low, high] = Self::read(first.as_ref().as_ptr());
            let order = R::splat(_mm_loadu_si128(Self::REVERSE_LAST.as_ptr().cast()));
            let [zero, one, slots] = &Self::NUMBERS;
            let numbers = [_mm_loadu_si128(zero.as_ptr().cast()), _mm_loadu_si128(one.as_ptr().cast())];
            let step = R::splat(_mm_loadu_si128(slots.as_ptr().cast()));
            let mut next = R::splat(high).shuffle(order).add32(R::join(numbers));
            let mut vectors = [Self::new(R::splat(low), next); N];
            for vector in &mut vectors {
                vector.high = next.shuffle(order);
                next = next.add32(step);
            }
            vectors
        }
    }

    #[inline(always)]
    unsafe fn gather(pointers: &[*mut u8]) -> [Self; STEP_BLOCKS] {
        let [a, b] = [pointers[0], pointers[R::SLOTS - 1]];
        // SAFETY: the caller guarantees four blocks at each pointer.
        unsafe {
            let mut vectors = [Self::read_slots([a, b]); STEP_BLOCKS];
            for j in 1..STEP_BLOCKS {
                vectors[j] = Self::read_slots([a.add(j * B::BYTES), b.add(j * B::BYTES)]);
            }
            vectors
        }
    }

    #[inline(always)]
    unsafe fn scatter(vectors: [Self; STEP_BLOCKS], pointers: &[*mut u8]) {
        let [a, b] = [pointers[0], pointers[R::SLOTS - 1]];
        // SAFETY: the caller guarantees four blocks at each pointer.
        unsafe {
            for j in 0..STEP_BLOCKS {
                vectors[j].write_slots([a.add(j * B::BYTES), b.add(j * B::BYTES)]);
            }
        }
    }
}
