//! Inner parts of programs. Ciphers encrypt `from` and store the ciphertext in `to`.

use core::hint::black_box;

use tress_cipher::{Backend, aes::Aes, pipo::Pipo};

use super::Memory;
use crate::{numbers::sum, rc6 as rc6_of_submission, rijndael};

/// The key of every cipher: bytes 0 to 15.
const KEY: [u32; 4] = [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c];
const KEY_BYTES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Copies one kilobyte by the compiler's `memcpy`.
pub(super) fn memcpy(memory: &mut Memory) -> u32 {
    let from = black_box(&memory.from);
    memory.to.copy_from_slice(from);
    memory.to[255]
}

/// AES with tables, eight blocks one after the other.
pub(super) fn aes_tables(memory: &mut Memory) -> u32 {
    let mut keys = [[0; 4]; 11];
    rijndael::expand_key(&KEY, &mut keys);
    let (from, to) = (memory.from.as_chunks().0, memory.to.as_chunks_mut().0);
    for (block, out) in from.iter().zip(to).take(8) {
        rijndael::encrypt_block(&keys, block, out);
    }
    sum(&memory.to[..32])
}

/// RC6, eight blocks one after the other.
pub(super) fn rc6(memory: &mut Memory) -> u32 {
    let mut keys = [0; 44];
    rc6_of_submission::expand_key(&KEY, &mut keys);
    let (from, to) = (memory.from.as_chunks().0, memory.to.as_chunks_mut().0);
    for (block, out) in from.iter().zip(to).take(8) {
        rc6_of_submission::encrypt_block(&keys, block, out);
    }
    sum(&memory.to[..32])
}

/// AES, sixteen blocks side by side, by Tress' portable code.
pub(super) fn aes_bitsliced(memory: &mut Memory) -> u32 {
    let mut blocks = [[0; 16]; 16];
    read(&memory.from, blocks.as_flattened_mut());
    let Ok(cipher) = Aes::with_backend(&KEY_BYTES, Backend::Portable) else { return 0 };
    cipher.encrypt_blocks(&mut blocks);
    write(blocks.as_flattened(), &mut memory.to);
    sum(&memory.to[..64])
}

/// PIPO-64/128, 64 blocks side by side, by Tress' portable code.
pub(super) fn pipo(memory: &mut Memory) -> u32 {
    let mut blocks = [[0; 8]; 64];
    read(&memory.from, blocks.as_flattened_mut());
    let Ok(cipher) = Pipo::with_backend(&KEY_BYTES, Backend::Portable) else { return 0 };
    cipher.encrypt_blocks(&mut blocks);
    write(blocks.as_flattened(), &mut memory.to);
    sum(&memory.to[..128])
}

fn read(from: &[u32], to: &mut [u8]) {
    for (word, bytes) in from.iter().zip(to.as_chunks_mut().0) {
        *bytes = word.to_le_bytes();
    }
}

fn write(from: &[u8], to: &mut [u32]) {
    for (bytes, word) in from.as_chunks().0.iter().zip(to) {
        *word = u32::from_le_bytes(*bytes);
    }
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4 section 4.2.2). They
/// are the low bits of the largest integer r with r³ ≤ p 2^96.
static K: [u32; 64] = {
    let mut k = [0; 64];
    let (mut found, mut p) = (0, 2u128);
    while found < 64 {
        let (mut factor, mut is_prime) = (2, true);
        while factor * factor <= p {
            is_prime &= p % factor != 0;
            factor += 1;
        }
        if is_prime {
            k[found] = fraction_of_cube_root(p);
            found += 1;
        }
        p += 1;
    }
    k
};

const fn fraction_of_cube_root(p: u128) -> u32 {
    // r < 2^35 for p < 2^9, and r³ < 2^105.
    let (mut root, mut bit) = (0u128, 35);
    while bit > 0 {
        bit -= 1;
        let next = root | 1 << bit;
        if next * next * next <= p << 96 {
            root = next;
        }
    }
    root as u32
}

/// The first 32 bits of the fractional parts of the square roots of the first eight primes (section 5.3.3).
const H: [u32; 8] = {
    let primes = [2u128, 3, 5, 7, 11, 13, 17, 19];
    let (mut h, mut i) = ([0; 8], 0);
    while i < 8 {
        h[i] = (primes[i] << 64).isqrt() as u32;
        i += 1;
    }
    h
};

/// SHA-256 (FIPS 180-4 section 6.2) of four blocks, without padding: the state after them.
pub(super) fn sha_256(memory: &mut Memory) -> u32 {
    let mut h = H;
    for block in &memory.from.as_chunks::<16>().0[..4] {
        compress(&mut h, block);
    }
    memory.to[..8].copy_from_slice(&h);
    sum(&h)
}

#[inline(never)]
fn compress(h: &mut [u32; 8], block: &[u32; 16]) {
    let mut w = [0; 64];
    for t in 0..16 {
        w[t] = block[t].swap_bytes();
    }
    for t in 16..64 {
        let (x, y) = (w[t - 2], w[t - 15]);
        let small_1 = x.rotate_right(17) ^ x.rotate_right(19) ^ x >> 10;
        let small_0 = y.rotate_right(7) ^ y.rotate_right(18) ^ y >> 3;
        w[t] = w[t - 16].wrapping_add(small_0).wrapping_add(w[t - 7]).wrapping_add(small_1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut x] = *h;
    for t in 0..64 {
        let large_1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let t1 = x.wrapping_add(large_1).wrapping_add(choice).wrapping_add(K[t]).wrapping_add(w[t]);
        let large_0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = a & b ^ a & c ^ b & c;
        let t2 = large_0.wrapping_add(majority);
        (x, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
    }
    for (sum, word) in h.iter_mut().zip([a, b, c, d, e, f, g, x]) {
        *sum = sum.wrapping_add(word);
    }
}

/// Sorts 128 words by heapsort.
pub(super) fn sort(memory: &mut Memory) -> u32 {
    let words = &mut memory.to[..128];
    words.copy_from_slice(&memory.from[..128]);
    for root in (0..64).rev() {
        sift(words, root);
    }
    for last in (1..128).rev() {
        words.swap(0, last);
        sift(&mut words[..last], 0);
    }
    sum(words)
}

fn sift(heap: &mut [u32], mut root: usize) {
    loop {
        let mut child = 2 * root + 1;
        if child >= heap.len() {
            return;
        }
        if child + 1 < heap.len() && heap[child + 1] > heap[child] {
            child += 1;
        }
        if heap[root] >= heap[child] {
            return;
        }
        heap.swap(root, child);
        root = child;
    }
}
