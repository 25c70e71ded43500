//! AES by strategy: J. Park and G. Oh, "A Study on Parallel AES Cipher Algorithm based on Multi Processor" (in
//! Korean), which splits the rows of one state over threads with OpenMP. The study compares this with blocks,
//! segments and lanes.
//!
//! The paper's AES, and all that it does with threads, is a program in C (openmp.c, aes.h). Lanes, and the strategies that
//! are compared with them, use the library.

mod amdahl;
mod conclude;
mod files;
mod functions;
mod harts;
mod headline;
mod misprints;
mod openmp;
mod operations;
mod paper;
mod same_bytes;
mod strategy;
mod turns;

use tress_peers::Direction;

use super::{Study, cores, part};

pub(super) const STUDY: Study = Study {
    name: "aes-strategies",
    title: "AES by strategy: rows, blocks, segments, lanes",
    texts: include_str!("texts.txt"),
    parts: &[
        part("files", "Five kinds of files (Table 4)", same_bytes::run),
        part("headline", "100 MB of text (section 4.3)", headline::run),
        part("functions", "Time by function and core usage (sections 4.3, 4.4)", functions::run),
        part("operations", "Operations and synchronisation (section 4.2)", operations::run),
        part("harts", "Several small cores (section V)", harts::run),
        part("amdahl", "Amdahl's law (section 2.2)", amdahl::run),
        part("misprints", "Misprints", misprints::run),
    ],
    machine: None,
    // A change of the C program makes the sections again.
    inputs: |_| Ok(openmp::SOURCES.map(|(_, source)| source).concat()),
    conclude: conclude::conclude,
};

/// Bytes of a block.
const BLOCK: usize = 16;
/// The key of all files; its value is arbitrary.
const KEY: [u8; BLOCK] = *b"sixteen byte key";

/// The functions of a round, in the order in which the C program reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    SubBytes,
    ShiftRows,
    MixColumns,
    AddRoundKey,
}

impl Function {
    const ALL: [Function; 4] = [Function::SubBytes, Function::ShiftRows, Function::MixColumns, Function::AddRoundKey];

    fn name(self) -> &'static str {
        ["SubBytes", "ShiftRows", "MixColumns", "AddRoundKey"][self as usize]
    }
}

/// A gain or a loss with three digits, for a sentence that continues with "as".
fn times(gain: f64) -> String {
    let factor = if gain >= 1.0 { gain } else { 1.0 / gain };
    let unit = 10f64.powi(factor.log10() as i32 - 2);
    let figure = (factor / unit).round() * unit;
    format!(
        "{figure:.*} times as {}",
        2usize.saturating_sub(figure.log10() as usize),
        if gain >= 1.0 { "fast" } else { "slow" }
    )
}
