//! Every peer against NIST's examples (SP 800-38A appendix F, SP 800-38C appendix C), so that a wrong wrapper shows
//! here and not as a wrong measurement.

use tress_peers::{Direction, Error, Missing, gcrypt, ipsec_mb, openssl, rustcrypto};

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
const ECB: &str = "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf\
                   43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4";
const CBC_IV: &str = "000102030405060708090a0b0c0d0e0f";
const CBC: &str = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
                   73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7";
const CTR_IV: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
const CTR: &str = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
                   5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee";

/// SP 800-38C: key, nonce, associated data, plaintext, ciphertext, tag of examples 1 to 3.
const CCM: [[&str; 6]; 3] = [
    ["404142434445464748494a4b4c4d4e4f", "10111213141516", "0001020304050607", "20212223", "7162015b", "4dac255d"],
    [
        "404142434445464748494a4b4c4d4e4f",
        "1011121314151617",
        "000102030405060708090a0b0c0d0e0f",
        "202122232425262728292a2b2c2d2e2f",
        "d2a1f0e051ea5f62081a7792073d593d",
        "1fc64fbfaccd",
    ],
    [
        "404142434445464748494a4b4c4d4e4f",
        "101112131415161718191a1b",
        "000102030405060708090a0b0c0d0e0f10111213",
        "202122232425262728292a2b2c2d2e2f3031323334353637",
        "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5",
        "484392fbc1b09951",
    ],
];

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex digits")).collect()
}

/// Skipping for a missing peer is told, and is a failure where all peers have to be there.
fn present(peer: Result<(), Missing>) -> bool {
    if let Err(missing) = &peer {
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        eprintln!("SKIPPED: {missing}");
    }
    peer.is_ok()
}

#[test]
fn openssl_modes() {
    if !present(openssl::available()) {
        return;
    }
    for (mode, iv, expected) in
        [(openssl::Mode::Ecb, "", ECB), (openssl::Mode::Cbc, CBC_IV, CBC), (openssl::Mode::Ctr, CTR_IV, CTR)]
    {
        let mut encrypt = openssl::Cipher::new(mode, &hex(KEY), Direction::Encrypt).unwrap();
        let mut decrypt = openssl::Cipher::new(mode, &hex(KEY), Direction::Decrypt).unwrap();
        // Twice, because a context keeps its key from message to message.
        for _ in 0..2 {
            let mut data = hex(PLAIN);
            encrypt.apply(&hex(iv), &mut data).unwrap();
            assert_eq!(data, hex(expected), "{mode:?}");
            decrypt.apply(&hex(iv), &mut data).unwrap();
            assert_eq!(data, hex(PLAIN), "{mode:?}");
        }
    }
    let mut cipher = openssl::Cipher::new(openssl::Mode::Cbc, &hex(KEY), Direction::Encrypt).unwrap();
    assert_eq!(cipher.apply(&[0; 12], &mut [0; 16]), Err(Error::Length));
    assert_eq!(cipher.apply(&[0; 16], &mut [0; 15]), Err(Error::Length));
}

#[test]
fn openssl_ccm() {
    if !present(openssl::available()) {
        return;
    }
    for case in CCM {
        let [key, nonce, aad, plain, expected, expected_tag] = case.map(hex);
        let aead = |direction| {
            openssl::Aead::new(openssl::AeadMode::Ccm, &key, nonce.len(), expected_tag.len(), direction).unwrap()
        };
        let (mut encrypt, mut decrypt) = (aead(Direction::Encrypt), aead(Direction::Decrypt));
        for _ in 0..2 {
            let (mut data, mut tag) = (plain.clone(), vec![0; expected_tag.len()]);
            encrypt.encrypt(&nonce, &aad, &mut data, &mut tag).unwrap();
            assert_eq!((&data, &tag), (&expected, &expected_tag));
            decrypt.decrypt(&nonce, &aad, &mut data, &tag).unwrap();
            assert_eq!(data, plain);
            tag[0] ^= 1;
            let mut damaged = expected.clone();
            assert_eq!(decrypt.decrypt(&nonce, &aad, &mut damaged, &tag), Err(Error::Authentication));
        }
    }
}

#[test]
fn openssl_gcm_agrees_with_rustcrypto() {
    if !present(openssl::available()) {
        return;
    }
    let (key, nonce) = (hex(KEY), [3; 12]);
    let (mut ours, mut theirs) = (hex(PLAIN), hex(PLAIN));
    let (mut our_tag, mut their_tag) = ([0; 16], [0; 16]);
    let gcm = |direction| openssl::Aead::new(openssl::AeadMode::Gcm, &key, 12, 16, direction).unwrap();
    gcm(Direction::Encrypt).encrypt(&nonce, b"head", &mut ours, &mut our_tag).unwrap();
    rustcrypto::Aead::gcm(&key).unwrap().encrypt(&nonce, b"head", &mut theirs, &mut their_tag).unwrap();
    assert_eq!((&ours, our_tag), (&theirs, their_tag));
    let mut decrypt = gcm(Direction::Decrypt);
    decrypt.decrypt(&nonce, b"head", &mut ours, &our_tag).unwrap();
    assert_eq!(ours, hex(PLAIN));
    assert_eq!(decrypt.decrypt(&nonce, b"tail", &mut theirs, &our_tag), Err(Error::Authentication));
}

#[test]
fn gcrypt_modes() {
    if !present(gcrypt::available()) {
        return;
    }
    for (mode, iv, expected) in
        [(gcrypt::Mode::Ecb, "", ECB), (gcrypt::Mode::Cbc, CBC_IV, CBC), (gcrypt::Mode::Ctr, CTR_IV, CTR)]
    {
        let mut cipher = gcrypt::Cipher::new(mode, &hex(KEY)).unwrap();
        // Twice, because a handle keeps its key from message to message.
        for _ in 0..2 {
            let mut data = hex(PLAIN);
            cipher.apply(Direction::Encrypt, &hex(iv), &mut data).unwrap();
            assert_eq!(data, hex(expected), "{mode:?}");
            cipher.apply(Direction::Decrypt, &hex(iv), &mut data).unwrap();
            assert_eq!(data, hex(PLAIN), "{mode:?}");
        }
    }
    let mut cipher = gcrypt::Cipher::new(gcrypt::Mode::Cbc, &hex(KEY)).unwrap();
    assert_eq!(cipher.apply(Direction::Encrypt, &[0; 12], &mut [0; 16]), Err(Error::Length));
    assert_eq!(cipher.apply(Direction::Encrypt, &[0; 16], &mut [0; 15]), Err(Error::Length));
    assert!(matches!(gcrypt::Cipher::new(gcrypt::Mode::Ecb, &[0; 15]), Err(Error::Length)));
}

#[test]
fn gcrypt_ccm() {
    if !present(gcrypt::available()) {
        return;
    }
    for case in CCM {
        let [key, nonce, aad, plain, expected, expected_tag] = case.map(hex);
        let mut cipher = gcrypt::Cipher::new(gcrypt::Mode::Ccm, &key).unwrap();
        for _ in 0..2 {
            let (mut data, mut tag) = (plain.clone(), vec![0; expected_tag.len()]);
            cipher.encrypt(&nonce, &aad, &mut data, &mut tag).unwrap();
            assert_eq!((&data, &tag), (&expected, &expected_tag));
            cipher.decrypt(&nonce, &aad, &mut data, &tag).unwrap();
            assert_eq!(data, plain);
            tag[0] ^= 1;
            let mut damaged = expected.clone();
            assert_eq!(cipher.decrypt(&nonce, &aad, &mut damaged, &tag), Err(Error::Authentication));
        }
    }
}

#[test]
#[cfg(feature = "aws-lc-rs")]
fn aws_lc_rs_modes() {
    use tress_peers::aws_lc_rs::{Cipher, Mode};
    for (mode, iv, expected) in [(Mode::Ecb, "", ECB), (Mode::Cbc, CBC_IV, CBC), (Mode::Ctr, CTR_IV, CTR)] {
        let mut data = hex(PLAIN);
        Cipher::new(mode, &hex(KEY), Direction::Encrypt).unwrap().apply(&hex(iv), &mut data).unwrap();
        assert_eq!(data, hex(expected), "{mode:?}");
        Cipher::new(mode, &hex(KEY), Direction::Decrypt).unwrap().apply(&hex(iv), &mut data).unwrap();
        assert_eq!(data, hex(PLAIN), "{mode:?}");
    }
    let cipher = Cipher::new(Mode::Cbc, &hex(KEY), Direction::Encrypt).unwrap();
    assert_eq!(cipher.apply(&[0; 12], &mut [0; 16]), Err(Error::Length));
    assert_eq!(cipher.apply(&[0; 16], &mut [0; 15]), Err(Error::Length));
}

/// What both make is what RustCrypto makes.
#[test]
#[cfg(all(feature = "aws-lc-rs", feature = "ring"))]
fn gcm_of_crates() {
    let (key, nonce) = (hex(KEY), [3; 12]);
    let (mut expected, mut expected_tag) = (hex(PLAIN), [0; 16]);
    rustcrypto::Aead::gcm(&key).unwrap().encrypt(&nonce, b"head", &mut expected, &mut expected_tag).unwrap();
    let (mut data, mut tag) = (hex(PLAIN), [0; 16]);
    tress_peers::aws_lc_rs::Gcm::new(&key).unwrap().encrypt(&nonce, b"head", &mut data, &mut tag).unwrap();
    assert_eq!((&data, tag), (&expected, expected_tag));
    let (mut data, mut tag) = (hex(PLAIN), [0; 16]);
    tress_peers::ring::Gcm::new(&key).unwrap().encrypt(&nonce, b"head", &mut data, &mut tag).unwrap();
    assert_eq!((&data, tag), (&expected, expected_tag));
}

#[test]
fn ipsec_mb_modes() {
    if !present(ipsec_mb::available()) {
        return;
    }
    let key = hex(KEY);
    fn message(iv: &[u8], number: usize, bytes: usize) -> ipsec_mb::Message<'_> {
        ipsec_mb::Message { key: 0, iv, aad: b"", start: number * bytes, bytes, tag_bytes: 0 }
    }
    for (mode, iv, expected) in
        [(ipsec_mb::Mode::Ecb, "", ECB), (ipsec_mb::Mode::Cbc, CBC_IV, CBC), (ipsec_mb::Mode::Ctr, CTR_IV, CTR)]
    {
        let iv = hex(iv);
        // 40 messages: more than the library has lanes, and a rest that has to be flushed.
        let mut buffer = hex(PLAIN).repeat(40);
        let messages: Vec<_> = (0..40).map(|number| message(&iv, number, 64)).collect();
        for (direction, expected) in [(Direction::Encrypt, expected), (Direction::Decrypt, PLAIN)] {
            let mut batch = ipsec_mb::Batch::new(mode, direction, &[&key], &messages).unwrap();
            batch.run(&mut buffer).unwrap();
            assert_eq!(buffer, hex(expected).repeat(40), "{mode:?} {direction:?}");
            assert_eq!(batch.run(&mut buffer[1..]), Err(Error::Length));
        }
    }
    let refused = |mode, iv, bytes| {
        ipsec_mb::Batch::new(mode, Direction::Encrypt, &[&key], &[message(iv, 0, bytes)]).map(drop).unwrap_err()
    };
    assert_eq!(refused(ipsec_mb::Mode::Cbc, &[0; 16], 65_536), Error::MessageTooLong);
    assert_eq!(refused(ipsec_mb::Mode::Cbc, &[0; 16], 15), Error::Length);
    assert_eq!(refused(ipsec_mb::Mode::Ctr, &[0; 12], 16), Error::Length);
}

#[test]
fn ipsec_mb_ccm() {
    if !present(ipsec_mb::available()) {
        return;
    }
    let cases: Vec<[Vec<u8>; 6]> = (0..40).map(|i| CCM[i % 3].map(hex)).collect();
    let keys: Vec<&[u8]> = cases.iter().map(|case| &case[0][..]).collect();
    let (mut messages, mut end) = (Vec::new(), 0);
    for (key, [_, iv, aad, plain, _, tag]) in cases.iter().enumerate() {
        messages.push(ipsec_mb::Message { key, iv, aad, start: end, bytes: plain.len(), tag_bytes: tag.len() });
        end += plain.len() + tag.len();
    }
    let batch = |direction, messages: &[_]| ipsec_mb::Batch::new(ipsec_mb::Mode::Ccm, direction, &keys, messages);
    let of = |data: usize| -> Vec<u8> { cases.iter().flat_map(|case| [&case[data][..], &case[5]].concat()).collect() };
    let mut buffer = of(3);
    batch(Direction::Encrypt, &messages).unwrap().run(&mut buffer).unwrap();
    assert_eq!(buffer, of(4));
    let mut decrypt = batch(Direction::Decrypt, &messages).unwrap();
    decrypt.run(&mut buffer).unwrap();
    assert_eq!(buffer, of(3));
    let mut damaged = of(4);
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(decrypt.run(&mut damaged), Err(Error::Authentication));
    let refused = |change: fn(&mut ipsec_mb::Message<'_>)| {
        let mut message = ipsec_mb::Message { ..messages[0] };
        change(&mut message);
        batch(Direction::Encrypt, &[message]).map(drop).unwrap_err()
    };
    assert_eq!(refused(|message| message.bytes = 65_536), Error::MessageTooLong);
    assert_eq!(refused(|message| message.tag_bytes = 5), Error::Length);
    assert_eq!(refused(|message| message.iv = &[0; 6]), Error::Length);
    assert_eq!(refused(|message| message.key = 40), Error::Length);
}

#[test]
fn rustcrypto_modes() {
    let cipher = rustcrypto::Cipher::new(&hex(KEY)).unwrap();
    let mut data = hex(PLAIN);
    cipher.ecb(Direction::Encrypt, &mut data).unwrap();
    assert_eq!(data, hex(ECB));
    cipher.ecb(Direction::Decrypt, &mut data).unwrap();
    cipher.cbc(Direction::Encrypt, &hex(CBC_IV), &mut data).unwrap();
    assert_eq!(data, hex(CBC));
    cipher.cbc(Direction::Decrypt, &hex(CBC_IV), &mut data).unwrap();
    cipher.ctr(&hex(CTR_IV), &mut data).unwrap();
    assert_eq!(data, hex(CTR));
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
