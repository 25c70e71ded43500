#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

use core::marker::PhantomData;

use aead::consts::{U0, U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16};
use aead::generic_array::{ArrayLength, GenericArray, typenum::Unsigned};
use tress_cipher::Aad;
use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm;

#[doc(no_inline)]
pub use aead::{self, AeadCore, AeadInPlace, Error, Key, KeyInit, KeySizeUser, consts};

/// A nonce of [`Ccm`].
pub type Nonce<NonceSize> = GenericArray<u8, NonceSize>;

/// A tag of [`Ccm`].
pub type Tag<TagSize> = GenericArray<u8, TagSize>;

mod sealed {
    pub trait Sealed {}
}

/// Length of a tag in bytes: 4, 6, …, 16.
pub trait TagSize: Unsigned + sealed::Sealed {}

/// Length of a nonce in bytes: 7 to 13.
pub trait NonceSize: Unsigned + sealed::Sealed {}

/// A cipher type that [`Ccm`] takes: the AES types of the crate `aes`.
pub trait AesCipher: KeySizeUser + sealed::Sealed {}

macro_rules! implement {
    (AesCipher: $($type:ty),*) => { $(impl sealed::Sealed for $type {} impl AesCipher for $type {})* };
    ($name:path: $($type:ty),*) => { $(impl $name for $type {})* };
}

implement!(sealed::Sealed: U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16);
implement!(TagSize: U4, U6, U8, U10, U12, U14, U16);
implement!(NonceSize: U7, U8, U9, U10, U11, U12, U13);
implement!(AesCipher: aes::Aes128, aes::Aes192, aes::Aes256, aes::Aes128Enc, aes::Aes192Enc, aes::Aes256Enc);

/// AES-CCM with a key, which is wiped on drop. `C` is a type such as `aes::Aes128`, `M` the length of a tag in bytes (4, 6, …, 16), `N`
/// that of a nonce (7 to 13).
#[derive(Clone)]
pub struct Ccm<C: AesCipher, M: ArrayLength<u8> + TagSize, N: ArrayLength<u8> + NonceSize> {
    cipher: Aes,
    types: PhantomData<(C, M, N)>,
}

impl<C: AesCipher, M: ArrayLength<u8> + TagSize, N: ArrayLength<u8> + NonceSize> KeySizeUser for Ccm<C, M, N> {
    type KeySize = C::KeySize;
}

impl<C: AesCipher, M: ArrayLength<u8> + TagSize, N: ArrayLength<u8> + NonceSize> KeyInit for Ccm<C, M, N> {
    fn new(key: &Key<Self>) -> Self {
        Ccm { cipher: Aes::new(key).expect("the type fixes the key's length"), types: PhantomData }
    }
}

impl<C: AesCipher, M: ArrayLength<u8> + TagSize, N: ArrayLength<u8> + NonceSize> AeadCore for Ccm<C, M, N> {
    type NonceSize = N;
    type TagSize = M;
    type CiphertextOverhead = U0;
}

impl<C: AesCipher, M: ArrayLength<u8> + TagSize, N: ArrayLength<u8> + NonceSize> AeadInPlace for Ccm<C, M, N> {
    fn encrypt_in_place_detached(&self, nonce: &Nonce<N>, aad: &[u8], data: &mut [u8]) -> Result<Tag<M>, Error> {
        let mut tag = Tag::<M>::default();
        ccm::seal(&self.cipher, nonce.as_slice(), Aad(aad), data, tag.as_mut_slice()).map_err(|_| Error)?;
        Ok(tag)
    }

    fn decrypt_in_place_detached(
        &self,
        nonce: &Nonce<N>,
        aad: &[u8],
        data: &mut [u8],
        tag: &Tag<M>,
    ) -> Result<(), Error> {
        let tag = tress_cipher::Tag::new(tag, M::USIZE).map_err(|_| Error)?;
        ccm::open(&self.cipher, nonce.as_slice(), Aad(aad), data, tag).map_err(|_| Error)
    }
}
