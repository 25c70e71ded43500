//! Methods of registers that are one expression, and what registers of several ciphers share.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

/// Unsafe methods whose arguments are registers of the same type: `fn xor(self, other) = _mm_xor_si128(self, other);`.
/// The caller guarantees the instructions, as the register's trait requires.
macro_rules! register_methods {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($self:ident $(, $argument:ident)*) = $result:expr;
    )*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        $visibility unsafe fn $name($self $(, $argument: Self)*) -> Self {
            // SAFETY: the caller guarantees the instructions.
            unsafe { $result }
        }
    )*};
}

pub(crate) use register_methods;

/// Transposes the matrix of 4 × 4 quarters (of 128 bits) of four registers. The operation is its own inverse.
///
/// # Safety
/// The machine must have AVX-512 F.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn transpose_quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the caller guarantees AVX-512 F.
    unsafe {
        // First the pairs a0 a1 b0 b1, a2 a3 b2 b3 and so on, then the even and odd quarters of these.
        let ab_low = _mm512_shuffle_i32x4::<0x44>(a, b);
        let ab_high = _mm512_shuffle_i32x4::<0xee>(a, b);
        let cd_low = _mm512_shuffle_i32x4::<0x44>(c, d);
        let cd_high = _mm512_shuffle_i32x4::<0xee>(c, d);
        [
            _mm512_shuffle_i32x4::<0x88>(ab_low, cd_low),
            _mm512_shuffle_i32x4::<0xdd>(ab_low, cd_low),
            _mm512_shuffle_i32x4::<0x88>(ab_high, cd_high),
            _mm512_shuffle_i32x4::<0xdd>(ab_high, cd_high),
        ]
    }
}
