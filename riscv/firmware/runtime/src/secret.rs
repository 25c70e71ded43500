//! Marks that show the simulator which bytes are secret (`tress simulate --secret`). They are hints (`slt` and `sltu`
//! to x0, which the ISA manual reserves for custom use), so they have no effect on hardware.

use core::arch::asm;

/// Marks the current bytes as secret from here on.
#[inline(always)]
pub fn mark<T: ?Sized>(secret: &T) {
    let (address, bytes) = ((&raw const *secret).cast::<u8>(), size_of_val(secret));
    // SAFETY: a hint without effect. Not `nomem`, so that the bytes are in memory.
    unsafe { asm!("slt x0, {}, {}", in(reg) address, in(reg) bytes, options(nostack)) };
}

/// Marks these bytes as public from here on, such as ciphertext or data that is revealed intentionally.
#[inline(always)]
pub fn release<T: ?Sized>(public: &T) {
    let (address, bytes) = ((&raw const *public).cast::<u8>(), size_of_val(public));
    // SAFETY: a hint without effect. Not `nomem`, so that the bytes are in memory.
    unsafe { asm!("sltu x0, {}, {}", in(reg) address, in(reg) bytes, options(nostack)) };
}
