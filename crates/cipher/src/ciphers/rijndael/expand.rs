//! The key schedule of all backends except the reference.

use super::shape::rounds;

/// SubWord of FIPS 197 section 5.2: the S-box on each byte of a word.
pub(super) trait SubWord {
    fn sub_word(&self, word: u32) -> u32;
}

/// KEYEXPANSION() (FIPS 197 section 5.2, algorithm 2) for blocks of `nb` words. Writes the words of all round keys to the beginning of
/// `w` and returns the number of rounds.
#[inline(always)]
pub(super) fn expand_key(s_box: &impl SubWord, nb: usize, key: &[u8], w: &mut [[u8; 4]]) -> usize {
    let nk = key.len() / 4;
    let rounds = rounds(nb, nk);
    w.as_flattened_mut()[..key.len()].copy_from_slice(key);
    let mut rcon = 1;
    let mut temp = u32::from_le_bytes(w[nk - 1]);
    for i in nk..nb * (rounds + 1) {
        if i % nk == 0 {
            // RotWord. The words are little-endian, so it is a rotation to the right.
            temp = s_box.sub_word(temp).rotate_right(8) ^ rcon;
            rcon = (rcon << 1) ^ ((rcon >> 7) * 0x11b);
        } else if nk > 6 && i % nk == 4 {
            temp = s_box.sub_word(temp);
        }
        temp ^= u32::from_le_bytes(w[i - nk]);
        w[i] = temp.to_le_bytes();
    }
    rounds
}
