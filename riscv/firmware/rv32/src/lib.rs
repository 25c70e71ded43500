//! The kernels for 32-bit RISC-V (crates/cipher/src/ciphers/*/riscv32) without the rest of `tress-cipher`: for images
//! that measure them, and for devices that need one of them and no other backend.
//!
//! [`kernels`] is the assembly, with the address and size of each of its parts. [`ccm`] is AES-CCM for packets. A program
//! links only the kernels that it calls, because each has its own section. A device with more memory, or that needs another
//! mode, should use `tress-cipher`: its backend `riscv32` has the same kernels behind the interface of all machines.
#![no_std]
#![cfg(target_arch = "riscv32")]

pub mod ccm;
pub mod kernels;
