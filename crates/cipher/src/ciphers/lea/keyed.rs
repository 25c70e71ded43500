//! LEA with a key, and the list of its backends.

use super::portable::Portable;
use super::reference::Reference;
use crate::block::Block;
use crate::engine::backends;
use crate::operation::compile_modes;

backends! {
    /// LEA with a key of 16, 24 or 32 bytes.
    pub enum LeaKey of Block {
        Reference: Reference,
        Portable: Portable,
        #[cfg(target_arch = "riscv32")]
        Riscv32: super::riscv32::Riscv32,
        #[cfg(target_arch = "aarch64")]
        Neon: super::aarch64::Neon,
        #[cfg(target_arch = "x86_64")]
        Avx2: super::x86::Avx2,
        #[cfg(target_arch = "x86_64")]
        Avx512: super::x86::Avx512,
    }
    ccm LeaKey
}

compile_modes!(ccm LeaKey);
