//! Every value through every S-box: all 256 values at each byte of a block, in the first round, on every backend and in both
//! directions, against the reference. The tables of the reference are tested against their definitions in
//! `rijndael/reference/`, and against another implementation by the vectors `pipo/s-box-columns`.

use tress_cipher::catalogue::{CIPHERS, FromKey, WithCipher};
use tress_cipher::modes::ecb;
use tress_cipher::pipo::Pipo;
use tress_cipher::{Backend, CcmCipher};

use crate::properties::common::{PropertyCipher, backends_to_compare};

/// Encrypts and decrypts the blocks under a key of zeros. Its first round key is zeros too (except for the number of the round), so
/// the input of the first S-boxes is the block.
fn all_backends_agree<C: PropertyCipher>(blocks: &[u8]) {
    for &key_bytes in C::KEY_BYTES {
        let key = vec![0; key_bytes];
        for direction in [ecb::encrypt::<C>, ecb::decrypt::<C>] {
            let mut expected = blocks.to_vec();
            direction(&C::prepare(Backend::Reference, &key), &mut expected).unwrap();
            for backend in backends_to_compare::<C>() {
                let mut data = blocks.to_vec();
                direction(&C::prepare(backend, &key), &mut data).unwrap();
                let wrong = data.chunks(C::BLOCK_BYTES).zip(expected.chunks(C::BLOCK_BYTES)).position(|(a, b)| a != b);
                let what = format!("block {}, key {key_bytes}, {}", C::BLOCK_BYTES, backend.name());
                assert_eq!(wrong, None, "{what}: the first block that is wrong");
            }
        }
    }
}

/// Blocks with every value in all bytes.
struct EveryByte;

impl WithCipher for EveryByte {
    type Output = ();

    fn block<C: FromKey>(self) {
        let values = if cfg!(miri) { 0..=1 } else { 0..=255_u8 };
        all_backends_agree::<C>(&values.flat_map(|value| vec![value; C::BLOCK_BYTES]).collect::<Vec<u8>>());
    }

    fn ccm<C: FromKey + CcmCipher>(self) {
        self.block::<C>();
    }
}

#[test]
fn every_byte_of_every_cipher() {
    CIPHERS.chunk_by(|a, b| a.of == b.of).for_each(|of_type| of_type[0].with(EveryByte));
}

/// Column j of block v has the value v + 37 j.
#[test]
fn every_column_of_pipo() {
    let mut blocks = Vec::new();
    for value in if cfg!(miri) { 0..=1 } else { 0..=255_u8 } {
        let columns: [u8; 8] = std::array::from_fn(|column| value.wrapping_add((37 * column) as u8));
        blocks.extend((0..8).map(|row| (0..8).fold(0, |out, column| out | (columns[column] >> row & 1) << column)));
    }
    all_backends_agree::<Pipo>(&blocks);
}
