//! ECB, CBC (plain, padded, in lanes) and CTR.

use tress_cipher::modes::{cbc, ctr, ecb, pkcs7};
use tress_cipher::{Backend, Error, lanes};

use crate::vectors::file::VectorTest;
use crate::vectors::under_test::VectorCipher;

pub(crate) fn ecb<C: VectorCipher>(backend: Backend, test: &VectorTest, label: &str) {
    let cipher = C::prepare(backend, &test.key);
    let mut data = test.message().to_vec();
    ecb::encrypt(&cipher, &mut data).expect(label);
    assert_eq!(data, test.ct, "{label}: encrypt");
    ecb::decrypt(&cipher, &mut data).expect(label);
    assert_eq!(data, test.message(), "{label}: decrypt");

    cipher.encrypt_blocks(&mut data);
    assert_eq!(data, test.ct, "{label}: encrypt_blocks");
    cipher.decrypt_blocks(&mut data);
    assert_eq!(data, test.message(), "{label}: decrypt_blocks");
}

pub(crate) fn cbc<C: VectorCipher>(backend: Backend, test: &VectorTest, label: &str) {
    let cipher = C::prepare(backend, &test.key);
    let mut data = test.message().to_vec();
    cbc::encrypt(&cipher, &test.iv, &mut data).expect(label);
    assert_eq!(data, test.ct, "{label}: encrypt");
    cbc::decrypt(&cipher, &test.iv, &mut data).expect(label);
    assert_eq!(data, test.message(), "{label}: decrypt");
}

pub(crate) fn cbc_padded<C: VectorCipher>(backend: Backend, test: &VectorTest, label: &str) {
    let cipher = C::prepare(backend, &test.key);
    if test.is_valid() {
        let mut data = test.message().to_vec();
        let padding = pkcs7::padding(data.len(), 16);
        data.resize(data.len() + padding, padding as u8);
        cbc::encrypt(&cipher, &test.iv, &mut data).expect(label);
        assert_eq!(data, test.ct, "{label}: encrypt");
    }
    let mut data = test.ct.clone();
    let unpadded = cbc::decrypt(&cipher, &test.iv, &mut data).and_then(|()| pkcs7::unpad(&data, 16));
    if test.is_valid() {
        assert_eq!(&data[..unpadded.expect(label)], test.message(), "{label}: decrypt");
    } else {
        assert!(unpadded.is_err(), "{label}: bad padding accepted");
    }
}

pub(crate) fn cbc_lanes<C: VectorCipher>(backend: Backend, tests: &[&VectorTest], name: &str) {
    let ciphers: Vec<C> = tests.iter().map(|test| C::prepare(backend, &test.key)).collect();
    let mut data: Vec<Vec<u8>> = tests.iter().map(|test| test.message().to_vec()).collect();
    let mut jobs: Vec<_> = (tests.iter().zip(&ciphers).zip(&mut data))
        .map(|((test, cipher), data)| lanes::cbc::Job::new(cipher, &test.iv, data).expect("a vector's job"))
        .collect();
    lanes::cbc::encrypt(&mut jobs);
    drop(jobs);
    for (test, data) in tests.iter().zip(&data) {
        assert_eq!(data, &test.ct, "{name} test {} in lanes on {}", test.id, backend.name());
    }
}

pub(crate) fn ctr<C: VectorCipher>(backend: Backend, test: &VectorTest, label: &str) {
    let cipher = C::prepare(backend, &test.key);
    let mut data = test.message().to_vec();
    if test.has_flag("CounterExhausted") {
        assert!(!test.is_valid(), "{label}");
        assert_eq!(ctr::apply(&cipher, &test.iv, &mut data), Err(Error::CounterExhausted), "{label}");
        assert_eq!(data, test.message(), "{label}: something was written");
        // Byte by byte, the last counter block is used up to its end.
        let left = 0x1_0000 - usize::from(u16::from_be_bytes([test.iv[6], test.iv[7]]));
        let mut stream = ctr::Stream::new(&cipher, &test.iv).expect(label);
        let refused = data.iter_mut().position(|byte| stream.apply(std::slice::from_mut(byte)).is_err());
        assert_eq!(refused, Some(left * C::BLOCK_BYTES), "{label}");
        return;
    }
    assert!(test.is_valid(), "{label}");
    ctr::apply(&cipher, &test.iv, &mut data).expect(label);
    assert_eq!(data, test.ct, "{label}: encrypt");
    ctr::apply(&cipher, &test.iv, &mut data).expect(label);
    assert_eq!(data, test.message(), "{label}: decrypt");
    // In pieces that begin and end inside of blocks, that take several, and that are empty.
    for lengths in [&[1][..], &[0, C::BLOCK_BYTES - 1, 2], &[3, 2 * C::BLOCK_BYTES, 1, C::BLOCK_BYTES + 1]] {
        let (mut data, mut begin) = (test.message().to_vec(), 0);
        let mut stream = ctr::Stream::new(&cipher, &test.iv).expect(label);
        for length in lengths.iter().cycle().take(data.len() + 1) {
            let end = data.len().min(begin + length);
            stream.apply(&mut data[begin..end]).expect(label);
            begin = end;
        }
        assert_eq!(data, test.ct, "{label}: pieces of {lengths:?} bytes");
    }
}
