//! Pseudorandom numbers that simulated programs and this machine both generate, and the sum by which their outputs
//! are compared (riscv/firmware/programs/src/numbers.rs).

/// A linear congruential generator (Numerical Recipes), whose high bits are mixed into the low ones.
pub(super) struct NumberGenerator(u32);

impl NumberGenerator {
    pub(super) fn new() -> NumberGenerator {
        NumberGenerator(1)
    }

    /// The next `words` words, as bytes.
    pub(super) fn bytes(&mut self, words: usize) -> Vec<u8> {
        let next = |_| {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.0 ^ self.0 >> 16).to_le_bytes()
        };
        (0..words).flat_map(next).collect()
    }
}

/// FNV-1a with words instead of bytes.
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    words.fold(0x811c_9dc5, |sum: u32, word| (sum ^ word).wrapping_mul(0x0100_0193))
}
