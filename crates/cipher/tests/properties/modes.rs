//! ECB, CBC, CTR and CCM of one message: every backend does what the reference does, at every length and alignment.

use proptest::prelude::*;
use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm;
use tress_cipher::{Backend, Error};

use crate::block_modes::{ctr_agrees, ecb_and_cbc_agree};
use crate::common::{
    Bytes, Placed, aes, any_counter, any_key_bytes, any_length, any_tag_bytes, backends, cases, edges,
};

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn one_message_in_ecb_and_cbc(
        seed: u64, key_bytes in any_key_bytes(), length in any_length(), offset in 0..64_usize,
    ) {
        let mut random = Bytes(seed);
        let (key, iv) = (random.take(key_bytes), random.take(16));
        let data = random.take(length);
        ecb_and_cbc_agree::<Aes>(&key, &iv, &data, offset);
    }

    #[test]
    fn one_message_in_ctr(
        seed: u64, key_bytes in any_key_bytes(), counter in any_counter(), length in any_length(),
        offset in 0..64_usize,
    ) {
        let mut random = Bytes(seed);
        let (key, data) = (random.take(key_bytes), random.take(length));
        ctr_agrees::<Aes>(&key, &counter, &data, offset);
    }

    #[test]
    fn ccm_agrees(
        seed: u64, key_bytes in any_key_bytes(), nonce_bytes in 7..=13_usize, tag_bytes in any_tag_bytes(),
        aad_bytes in any_length(), length in any_length(), offset in 0..64_usize,
    ) {
        let mut random = Bytes(seed);
        let (key, nonce, aad) = (random.take(key_bytes), random.take(nonce_bytes), random.take(aad_bytes));
        let data = random.take(length);
        compare_ccm(&key, &nonce, &aad, &data, tag_bytes, offset);
    }

    #[test]
    fn damaged_ccm_is_refused_and_wiped(
        seed: u64, key_bytes in any_key_bytes(), nonce_bytes in 7..=13_usize, tag_bytes in any_tag_bytes(),
        aad_bytes in any_length(), length in any_length(),
    ) {
        let mut random = Bytes(seed);
        let (key, mut nonce) = (random.take(key_bytes), random.take(nonce_bytes));
        let (mut aad, mut data) = (random.take(aad_bytes), random.take(length));
        let mut tag = vec![0; tag_bytes];
        ccm::encrypt(&aes(Backend::Reference, &key), &nonce, &aad, &mut data, &mut tag).unwrap();
        let parts = [&mut nonce[..], &mut aad, &mut data, &mut tag];
        let mut parts: Vec<&mut [u8]> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let part = random.below(parts.len());
        let byte = random.below(parts[part].len());
        parts[part][byte] ^= 1 << random.below(8);
        for backend in backends() {
            let mut opened = data.clone();
            let result = ccm::decrypt(&aes(backend, &key), &nonce, &aad, &mut opened, &tag);
            prop_assert_eq!(result, Err(Error::Authentication), "{}", backend.name());
            prop_assert!(opened.iter().all(|byte| *byte == 0), "{}", backend.name());
        }
    }
}

/// Encrypts on the reference, then holds every other backend against it in both directions.
fn compare_ccm(key: &[u8], nonce: &[u8], aad: &[u8], data: &[u8], tag_bytes: usize, offset: usize) {
    let mut expected = data.to_vec();
    let mut expected_tag = vec![0; tag_bytes];
    ccm::encrypt(&aes(Backend::Reference, key), nonce, aad, &mut expected, &mut expected_tag).unwrap();
    for backend in backends() {
        let what = format!(
            "key {}, nonce {}, tag {tag_bytes}, associated data {}, message {} bytes on {}",
            key.len(),
            nonce.len(),
            aad.len(),
            data.len(),
            backend.name()
        );
        let aes = aes(backend, key);
        let mut placed_aad = Placed::new(aad, offset / 2);
        let mut placed = Placed::new(data, offset);
        let mut tag = vec![0; tag_bytes];
        ccm::encrypt(&aes, nonce, placed_aad.bytes(), placed.bytes(), &mut tag).unwrap();
        let sealed = placed.finish();
        assert!(sealed == expected, "{what}: ciphertext");
        assert_eq!(tag, expected_tag, "{what}: tag");

        let mut placed = Placed::new(&sealed, offset);
        assert_eq!(ccm::decrypt(&aes, nonce, placed_aad.bytes(), placed.bytes(), &tag), Ok(()), "{what}");
        assert!(placed.finish() == data, "{what}: plaintext");
    }
}

#[test]
fn every_edge_length_agrees() {
    let mut random = Bytes(1);
    let key_sizes = if cfg!(miri) { &[32][..] } else { &[16, 24, 32] };
    for length in edges() {
        for &key_bytes in key_sizes {
            let (key, nonce) = (random.take(key_bytes), random.take(12));
            let (aad, data) = (random.take(20), random.take(length));
            compare_ccm(&key, &nonce, &aad, &data, 16, length);
            for counter in [u128::MAX, u128::from(u64::MAX), u128::from(u32::MAX) - 3] {
                ctr_agrees::<Aes>(&key, &counter.to_be_bytes(), &data, length);
            }
        }
    }
}

#[test]
fn every_associated_data_length_agrees() {
    let mut random = Bytes(2);
    let (key, nonce, data) = (random.take(16), random.take(13), random.take(40));
    // The length takes 2 bytes below 65,280 and 6 from there: 14 and 10 bytes fill the first block.
    let long = [65279, 65280, 65281, 65289, 65290, 65291, 65535, 65536, 70000];
    let lengths: Vec<usize> = if cfg!(miri) { vec![0, 1, 14, 15, 31] } else { (0..70).chain(long).collect() };
    for aad_bytes in lengths {
        let aad = random.take(aad_bytes);
        compare_ccm(&key, &nonce, &aad, &data, 8, aad_bytes);
    }
}

#[test]
fn every_nonce_and_tag_length_agrees() {
    let mut random = Bytes(3);
    for nonce_bytes in (7..=13).step_by(if cfg!(miri) { 6 } else { 1 }) {
        for tag_bytes in (4..=16).step_by(if cfg!(miri) { 12 } else { 2 }) {
            let (key, nonce) = (random.take(32), random.take(nonce_bytes));
            let (aad, data) = (random.take(tag_bytes), random.take(if cfg!(miri) { 18 } else { 1000 + nonce_bytes }));
            compare_ccm(&key, &nonce, &aad, &data, tag_bytes, 1);
        }
    }
}

/// With a nonce of 13 bytes the message may have 65,535 bytes, and its counter uses the last of its two bytes.
#[test]
fn the_longest_message_of_a_long_nonce_agrees() {
    if cfg!(miri) {
        return;
    }
    let mut random = Bytes(4);
    let (key, nonce, data) = (random.take(16), random.take(13), random.take(65535));
    compare_ccm(&key, &nonce, b"", &data, 16, 0);
}
