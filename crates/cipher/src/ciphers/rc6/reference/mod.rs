//! RC6-w/r/b as in the paper, line by line, for words of w = 32 bits, any number of rounds r and any key of b bytes.
//! R. L. Rivest, M. J. B. Robshaw, R. Sidney, Y. L. Yin, "The RC6 Block Cipher", version 1.1, 20 August 1998.
//!
//! It is slow, for tests and study only. Every other backend is tested against it. The names are those of the paper: S is the table of
//! round keys; A, B, C and D are the four words of a block; lg w is 5.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::keys::{ROUNDS, RoundKeys, WORDS};
use crate::ciphers::reference::ReferenceKeys;
use crate::{Block, Error};

/// Odd((e − 2) 2^w) of section 2.2, where e is the base of the natural logarithm.
const P: u32 = 0xb7e1_5163;
/// Odd((φ − 1) 2^w) of section 2.2, where φ is the golden ratio.
const Q: u32 = 0x9e37_79b9;
/// lg w.
const LG_W: u32 = 5;
const MAX_KEY_BYTES: usize = 255;
const MAX_ROUNDS: usize = 255;

/// Rotates `a` to the left by the least significant lg w bits of `b`.
fn rotate_left(a: u32, b: u32) -> u32 {
    a.rotate_left(b & 31)
}

/// Rotates `a` to the right by the least significant lg w bits of `b`.
fn rotate_right(a: u32, b: u32) -> u32 {
    a.rotate_right(b & 31)
}

/// The key schedule of section 2.2 for `s.len()` = 2r + 4 words. `key` must have 0 to 255 bytes.
fn expand(key: &[u8], s: &mut [u32]) {
    // The key as c little-endian words, padded with zeros. For an empty key, the paper sets L[0] = 0.
    let mut l = [0_u32; MAX_KEY_BYTES.div_ceil(4)];
    for (i, byte) in key.iter().enumerate() {
        l[i / 4] |= u32::from(*byte) << (8 * (i % 4));
    }
    let c = key.len().div_ceil(4).max(1);

    s[0] = P;
    for i in 1..s.len() {
        s[i] = s[i - 1].wrapping_add(Q);
    }
    let (mut a, mut b, mut i, mut j) = (0_u32, 0_u32, 0, 0);
    let v = 3 * c.max(s.len());
    for _ in 1..=v {
        s[i] = rotate_left(s[i].wrapping_add(a).wrapping_add(b), 3);
        a = s[i];
        l[j] = rotate_left(l[j].wrapping_add(a).wrapping_add(b), a.wrapping_add(b));
        b = l[j];
        i = (i + 1) % s.len();
        j = (j + 1) % c;
    }
    l.zeroize();
}

/// Converts a block to the words A, B, C and D, which are little-endian (section 2).
fn to_words(block: &Block) -> [u32; 4] {
    let (words, _) = block.as_chunks::<4>();
    [words[0], words[1], words[2], words[3]].map(u32::from_le_bytes)
}

/// B (2B + 1), rotated left by lg w.
fn quadratic(b: u32) -> u32 {
    rotate_left(b.wrapping_mul(b.wrapping_mul(2).wrapping_add(1)), LG_W)
}

/// Encryption of section 2.3 with the 2r + 4 words of `s`.
fn encrypt_block(s: &[u32], block: &mut Block) {
    let r = s.len() / 2 - 2;
    let [mut a, mut b, mut c, mut d] = to_words(block);
    b = b.wrapping_add(s[0]);
    d = d.wrapping_add(s[1]);
    for i in 1..=r {
        let t = quadratic(b);
        let u = quadratic(d);
        a = rotate_left(a ^ t, u).wrapping_add(s[2 * i]);
        c = rotate_left(c ^ u, t).wrapping_add(s[2 * i + 1]);
        (a, b, c, d) = (b, c, d, a);
    }
    a = a.wrapping_add(s[2 * r + 2]);
    c = c.wrapping_add(s[2 * r + 3]);
    block.copy_from_slice([a, b, c, d].map(u32::to_le_bytes).as_flattened());
}

/// Decryption of section 2.3.
fn decrypt_block(s: &[u32], block: &mut Block) {
    let r = s.len() / 2 - 2;
    let [mut a, mut b, mut c, mut d] = to_words(block);
    c = c.wrapping_sub(s[2 * r + 3]);
    a = a.wrapping_sub(s[2 * r + 2]);
    for i in (1..=r).rev() {
        (a, b, c, d) = (d, a, b, c);
        let u = quadratic(d);
        let t = quadratic(b);
        c = rotate_right(c.wrapping_sub(s[2 * i + 1]), t) ^ u;
        a = rotate_right(a.wrapping_sub(s[2 * i]), u) ^ t;
    }
    d = d.wrapping_sub(s[1]);
    b = b.wrapping_sub(s[0]);
    block.copy_from_slice([a, b, c, d].map(u32::to_le_bytes).as_flattened());
}

/// RC6-32/r/b: any number of rounds and any key length, one block at a time, for study.
///
/// [`Rc6`](crate::rc6::Rc6) is the AES submission: RC6-32/20 with keys of 16, 24 or 32 bytes. Fewer than 20 rounds are for
/// cryptanalysis; attacks on reduced rounds are known.
///
/// ```
/// use tress_cipher::rc6::{General, Rc6};
///
/// let mut block = [1; 16];
/// General::new(&[7; 16], 20)?.encrypt_block(&mut block);
/// let mut same = [[1; 16]];
/// Rc6::new(&[7; 16])?.encrypt_blocks(&mut same);
/// assert_eq!(block, same[0]);
/// # Ok::<(), tress_cipher::Error>(())
/// ```
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct General {
    s: [u32; 2 * MAX_ROUNDS + 4],
    rounds: u8,
}

impl General {
    /// Prepares a key of 0 to 255 bytes.
    ///
    /// # Errors
    /// `KeyLength` for a longer key.
    pub fn new(key: &[u8], rounds: u8) -> Result<General, Error> {
        if key.len() > MAX_KEY_BYTES {
            return Err(Error::KeyLength);
        }
        let mut general = General { s: [0; 2 * MAX_ROUNDS + 4], rounds };
        expand(key, &mut general.s[..2 * usize::from(rounds) + 4]);
        Ok(general)
    }

    /// The number of rounds, r.
    pub fn rounds(&self) -> u8 {
        self.rounds
    }

    /// Encrypts a block in place.
    pub fn encrypt_block(&self, block: &mut Block) {
        encrypt_block(self.words(), block);
    }

    /// Decrypts a block in place.
    pub fn decrypt_block(&self, block: &mut Block) {
        decrypt_block(self.words(), block);
    }

    fn words(&self) -> &[u32] {
        &self.s[..2 * usize::from(self.rounds) + 4]
    }
}

/// Shows the number of rounds, never the key.
impl core::fmt::Debug for General {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "RC6-32/{} (reference)", self.rounds)
    }
}

impl ReferenceKeys for RoundKeys {
    type Block = Block;

    fn expand_key(key: &[u8]) -> Self {
        let mut keys = RoundKeys([0; WORDS]);
        expand(key, &mut keys.0);
        keys
    }

    fn rounds(&self) -> usize {
        ROUNDS
    }

    fn encrypt_block(&self, block: &mut Block) {
        encrypt_block(&self.0, block);
    }

    fn decrypt_block(&self, block: &mut Block) {
        decrypt_block(&self.0, block);
    }
}

/// The reference engine.
pub(super) type Reference = crate::ciphers::reference::Reference<RoundKeys>;
