//! The crate `rsa` 0.9: PKCS #1 v1.5 signatures of SHA-256 digests, blinded.

use ::rsa::pkcs8::DecodePrivateKey;
use ::rsa::rand_core::OsRng;
use ::rsa::{Pkcs1v15Sign, RsaPrivateKey, RsaPublicKey};

use crate::{Error, PeerKey};

pub const NAME: &str = "rsa";

/// The bytes of DigestInfo of SHA-256 that come before the digest (RFC 8017, 9.2).
const PREFIX: &[u8; 19] = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";

pub fn version() -> String {
    "0.9".to_owned()
}

pub struct SignatureKey {
    private: RsaPrivateKey,
    public: RsaPublicKey,
}

impl PeerKey for SignatureKey {
    fn new(der: &[u8]) -> Result<SignatureKey, Error> {
        let mut private = RsaPrivateKey::from_pkcs8_der(der).map_err(|_| Error::Refused("rsa"))?;
        private.precompute().map_err(|_| Error::Refused("rsa"))?;
        Ok(SignatureKey { public: private.to_public_key(), private })
    }

    fn sign(&mut self, _: &[u8], digest: &[u8; 32], signature: &mut Vec<u8>) -> Result<(), Error> {
        *signature = self.private.sign_with_rng(&mut OsRng, padding(), digest).map_err(|_| Error::Refused("rsa"))?;
        Ok(())
    }

    fn verify(&mut self, _: &[u8], digest: &[u8; 32], signature: &[u8]) -> Result<(), Error> {
        self.public.verify(padding(), digest, signature).map_err(|_| Error::Refused("rsa"))
    }
}

fn padding() -> Pkcs1v15Sign {
    Pkcs1v15Sign { hash_len: Some(32), prefix: PREFIX.as_slice().into() }
}
