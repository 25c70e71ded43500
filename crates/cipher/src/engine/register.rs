//! Methods of registers that are one expression.

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
