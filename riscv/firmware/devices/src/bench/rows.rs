//! What is measured: each kernel, what it is called with, and the parts that it links.

use tress_rv32::kernels::Part::{self, *};

/// Sizes of keys.
pub(crate) const BITS: [u16; 2] = [128, 256];

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Arg {
    /// The prepared key.
    Key,
    /// The key's bytes, and how many.
    KeyBytes,
    KeyLength,
    /// The same in words of 64 bits.
    KeyWords,
    /// The data, in place.
    Data,
    /// How many bytes of data.
    Bytes,
    /// How many units of data.
    Units,
    /// How many blocks of each of four messages.
    Quarter,
    /// Addresses of four messages.
    Messages,
    /// A counter, chain or IV, and what is prepared of it.
    Iv,
    Nonce,
    Zero,
    /// Words that a kernel works with.
    Room,
    Tables,
}

use Arg::*;

/// A kernel.
pub(crate) struct Row {
    pub(crate) kernel: Part,
    /// The size of key that it takes; 0: both.
    bits: u16,
    pub(crate) arguments: &'static [Arg],
    /// Bytes of data that it takes at least; 0: it takes none.
    pub(crate) unit: u16,
    /// What it links besides itself.
    parts: &'static [Part],
}

impl Row {
    const fn new(kernel: Part, arguments: &'static [Arg], unit: u16, parts: &'static [Part]) -> Row {
        Row { kernel, bits: 0, arguments, unit, parts }
    }

    const fn of(bits: u16, kernel: Part, arguments: &'static [Arg], unit: u16) -> Row {
        Row { kernel, bits, arguments, unit, parts: &[] }
    }

    pub(crate) fn takes(&self, bits: u16) -> bool {
        self.bits == 0 || self.bits == bits
    }

    fn has(&self, argument: fn(&Arg) -> bool) -> bool {
        self.arguments.iter().any(argument)
    }

    /// Bytes of machine code that it links.
    pub(crate) fn code_bytes(&self) -> usize {
        self.kernel.bytes() + self.parts.iter().map(|part| part.bytes()).sum::<usize>()
    }

    /// Bytes of the tables that it reads.
    pub(crate) fn table_bytes(&self) -> usize {
        if self.has(|argument| matches!(argument, Tables)) { 4096 } else { 0 }
    }

    /// Bytes of its prepared key.
    pub(crate) fn key_bytes(&self, bits: u16) -> usize {
        let (rounds, words) = (usize::from(bits) / 32 + 6, usize::from(bits) / 64);
        if !self.has(|argument| matches!(argument, Key)) {
            return if self.has(|argument| matches!(argument, KeyBytes)) { usize::from(bits) / 8 } else { 0 };
        }
        let name = self.kernel.name();
        4 * match name {
            _ if name.starts_with("tress_aes8") => 1 + 32 * (rounds + 1),
            _ if name.starts_with("tress_aes2") => 1 + 8 * (rounds + 1),
            _ if name.starts_with("tress_aes_table") => 1 + 4 * (rounds + 1),
            _ if name.starts_with("tress_rc6") => 44,
            // PIPO: row 0 of every round key, and rows 1 to 7 of every word of the key.
            _ => 9 + 2 * words + 1 + 7 * words,
        }
    }
}

const ECB: &[Arg] = &[Key, Data, Data, Units];
const SMALL: &[Arg] = &[KeyBytes, Data, Data, Units];
const CHAIN: &[Arg] = &[Key, Iv, Data, Data, Units];
const X4: &[Arg] = &[Key, Iv, Messages, Messages, Quarter];
const CTR: &[Arg] = &[Key, Nonce, Zero, Data, Data, Units];
const EXPAND: &[Arg] = &[Key, KeyBytes, KeyLength];
const BYTES: &[Arg] = &[Key, Data, Data, Bytes];
const IV: &[Arg] = &[Key, Iv, Data, Data, Bytes];
const CCM: &[Arg] = &[Key, Room, Data, Units];
const CCM4: &[Arg] = &[Key, Room, Messages, Quarter];

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

/// All of them, those that prepare a key or a nonce before those that use it.
pub(crate) static ROWS: [Row; 45] = [
    Row::new(tress_pipo_prepare1, &[Key, KeyBytes, KeyWords], 0, &[]),
    Row::new(tress_pipo_nonce1, &[Nonce, Key, KeyBytes, KeyWords], 0, &[]),
    Row::of(128, tress_pipo128_encrypt1, ECB, 8),
    Row::of(128, tress_pipo128_decrypt1, ECB, 8),
    Row::of(128, tress_pipo128_cbc_encrypt1, CHAIN, 8),
    Row::of(128, tress_pipo128_ctr1, CTR, 8),
    Row::of(256, tress_pipo256_encrypt1, ECB, 8),
    Row::of(256, tress_pipo256_decrypt1, ECB, 8),
    Row::of(256, tress_pipo256_cbc_encrypt1, CHAIN, 8),
    Row::of(256, tress_pipo256_ctr1, CTR, 8),
    Row::new(tress_pipo_prepare4, &[Key, KeyBytes, KeyWords], 0, &[]),
    Row::new(tress_pipo_nonce4, &[Nonce, Key, KeyBytes, KeyWords], 0, &[]),
    Row::of(128, tress_pipo128_encrypt4, ECB, 32),
    Row::of(128, tress_pipo128_decrypt4, ECB, 32),
    Row::of(128, tress_pipo128_small_encrypt4, SMALL, 32),
    Row::of(128, tress_pipo128_small_decrypt4, SMALL, 32),
    Row::of(128, tress_pipo128_cbc_decrypt4, CHAIN, 32),
    Row::of(128, tress_pipo128_cbc_x4, X4, 32),
    Row::of(128, tress_pipo128_ctr4, CTR, 32),
    Row::of(256, tress_pipo256_encrypt4, ECB, 32),
    Row::of(256, tress_pipo256_decrypt4, ECB, 32),
    Row::of(256, tress_pipo256_small_encrypt4, SMALL, 32),
    Row::of(256, tress_pipo256_small_decrypt4, SMALL, 32),
    Row::of(256, tress_pipo256_cbc_decrypt4, CHAIN, 32),
    Row::of(256, tress_pipo256_cbc_x4, X4, 32),
    Row::of(256, tress_pipo256_ctr4, CTR, 32),
    Row::new(tress_aes8_expand_key, EXPAND, 0, &[tress_aes_copy, tress_aes8_key_form, tress_aes_sub_word]),
    Row::new(
        tress_aes8_ecb_encrypt,
        BYTES,
        128,
        &[tress_aes_copy, tress_aes8_encrypt_frame, tress_aes8_pack, tress_aes8_rounds, tress_aes8_last],
    ),
    Row::new(
        tress_aes8_ecb_decrypt,
        BYTES,
        128,
        &[
            tress_aes_copy,
            tress_aes8_decrypt_frame,
            tress_aes8_pack,
            tress_aes8_inverse_rounds,
            tress_aes8_inverse_last,
        ],
    ),
    Row::new(
        tress_aes8_cbc_decrypt,
        IV,
        128,
        &[
            tress_aes_copy,
            tress_aes_add,
            tress_aes8_decrypt_frame,
            tress_aes8_pack,
            tress_aes8_inverse_rounds,
            tress_aes8_inverse_last,
        ],
    ),
    Row::new(
        tress_aes8_ctr,
        &[Key, Iv, Data, Data, Bytes, Room],
        128,
        &[
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
        ],
    ),
    Row::new(tress_aes8_ccm4_encrypt, CCM4, 64, CCM4_PARTS),
    Row::new(tress_aes8_ccm4_decrypt, CCM4, 64, CCM4_PARTS),
    Row::new(tress_aes2_expand_key, EXPAND, 0, &[tress_aes_copy, tress_aes2_key_form, tress_aes_sub_word]),
    Row::new(
        tress_aes2_cbc_encrypt,
        IV,
        16,
        &[tress_aes2_encrypt_words, tress_aes_copy, tress_aes_add_block, tress_aes_add],
    ),
    Row::new(tress_aes2_ccm_encrypt, CCM, 16, &[tress_aes2_encrypt_words]),
    Row::new(tress_aes2_ccm_decrypt, CCM, 16, &[tress_aes2_encrypt_words]),
    Row::new(tress_aes_table_make, &[Tables], 0, &[tress_aes_sub_word]),
    Row::new(tress_aes_table_expand_key, EXPAND, 0, &[tress_aes_copy, tress_aes_table_key_form, tress_aes_sub_word]),
    Row::new(tress_aes_table_encrypt, &[Key, Data, Data, Bytes, Tables], 16, &[tress_aes_copy]),
    Row::new(tress_aes_table_stream, &[Key, Iv, Data, Data, Bytes, Tables], 16, &[tress_aes_copy]),
    Row::new(tress_rc6_expand_key, EXPAND, 0, &[]),
    Row::new(tress_rc6_encrypt, BYTES, 16, &[tress_rc6_encrypt_words]),
    Row::new(tress_rc6_decrypt, BYTES, 16, &[tress_rc6_decrypt_words]),
    Row::new(tress_rc6_stream, IV, 16, &[tress_rc6_encrypt_words]),
];
