//! Data that the host can compute too: the numbers of a linear congruential generator, and a sum of words.

/// x ← 1664525 x + 1013904223 modulo 2^32 ("Numerical Recipes", section 7.1).
#[derive(Clone)]
pub struct Numbers(pub u32);

impl Numbers {
    /// The next number.
    #[inline(always)]
    pub fn number(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Mixes in the upper bits, because the lower bits have short periods.
        self.0 ^ self.0 >> 16
    }
}

/// FNV-1a with words instead of bytes.
#[inline(never)]
pub fn sum(words: &[u32]) -> u32 {
    words.iter().fold(0x811c_9dc5, |sum: u32, word| (sum ^ word).wrapping_mul(0x0100_0193))
}
