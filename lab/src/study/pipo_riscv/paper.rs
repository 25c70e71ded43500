//! All figures of the paper that the study prints: Table 5 with our kernel for each of its rows.

use std::sync::LazyLock;

use serde::Deserialize;

/// A row of the table: a kernel of the paper.
#[derive(Deserialize)]
pub(super) struct PaperRow {
    pub(super) name: &'static str,
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

/// A row of the table for code of others, whose calls include the key schedule.
#[derive(Deserialize)]
pub(super) struct KwakRow {
    pub(super) name: &'static str,
    pub(super) bytes: u32,
    /// Cycles as printed; the table leaves those of four blocks out.
    pub(super) cycles: &'static str,
    pub(super) per_byte: &'static str,
    /// Rows of the program whose cycles together are those of our call with the key schedule.
    pub(super) ours: Vec<&'static str>,
}

impl KwakRow {
    pub(super) fn per_byte(&self) -> f64 {
        self.per_byte.parse().unwrap_or(f64::NAN)
    }
}

/// The paper's tables, in its order.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(super) struct PaperTables {
    pub(super) table_5: [PaperRow; 7],
    /// Kwak, Kim and Seo, in Table 5. No single row of the program has one block with its key schedule. With four blocks, the kernel with
    /// little memory starts from the bytes of the key.
    pub(super) kwak: [KwakRow; 2],
    /// Published cycles per byte, measured on boards with an FE310: of what, the figure, and by whom.
    pub(super) published: [(&'static str, &'static str, &'static str); 8],
}

pub(super) static PAPER: LazyLock<PaperTables> =
    LazyLock::new(|| serde_json::from_str(include_str!("paper.json")).expect("the paper's tables"));

/// Largest relative difference at which the rewritten layout is near the paper's figure.
pub(super) const NEAR: f64 = 0.05;
