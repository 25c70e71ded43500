//! Figs. 6 to 8: one message of one block by issue width, one message of many blocks, and many messages of one block.

use super::super::{Claim, Effort, Error};
use super::{
    Curve, PAPER_BLOCKS, PAPER_MESSAGES, PAPER_ONE_BLOCK, ProgramParameters, RaptorVariant, Section, SimulatedRun,
    SimulationFigures, Sweep, Varied, cipher_modes, count, doubling, kind_name,
};

const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
/// Index of the issue width from which the paper's curves are flat.
const FLAT: usize = 3;

pub(super) fn width(effort: &Effort) -> Result<Section, Error> {
    let run = |work, issue| SimulatedRun { core: RaptorVariant::paper(issue), work };
    let sweep = Sweep::new(effort, &WIDTHS, Varied::Issue, run)?;
    let mut section = Section::begin(&super::STUDY, "width", &[]);
    sweep.add_to(&mut section, &|issue| format!("issue {issue}"), &|issue| {
        (issue >= WIDTHS[FLAT]).then_some(PAPER_ONE_BLOCK)
    });
    let at_end = |figures: &[SimulationFigures]| [figures[FLAT].ipc(), figures[FLAT + 1].ipc()];
    let gain = sweep
        .by_curve()
        .map(|(_, figures)| at_end(figures))
        .map(|[eight, sixteen]| sixteen / eight - 1.0)
        .fold(0.0, f64::max);
    let flat = format!("flat from issue 8 on: 16 gains {:.0} % at most", 100.0 * gain);
    section.verdicts.push(Claim::Paper.judge(flat, gain <= 0.1));
    let is_above =
        sweep.curves.chunks(2).all(|pair| pair[0].points.iter().zip(&pair[1].points).all(|(a, b)| a.1 >= b.1));
    section.verdicts.push(Claim::Paper.judge("Rijndael's IPC is above that of RC6 at every width".into(), is_above));
    Ok(sweep.end(section, "width", "One block", "issue width", PAPER_ONE_BLOCK))
}

pub(super) fn blocks(effort: &Effort) -> Result<Section, Error> {
    const MOST: u32 = 1024;
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
    let claim = format!("IPC rises with the number of blocks in a message, up to {MOST}");
    section.verdicts.push(Claim::Paper.judge(claim, rises));
    Ok(sweep.end(section, "blocks", "One message, issue 8", "blocks in the message", PAPER_BLOCKS))
}

pub(super) fn messages(effort: &Effort) -> Result<Section, Error> {
    const MOST: u32 = 128;
    let axis = doubling(MOST);
    let no_own = Effort::default();
    let sweep = |is_messages: bool| {
        Sweep::new(if is_messages { effort } else { &no_own }, &axis, Varied::Work, |work, count| {
            let (messages, blocks) = if is_messages { (count, 1) } else { (1, count) };
            SimulatedRun { core: RaptorVariant::paper(8), work: ProgramParameters { messages, blocks, ..work } }
        })
    };
    let (of_messages, of_blocks) = (sweep(true)?, sweep(false)?);
    let mut section = Section::begin(&super::STUDY, "messages", &[]);
    let printed = |messages| match messages {
        1 => Some(PAPER_ONE_BLOCK),
        MOST => Some(PAPER_MESSAGES),
        _ => None,
    };
    of_messages.add_to(&mut section, &|messages| count(messages, "message"), &printed);
    for ((cipher, mode), (messages, blocks)) in cipher_modes().zip(of_messages.curves.iter().zip(&of_blocks.curves)) {
        let [messages, blocks] = [saturation_point(messages), saturation_point(blocks)];
        let name = kind_name(&ProgramParameters::new(cipher, mode));
        section.verdicts.push(Claim::Paper.judge(
            format!(
                "{name}: IPC saturates sooner with more messages than with more blocks: it reaches 90 % of the value at {MOST} \
                 with about {messages:.1} messages, and with about {blocks:.1} blocks"
            ),
            messages < blocks,
        ));
    }
    Ok(of_messages.end(section, "messages", "Messages of one block, issue 8", "messages", PAPER_MESSAGES))
}

/// Where a curve first reaches nine tenths of its last value, on lines between its points.
fn saturation_point(curve: &Curve) -> f64 {
    let goal = 0.9 * curve.points.last().map_or(0.0, |point| point.1);
    let crossing = curve.points.windows(2).find(|pair| pair[1].1 >= goal && pair[0].1 < goal);
    crossing.map_or(1.0, |pair| {
        let [(x, y), (next_x, next_y)] = [pair[0], pair[1]];
        x + (goal - y) / (next_y - y) * (next_x - x)
    })
}

#[cfg(test)]
mod tests {
    use super::super::SimulatedCipher;
    use super::*;

    /// By hand: 9 of 10 is halfway between 8 at 8 and 10 at 16.
    #[test]
    fn a_curve_saturates_between_its_points() {
        let at = |points| saturation_point(&Curve { cipher: SimulatedCipher::PAPER[0], points });
        assert_eq!(at(vec![(1.0, 2.0), (8.0, 8.0), (16.0, 10.0)]), 12.0);
        assert_eq!(at(vec![(1.0, 10.0), (2.0, 10.0)]), 1.0);
    }
}
