//! Every peer's CCM against ours, with the lengths and layouts that the benchmarks use.

use tress_cipher::{aes::Aes, modes};
use tress_peers::{Direction, Error, Missing, ipsec_mb, openssl, rustcrypto};

const NONCE: [u8; 12] = [7; 12];

fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 31 + i / 251) as u8).collect()
}

fn ours(key: &[u8], data: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let (mut data, mut tag) = (data.to_vec(), [0; 16]);
    modes::ccm::encrypt(&Aes::new(key).unwrap(), &NONCE, b"", &mut data, &mut tag).unwrap();
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

            if present(ipsec_mb::available()) {
                let mut manager = ipsec_mb::Manager::new().unwrap();
                let expanded = manager.key(key).unwrap();
                let mut buffers = vec![(plain.clone(), [0; 16]); 33];
                let mut messages: Vec<_> = buffers
                    .iter_mut()
                    .map(|(data, tag)| ipsec_mb::CcmMessage { key: &expanded, nonce: &NONCE, aad: b"", data, tag })
                    .collect();
                assert_eq!(manager.ccm(Direction::Encrypt, &mut messages), Ok(0));
                assert!(buffers.iter().all(|buffer| *buffer == expected), "ipsec-mb {bytes}");
            }
        }
    }
}
