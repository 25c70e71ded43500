#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;

use aead::TagPosition;
use aead::array::{Array, ArraySize, typenum::Unsigned};
use aead::consts::{U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16};
use aead::inout::InOutBuf;
use tress_cipher::{aes::Aes, modes};

#[doc(no_inline)]
pub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser, consts};

/// A nonce of [`Ccm`].
pub type Nonce<NonceSize> = Array<u8, NonceSize>;

/// A tag of [`Ccm`].
pub type Tag<TagSize> = Array<u8, TagSize>;

mod sealed {
    pub trait Sealed {}
}

/// Length of a tag in bytes: 4, 6, …, 16.
pub trait TagSize: Unsigned + sealed::Sealed {}

/// Length of a nonce in bytes: 7 to 13.
pub trait NonceSize: Unsigned + sealed::Sealed {}

/// A cipher type that [`Ccm`] takes: the AES types of the crates `aes` and `tress-cipher`.
pub trait AesCipher: KeySizeUser + sealed::Sealed {}

macro_rules! implement {
    (AesCipher: $($type:ty),*) => { $(impl sealed::Sealed for $type {} impl AesCipher for $type {})* };
    ($name:path: $($type:ty),*) => { $(impl $name for $type {})* };
}

implement!(sealed::Sealed: U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16);
implement!(TagSize: U4, U6, U8, U10, U12, U14, U16);
implement!(NonceSize: U7, U8, U9, U10, U11, U12, U13);
implement!(AesCipher: aes::Aes128, aes::Aes192, aes::Aes256, aes::Aes128Enc, aes::Aes192Enc, aes::Aes256Enc);
implement!(AesCipher: tress_cipher::aes::Aes128, tress_cipher::aes::Aes192, tress_cipher::aes::Aes256);

/// AES-CCM with a key, which is wiped on drop. `C` is a type such as `aes::Aes128`, `M` the length of a tag in bytes (4, 6, …, 16), `N`
/// that of a nonce (7 to 13).
#[derive(Clone)]
pub struct Ccm<C: AesCipher, M: ArraySize + TagSize, N: ArraySize + NonceSize> {
    ccm: modes::ccm::Ccm<Aes, M, N>,
    cipher: PhantomData<C>,
}

impl<C: AesCipher, M: ArraySize + TagSize, N: ArraySize + NonceSize> fmt::Debug for Ccm<C, M, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ccm").finish_non_exhaustive()
    }
}

impl<C: AesCipher, M: ArraySize + TagSize, N: ArraySize + NonceSize> KeySizeUser for Ccm<C, M, N> {
    type KeySize = C::KeySize;
}

impl<C: AesCipher, M: ArraySize + TagSize, N: ArraySize + NonceSize> KeyInit for Ccm<C, M, N> {
    fn new(key: &Key<Self>) -> Self {
        Ccm { ccm: Aes::new(key).expect("the type fixes the key's length").into(), cipher: PhantomData }
    }
}

impl<C: AesCipher, M: ArraySize + TagSize, N: ArraySize + NonceSize> AeadCore for Ccm<C, M, N> {
    type NonceSize = N;
    type TagSize = M;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<C: AesCipher, M: ArraySize + TagSize, N: ArraySize + NonceSize> AeadInOut for Ccm<C, M, N> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<N>,
        aad: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<M>, Error> {
        self.ccm.encrypt_inout_detached(nonce, aad, buffer)
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<N>,
        aad: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<M>,
    ) -> Result<(), Error> {
        self.ccm.decrypt_inout_detached(nonce, aad, buffer, tag)
    }
}
