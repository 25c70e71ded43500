//! The only place where a secret becomes public: whether a tag or a padding is valid.

use subtle::Choice;

/// Makes a secret bit public.
#[inline(always)]
pub(crate) fn reveal(bit: Choice) -> bool {
    reveal_bit(bit.unwrap_u8())
}

/// Makes a secret bit, 0 or 1, public.
///
/// With the feature `secrets` it also marks the bit as defined for Valgrind's memcheck: `tests/secrets.rs` runs everything on keys and
/// data that are marked as undefined, and memcheck reports every branch and address that depends on them.
#[inline(always)]
pub(crate) fn reveal_bit(#[allow(unused_mut)] mut bit: u8) -> bool {
    #[cfg(all(feature = "secrets", target_arch = "x86_64"))]
    {
        // The client request MAKE_MEM_DEFINED for one byte.
        let request: [u64; 6] = [0x4d43_0002, (&raw mut bit).addr() as u64, 1, 0, 0, 0];
        // SAFETY: outside of Valgrind the rotations cancel out (128 bits in all) and `rbx` is exchanged with itself. Under Valgrind, the
        // request only changes memcheck's record of `bit`.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") &raw const request, inout("rdx") 0u64 => _,
            );
        }
    }
    bit != 0
}
