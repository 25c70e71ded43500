//! What software that takes several chains at a time gets out of a narrow machine, and what a wide machine gets out of one.

use super::super::{Effort, Error, Picture, Row};
use super::{Axis, Chart, Cipher, Core, Line, Mode, Run, Scale, Section, Work, simulate, verdict};

const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
const PAIRS: [[Cipher; 2]; 2] = [[Cipher::Rijndael, Cipher::RijndaelBitsliced], [Cipher::Rc6, Cipher::Rc6Lanes]];
/// As many as the bitsliced code takes at a time.
const MESSAGES: u32 = 16;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let blocks = if effort.is_quick { 16 } else { 64 };
    let mut section = Section {
        text: format!(
            "{MESSAGES} messages of {blocks} blocks in CBC, warm, on one processor: one chain after the other by the programs \
             of the submissions, and side by side by Tress' portable code, Rijndael bitsliced (16 chains in 64-bit words, no \
             tables), RC6 four chains at a time. Cycles of the encryption alone, for a block."
        ),
        ..Section::default()
    };
    let work = |cipher| Work { blocks, messages: MESSAGES, warm: 1, ..Work::new(cipher, Mode::Cbc) };
    let runs: Vec<Run> = PAIRS
        .as_flattened()
        .iter()
        .flat_map(|&cipher| WIDTHS.map(|issue| Run { core: Core::wide(issue), work: work(cipher) }))
        .collect();
    let figures = simulate::all(&runs, effort)?;
    let count = f64::from(blocks * MESSAGES);
    let mut lines = Vec::new();
    for (runs, figures) in runs.chunks(WIDTHS.len()).zip(figures.chunks(WIDTHS.len())) {
        let name = runs[0].work.cipher.name();
        let mut points = Vec::new();
        for (run, figures) in runs.iter().zip(figures) {
            let cycles = figures.encrypt_cycles as f64 / count;
            points.push((f64::from(run.core.issue), cycles));
            section.rows.push(Row {
                what: format!("{name}, issue {}", run.core.issue),
                unit: "cycles a block".into(),
                simulated: Some(cycles),
                ..Row::default()
            });
        }
        lines.push(Line { name: name.into(), points });
    }
    for pair in lines.chunks(2) {
        let (one, lanes) = (&pair[0], &pair[1]);
        for (place, width) in WIDTHS.into_iter().enumerate().filter(|(_, width)| [1, 8].contains(width)) {
            let gain = one.points[place].1 / lanes.points[place].1;
            section.verdicts.push(verdict(
                format!("issue {width}: {} takes 1/{gain:.2} of the cycles of {}", lanes.name, one.name),
                gain > 1.0,
            ));
        }
        // The narrowest machine on which lanes are as fast as one chain on the widest.
        let widest = one.points[WIDTHS.len() - 1].1;
        let narrow = lanes.points.iter().find(|point| point.1 <= widest).map(|point| point.0);
        section.verdicts.push(match narrow {
            Some(width) => {
                verdict(format!("{} at issue {width} are as fast as {} at issue 16", lanes.name, one.name), true)
            }
            None => verdict(format!("{} at some width are as fast as {} at issue 16", lanes.name, one.name), false),
        });
    }
    let values = || lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let chart = Chart {
        title: format!("{MESSAGES} messages in CBC on one processor"),
        x: Axis { name: "issue width".into(), from: 1.0, to: 16.0, scale: Scale::Logarithmic },
        y: Axis { name: "cycles a block".into(), from: low / 1.5, to: high * 1.5, scale: Scale::Logarithmic },
        lines,
        levels: Vec::new(),
        walls: Vec::new(),
        marks: Vec::new(),
    };
    section.pictures.push(Picture { name: "lanes".into(), svg: chart.svg() });
    Ok(section)
}
