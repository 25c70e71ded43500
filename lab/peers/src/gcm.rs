//! AES-128-GCM through the interface of the crate ring, which aws-lc-rs has too.

/// Defines `Gcm` by the module `$library::aead`.
macro_rules! gcm {
    ($library:ident) => {
        /// AES-128-GCM with 12-byte nonces.
        pub struct Gcm($library::aead::LessSafeKey);

        impl $crate::PeerCipher for Gcm {
            fn new(_: $crate::Mode, _: $crate::Direction, key: &[u8]) -> Result<Gcm, Error> {
                use $library::aead::{AES_128_GCM, LessSafeKey, UnboundKey};
                let key = UnboundKey::new(&AES_128_GCM, key).map_err(|_| Error::Length)?;
                Ok(Gcm(LessSafeKey::new(key)))
            }

            fn apply(&mut self, nonce: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
                use $library::aead::{Aad, Nonce};
                let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error::Length)?;
                let made = self.0.seal_in_place_separate_tag(nonce, Aad::empty(), data).map_err(refused)?;
                if tag.len() != made.as_ref().len() {
                    return Err(Error::Length);
                }
                tag.copy_from_slice(made.as_ref());
                Ok(())
            }
        }
    };
}

pub(crate) use gcm;
