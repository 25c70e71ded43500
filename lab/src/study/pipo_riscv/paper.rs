//! All figures of the paper that the study prints: Table 5 with our kernel for each of its rows, and figures of sections 3.2 and 4.

/// A row of the table: a kernel of the paper.
pub(super) struct PaperRow {
    pub(super) name: &'static str,
    /// Bytes of a call.
    pub(super) bytes: u32,
    pub(super) cycles: u32,
    /// Cycles per byte, as printed.
    pub(super) per_byte: &'static str,
    /// Row of the program with the paper's layout, rewritten.
    pub(super) layout: &'static str,
    /// Rows of the program with our kernel: on the same bytes, and on 1024 bytes.
    pub(super) ours: &'static str,
    pub(super) ours_bulk: &'static str,
    /// Bytes of the prepared key: of the paper and its rewritten layout, and of ours.
    pub(super) key_bytes: [u32; 2],
}

impl PaperRow {
    pub(super) fn per_byte(&self) -> f64 {
        self.per_byte.parse().unwrap_or(f64::NAN)
    }
}

/// In the paper's order.
pub(super) const TABLE_5: [PaperRow; 7] = [
    PaperRow {
        name: "one block, ECB",
        bytes: 8,
        cycles: 1217,
        per_byte: "152.21",
        layout: "pipo128_paper_encrypt1 8",
        ours: "pipo128_encrypt1 8",
        ours_bulk: "pipo128_encrypt1 1024",
        key_bytes: [112, 112],
    },
    PaperRow {
        name: "one block, CBC",
        bytes: 8,
        cycles: 1240,
        per_byte: "155",
        layout: "pipo128_paper_cbc_encrypt1 8",
        ours: "pipo128_cbc_encrypt1 8",
        ours_bulk: "pipo128_cbc_encrypt1 1024",
        key_bytes: [112, 112],
    },
    PaperRow {
        name: "one block, CTR",
        bytes: 8,
        cycles: 1242,
        per_byte: "155.25",
        layout: "pipo128_paper_ctr1 8",
        ours: "pipo128_ctr1 8",
        ours_bulk: "pipo128_ctr1 1024",
        key_bytes: [112, 112],
    },
    PaperRow {
        name: "four blocks, ECB, memory",
        bytes: 32,
        cycles: 2715,
        per_byte: "84.85",
        layout: "pipo128_paper_memory4 32",
        ours: "pipo128_small_encrypt4 32",
        ours_bulk: "pipo128_small_encrypt4 1024",
        key_bytes: [112, 16],
    },
    PaperRow {
        name: "four blocks, ECB, speed",
        bytes: 32,
        cycles: 1918,
        per_byte: "59.93",
        layout: "pipo128_paper_encrypt4 32",
        ours: "pipo128_encrypt4 32",
        ours_bulk: "pipo128_encrypt4 1024",
        key_bytes: [448, 112],
    },
    PaperRow {
        name: "four blocks, CTR",
        bytes: 32,
        cycles: 1907,
        per_byte: "59.59",
        layout: "pipo128_paper_ctr4 32",
        ours: "pipo128_ctr4 32",
        ours_bulk: "pipo128_ctr4 1024",
        key_bytes: [448, 112],
    },
    PaperRow {
        name: "four blocks, CBC decryption",
        bytes: 32,
        cycles: 1942,
        per_byte: "60.68",
        layout: "pipo128_paper_cbc_decrypt4 32",
        ours: "pipo128_cbc_decrypt4 32",
        ours_bulk: "pipo128_cbc_decrypt4 1024",
        key_bytes: [448, 112],
    },
];

/// A row of the table for code of others, whose calls include the key schedule.
pub(super) struct KwakRow {
    pub(super) name: &'static str,
    pub(super) bytes: u32,
    /// Cycles as printed; the table leaves those of four blocks out.
    pub(super) cycles: &'static str,
    pub(super) per_byte: &'static str,
    /// Rows of the program whose cycles together are those of our call with the key schedule.
    pub(super) ours: &'static [&'static str],
}

impl KwakRow {
    pub(super) fn per_byte(&self) -> f64 {
        self.per_byte.parse().unwrap_or(f64::NAN)
    }
}

/// Kwak, Kim and Seo, in Table 5. No single row of the program has one block with its key schedule. With four blocks, the kernel with
/// little memory starts from the bytes of the key.
pub(super) const KWAK: [KwakRow; 2] = [
    KwakRow {
        name: "one block, ECB, with key schedule (Kwak, Kim and Seo)",
        bytes: 8,
        cycles: "2078",
        per_byte: "259.75",
        ours: &["pipo128_prepare1 0", "pipo128_encrypt1 8"],
    },
    KwakRow {
        name: "four blocks, ECB, with key schedule (Kwak, Kim and Seo)",
        bytes: 32,
        cycles: "",
        per_byte: "113.7",
        ours: &["pipo128_small_encrypt4 32"],
    },
];

/// Section 3.2: bytes of the round keys, and of the widened ones.
pub(super) const ROUND_KEYS_BYTES: [u32; 2] = [224, 896];

/// Section 4, in order: gains of one block and of four with little memory and with speed over Kwak, Kim and Seo; and of these two over
/// one block.
pub(super) const GAINS: [&str; 5] = ["1.7", "1.34", "1.89", "1.79", "2.53"];

/// Largest relative difference at which the rewritten layout is near the paper's figure.
pub(super) const NEAR: f64 = 0.05;
/// Published cycles per byte, measured on boards with an FE310.
pub(super) const PUBLISHED: [(&str, &str, &str); 8] = [
    ("PIPO-64/128 ECB, one block", "152.21", "the paper, Table 5"),
    ("PIPO-64/128 ECB, four blocks", "59.93", "the paper, Table 5"),
    ("PIPO-64/128 CTR, four blocks", "59.59", "the paper, Table 5"),
    (
        "PIPO-64/128 ECB, one block, with key schedule",
        KWAK[0].per_byte,
        "Kwak, Kim and Seo 2021, in the paper's Table 5",
    ),
    (
        "PIPO-64/128 ECB, four blocks, with key schedule",
        KWAK[1].per_byte,
        "Kwak, Kim and Seo, WISA 2021, in the paper's Table 5",
    ),
    ("AES-128, constant time, eight blocks", "78.9", "Adomnicai and Peyrin, TCHES 2021"),
    ("AES-128, constant time, two blocks", "89", "Adomnicai and Peyrin, TCHES 2021"),
    ("AES-128 CTR, tables", "57", "Stoffelen, LATINCRYPT 2019"),
];
