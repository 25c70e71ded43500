//! CBC encryption of many messages in lanes is what the reference gives one message at a time.

use proptest::prelude::*;
use tress_cipher::aes::Aes;

use crate::block_modes::{Keys, cbc_lanes_agree};
use crate::common::{Bytes, cases};

proptest! {
    #![proptest_config(cases(48))]

    /// One in eight jobs is long, so that lanes end and are refilled at different times.
    #[test]
    fn lanes_agree_with_one_at_a_time(
        seed: u64, keys in 1..6_usize, shape in prop::collection::vec((0..64_usize, 0..=80_usize, 0..8_u8), 0..=100),
        kind in prop::sample::select(&[
            Keys::Shared, Keys::Mixed { one_backend: true }, Keys::Mixed { one_backend: false },
        ][..]),
    ) {
        let shape = if cfg!(miri) { &shape[..shape.len().min(4)] } else { &shape[..] };
        let shape: Vec<(usize, usize)> = shape.iter()
            .map(|&(gap, blocks, long)| (gap, if long == 0 && !cfg!(miri) { 12 * blocks } else { blocks / 8 }))
            .collect();
        cbc_lanes_agree::<Aes>(&mut Bytes(seed), keys, &shape, kind);
    }
}
