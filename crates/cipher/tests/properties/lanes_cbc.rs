//! CBC encryption of many messages in lanes is what the reference gives one message at a time.

use tress_cipher::Backend;
use tress_cipher::lanes::cbc::{Job, encrypt};
use tress_cipher::modes::cbc;

use crate::common::{Bytes, UnderTest, backends, carve};

/// The properties of this file for a cipher.
macro_rules! cbc_lanes {
    ($cipher:ty) => {
        proptest::proptest! {
            #![proptest_config($crate::common::cases(48))]

            #[test]
            fn cbc_lanes_agree_with_one_at_a_time(
                seed: u64,
                keys in 1..6_usize,
                shape in proptest::collection::vec((0..=80_usize, 0..64_usize, 0..8_u8), 0..=100),
            ) {
                $crate::lanes_cbc::lanes_agree_with_one_at_a_time::<$cipher>(seed, keys, &shape);
            }
        }
    };
}

pub(crate) use cbc_lanes;

/// `shape`: blocks, the gap before, and whether the job is long, of each.
pub(crate) fn lanes_agree_with_one_at_a_time<C: UnderTest>(seed: u64, keys: usize, shape: &[(usize, usize, u8)]) {
    let backends = backends::<C>();
    let mut random = Bytes(seed);
    let keys: Vec<Vec<u8>> = (0..keys).map(|i| random.take([16, 24, 32][i % 3])).collect();
    let shape = if cfg!(miri) { &shape[..shape.len().min(4)] } else { shape };
    // One in eight jobs is long, so that lanes end and are refilled at different times.
    let jobs: Vec<(usize, usize)> = shape
        .iter()
        .map(|&(blocks, gap, long)| (gap, 16 * if long == 0 && !cfg!(miri) { 12 * blocks } else { blocks / 8 }))
        .collect();
    let ciphers: Vec<_> = jobs
        .iter()
        .map(|_| {
            let key = random.below(keys.len());
            (key, C::prepare(backends[random.below(backends.len())], &keys[key]))
        })
        .collect();
    let ivs: Vec<Vec<u8>> = jobs.iter().map(|_| random.take(16)).collect();
    let mut buffer = random.take(jobs.iter().map(|(gap, length)| gap + length).sum());

    let mut expected = buffer.clone();
    for ((slice, (key, _)), iv) in carve(&mut expected, jobs.iter().copied()).into_iter().zip(&ciphers).zip(&ivs) {
        cbc::encrypt(&C::prepare(Backend::Reference, &keys[*key]), iv, slice).unwrap();
    }
    let mut lanes: Vec<Job<'_, C>> = carve(&mut buffer, jobs.iter().copied())
        .into_iter()
        .zip(&ciphers)
        .zip(&ivs)
        .map(|((slice, (_, cipher)), iv)| Job::new(cipher, iv, slice).unwrap())
        .collect();
    encrypt(&mut lanes);
    drop(lanes);
    // Gaps included: nothing outside of the jobs was written.
    assert!(buffer == expected);
}
