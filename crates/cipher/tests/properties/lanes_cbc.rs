//! CBC encryption of many messages in lanes gives the result of the reference, one message at a time.

use crate::properties::block_modes::cbc_lanes_agree;
use crate::properties::common::PropertyCipher;

/// Defines the properties of this file for a cipher.
macro_rules! cbc_lanes {
    ($cipher:ty) => {
        proptest::proptest! {
            #![proptest_config($crate::properties::common::cases(48))]

            #[test]
            fn cbc_lanes_agree_with_one_at_a_time(
                seed: u64,
                keys in 1..6_usize,
                shape in proptest::collection::vec((0..=80_usize, 0..64_usize, 0..8_u8), 0..=100),
            ) {
                $crate::properties::lanes_cbc::lanes_agree_with_one_at_a_time::<$cipher>(seed, keys, &shape);
            }
        }
    };
}

pub(crate) use cbc_lanes;

/// `shape` is, for each job, the number of blocks, the gap before it, and 0 if the job is long. One job in eight is long, so that
/// lanes end and are refilled at different times.
pub(crate) fn lanes_agree_with_one_at_a_time<C: PropertyCipher>(seed: u64, keys: usize, shape: &[(usize, usize, u8)]) {
    let shape = if cfg!(miri) { &shape[..shape.len().min(4)] } else { shape };
    let blocks = |blocks, long| if long == 0 && !cfg!(miri) { 12 * blocks } else { blocks / 8 };
    let shape: Vec<(usize, usize)> = shape.iter().map(|&(count, gap, long)| (gap, blocks(count, long))).collect();
    cbc_lanes_agree::<C>(seed, keys, &shape);
}
