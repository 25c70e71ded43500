//! ECB, CBC, CTR and CCM of one message: every backend gives the result of the reference, at every length and alignment.

use tress_cipher::modes::ccm::{self, Lengths, Opener, Sealer};
use tress_cipher::{Aad, Backend, CcmCipher, Error, Tag};

use crate::properties::block_modes;
use crate::properties::common::{GuardedBuffer, PropertyCipher, SeededBytes, backends, edges};

/// Defines the properties of this file for a cipher.
macro_rules! modes {
    ($cipher:ty) => {
        proptest::proptest! {
            #![proptest_config($crate::properties::common::cases(96))]

            #[test]
            fn block_modes_agree(
                seed: u64, key_bytes in $crate::properties::common::any_key_bytes::<$cipher>(), length in $crate::properties::common::any_length(),
                offset in 0..64_usize, ones in 0..=16_usize,
            ) {
                $crate::properties::block_modes::one_message_agrees::<$cipher>(seed, key_bytes, length, offset, ones);
            }

            #[test]
            fn ccm_agrees(
                seed: u64, key_bytes in $crate::properties::common::any_key_bytes::<$cipher>(), nonce_bytes in 7..=13_usize,
                tag_bytes in $crate::properties::common::any_tag_bytes(), aad_bytes in $crate::properties::common::any_length(),
                length in $crate::properties::common::any_length(), offset in 0..64_usize,
            ) {
                $crate::properties::modes::ccm_agrees::<$cipher>(
                    seed, key_bytes, nonce_bytes, tag_bytes, aad_bytes, length, offset,
                );
            }

            #[test]
            fn damaged_ccm_is_refused_and_wiped(
                seed: u64, key_bytes in $crate::properties::common::any_key_bytes::<$cipher>(), nonce_bytes in 7..=13_usize,
                tag_bytes in $crate::properties::common::any_tag_bytes(), aad_bytes in $crate::properties::common::any_length(),
                length in $crate::properties::common::any_length(),
            ) {
                $crate::properties::modes::damaged_ccm_is_refused_and_wiped::<$cipher>(
                    seed, key_bytes, nonce_bytes, tag_bytes, aad_bytes, length,
                );
            }
        }

        $crate::properties::common::tests! {
            modes, $cipher: every_edge_length_agrees every_associated_data_length_agrees
            every_nonce_and_tag_length_agrees the_longest_message_of_a_long_nonce_agrees
        }
    };
}

pub(crate) use modes;

pub(crate) fn ccm_agrees<C: PropertyCipher + CcmCipher>(
    seed: u64,
    key_bytes: usize,
    nonce_bytes: usize,
    tag_bytes: usize,
    aad_bytes: usize,
    length: usize,
    offset: usize,
) {
    let mut random = SeededBytes::new(seed);
    let (key, nonce, aad) = (random.take(key_bytes), random.take(nonce_bytes), random.take(aad_bytes));
    let data = random.take(length);
    compare_ccm::<C>(&key, &nonce, &aad, &data, tag_bytes, offset);
}

pub(crate) fn damaged_ccm_is_refused_and_wiped<C: PropertyCipher + CcmCipher>(
    seed: u64,
    key_bytes: usize,
    nonce_bytes: usize,
    tag_bytes: usize,
    aad_bytes: usize,
    length: usize,
) {
    let mut random = SeededBytes::new(seed);
    let (key, mut nonce) = (random.take(key_bytes), random.take(nonce_bytes));
    let (mut aad, mut data) = (random.take(aad_bytes), random.take(length));
    let mut tag = vec![0; tag_bytes];
    ccm::seal(&C::prepare(Backend::Reference, &key), &nonce[..], Aad(&aad), &mut data, &mut tag[..]).unwrap();
    let parts = [&mut nonce[..], &mut aad, &mut data, &mut tag];
    let mut parts: Vec<&mut [u8]> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let part = random.below(parts.len());
    let byte = random.below(parts[part].len());
    parts[part][byte] ^= 1 << random.below(8);
    for backend in backends::<C>() {
        let mut opened = data.clone();
        let result = ccm::open(
            &C::prepare(backend, &key),
            &nonce[..],
            Aad(&aad),
            &mut opened,
            Tag::new(&tag, tag_bytes).unwrap(),
        );
        assert_eq!(result, Err(Error::Authentication), "{}", backend.name());
        assert!(opened.iter().all(|byte| *byte == 0), "{}", backend.name());
    }
}

/// Encrypts with the reference, then compares every backend with it in both directions.
fn compare_ccm<C: PropertyCipher + CcmCipher>(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: &[u8],
    tag_bytes: usize,
    offset: usize,
) {
    let mut expected = data.to_vec();
    let mut expected_tag = vec![0; tag_bytes];
    ccm::seal(&C::prepare(Backend::Reference, key), nonce, Aad(aad), &mut expected, &mut expected_tag[..]).unwrap();
    for backend in backends::<C>() {
        let what = format!(
            "key {}, nonce {}, tag {tag_bytes}, associated data {}, message {} bytes on {}",
            key.len(),
            nonce.len(),
            aad.len(),
            data.len(),
            backend.name()
        );
        let cipher = C::prepare(backend, key);
        let mut placed_aad = GuardedBuffer::new(aad, offset / 2);
        let mut placed = GuardedBuffer::new(data, offset);
        let mut tag = vec![0; tag_bytes];
        ccm::seal(&cipher, nonce, Aad(placed_aad.bytes()), placed.bytes(), &mut tag[..]).unwrap();
        let sealed = placed.finish();
        assert!(sealed == expected, "{what}: ciphertext");
        assert_eq!(tag, expected_tag, "{what}: tag");

        let mut placed = GuardedBuffer::new(&sealed, offset);
        let given = Tag::new(&tag, tag_bytes).unwrap();
        assert_eq!(ccm::open(&cipher, nonce, Aad(placed_aad.bytes()), placed.bytes(), given), Ok(()), "{what}");
        assert!(placed.finish() == data, "{what}: plaintext");
        in_pieces(&cipher, nonce, aad, data, (&sealed, &tag), offset + 1);
    }
}

/// Checks the message in pieces of `piece` bytes, in both directions, and with a wrong tag.
fn in_pieces<C: CcmCipher>(c: &C, nonce: &[u8], aad: &[u8], data: &[u8], (sealed, tag): (&[u8], &[u8]), piece: usize) {
    let lengths = Lengths { aad: aad.len() as u64, data: data.len() as u64, tag: tag.len() };
    let (mut bytes, mut own_tag) = (data.to_vec(), tag.to_vec());
    let mut sealer = Sealer::new(c, nonce, lengths).unwrap();
    aad.chunks(piece).for_each(|aad| sealer.aad(Aad(aad)).unwrap());
    bytes.chunks_mut(piece).for_each(|piece| sealer.update(piece).unwrap());
    sealer.finish(&mut own_tag[..]).unwrap();
    assert!((&bytes[..], &own_tag[..]) == (sealed, tag), "pieces of {piece}");
    for expected in [Ok(()), Err(Error::Authentication)] {
        let mut opener = Opener::new(c, nonce, lengths).unwrap();
        aad.chunks(piece).for_each(|aad| opener.aad(Aad(aad)).unwrap());
        bytes.chunks_mut(piece).for_each(|piece| opener.update_unverified(piece).unwrap());
        assert_eq!(opener.finish(Tag::new(&own_tag, tag.len()).unwrap()), expected);
        assert!(bytes == data, "pieces of {piece}");
        bytes.copy_from_slice(sealed);
        own_tag[0] ^= 1;
    }
}

pub(crate) fn every_edge_length_agrees<C: PropertyCipher + CcmCipher>() {
    let mut random = SeededBytes::new(1);
    let key_sizes = if cfg!(miri) { &C::KEY_BYTES[..1] } else { C::KEY_BYTES };
    for length in edges() {
        for &key_bytes in key_sizes {
            let (key, nonce) = (random.take(key_bytes), random.take(12));
            let (aad, data) = (random.take(20), random.take(length));
            compare_ccm::<C>(&key, &nonce, &aad, &data, 16, length);
            for counter in [u128::MAX, u128::from(u64::MAX), u128::from(u32::MAX) - 3] {
                block_modes::ctr_agrees::<C>(&key, &counter.to_be_bytes(), &data, length);
            }
        }
    }
}

pub(crate) fn every_associated_data_length_agrees<C: PropertyCipher + CcmCipher>() {
    let mut random = SeededBytes::new(2);
    let (key, nonce, data) = (random.take(16), random.take(13), random.take(40));
    // The encoded length has 2 bytes below 65,280 and 6 from there, so 14 or 10 bytes fill the first block.
    let long = [65279, 65280, 65281, 65289, 65290, 65291, 65535, 65536, 70000];
    let lengths: Vec<usize> = if cfg!(miri) { vec![0, 1, 14, 15, 31] } else { (0..70).chain(long).collect() };
    for aad_bytes in lengths {
        let aad = random.take(aad_bytes);
        compare_ccm::<C>(&key, &nonce, &aad, &data, 8, aad_bytes);
    }
}

pub(crate) fn every_nonce_and_tag_length_agrees<C: PropertyCipher + CcmCipher>() {
    let mut random = SeededBytes::new(3);
    for nonce_bytes in (7..=13).step_by(if cfg!(miri) { 6 } else { 1 }) {
        for tag_bytes in (4..=16).step_by(if cfg!(miri) { 12 } else { 2 }) {
            let (key, nonce) = (random.take(C::KEY_BYTES[C::KEY_BYTES.len() - 1]), random.take(nonce_bytes));
            let (aad, data) = (random.take(tag_bytes), random.take(if cfg!(miri) { 18 } else { 1000 + nonce_bytes }));
            compare_ccm::<C>(&key, &nonce, &aad, &data, tag_bytes, 1);
        }
    }
}

/// A message with a nonce of 13 bytes may have 65,535 bytes, for which the counter uses both of its bytes.
pub(crate) fn the_longest_message_of_a_long_nonce_agrees<C: PropertyCipher + CcmCipher>() {
    if cfg!(miri) {
        return;
    }
    let mut random = SeededBytes::new(4);
    let (key, nonce, data) = (random.take(16), random.take(13), random.take(65535));
    compare_ccm::<C>(&key, &nonce, b"", &data, 16, 0);
}
