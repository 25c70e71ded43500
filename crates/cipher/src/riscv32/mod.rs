//! Assembly for 32-bit RISC-V: what Rust sees of it.
//!
//! One folder a cipher. The same files make the C library (`firmware/c`). Functions here check lengths and are safe; they
//! ask for the token of [`crate::cpu`], although every core of the target has the instructions (RV32I; RC6 multiplies).

pub(crate) mod aes;
pub(crate) mod rc6;
