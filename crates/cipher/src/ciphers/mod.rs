//! The ciphers. Each has a folder, with one folder for each backend.

pub mod aes;
#[cfg(feature = "chacha20poly1305")]
pub mod chacha20poly1305;
mod define;
#[cfg(feature = "ciphers")]
pub mod lea;
#[cfg(feature = "ciphers")]
pub mod pipo;
#[cfg(feature = "ciphers")]
pub mod rc6;
mod reference;
pub mod rijndael;
#[cfg(feature = "ciphers")]
mod words;
