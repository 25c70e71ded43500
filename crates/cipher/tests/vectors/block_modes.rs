//! ECB, CBC (plain, padded, in lanes, Monte Carlo) and CTR, of any block cipher.

use tress_cipher::aes::Aes;
use tress_cipher::lanes;
use tress_cipher::modes::{cbc, ctr, ecb, pkcs7};
use tress_cipher::{Backend, BlockCipher};

use crate::file::{Direction, Group, Test};

pub(crate) fn cipher(backend: Backend, key: &[u8]) -> Aes {
    let aes = Aes::with_backend(key, backend).expect("an available backend and a vector's key");
    assert_eq!(aes.backend(), backend);
    assert_eq!(aes.key_bytes(), key.len());
    aes
}

pub(crate) fn ecb(cipher: &impl BlockCipher, test: &Test, what: &str) {
    let mut data = test.message().to_vec();
    ecb::encrypt(cipher, &mut data).expect(what);
    assert_eq!(data, test.ct, "{what}: encrypt");
    ecb::decrypt(cipher, &mut data).expect(what);
    assert_eq!(data, test.message(), "{what}: decrypt");
}

/// The methods of `Aes`.
pub(crate) fn aes_blocks(aes: &Aes, test: &Test, what: &str) {
    let mut data = test.message().to_vec();
    let (blocks, []) = data.as_chunks_mut::<16>() else { panic!("{what}: not whole blocks") };
    aes.encrypt_blocks(blocks);
    assert_eq!(blocks.as_flattened(), test.ct, "{what}: encrypt_blocks");
    aes.decrypt_blocks(blocks);
    assert_eq!(blocks.as_flattened(), test.message(), "{what}: decrypt_blocks");
}

pub(crate) fn cbc(cipher: &impl BlockCipher, test: &Test, what: &str) {
    let mut data = test.message().to_vec();
    cbc::encrypt(cipher, &test.iv, &mut data).expect(what);
    assert_eq!(data, test.ct, "{what}: encrypt");
    cbc::decrypt(cipher, &test.iv, &mut data).expect(what);
    assert_eq!(data, test.message(), "{what}: decrypt");
}

pub(crate) fn cbc_padded<C: BlockCipher>(cipher: &C, test: &Test, what: &str) {
    if test.is_valid() {
        let mut data = test.message().to_vec();
        let padding = pkcs7::padding(data.len(), C::BLOCK_BYTES);
        data.resize(data.len() + padding, padding as u8);
        cbc::encrypt(cipher, &test.iv, &mut data).expect(what);
        assert_eq!(data, test.ct, "{what}: encrypt");
    }
    let mut data = test.ct.clone();
    let unpadded = cbc::decrypt(cipher, &test.iv, &mut data).and_then(|()| pkcs7::unpad(&data, C::BLOCK_BYTES));
    if test.is_valid() {
        assert_eq!(&data[..unpadded.expect(what)], test.message(), "{what}: decrypt");
    } else {
        assert!(unpadded.is_err(), "{what}: bad padding accepted");
    }
}

/// All vectors of a file as one list of jobs; `cipher` makes a test's key.
pub(crate) fn cbc_lanes<C: BlockCipher>(cipher: impl Fn(&Test) -> C, tests: &[&Test], what: &str) {
    let ciphers: Vec<C> = tests.iter().map(|test| cipher(test)).collect();
    let mut data: Vec<Vec<u8>> = tests.iter().map(|test| test.message().to_vec()).collect();
    let mut jobs: Vec<_> = (tests.iter().zip(&ciphers).zip(&mut data))
        .map(|((test, cipher), data)| lanes::cbc::Job::new(cipher, &test.iv, data).expect("a vector's job"))
        .collect();
    lanes::cbc::encrypt(&mut jobs);
    drop(jobs);
    for (test, data) in tests.iter().zip(&data) {
        assert_eq!(data, &test.ct, "{what}: test {} in lanes", test.id);
    }
}

pub(crate) fn ctr(cipher: &impl BlockCipher, test: &Test, what: &str) {
    let mut data = test.message().to_vec();
    ctr::apply(cipher, &test.iv, &mut data).expect(what);
    assert_eq!(data, test.ct, "{what}: encrypt");
    ctr::apply(cipher, &test.iv, &mut data).expect(what);
    assert_eq!(data, test.message(), "{what}: decrypt");
}

/// Calls of one block in one outer round of a Monte Carlo test.
const INNER_ROUNDS: usize = 1000;

/// AESAVS, section 6.4.2: in each outer round the first block is the vector's, the second the IV, and then every
/// output is the input after the next; the last output of a round is recorded, and the next round's key, IV and block
/// come from the last two.
pub(crate) fn monte_carlo(aes: &Aes, group: &Group, test: &Test, what: &str) {
    let encrypts = group.direction.expect("a Monte Carlo group has a direction") == Direction::Encrypt;
    let (input, output) = if encrypts { (test.message(), &test.ct[..]) } else { (&test.ct[..], test.message()) };
    let mut chain = test.iv.clone();
    let mut previous = test.iv.clone();
    let mut block = input.to_vec();
    let mut last = test.iv.clone();
    for _ in 0..INNER_ROUNDS {
        let mut out = block.clone();
        if encrypts {
            cbc::encrypt(aes, &chain, &mut out).expect(what);
            chain.clone_from(&out);
        } else {
            cbc::decrypt(aes, &chain, &mut out).expect(what);
            chain.clone_from(&block);
        }
        block = std::mem::replace(&mut last, out);
        previous.clone_from(&block);
    }
    assert_eq!(last, output, "{what}");

    let position = group.tests.iter().position(|other| other.id == test.id).expect("the test is in its group");
    if let Some(next) = group.tests.get(position + 1) {
        let next_input = if encrypts { next.message() } else { &next.ct };
        assert_eq!((&next.iv[..], next_input), (&last[..], &previous[..]), "{what}: the next round");
        let outputs = [previous, last].concat();
        let key: Vec<u8> = test.key.iter().zip(&outputs[32 - test.key.len()..]).map(|(a, b)| a ^ b).collect();
        assert_eq!(next.key, key, "{what}: the next round's key");
    }
}
