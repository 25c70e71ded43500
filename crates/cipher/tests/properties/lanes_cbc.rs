//! CBC encryption of many messages in lanes is what the reference gives one message at a time.

use proptest::prelude::*;
use tress_cipher::Backend;
use tress_cipher::lanes::cbc::{Job, encrypt};
use tress_cipher::modes::cbc;

use crate::common::{Bytes, aes, backends, carve, cases};

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn lanes_agree_with_one_at_a_time(
        seed: u64, keys in 1..6_usize, shape in prop::collection::vec((0..=80_usize, 0..64_usize, 0..8_u8), 0..=100),
    ) {
        let backends = backends();
        let mut random = Bytes(seed);
        let keys: Vec<Vec<u8>> = (0..keys).map(|i| random.take([16, 24, 32][i % 3])).collect();
        let shape = if cfg!(miri) { &shape[..shape.len().min(4)] } else { &shape[..] };
        // One in eight jobs is long, so that lanes end and are refilled at different times.
        let jobs: Vec<(usize, usize)> = shape.iter()
            .map(|&(blocks, gap, long)| (gap, 16 * if long == 0 && !cfg!(miri) { 12 * blocks } else { blocks / 8 }))
            .collect();
        let ciphers: Vec<_> = jobs.iter()
            .map(|_| {
                let key = random.below(keys.len());
                (key, aes(backends[random.below(backends.len())], &keys[key]))
            })
            .collect();
        let ivs: Vec<Vec<u8>> = jobs.iter().map(|_| random.take(16)).collect();
        let mut buffer = random.take(jobs.iter().map(|(gap, length)| gap + length).sum());

        let mut expected = buffer.clone();
        for ((slice, (key, _)), iv) in carve(&mut expected, jobs.iter().copied()).into_iter().zip(&ciphers).zip(&ivs) {
            cbc::encrypt(&aes(Backend::Reference, &keys[*key]), iv, slice).unwrap();
        }
        let mut lanes: Vec<Job<'_>> = carve(&mut buffer, jobs.iter().copied()).into_iter().zip(&ciphers).zip(&ivs)
            .map(|((slice, (_, aes)), iv)| Job::new(aes, iv, slice).unwrap())
            .collect();
        encrypt(&mut lanes);
        drop(lanes);
        // Gaps included: nothing outside of the jobs was written.
        prop_assert!(buffer == expected);
    }
}
