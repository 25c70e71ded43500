//! The crate ring: AES-GCM, and PKCS #1 v1.5 signatures with SHA-256. It has no CCM and no mode without authentication.
//!
//! It builds C and assembly, so it is only in builds with the feature `ring`.

use crate::Missing;

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
    use ::ring::error::Unspecified;
    use ::ring::rand::SystemRandom;
    use ::ring::rsa::{KeyPair, PublicKey};
    use ::ring::signature::{RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, UnparsedPublicKey};

    use crate::{Error, PeerKey};

    fn refused(_: Unspecified) -> Error {
        Error::Refused("ring")
    }

    crate::gcm::gcm!(ring);

    pub struct SignatureKey {
        private: KeyPair,
        public: UnparsedPublicKey<PublicKey>,
        random: SystemRandom,
    }

    impl PeerKey for SignatureKey {
        /// The crate supports 2048 to 4096 bits.
        fn new(der: &[u8]) -> Result<SignatureKey, Error> {
            let private = KeyPair::from_pkcs8(der).map_err(|_| Error::Refused("ring"))?;
            let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, private.public().clone());
            Ok(SignatureKey { private, public, random: SystemRandom::new() })
        }

        fn sign(&mut self, message: &[u8], _: &[u8; 32], signature: &mut Vec<u8>) -> Result<(), Error> {
            signature.resize(self.private.public().modulus_len(), 0);
            self.private.sign(&RSA_PKCS1_SHA256, &self.random, message, signature).map_err(refused)
        }

        /// The crate parses the public key each time.
        fn verify(&mut self, message: &[u8], _: &[u8; 32], signature: &[u8]) -> Result<(), Error> {
            self.public.verify(message, signature).map_err(refused)
        }
    }
}
