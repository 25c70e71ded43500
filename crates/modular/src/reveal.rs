//! Declares secret values as public, for example that a number has no inverse, or that a candidate is not a prime.

/// Returns the digit, which is public from here on.
///
/// With the feature `secrets` this informs Valgrind's memcheck. `tests/secrets.rs` runs all constant-time functions on numbers that are
/// marked as undefined, and memcheck reports every branch and address that depends on them.
///
/// Other crates than `tress-sign`, which also reveals results, and `lab/arithmetic` must not use it.
#[inline(always)]
pub fn reveal<L: Copy>(digit: L) -> L {
    #[allow(unused_mut)]
    let mut digit = digit;
    #[cfg(all(feature = "secrets", target_arch = "x86_64"))]
    {
        // MAKE_MEM_DEFINED.
        let request: [u64; 6] = [0x4d43_0002, (&raw mut digit).addr() as u64, size_of::<L>() as u64, 0, 0, 0];
        // SAFETY: outside of Valgrind the rotations add up to two full turns and the exchange is of a register with itself. Inside, the
        // request only changes memcheck's state of `digit`, whose address and size it passes.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") &raw const request, inout("rdx") 0u64 => _,
            );
        }
    }
    digit
}
