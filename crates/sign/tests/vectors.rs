//! All vectors in `vectors/sign/` that need no private items. Each signature is verified, alone and in one batch per file, and
//! deterministic signatures are made again.
//!
//! Vectors that set a salt or a nonce, or use the deterministic nonce, are in the crate's unit tests. `vectors/README.md` lists the sources
//! of the vectors.

use crate::common::vectors::{File, Group};
use tress_sign::rsa::SaltLength;
use tress_sign::{Error, KeyFile, Scheme, SigningKey, VerifyJob, VerifyingKey, verify_batch};

/// Makes one test per file: the file's name, its number of tests, and the number of valid ones.
macro_rules! sets {
    ($($test:ident: $name:literal, $count:literal, $valid:literal;)*) => {
        const SETS: &[&str] = &[$($name),*];

        $(#[test]
        fn $test() {
            run($name, $count, $valid);
        })*
    };
}

sets! {
    cavp_dsa_siggen: "cavp-dsa-siggen", 135, 135;
    cavp_dsa_sigver: "cavp-dsa-sigver", 135, 63;
    cavp_rsa_pkcs1_siggen: "cavp-rsa-pkcs1-siggen", 150, 150;
    cavp_rsa_pkcs1_sigver: "cavp-rsa-pkcs1-sigver", 270, 45;
    cavp_rsa_pss_siggen: "cavp-rsa-pss-siggen", 150, 150;
    cavp_rsa_pss_sigver: "cavp-rsa-pss-sigver", 270, 45;
    openssl_rsa_pkcs1_lengths: "openssl-rsa-pkcs1-lengths", 3, 3;
    rfc6979_dsa: "rfc6979-dsa", 6, 6;
    schnorr: "schnorr", 6, 6;
    wycheproof_dsa_2048_224_sha256: "wycheproof-dsa-2048-224-sha256", 364, 80;
    wycheproof_dsa_2048_256_sha256: "wycheproof-dsa-2048-256-sha256", 366, 82;
    wycheproof_dsa_3072_256_sha256: "wycheproof-dsa-3072-256-sha256", 366, 82;
    wycheproof_rsa_pkcs1_unequal_primes: "wycheproof-rsa-pkcs1-unequal-primes", 5, 5;
    wycheproof_rsa_pss_2048_sha256_mgf1_0: "wycheproof-rsa-pss-2048-sha256-mgf1-0", 103, 61;
    wycheproof_rsa_pss_2048_sha256_mgf1_32: "wycheproof-rsa-pss-2048-sha256-mgf1-32", 108, 63;
    wycheproof_rsa_pss_3072_sha256_mgf1_32: "wycheproof-rsa-pss-3072-sha256-mgf1-32", 108, 63;
    wycheproof_rsa_pss_4096_sha256_mgf1_32: "wycheproof-rsa-pss-4096-sha256-mgf1-32", 108, 63;
    wycheproof_rsa_pss_4096_sha384_mgf1_48: "wycheproof-rsa-pss-4096-sha384-mgf1-48", 141, 95;
    wycheproof_rsa_pss_4096_sha512_mgf1_64: "wycheproof-rsa-pss-4096-sha512-mgf1-64", 179, 132;
    wycheproof_rsa_pss_misc: "wycheproof-rsa-pss-misc", 18, 18;
    wycheproof_rsa_signature_2048_sha256: "wycheproof-rsa-signature-2048-sha256", 259, 9;
    wycheproof_rsa_signature_2048_sha384: "wycheproof-rsa-signature-2048-sha384", 258, 7;
    wycheproof_rsa_signature_2048_sha512: "wycheproof-rsa-signature-2048-sha512", 259, 8;
    wycheproof_rsa_signature_3072_sha256: "wycheproof-rsa-signature-3072-sha256", 259, 8;
    wycheproof_rsa_signature_4096_sha512: "wycheproof-rsa-signature-4096-sha512", 259, 7;
    wycheproof_rsa_signature_8192_sha256: "wycheproof-rsa-signature-8192-sha256", 258, 7;
}

#[test]
fn every_file_is_run() {
    for name in crate::common::vectors::names() {
        assert!(name == "groups" || SETS.contains(&name.as_str()), "{name} is not run");
    }
}

fn run(name: &str, count: usize, valid: usize) {
    let file = File::read(name);
    let tests = || file.groups.iter().flat_map(|group| &group.tests);
    assert_eq!((tests().count(), file.number_of_tests), (count, count), "{name}");
    assert_eq!(tests().filter(|test| test.is_valid()).count(), valid, "{name}");

    let mut keys = Vec::new();
    let mut cases = Vec::new();
    for group in &file.groups {
        match KeyFile::read(&group.public_key).and_then(KeyFile::into_public) {
            Ok(key) => keys.push((VerifyingKey::new(key, scheme(group)).unwrap(), group)),
            // NIST has tests with a changed key.
            Err(error) => {
                assert_eq!(error, Error::WrongPublicValue, "{name}");
                assert!(group.tests.iter().all(|test| !test.is_valid()), "{name}: {:?}", group.tests[0]);
            }
        }
    }
    for (key, group) in &keys {
        for test in &group.tests {
            let digest = group.hash().digest(&test.message);
            let outcome = key.verify_digest(&digest, &test.signature);
            let is_forged = matches!(outcome, Err(Error::MalformedSignature | Error::Mismatch));
            assert!(if test.is_valid() { outcome.is_ok() } else { is_forged }, "{name}, {test:?}: {outcome:?}");
            cases.push((key, digest, test));
        }
        if let Some(private) = &group.private_key {
            sign(name, group, private);
        }
    }
    let jobs: Vec<VerifyJob<'_>> =
        cases.iter().map(|(key, digest, test)| VerifyJob { key, digest, signature: &test.signature }).collect();
    let outcomes = verify_batch(&jobs, 1);
    let expected: Vec<bool> = cases.iter().map(|(_, _, test)| test.is_valid()).collect();
    assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), expected, "{name}, all together");
}

/// Signs all tests of a group in one batch, and compares deterministic signatures.
fn sign(name: &str, group: &Group, private: &[u8]) {
    let key = KeyFile::read(private).and_then(|file| file.into_private(None)).unwrap();
    let key = SigningKey::new(key, scheme(group)).unwrap();
    let digests: Vec<Vec<u8>> = group.tests.iter().map(|test| group.hash().digest(&test.message)).collect();
    let signatures = key.sign_digests(&digests);
    let verifying = VerifyingKey::new(key.key().public_key(), scheme(group)).unwrap();
    for ((test, digest), signature) in group.tests.iter().zip(&digests).zip(signatures) {
        let signature = signature.unwrap();
        assert_eq!(verifying.verify_digest(digest, signature.as_bytes()), Ok(()), "{name}, {test:?}");
        if is_deterministic(group) {
            assert_eq!(signature.as_bytes(), test.signature, "{name}, {test:?}");
        }
    }
}

fn is_deterministic(group: &Group) -> bool {
    group.kind == "RsaPkcs1Sign" || (group.kind == "RsaPssSign" && group.salt_bytes == Some(0))
}

fn scheme(group: &Group) -> Scheme {
    let hash = group.hash();
    match (group.kind.as_str(), group.salt_bytes) {
        ("RsaPkcs1Verify" | "RsaPkcs1Sign", None) => Scheme::RsaPkcs1(hash),
        ("RsaPssVerify" | "RsaPssSign", Some(bytes)) => Scheme::RsaPss { hash, salt: SaltLength::Bytes(bytes) },
        ("DsaVerify" | "DsaSign" | "DsaDeterministicSign", None) => Scheme::Dsa(hash),
        ("SchnorrSign", None) => Scheme::Schnorr,
        other => panic!("unknown type {other:?}"),
    }
}
