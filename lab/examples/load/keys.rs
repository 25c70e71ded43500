//! The keys of a run, and the checks of a signature: by OpenSSL where it supports the scheme, by our own
//! verification, and, for deterministic schemes, by comparison with a signature that is made alone.

use fastrand::Rng;
use tress_peers::openssl_signatures as openssl;
use tress_sign::rsa::SaltLength;
use tress_sign::signature::Keypair as _;
use tress_sign::{Error, Hash, PrivateKey, Scheme, Signature, SigningKey, VerifyingKey, discrete, rsa};

use crate::Tally;

/// Returns `true` in one of `times` cases, at random.
pub fn one_in(times: usize, numbers: &mut Rng) -> bool {
    numbers.usize(..times) == 0
}

/// A key that every thread may use.
pub struct LoadKey {
    pub signing: SigningKey,
    verifying: VerifyingKey,
}

/// Generates keys of every kind: two of RSA-2048, one longer and with another hash function, two of DSA, one of Schnorr.
///
/// # Errors
/// Errors of key generation.
pub fn generate() -> Result<Vec<LoadKey>, Error> {
    let pss = |hash| Scheme::RsaPss { hash, salt: SaltLength::Digest };
    let schemes = [
        ("rsa", 2048, pss(Hash::Sha256)),
        ("rsa", 2048, Scheme::RsaPkcs1(Hash::Sha256)),
        ("rsa", 3072, pss(Hash::Sha256)),
        ("rsa", 3072, Scheme::RsaPkcs1(Hash::Sha512)),
        ("dsa", 2048, Scheme::Dsa(Hash::Sha256)),
        ("dsa", 3072, Scheme::Dsa(Hash::Sha384)),
        ("schnorr", 2048, Scheme::Schnorr),
        ("schnorr", 3072, Scheme::Schnorr),
    ];
    schemes
        .into_iter()
        .map(|(kind, bits, scheme)| {
            let size = if bits == 2048 { discrete::GroupSize::Bits2048 } else { discrete::GroupSize::Bits3072 };
            let private = match kind {
                "rsa" => PrivateKey::Rsa(rsa::PrivateKey::generate(bits)?),
                "dsa" => PrivateKey::Dsa(discrete::PrivateKey::generate(size)?),
                _ => PrivateKey::Schnorr(discrete::PrivateKey::generate(size)?),
            };
            let signing = SigningKey::new(private, scheme)?;
            Ok(LoadKey { verifying: signing.verifying_key(), signing })
        })
        .collect()
}

/// Checks signatures for one thread. Contexts of OpenSSL are not shared between threads.
pub struct Checker<'a> {
    keys: &'a [LoadKey],
    peers: Vec<Option<openssl::SignatureKey>>,
}

impl<'a> Checker<'a> {
    /// # Errors
    /// If OpenSSL is missing, or rejects a key.
    pub fn new(keys: &'a [LoadKey]) -> Result<Checker<'a>, tress_peers::Error> {
        let peers = keys.iter().map(|key| {
            let der = key.signing.key().to_der();
            Ok(match key.signing.scheme() {
                // OpenSSL is only used for keys with SHA-256.
                Scheme::RsaPkcs1(Hash::Sha256) | Scheme::Dsa(Hash::Sha256) => Some(openssl::SignatureKey::new(&der)?),
                Scheme::RsaPss { hash: Hash::Sha256, .. } => Some(openssl::SignatureKey::with_pss(&der)?),
                _ => None,
            })
        });
        let peers: Result<_, tress_peers::Error> = peers.collect();
        Ok(Checker { peers: peers?, keys })
    }

    /// Checks a result, counts it, and reports errors.
    pub fn check(
        &mut self,
        key: usize,
        digest: &[u8],
        answer: &Result<Signature, Error>,
        numbers: &mut Rng,
        tally: &Tally,
    ) {
        let LoadKey { signing, verifying } = &self.keys[key];
        let scheme = signing.scheme();
        let is_right_length = digest.len() == scheme.hash().digest_bytes();
        let signature = match answer {
            Ok(signature) if is_right_length => signature.as_bytes(),
            Err(Error::DigestLength) if !is_right_length => return tally.count("wrong digests rejected"),
            other => return tally.report_error(&format!("{scheme}, a digest of {} bytes: {other:?}", digest.len())),
        };
        tally.count(&format!("{scheme} verified"));
        if let Err(error) = verifying.verify_digest(digest, signature) {
            return tally.report_error(&format!("{scheme}: {error}"));
        }
        if let (Some(peer), Ok(digest)) = (&mut self.peers[key], digest.try_into()) {
            tally.count("signatures also verified by OpenSSL");
            if let Err(error) = peer.verify(digest, signature) {
                tally.report_error(&format!("{scheme}, OpenSSL: {error}"));
            }
        }
        // Takes as long as signing. Other schemes use random salts and nonces.
        if matches!(scheme, Scheme::RsaPkcs1(_)) && one_in(4, numbers) {
            tally.count("signatures also made alone");
            if signing.sign_digests(&[digest]).pop().as_ref() != Some(answer) {
                tally.report_error(&format!("{scheme}: the signature made alone differs"));
            }
        }
    }
}
