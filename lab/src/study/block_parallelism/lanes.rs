//! Software that processes several chains at a time on narrow processors, compared with one chain on wide ones.

use super::super::{Claim, Effort, Error, Picture, StudyRow, YOURS};
use super::{
    Line, ProgramParameters, RaptorVariant, Scale, Section, SimulatedCipher, SimulatedMode, SimulatedRun, chart, range,
    simulate,
};
use crate::picture::{Chart, Mark};

const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
const PAIRS: [[SimulatedCipher; 2]; 2] = [
    [SimulatedCipher::Rijndael, SimulatedCipher::RijndaelBitsliced],
    [SimulatedCipher::Rc6, SimulatedCipher::Rc6Pairs],
];
/// The number that the bitsliced code processes at a time.
const MESSAGES: u32 = 16;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let blocks = if effort.is_quick { 16 } else { 64 };
    let mut section = Section::begin(&super::STUDY, "lanes", &[("messages", &MESSAGES), ("blocks", &blocks)]);
    let work = |cipher| ProgramParameters {
        blocks,
        messages: MESSAGES,
        warm: 1,
        ..ProgramParameters::new(cipher, SimulatedMode::Cbc)
    };
    let runs: Vec<SimulatedRun> = PAIRS
        .as_flattened()
        .iter()
        .flat_map(|&cipher| WIDTHS.map(|issue| SimulatedRun { core: RaptorVariant::wide(issue), work: work(cipher) }))
        .collect();
    let figures = simulate::all(&runs)?;
    let count = f64::from(blocks * MESSAGES);
    let mut lines = Vec::new();
    for (runs, figures) in runs.chunks(WIDTHS.len()).zip(figures.chunks(WIDTHS.len())) {
        let name = runs[0].work.cipher.name();
        let mut points = Vec::new();
        for (run, figures) in runs.iter().zip(figures) {
            let cycles = figures.encrypt_cycles as f64 / count;
            points.push((f64::from(run.core.issue), cycles));
            section.rows.push(StudyRow::simulated(
                format!("{name}, issue {}", run.core.issue),
                "cycles per block",
                cycles,
            ));
        }
        lines.push(Line { name: name.into(), points });
    }
    let marks = on_own(effort, work, count, &mut section)?;
    let at = |line: &Line, width: u32| {
        line.points.iter().find(|point| point.0 == f64::from(width)).map_or(0.0, |point| point.1)
    };
    let ratio = |place: usize, width| at(&lines[place], width) / at(&lines[place + 1], width);
    for (place, name) in [(0, "Rijndael, bitsliced"), (2, "RC6, two lanes")] {
        for width in [1, 8] {
            let gain = ratio(place, width);
            let claim = format!("{name}: faster than one chain at issue {width}: {gain:.2} times as fast");
            section.verdicts.push(Claim::Ours.judge(claim, gain > 1.0));
        }
    }
    let (narrow, wide) = (at(&lines[3], 4), at(&lines[2], 16));
    section.verdicts.push(Claim::Ours.judge(
        format!(
            "RC6: two lanes at issue 4 ({narrow:.0} cycles per block) are faster than one chain at issue 16 ({wide:.0})"
        ),
        narrow < wide,
    ));
    let values = || lines.iter().flat_map(|line| &line.points).chain(marks.iter().map(|mark| &mark.at));
    let (low, high) = range(values().map(|point| point.1));
    let (narrowest, widest) = range(values().map(|point| point.0));
    let y = ("cycles per block", low / 1.5, high * 1.5, Scale::Logarithmic);
    let title = format!("{MESSAGES} messages in CBC on one processor");
    let by_width = chart(title, ("issue width", narrowest, widest, Scale::Logarithmic), y, lines);
    section.pictures.push(Picture::new("lanes", Chart { marks, ..by_width }));
    Ok(section)
}

/// Adds the rows of the user's machine, and returns their marks. `blocks` is the number of blocks in all messages.
fn on_own(
    effort: &Effort,
    work: impl Fn(SimulatedCipher) -> ProgramParameters,
    blocks: f64,
    section: &mut Section,
) -> Result<Vec<Mark>, Error> {
    let Some(own) = &effort.own else { return Ok(Vec::new()) };
    let core = RaptorVariant::of(&own.machine);
    let runs = PAIRS.as_flattened().iter().map(|&cipher| SimulatedRun { core, work: work(cipher) });
    let runs: Vec<SimulatedRun> = runs.collect();
    let figures = simulate::all(&runs).map_err(|error| Error::Machine(format!("{YOURS}: {error}")))?;
    let mut marks = Vec::new();
    for (run, figures) in runs.iter().zip(figures) {
        let (name, cycles) = (run.work.cipher.name(), figures.encrypt_cycles as f64 / blocks);
        section.rows.push(StudyRow::simulated(format!("{name}, {YOURS}"), "cycles per block", cycles));
        marks.push(Mark { name: format!("{YOURS}, {name}"), at: (f64::from(core.issue), cycles) });
    }
    Ok(marks)
}
