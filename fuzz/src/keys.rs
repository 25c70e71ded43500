//! Key files and signatures from an attacker: all are read or refused, without a panic and in bounded time.
use std::sync::OnceLock;

use tress_sign::{Error, Hash, KeyFile, PrivateKey, PublicKey, Scheme, SigningKey};
use tress_sign::{rsa::SaltLength, signature::Keypair as _};

use crate::input::Input;

/// The passphrase for encrypted files. The corpus has files that are encrypted under it.
const PASSPHRASE: &[u8] = b"tress";

/// Reads a key file. If it has a key, its signatures verify, and writing and reading it gives the same key.
pub fn key_file(bytes: &[u8]) {
    match KeyFile::read(bytes) {
        Ok(KeyFile::Private(key)) => check_private(&key),
        Ok(KeyFile::Public(key)) => check_public(&key),
        // High work factors are allowed but may take seconds, so they are skipped.
        Ok(KeyFile::Encrypted(key)) => {
            if let Ok(key) = key.decrypt_up_to(PASSPHRASE, 12) {
                check_private(&key);
            }
        }
        Ok(_) | Err(_) => {}
    }
}

fn check_private(key: &PrivateKey) {
    let der = key.to_der();
    for bytes in [&der[..], key.to_pem().as_bytes()] {
        let again = KeyFile::read(bytes).and_then(|file| file.into_private(None)).expect("what was written is read");
        assert_eq!(*again.to_der(), *der);
    }
    let Some(Ok(key)) = scheme(&key.public_key()).map(|scheme| SigningKey::new(key.clone(), scheme)) else { return };
    // If p or q is not a prime, there is either no signature or one that verifies.
    for signature in key.sign_digests(&[DIGEST]).into_iter().flatten() {
        key.verifying_key().verify_digest(&DIGEST, signature.as_bytes()).expect("our own signature");
    }
}

fn check_public(key: &PublicKey) {
    let der = key.to_der();
    for bytes in [&der[..], key.to_pem().as_bytes()] {
        let again = KeyFile::read(bytes).and_then(KeyFile::into_public).expect("what was written is read");
        assert_eq!(again.to_der(), der);
    }
}

fn scheme(key: &PublicKey) -> Option<Scheme> {
    match key {
        PublicKey::Rsa(_) => Some(Scheme::RsaPkcs1(Hash::Sha256)),
        PublicKey::Dsa(_) => Some(Scheme::Dsa(Hash::Sha256)),
        PublicKey::Schnorr(_) => Some(Scheme::Schnorr),
        _ => None,
    }
}

/// A key of every scheme, and its signature of `DIGEST`.
fn keys() -> &'static [(SigningKey, Vec<u8>)] {
    static KEYS: OnceLock<Vec<(SigningKey, Vec<u8>)>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let read = |bytes: &[u8]| KeyFile::read(bytes).and_then(|file| file.into_private(None)).expect("a private key");
        let rsa = read(include_bytes!("../data/rsa-2048.pem"));
        let pss = Scheme::RsaPss { hash: Hash::Sha256, salt: SaltLength::Any };
        [
            (rsa.clone(), Scheme::RsaPkcs1(Hash::Sha256)),
            (rsa, pss),
            (read(&private_key(include_str!("../../vectors/sign/rfc6979-dsa.json"))), Scheme::Dsa(Hash::Sha256)),
            (read(&private_key(include_str!("../../vectors/sign/schnorr.json"))), Scheme::Schnorr),
        ]
        .map(|(key, scheme)| {
            let key = SigningKey::new(key, scheme).expect("a scheme of its key");
            let signature = key.sign_digests(&[DIGEST]).pop().and_then(Result::ok).expect("a signature");
            let bytes = signature.as_bytes().to_vec();
            (key, bytes)
        })
        .into()
    })
}

/// The first private key of a file of vectors.
fn private_key(vectors: &str) -> Vec<u8> {
    let vectors: serde_json::Value = serde_json::from_str(vectors).expect("JSON");
    let text = vectors["testGroups"][0]["privateKey"].as_str().expect("a key");
    base16ct::mixed::decode_vec(text).expect("hexadecimal")
}

const DIGEST: [u8; 32] = [7; 32];

/// Checks a signature under one of the keys: neither a new one nor a changed valid one verifies.
pub fn signature(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (key, right) = input.pick(keys());
    let key = key.verifying_key();
    let mut changed = right.clone();
    match input.byte() % 8 {
        0..=2 => changed = input.rest().to_vec(),
        3 => changed.truncate(input.below(right.len() + 1)),
        4 => changed.extend_from_slice(input.rest()),
        5 => {
            let at = input.below(right.len() + 1);
            changed.splice(at..at, input.rest().iter().copied());
        }
        6 => drop(changed.drain(input.below(right.len())..)),
        _ => {
            for _ in 0..1 + input.below(4) {
                changed[input.below(right.len())] ^= input.byte();
            }
        }
    }
    let outcome = key.verify_digest(&DIGEST, &changed);
    if changed == *right {
        outcome.expect("a right signature");
        assert!(key.verify_digest(&input.fixed::<31>(), right).is_err(), "a digest of another length");
    } else {
        assert!(matches!(outcome, Err(Error::MalformedSignature | Error::Mismatch)), "{outcome:?}");
    }
}
