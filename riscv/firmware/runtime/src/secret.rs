//! Marks that tell the simulator which bytes are secret (`tress simulate --secret`). They are hints of the instruction set
//! (`slt` and `sltu` to x0, which the manual leaves to custom use), so on everything else they do nothing.

use core::arch::asm;

/// These bytes, as they stand there, are secret from here on.
#[inline(always)]
pub fn mark<T: ?Sized>(secret: &T) {
    let (address, bytes) = ((&raw const *secret).cast::<u8>(), size_of_val(secret));
    // SAFETY: a hint. Not `nomem`: the bytes have to be there.
    unsafe { asm!("slt x0, {}, {}", in(reg) address, in(reg) bytes, options(nostack)) };
}

/// These bytes are public from here on: ciphertext, or what is revealed on purpose.
#[inline(always)]
pub fn release<T: ?Sized>(public: &T) {
    let (address, bytes) = ((&raw const *public).cast::<u8>(), size_of_val(public));
    // SAFETY: a hint. Not `nomem`: the bytes have to be there.
    unsafe { asm!("sltu x0, {}, {}", in(reg) address, in(reg) bytes, options(nostack)) };
}
