//! Every peer's CCM against ours, with the lengths and layouts that the benchmarks use.

use tress_cipher::{Aad, aes::Aes, modes, pipo::Pipo, rc6::Rc6};
use tress_peers::{Direction, Error, Missing, cryptopp, gcrypt, ipsec_mb, openssl, pipo, rustcrypto};

const NONCE: [u8; 12] = [7; 12];

fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 31 + i / 251) as u8).collect()
}

fn ours(key: &[u8], data: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let (mut data, mut tag) = (data.to_vec(), [0; 16]);
    modes::ccm::seal(&Aes::new(key).unwrap(), &NONCE, Aad(b""), &mut data, &mut tag).unwrap();
    (data, tag)
}

fn present(peer: Result<(), Missing>) -> bool {
    if let Err(missing) = &peer {
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        eprintln!("SKIPPED: {missing}");
    }
    peer.is_ok()
}

#[test]
fn ccm_of_every_peer_is_ours() {
    // libipsec-mb has no CCM with keys of 192 bits.
    for key in [&message(16)[..], &message(32)] {
        for bytes in [0, 1, 15, 16, 17, 1024, 16_384] {
            let plain = message(bytes);
            let expected = ours(key, &plain);

            let (mut data, mut tag) = (plain.clone(), [0; 16]);
            let aead = rustcrypto::Aead::ccm(key).unwrap();
            aead.encrypt(&NONCE, b"", &mut data, &mut tag).unwrap();
            assert_eq!((&data, tag), (&expected.0, expected.1), "rustcrypto {bytes}");
            aead.decrypt(&NONCE, b"", &mut data, &tag).unwrap();
            assert_eq!(data, plain);
            if bytes > 0 {
                assert_eq!(aead.decrypt(&NONCE, b"", &mut data, &tag), Err(Error::Authentication));
            }

            if present(openssl::available()) {
                let (mut data, mut tag) = (plain.clone(), [0; 16]);
                let aead = |direction| openssl::Aead::new(openssl::AeadMode::Ccm, key, 12, 16, direction).unwrap();
                aead(Direction::Encrypt).encrypt(&NONCE, b"", &mut data, &mut tag).unwrap();
                assert_eq!((&data, tag), (&expected.0, expected.1), "openssl {bytes}");
                aead(Direction::Decrypt).decrypt(&NONCE, b"", &mut data, &tag).unwrap();
                assert_eq!(data, plain);
            }

            if present(gcrypt::available()) {
                let (mut data, mut tag) = (plain.clone(), [0; 16]);
                let mut cipher = gcrypt::Cipher::new(gcrypt::Mode::Ccm, key).unwrap();
                cipher.encrypt(&NONCE, b"", &mut data, &mut tag).unwrap();
                assert_eq!((&data, tag), (&expected.0, expected.1), "libgcrypt {bytes}");
                cipher.decrypt(&NONCE, b"", &mut data, &tag).unwrap();
                assert_eq!(data, plain);
            }

            if present(ipsec_mb::available()) {
                let distance = bytes + 16;
                let message = |number| ipsec_mb::Message {
                    key: 0,
                    iv: &NONCE,
                    aad: b"",
                    start: number * distance,
                    bytes,
                    tag_bytes: 16,
                };
                let messages: Vec<_> = (0..300).map(message).collect();
                let one = [&expected.0[..], &expected.1].concat();
                let mut buffer = [&plain[..], &[0; 16]].concat().repeat(messages.len());
                let batch =
                    |direction| ipsec_mb::Batch::new(ipsec_mb::Mode::Ccm, direction, &[key], &messages).unwrap();
                let (mut encrypt, mut decrypt) = (batch(Direction::Encrypt), batch(Direction::Decrypt));
                // Over and over, so that the ring of jobs comes round at every place.
                for _ in 0..3 {
                    encrypt.run(&mut buffer).unwrap();
                    assert!(buffer.chunks_exact(distance).all(|made| made == one), "ipsec-mb {bytes}");
                    decrypt.run(&mut buffer).unwrap();
                    assert!(buffer.chunks_exact(distance).all(|made| made[..bytes] == plain), "ipsec-mb {bytes}");
                }
            }
        }
    }
}

#[test]
fn blocks_of_every_key_are_ours() {
    for key in [&message(16)[..], &message(24), &message(32)] {
        let (iv, plain, aes) = ([0xfe; 16], message(4096), Aes::new(key).unwrap());
        let (mut ecb, mut cbc, mut ctr) = (plain.clone(), plain.clone(), plain.clone());
        modes::ecb::encrypt(&aes, &mut ecb).unwrap();
        modes::cbc::encrypt(&aes, &iv, &mut cbc).unwrap();
        modes::ctr::apply(&aes, &iv, &mut ctr).unwrap();

        let peer = rustcrypto::Cipher::new(key).unwrap();
        let mut data = plain.clone();
        peer.ecb(Direction::Encrypt, &mut data).unwrap();
        assert_eq!(data, ecb);
        peer.ecb(Direction::Decrypt, &mut data).unwrap();
        peer.cbc(Direction::Encrypt, &iv, &mut data).unwrap();
        assert_eq!(data, cbc);
        peer.cbc(Direction::Decrypt, &iv, &mut data).unwrap();
        peer.ctr(&iv, &mut data).unwrap();
        assert_eq!(data, ctr);

        if present(gcrypt::available()) {
            use gcrypt::Mode;
            for (mode, iv, expected) in [(Mode::Ecb, &[][..], &ecb), (Mode::Cbc, &iv, &cbc), (Mode::Ctr, &iv, &ctr)] {
                let mut peer = gcrypt::Cipher::new(mode, key).unwrap();
                let mut data = plain.clone();
                peer.apply(Direction::Encrypt, iv, &mut data).unwrap();
                assert_eq!(&data, expected, "libgcrypt {mode:?}");
                peer.apply(Direction::Decrypt, iv, &mut data).unwrap();
                assert_eq!(data, plain, "libgcrypt {mode:?}");
            }
        }
    }
}

#[test]
fn rc6_of_every_peer_is_ours() {
    let (key, iv, plain) = (message(16), [0xfe; 16], message(4096));
    let ours = Rc6::new(&key).unwrap();
    let peer = rustcrypto::Rc6::new(&key).unwrap();
    let (mut ecb, mut cbc, mut ctr) = (plain.clone(), plain.clone(), plain.clone());
    modes::ecb::encrypt(&ours, &mut ecb).unwrap();
    modes::cbc::encrypt(&ours, &iv, &mut cbc).unwrap();
    modes::ctr::apply(&ours, &iv, &mut ctr).unwrap();

    let mut data = plain.clone();
    peer.ecb(Direction::Encrypt, &mut data).unwrap();
    assert_eq!(data, ecb);
    peer.ecb(Direction::Decrypt, &mut data).unwrap();
    assert_eq!(data, plain);
    peer.cbc(Direction::Encrypt, &iv, &mut data).unwrap();
    assert_eq!(data, cbc);
    peer.cbc(Direction::Decrypt, &iv, &mut data).unwrap();
    peer.ctr(&iv, &mut data).unwrap();
    assert_eq!(data, ctr);

    if present(cryptopp::available()) {
        for (mode, expected) in [(cryptopp::Mode::Ecb, &ecb), (cryptopp::Mode::Cbc, &cbc), (cryptopp::Mode::Ctr, &ctr)]
        {
            let cipher = |direction| cryptopp::Rc6::new(mode, direction, &key).unwrap();
            let (mut encrypt, mut decrypt) = (cipher(Direction::Encrypt), cipher(Direction::Decrypt));
            // Twice, because a cipher keeps its key from message to message.
            for _ in 0..2 {
                let mut data = plain.clone();
                encrypt.apply(&iv, &mut data).unwrap();
                assert_eq!(&data, expected, "{mode:?}");
                decrypt.apply(&iv, &mut data).unwrap();
                assert_eq!(data, plain, "{mode:?}");
            }
            let short = if mode == cryptopp::Mode::Ctr { Ok(()) } else { Err(Error::Length) };
            assert_eq!(encrypt.apply(&iv, &mut [0; 15]), short);
        }
    }
}

#[test]
fn pipo_of_the_crate_is_ours() {
    for key in [&message(16)[..], &message(32)] {
        let (ours, plain, counter) = (Pipo::new(key).unwrap(), message(4096), [1, 2, 3, 4, 5, 6, 0, 250]);
        let (mut expected, mut data) = (plain.clone(), plain.clone());
        modes::ecb::encrypt(&ours, &mut expected).unwrap();
        pipo::ecb(key, Direction::Encrypt, &mut data).unwrap();
        assert_eq!(data, expected);
        pipo::ecb(key, Direction::Decrypt, &mut data).unwrap();
        assert_eq!(data, plain);
        modes::ctr::apply(&ours, &counter, &mut data).unwrap();
        expected.clone_from(&plain);
        pipo::ctr(key, &counter, &mut expected).unwrap();
        assert_eq!(data, expected);
        assert_eq!(pipo::ecb(key, Direction::Encrypt, &mut [0; 7]), Err(Error::Length));
    }
}
