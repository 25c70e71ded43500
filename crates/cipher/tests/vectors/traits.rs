//! The same vectors through RustCrypto's traits: our modes as `aead`, and our block ciphers in RustCrypto's `ctr`, `cbc`
//! and `ccm`.

use aead::inout::InOutBuf;
use aead::{AeadInOut, KeyInit};
use cipher::array::{Array, ArraySize};
use cipher::consts::{U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16};
use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser, InnerIvInit,
    StreamCipher,
};
use tress_cipher::CcmCipher;
use tress_cipher::modes::ccm::Ccm;

use crate::vectors::file::{GroupKind, VectorTest};

pub(crate) trait TraitCipher: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt {}

impl<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt> TraitCipher for C {}

pub(crate) trait TraitCipher128: TraitCipher + BlockSizeUser<BlockSize = U16> + CcmCipher {}

impl<C: TraitCipher + BlockSizeUser<BlockSize = U16> + CcmCipher> TraitCipher128 for C {}

/// Runs a test. The traits do not select a backend: the fastest one runs. `C` must have the key length of the test.
pub(crate) fn run<C: TraitCipher128>(kind: GroupKind, test: &VectorTest, label: &str) {
    match kind {
        GroupKind::Ecb => ecb::<C>(test, label),
        GroupKind::Cbc => cbc::<C>(test, label),
        GroupKind::Ctr => ctr::<C>(test, label),
        GroupKind::Ccm => ccm::<C>(test, label),
        _ => {}
    }
}

/// Runs a test of a cipher with blocks of 64 bits.
pub(crate) fn run_64_bit_blocks<C: TraitCipher + BlockSizeUser<BlockSize = U8>>(
    kind: GroupKind,
    test: &VectorTest,
    label: &str,
) {
    match kind {
        GroupKind::Ecb => ecb::<C>(test, label),
        GroupKind::Cbc => cbc::<C>(test, label),
        GroupKind::Ctr => ctr64::<C>(test, label),
        kind => panic!("{label}: {kind:?} takes blocks of 128 bits"),
    }
}

fn cipher<C: TraitCipher>(test: &VectorTest) -> C {
    C::new_from_slice(&test.key).expect("a vector's key")
}

fn blocks<N: ArraySize>(data: &mut [u8]) -> &mut [Array<u8, N>] {
    let (blocks, rest) = Array::slice_as_chunks_mut(data);
    assert!(rest.is_empty());
    blocks
}

fn ecb<C: TraitCipher>(test: &VectorTest, label: &str) {
    let cipher = cipher::<C>(test);
    let mut data = test.message().to_vec();
    cipher.encrypt_blocks(blocks(&mut data));
    assert_eq!(data, test.ct, "{label}: encrypt");
    cipher.decrypt_blocks(blocks(&mut data));
    assert_eq!(data, test.message(), "{label}: decrypt");

    // From one buffer to another, with enough blocks to fill the widest batch and some more.
    let copies = if cfg!(miri) { 1 } else { 37 };
    let mut plain = test.message().repeat(copies);
    let mut sealed = vec![0; plain.len()];
    cipher.encrypt_blocks_b2b(blocks(&mut plain), blocks(&mut sealed)).expect("equal lengths");
    assert_eq!(sealed, test.ct.repeat(copies), "{label}: encrypt from one place to another");
    plain.fill(0);
    cipher.decrypt_blocks_b2b(blocks(&mut sealed), blocks(&mut plain)).expect("equal lengths");
    assert_eq!(plain, test.message().repeat(copies), "{label}: decrypt from one place to another");
}

fn cbc<C: TraitCipher>(test: &VectorTest, label: &str) {
    let iv = Array::try_from(&test.iv[..]).expect("an IV of one block");
    let mut data = test.message().to_vec();
    cbc::Encryptor::<C>::inner_iv_init(cipher(test), &iv).encrypt_blocks(blocks(&mut data));
    assert_eq!(data, test.ct, "{label}: encrypt");
    cbc::Decryptor::<C>::inner_iv_init(cipher(test), &iv).decrypt_blocks(blocks(&mut data));
    assert_eq!(data, test.message(), "{label}: decrypt");
}

fn ctr<C: TraitCipher128>(test: &VectorTest, label: &str) {
    let iv = Array::try_from(&test.iv[..]).expect("a counter of one block");
    let core = ctr::CtrCore::<C, ctr::flavors::Ctr128BE>::inner_iv_init(cipher(test), &iv);
    let mut data = test.message().to_vec();
    ctr::Ctr128BE::<C>::from_core(core).apply_keystream(&mut data);
    assert_eq!(data, test.ct, "{label}");
}

/// RustCrypto's counter has all eight bytes, so it agrees with ours while two bytes are enough.
fn ctr64<C: TraitCipher + BlockSizeUser<BlockSize = U8>>(test: &VectorTest, label: &str) {
    if !test.is_valid() {
        return;
    }
    let iv = Array::try_from(&test.iv[..]).expect("a counter of one block");
    let core = ctr::CtrCore::<C, ctr::flavors::Ctr64BE>::inner_iv_init(cipher(test), &iv);
    let mut data = test.message().to_vec();
    ctr::Ctr64BE::<C>::from_core(core).apply_keystream(&mut data);
    assert_eq!(data, test.ct, "{label}");
}

/// Lengths are types here. These are the lengths that many vectors use, and one unusual pair.
fn ccm<C: TraitCipher128>(test: &VectorTest, label: &str) {
    macro_rules! sizes {
        ($($tag_bytes:literal $nonce_bytes:literal $tag:ty, $nonce:ty;)*) => {
            match (test.tag.len(), test.iv.len()) {
                $(($tag_bytes, $nonce_bytes) => {
                    sized_ccm::<$tag, $nonce, _>(&Ccm::<C, $tag, $nonce>::from(cipher::<C>(test)), test, label);
                    sized_ccm::<$tag, $nonce, _>(&ccm::Ccm::<C, $tag, $nonce>::from(cipher::<C>(test)), test, label);
                })*
                _ => {}
            }
        };
    }
    sizes! {
        4 7 U4, U7; 16 7 U16, U7; 16 8 U16, U8; 16 9 U16, U9; 16 10 U16, U10; 16 11 U16, U11;
        4 12 U4, U12; 6 12 U6, U12; 8 12 U8, U12; 10 12 U10, U12; 12 12 U12, U12; 14 12 U14, U12; 16 12 U16, U12;
        4 13 U4, U13; 6 13 U6, U13; 8 13 U8, U13; 10 13 U10, U13; 12 13 U12, U13; 14 13 U14, U13; 16 13 U16, U13;
    }
}

fn sized_ccm<M: ArraySize, N: ArraySize, A: AeadInOut<TagSize = M, NonceSize = N>>(
    aead: &A,
    test: &VectorTest,
    label: &str,
) {
    let nonce = Array::try_from(&test.iv[..]).expect("a nonce of this size");
    let aad = test.associated_data();
    if let Some(msg) = &test.msg {
        let mut sealed = vec![0; msg.len()];
        let buffer = InOutBuf::new(msg, &mut sealed).expect("equal lengths");
        let tag = aead.encrypt_inout_detached(&nonce, &aad, buffer).expect(label);
        assert_eq!(sealed == test.ct && tag[..] == test.tag[..], test.is_valid(), "{label}: encrypt");
    }
    let tag = Array::try_from(&test.tag[..]).expect("a tag of this size");
    let mut opened = test.ct.clone();
    let result = aead.decrypt_inout_detached(&nonce, &aad, InOutBuf::from(&mut opened[..]), &tag);
    assert_eq!(result.is_ok(), test.is_valid(), "{label}: decrypt");
    if test.is_valid() {
        assert_eq!(opened, test.message(), "{label}: decrypt");
    }
}
