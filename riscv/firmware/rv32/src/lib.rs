//! The kernels for 32-bit RISC-V (crates/cipher/src/ciphers/*/riscv32) without what `tress-cipher` has around them: for images that
//! measure them, and for devices that want one of them and no other backend.
//!
//! [`kernels`] is the assembly, with the address and size of each of its parts; [`ccm`] is AES-CCM of packets. A program
//! that calls one kernel links that kernel: each is a section of its own. A device that has room, or wants another mode,
//! is easier off with `tress-cipher`, whose backend `riscv32` has the same kernels behind the interface of every machine.
#![no_std]
#![cfg(target_arch = "riscv32")]

pub mod ccm;
pub mod kernels;
