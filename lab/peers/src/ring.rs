//! The crate ring: AES-GCM, and PKCS #1 v1.5 signatures with SHA-256. It has no CCM and no mode without authentication.
//!
//! It builds C and assembly, so it is only in builds with the feature `ring`.

use crate::Missing;

/// The name in `tress bench --against`.
pub const NAME: &str = "ring";

/// The version in this build; or an error with the feature that adds the crate.
pub fn version() -> Result<String, Missing> {
    if cfg!(feature = "ring") {
        return Ok(env!("TRESS_PEERS_RING").into());
    }
    Err(Missing { peer: NAME, reason: "built without; build with --features ring".into(), package: "" })
}

#[cfg(feature = "ring")]
pub use with::{Gcm, SignatureKey};

#[cfg(feature = "ring")]
mod with {
    use ::ring::{
        aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
        error::Unspecified,
        rand::SystemRandom,
        rsa::{KeyPair, PublicKey},
        signature::{RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, UnparsedPublicKey},
    };

    use crate::Error;

    fn refused(_: Unspecified) -> Error {
        Error::Refused("ring")
    }

    /// AES-128-GCM with 12-byte nonces.
    pub struct Gcm(LessSafeKey);

    impl Gcm {
        /// Sets a key of 16 bytes.
        pub fn new(key: &[u8]) -> Result<Gcm, Error> {
            let key = UnboundKey::new(&AES_128_GCM, key).map_err(|_| Error::Length)?;
            Ok(Gcm(LessSafeKey::new(key)))
        }

        /// Encrypts one message in place and writes its tag of 16 bytes.
        pub fn encrypt(&self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
            let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error::Length)?;
            let made = self.0.seal_in_place_separate_tag(nonce, Aad::from(aad), data).map_err(refused)?;
            if tag.len() != made.as_ref().len() {
                return Err(Error::Length);
            }
            tag.copy_from_slice(made.as_ref());
            Ok(())
        }
    }

    /// A key that signs and verifies. The crate computes the digest itself, so it takes messages.
    pub struct SignatureKey {
        private: KeyPair,
        public: UnparsedPublicKey<PublicKey>,
        random: SystemRandom,
    }

    impl SignatureKey {
        /// Reads a private key, PKCS #8 in DER.
        ///
        /// # Errors
        /// If the crate rejects the key. It supports 2048 to 4096 bits.
        pub fn new(der: &[u8]) -> Result<SignatureKey, Error> {
            let private = KeyPair::from_pkcs8(der).map_err(|_| Error::Refused("ring"))?;
            let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, private.public().clone());
            Ok(SignatureKey { private, public, random: SystemRandom::new() })
        }

        /// Signs a message.
        pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
            let mut signature = vec![0; self.private.public().modulus_len()];
            self.private.sign(&RSA_PKCS1_SHA256, &self.random, message, &mut signature).map_err(refused)?;
            Ok(signature)
        }

        /// Verifies a signature. The crate parses the public key each time.
        pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
            self.public.verify(message, signature).map_err(refused)
        }
    }
}
