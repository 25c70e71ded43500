//! The ciphers. Each has a folder, with one folder for each backend.

pub mod aes;
#[cfg(feature = "chacha20poly1305")]
pub mod chacha20poly1305;
mod define;
pub mod lea;
pub mod pipo;
pub mod rc6;
mod reference;
pub mod rijndael;
mod words;
