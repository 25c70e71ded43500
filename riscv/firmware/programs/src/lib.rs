//! The ciphers and kernels of the programs, as the papers and submissions have them: one thread, no lanes, tables where
//! the submission has tables. What Tress itself uses comes from tress-cipher.
#![no_std]

pub mod kernels;
pub mod numbers;
pub mod rc6;
pub mod rijndael;
