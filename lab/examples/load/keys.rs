//! The keys of a run, and what a signature is checked by: OpenSSL where it knows the scheme, our own verification, and the same
//! signature made alone where it may not differ.

use fastrand::Rng;
use tress_peers::openssl_signatures as openssl;
use tress_sign::{
    Error, Hash, PrivateKey, Scheme, Signature, SigningKey, VerifyingKey, discrete, rsa, rsa::SaltLength,
    signature::Keypair as _,
};

use crate::Tally;

/// True once in so many times.
pub fn one_in(times: usize, numbers: &mut Rng) -> bool {
    numbers.usize(..times) == 0
}

/// A key that every thread may use.
pub struct Key {
    pub signing: SigningKey,
    verifying: VerifyingKey,
}

/// New ones of every kind: two of RSA-2048, one longer and with another hash function, two of DSA, Schnorr.
///
/// # Errors
/// Those of making keys.
pub fn generate() -> Result<Vec<Key>, Error> {
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
            Ok(Key { verifying: signing.verifying_key(), signing })
        })
        .collect()
}

/// What one thread checks with: contexts of OpenSSL are nobody else's.
pub struct Checker<'a> {
    keys: &'a [Key],
    peers: Vec<Option<openssl::Key>>,
}

impl<'a> Checker<'a> {
    /// # Errors
    /// Where OpenSSL is missing, or refuses a key.
    pub fn new(keys: &'a [Key]) -> Result<Checker<'a>, tress_peers::Error> {
        let peers = keys.iter().map(|key| {
            let der = key.signing.key().to_der();
            Ok(match key.signing.scheme() {
                // With SHA-256, that is; the others it is not asked about.
                Scheme::RsaPkcs1(Hash::Sha256) | Scheme::Dsa(Hash::Sha256) => Some(openssl::Key::new(&der)?),
                Scheme::RsaPss { hash: Hash::Sha256, .. } => Some(openssl::Key::with_pss(&der)?),
                _ => None,
            })
        });
        let peers: Result<_, tress_peers::Error> = peers.collect();
        Ok(Checker { peers: peers?, keys })
    }

    /// Counts what was found, and tells what is wrong.
    pub fn check(
        &mut self,
        key: usize,
        digest: &[u8],
        answer: &Result<Signature, Error>,
        numbers: &mut Rng,
        tally: &Tally,
    ) {
        let Key { signing, verifying } = &self.keys[key];
        let scheme = signing.scheme();
        let is_right_length = digest.len() == scheme.hash().digest_bytes();
        let signature = match answer {
            Ok(signature) if is_right_length => signature.as_bytes(),
            Err(Error::DigestLength) if !is_right_length => return tally.count("wrong digests refused"),
            other => return tally.wrong(&format!("{scheme}, a digest of {} bytes: {other:?}", digest.len())),
        };
        tally.count(&format!("{scheme} verified"));
        if let Err(error) = verifying.verify_digest(digest, signature) {
            return tally.wrong(&format!("{scheme}: {error}"));
        }
        if let (Some(peer), Ok(digest)) = (&mut self.peers[key], digest.try_into()) {
            tally.count("signatures verified by OpenSSL, too");
            if let Err(error) = peer.verify(digest, signature) {
                tally.wrong(&format!("{scheme}, OpenSSL: {error}"));
            }
        }
        // As dear as signing; the other schemes draw salts and nonces.
        if matches!(scheme, Scheme::RsaPkcs1(_)) && one_in(4, numbers) {
            tally.count("signatures made alone, too");
            if signing.sign_digests(&[digest]).pop().as_ref() != Some(answer) {
                tally.wrong(&format!("{scheme}: alone it is another signature"));
            }
        }
    }
}
