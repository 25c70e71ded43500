//! The one door through which a secret becomes public: whether a tag or a padding is right.

use subtle::Choice;

/// The bit, from here on public.
///
/// With the feature `secrets` it tells Valgrind's memcheck so: `tests/secrets.rs` runs everything on keys and data
/// that are marked as undefined, and memcheck reports every branch and address that depends on them.
#[inline(always)]
pub(crate) fn reveal(bit: Choice) -> bool {
    #[allow(unused_mut)]
    let mut bit = bit.unwrap_u8();
    #[cfg(all(feature = "secrets", target_arch = "x86_64"))]
    {
        // MAKE_MEM_DEFINED of one byte.
        let request: [u64; 6] = [0x4d43_0002, (&raw mut bit).addr() as u64, 1, 0, 0, 0];
        // SAFETY: outside of Valgrind the rotations add up to nothing and the exchange is with itself; inside, the request
        // only changes memcheck's own notes on `bit`.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") &raw const request, inout("rdx") 0u64 => _,
            );
        }
    }
    bit != 0
}
