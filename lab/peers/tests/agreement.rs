//! Compares GCM of every peer with RustCrypto's, and passes wrong lengths, so that an error in a wrapper fails a test and does
//! not lead to a wrong measurement. The bench's tests (`matrix_test.rs`) compare the outputs of all contenders in every other mode
//! with those of Tress.

use tress_peers::{Direction, Error, Mode, cryptopp, gcrypt, ipsec_mb, openssl, pipo, rustcrypto};

use crate::present;

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
        let one = move |iv: &[u8], data: &mut [u8]| {
            let message = ipsec_mb::BatchMessage { key: 0, iv, aad: b"", start: 0, bytes: data.len(), tag_bytes: 0 };
            ipsec_mb::Batch::new(Mode::Cbc, Direction::Encrypt, &[&key], &[message])?.run(data)
        };
        ciphers.push(("ipsec-mb", Box::new(one)));
    }
    ciphers
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
