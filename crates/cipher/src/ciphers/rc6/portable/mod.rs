//! RC6 in 32-bit words, several blocks side by side: constant time, no instructions beyond the target's baseline.
//!
//! One block alone waits for its multiplications and rotations; the work on other blocks fills the gaps. RC6 rotates by secret
//! amounts and multiplies secret words, so "constant time" requires a processor that executes both in a fixed number of cycles:
//! x86-64, aarch64 and all larger cores of the last decades do. Some small cores do not: those whose multiplier ends early when the
//! upper bits are zero (ARM7TDMI, Cortex-M3 for its long products, some PowerPC), and those without a barrel shifter or without a
//! multiplication instruction.

/// The portable engine.
pub(super) type Portable = crate::ciphers::words::portable::Portable<super::keys::RoundKeys>;
