//! The ciphers and kernels of the programs, as in the papers and submissions: one thread, no lanes, tables where the
//! submission has tables. Tress' own ciphers come from tress-cipher.
#![no_std]

pub mod kernels;
pub mod numbers;
pub mod rc6;
pub mod rijndael;
pub mod sizes;
