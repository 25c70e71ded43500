//! Every backend, including the reference, against RustCrypto's `aes`, `cbc` and `ctr`. This finds mistakes that our reference shares
//! with our fast code. `tress-ccm` does the same for CCM.

use cipher::array::Array;
use cipher::consts::U16;
use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit, StreamCipher,
};
use proptest::prelude::*;
use tress_cipher::aes::Aes;
use tress_cipher::modes;

use crate::properties::common::{SeededBytes, aes, any_counter, any_key_bytes, any_length, backends, cases};

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
}
