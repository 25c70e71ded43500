//! Computes the secrets in files independently of the command: the keys in a container's header and those derived from them, AES key
//! schedules, and the numbers of a signing key.

use std::cell::RefCell;
use std::io::Read as _;

use age_core::format::{FileKey, Stanza};
use age_core::secrecy::ExposeSecret as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tress_container::age::{self, DecryptError, Identity};
use tress_container::keys::Identities;

use super::scan::Secrets;

#[path = "../../../sign/tests/common/der.rs"]
#[allow(unreachable_pub, reason = "the tests of signatures use it as well")]
mod der;

/// All secrets that open this container or a part of it (docs/reference/formats/container.md).
pub(super) fn of_container(container: &[u8], identities: &Identities) -> Secrets {
    let line = container.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let length = u32::from_be_bytes(container[line..line + 4].try_into().unwrap()) as usize;
    let age_file = &container[line + 4..][..length];

    let identity = identities.for_age().next().unwrap();
    let seen = RecordingIdentity { identity, file_key: RefCell::default() };
    let mut content = Vec::new();
    let decryptor = age::Decryptor::new_buffered(age_file).unwrap();
    decryptor.decrypt(std::iter::once(&seen as &dyn Identity)).unwrap().read_to_end(&mut content).unwrap();
    let key_bytes = if container.starts_with(b"tress/v1 aes-128-ccm\n") { 16 } else { 32 };
    let input_key = &content[content.len() - key_bytes..];

    let header = (line + 4 + length).next_multiple_of(4096);
    let (salt, name) = (&container[header..header + 24], if key_bytes == 16 { "128" } else { "256" });
    // First block of HKDF-Expand.
    let info =
        [b"c2sp.org/chunked-encryption@v1+AEAD_AES_", name.as_bytes(), b"_CCM\0", salt, &container[..line]].concat();
    let first = hmac(input_key, &[&info, &[1]]);
    // The base nonce after it is not secret in CCM.
    let key = &first[..key_bytes];

    let mut secrets = of_schedule(key);
    secrets.add("age's file key", seen.file_key.borrow().as_ref().unwrap());
    secrets.add("input key", input_key).add("payload key", key);
    secrets
}

/// Every round key of AES.
pub(super) fn of_schedule(key: &[u8]) -> Secrets {
    let mut secrets = Secrets::default();
    for (round, round_key) in aes_schedule(key).chunks(16).enumerate() {
        secrets.add(&format!("round key {round}"), round_key);
    }
    secrets
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// An identity that records the file key it unwraps.
struct RecordingIdentity<'a> {
    identity: &'a dyn Identity,
    file_key: RefCell<Option<[u8; 16]>>,
}

impl Identity for RecordingIdentity<'_> {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        let unwrapped = self.identity.unwrap_stanza(stanza)?;
        if let Ok(key) = &unwrapped {
            self.file_key.replace(Some(*key.expose_secret()));
        }
        Some(unwrapped)
    }
}

/// The AES key schedule, FIPS 197, section 5.2.
pub(super) fn aes_schedule(key: &[u8]) -> Vec<u8> {
    let words = key.len() / 4;
    let mut schedule = key.to_vec();
    let mut constant = 1;
    for index in words..4 * (words + 7) {
        let mut word: [u8; 4] = schedule[4 * index - 4..].try_into().unwrap();
        if index % words == 0 {
            word.rotate_left(1);
            word = word.map(s_box);
            word[0] ^= constant;
            constant = multiply(constant, 2);
        } else if words > 6 && index % words == 4 {
            word = word.map(s_box);
        }
        for (byte, before) in word.iter().enumerate().map(|(i, byte)| (*byte, 4 * (index - words) + i)) {
            schedule.push(byte ^ schedule[before]);
        }
    }
    schedule
}

/// FIPS 197, section 5.1.1: the inverse in the field, then the affine map.
fn s_box(byte: u8) -> u8 {
    let inverse = (0..=255).find(|other| multiply(byte, *other) == 1).unwrap_or(0);
    (0..5).fold(0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
}

fn multiply(a: u8, b: u8) -> u8 {
    let mut product = 0;
    let mut a = a;
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            product ^= a;
        }
        a = a << 1 ^ if a & 0x80 != 0 { 0x1b } else { 0 };
    }
    product
}

/// The keys of an identity file, as text and as bytes.
pub(super) fn of_identity(text: &str) -> Secrets {
    let mut secrets = Secrets::default();
    for (name, prefix) in [("identity", "AGE-SECRET-KEY-1"), ("Noise key", "TRESS-NOISE-KEY-1")] {
        let key = text.lines().find_map(|line| line.find(prefix).map(|at| line[at..].trim_end())).unwrap();
        let digits = &key[prefix.len()..];
        secrets.add(&format!("{name} as text"), digits.as_bytes());
        secrets.add(&format!("{name} as lower text"), digits.to_lowercase().as_bytes());
        // Without the first and last byte, in which X25519 clears and sets bits.
        secrets.add(name, &bech32::decode(key).unwrap().1[1..31]);
    }
    secrets
}

/// The secrets of a signing key in PEM: its text, and its secret numbers.
pub(super) fn of_signing_key(pem: &str) -> Secrets {
    let mut secrets = Secrets::default();
    let (_, der) = pem_rfc7468::decode_vec(pem.as_bytes()).unwrap();
    let numbers = der::long_integers(&der);
    // RSA: n, d, p, q, d mod p − 1, d mod q − 1, 1 / q, all secret except n. Groups: p, q, g, x, of which only x is secret.
    let public = if numbers.len() == 7 { 1 } else { 3 };
    assert!(numbers.len() == public + 1 || numbers.len() == 7, "{} numbers", numbers.len());
    for (index, number) in numbers.iter().enumerate().skip(public) {
        secrets.add(&format!("number {index}"), number);
    }
    // The end of the text, which encodes the last number.
    let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let text = text.trim_end_matches('=');
    secrets.add("PEM text", &text.as_bytes()[text.len() - 40..]);
    secrets
}

/// First and last words of the expanded keys of FIPS 197, appendices A.1 and A.3.
#[test]
fn schedules_match_the_standard() {
    let bytes = |hex: &str| base16ct::mixed::decode_vec(hex).unwrap();
    let schedule = aes_schedule(&bytes("2b7e151628aed2a6abf7158809cf4f3c"));
    assert_eq!(
        (schedule.len(), &schedule[16..20], &schedule[172..]),
        (176, &bytes("a0fafe17")[..], &bytes("b6630ca6")[..])
    );
    let schedule = aes_schedule(&bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"));
    assert_eq!(
        (schedule.len(), &schedule[32..36], &schedule[236..]),
        (240, &bytes("9ba35411")[..], &bytes("706c631e")[..])
    );
}
