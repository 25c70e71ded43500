//! Rijndael of every block and key length.

use proptest::prelude::*;
use tress_cipher::rijndael::Rijndael;
use tress_cipher::{Backend, Error};

use crate::any_cipher::{backends_of, cbc_lanes_agree, ccm_agrees, ccm_lanes_agree, modes_agree};
use crate::common::{Bytes, any_length, any_tag_bytes, cases, edges};

const KEY_BYTES: [usize; 5] = [16, 20, 24, 28, 32];

/// Calls a function for all five blocks, with what makes a key.
macro_rules! for_every_block {
    ($call:ident($($argument:expr),*)) => {
        for_every_block!(@ $call ($($argument),*) 16 20 24 28 32)
    };
    (@ $call:ident $arguments:tt $($bytes:literal)*) => {
        $(for_every_block!(@@ $call $bytes $arguments);)*
    };
    (@@ $call:ident $bytes:literal ($($argument:expr),*)) => {
        $call::<Rijndael<$bytes>>(|backend, key| Rijndael::with_backend(key, backend).unwrap(), $($argument),*)
    };
}

/// Backend by backend through [`modes_agree`], with bytes from a seed.
macro_rules! modes_of_every_block {
    ($seed:expr, $key_bytes:expr, $length:expr, $offset:expr, $ones:expr) => {
        modes_of_every_block!(@ ($seed, $key_bytes, $length, $offset, $ones) 16 20 24 28 32)
    };
    (@ $arguments:tt $($bytes:literal)*) => {
        $(modes_of_every_block!(@@ $bytes $arguments);)*
    };
    (@@ $bytes:literal ($seed:expr, $key_bytes:expr, $length:expr, $offset:expr, $ones:expr)) => {{
        let mut random = Bytes($seed + $bytes);
        let (key, mut iv, data) = (random.take($key_bytes), random.take($bytes), random.take($length));
        // A counter that soon carries far.
        let ones: usize = $ones;
        if ones > 0 {
            iv[$bytes - ones.min($bytes)..].fill(0xff);
            iv[$bytes - 1] = 0xff - random.below(40) as u8;
        }
        modes_agree::<Rijndael<$bytes>>(|backend, key| Rijndael::with_backend(key, backend).unwrap(), &key, &iv, &data,
            $offset);
    }};
}

fn any_key_bytes() -> impl Strategy<Value = usize> {
    prop::sample::select(KEY_BYTES.to_vec())
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn modes_agree_at_any_length(
        seed in 0..u64::MAX / 2, key_bytes in any_key_bytes(), length in any_length(), offset in 0..64_usize,
        ones in 0..=32_usize,
    ) {
        modes_of_every_block!(seed, key_bytes, length, offset, ones);
    }

    #[test]
    fn lanes_agree_with_one_at_a_time(
        seed: u64, keys in 1..12_usize, backend: usize,
        shape in prop::collection::vec((0..40_usize, 0..64_usize, 0..12_usize), 1..=if cfg!(miri) { 4 } else { 80 }),
    ) {
        let mut random = Bytes(seed);
        let keys: Vec<Vec<u8>> = (0..keys).map(|i| random.take(KEY_BYTES[(seed as usize % 5 + i) % 5])).collect();
        // One in eight messages is long, so that lanes end and are refilled at different times.
        let shape: Vec<_> = shape.iter()
            .map(|&(blocks, gap, key)| (if blocks % 8 == 0 && !cfg!(miri) { 6 * blocks } else { blocks / 4 }, gap, key))
            .collect();
        let backends = backends_of::<Rijndael<32>>();
        let backend = (backend % 4 != 0).then_some(backends[backend / 4 % backends.len()]);
        for_every_block!(cbc_lanes_agree(seed, &keys, &shape, backend));
    }

    #[test]
    fn ccm_agrees_with_every_key_length(
        seed: u64, key_bytes in any_key_bytes(), nonce_bytes in 7..=13_usize, tag_bytes in any_tag_bytes(),
        aad_bytes in 0..100_usize, length in any_length(), offset in 0..64_usize,
    ) {
        let mut random = Bytes(seed);
        let (key, nonce, aad) = (random.take(key_bytes), random.take(nonce_bytes), random.take(aad_bytes));
        let data = random.take(length);
        ccm_agrees::<Rijndael<16>>(|backend, key| Rijndael::with_backend(key, backend).unwrap(), &key, &nonce, &aad,
            &data, tag_bytes, offset);
    }
}

/// A block, a vector and a flight of each size, and one byte and one block less and more.
#[test]
fn modes_agree_at_every_edge() {
    let blocks = [1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 32, 33];
    for (index, length) in edges().enumerate() {
        modes_of_every_block!(index as u64, KEY_BYTES[index % 5], length, length, 0);
    }
    for count in if cfg!(miri) { &blocks[..3] } else { &blocks[..] } {
        for unit in if cfg!(miri) { &KEY_BYTES[1..2] } else { &KEY_BYTES[..] } {
            for length in [count * unit - 1, count * unit, count * unit + 1] {
                modes_of_every_block!(length as u64, KEY_BYTES[(count + unit / 4) % 5], length, count + unit, 5);
            }
        }
    }
}

/// Counters one before, at and behind the ends of their last two, four and eight bytes, and of the block.
#[test]
fn counters_carry() {
    for ones in [2, 4, 8, 9, 16, 20, 32] {
        for key_bytes in if cfg!(miri) { &KEY_BYTES[..1] } else { &KEY_BYTES[..] } {
            modes_of_every_block!(ones as u64, *key_bytes, if cfg!(miri) { 40 } else { 1700 }, ones, ones);
        }
    }
}

/// As many messages as there can be lanes, one less and one more, with one key and with keys of all lengths.
#[test]
fn every_number_of_lanes_agrees() {
    let mut random = Bytes(9);
    let keys: Vec<Vec<u8>> = (0..40).map(|i| random.take(KEY_BYTES[i % 5])).collect();
    let counts: &[usize] = if cfg!(miri) { &[2] } else { &[1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 33] };
    for backend in backends_of::<Rijndael<32>>() {
        for &count in counts {
            for blocks in if cfg!(miri) { &[3][..] } else { &[1, 3, 4, 5, 8, 13] } {
                let shape: Vec<_> = (0..count).map(|i| (*blocks, 16, i)).collect();
                for_every_block!(cbc_lanes_agree(count as u64, &keys[..1], &shape, Some(backend)));
                for_every_block!(cbc_lanes_agree(count as u64, &keys, &shape, Some(backend)));
                // One number of rounds for all.
                let same: Vec<Vec<u8>> = (0..count).map(|i| vec![i as u8; 28]).collect();
                for_every_block!(cbc_lanes_agree(count as u64, &same, &shape, Some(backend)));
            }
        }
    }
}

#[test]
fn ccm_lanes_take_keys_of_every_length() {
    let mut random = Bytes(10);
    let keys: Vec<Vec<u8>> = (0..15).map(|i| random.take(KEY_BYTES[i % 5])).collect();
    let lengths: Vec<usize> = if cfg!(miri) { vec![17, 0] } else { (0..70).map(|i| i * 37 % 1100).collect() };
    ccm_lanes_agree::<Rijndael<16>>(|backend, key| Rijndael::with_backend(key, backend).unwrap(), 11, &keys, &lengths);
}

#[test]
fn keys_of_other_lengths_are_refused() {
    for backend in backends_of::<Rijndael<24>>() {
        for length in (0..70).filter(|length| !KEY_BYTES.contains(length)) {
            assert_eq!(Rijndael::<24>::with_backend(&vec![0; length], backend).err(), Some(Error::KeyLength));
        }
    }
    assert_eq!(Rijndael::<20>::new(&[1; 20]).unwrap().key_bytes(), 20);
    let text = format!("{:?}", Rijndael::<20>::with_backend(&[1; 28], Backend::Portable).unwrap());
    assert_eq!(text, "Rijndael-160-224 (portable)");
}
