//! PIPO: every backend gives the result of the reference, and the counter of 16 bits does not wrap.

use ccm::KeyInit;
use proptest::prelude::*;
use tress_cipher::Error;
use tress_cipher::modes::ctr;
use tress_cipher::pipo::{Pipo, Pipo128, Pipo256};

use crate::properties::block_modes::{ctr_agrees, ecb_and_cbc_agree};
use crate::properties::common::{PropertyCipher, SeededBytes, any_key_bytes, any_length, backends, cases, edges};

const KEY: [u8; 16] = [3; 16];

/// A counter block with enough values left for `length` bytes, often exactly enough.
fn counter(random: &mut SeededBytes, length: usize) -> [u8; 8] {
    let mut block = random.word().to_le_bytes();
    let most = (1 << 16) - length.div_ceil(8).max(1);
    let first = match random.below(3) {
        0 => most,
        1 => most - random.below(most.min(300)),
        _ => random.below(most + 1),
    };
    block[6..].copy_from_slice(&(first as u16).to_be_bytes());
    block
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn modes_agree(seed: u64, key_bytes in any_key_bytes::<Pipo>(), length in any_length(), offset in 0..64_usize) {
        let mut random = SeededBytes::new(seed);
        let (key, iv, data) = (random.take(key_bytes), random.take(8), random.take(length));
        ecb_and_cbc_agree::<Pipo>(&key, &iv, &data, offset);
        ctr_agrees::<Pipo>(&key, &counter(&mut random, length), &data, offset);
    }
}

crate::properties::lanes_cbc::cbc_lanes!(Pipo);

#[test]
fn every_edge_length_agrees() {
    let mut random = SeededBytes::new(11);
    for length in edges() {
        for &key_bytes in Pipo::KEY_BYTES {
            let (key, iv, data) = (random.take(key_bytes), random.take(8), random.take(length));
            ecb_and_cbc_agree::<Pipo>(&key, &iv, &data, length);
            for _ in 0..4 {
                ctr_agrees::<Pipo>(&key, &counter(&mut random, length), &data, length);
            }
        }
    }
}

/// Counters that start with every value of the low byte, and so with every carry into the high one.
#[test]
fn every_carry_agrees() {
    let mut random = SeededBytes::new(12);
    let (key, data) = (random.take(32), random.take(8 * 70));
    let step = if cfg!(miri) { 100 } else { 1 };
    for first in (0x2a00..0x2b00_u16).step_by(step) {
        let [high, low] = first.to_be_bytes();
        ctr_agrees::<Pipo>(&key, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, high, low], &data, 0);
    }
}

/// All blocks from a counter to the last one succeed; one byte more is an error.
#[test]
fn the_counter_ends_after_its_last_block() {
    let (last, mut data) = ([0xff; 8], [0; 9]);
    assert_eq!(ctr::apply(&Pipo128::new(&KEY.into()), &last, &mut data), Err(Error::CounterExhausted));
    assert_eq!(ctr::apply(&Pipo256::new(&[3; 32].into()), &last, &mut data), Err(Error::CounterExhausted));
    for backend in backends::<Pipo>() {
        let pipo = Pipo::prepare(backend, &KEY);
        for left in [0_usize, 1, 2, 63, 64, 65, 1000, 1 << 16].into_iter().filter(|left| !cfg!(miri) || *left < 3) {
            let Some(first) = (1_usize << 16).checked_sub(left).filter(|_| left > 0) else { continue };
            let mut block = [0x77; 8];
            block[6..].copy_from_slice(&(first as u16).to_be_bytes());
            for more in [1, 8, 9, 512] {
                let mut data = vec![5; 8 * left + more];
                assert_eq!(ctr::apply(&pipo, &block, &mut data), Err(Error::CounterExhausted));
                assert!(data.iter().all(|byte| *byte == 5), "something was written");
            }
            let mut data = vec![0; 8 * left];
            assert_eq!(ctr::apply(&pipo, &block, &mut data), Ok(()));
            // Data of zeros becomes the key stream: the encrypted counter blocks.
            let (blocks, []) = data.as_chunks_mut::<8>() else { unreachable!("whole blocks") };
            pipo.decrypt_blocks(blocks);
            for (i, counter) in blocks.iter().enumerate() {
                let [a, b] = ((first + i) as u16).to_be_bytes();
                assert_eq!(counter, &[0x77, 0x77, 0x77, 0x77, 0x77, 0x77, a, b], "on {}", backend.name());
            }
        }
    }
}
