#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(test, all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64"))))]
extern crate std;

mod block;
mod block_cipher;
#[cfg(feature = "ciphers")]
pub mod catalogue;
mod ciphers;
pub mod cpu;
mod engine;
mod error;
#[cfg(feature = "lanes")]
pub mod lanes;
mod message;
pub mod modes;
mod operation;
mod reveal;
mod rustcrypto;

/// Assembly kernels of PIPO for 32-bit RISC-V, for uses that the modes do not cover: four messages with a key each, side by side, and
/// CTR with a prepared nonce. Each kernel uses at most 256 bytes of stack.
///
/// `libtress_rv32.a` for C is built from the same files (`riscv/firmware/library`).
#[cfg(all(target_arch = "riscv32", feature = "ciphers"))]
pub mod riscv32 {
    pub use crate::ciphers::pipo::riscv32::kernels as pipo;
}

#[doc(no_inline)]
pub use {aead, cipher};

pub use block::{BLOCK_BYTES, Block};
pub use block_cipher::{BlockCipher, CcmCipher};
pub use ciphers::*;
pub use cpu::Backend;
pub use error::Error;
pub use message::{Aad, Nonce, Tag, TagMut};
