//! Parameters outside of a standard are refused with the right error, and nothing is written.

use tress_cipher::aead::consts::{U13, U16};
use tress_cipher::aead::{AeadInOut, inout::InOutBuf};
use tress_cipher::aes::Aes;
use tress_cipher::catalogue::{CIPHERS, Cipher, FromKey, Mode, WithCipher, find};
use tress_cipher::lea::Lea;
use tress_cipher::modes::{cbc, ccm, ctr, ecb};
use tress_cipher::pipo::Pipo;
use tress_cipher::rc6::Rc6;
use tress_cipher::rijndael::Rijndael;
use tress_cipher::{Aad, Backend, BlockCipher, CcmCipher, Error, Tag, lanes, lea, rc6};

use crate::properties::common::{PropertyCipher, aes, backends};

const KEY: [u8; 16] = [7; 16];

#[test]
fn keys_of_other_lengths_and_missing_backends() {
    assert_eq!(Aes::new(&[0; 20]).err(), Some(Error::KeyLength));
    assert_eq!(Rc6::new(&[0; 20]).err(), Some(Error::KeyLength));
    assert_eq!(Lea::new(&[0; 20]).err(), Some(Error::KeyLength));
    assert_eq!(Pipo::new(&[0; 24]).err(), Some(Error::KeyLength));
    CIPHERS.chunk_by(|a, b| a.of == b.of).for_each(|of_type| of_type[0].with(KeysAndBackends(&of_type[0])));
}

/// A cipher type takes exactly the key lengths in the names of its ciphers. Every backend of the library either works for it or is an
/// error.
struct KeysAndBackends(&'static Cipher);

impl WithCipher for KeysAndBackends {
    type Output = ();

    fn block<C: FromKey>(self) {
        for backend in backends::<C>() {
            for length in 0..70 {
                let has =
                    |cipher: &Cipher| cipher.of == self.0.of && cipher.name.ends_with(&format!("-{}", 8 * length));
                let refusal = (!CIPHERS.iter().any(has)).then_some(Error::KeyLength);
                let made = C::with_backend(&vec![0; length], backend);
                assert_eq!(made.err(), refusal, "{}, {length} bytes", self.0.name);
            }
        }
        for &backend in Backend::ALL {
            let expected = if C::BACKENDS.contains(&backend) && backend.is_available() {
                Ok(backend)
            } else {
                Err(Error::BackendUnavailable(backend))
            };
            let made = C::with_backend(&vec![0; C::KEY_BYTES[0]], backend);
            assert_eq!(made.map(|cipher| cipher.backend()), expected, "{}", self.0.name);
        }
    }

    fn ccm<C: FromKey + CcmCipher>(self) {
        self.block::<C>();
    }
}

#[test]
fn the_fastest_backend_is_chosen_and_no_key_is_shown() {
    macro_rules! check {
        ($($cipher:ty: $key_bytes:literal, $shown:literal;)*) => {$(
            let cipher = <$cipher>::new(&[0xa7; $key_bytes]).unwrap();
            let usable = |backend: &&Backend| backend.is_available() && **backend != Backend::Reference;
            assert_eq!(Some(&cipher.backend()), <$cipher>::BACKENDS.iter().rev().find(usable));
            assert_eq!(format!("{cipher:?}"), format!("{} ({})", $shown, cipher.backend().name()));
        )*};
    }
    check! { Aes: 24, "Aes-192"; Rc6: 24, "RC6-192"; Lea: 24, "LEA-192"; Pipo: 32, "Pipo-64/256"; }
    check! { Rijndael<20>: 28, "Rijndael-160-224"; }
    assert_eq!(format!("{:?}", rc6::General::new(&[0xa7; 24], 9).unwrap()), "RC6-32/9 (reference)");
    assert_eq!((rc6::Rc6_128::BACKENDS, lea::Lea128::BACKENDS), (Rc6::BACKENDS, Lea::BACKENDS));
}

/// The names on the command line: aes-KEY, rijndael-BLOCK-KEY, rc6-KEY, lea-KEY and pipo-KEY, with lengths in bits.
#[test]
fn names_say_block_and_key() {
    assert_eq!(CIPHERS.len(), 3 + 25 + 3 + 3 + 2);
    for cipher in CIPHERS {
        let bits: Vec<usize> = cipher.name.split('-').skip(1).map(|part| part.parse().unwrap()).collect();
        let block_bits = match (cipher.family(), bits.len()) {
            ("aes" | "rc6" | "lea", 1) => 128,
            ("pipo", 1) => 64,
            ("rijndael", 2) => bits[0],
            _ => panic!("{}", cipher.name),
        };
        assert_eq!(
            (8 * cipher.block_bytes, Some(&(8 * cipher.key_bytes))),
            (block_bits, bits.last()),
            "{}",
            cipher.name
        );
        assert_eq!(cipher.modes.contains(&Mode::Ccm), block_bits == 128, "{}", cipher.name);
        assert_eq!((cipher.c_name.to_str(), find(cipher.name)), (Ok(cipher.name), Some(cipher)));
    }
    assert_eq!(find("aes-129"), None);
}

#[test]
fn data_that_is_not_whole_blocks() {
    fn refuses<C: PropertyCipher>() {
        for backend in backends::<C>() {
            let (cipher, iv) = (C::prepare(backend, &KEY), vec![0; C::BLOCK_BYTES]);
            for length in (0..40_usize).chain([4095]).filter(|length| !length.is_multiple_of(C::BLOCK_BYTES)) {
                let before = vec![9; length];
                let mut data = before.clone();
                assert_eq!(ecb::encrypt(&cipher, &mut data), Err(Error::DataLength));
                assert_eq!(ecb::decrypt(&cipher, &mut data), Err(Error::DataLength));
                assert_eq!(cbc::encrypt(&cipher, &iv, &mut data), Err(Error::DataLength));
                assert_eq!(cbc::decrypt(&cipher, &iv, &mut data), Err(Error::DataLength));
                assert_eq!(lanes::cbc::Job::new(&cipher, &iv, &mut data).err(), Some(Error::DataLength));
                assert_eq!(data, before);
            }
        }
    }
    refuses::<Aes>();
    refuses::<Pipo>();
}

#[test]
fn initialisation_vectors_of_other_lengths() {
    fn refuses<C: PropertyCipher>() {
        for backend in backends::<C>() {
            let cipher = C::prepare(backend, &KEY);
            for length in (0..40).filter(|length| *length != C::BLOCK_BYTES) {
                let (iv, mut data) = (vec![0; length], [9; 32]);
                assert_eq!(cbc::encrypt(&cipher, &iv, &mut data), Err(Error::IvLength));
                assert_eq!(cbc::decrypt(&cipher, &iv, &mut data), Err(Error::IvLength));
                assert_eq!(ctr::apply(&cipher, &iv, &mut data), Err(Error::IvLength));
                assert_eq!(lanes::cbc::Job::new(&cipher, &iv, &mut data).err(), Some(Error::IvLength));
                assert_eq!(data, [9; 32]);
            }
        }
    }
    refuses::<Aes>();
    refuses::<Pipo>();
}

/// Every function of CCM returns the same error.
fn ccm_refuses(aes: &Aes, nonce: &[u8], data: &mut [u8], tag: &mut [u8], error: Error) {
    let before = (data.to_vec(), tag.to_vec());
    let aad = Aad(b"a");
    let lengths = ccm::Lengths { aad: 1, data: data.len() as u64, tag: tag.len() };
    assert_eq!(ccm::Sealer::new(aes, nonce, lengths).err(), Some(error));
    assert_eq!(ccm::Opener::new(aes, nonce, lengths).err(), Some(error));
    assert_eq!(ccm::seal(aes, nonce, aad, data, &mut *tag), Err(error));
    assert_eq!(lanes::ccm::Seal::new(aes, nonce, aad, data, &mut *tag).err(), Some(error));
    let given = Tag::new(tag, tag.len()).unwrap();
    assert_eq!(ccm::open(aes, nonce, aad, data, given), Err(error));
    assert_eq!(lanes::ccm::Open::new(aes, nonce, aad, data, given).err(), Some(error));
    assert_eq!((data.to_vec(), tag.to_vec()), before);
}

#[test]
fn ccm_parameters_that_do_not_exist() {
    for backend in backends::<Aes>() {
        let aes = aes(backend, &KEY);
        for nonce_bytes in (0..40).filter(|length| !(7..=13).contains(length)) {
            ccm_refuses(&aes, &vec![1; nonce_bytes], &mut [9; 20], &mut [5; 16], Error::NonceLength);
        }
        for tag_bytes in (0..40).filter(|length| !matches!(length, 4 | 6 | 8 | 10 | 12 | 14 | 16)) {
            ccm_refuses(&aes, &[1; 12], &mut [9; 20], &mut vec![5; tag_bytes], Error::TagLength);
        }
    }
}

#[test]
fn pieces_that_are_not_as_announced() {
    let (aes, lengths) = (aes(Backend::Portable, &KEY), ccm::Lengths { aad: 3, data: 5, tag: 8 });
    let (too_few, mut data) = (Some(Error::AnnouncedLength), [9; 6]);
    let sealer = || ccm::Sealer::new(&aes, &[1; 12], lengths).unwrap();
    let mut one = sealer();
    assert_eq!(one.aad(Aad(&[0; 4])).err(), too_few);
    assert_eq!(one.aad(Aad(&[0; 2])), Ok(()));
    assert_eq!(one.update(&mut data[..1]).err(), too_few);
    assert_eq!(one.aad(Aad(&[0; 1])), Ok(()));
    assert_eq!(one.update(&mut data).err(), too_few);
    assert_eq!(data, [9; 6]);
    assert_eq!(one.aad(Aad(&[0; 1])).err(), too_few);
    assert_eq!(one.update(&mut data[..4]), Ok(()));
    assert_eq!(one.finish(&mut [0; 8]).err(), too_few);
    assert_eq!(sealer().finish(&mut [0; 16]).err(), Some(Error::TagLength));
    let longest = ccm::Lengths { aad: u64::MAX, data: u64::MAX, tag: 16 };
    assert!(ccm::Sealer::new(&aes, &[1; 7], longest).is_ok());
    assert_eq!(ccm::Sealer::new(&aes, &[1; 8], longest).err(), Some(Error::MessageTooLong));
}

/// A nonce of n bytes leaves 15 − n bytes for the length: 13 bytes allow messages up to 65,535 bytes, 12 up to 16,777,215.
#[test]
fn ccm_messages_longer_than_their_length_field() {
    for backend in backends::<Aes>() {
        let aes = aes(backend, &KEY);
        if !cfg!(miri) {
            ccm_refuses(&aes, &[1; 13], &mut vec![9; 65536], &mut [5; 16], Error::MessageTooLong);
            ccm_refuses(&aes, &[1; 12], &mut vec![9; 1 << 24], &mut [5; 16], Error::MessageTooLong);
            let (input, mut output) = (vec![9_u8; 65536], vec![5_u8; 65536]);
            let traits = ccm::Ccm::<Aes, U16, U13>::from(aes);
            let buffer = InOutBuf::new(&input, &mut output).expect("equal lengths");
            assert!(traits.encrypt_inout_detached(&[1; 13].into(), b"", buffer).is_err());
            let buffer = InOutBuf::new(&input, &mut output).expect("equal lengths");
            assert!(traits.decrypt_inout_detached(&[1; 13].into(), b"", buffer, &[5; 16].into()).is_err());
            assert!(output.iter().all(|byte| *byte == 5));
        }
    }
}
