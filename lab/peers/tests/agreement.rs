//! Compares GCM of every peer with RustCrypto's, and passes wrong lengths, so that an error in a wrapper fails a test and does
//! not lead to a wrong measurement. The bench's tests (`matrix_test.rs`) compare the outputs of all contenders in every other mode
//! with those of Tress.

use tress_peers::{Direction, Error, Missing, Mode, PeerCipher, cryptopp, gcrypt, ipsec_mb, openssl, pipo, rustcrypto};

use crate::present;

fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 31 + i / 251) as u8).collect()
}

/// A cipher for encryption with a key of 16 bytes, if the peer is installed.
fn cipher<C: PeerCipher + 'static>(version: Result<String, Missing>, mode: Mode) -> Option<Box<dyn PeerCipher>> {
    present(version).then(|| Box::new(C::new(mode, Direction::Encrypt, &message(16)).unwrap()) as Box<dyn PeerCipher>)
}

#[test]
fn wrong_lengths_are_rejected() {
    let installed = || Ok(String::new());
    let cbc = [
        cipher::<rustcrypto::Cipher>(installed(), Mode::Cbc),
        cipher::<rustcrypto::Rc6>(installed(), Mode::Cbc),
        cipher::<cryptopp::Rc6>(cryptopp::version(), Mode::Cbc),
        cipher::<openssl::Cipher>(openssl::version(), Mode::Cbc),
        cipher::<gcrypt::Cipher>(gcrypt::version(), Mode::Cbc),
        #[cfg(feature = "aws-lc-rs")]
        cipher::<tress_peers::aws_lc_rs::Cipher>(installed(), Mode::Cbc),
    ];
    for (number, mut cipher) in cbc.into_iter().enumerate().filter_map(|(number, cipher)| Some((number, cipher?))) {
        assert_eq!(cipher.apply(&[0; 12], &mut [0; 16], &mut []), Err(Error::Length), "{number}");
        assert_eq!(cipher.apply(&[0; 16], &mut [0; 15], &mut []), Err(Error::Length), "{number}");
    }
    let mut pipo = cipher::<pipo::Cipher>(installed(), Mode::Ecb).unwrap();
    assert_eq!(pipo.apply(&[], &mut [0; 7], &mut []), Err(Error::Length));
    if present(gcrypt::version()) {
        assert!(matches!(gcrypt::Cipher::new(Mode::Ecb, Direction::Encrypt, &[0; 15]), Err(Error::Length)));
    }
    if present(ipsec_mb::version()) {
        let usual = ipsec_mb::BatchMessage { key: 0, iv: &[0; 12], start: 0, bytes: 16 };
        for (mode, message, error) in [
            (Mode::Ccm, ipsec_mb::BatchMessage { bytes: 65_536, ..usual }, Error::MessageTooLong),
            (Mode::Ccm, ipsec_mb::BatchMessage { iv: &[0; 6], ..usual }, Error::Length),
            (Mode::Ccm, ipsec_mb::BatchMessage { key: 1, ..usual }, Error::Length),
            (Mode::Cbc, ipsec_mb::BatchMessage { iv: &[0; 12], ..usual }, Error::Length),
            (Mode::Cbc, ipsec_mb::BatchMessage { iv: &[0; 16], bytes: 15, ..usual }, Error::Length),
        ] {
            let made = ipsec_mb::Batch::new(mode, Direction::Encrypt, &[&[1; 16]], &[message]);
            assert_eq!(made.map(drop), Err(error));
        }
    }
}

/// The output of each peer equals that of RustCrypto.
#[test]
fn gcm_of_peers() {
    let installed = || Ok(String::new());
    let gcm = [
        cipher::<rustcrypto::Gcm>(installed(), Mode::Gcm),
        cipher::<openssl::Cipher>(openssl::version(), Mode::Gcm),
        cipher::<ipsec_mb::Gcm>(ipsec_mb::version(), Mode::Gcm),
        #[cfg(feature = "aws-lc-rs")]
        cipher::<tress_peers::aws_lc_rs::Gcm>(installed(), Mode::Gcm),
        #[cfg(feature = "ring")]
        cipher::<tress_peers::ring::Gcm>(installed(), Mode::Gcm),
    ];
    let outputs = gcm.into_iter().flatten().map(|mut cipher| {
        let (mut data, mut tag) = (message(64), [0; 16]);
        cipher.apply(&[3; 12], &mut data, &mut tag).unwrap();
        (data, tag)
    });
    let outputs: Vec<_> = outputs.collect();
    assert!(outputs.iter().all(|output| *output == outputs[0] && output.0 != message(64)));
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
