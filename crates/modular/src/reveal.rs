//! The one door through which a secret becomes public: that a number has no inverse, that a candidate is no prime.

/// The digit, from here on public.
///
/// With the feature `secrets` it tells Valgrind's memcheck so: `tests/secrets.rs` runs everything that claims
/// constant time on numbers that are marked as undefined, and memcheck reports every branch and address that depends on
/// them.
///
/// Not for other users than `tress-sign`, which has outcomes of its own to reveal.
#[inline(always)]
pub fn reveal<L: Copy>(digit: L) -> L {
    #[allow(unused_mut)]
    let mut digit = digit;
    #[cfg(all(feature = "secrets", target_arch = "x86_64"))]
    {
        // MAKE_MEM_DEFINED.
        let request: [u64; 6] = [0x4d43_0002, (&raw mut digit).addr() as u64, size_of::<L>() as u64, 0, 0, 0];
        // SAFETY: outside of Valgrind the rotations add up to nothing and the exchange is with itself; inside, the request
        // only changes memcheck's own notes on `digit`.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") &raw const request, inout("rdx") 0u64 => _,
            );
        }
    }
    digit
}
