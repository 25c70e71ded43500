//! The rows: kernels with their keys prepared, and the bytes of a message.

use crate::assembly::{self as a, Call};
use crate::memory::{Memory, TABLES};

/// Prepares a key, and says how the kernel is called for so many bytes.
type Kernel = fn(&mut Memory, usize) -> Call;

macro_rules! rows {
    ($($kernel:ident $($bytes:literal)*;)*) => {
        const ALL: &[(Kernel, u16)] = &[$($(($kernel, $bytes),)*)*];
        const TEXT: &str = concat!("rows of pipo-riscv:\n", $($(stringify!($kernel), " ", $bytes, "\n",)*)*);
    };
}

rows! {
    pipo128_encrypt1 8 16 64 1024;
    pipo128_decrypt1 8;
    pipo128_cbc_encrypt1 8 16 64 1024;
    pipo128_ctr1 8 16 64 1024;
    pipo128_encrypt4 32 64 1024;
    pipo128_decrypt4 32 1024;
    pipo128_small_encrypt4 32 64 1024;
    pipo128_small_decrypt4 32;
    pipo128_ctr4 32 64 1024;
    pipo128_cbc_decrypt4 32 64 1024;
    pipo128_cbc_x4 32 64 1024;
    pipo128_paper_encrypt1 8;
    pipo128_paper_cbc_encrypt1 8;
    pipo128_paper_ctr1 8;
    pipo128_paper_memory4 32;
    pipo128_paper_encrypt4 32;
    pipo128_paper_ctr4 32;
    pipo128_paper_cbc_decrypt4 32;
    pipo256_encrypt1 8 16 64 1024;
    pipo256_encrypt4 32 64 1024;
    pipo256_small_encrypt4 32 64 1024;
    pipo256_ctr4 32 64 1024;
    pipo256_cbc_decrypt4 32 64 1024;
    aes128_ecb_encrypt 16 64 1024;
    aes128_ctr 16 64 1024;
    aes128_cbc_encrypt 16 64 1024;
    aes128_cbc_decrypt 16 64 1024;
    aes128_ccm 16 64 1024;
    aes128_ccm_x4 64 1024;
    aes128_table_ctr 16 64 1024;
    aes256_ctr 16 64 1024;
    aes256_ccm 16 64 1024;
    aes256_table_ctr 16 64 1024;
    rc6_ecb_encrypt 16 64 1024;
    rc6_ctr 16 64 1024;
}

// In flash, and so are the names: data memory is for what is measured.
/// Kernels, with the bytes that a call does.
#[unsafe(link_section = ".text.rows")]
pub(crate) static ROWS: [(Kernel, u16); ALL.len()] = {
    let mut rows = [ALL[0]; ALL.len()];
    rows.copy_from_slice(ALL);
    rows
};

/// The names of the rows, a line each after the first, which says what this is.
pub(crate) static NAMES: &str = match core::str::from_utf8(&tress_rows) {
    Ok(names) => names,
    Err(_) => "",
};

#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.tress_rows")]
#[allow(non_upper_case_globals)]
static tress_rows: [u8; TEXT.len()] = {
    let mut bytes = [0; TEXT.len()];
    bytes.copy_from_slice(TEXT.as_bytes());
    bytes
};

fn at<T>(words: &[T]) -> usize {
    words.as_ptr().expose_provenance()
}

impl Memory {
    fn data(&self) -> usize {
        at(&self.data)
    }

    fn prepared(&self) -> usize {
        at(&self.prepared)
    }

    /// PIPO's key of so many 64-bit words for four lanes, all the same.
    fn prepare_pipo4(&mut self, words: usize) {
        for lane in 0..4 {
            self.room[2 * words * lane..][..2 * words].copy_from_slice(&self.key[..2 * words]);
        }
        // SAFETY: four keys; room for a prepared one.
        unsafe { a::tress_pipo_prepare4(self.prepared.as_mut_ptr(), self.room.as_ptr(), words) };
    }

    fn prepare_pipo1(&mut self, words: usize) {
        // SAFETY: one key; room for a prepared one.
        unsafe { a::tress_pipo_prepare1(self.prepared.as_mut_ptr(), self.key.as_ptr().cast(), words) };
    }

    /// The round keys of PIPO-64/128 as the paper has them: 14 times 8 bytes.
    fn prepare_paper(&mut self) {
        for round in 0..14 {
            let word = 2 * (round % 2);
            self.prepared[2 * round] = self.key[word] ^ round as u32;
            self.prepared[2 * round + 1] = self.key[word + 1];
        }
    }

    /// The same, each byte four times.
    fn prepare_paper_wide(&mut self) {
        for round in 0..14 {
            for (row, byte) in self.key[2 * (round % 2)..][..2].iter().flat_map(|word| word.to_le_bytes()).enumerate() {
                let constant = if row == 0 { round as u32 } else { 0 };
                self.prepared[8 * round + row] = 0x0101_0101 * (u32::from(byte) ^ constant);
            }
        }
    }

    /// RC6's key schedule ("The RC6 Block Cipher", section 2.2).
    fn prepare_rc6(&mut self) {
        let s = &mut self.prepared[..44];
        let mut l = [self.key[0], self.key[1], self.key[2], self.key[3]];
        s[0] = 0xb7e1_5163;
        for i in 1..44 {
            s[i] = s[i - 1].wrapping_add(0x9e37_79b9);
        }
        let (mut x, mut y) = (0u32, 0u32);
        for step in 0..132 {
            let (i, j) = (step % 44, step % 4);
            x = s[i].wrapping_add(x).wrapping_add(y).rotate_left(3);
            s[i] = x;
            y = l[j].wrapping_add(x).wrapping_add(y).rotate_left(x.wrapping_add(y) & 31);
            l[j] = y;
        }
    }

    fn prepare_aes8(&mut self, bytes: usize) {
        // SAFETY: a key of that length; room for a prepared one.
        unsafe { a::tress_aes8_expand_key(self.prepared.as_mut_ptr(), self.key.as_ptr().cast(), bytes) };
    }

    fn prepare_aes2(&mut self, bytes: usize) {
        // SAFETY: a key of that length; room for a prepared one.
        unsafe { a::tress_aes2_expand_key(self.prepared.as_mut_ptr(), self.key.as_ptr().cast(), bytes) };
    }

    /// Tables, then the key.
    fn prepare_aes_table(&mut self, bytes: usize) {
        let (tables, key) = self.prepared.split_at_mut(TABLES);
        // SAFETY: a key of that length; room for tables and a prepared one.
        unsafe {
            a::tress_aes_table_make(tables.as_mut_ptr());
            a::tress_aes_table_expand_key(key.as_mut_ptr(), self.key.as_ptr().cast(), bytes);
        }
    }

    /// The first six bytes of the state as a nonce, for a key that is prepared.
    fn prepare_nonce(&mut self, prepare: unsafe extern "C" fn(*mut u32, *const u32, *const u8, usize), words: usize) {
        // SAFETY: room for six words, a prepared key, six bytes.
        unsafe { prepare(self.room.as_mut_ptr(), self.prepared.as_ptr(), self.state.as_ptr().cast(), words) };
    }

    /// The same bytes, four times each.
    fn widen_nonce(&mut self) {
        let bytes = self.state[..2].iter().flat_map(|word| word.to_le_bytes());
        for (word, byte) in self.room[..6].iter_mut().zip(bytes) {
            *word = 0x0101_0101 * u32::from(byte);
        }
    }

    /// Where the paper's kernels write, which do not work in place.
    fn apart(&self) -> usize {
        at(&self.data[16..])
    }

    /// Addresses of four messages, twice.
    fn point(&mut self, bytes: usize) {
        for message in 0..8 {
            self.room[message] = (self.data() + message % 4 * bytes) as u32;
        }
    }
}

/// A kernel each: its name, how its key is prepared, the function and its arguments.
macro_rules! kernels {
    (|$m:ident, $bytes:ident| $($name:ident: $prepare:expr, $function:ident $arguments:tt;)*) => {$(
        fn $name($m: &mut Memory, $bytes: usize) -> Call {
            let _ = $bytes;
            $prepare;
            // SAFETY: arguments as the function's file has them; all that they point to stays where it is.
            unsafe { Call::new(a::$function, $arguments) }
        }
    )*};
}

kernels! {
    |m, bytes|
    pipo128_encrypt1: m.prepare_pipo1(2), tress_pipo128_encrypt1 [m.prepared(), m.data(), m.data(), bytes / 8];
    pipo128_decrypt1: m.prepare_pipo1(2), tress_pipo128_decrypt1 [m.prepared(), m.data(), m.data(), bytes / 8];
    pipo128_cbc_encrypt1: m.prepare_pipo1(2),
        tress_pipo128_cbc_encrypt1 [m.prepared(), at(&m.state), m.data(), m.data(), bytes / 8];
    pipo128_ctr1: { m.prepare_pipo1(2); m.prepare_nonce(a::tress_pipo_nonce1, 2) },
        tress_pipo128_ctr1 [m.prepared(), at(&m.room), 0, m.data(), m.data(), bytes / 8];
    pipo128_encrypt4: m.prepare_pipo4(2), tress_pipo128_encrypt4 [m.prepared(), m.data(), m.data(), bytes / 32];
    pipo128_decrypt4: m.prepare_pipo4(2), tress_pipo128_decrypt4 [m.prepared(), m.data(), m.data(), bytes / 32];
    pipo128_small_encrypt4: {}, tress_pipo128_small_encrypt4 [at(&m.key), m.data(), m.data(), bytes / 32];
    pipo128_small_decrypt4: {}, tress_pipo128_small_decrypt4 [at(&m.key), m.data(), m.data(), bytes / 32];
    pipo128_ctr4: { m.prepare_pipo4(2); m.prepare_nonce(a::tress_pipo_nonce4, 2) },
        tress_pipo128_ctr4 [m.prepared(), at(&m.room), 0, m.data(), m.data(), bytes / 32];
    pipo128_cbc_decrypt4: m.prepare_pipo4(2),
        tress_pipo128_cbc_decrypt4 [m.prepared(), at(&m.state), m.data(), m.data(), bytes / 32];
    pipo128_cbc_x4: { m.prepare_pipo4(2); m.point(bytes / 4) },
        tress_pipo128_cbc_x4 [m.prepared(), at(&m.state), at(&m.room), at(&m.room[4..]), bytes / 32];
    pipo128_paper_encrypt1: m.prepare_paper(), tress_pipo128_paper_encrypt1 [m.prepared(), m.data(), m.apart()];
    pipo128_paper_cbc_encrypt1: m.prepare_paper(),
        tress_pipo128_paper_cbc_encrypt1 [m.prepared(), at(&m.state), m.data(), m.apart()];
    pipo128_paper_ctr1: m.prepare_paper(),
        tress_pipo128_paper_ctr1 [m.prepared(), at(&m.state), m.data(), m.apart()];
    pipo128_paper_memory4: m.prepare_paper(), tress_pipo128_paper_memory4 [m.prepared(), m.data(), m.apart()];
    pipo128_paper_encrypt4: m.prepare_paper_wide(), tress_pipo128_paper_encrypt4 [m.prepared(), m.data(), m.apart()];
    pipo128_paper_ctr4: { m.prepare_paper_wide(); m.widen_nonce() },
        tress_pipo128_paper_ctr4 [m.prepared(), at(&m.room), 0, m.data(), m.apart()];
    pipo128_paper_cbc_decrypt4: m.prepare_paper_wide(),
        tress_pipo128_paper_cbc_decrypt4 [m.prepared(), at(&m.state), m.data(), m.apart()];
    pipo256_encrypt1: m.prepare_pipo1(4), tress_pipo256_encrypt1 [m.prepared(), m.data(), m.data(), bytes / 8];
    pipo256_encrypt4: m.prepare_pipo4(4), tress_pipo256_encrypt4 [m.prepared(), m.data(), m.data(), bytes / 32];
    pipo256_small_encrypt4: {}, tress_pipo256_small_encrypt4 [at(&m.key), m.data(), m.data(), bytes / 32];
    pipo256_ctr4: { m.prepare_pipo4(4); m.prepare_nonce(a::tress_pipo_nonce4, 4) },
        tress_pipo256_ctr4 [m.prepared(), at(&m.room), 0, m.data(), m.data(), bytes / 32];
    pipo256_cbc_decrypt4: m.prepare_pipo4(4),
        tress_pipo256_cbc_decrypt4 [m.prepared(), at(&m.state), m.data(), m.data(), bytes / 32];
    aes128_ecb_encrypt: m.prepare_aes8(16), tress_aes8_ecb_encrypt [m.prepared(), m.data(), m.data(), bytes];
    aes128_ctr: m.prepare_aes8(16),
        tress_aes8_ctr [m.prepared(), at(&m.state), m.data(), m.data(), bytes, at(&m.room)];
    aes128_cbc_encrypt: m.prepare_aes2(16),
        tress_aes2_cbc_encrypt [m.prepared(), at(&m.state), m.data(), m.data(), bytes];
    aes128_cbc_decrypt: m.prepare_aes8(16),
        tress_aes8_cbc_decrypt [m.prepared(), at(&m.state), m.data(), m.data(), bytes];
    aes128_ccm: m.prepare_aes2(16), tress_aes2_ccm_encrypt [m.prepared(), at(&m.state), m.data(), bytes / 16];
    aes128_ccm_x4: { m.prepare_aes8(16); m.point(bytes / 4) },
        tress_aes8_ccm4_encrypt [m.prepared(), at(&m.state), at(&m.room), bytes / 64];
    aes128_table_ctr: m.prepare_aes_table(16),
        tress_aes_table_stream [at(&m.prepared[TABLES..]), at(&m.state), m.data(), m.data(), bytes, m.prepared()];
    aes256_ctr: m.prepare_aes8(32),
        tress_aes8_ctr [m.prepared(), at(&m.state), m.data(), m.data(), bytes, at(&m.room)];
    aes256_ccm: m.prepare_aes2(32), tress_aes2_ccm_encrypt [m.prepared(), at(&m.state), m.data(), bytes / 16];
    aes256_table_ctr: m.prepare_aes_table(32),
        tress_aes_table_stream [at(&m.prepared[TABLES..]), at(&m.state), m.data(), m.data(), bytes, m.prepared()];
    rc6_ecb_encrypt: m.prepare_rc6(), tress_rc6_encrypt [m.prepared(), m.data(), m.data(), bytes];
    rc6_ctr: m.prepare_rc6(), tress_rc6_stream [m.prepared(), at(&m.state), m.data(), m.data(), bytes];
}
