//! PIPO with a key, and the list of its backends.

use super::layers::Block;
use super::portable::Portable;
use super::reference::Reference;
use crate::engine::backends;
use crate::operation::compile_modes;

backends! {
    /// PIPO with a key of 16 or 32 bytes.
    pub enum PipoKey of Block {
        Reference: Reference,
        Portable: Portable,
        #[cfg(target_arch = "riscv32")]
        Riscv32: super::riscv32::Riscv32,
        #[cfg(target_arch = "aarch64")]
        Neon: super::aarch64::Neon,
        #[cfg(target_arch = "x86_64")]
        Avx2: super::x86::Avx2,
        #[cfg(target_arch = "x86_64")]
        Gfni512: super::x86::Gfni512,
    }
}

compile_modes!(PipoKey);
