//! Rijndael as in FIPS 197, line by line, generalised to the proposal of 1999: blocks of `Nb` = 4 to 8 words (FIPS 197 fixes 4) and
//! keys of `Nk` = 4 to 8.
//!
//! For tests and study only: it is slow, and its table look-ups depend on secrets. Every other backend is tested against it.
//! The state is the bytes of the block: `state[row + 4 * column]` is FIPS 197's s[row, column].

use super::keys::RoundKeys;
use super::shape::rounds;
use crate::block::{BlockBytes, flat_mut};
use crate::ciphers::reference::ReferenceKeys;

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

/// The S-box (section 5.1.1): the inverse in GF(2^8), which maps 0 to 0, then the affine transformation of equation 5.2.
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

/// KEYEXPANSION() (section 5.2, algorithm 2).
fn expand_key<B: BlockBytes>(key: &[u8]) -> RoundKeys<B> {
    let (nb, nk) = (B::BYTES / 4, key.len() / 4);
    let rounds = rounds(nb, nk);
    let mut round_keys = RoundKeys::<B>::ZERO;
    let (w, _) = flat_mut(&mut round_keys).as_chunks_mut::<4>();
    for (word, bytes) in w.iter_mut().zip(key.chunks_exact(4)) {
        word.copy_from_slice(bytes);
    }
    let mut rcon = 1;
    for i in nk..nb * (rounds + 1) {
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
    RoundKeys::new(rounds, round_keys)
}

/// The number of columns by which ShiftRows moves each row (the proposal's table 2).
fn shifts(nb: usize) -> [usize; 4] {
    match nb {
        7 => [0, 1, 2, 4],
        8 => [0, 1, 3, 4],
        _ => [0, 1, 2, 3],
    }
}

/// ADDROUNDKEY() (section 5.1.4).
fn add_round_key<B: BlockBytes>(state: &mut B, keys: &RoundKeys<B>, round: usize) {
    for (byte, key) in state.as_mut().iter_mut().zip(keys.round_keys[round].as_ref()) {
        *byte ^= key;
    }
}

/// SUBBYTES() (section 5.1.1) and INVSUBBYTES() (section 5.3.2).
fn sub_bytes(state: &mut [u8], table: &[u8; 256]) {
    for byte in state {
        *byte = table[*byte as usize];
    }
}

/// SHIFTROWS() (section 5.1.2): each row moves left.
fn shift_rows<B: BlockBytes>(state: &mut B) {
    let (old, nb) = (*state, B::BYTES / 4);
    for (row, shift) in shifts(nb).into_iter().enumerate() {
        for column in 0..nb {
            state.as_mut()[row + 4 * column] = old.as_ref()[row + 4 * ((column + shift) % nb)];
        }
    }
}

/// INVSHIFTROWS() (section 5.3.1).
fn inverse_shift_rows<B: BlockBytes>(state: &mut B) {
    let (old, nb) = (*state, B::BYTES / 4);
    for (row, shift) in shifts(nb).into_iter().enumerate() {
        for column in 0..nb {
            state.as_mut()[row + 4 * ((column + shift) % nb)] = old.as_ref()[row + 4 * column];
        }
    }
}

/// MIXCOLUMNS() (section 5.1.3) and INVMIXCOLUMNS() (section 5.3.3): every column times the circulant matrix of
/// `coefficients`.
fn mix_columns(state: &mut [u8], coefficients: [u8; 4]) {
    for column in state.chunks_exact_mut(4) {
        let old = [column[0], column[1], column[2], column[3]];
        for (row, byte) in column.iter_mut().enumerate() {
            *byte = (0..4).fold(0, |sum, i| sum ^ multiply(old[i], coefficients[(4 + i - row) % 4]));
        }
    }
}

/// CIPHER() (section 5.1, algorithm 1).
fn encrypt_block<B: BlockBytes>(keys: &RoundKeys<B>, state: &mut B) {
    add_round_key(state, keys, 0);
    for round in 1..=keys.rounds() {
        sub_bytes(state.as_mut(), &SBOX);
        shift_rows(state);
        if round < keys.rounds() {
            mix_columns(state.as_mut(), [2, 3, 1, 1]);
        }
        add_round_key(state, keys, round);
    }
}

/// INVCIPHER() (section 5.3, algorithm 3).
fn decrypt_block<B: BlockBytes>(keys: &RoundKeys<B>, state: &mut B) {
    add_round_key(state, keys, keys.rounds());
    for round in (0..keys.rounds()).rev() {
        inverse_shift_rows(state);
        sub_bytes(state.as_mut(), &INVERSE_SBOX);
        add_round_key(state, keys, round);
        if round > 0 {
            mix_columns(state.as_mut(), [14, 11, 13, 9]);
        }
    }
}

impl<B: BlockBytes> ReferenceKeys for RoundKeys<B> {
    type Block = B;

    fn expand_key(key: &[u8]) -> Self {
        expand_key(key)
    }

    fn rounds(&self) -> usize {
        self.rounds()
    }

    fn encrypt_block(&self, block: &mut B) {
        encrypt_block(self, block);
    }

    fn decrypt_block(&self, block: &mut B) {
        decrypt_block(self, block);
    }
}

/// The reference engine.
pub(super) type Reference<B> = crate::ciphers::reference::Reference<RoundKeys<B>>;

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197 section 5.1.1 for all 256 values: a search for the inverse, then b_i + b_i+4 + ... + b_i+7 + c_i.
    #[test]
    fn sbox_is_the_inverse_and_the_affine_map() {
        for value in 0..=255 {
            let product = |a: u8, b: u8| {
                // The product of polynomials over GF(2), reduced modulo x^8 + x^4 + x^3 + x + 1.
                let product = (0..8).fold(0_u16, |sum, i| if b >> i & 1 == 1 { sum ^ u16::from(a) << i } else { sum });
                (8..16).rev().fold(product, |rest, i| if rest >> i & 1 == 1 { rest ^ 0x11b << (i - 8) } else { rest })
            };
            let inverse: u8 = (1..=255).find(|&other| product(value, other) == 1).unwrap_or(0);
            let bit =
                |i: usize| [0, 4, 5, 6, 7].iter().fold(0x63 >> i & 1, |sum, j| sum ^ inverse >> ((i + j) % 8) & 1);
            let image = (0..8).fold(0, |image, i| image | bit(i) << i);
            assert_eq!(SBOX[usize::from(value)], image, "{value:#x}");
        }
    }

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
