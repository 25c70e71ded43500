//! Fig. 8: many messages of one block at issue 8.

use super::super::{Claim, Effort, Error};
use super::{
    Curve, PAPER_MESSAGES, PAPER_ONE_BLOCK, ProgramParameters, RaptorVariant, Scale, Section, SimulatedRun, Sweep,
    Varied, cipher_modes, count, doubling, kind_name, modes_differ_little,
};

const MOST: u32 = 128;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
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
    section.verdicts.push(modes_differ_little(&of_messages.curves));
    section.pictures.push(of_messages.picture(
        "messages",
        "Messages of one block, issue 8",
        "messages",
        Scale::Logarithmic,
        Some(PAPER_MESSAGES),
    ));
    Ok(section)
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
