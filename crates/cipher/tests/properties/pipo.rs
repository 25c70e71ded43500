//! PIPO: every backend does what the reference does, and the counter of 16 bits ends where it has to.

use proptest::prelude::*;
use tress_cipher::modes::{cbc, ctr, ecb};
use tress_cipher::pipo::Pipo;
use tress_cipher::{Error, lanes};

use crate::properties::block_modes::{Keys, cbc_lanes_agree, ctr_agrees, ecb_and_cbc_agree};
use crate::properties::common::{Bytes, UnderTest, any_key_bytes, any_length, backends, cases, edges};

const KEY: [u8; 16] = [3; 16];

/// A counter block that has values left for so many bytes: often only just.
fn counter(random: &mut Bytes, length: usize) -> [u8; 8] {
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
    fn one_message(seed: u64, key_bytes in any_key_bytes::<Pipo>(), length in any_length(), offset in 0..64_usize) {
        let mut random = Bytes(seed);
        let (key, iv, data) = (random.take(key_bytes), random.take(8), random.take(length));
        ecb_and_cbc_agree::<Pipo>(&key, &iv, &data, offset);
        ctr_agrees::<Pipo>(&key, &counter(&mut random, length), &data, offset);
    }

}

proptest! {
    #![proptest_config(cases(24))]

    /// One in eight jobs is long, so that lanes end and are refilled at different times.
    #[test]
    fn lanes_agree_with_one_at_a_time(
        seed: u64, keys in 1..6_usize, shape in prop::collection::vec((0..64_usize, 0..=80_usize, 0..8_u8), 0..=200),
        kind in prop::sample::select(&[
            Keys::Shared, Keys::Mixed { one_backend: true }, Keys::Mixed { one_backend: false },
        ][..]),
    ) {
        let shape = if cfg!(miri) { &shape[..shape.len().min(4)] } else { &shape[..] };
        let shape: Vec<(usize, usize)> = shape.iter()
            .map(|&(gap, blocks, long)| (gap, if long == 0 && !cfg!(miri) { 12 * blocks } else { blocks / 8 }))
            .collect();
        cbc_lanes_agree::<Pipo>(&mut Bytes(seed), keys, &shape, kind);
    }
}

#[test]
fn every_edge_length_agrees() {
    let mut random = Bytes(11);
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

/// Every value of the low byte at which a counter can start, and so every carry into the high one.
#[test]
fn every_carry_agrees() {
    let mut random = Bytes(12);
    let (key, data) = (random.take(32), random.take(8 * 70));
    let step = if cfg!(miri) { 100 } else { 1 };
    for first in (0x2a00..0x2b00_u16).step_by(step) {
        let [high, low] = first.to_be_bytes();
        ctr_agrees::<Pipo>(&key, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, high, low], &data, 0);
    }
}

/// All blocks that a nonce has; a byte more, from whichever counter, is one block too many.
#[test]
fn the_counter_ends_after_its_last_block() {
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
            // The key stream is the counter blocks, encrypted.
            let (blocks, []) = data.as_chunks_mut::<8>() else { unreachable!("whole blocks") };
            pipo.decrypt_blocks(blocks);
            for (i, counter) in blocks.iter().enumerate() {
                let [a, b] = ((first + i) as u16).to_be_bytes();
                assert_eq!(counter, &[0x77, 0x77, 0x77, 0x77, 0x77, 0x77, a, b], "on {}", backend.name());
            }
        }
    }
}

#[test]
fn lengths_that_do_not_exist() {
    for backend in backends::<Pipo>() {
        let pipo = Pipo::prepare(backend, &KEY);
        for length in (0..40).filter(|length| length % 8 != 0) {
            let mut data = vec![9; length];
            assert_eq!(ecb::encrypt(&pipo, &mut data), Err(Error::DataLength));
            assert_eq!(ecb::decrypt(&pipo, &mut data), Err(Error::DataLength));
            assert_eq!(cbc::encrypt(&pipo, &[0; 8], &mut data), Err(Error::DataLength));
            assert_eq!(cbc::decrypt(&pipo, &[0; 8], &mut data), Err(Error::DataLength));
            assert_eq!(lanes::cbc::Job::new(&pipo, &[0; 8], &mut data).err(), Some(Error::DataLength));
            assert_eq!(data, vec![9; length]);
        }
        for length in (0..40).filter(|length| *length != 8) {
            let (iv, mut data) = (vec![0; length], [9; 32]);
            assert_eq!(cbc::encrypt(&pipo, &iv, &mut data), Err(Error::IvLength));
            assert_eq!(cbc::decrypt(&pipo, &iv, &mut data), Err(Error::IvLength));
            assert_eq!(ctr::apply(&pipo, &iv, &mut data), Err(Error::IvLength));
            assert_eq!(lanes::cbc::Job::new(&pipo, &iv, &mut data).err(), Some(Error::IvLength));
            assert_eq!(data, [9; 32]);
        }
    }
}
