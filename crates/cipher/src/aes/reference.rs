//! AES as FIPS 197 writes it, line by line.
//!
//! Slow, and its table look-ups depend on secrets: for tests and study only. Every other backend is tested against it.
//! The state is kept as the 16 bytes of the block: `state[row + 4 * column]` is FIPS 197's s[row, column].

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Block;
use crate::engine::{
    CcmEngine, CcmOperation, Engine, Meanwhile, Operation, scalar_ccm_vector, scalar_vector, xor_block,
};

use super::{Aes, Inner};

/// Rounds of AES-256, the largest.
const MAX_ROUNDS: usize = 14;

/// Multiplication by x in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197 section 4.2, equation 4.5).
const fn xtime(a: u8) -> u8 {
    (a << 1) ^ ((a >> 7) * 0x1b)
}

/// Multiplication in GF(2^8).
const fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = xtime(a);
        b >>= 1;
    }
    product
}

/// The S-box (section 5.1.1): the inverse in GF(2^8), with 0 to 0, then the affine transformation of equation 5.2.
const SBOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut a = 0;
    while a < 256 {
        // a^254 is the inverse of a.
        let mut inverse = 1;
        let mut i = 0;
        while i < 254 {
            inverse = multiply(inverse, a as u8);
            i += 1;
        }
        let b = inverse;
        table[a] = b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        a += 1;
    }
    table
};

/// The inverse S-box (section 5.3.2).
const INVERSE_SBOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut a = 0;
    while a < 256 {
        table[SBOX[a] as usize] = a as u8;
        a += 1;
    }
    table
};

/// The round keys: KEYEXPANSION() of section 5.2.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Keys {
    round_keys: [Block; MAX_ROUNDS + 1],
    rounds: usize,
}

/// KEYEXPANSION() (section 5.2, algorithm 2). `key` has 16, 24 or 32 bytes.
pub(crate) fn expand_key(key: &[u8]) -> Keys {
    let nk = key.len() / 4;
    let rounds = nk + 6;
    let mut w = [[0; 4]; 4 * (MAX_ROUNDS + 1)];
    for (word, bytes) in w.iter_mut().zip(key.chunks_exact(4)) {
        word.copy_from_slice(bytes);
    }
    let mut rcon = 1;
    for i in nk..4 * (rounds + 1) {
        let mut temp = w[i - 1];
        if i % nk == 0 {
            temp.rotate_left(1);
            temp = temp.map(|byte| SBOX[byte as usize]);
            temp[0] ^= rcon;
            rcon = xtime(rcon);
        } else if nk > 6 && i % nk == 4 {
            temp = temp.map(|byte| SBOX[byte as usize]);
        }
        let old = w[i - nk];
        w[i] = core::array::from_fn(|byte| old[byte] ^ temp[byte]);
    }
    let mut keys = Keys { round_keys: [[0; 16]; MAX_ROUNDS + 1], rounds };
    keys.round_keys.as_flattened_mut().copy_from_slice(w.as_flattened());
    w.zeroize();
    keys
}

/// ADDROUNDKEY() (section 5.1.4).
fn add_round_key(state: &mut Block, round_key: &Block) {
    xor_block(state, round_key);
}

/// SHIFTROWS() (section 5.1.2): row r moves left by r columns.
fn shift_rows(state: &mut Block) {
    let old = *state;
    for row in 0..4 {
        for column in 0..4 {
            state[row + 4 * column] = old[row + 4 * ((column + row) % 4)];
        }
    }
}

/// INVSHIFTROWS() (section 5.3.1).
fn inverse_shift_rows(state: &mut Block) {
    let old = *state;
    for row in 0..4 {
        for column in 0..4 {
            state[row + 4 * ((column + row) % 4)] = old[row + 4 * column];
        }
    }
}

/// MIXCOLUMNS() (section 5.1.3) and INVMIXCOLUMNS() (section 5.3.3): every column times the circulant matrix of
/// `coefficients`.
fn mix_columns(state: &mut Block, coefficients: [u8; 4]) {
    for column in state.chunks_exact_mut(4) {
        let old = [column[0], column[1], column[2], column[3]];
        for (row, byte) in column.iter_mut().enumerate() {
            *byte = (0..4).fold(0, |sum, i| sum ^ multiply(old[i], coefficients[(4 + i - row) % 4]));
        }
    }
}

/// CIPHER() (section 5.1, algorithm 1).
pub(crate) fn encrypt_block(keys: &Keys, state: &mut Block) {
    add_round_key(state, &keys.round_keys[0]);
    for round in 1..=keys.rounds {
        *state = state.map(|byte| SBOX[byte as usize]);
        shift_rows(state);
        if round < keys.rounds {
            mix_columns(state, [2, 3, 1, 1]);
        }
        add_round_key(state, &keys.round_keys[round]);
    }
}

/// INVCIPHER() (section 5.3, algorithm 3).
pub(crate) fn decrypt_block(keys: &Keys, state: &mut Block) {
    add_round_key(state, &keys.round_keys[keys.rounds]);
    for round in (0..keys.rounds).rev() {
        inverse_shift_rows(state);
        *state = state.map(|byte| INVERSE_SBOX[byte as usize]);
        add_round_key(state, &keys.round_keys[round]);
        if round > 0 {
            mix_columns(state, [14, 11, 13, 9]);
        }
    }
}

/// One block a vector.
#[derive(Clone, Copy)]
pub(crate) struct Reference;

impl Engine for Reference {
    type Cipher = Aes;
    type Block = Block;
    type Vector = [Block; 1];
    const SLOTS: usize = 1;
    type Keys = Keys;
    type LaneKeys = Option<Keys>;

    scalar_vector!();

    fn keys_of(cipher: &Aes) -> Option<&Keys> {
        match &cipher.inner {
            Inner::Reference(keys) => Some(keys),
            _ => None,
        }
    }

    fn rounds(keys: &Keys) -> usize {
        keys.rounds
    }

    fn run<O: Operation<Aes>>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Keys,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    ) {
        (1..10).for_each(|round| meanwhile.round(round));
        for block in x.as_flattened_mut().as_flattened_mut() {
            encrypt_block(keys, block);
        }
    }

    fn decrypt<const G: usize>(self, keys: &Keys, x: &mut [Self::Vector; G]) {
        for block in x.as_flattened_mut() {
            decrypt_block(keys, block);
        }
    }

    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &Self::LaneKeys,
        _: usize,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    ) {
        let Some(keys) = keys else { return };
        self.encrypt(keys, x, meanwhile);
    }

    fn lane_keys(self) -> Self::LaneKeys {
        None
    }

    fn set_lane_key(self, lane_keys: &mut Self::LaneKeys, _: usize, keys: &Keys) {
        *lane_keys = Some(keys.clone());
    }

    fn encrypt_block(self, keys: &Keys, block: &mut Block) {
        encrypt_block(keys, block);
    }
}

impl CcmEngine for Reference {
    fn run_ccm<O: CcmOperation<Aes>>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    scalar_ccm_vector!();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197 table 4, first and last row.
    #[test]
    fn sbox_is_the_standards() {
        assert_eq!(
            SBOX[..16],
            [0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76]
        );
        assert_eq!(
            SBOX[240..],
            [0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16]
        );
    }
}
