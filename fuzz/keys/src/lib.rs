//! Key files and signatures that lie: whatever comes is read or refused, without a panic and in bounded time.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use tress_sign::{Error, Hash, KeyFile, PrivateKey, PublicKey, Scheme, SigningKey, VerifyingKey};
use tress_sign::{rsa::SaltLength, signature::Keypair};

/// A passphrase for those that are encrypted; the corpus has files under it.
const PASSPHRASE: &[u8] = b"tress";

/// Reads a key file. A key that is read signs what verifies, and is written and read again as the same.
pub fn key_file(bytes: &[u8]) {
    match KeyFile::read(bytes) {
        Ok(KeyFile::Private(key)) => private(&key),
        Ok(KeyFile::Public(key)) => public(&key),
        // Work factors that are allowed may take seconds; what the fuzzer makes of them is no fault.
        Ok(KeyFile::Encrypted(key)) if bytes.len() < 4096 && is_cheap(bytes) => {
            if let Ok(key) = key.decrypt(PASSPHRASE) {
                private(&key);
            }
        }
        Ok(_) | Err(_) => {}
    }
}

/// Whether the file names no more rounds than two bytes hold: an INTEGER of three bytes or more in its first 120 bytes might.
fn is_cheap(bytes: &[u8]) -> bool {
    !bytes.iter().take(120).collect::<Vec<_>>().windows(2).any(|two| *two[0] == 2 && (3..=8).contains(two[1]))
}

fn private(key: &PrivateKey) {
    let der = key.to_der();
    let again = KeyFile::read(&der).and_then(|file| file.into_private(None)).expect("what was written is read");
    assert_eq!(*again.to_der(), *der);
    let Some(Ok(key)) = scheme(&key.public_key()).map(|scheme| SigningKey::new(key.clone(), scheme)) else { return };
    // Where p or q is no prime there is no signature, or one that verifies.
    for signature in key.sign_digests(&[[7; 32]]).into_iter().flatten() {
        key.verifying_key().verify_digest(&[7; 32], signature.as_bytes()).expect("our own signature");
    }
}

fn public(key: &PublicKey) {
    let der = key.to_der();
    let again = KeyFile::read(&der).and_then(KeyFile::into_public).expect("what was written is read");
    assert_eq!(again.to_der(), der);
}

fn scheme(key: &PublicKey) -> Option<Scheme> {
    match key {
        PublicKey::Rsa(_) => Some(Scheme::RsaPkcs1(Hash::Sha256)),
        PublicKey::Dsa(_) => Some(Scheme::Dsa(Hash::Sha256)),
        PublicKey::Schnorr(_) => Some(Scheme::Schnorr),
        _ => None,
    }
}

/// Keys of every scheme.
fn keys() -> &'static [VerifyingKey] {
    static KEYS: OnceLock<Vec<VerifyingKey>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let rsa = tress_sign::rsa::PrivateKey::generate(2048).expect("a key");
        let size = tress_sign::discrete::GroupSize::Bits2048;
        let dsa = tress_sign::discrete::PrivateKey::generate(size).expect("a key");
        let schnorr = tress_sign::discrete::PrivateKey::generate(size).expect("a key");
        let pss = Scheme::RsaPss { hash: Hash::Sha256, salt: SaltLength::Any };
        [
            (PrivateKey::Rsa(rsa.clone()), Scheme::RsaPkcs1(Hash::Sha256)),
            (PrivateKey::Rsa(rsa), pss),
            (PrivateKey::Dsa(dsa), Scheme::Dsa(Hash::Sha256)),
            (PrivateKey::Schnorr(schnorr), Scheme::Schnorr),
        ]
        .map(|(key, scheme)| SigningKey::new(key, scheme).expect("a scheme of its key").verifying_key())
        .to_vec()
    })
}

/// Checks a signature under each key: nobody can make one that holds.
pub fn signature(bytes: &[u8]) {
    for key in keys() {
        let outcome = key.verify_digest(&[7; 32], bytes);
        assert!(matches!(outcome, Err(Error::MalformedSignature | Error::Mismatch)), "{outcome:?}");
    }
}
