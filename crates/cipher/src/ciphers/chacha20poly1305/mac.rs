//! Poly1305 (RFC 8439, section 2.5) in the lanes of registers, two rows of blocks at a time.
//!
//! Every lane multiplies by the power of r that a whole group needs, and after the last group by the power for the place of its block
//! (Goll and Gueron, "Vectorization of Poly1305 Message Authentication Code", 2015). The blocks after the last group are hashed one by one.
//!
//! Numbers modulo 2^130 − 5 have three limbs of 44 bits here. 2^132 is 20, so the product of limbs i and j belongs to limb i + j, or 20
//! times to limb i + j − 3.

mod avx2;
mod ifma;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{BLOCK_BYTES, Block, cpu};

/// Most blocks of a kernel's group, and their bytes. All kernels hash whole groups of this size.
const MAX_BLOCKS: usize = 16;
const GROUP_BYTES: usize = MAX_BLOCKS * BLOCK_BYTES;
const LIMB_BITS: u32 = 44;
const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;
/// 2^128 in the highest limb, which every block has.
const MARK: u64 = 1 << (128 - 2 * LIMB_BITS);

/// A number modulo 2^130 − 5. Limbs 0 and 1 are less than 2^44, and limb 2 is at most 2^44.
type Number = [u64; 3];
/// The limbs of r^(2L) to r^1, with L lanes in a row, in the order that the blocks of a row have in a register.
type Powers = [[u64; MAX_BLOCKS]; 3];

/// What hashes groups.
#[derive(Clone, Copy)]
pub(super) enum Kernel {
    /// Rows of four lanes.
    Avx2(cpu::Avx2),
    /// Rows of eight lanes.
    Ifma(cpu::Ifma),
}

impl Kernel {
    /// The kernels of this machine, the fastest first.
    pub(super) fn all() -> impl Iterator<Item = Kernel> {
        [cpu::Ifma::detect().map(Kernel::Ifma), cpu::Avx2::detect().map(Kernel::Avx2)].into_iter().flatten()
    }
}

/// A message's key and state, which are wiped on drop.
#[derive(ZeroizeOnDrop)]
pub(super) struct Poly1305 {
    powers: Powers,
    has_powers: bool,
    hash: Number,
    r: Number,
    s: u128,
    #[zeroize(skip)]
    kernel: Kernel,
}

impl Poly1305 {
    pub(super) fn new(key: &[u8; 32], kernel: Kernel) -> Self {
        let [r, s] = [&key[..16], &key[16..]].map(|half| u128::from_le_bytes(half.try_into().expect("16 bytes")));
        let r = limbs(r & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff);
        Poly1305 { powers: [[0; MAX_BLOCKS]; 3], has_powers: false, hash: [0; 3], r, s, kernel }
    }

    /// Hashes data, padded with zeros to whole blocks.
    pub(super) fn update_padded(&mut self, data: &[u8]) {
        let (groups, rest) = data.as_chunks();
        if !groups.is_empty() {
            self.make_powers();
            // SAFETY: the token in `kernel`.
            unsafe {
                match self.kernel {
                    Kernel::Avx2(_) => avx2::hash_groups(&self.powers, &mut self.hash, groups),
                    Kernel::Ifma(_) => ifma::hash_groups(&self.powers, &mut self.hash, groups),
                }
            }
        }
        let (whole, last) = rest.as_chunks();
        let mut padded = [0; BLOCK_BYTES];
        padded[..last.len()].copy_from_slice(last);
        let last = Some(&padded).filter(|_| !last.is_empty());
        whole.iter().chain(last).for_each(|block| {
            let block = limbs(u128::from_le_bytes(*block));
            let sum = [self.hash[0] + block[0], self.hash[1] + block[1], self.hash[2] + block[2] + MARK];
            self.hash = multiply(&sum, &self.r);
        });
    }

    fn make_powers(&mut self) {
        let lanes = match self.kernel {
            _ if self.has_powers => return,
            Kernel::Avx2(_) => avx2::LANES,
            Kernel::Ifma(_) => ifma::LANES,
        };
        let mut power = self.r;
        for block in (0..2 * lanes).rev() {
            for (limbs, limb) in self.powers.iter_mut().zip(power) {
                // Rows are read in halves, which are interleaved.
                let (row, block) = (block / lanes, block % lanes);
                limbs[row * lanes + block % (lanes / 2) * 2 + block / (lanes / 2)] = limb;
            }
            power = multiply(&power, &self.r);
        }
        power.zeroize();
        self.has_powers = true;
    }

    pub(super) fn finalize(&self) -> Block {
        // The number is high 2^128 + low; after its bits from 2^130 on were added 5 times below, it is less than 2^130 + 2^7.
        let [a, b, c] = self.hash.map(u128::from);
        let (low, carry) = (a + (b << LIMB_BITS)).overflowing_add(c << (2 * LIMB_BITS));
        let high = (c >> (128 - 2 * LIMB_BITS)) + u128::from(carry);
        let (low, carry) = low.overflowing_add(5 * (high >> 2));
        let high = (high & 3) + u128::from(carry);
        // Subtracts 2^130 - 5 if that is not more than the number.
        let (reduced, carry) = low.overflowing_add(5);
        let is_more = (high + u128::from(carry)) >> 2;
        let mask = is_more.wrapping_neg();
        (low & !mask | reduced & mask).wrapping_add(self.s).to_le_bytes()
    }
}

fn limbs(number: u128) -> Number {
    [number as u64 & LIMB_MASK, (number >> LIMB_BITS) as u64 & LIMB_MASK, (number >> (2 * LIMB_BITS)) as u64]
}

/// The product, for limbs of `a` below 2^50 and a number `b`.
fn multiply(a: &Number, b: &Number) -> Number {
    let product = |i: usize, factor: u64| u128::from(a[i]) * u128::from(factor);
    let [by1, by2] = [20 * b[1], 20 * b[2]];
    carry([
        product(0, b[0]) + product(1, by2) + product(2, by1),
        product(0, b[1]) + product(1, b[0]) + product(2, by2),
        product(0, b[2]) + product(1, b[1]) + product(2, b[0]),
    ])
}

/// The number with these limbs, which are below 2^102.
fn carry([a, mut b, mut c]: [u128; 3]) -> Number {
    b += a >> LIMB_BITS;
    c += b >> LIMB_BITS;
    let a = (a as u64 & LIMB_MASK) + 20 * (c >> LIMB_BITS) as u64;
    let b = (b as u64 & LIMB_MASK) + (a >> LIMB_BITS);
    [a & LIMB_MASK, b & LIMB_MASK, (c as u64 & LIMB_MASK) + (b >> LIMB_BITS)]
}

#[cfg(test)]
mod tests {
    use poly1305::universal_hash::{KeyInit, UniversalHash};

    use super::*;

    /// Compares with the crate, in one piece and in two.
    fn judge(key: &[u8; 32], data: &[u8]) {
        let mut judge = poly1305::Poly1305::new(key.into());
        judge.update_padded(data);
        let right: Block = judge.finalize().into();
        for (kernel, cut) in Kernel::all().flat_map(|kernel| [(kernel, 0), (kernel, data.len() / 32 * BLOCK_BYTES)]) {
            let mut mac = Poly1305::new(key, kernel);
            mac.update_padded(&data[..cut]);
            mac.update_padded(&data[cut..]);
            assert_eq!(mac.finalize(), right, "key {key:x?}, {} bytes, cut at {cut}", data.len());
        }
    }

    #[test]
    fn random_data_of_every_length() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut bytes = [0; 4200];
        for length in 0..=bytes.len() {
            let mut key = [0; 32];
            random.fill(&mut key);
            random.fill(&mut bytes[..length]);
            judge(&key, &bytes[..length]);
        }
    }

    #[test]
    fn longest_carries() {
        // 2^88 − 1 + 2^132.
        assert_eq!(carry([LIMB_MASK.into(), LIMB_MASK.into(), 1 << LIMB_BITS]), [19, 0, 1]);
        for r in [0, 1, 2, 3, 4, 5, u128::MAX, u128::MAX << 100, u128::MAX >> 100, 1 << 88, 1 << 44] {
            for s in [0, 1, u128::MAX] {
                let key = [r.to_le_bytes(), s.to_le_bytes()].concat().try_into().unwrap();
                for byte in [0, 1, 0x80, 0xf0, 0xfe, 0xff] {
                    for length in [16, 255, 256, 257, 512, 528, 768, 1024, 2048] {
                        judge(&key, &[byte; 2048][..length]);
                    }
                }
                // If r is 1, the hash of 16 blocks is their sum and 16 · 2^128, which is 20. So the hashes of these end next to 2^130 − 5.
                for last in (0_u128..64).map(|less| u128::MAX - less) {
                    for place in 0..16 {
                        let mut group = [[0; BLOCK_BYTES]; 16];
                        (1..4).for_each(|i| group[(place + i) % 16] = [0xff; BLOCK_BYTES]);
                        group[place] = last.to_le_bytes();
                        judge(&key, group.as_flattened());
                        judge(&key, [group; 2].as_flattened().as_flattened());
                    }
                }
            }
        }
    }
}
