//! The memory of the kernels: keys, states and data, filled with numbers that a host can compute too, and prepared for each row.

use crate::rows::{Arg, Key, LEA_WORDS, Row};

// SAFETY: the signatures match those in the kernels' files.
unsafe extern "C" {
    fn tress_pipo_prepare4(prepared: *mut u32, keys: *const u32, words: usize);
    fn tress_pipo_prepare1(prepared: *mut u32, key: *const u8, words: usize);
    fn tress_pipo_nonce4(nonce: *mut u32, prepared: *const u32, bytes: *const u8, words: usize);
    fn tress_pipo_nonce1(nonce: *mut u32, prepared: *const u32, bytes: *const u8, words: usize);
    fn tress_aes8_expand_key(context: *mut u32, key: *const u8, bytes: usize);
    fn tress_aes2_expand_key(context: *mut u32, key: *const u8, bytes: usize);
    fn tress_aes_table_make(tables: *mut u32);
    fn tress_aes_table_expand_key(context: *mut u32, key: *const u8, bytes: usize);
    fn tress_rc6_expand_key(round_keys: *mut u32, key: *const u8, bytes: usize);
}

/// Words of AES' tables, and of the largest prepared key (AES-256 for eight blocks).
const TABLES: usize = 1024;
const PREPARED: usize = 1 + 32 * 15;

/// The memory of a kernel.
#[repr(C, align(64))]
pub(crate) struct Memory {
    /// The data, encrypted in place unless the kernel needs separate output.
    pub(crate) data: [u32; 256],
    /// Chains and counters. The last byte of the first is zero, so that counters begin with a multiple of 256.
    state: [u32; 32],
    /// The unprepared key.
    key: [u32; 8],
    prepared: [u32; PREPARED],
    tables: [u32; TABLES],
    /// Other prepared data or working memory: nonces, keys side by side, pointers.
    room: [u32; 40],
    /// State of the generator after filling the key; state and data continue from it.
    numbers: u32,
}

impl Memory {
    pub(crate) const fn new() -> Memory {
        Memory {
            data: [0; 256],
            state: [0; 32],
            key: [0; 8],
            prepared: [0; PREPARED],
            tables: [0; TABLES],
            room: [0; 40],
            numbers: 0,
        }
    }

    /// Resets state and data to their values before any call.
    #[inline(never)]
    pub(crate) fn set_data(&mut self) {
        let mut numbers = self.numbers;
        fill(&mut numbers, &mut self.state);
        fill(&mut numbers, &mut self.data);
        self.state[3] &= 0x00ff_ffff;
    }

    /// Resets everything for a row, and returns the arguments of a call on this number of bytes.
    pub(crate) fn prepare(&mut self, row: &Row, bytes: usize) -> [usize; 6] {
        self.numbers = 1;
        fill(&mut self.numbers, &mut self.key);
        self.set_data();
        // Kernels that prepare a key are measured before their code is fetched for the first time.
        if row.bytes[0] > 0 {
            self.prepare_key(row.key, usize::from(row.bits));
        }
        let mut arguments = [0; 6];
        for (to, argument) in arguments.iter_mut().zip(row.arguments) {
            *to = self.argument(*argument, row, bytes);
        }
        arguments
    }

    /// Prepares the key, and PIPO's nonce from the first six bytes of the state.
    fn prepare_key(&mut self, key: Key, bits: usize) {
        let (prepared, room) = (self.prepared.as_mut_ptr(), self.room.as_mut_ptr());
        let (bytes, state) = (self.key.as_ptr().cast(), self.state.as_ptr().cast());
        if key == Key::Pipo4 {
            self.lay_keys(bits / 64);
        }
        // SAFETY: the key has that length, four times for four lanes; the output buffers are large enough; the nonce has six bytes.
        unsafe {
            match key {
                Key::Pipo1 => {
                    tress_pipo_prepare1(prepared, bytes, bits / 64);
                    tress_pipo_nonce1(room, prepared, state, bits / 64);
                }
                Key::Pipo4 => {
                    tress_pipo_prepare4(prepared, room, bits / 64);
                    tress_pipo_nonce4(room, prepared, state, bits / 64);
                }
                Key::Paper1 => self.prepare_paper(),
                Key::Paper4 => self.prepare_paper_wide(),
                Key::Aes8 => tress_aes8_expand_key(prepared, bytes, bits / 8),
                Key::Aes2 => tress_aes2_expand_key(prepared, bytes, bits / 8),
                Key::Table => {
                    tress_aes_table_make(self.tables.as_mut_ptr());
                    tress_aes_table_expand_key(prepared, bytes, bits / 8);
                }
                Key::Rc6 => tress_rc6_expand_key(prepared, bytes, bits / 8),
                Key::Lea => self.prepare_lea(bits / 32),
            }
        }
    }

    /// Stores PIPO's key of `words` 64-bit words once for each of four lanes.
    fn lay_keys(&mut self, words: usize) {
        for lane in 0..4 {
            self.room[2 * words * lane..][..2 * words].copy_from_slice(&self.key[..2 * words]);
        }
    }

    /// The round keys of PIPO-64/128 in the paper's layout: 14 times 8 bytes.
    fn prepare_paper(&mut self) {
        for round in 0..14 {
            let word = 2 * (round % 2);
            self.prepared[2 * round] = self.key[word] ^ round as u32;
            self.prepared[2 * round + 1] = self.key[word + 1];
        }
    }

    /// The paper's layout for four blocks: each byte four times, also in the nonce.
    fn prepare_paper_wide(&mut self) {
        for round in 0..14 {
            for (row, byte) in self.key[2 * (round % 2)..][..2].iter().flat_map(|word| word.to_le_bytes()).enumerate() {
                let constant = if row == 0 { round as u32 } else { 0 };
                self.prepared[8 * round + row] = 0x0101_0101 * (u32::from(byte) ^ constant);
            }
        }
        let bytes = self.state[..2].iter().flat_map(|word| word.to_le_bytes());
        for (word, byte) in self.room[..6].iter_mut().zip(bytes) {
            *word = 0x0101_0101 * u32::from(byte);
        }
    }

    /// The round keys of LEA for a key of `key_words` words (KS X 3246).
    fn prepare_lea(&mut self, key_words: usize) {
        const DELTA: [u32; 8] =
            [0xc3ef_e9db, 0x4462_6b02, 0x79e2_7c8a, 0x78df_30ec, 0x715e_a49e, 0xc785_da0a, 0xe04e_f22a, 0xe5c4_0957];
        let mut t = self.key;
        for (i, round_key) in self.prepared.chunks_exact_mut(LEA_WORDS).take(16 + 2 * key_words).enumerate() {
            let first = if key_words == 8 { 6 * i } else { 0 };
            for (j, word) in round_key.iter_mut().enumerate().take(key_words) {
                let t = &mut t[(first + j) % 8];
                let delta = DELTA[i % key_words].rotate_left((i + j) as u32);
                *t = t.wrapping_add(delta).rotate_left([1, 3, 6, 11, 13, 17][j]);
                *word = *t;
            }
            if key_words == 4 {
                round_key[3..].copy_from_slice(&[t[1], t[3], t[1]]);
            }
        }
    }

    fn argument(&mut self, argument: Arg, row: &Row, bytes: usize) -> usize {
        match argument {
            Arg::Key => at(&self.prepared),
            Arg::KeyBytes => at(&self.key),
            Arg::KeyLength => usize::from(row.bits) / 8,
            Arg::PreparedBytes => row.key_bytes(),
            Arg::KeyWords => usize::from(row.bits) / 64,
            Arg::FourKeys => {
                self.lay_keys(usize::from(row.bits) / 64);
                at(&self.room)
            }
            Arg::Data => at(&self.data),
            Arg::Apart => at(&self.data[16..]),
            Arg::Bytes => bytes,
            Arg::Units => bytes / usize::from(row.bytes[0]).max(1),
            Arg::Messages => {
                for message in 0..8 {
                    self.room[message] = (at(&self.data) + message % 4 * bytes / 4) as u32;
                }
                at(&self.room)
            }
            Arg::MessagesAgain => at(&self.room[4..]),
            Arg::State => at(&self.state),
            Arg::Zero => 0,
            Arg::Room => at(&self.room),
            Arg::Tables => at(&self.tables),
        }
    }
}

fn at(words: &[u32]) -> usize {
    words.as_ptr().expose_provenance()
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
