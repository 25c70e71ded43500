//! The rows: each kernel, its arguments, the bytes of its calls, and the parts that it links.

use tress_rv32::kernels::Part::{self, *};

/// How a kernel's key is prepared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// PIPO's key for one lane and for four, with a nonce.
    Pipo1,
    Pipo4,
    /// In the paper's layout, for one block and for four.
    Paper1,
    Paper4,
    /// AES' key for eight blocks, for two, and for tables.
    Aes8,
    Aes2,
    Table,
    Rc6,
    Lea,
}

/// Words of a round key of LEA.
pub(crate) const LEA_WORDS: usize = 6;

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Arg {
    /// The prepared key.
    Key,
    /// Address of the key's bytes, and their number.
    KeyBytes,
    KeyLength,
    /// Number of bytes of the prepared key.
    PreparedBytes,
    /// The number of 64-bit words of the key, and four keys side by side.
    KeyWords,
    FourKeys,
    /// Address of the data (input, or in place), and of separate output.
    Data,
    Apart,
    /// Number of bytes of data.
    Bytes,
    /// Number of units of data. A unit is the least that the kernel processes.
    Units,
    /// Address of an array of four messages, and the same address as output.
    Messages,
    MessagesAgain,
    /// Chains and counters.
    State,
    Zero,
    /// Working memory, which also holds the prepared nonce.
    Room,
    Tables,
}

use Arg::{
    Apart, Bytes, Data, FourKeys, Key as Prepared, KeyBytes, KeyLength, KeyWords, Messages, MessagesAgain,
    PreparedBytes, Room, State, Tables, Units, Zero,
};

/// A kernel with a key of one size, as a row of the table.
pub(crate) struct Row {
    pub(crate) kernel: Part,
    pub(crate) key: Key,
    pub(crate) bits: u16,
    pub(crate) arguments: &'static [Arg],
    /// Bytes of the measured calls. The first is the least that the kernel processes, or 0 if it takes no data.
    pub(crate) bytes: &'static [u16],
    /// The parts that it links besides itself.
    parts: &'static [Part],
}

impl Row {
    /// The fewest and the most bytes of a call. The most is 0 if there is only one length.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        let most = if self.bytes.len() > 1 { self.bytes[self.bytes.len() - 1] } else { 0 };
        (self.bytes[0].into(), most.into())
    }

    fn has(&self, argument: fn(&Arg) -> bool) -> bool {
        self.arguments.iter().any(argument)
    }

    /// Bytes of machine code that the kernel links.
    pub(crate) fn code_bytes(&self) -> usize {
        self.kernel.bytes() + self.parts.iter().map(|part| part.bytes()).sum::<usize>()
    }

    /// Bytes of the tables that the kernel reads.
    pub(crate) fn table_bytes(&self) -> usize {
        if self.has(|argument| matches!(argument, Tables)) { 4096 } else { 0 }
    }

    /// Bytes of the prepared key.
    pub(crate) fn key_bytes(&self) -> usize {
        let bits = usize::from(self.bits);
        let (rounds, words) = (bits / 32 + 6, bits / 64);
        if !self.has(|argument| matches!(argument, Prepared)) {
            return if self.has(|argument| matches!(argument, KeyBytes)) { bits / 8 } else { 0 };
        }
        4 * match self.key {
            Key::Aes8 => 1 + 32 * (rounds + 1),
            Key::Aes2 => 1 + 8 * (rounds + 1),
            Key::Table => 1 + 4 * (rounds + 1),
            Key::Rc6 => 44,
            Key::Lea => LEA_WORDS * (16 + bits / 16),
            // Row 0 of every round key, and rows 1 to 7 of every word of the key.
            Key::Pipo1 | Key::Pipo4 => 9 + 2 * words + 1 + 7 * words,
            Key::Paper1 => 14 * 2,
            Key::Paper4 => 14 * 8,
        }
    }
}

const ECB: &[Arg] = &[Prepared, Data, Data, Units];
const SMALL: &[Arg] = &[KeyBytes, Data, Data, Units];
const CHAIN: &[Arg] = &[Prepared, State, Data, Data, Units];
const X4: &[Arg] = &[Prepared, State, Messages, MessagesAgain, Units];
const CTR: &[Arg] = &[Prepared, Room, Zero, Data, Data, Units];
const LANE: &[Arg] = &[Prepared, KeyBytes, KeyWords];
const LANES: &[Arg] = &[Prepared, FourKeys, KeyWords];
const NONCE: &[Arg] = &[Room, Prepared, State, KeyWords];
const PAPER: &[Arg] = &[Prepared, Data, Apart];
const PAPER_IV: &[Arg] = &[Prepared, State, Data, Apart];
const PAPER_CTR: &[Arg] = &[Prepared, Room, Zero, Data, Apart];
const EXPAND: &[Arg] = &[Prepared, KeyBytes, KeyLength];
const BYTES: &[Arg] = &[Prepared, Data, Data, Bytes];
const IV: &[Arg] = &[Prepared, State, Data, Data, Bytes];
const IV_ROOM: &[Arg] = &[Prepared, State, Data, Data, Bytes, Room];
const CCM: &[Arg] = &[Prepared, State, Data, Units];
const CCM4: &[Arg] = &[Prepared, State, Messages, Units];
const WORDS: &[Arg] = &[Prepared, PreparedBytes, Data, Data, Bytes];
const WORDS_IV: &[Arg] = &[Prepared, PreparedBytes, State, Data, Data, Bytes];
const MAKE: &[Arg] = &[Tables];
const BYTES_TABLE: &[Arg] = &[Prepared, Data, Data, Bytes, Tables];
const IV_TABLE: &[Arg] = &[Prepared, State, Data, Data, Bytes, Tables];

const ALONE: &[Part] = &[];
const COPY: &[Part] = &[tress_aes_copy];
const SUB: &[Part] = &[tress_aes_sub_word];
const EXPAND8: &[Part] = &[tress_aes_copy, tress_aes8_key_form, tress_aes_sub_word];
const EXPAND2: &[Part] = &[tress_aes_copy, tress_aes2_key_form, tress_aes_sub_word];
const EXPAND_TABLE: &[Part] = &[tress_aes_copy, tress_aes_table_key_form, tress_aes_sub_word];
const ENCRYPT8: &[Part] =
    &[tress_aes_copy, tress_aes8_encrypt_frame, tress_aes8_pack, tress_aes8_rounds, tress_aes8_last];
const DECRYPT8: &[Part] =
    &[tress_aes_copy, tress_aes8_decrypt_frame, tress_aes8_pack, tress_aes8_inverse_rounds, tress_aes8_inverse_last];
const DECRYPT8_CBC: &[Part] = &[
    tress_aes_copy,
    tress_aes_add,
    tress_aes8_decrypt_frame,
    tress_aes8_pack,
    tress_aes8_inverse_rounds,
    tress_aes8_inverse_last,
];
const CTR8: &[Part] = &[
    tress_aes_copy,
    tress_aes_add,
    tress_aes8_counters,
    tress_aes8_counters_1,
    tress_aes8_counters_2,
    tress_aes8_prepare,
    tress_aes8_use_key_stream,
    tress_aes8_encrypt_frame,
    tress_aes8_pack,
    tress_aes8_rounds,
    tress_aes8_last,
];
const CCM4_PARTS: &[Part] = &[
    tress_aes8_ccm4_begin,
    tress_aes8_ccm4_counters,
    tress_aes8_ccm4_carry,
    tress_aes_add_block,
    tress_aes_add,
    tress_aes_copy,
    tress_aes8_encrypt_frame,
    tress_aes8_pack,
    tress_aes8_rounds,
    tress_aes8_last,
];
const CHAIN2: &[Part] = &[tress_aes2_encrypt_words, tress_aes_copy, tress_aes_add_block, tress_aes_add];
const ENCRYPT2: &[Part] = &[tress_aes2_encrypt_words];
const ENCRYPT_RC6: &[Part] = &[tress_rc6_encrypt_words];
const DECRYPT_RC6: &[Part] = &[tress_rc6_decrypt_words];
const ENCRYPT_LEA: &[Part] = &[tress_lea_rest1, tress_lea_rest4];
const DECRYPT_LEA: &[Part] = &[tress_lea_decrypt_words1, tress_lea_decrypt_words4];

macro_rules! rows {
    ($($name:ident $kernel:ident $key:ident $bits:literal $arguments:ident $parts:ident [$($bytes:literal)*];)*) => {
        /// The kernels.
        // In flash, like the names: data memory is for the measured kernels.
        #[unsafe(link_section = ".text.rows")]
        pub(crate) static ROWS: [Row; [$($bits),*].len()] = [$(Row {
            kernel: $kernel,
            key: Key::$key,
            bits: $bits,
            arguments: $arguments,
            bytes: &[$($bytes),*],
            parts: $parts,
        }),*];
        /// Number of rows with their lengths.
        pub(crate) const COUNT: usize = [$($($bytes),*),*].len();
        const TEXT: &str = concat!("rows of bench:\n", $($(stringify!($name), " ", $bytes, "\n",)*)*);
    };
}

rows! {
    pipo128_prepare1 tress_pipo_prepare1 Pipo1 128 LANE ALONE [0];
    pipo128_nonce1 tress_pipo_nonce1 Pipo1 128 NONCE ALONE [0];
    pipo128_encrypt1 tress_pipo128_encrypt1 Pipo1 128 ECB ALONE [8 16 64 1024];
    pipo128_decrypt1 tress_pipo128_decrypt1 Pipo1 128 ECB ALONE [8 1024];
    pipo128_cbc_encrypt1 tress_pipo128_cbc_encrypt1 Pipo1 128 CHAIN ALONE [8 16 64 1024];
    pipo128_ctr1 tress_pipo128_ctr1 Pipo1 128 CTR ALONE [8 16 64 1024];
    pipo128_prepare4 tress_pipo_prepare4 Pipo4 128 LANES ALONE [0];
    pipo128_nonce4 tress_pipo_nonce4 Pipo4 128 NONCE ALONE [0];
    pipo128_encrypt4 tress_pipo128_encrypt4 Pipo4 128 ECB ALONE [32 64 1024];
    pipo128_decrypt4 tress_pipo128_decrypt4 Pipo4 128 ECB ALONE [32 1024];
    pipo128_small_encrypt4 tress_pipo128_small_encrypt4 Pipo4 128 SMALL ALONE [32 64 1024];
    pipo128_small_decrypt4 tress_pipo128_small_decrypt4 Pipo4 128 SMALL ALONE [32 1024];
    pipo128_cbc_decrypt4 tress_pipo128_cbc_decrypt4 Pipo4 128 CHAIN ALONE [32 64 1024];
    pipo128_cbc_x4 tress_pipo128_cbc_x4 Pipo4 128 X4 ALONE [32 64 1024];
    pipo128_ctr4 tress_pipo128_ctr4 Pipo4 128 CTR ALONE [32 64 1024];
    pipo128_paper_encrypt1 tress_pipo128_paper_encrypt1 Paper1 128 PAPER ALONE [8];
    pipo128_paper_cbc_encrypt1 tress_pipo128_paper_cbc_encrypt1 Paper1 128 PAPER_IV ALONE [8];
    pipo128_paper_ctr1 tress_pipo128_paper_ctr1 Paper1 128 PAPER_IV ALONE [8];
    pipo128_paper_memory4 tress_pipo128_paper_memory4 Paper1 128 PAPER ALONE [32];
    pipo128_paper_encrypt4 tress_pipo128_paper_encrypt4 Paper4 128 PAPER ALONE [32];
    pipo128_paper_ctr4 tress_pipo128_paper_ctr4 Paper4 128 PAPER_CTR ALONE [32];
    pipo128_paper_cbc_decrypt4 tress_pipo128_paper_cbc_decrypt4 Paper4 128 PAPER_IV ALONE [32];
    pipo256_prepare1 tress_pipo_prepare1 Pipo1 256 LANE ALONE [0];
    pipo256_nonce1 tress_pipo_nonce1 Pipo1 256 NONCE ALONE [0];
    pipo256_encrypt1 tress_pipo256_encrypt1 Pipo1 256 ECB ALONE [8 16 64 1024];
    pipo256_decrypt1 tress_pipo256_decrypt1 Pipo1 256 ECB ALONE [8 1024];
    pipo256_cbc_encrypt1 tress_pipo256_cbc_encrypt1 Pipo1 256 CHAIN ALONE [8 1024];
    pipo256_ctr1 tress_pipo256_ctr1 Pipo1 256 CTR ALONE [8 1024];
    pipo256_prepare4 tress_pipo_prepare4 Pipo4 256 LANES ALONE [0];
    pipo256_nonce4 tress_pipo_nonce4 Pipo4 256 NONCE ALONE [0];
    pipo256_encrypt4 tress_pipo256_encrypt4 Pipo4 256 ECB ALONE [32 64 1024];
    pipo256_decrypt4 tress_pipo256_decrypt4 Pipo4 256 ECB ALONE [32 1024];
    pipo256_small_encrypt4 tress_pipo256_small_encrypt4 Pipo4 256 SMALL ALONE [32 64 1024];
    pipo256_small_decrypt4 tress_pipo256_small_decrypt4 Pipo4 256 SMALL ALONE [32 1024];
    pipo256_cbc_decrypt4 tress_pipo256_cbc_decrypt4 Pipo4 256 CHAIN ALONE [32 64 1024];
    pipo256_cbc_x4 tress_pipo256_cbc_x4 Pipo4 256 X4 ALONE [32 1024];
    pipo256_ctr4 tress_pipo256_ctr4 Pipo4 256 CTR ALONE [32 64 1024];
    aes128_expand_key8 tress_aes8_expand_key Aes8 128 EXPAND EXPAND8 [0];
    aes128_ecb_encrypt tress_aes8_ecb_encrypt Aes8 128 BYTES ENCRYPT8 [128 16 64 1024];
    aes128_ecb_decrypt tress_aes8_ecb_decrypt Aes8 128 BYTES DECRYPT8 [128 1024];
    aes128_cbc_decrypt tress_aes8_cbc_decrypt Aes8 128 IV DECRYPT8_CBC [128 16 64 1024];
    aes128_ctr tress_aes8_ctr Aes8 128 IV_ROOM CTR8 [128 16 64 1024];
    aes128_ccm_x4 tress_aes8_ccm4_encrypt Aes8 128 CCM4 CCM4_PARTS [64 1024];
    aes128_ccm_decrypt_x4 tress_aes8_ccm4_decrypt Aes8 128 CCM4 CCM4_PARTS [64 1024];
    aes128_expand_key2 tress_aes2_expand_key Aes2 128 EXPAND EXPAND2 [0];
    aes128_cbc_encrypt tress_aes2_cbc_encrypt Aes2 128 IV CHAIN2 [16 64 1024];
    aes128_ccm tress_aes2_ccm_encrypt Aes2 128 CCM ENCRYPT2 [16 64 1024];
    aes128_ccm_decrypt tress_aes2_ccm_decrypt Aes2 128 CCM ENCRYPT2 [16 1024];
    aes_table_make tress_aes_table_make Table 128 MAKE SUB [0];
    aes128_table_expand_key tress_aes_table_expand_key Table 128 EXPAND EXPAND_TABLE [0];
    aes128_table_encrypt tress_aes_table_encrypt Table 128 BYTES_TABLE COPY [16 1024];
    aes128_table_ctr tress_aes_table_stream Table 128 IV_TABLE COPY [16 64 1024];
    aes256_expand_key8 tress_aes8_expand_key Aes8 256 EXPAND EXPAND8 [0];
    aes256_ecb_encrypt tress_aes8_ecb_encrypt Aes8 256 BYTES ENCRYPT8 [128 1024];
    aes256_ecb_decrypt tress_aes8_ecb_decrypt Aes8 256 BYTES DECRYPT8 [128 1024];
    aes256_cbc_decrypt tress_aes8_cbc_decrypt Aes8 256 IV DECRYPT8_CBC [128 1024];
    aes256_ctr tress_aes8_ctr Aes8 256 IV_ROOM CTR8 [128 16 64 1024];
    aes256_ccm_x4 tress_aes8_ccm4_encrypt Aes8 256 CCM4 CCM4_PARTS [64 1024];
    aes256_ccm_decrypt_x4 tress_aes8_ccm4_decrypt Aes8 256 CCM4 CCM4_PARTS [64 1024];
    aes256_expand_key2 tress_aes2_expand_key Aes2 256 EXPAND EXPAND2 [0];
    aes256_cbc_encrypt tress_aes2_cbc_encrypt Aes2 256 IV CHAIN2 [16 1024];
    aes256_ccm tress_aes2_ccm_encrypt Aes2 256 CCM ENCRYPT2 [16 64 1024];
    aes256_ccm_decrypt tress_aes2_ccm_decrypt Aes2 256 CCM ENCRYPT2 [16 1024];
    aes256_table_expand_key tress_aes_table_expand_key Table 256 EXPAND EXPAND_TABLE [0];
    aes256_table_encrypt tress_aes_table_encrypt Table 256 BYTES_TABLE COPY [16 1024];
    aes256_table_ctr tress_aes_table_stream Table 256 IV_TABLE COPY [16 64 1024];
    rc6_expand_key tress_rc6_expand_key Rc6 128 EXPAND ALONE [0];
    rc6_256_expand_key tress_rc6_expand_key Rc6 256 EXPAND ALONE [0];
    rc6_ecb_encrypt tress_rc6_encrypt Rc6 128 BYTES ENCRYPT_RC6 [16 64 1024];
    rc6_ecb_decrypt tress_rc6_decrypt Rc6 128 BYTES DECRYPT_RC6 [16 1024];
    rc6_ctr tress_rc6_stream Rc6 128 IV ENCRYPT_RC6 [16 64 1024];
    lea128_ecb_encrypt tress_lea_encrypt Lea 128 WORDS ENCRYPT_LEA [16 64 1024];
    lea128_ecb_decrypt tress_lea_decrypt Lea 128 WORDS DECRYPT_LEA [16 64 1024];
    lea128_ctr tress_lea_stream Lea 128 WORDS_IV ENCRYPT_LEA [16 64 1024];
    lea192_ecb_encrypt tress_lea_encrypt Lea 192 WORDS ENCRYPT_LEA [16 64 1024];
    lea192_ecb_decrypt tress_lea_decrypt Lea 192 WORDS DECRYPT_LEA [16 64 1024];
    lea192_ctr tress_lea_stream Lea 192 WORDS_IV ENCRYPT_LEA [16 64 1024];
    lea256_ecb_encrypt tress_lea_encrypt Lea 256 WORDS ENCRYPT_LEA [16 64 1024];
    lea256_ecb_decrypt tress_lea_decrypt Lea 256 WORDS DECRYPT_LEA [16 64 1024];
    lea256_ctr tress_lea_stream Lea 256 WORDS_IV ENCRYPT_LEA [16 64 1024];
}

/// The names of the rows, one in each line. The first line describes the text.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.tress_rows")]
#[allow(non_upper_case_globals)]
pub(crate) static tress_rows: [u8; TEXT.len()] = {
    let mut bytes = [0; TEXT.len()];
    bytes.copy_from_slice(TEXT.as_bytes());
    bytes
};
