//! AES by strategy: J. Park and G. Oh, "A Study on Parallel AES Cipher Algorithm based on Multi Processor" (in Korean), which
//! splits the rows of one state over threads with OpenMP; beside it blocks, segments and lanes.

mod amdahl;
mod conclude;
mod files;
mod functions;
mod headline;
mod misprints;
mod openmp;
mod operations;
mod paper;
mod plain;
mod same_bytes;
mod strategy;
mod threads;
mod turns;

use super::{Effort, Part, Study, cores};
use plain::BLOCK;
use turns::Budget;

pub(super) const STUDY: Study = Study {
    name: "aes-strategies",
    title: "AES by strategy: rows, blocks, segments, lanes",
    source: "Park and Oh, \"A Study on Parallel AES Cipher Algorithm based on Multi Processor\" (in Korean). The paper's machine: a \
             Core2 T5500 of 1.66 GHz, two cores, Windows XP. It names neither the mode nor the key length. Here files are \
             encrypted with AES-128 in ECB with PKCS #7 padding of 1 to 16 bytes. In ECB, blocks are independent, and decryption \
             uses the inverse functions. This is for comparison only: do not store files in ECB.",
    parts: &[
        Part { name: "files", title: "Five kinds of files (Table 4)", run: same_bytes::run },
        Part { name: "headline", title: "100 MB of text (section 4.3)", run: headline::run },
        Part { name: "functions", title: "Time by function and core usage (sections 4.3, 4.4)", run: functions::run },
        Part { name: "operations", title: "Operations and synchronisation (section 4.2)", run: operations::run },
        Part { name: "amdahl", title: "Amdahl's law (section 2.2)", run: amdahl::run },
        Part { name: "misprints", title: "Misprints", run: misprints::run },
    ],
    inputs: |_| Ok(String::new()),
    conclude: conclude::conclude,
};

/// Of every file: bytes as good as any.
const KEY: [u8; BLOCK] = *b"sixteen byte key";
/// Calls of something that takes nanoseconds, for one sample.
const MICRO: u32 = 20_000;

/// What a run of a strategy may take.
fn budget(effort: &Effort) -> Budget {
    if effort.is_quick { Budget { rows_s: 0.1, others_s: 1.0 } } else { Budget { rows_s: 0.4, others_s: 10.0 } }
}

/// Cells of a row.
fn cells<const N: usize>(cells: [String; N]) -> Vec<String> {
    cells.into()
}

/// Names of columns.
fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A gain, or a loss, in words that `as` has to follow.
fn times(gain: f64) -> String {
    if gain >= 1.0 { format!("{} times as fast", three(gain)) } else { format!("{} times as slow", three(1.0 / gain)) }
}

/// Three digits that count.
fn three(value: f64) -> String {
    let decimals =
        if value == 0.0 || !value.is_finite() { 0.0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0) };
    format!("{value:.0$}", decimals as usize)
}
