//! Rijndael with every block and key length.

use proptest::prelude::*;
use tress_cipher::rijndael::Rijndael;

use crate::properties::block_modes::{cbc_lanes_agree, one_message_agrees};
use crate::properties::common::{any_key_bytes, any_length, any_tag_bytes, cases, edges, for_every_block};
use crate::properties::modes::ccm_agrees;

const KEY_BYTES: &[usize] = Rijndael::<16>::KEY_BYTES;

crate::properties::lanes_ccm::ccm_lanes!(Rijndael<16>);

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn modes_agree_at_any_length(
        seed: u64, key_bytes in any_key_bytes::<Rijndael<16>>(), length in any_length(), offset in 0..64_usize, ones in 0..=32_usize,
    ) {
        for_every_block!(one_message_agrees(seed, key_bytes, length, offset, ones));
    }

    /// One message in eight is long, so that lanes end and are refilled at different times.
    #[test]
    fn lanes_agree_with_one_at_a_time(
        seed: u64, keys in 1..12_usize,
        shape in prop::collection::vec((0..64_usize, 0..40_usize), 1..=if cfg!(miri) { 4 } else { 80 }),
    ) {
        let blocks = |blocks: usize| if blocks.is_multiple_of(8) && !cfg!(miri) { 6 * blocks } else { blocks / 4 };
        let shape: Vec<_> = shape.iter().map(|&(gap, count)| (gap, blocks(count))).collect();
        for_every_block!(cbc_lanes_agree(seed, keys, &shape));
    }

    #[test]
    fn ccm_agrees_with_every_key_length(
        seed: u64, key_bytes in any_key_bytes::<Rijndael<16>>(), nonce_bytes in 7..=13_usize, tag_bytes in any_tag_bytes(),
        aad_bytes in 0..100_usize, length in any_length(), offset in 0..64_usize,
    ) {
        ccm_agrees::<Rijndael<16>>(seed, key_bytes, nonce_bytes, tag_bytes, aad_bytes, length, offset);
    }
}

/// Lengths of a block, a vector and a flight of each block length, each also minus and plus one byte and one block.
#[test]
fn modes_agree_at_every_edge() {
    let blocks = [1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 32, 33];
    for (index, length) in edges().enumerate() {
        for_every_block!(one_message_agrees(index as u64, KEY_BYTES[index % 5], length, length, 0));
    }
    for count in if cfg!(miri) { &blocks[..3] } else { &blocks[..] } {
        for unit in if cfg!(miri) { &KEY_BYTES[1..2] } else { KEY_BYTES } {
            for length in [count * unit - 1, count * unit, count * unit + 1] {
                let key_bytes = KEY_BYTES[(count + unit / 4) % 5];
                for_every_block!(one_message_agrees(length as u64, key_bytes, length, count + unit, 5));
            }
        }
    }
}

/// Counters just before the carry out of their last 2, 4, 8, 9 and more bytes.
#[test]
fn counters_carry() {
    for ones in [2, 4, 8, 9, 16, 20, 32] {
        for &key_bytes in if cfg!(miri) { &KEY_BYTES[..1] } else { KEY_BYTES } {
            let length = if cfg!(miri) { 40 } else { 1700 };
            for_every_block!(one_message_agrees(ones as u64, key_bytes, length, ones, ones));
        }
    }
}

/// As many messages as any backend has lanes, one less and one more.
#[test]
fn every_number_of_lanes_agrees() {
    let counts: &[usize] = if cfg!(miri) { &[2] } else { &[1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 33] };
    for &count in counts {
        for blocks in if cfg!(miri) { &[3][..] } else { &[1, 3, 4, 5, 8, 13] } {
            // The seed chooses the backend.
            for seed in 0..if cfg!(miri) { 1 } else { 8 } {
                for_every_block!(cbc_lanes_agree(seed, count, &vec![(16, *blocks); count]));
            }
        }
    }
}
