//! What kernels work on: keys, states and data, filled with numbers that the host can make too.

/// Words of AES' tables, and of a key prepared for them: the largest key.
pub(crate) const TABLES: usize = 1024;
const TABLE_KEY: usize = 1 + 4 * 15;

/// Memory of a kernel.
#[repr(C, align(64))]
pub(crate) struct Memory {
    /// What is encrypted, in place but where a kernel wants another place.
    pub(crate) data: [u32; 256],
    /// Chains and counters; the first one's last byte is zero, so that counters begin with a multiple of 256.
    pub(crate) state: [u32; 32],
    /// The key.
    pub(crate) key: [u32; 8],
    /// The prepared key.
    pub(crate) prepared: [u32; TABLES + TABLE_KEY],
    /// What else is prepared or needed: nonces, keys side by side, pointers, room.
    pub(crate) room: [u32; 40],
    /// Goes on through key, state and data.
    numbers: u32,
}

impl Memory {
    pub(crate) const fn new() -> Memory {
        Memory {
            data: [0; 256],
            state: [0; 32],
            key: [0; 8],
            prepared: [0; TABLES + TABLE_KEY],
            room: [0; 40],
            numbers: 0,
        }
    }

    /// The key and everything else as before any call.
    pub(crate) fn set_key(&mut self) {
        self.numbers = 1;
        fill(&mut self.numbers, &mut self.key);
        self.set_data();
    }

    /// State and data as before any call.
    #[inline(never)]
    pub(crate) fn set_data(&mut self) {
        let mut numbers = self.numbers;
        fill(&mut numbers, &mut self.state);
        fill(&mut numbers, &mut self.data);
        self.state[3] &= 0x00ff_ffff;
    }
}

/// x ← 1664525 x + 1013904223 modulo 2^32 ("Numerical Recipes", section 7.1), whose lower bits have short periods.
fn fill(x: &mut u32, words: &mut [u32]) {
    for word in words {
        *x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *word = *x ^ *x >> 16;
    }
}

/// FNV-1a with words instead of bytes.
#[inline(never)]
pub(crate) fn sum(words: &[u32]) -> u32 {
    words.iter().fold(0x811c_9dc5, |sum: u32, word| (sum ^ word).wrapping_mul(0x0100_0193))
}
