//! Numbers that are secret.

use tress_modular::Limb;

use crate::memcheck::hide;

fn digits<L: Limb>(count: usize, seed: u64) -> Vec<L> {
    (0..count as u64)
        .map(|i| L::from_u64((i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(11) & (u64::MAX >> 1)))
        .collect()
}

pub(crate) fn secret<L: Limb>(count: usize, seed: u64) -> Vec<L> {
    let mut secret = digits(count, seed);
    hide(&mut secret);
    secret
}

/// An odd modulus with its highest bit set, two properties that are public. Its digits are not hidden here.
pub(crate) fn modulus<L: Limb>(count: usize) -> Vec<L> {
    let mut modulus = digits::<L>(count, 77);
    modulus[0] = modulus[0] | L::ONE;
    modulus[count - 1] = modulus[count - 1] | (L::ONE << (L::BITS - 1));
    modulus
}
