//! The paper's Table 5, and our kernel for each of its rows.

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

/// The table's figures of Kwak, Kim and Seo, key schedule included: bytes and cycles per byte of one block and of four.
pub(super) const KWAK: [(u32, f64); 2] = [(8, 259.75), (32, 113.7)];

/// Largest relative difference at which the rewritten layout is near the paper's figure.
pub(super) const NEAR: f64 = 0.05;
