//! No branch and no address depends on a private key: its numbers are marked as undefined, and Valgrind's memcheck reports every jump and
//! every address that is computed from them, from the checks of the key to the signature.
//!
//! Needs the feature `secrets` (`make secrets`). Valgrind does not support AVX-512, so powers use portable code; the tests of
//! `tress-modular` check the other code. Reading a key from DER depends on the key: this is a planted leak, which must be found.
#![cfg(target_arch = "x86_64")]

mod common;
#[path = "../../modular/tests/common/memcheck.rs"]
mod memcheck;

use common::rsa_numbers;
use common::vectors::File;
use memcheck::{hide, show, watch};
use tress_sign::discrete::{self, Dsa, Group, GroupSize, Schnorr};
use tress_sign::rsa::{self, PrivateParts};
use tress_sign::signature::Keypair as _;
use tress_sign::{Hash, KeyFile, PrivateKey, Scheme, SignJob, SigningKey, sign_batch};

/// Signs alone and in a batch, and verifies the signatures.
fn sign(what: &str, key: PrivateKey, scheme: Scheme) {
    let key = SigningKey::new(key, scheme).unwrap();
    let digest = Hash::Sha256.digest(b"message");
    for count in [1, 3] {
        let mut signatures = Vec::new();
        let jobs = vec![SignJob { key: &key, digest: &digest }; count];
        watch(&format!("{what}, batch of {count}"), || signatures = sign_batch(&jobs, 1));
        for signature in signatures {
            let mut signature = signature.unwrap().as_bytes().to_vec();
            show(&mut signature);
            assert_eq!(key.verifying_key().verify_digest(&digest, &signature), Ok(()));
        }
    }
}

fn rsa_keys() {
    let mut numbers = rsa_numbers();
    // All numbers but version, n and e.
    numbers[3..].iter_mut().for_each(|number| hide(number));
    let parts = PrivateParts {
        modulus: &numbers[1],
        public_exponent: &numbers[2],
        private_exponent: &numbers[3],
        prime1: &numbers[4],
        prime2: &numbers[5],
        exponent1: &numbers[6],
        exponent2: &numbers[7],
        coefficient: &numbers[8],
    };
    let mut key = None;
    watch("RSA key", || key = rsa::PrivateKey::new(&parts).ok());
    let key = PrivateKey::Rsa(key.expect("a key"));
    sign("RSA-PSS", key.clone(), Scheme::ALL[0]);
    sign("RSA PKCS #1 v1.5", key, Scheme::ALL[1]);
}

fn discrete_keys() {
    let group = Group::published(GroupSize::Bits2048);
    let mut x = [0x5a; 32];
    hide(&mut x);
    let (mut dsa, mut schnorr) = (None, None);
    watch("DSA key", || dsa = discrete::PrivateKey::<Dsa>::new(group.clone(), &x).ok());
    watch("Schnorr key", || schnorr = discrete::PrivateKey::<Schnorr>::new(group.clone(), &x).ok());
    sign("DSA", PrivateKey::Dsa(dsa.expect("a key")), Scheme::ALL[2]);
    sign("Schnorr", PrivateKey::Schnorr(schnorr.expect("a key")), Scheme::ALL[3]);
}

fn planted() {
    let file = File::read("cavp-rsa-pkcs1-sigver");
    let mut der = file.groups.iter().find_map(|group| group.private_key.clone()).unwrap();
    // After the headers, the version, n and e.
    let length = der.len();
    hide(&mut der[length - 600..]);
    watch("planted", || _ = KeyFile::read(&der).and_then(|file| file.into_private(None)));
}

/// The run under Valgrind. Does nothing elsewhere.
#[test]
fn inside() {
    if memcheck::is_inside() {
        rsa_keys();
        discrete_keys();
        planted();
    }
}

#[test]
fn no_branch_and_no_address_depends_on_a_key() {
    memcheck::check(11, 1);
}
