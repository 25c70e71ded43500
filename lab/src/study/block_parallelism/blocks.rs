//! Fig. 7: one message of many blocks at issue 8.

use super::super::{Claim, Effort, Error};
use super::{
    PAPER_BLOCKS, PAPER_ONE_BLOCK, ProgramParameters, RaptorVariant, Scale, Section, SimulatedRun, Sweep, Varied,
    count, doubling, modes_differ_little,
};

const MOST: u32 = 1024;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut axis = doubling(MOST);
    if effort.is_quick {
        axis.retain(|blocks| blocks.ilog2() % 2 == 0);
    }
    let sweep = Sweep::new(effort, &axis, Varied::Work, |work, blocks| SimulatedRun {
        core: RaptorVariant::paper(8),
        work: ProgramParameters { blocks, ..work },
    })?;
    let mut section = Section::begin(&super::STUDY, "blocks", &[]);
    let printed = |blocks| match blocks {
        1 => Some(PAPER_ONE_BLOCK),
        MOST => Some(PAPER_BLOCKS),
        _ => None,
    };
    sweep.add_to(&mut section, &|blocks| count(blocks, "block"), &printed);
    let rises = sweep.curves.iter().all(|curve| curve.points.windows(2).all(|pair| pair[1].1 >= 0.99 * pair[0].1));
    section
        .verdicts
        .push(Claim::Paper.judge(format!("IPC rises with the number of blocks in a message, up to {MOST}"), rises));
    section.verdicts.push(modes_differ_little(&sweep.curves));
    section.pictures.push(sweep.picture(
        "blocks",
        "One message, issue 8",
        "blocks in the message",
        Scale::Logarithmic,
        Some(PAPER_BLOCKS),
    ));
    Ok(section)
}
