//! PIPO as in the paper, line by line: eight rows, the formulas of the S-layer in the paper's order, one block at a time.
//!
//! It is slow, for tests and study only. Every other backend is tested against it. Source: Kim et al., "PIPO: A Lightweight
//! Block Cipher with Efficient Higher-Order Masking Software Implementations", ICISC 2020.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::layers::Block;
use crate::ciphers::reference::ReferenceKeys;

/// Largest number of rounds, that of a key of 256 bits.
const MAX_ROUNDS: usize = 17;

/// The number of bits by which the R-layer rotates each row to the left.
const ROTATIONS: [u32; 8] = [0, 7, 4, 3, 6, 5, 1, 2];

/// The round keys of one key, each as eight rows.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RoundKeys {
    round_keys: [Block; MAX_ROUNDS + 1],
    rounds: usize,
}

/// The key schedule: the key's 64-bit words, cyclically, each XORed with the number of its round. `key` must have 16 or 32 bytes.
fn expand_key(key: &[u8]) -> RoundKeys {
    let rounds = if key.len() == 16 { 13 } else { 17 };
    let mut keys = RoundKeys { round_keys: [[0; 8]; MAX_ROUNDS + 1], rounds };
    for round in 0..=rounds {
        let word = round % (key.len() / 8);
        keys.round_keys[round].copy_from_slice(&key[8 * word..][..8]);
        keys.round_keys[round][0] ^= round as u8;
    }
    keys
}

fn add_round_key(rows: &mut Block, round_key: &Block) {
    for (row, key) in rows.iter_mut().zip(round_key) {
        *row ^= key;
    }
}

/// The first five-bit S-box, on rows 3 to 7.
fn s5_first([x3, x4, x5, x6, x7]: [u8; 5]) -> [u8; 5] {
    let a5 = x5 ^ (x7 & x6);
    let a4 = x4 ^ (x3 & a5);
    let a7 = x7 ^ a4;
    let a6 = x6 ^ x3;
    let a3 = x3 ^ (a4 | a5);
    let b5 = a5 ^ a7;
    let b4 = a4 ^ (b5 & a6);
    [a3, b4, b5, a6, a7]
}

fn inverse_s5_first([a3, b4, b5, a6, a7]: [u8; 5]) -> [u8; 5] {
    let a4 = b4 ^ (b5 & a6);
    let a5 = b5 ^ a7;
    let x3 = a3 ^ (a4 | a5);
    let x6 = a6 ^ x3;
    let x7 = a7 ^ a4;
    let x4 = a4 ^ (x3 & a5);
    let x5 = a5 ^ (x7 & x6);
    [x3, x4, x5, x6, x7]
}

/// The three-bit S-box, on rows 0 to 2.
fn s3([x0, x1, x2]: [u8; 3]) -> [u8; 3] {
    let a2 = x2 ^ (x1 & x0);
    let a0 = x0 ^ (a2 | x1);
    let a1 = x1 ^ (a2 | a0);
    [a0, a1, !a2]
}

fn inverse_s3([a0, a1, b2]: [u8; 3]) -> [u8; 3] {
    let a2 = !b2;
    let x1 = a1 ^ (a2 | a0);
    let x0 = a0 ^ (a2 | x1);
    let x2 = a2 ^ (x1 & x0);
    [x0, x1, x2]
}

/// The part of the second five-bit S-box that is added to rows 0 to 2: t0, t1 and t2.
fn bridge(b5: u8, c3: u8, c4: u8, c6: u8, c7: u8) -> [u8; 3] {
    let t0 = c7 ^ c6;
    let t1 = c3 ^ b5;
    [t0, t1, c4 ^ (t1 & t0)]
}

/// The S-layer: the 8-bit S-box on each of the eight columns. The three rows are added to the five, and those back to the three.
fn s_layer(x: &mut Block) {
    let [a3, b4, b5, a6, a7] = s5_first([x[3], x[4], x[5], x[6], x[7]]);
    let [a0, a1, b2] = s3([x[0], x[1], x[2]]);
    let (c7, c3, c4) = (a7 ^ a1, a3 ^ b2, b4 ^ a0);
    let c6 = a6 ^ (c7 & b5);
    let [t0, t1, t2] = bridge(b5, c3, c4, c6, c7);
    let d6 = c6 ^ (c4 | c3);
    let d5 = b5 ^ (d6 | c4);
    *x = [c7, a0 ^ t1, b2 ^ t0, d6, d5, c4, c3, a1 ^ t2];
}

fn inverse_s_layer(y: &mut Block) {
    let [c7, y1, y2, d6, d5, c4, c3, y7] = *y;
    let b5 = d5 ^ (d6 | c4);
    let c6 = d6 ^ (c4 | c3);
    let [t0, t1, t2] = bridge(b5, c3, c4, c6, c7);
    let a6 = c6 ^ (c7 & b5);
    let [a0, a1, b2] = [y1 ^ t1, y7 ^ t2, y2 ^ t0];
    let [x3, x4, x5, x6, x7] = inverse_s5_first([c3 ^ b2, c4 ^ a0, b5, a6, c7 ^ a1]);
    let [x0, x1, x2] = inverse_s3([a0, a1, b2]);
    *y = [x0, x1, x2, x3, x4, x5, x6, x7];
}

/// The R-layer.
fn r_layer(rows: &mut Block) {
    for (row, left) in rows.iter_mut().zip(ROTATIONS) {
        *row = row.rotate_left(left);
    }
}

fn inverse_r_layer(rows: &mut Block) {
    for (row, left) in rows.iter_mut().zip(ROTATIONS) {
        *row = row.rotate_right(left);
    }
}

fn encrypt_block(keys: &RoundKeys, rows: &mut Block) {
    add_round_key(rows, &keys.round_keys[0]);
    for round in 1..=keys.rounds {
        s_layer(rows);
        r_layer(rows);
        add_round_key(rows, &keys.round_keys[round]);
    }
}

fn decrypt_block(keys: &RoundKeys, rows: &mut Block) {
    for round in (1..=keys.rounds).rev() {
        add_round_key(rows, &keys.round_keys[round]);
        inverse_r_layer(rows);
        inverse_s_layer(rows);
    }
    add_round_key(rows, &keys.round_keys[0]);
}

impl ReferenceKeys for RoundKeys {
    type Block = Block;

    fn expand_key(key: &[u8]) -> Self {
        expand_key(key)
    }

    fn rounds(&self) -> usize {
        self.rounds
    }

    fn encrypt_block(&self, block: &mut Block) {
        encrypt_block(self, block);
    }

    fn decrypt_block(&self, block: &mut Block) {
        decrypt_block(self, block);
    }
}

/// The reference engine.
pub(super) type Reference = crate::ciphers::reference::Reference<RoundKeys>;

#[cfg(test)]
mod tests {
    use super::*;

    /// A block from the number in the specification.
    fn number(number: u64) -> Block {
        number.to_le_bytes()
    }

    /// The paper's states at the start of rounds 1 and 2 of PIPO-64/128.
    #[test]
    fn first_states_are_the_papers() {
        let key = 0x6dc416dd_779428d2_7e1d20ad_2e152297_u128.to_le_bytes();
        let mut keys = expand_key(&key);
        for (rounds, state) in [(0, 0x7798725b_303222b1), (1, 0xc8890cfa_e4d98d6e)] {
            keys.rounds = rounds;
            let mut block = number(0x098552f6_1e270026);
            encrypt_block(&keys, &mut block);
            assert_eq!(block, number(state), "after {rounds} rounds");
        }
    }

    /// The paper's table of the S-box, first and eighth row.
    #[test]
    fn s_box_is_the_papers() {
        let s_box: std::vec::Vec<u8> = (0..=255_u8)
            .map(|value| {
                // Bit r of the value is row r; all columns are equal.
                let rows: Block = core::array::from_fn(|row| if value >> row & 1 == 1 { 0xff } else { 0 });
                let mut image = rows;
                s_layer(&mut image);
                let out = (0..8).fold(0, |out, row| out | (image[row] & 1) << row);
                assert!(image.iter().all(|row| matches!(row, 0 | 0xff)));
                inverse_s_layer(&mut image);
                assert_eq!(image, rows);
                out
            })
            .collect();
        assert_eq!(
            s_box[..16],
            [0x5e, 0xf9, 0xfc, 0x00, 0x3f, 0x85, 0xba, 0x5b, 0x18, 0x37, 0xb2, 0xc6, 0x71, 0xc3, 0x74, 0x9d]
        );
        assert_eq!(
            s_box[112..128],
            [0xb5, 0x9a, 0x1f, 0xf3, 0x44, 0xf6, 0x41, 0x30, 0x4c, 0x67, 0xee, 0x12, 0x21, 0x8b, 0xa8, 0xd5]
        );
    }
}
