//! Nonce, associated data and tag of a message. Each has its own type, so that callers cannot confuse them.

use crate::Error;

/// A number that must be used only once with a key. Any byte array or slice converts to it; the mode checks the length.
#[derive(Clone, Copy, Debug)]
pub struct Nonce<'a>(pub(crate) &'a [u8]);

/// Associated data, which is authenticated and not encrypted. `Aad(b"")` means none. Passing it as the nonce does not compile:
///
/// ```compile_fail
/// # use tress_cipher::{Aad, aes::Aes, modes::ccm};
/// # let (cipher, mut data, mut tag) = (Aes::new(&[7; 16])?, [0; 9], [0; 16]);
/// ccm::seal(&cipher, Aad(b"header"), &[0; 12], &mut data, &mut tag)?;
/// # Ok::<(), tress_cipher::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Aad<'a>(pub &'a [u8]);

/// The tag of a message to decrypt.
///
/// A short tag is easy to forge, so the sender of a message must not choose its length: a tag is an array, or a slice together with the
/// length that the receiver expects.
#[derive(Clone, Copy, Debug)]
pub struct Tag<'a>(pub(crate) &'a [u8]);

/// The buffer for the tag of a message to encrypt.
#[derive(Debug)]
pub struct TagMut<'a>(pub(crate) &'a mut [u8]);

impl<'a> Tag<'a> {
    /// A tag that must have `bytes` bytes.
    ///
    /// # Errors
    /// `TagLength` for any other length.
    pub fn new(tag: &'a [u8], bytes: usize) -> Result<Self, Error> {
        if tag.len() == bytes { Ok(Tag(tag)) } else { Err(Error::TagLength) }
    }
}

impl<'a> From<&'a [u8]> for Nonce<'a> {
    fn from(nonce: &'a [u8]) -> Self {
        Nonce(nonce)
    }
}

impl<'a, const BYTES: usize> From<&'a [u8; BYTES]> for Nonce<'a> {
    fn from(nonce: &'a [u8; BYTES]) -> Self {
        Nonce(nonce)
    }
}

impl<'a, const BYTES: usize> From<&'a [u8; BYTES]> for Tag<'a> {
    fn from(tag: &'a [u8; BYTES]) -> Self {
        Tag(tag)
    }
}

impl<'a, const BYTES: usize> From<&'a mut [u8; BYTES]> for Tag<'a> {
    fn from(tag: &'a mut [u8; BYTES]) -> Self {
        Tag(tag)
    }
}

impl<'a> From<&'a mut [u8]> for TagMut<'a> {
    fn from(tag: &'a mut [u8]) -> Self {
        TagMut(tag)
    }
}

impl<'a, const BYTES: usize> From<&'a mut [u8; BYTES]> for TagMut<'a> {
    fn from(tag: &'a mut [u8; BYTES]) -> Self {
        TagMut(tag)
    }
}
