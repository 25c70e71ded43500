//! Every backend, including the reference, against RustCrypto's `aes`, `cbc`, `ctr` and `ccm`. This finds mistakes that our
//! reference shares with our fast code.

use aead::inout::InOutBuf;
use ccm::consts::{U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16};
use ccm::{AeadInOut, KeyInit};
use cipher::array::Array;
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyIvInit, StreamCipher};
use proptest::prelude::*;
use tress_cipher::aes::Aes;
use tress_cipher::{Aad, modes};

use crate::properties::common::{
    SeededBytes, aes, any_counter, any_key_bytes, any_length, any_tag_bytes, backends, cases,
};

/// Calls a generic function with RustCrypto's cipher for the key's length.
macro_rules! with_cipher {
    ($key:expr, $function:ident::<_ $(, $more:ty)*>($($argument:expr),*)) => {
        match $key.len() {
            16 => $function::<aes::Aes128 $(, $more)*>($($argument),*),
            24 => $function::<aes::Aes192 $(, $more)*>($($argument),*),
            32 => $function::<aes::Aes256 $(, $more)*>($($argument),*),
            _ => unreachable!("not a key length of AES"),
        }
    };
}

trait PeerCipher: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + cipher::BlockSizeUser<BlockSize = U16> {}

impl<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + cipher::BlockSizeUser<BlockSize = U16>> PeerCipher for C {}

fn blocks(data: &mut [u8]) -> &mut [Array<u8, U16>] {
    let (blocks, rest) = Array::slice_as_chunks_mut(data);
    assert!(rest.is_empty());
    blocks
}

fn peer_ecb<C: PeerCipher>(key: &[u8], encrypts: bool, data: &mut [u8]) {
    let cipher = C::new_from_slice(key).expect("a key of this cipher");
    if encrypts { cipher.encrypt_blocks(blocks(data)) } else { cipher.decrypt_blocks(blocks(data)) }
}

fn peer_cbc<C: PeerCipher>(key: &[u8], iv: &[u8], encrypts: bool, data: &mut [u8]) {
    let cipher = C::new_from_slice(key).expect("a key of this cipher");
    let iv = Array::try_from(iv).expect("an IV of one block");
    if encrypts {
        <cbc::Encryptor<C> as cipher::InnerIvInit>::inner_iv_init(cipher, &iv).encrypt_blocks(blocks(data));
    } else {
        <cbc::Decryptor<C> as cipher::InnerIvInit>::inner_iv_init(cipher, &iv).decrypt_blocks(blocks(data));
    }
}

fn peer_ctr(key: &[u8], counter: &[u8], data: &mut [u8]) {
    match key.len() {
        16 => ctr::Ctr128BE::<aes::Aes128>::new_from_slices(key, counter).unwrap().apply_keystream(data),
        24 => ctr::Ctr128BE::<aes::Aes192>::new_from_slices(key, counter).unwrap().apply_keystream(data),
        _ => ctr::Ctr128BE::<aes::Aes256>::new_from_slices(key, counter).unwrap().apply_keystream(data),
    }
}

/// Encrypts in place and returns the tag.
fn peer_ccm<C: PeerCipher, M, N>(key: &[u8], nonce: &[u8], aad: &[u8], data: &mut [u8]) -> Vec<u8>
where
    M: cipher::array::ArraySize + ccm::TagSize,
    N: cipher::array::ArraySize + ccm::NonceSize,
{
    let cipher = ccm::Ccm::<C, M, N>::new_from_slice(key).expect("a key of this cipher");
    let nonce = Array::try_from(nonce).expect("a nonce of this length");
    cipher.encrypt_inout_detached(&nonce, aad, InOutBuf::from(data)).expect("a message of this length").to_vec()
}

/// RustCrypto's lengths are types. These are tags of 4 to 16 bytes with the longest nonce, and nonces of 7 to 13 with the longest tag.
fn peer_ccm_of(key: &[u8], nonce: &[u8], tag_bytes: usize, aad: &[u8], data: &mut [u8]) -> Vec<u8> {
    macro_rules! run {
        ($tag:ty, $nonce:ty) => {
            with_cipher!(key, peer_ccm::<_, $tag, $nonce>(key, nonce, aad, data))
        };
    }
    match (tag_bytes, nonce.len()) {
        (16, 7) => run!(U16, U7),
        (16, 8) => run!(U16, U8),
        (16, 9) => run!(U16, U9),
        (16, 10) => run!(U16, U10),
        (16, 11) => run!(U16, U11),
        (16, 12) => run!(U16, U12),
        (16, 13) => run!(U16, U13),
        (4, 13) => run!(U4, U13),
        (6, 13) => run!(U6, U13),
        (8, 13) => run!(U8, U13),
        (10, 13) => run!(U10, U13),
        (12, 13) => run!(U12, U13),
        (14, 13) => run!(U14, U13),
        other => unreachable!("tag and nonce of {other:?} bytes"),
    }
}

fn any_tag_and_nonce() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![(Just(16_usize), 7..=13_usize), (any_tag_bytes(), Just(13_usize))]
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn ecb_and_cbc_agree_with_rustcrypto(
        seed: u64, key_bytes in any_key_bytes::<Aes>(), length in any_length(), encrypts: bool,
    ) {
        let mut random = SeededBytes::new(seed);
        let (key, iv) = (random.take(key_bytes), random.take(16));
        let data = random.take(length / 16 * 16);
        let (mut ecb, mut cbc) = (data.clone(), data.clone());
        with_cipher!(key, peer_ecb::<_>(&key, encrypts, &mut ecb));
        with_cipher!(key, peer_cbc::<_>(&key, &iv, encrypts, &mut cbc));
        for backend in backends::<Aes>() {
            let aes = aes(backend, &key);
            let (mut our_ecb, mut our_cbc) = (data.clone(), data.clone());
            if encrypts {
                modes::ecb::encrypt(&aes, &mut our_ecb).unwrap();
                modes::cbc::encrypt(&aes, &iv, &mut our_cbc).unwrap();
            } else {
                modes::ecb::decrypt(&aes, &mut our_ecb).unwrap();
                modes::cbc::decrypt(&aes, &iv, &mut our_cbc).unwrap();
            }
            prop_assert_eq!(&our_ecb, &ecb, "ECB on {}", backend.name());
            prop_assert_eq!(&our_cbc, &cbc, "CBC on {}", backend.name());
        }
    }

    #[test]
    fn ctr_agrees_with_rustcrypto(
        seed: u64, key_bytes in any_key_bytes::<Aes>(), counter in any_counter(), length in any_length(),
    ) {
        let mut random = SeededBytes::new(seed);
        let (key, data) = (random.take(key_bytes), random.take(length));
        let mut expected = data.clone();
        peer_ctr(&key, &counter, &mut expected);
        for backend in backends::<Aes>() {
            let mut ours = data.clone();
            modes::ctr::apply(&aes(backend, &key), &counter, &mut ours).unwrap();
            prop_assert_eq!(&ours, &expected, "{}", backend.name());
        }
    }

    #[test]
    fn ccm_agrees_with_rustcrypto(
        seed: u64, key_bytes in any_key_bytes::<Aes>(), tag_and_nonce in any_tag_and_nonce(), aad_bytes in any_length(),
        length in any_length(),
    ) {
        let (tag_bytes, nonce_bytes) = tag_and_nonce;
        let mut random = SeededBytes::new(seed);
        let (key, nonce, aad) = (random.take(key_bytes), random.take(nonce_bytes), random.take(aad_bytes));
        let data = random.take(length);
        let mut expected = data.clone();
        let expected_tag = peer_ccm_of(&key, &nonce, tag_bytes, &aad, &mut expected);
        for backend in backends::<Aes>() {
            let (mut ours, mut tag) = (data.clone(), vec![0; tag_bytes]);
            modes::ccm::seal(&aes(backend, &key), &nonce[..], Aad(&aad), &mut ours, &mut tag[..]).unwrap();
            prop_assert_eq!((&ours, &tag), (&expected, &expected_tag), "{}", backend.name());
        }
    }
}
