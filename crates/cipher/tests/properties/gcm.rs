use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{AeadInOut, KeyInit};
use proptest::prelude::*;
use tress_cipher::{Error, aes::Aes, modes::gcm::Gcm};

/// What crate `aes-gcm` makes: the ciphertext and the tag.
fn made_by_peer(key: &[u8], nonce: &[u8; 12], aad: &[u8], data: &[u8]) -> (Vec<u8>, [u8; 16]) {
    fn seal<A: AeadInOut + KeyInit>(key: &[u8], nonce: &[u8], aad: &[u8], data: &mut [u8]) -> Vec<u8> {
        let aead = A::new_from_slice(key).expect("a key length");
        aead.encrypt_inout_detached(nonce.try_into().expect("12 bytes"), aad, data.into()).expect("a length").to_vec()
    }
    let mut data = data.to_vec();
    let tag = match key.len() {
        16 => seal::<aes_gcm::Aes128Gcm>(key, nonce, aad, &mut data),
        24 => seal::<aes_gcm::AesGcm<aes::Aes192, U12>>(key, nonce, aad, &mut data),
        _ => seal::<aes_gcm::Aes256Gcm>(key, nonce, aad, &mut data),
    };
    (data, tag.try_into().expect("16 bytes"))
}

proptest! {
    #![proptest_config(super::common::cases(64))]

    #[test]
    fn gcm_is_that_of_a_peer(
        key in prop::sample::select(vec![16, 24, 32]).prop_flat_map(|n| prop::collection::vec(any::<u8>(), n)),
        nonce: [u8; 12],
        aad in prop::collection::vec(any::<u8>(), 0..600),
        mut data in prop_oneof![prop::collection::vec(any::<u8>(), 0..600), prop::collection::vec(any::<u8>(), 4000..9000)],
        forged in any::<prop::sample::Index>(),
    ) {
        let gcm = Gcm::new(Aes::new(&key).unwrap());
        let plain = data.clone();
        let mut tag = gcm.seal(&nonce, &aad, &mut data).unwrap();
        prop_assert_eq!(&(data.clone(), tag), &made_by_peer(&key, &nonce, &aad, &plain));
        let sealed = data.clone();
        gcm.open(&nonce, &aad, &mut data, &tag).unwrap();
        prop_assert_eq!(&data, &plain);
        data = sealed;
        let place = forged.index(data.len() + 16);
        *data.iter_mut().chain(&mut tag).nth(place).unwrap() ^= 1;
        prop_assert_eq!(gcm.open(&nonce, &aad, &mut data, &tag), Err(Error::Authentication));
        prop_assert!(data.iter().all(|&byte| byte == 0));
    }
}
