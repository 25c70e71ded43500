//! Fig. 7: one message of many blocks at issue 8.

use super::super::{Claim, Effort, Error};
use super::{
    PAPER_BLOCKS, PAPER_ONE_BLOCK, ProgramParameters, RaptorVariant, Scale, Section, SimulatedRun, cipher_modes,
    compare_with_paper, count, curves, doubling, kind_name,
};
use super::{modes_differ_little, picture, row, simulate};

const MOST: u32 = 1024;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut axis = doubling(MOST);
    if effort.is_quick {
        axis.retain(|blocks| blocks.ilog2() % 2 == 0);
    }
    let runs: Vec<SimulatedRun> = cipher_modes()
        .flat_map(|(cipher, mode)| {
            axis.iter().map(move |&blocks| SimulatedRun {
                core: RaptorVariant::paper(8),
                work: ProgramParameters { blocks, ..ProgramParameters::new(cipher, mode) },
            })
        })
        .collect();
    let figures = simulate::all(&runs)?;
    let curves = curves(&axis, &figures);
    let mut section = Section::new(
        "One message on one processor of issue 8. The text of the paper gives the end points of its curves.",
    );
    for (run, figures) in runs.iter().zip(&figures) {
        let paper = match run.work.blocks {
            1 => Some(PAPER_ONE_BLOCK.of(run.work.cipher)),
            MOST => Some(PAPER_BLOCKS.of(run.work.cipher)),
            _ => None,
        };
        section.rows.push(row(
            format!("{}, {}", kind_name(&run.work), count(run.work.blocks, "block")),
            paper,
            figures,
        ));
    }
    for (figures, (cipher, mode)) in figures.chunks(axis.len()).zip(cipher_modes()) {
        let what = format!("{}, {MOST} blocks", kind_name(&ProgramParameters::new(cipher, mode)));
        section.verdicts.push(compare_with_paper(&what, PAPER_BLOCKS.of(cipher), &figures[axis.len() - 1]));
    }
    let rises = curves.iter().all(|curve| curve.points.windows(2).all(|pair| pair[1].1 >= 0.99 * pair[0].1));
    section
        .verdicts
        .push(Claim::Paper.judge(format!("IPC rises with the number of blocks in a message, up to {MOST}"), rises));
    section.verdicts.push(modes_differ_little(&curves));
    section.pictures.push(picture(
        "blocks",
        "One message, issue 8",
        "blocks in the message",
        &curves,
        Scale::Logarithmic,
        Some(PAPER_BLOCKS),
    ));
    Ok(section)
}
