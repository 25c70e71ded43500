//! Vectors of AES-CCM, and a comparison with RustCrypto's crate (`theirs`) with any lengths, through the traits that both have.

use std::collections::BTreeMap;

use aes::{Aes128, Aes192, Aes256};
use ccm::aead::{Aead, KeyInit, Payload};
use ccm::consts::{U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16};
use proptest::collection::vec;
use proptest::prelude::*;

/// A function of the key, the nonce, the associated data, and the message or the ciphertext with its tag.
type Function = fn(&[u8], &[u8], &[u8], &[u8]) -> Option<Vec<u8>>;

#[derive(Clone, Copy)]
struct Functions {
    encrypt: Function,
    decrypt: Function,
}

impl Functions {
    fn of<A: Aead + KeyInit + Clone>() -> Self {
        Functions {
            encrypt: |key, nonce, aad, msg| {
                let cipher = A::new_from_slice(key).expect("a key of this length").clone();
                cipher.encrypt(&nonce.iter().copied().collect(), Payload { msg, aad }).ok()
            },
            decrypt: |key, nonce, aad, msg| {
                let cipher = A::new_from_slice(key).expect("a key of this length").clone();
                cipher.decrypt(&nonce.iter().copied().collect(), Payload { msg, aad }).ok()
            },
        }
    }
}

/// Our functions and theirs for every length of a key, a tag and a nonce in bytes.
fn all_sizes() -> BTreeMap<(usize, usize, usize), (Functions, Functions)> {
    macro_rules! sizes {
        ($($cipher:ident $key_bytes:literal),*; $tags:tt; $nonces:tt) => {
            [$(sizes!(@tags $cipher $key_bytes $tags $nonces)),*].into_iter().flatten().flatten().collect()
        };
        (@tags $cipher:ident $key_bytes:literal [$($tag:ident $tag_bytes:literal),*] $nonces:tt) => {
            [$(sizes!(@nonces $cipher $key_bytes $tag $tag_bytes $nonces)),*]
        };
        (@nonces $cipher:ident $key_bytes:literal $tag:ident $tag_bytes:literal [$($nonce:ident $nonce_bytes:literal),*]) => {
            [$((
                ($key_bytes, $tag_bytes, $nonce_bytes),
                (
                    Functions::of::<ccm::Ccm<$cipher, $tag, $nonce>>(),
                    Functions::of::<theirs::Ccm<$cipher, $tag, $nonce>>(),
                ),
            )),*]
        };
    }
    sizes!(
        Aes128 16, Aes192 24, Aes256 32;
        [U4 4, U6 6, U8 8, U10 10, U12 12, U14 14, U16 16];
        [U7 7, U8 8, U9 9, U10 10, U11 11, U12 12, U13 13]
    )
}

#[test]
fn vectors() {
    let sizes = all_sizes();
    for (name, count) in [
        ("cavp-ccm-dvpt", 720),
        ("cavp-ccm-vadt", 990),
        ("cavp-ccm-vnt", 210),
        ("cavp-ccm-vpt", 750),
        ("cavp-ccm-vtt", 210),
        ("openssl-ccm-lengths", 43),
        ("rfc3610", 24),
        ("sp800-38c", 4),
        ("wycheproof-ccm", 552),
    ] {
        let path = format!("{}/../../vectors/aes/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let groups = file["testGroups"].as_array().unwrap();
        let tests: Vec<_> = groups.iter().flat_map(|group| group["tests"].as_array().unwrap()).collect();
        assert_eq!(tests.len(), count, "{name}");
        for test in tests {
            let label = format!("{name} {}", test["tcId"]);
            let bytes = |field| hex(test[field].as_str().unwrap_or_default());
            let (key, nonce, tag) = (bytes("key"), bytes("iv"), bytes("tag"));
            let mut aad = bytes("aad");
            if let Some(length) = test["aadLength"].as_u64() {
                aad = aad.into_iter().cycle().take(length as usize).collect();
            }
            let valid = test["result"] == "valid";
            // A length without a type is invalid.
            let Some((ours, _)) = sizes.get(&(key.len(), tag.len(), nonce.len())) else {
                assert!(!valid, "{label}");
                continue;
            };
            let encrypted = [bytes("ct"), tag].concat();
            let message = valid.then(|| bytes("msg"));
            assert_eq!((ours.decrypt)(&key, &nonce, &aad, &encrypted), message, "{label}");
            if let Some(message) = message {
                assert_eq!((ours.encrypt)(&key, &nonce, &aad, &message), Some(encrypted), "{label}");
            }
        }
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

proptest! {
    /// All lengths with one message, and with one bit of the ciphertext or its tag changed.
    #[test]
    fn agrees_with_rustcrypto(
        key in any::<[u8; 32]>(),
        nonce in any::<[u8; 13]>(),
        aad in vec(any::<u8>(), 0..300),
        message in vec(any::<u8>(), 0..600),
        bit in any::<prop::sample::Index>(),
    ) {
        for ((key_bytes, tag_bytes, nonce_bytes), (ours, theirs)) in all_sizes() {
            let (key, nonce) = (&key[..key_bytes], &nonce[..nonce_bytes]);
            let mut encrypted = (theirs.encrypt)(key, nonce, &aad, &message).unwrap();
            assert_eq!(encrypted.len(), message.len() + tag_bytes);
            assert_eq!((ours.encrypt)(key, nonce, &aad, &message).as_ref(), Some(&encrypted));
            assert_eq!((ours.decrypt)(key, nonce, &aad, &encrypted).as_ref(), Some(&message));
            let bit = bit.index(8 * encrypted.len());
            encrypted[bit / 8] ^= 1 << (bit % 8);
            assert_eq!((ours.decrypt)(key, nonce, &aad, &encrypted), None);
        }
    }
}

/// A nonce of 13 bytes leaves two bytes for the length of the message.
#[test]
fn longest_message() {
    let (ours, theirs) = all_sizes()[&(16, 16, 13)];
    for (length, fits) in [(0xffff, true), (0x1_0000, false)] {
        let encrypted = (ours.encrypt)(&[1; 16], &[2; 13], b"", &vec![3; length]);
        assert_eq!(encrypted.is_some(), fits);
        assert_eq!(encrypted, (theirs.encrypt)(&[1; 16], &[2; 13], b"", &vec![3; length]));
    }
    assert_eq!((ours.decrypt)(&[1; 16], &[2; 13], b"", &vec![3; 0x1_0000 + 16]), None);
}

/// The auto traits that code generic over the cipher relies on. In RustCrypto's crate they follow from those of the cipher.
#[test]
fn traits_of_a_generic_cipher() {
    fn has<T: Clone + Send + Sync + Unpin + 'static>() {}
    fn of<C: ccm::AesCipher + Clone + Send + Sync + Unpin + 'static>() {
        has::<ccm::Ccm<C, U16, U12>>();
    }
    of::<Aes128>();
}
