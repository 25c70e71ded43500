//! Compares CCM and GCM of every peer with NIST's examples (SP 800-38C appendix C) and with others, and passes wrong lengths,
//! so that an error in a wrapper fails a test and does not lead to a wrong measurement. The bench's tests compare the outputs
//! of all contenders in every other mode, and of PIPO, with those of Tress.

use tress_cipher::aes::Aes;
use tress_cipher::{Aad, modes};
use tress_peers::{Direction, Error, Mode, cryptopp, gcrypt, ipsec_mb, openssl, pipo, rustcrypto};

use crate::present;

/// The hexadecimal fields of NIST's examples in a file of `vectors/aes`. ECB has no initialisation vector.
fn examples<const N: usize>(file: &str, fields: [&str; N]) -> Vec<[Vec<u8>; N]> {
    let file: serde_json::Value = serde_json::from_str(file).expect("JSON");
    let groups = file["testGroups"].as_array().expect("groups");
    let tests = groups.iter().flat_map(|group| group["tests"].as_array().expect("tests"));
    tests.map(|test| fields.map(|field| hex(test[field].as_str().unwrap_or_default()))).collect()
}

fn hex(text: &str) -> Vec<u8> {
    base16ct::mixed::decode_vec(text).expect("hex digits")
}

fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 31 + i / 251) as u8).collect()
}

/// A peer's name, and a function that processes one message: initialisation vector, data.
type NamedCipher = (&'static str, Box<dyn FnMut(&[u8], &mut [u8]) -> Result<(), Error>>);

/// Encryption in CBC with AES of every peer, and with RC6 of those that have it.
fn cbc_encryptions(key: &[u8]) -> Vec<NamedCipher> {
    let (aes, rc6) = (rustcrypto::Cipher::new(key).unwrap(), rustcrypto::Rc6::new(key).unwrap());
    let mut ciphers: Vec<NamedCipher> = vec![
        ("rustcrypto", Box::new(move |iv, data| aes.cbc(Direction::Encrypt, iv, data))),
        ("rustcrypto, RC6", Box::new(move |iv, data| rc6.cbc(Direction::Encrypt, iv, data))),
    ];
    if present(cryptopp::version()) {
        let mut rc6 = cryptopp::Rc6::new(Mode::Cbc, Direction::Encrypt, key).unwrap();
        let apply = move |iv: &[u8], data: &mut [u8]| rc6.apply(iv.try_into().map_err(|_| Error::Length)?, data);
        ciphers.push(("crypto++, RC6", Box::new(apply)));
    }
    if present(openssl::version()) {
        let mut cipher = openssl::Cipher::new(Mode::Cbc, key, Direction::Encrypt).unwrap();
        ciphers.push(("openssl", Box::new(move |iv, data| cipher.apply(iv, data))));
    }
    if present(gcrypt::version()) {
        let mut cipher = gcrypt::Cipher::new(Mode::Cbc, key).unwrap();
        ciphers.push(("libgcrypt", Box::new(move |iv, data| cipher.apply(Direction::Encrypt, iv, data))));
    }
    #[cfg(feature = "aws-lc-rs")]
    {
        let cipher = tress_peers::aws_lc_rs::Cipher::new(Mode::Cbc, key, Direction::Encrypt).unwrap();
        ciphers.push(("aws-lc-rs", Box::new(move |iv, data| cipher.apply(iv, data))));
    }
    if present(ipsec_mb::version()) {
        let key = key.to_vec();
        let one =
            move |iv: &[u8], data: &mut [u8]| in_a_batch(Mode::Cbc, Direction::Encrypt, &key, [iv, b""], data, &mut []);
        ciphers.push(("ipsec-mb", Box::new(one)));
    }
    ciphers
}

/// A peer's name, and a function for CCM: nonce, associated data, data, tag.
type NamedCcm = (&'static str, Box<dyn FnMut(&[u8], &[u8], &mut [u8], &mut [u8]) -> Result<(), Error>>);

fn ccms(key: &[u8], nonce_bytes: usize, tag_bytes: usize, direction: Direction) -> Vec<NamedCcm> {
    macro_rules! by {
        ($name:literal, $cipher:expr) => {{
            #[allow(unused_mut, reason = "some peers need it")]
            let mut cipher = $cipher.unwrap();
            (
                $name,
                Box::new(move |nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]| match direction {
                    Direction::Encrypt => cipher.encrypt(nonce, aad, data, tag),
                    Direction::Decrypt => cipher.decrypt(nonce, aad, data, tag),
                }),
            )
        }};
    }
    let mut ccms: Vec<NamedCcm> = Vec::new();
    // The crate has the lengths as type parameters.
    if (nonce_bytes, tag_bytes) == (12, 16) {
        ccms.push(by!("rustcrypto", rustcrypto::Ccm::new(key)));
    }
    if present(openssl::version()) {
        ccms.push(by!("openssl", openssl::Ccm::new(key, nonce_bytes, tag_bytes, direction)));
    }
    if present(gcrypt::version()) {
        ccms.push(by!("libgcrypt", gcrypt::Cipher::new(Mode::Ccm, key)));
    }
    if present(ipsec_mb::version()) {
        let key = key.to_vec();
        ccms.push((
            "ipsec-mb",
            Box::new(move |nonce, aad, data, tag| in_a_batch(Mode::Ccm, direction, &key, [nonce, aad], data, tag)),
        ));
    }
    ccms
}

/// Runs libipsec-mb three times on 300 equal messages, whose outputs must be equal. The ring of jobs wraps around at
/// every position, and the last jobs have to be flushed.
fn in_a_batch(
    mode: Mode,
    direction: Direction,
    key: &[u8],
    [iv, aad]: [&[u8]; 2],
    data: &mut [u8],
    tag: &mut [u8],
) -> Result<(), Error> {
    let (bytes, tag_bytes) = (data.len(), tag.len());
    let distance = bytes + tag_bytes;
    let message = |number| ipsec_mb::BatchMessage { key: 0, iv, aad, start: number * distance, bytes, tag_bytes };
    let messages: Vec<_> = (0..300).map(message).collect();
    let mut batch = ipsec_mb::Batch::new(mode, direction, &[key], &messages)?;
    let before = [&*data, &*tag].concat().repeat(messages.len());
    for _ in 0..3 {
        let mut buffer = before.clone();
        batch.run(&mut buffer)?;
        let (made_data, made_tag) = buffer[..distance].split_at(bytes);
        assert!(buffer.chunks_exact(distance.max(1)).all(|made| made == &buffer[..distance]), "{mode:?} {bytes}");
        data.copy_from_slice(made_data);
        tag.copy_from_slice(made_tag);
        if distance > 0 {
            assert_eq!(batch.run(&mut buffer[1..]), Err(Error::Length));
        }
    }
    Ok(())
}

#[test]
fn wrong_lengths_are_rejected() {
    for (name, mut apply) in cbc_encryptions(&message(16)) {
        assert_eq!(apply(&[0; 12], &mut [0; 16]), Err(Error::Length), "{name}");
        assert_eq!(apply(&[0; 16], &mut [0; 15]), Err(Error::Length), "{name}");
    }
    assert_eq!(pipo::ecb(&message(16), Direction::Encrypt, &mut [0; 7]), Err(Error::Length));
    if present(gcrypt::version()) {
        assert!(matches!(gcrypt::Cipher::new(Mode::Ecb, &[0; 15]), Err(Error::Length)));
    }
    if present(ipsec_mb::version()) {
        let usual = ipsec_mb::BatchMessage { key: 0, iv: &[0; 12], aad: b"", start: 0, bytes: 16, tag_bytes: 16 };
        for (message, error) in [
            (ipsec_mb::BatchMessage { bytes: 65_536, ..usual }, Error::MessageTooLong),
            (ipsec_mb::BatchMessage { tag_bytes: 5, ..usual }, Error::Length),
            (ipsec_mb::BatchMessage { iv: &[0; 6], ..usual }, Error::Length),
            (ipsec_mb::BatchMessage { key: 1, ..usual }, Error::Length),
        ] {
            let made = ipsec_mb::Batch::new(Mode::Ccm, Direction::Encrypt, &[&[1; 16]], &[message]);
            assert_eq!(made.map(drop), Err(error));
        }
    }
}

#[test]
fn ccm_equals_that_of_nist_and_ours() {
    let file = include_str!("../../../vectors/aes/sp800-38c.json");
    let mut cases = examples(file, ["key", "iv", "aad", "msg", "ct", "tag"]);
    // Not every peer takes the fourth example's 64 KiB of associated data.
    cases.truncate(3);
    // libipsec-mb has no CCM with keys of 192 bits.
    for key in [message(16), message(32)] {
        for bytes in [0, 1, 15, 16, 17, 1024, 16_384] {
            let (nonce, mut data, mut tag) = (vec![7; 12], message(bytes), vec![0; 16]);
            let aes = Aes::new(&key).unwrap();
            modes::ccm::seal(&aes, &nonce[..], Aad(b""), &mut data, &mut tag[..]).unwrap();
            cases.push([key.clone(), nonce, Vec::new(), message(bytes), data, tag]);
        }
    }
    for [key, nonce, aad, plain, expected, expected_tag] in cases {
        for (name, mut encrypt) in ccms(&key, nonce.len(), expected_tag.len(), Direction::Encrypt) {
            for _ in 0..2 {
                let (mut data, mut tag) = (plain.clone(), vec![0; expected_tag.len()]);
                encrypt(&nonce, &aad, &mut data, &mut tag).unwrap();
                assert_eq!((&data, &tag), (&expected, &expected_tag), "{name} {}", plain.len());
            }
        }
        for (name, mut decrypt) in ccms(&key, nonce.len(), expected_tag.len(), Direction::Decrypt) {
            let mut tag = expected_tag.clone();
            for _ in 0..2 {
                let mut data = expected.clone();
                decrypt(&nonce, &aad, &mut data, &mut tag).unwrap();
                assert_eq!(data, plain, "{name} {}", plain.len());
            }
            tag[0] ^= 1;
            let forged = decrypt(&nonce, &aad, &mut expected.clone(), &mut tag);
            assert_eq!(forged, Err(Error::Authentication), "{name} {}", plain.len());
        }
    }
}

/// The output of each peer equals that of RustCrypto.
#[test]
fn gcm_of_peers() {
    let (key, nonce) = (message(16), [3; 12]);
    let (mut expected, mut expected_tag) = (message(64), [0; 16]);
    rustcrypto::Gcm::new(&key).unwrap().encrypt(&nonce, b"head", &mut expected, &mut expected_tag).unwrap();
    macro_rules! agrees {
        ($cipher:expr) => {{
            let (mut data, mut tag) = (message(64), [0; 16]);
            $cipher.unwrap().encrypt(&nonce, b"head", &mut data, &mut tag).unwrap();
            assert_eq!((&data, tag), (&expected, expected_tag));
        }};
    }
    if present(openssl::version()) {
        agrees!(openssl::Gcm::new(&key));
    }
    if present(ipsec_mb::version()) {
        agrees!(ipsec_mb::Gcm::new(&key));
    }
    #[cfg(feature = "aws-lc-rs")]
    agrees!(tress_peers::aws_lc_rs::Gcm::new(&key));
    #[cfg(feature = "ring")]
    agrees!(tress_peers::ring::Gcm::new(&key));
}

#[test]
fn versions_are_known() {
    assert!(!rustcrypto::version().contains("unknown"), "{}", rustcrypto::version());
    for peer in tress_peers::list() {
        match peer.version {
            Ok(version) => assert!(version.chars().any(|c| c.is_ascii_digit()), "{}: {version}", peer.name),
            Err(missing) => {
                let text = missing.to_string();
                assert!(text.contains("apt-get install") || text.contains("--features"), "{text}");
            }
        }
    }
}
