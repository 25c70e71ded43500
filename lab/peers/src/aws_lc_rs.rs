//! The crate aws-lc-rs: AES in ECB, CBC and CTR, AES-GCM, and PKCS #1 v1.5 signatures of SHA-256 digests. It has no CCM.
//!
//! It builds AWS-LC, which takes a minute, so it is only in builds with the feature `aws-lc-rs`.

use crate::Missing;

pub const NAME: &str = "aws-lc-rs";

/// The version in this build; or an error with the feature that adds the crate.
pub fn version() -> Result<String, Missing> {
    if cfg!(feature = "aws-lc-rs") {
        return Ok(env!("TRESS_PEERS_AWS_LC_RS").into());
    }
    Err(Missing { peer: NAME, reason: "built without; build with --features aws-lc-rs".into(), package: "" })
}

#[cfg(feature = "aws-lc-rs")]
pub use with::{Cipher, Gcm, SignatureKey};

#[cfg(feature = "aws-lc-rs")]
mod with {
    use aws_lc_rs::cipher::{
        AES_128, AES_192, AES_256, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext, UnboundCipherKey,
    };
    use aws_lc_rs::digest::{Digest, SHA256};
    use aws_lc_rs::error::Unspecified;
    use aws_lc_rs::iv::FixedLength;
    use aws_lc_rs::rsa::KeyPair;
    use aws_lc_rs::signature::{KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256};

    use crate::{Direction, Error, Mode, PeerCipher, PeerKey};

    enum AesMode {
        Encrypt(EncryptingKey),
        Decrypt(DecryptingKey),
    }

    /// AES under one key.
    pub struct Cipher {
        way: AesMode,
        mode: Mode,
    }

    fn refused(_: Unspecified) -> Error {
        Error::Refused("aws-lc-rs")
    }

    impl PeerCipher for Cipher {
        fn new(mode: Mode, direction: Direction, key: &[u8]) -> Result<Cipher, Error> {
            let algorithm = match key.len() {
                16 => &AES_128,
                24 => &AES_192,
                32 => &AES_256,
                _ => return Err(Error::Length),
            };
            let key = UnboundCipherKey::new(algorithm, key).map_err(refused)?;
            let way = match (direction, mode) {
                (Direction::Encrypt, Mode::Ecb) => EncryptingKey::ecb(key).map(AesMode::Encrypt),
                (Direction::Encrypt, Mode::Cbc) => EncryptingKey::cbc(key).map(AesMode::Encrypt),
                (Direction::Encrypt, Mode::Ctr) => EncryptingKey::ctr(key).map(AesMode::Encrypt),
                (Direction::Decrypt, Mode::Ecb) => DecryptingKey::ecb(key).map(AesMode::Decrypt),
                (Direction::Decrypt, Mode::Cbc) => DecryptingKey::cbc(key).map(AesMode::Decrypt),
                (Direction::Decrypt, Mode::Ctr) => DecryptingKey::ctr(key).map(AesMode::Decrypt),
                (_, Mode::Ccm | Mode::Gcm) => return Err(Error::Refused("aws-lc-rs")),
            };
            Ok(Cipher { way: way.map_err(refused)?, mode })
        }

        fn apply(&mut self, iv: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
            self.mode.check(iv, data.len(), tag.len())?;
            let iv = match self.mode {
                Mode::Ecb => None,
                _ => Some(FixedLength::<16>::try_from(iv).map_err(|_| Error::Length)?),
            };
            match &self.way {
                AesMode::Encrypt(key) => {
                    let context = iv.map_or(EncryptionContext::None, EncryptionContext::Iv128);
                    key.less_safe_encrypt(data, context).map(drop)
                }
                AesMode::Decrypt(key) => {
                    key.decrypt(data, iv.map_or(DecryptionContext::None, DecryptionContext::Iv128)).map(drop)
                }
            }
            .map_err(refused)
        }
    }

    crate::gcm::gcm!(aws_lc_rs);

    pub struct SignatureKey {
        private: KeyPair,
        public: ParsedPublicKey,
    }

    impl PeerKey for SignatureKey {
        fn new(der: &[u8]) -> Result<SignatureKey, Error> {
            let rejected = |_| Error::Refused("aws-lc-rs");
            let private = KeyPair::from_pkcs8(der).map_err(rejected)?;
            let public = ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, private.public_key().as_ref());
            Ok(SignatureKey { public: public.map_err(rejected)?, private })
        }

        fn sign(&mut self, _: &[u8], digest: &[u8; 32], signature: &mut Vec<u8>) -> Result<(), Error> {
            signature.resize(self.private.public_modulus_len(), 0);
            let digest = Digest::import_less_safe(digest, &SHA256).map_err(refused)?;
            self.private.sign_digest(&RSA_PKCS1_SHA256, &digest, signature).map_err(refused)
        }

        fn verify(&mut self, _: &[u8], digest: &[u8; 32], signature: &[u8]) -> Result<(), Error> {
            let digest = Digest::import_less_safe(digest, &SHA256).map_err(refused)?;
            self.public.verify_digest_sig(&digest, signature).map_err(refused)
        }
    }
}
