//! Block ciphers and their modes in parallel lanes.
//!
//! A **lane** is one independent chain of block cipher calls. CBC and the MAC of CCM are serial inside one message, so
//! one message leaves a processor idle for most of its time; [`lanes`] runs the chains of many messages side by side in
//! the slots of vector registers.
//!
//! For files and messages take containers first (crate `tress-container`), which choose keys and nonces themselves, and notice every
//! change. What is here are their building blocks, for protocols that say what nonces and limits are.
//!
//! - [`aes`]: AES-128, AES-192 and AES-256 with all backends ([`Backend`]); the choice is made once, at key setup.
//! - [`rc6`]: RC6, a finalist of the AES contest, not standardised.
//! - [`pipo`]: PIPO-64/128 and PIPO-64/256, which have blocks of 64 bits.
//! - [`rijndael`]: Rijndael, which AES was taken from, with blocks and keys of 128 to 256 bits.
//! - [`modes`]: ECB, CBC, CTR and CCM of one message.
//! - [`lanes`]: CCM and CBC encryption of many messages at once.
//! - [`catalogue`]: every cipher by its name.
//! - [`cpu`]: what this machine has.
//!
//! On 32-bit RISC-V there is also the module `riscv32`, the kernels by themselves.
//!
//! The crate is `no_std` and never allocates. The feature `std`, on by default, only lets [`cpu`] read the environment of x86-64 and
//! aarch64; elsewhere it does nothing.
//!
//! ```
//! use tress_cipher::{aes::Aes, modes::ccm};
//!
//! let cipher = Aes::new(&[7; 16])?;
//! let mut data = *b"sixty-four lanes are better than one";
//! let mut tag = [0; 16];
//! ccm::encrypt(&cipher, &[1; 12], b"header", &mut data, &mut tag)?;
//! ccm::decrypt(&cipher, &[1; 12], b"header", &mut data, &tag)?;
//! assert_eq!(&data, b"sixty-four lanes are better than one");
//! # Ok::<(), tress_cipher::Error>(())
//! ```
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(test, all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64"))))]
extern crate std;

/// Compiles the Rust example of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

mod block;
mod block_cipher;
pub mod catalogue;
mod ciphers;
pub mod cpu;
mod engine;
mod error;
pub mod lanes;
pub mod modes;
mod operation;
mod reveal;
mod rustcrypto;

/// Kernels in assembly for 32-bit RISC-V by themselves: PIPO's, for what the modes do not have, which is keys of four messages side by
/// side and CTR with a prepared nonce. Stack: at most 256 bytes in any kernel.
///
/// The same files make `libtress_rv32.a` for C (`riscv/firmware/library`).
#[cfg(target_arch = "riscv32")]
pub mod riscv32 {
    pub use crate::ciphers::pipo::riscv32::kernels as pipo;
}

pub use block::{BLOCK_BYTES, Block};
pub use block_cipher::{BlockCipher, CcmCipher};
pub use ciphers::*;
pub use cpu::Backend;
pub use error::Error;
