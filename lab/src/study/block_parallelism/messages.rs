//! Fig. 8: many messages of one block at issue 8.

use super::super::{Claim, Effort, Error};
use super::{
    Curve, PAPER_MESSAGES, PAPER_ONE_BLOCK, ProgramParameters, RaptorVariant, Scale, Section, SimulatedRun,
    compare_with_paper, count, curves, doubling, kind_name,
};
use super::{cipher_modes, modes_differ_little, picture, row, simulate};

const MOST: u32 = 128;

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let axis = doubling(MOST);
    let runs = |is_messages: bool| -> Vec<SimulatedRun> {
        let work = move |cipher, mode, count| {
            let (messages, blocks) = if is_messages { (count, 1) } else { (1, count) };
            ProgramParameters { messages, blocks, ..ProgramParameters::new(cipher, mode) }
        };
        cipher_modes()
            .flat_map(|(cipher, mode)| axis.iter().map(move |&count| (cipher, mode, count)))
            .map(|(cipher, mode, count)| SimulatedRun {
                core: RaptorVariant::paper(8),
                work: work(cipher, mode, count),
            })
            .collect()
    };
    let of_messages = runs(true);
    let figures = simulate::all(&of_messages)?;
    let curves_of_messages = curves(&axis, &figures);
    let curves_of_blocks = curves(&axis, &simulate::all(&runs(false))?);
    let mut section = Section::new(
        "Messages of one block on one processor of issue 8, with a key setup for each. The text of the paper gives the \
               end points of its curves.",
    );
    for (run, figures) in of_messages.iter().zip(&figures) {
        let paper = match run.work.messages {
            1 => Some(PAPER_ONE_BLOCK.of(run.work.cipher)),
            MOST => Some(PAPER_MESSAGES.of(run.work.cipher)),
            _ => None,
        };
        section.rows.push(row(
            format!("{}, {}", kind_name(&run.work), count(run.work.messages, "message")),
            paper,
            figures,
        ));
    }
    for (figures, (cipher, mode)) in figures.chunks(axis.len()).zip(cipher_modes()) {
        let what = format!("{}, {MOST} messages", kind_name(&ProgramParameters::new(cipher, mode)));
        section.verdicts.push(compare_with_paper(&what, PAPER_MESSAGES.of(cipher), &figures[axis.len() - 1]));
    }
    for ((cipher, mode), (messages, blocks)) in cipher_modes().zip(curves_of_messages.iter().zip(&curves_of_blocks)) {
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
    section.verdicts.push(modes_differ_little(&curves_of_messages));
    section.pictures.push(picture(
        "messages",
        "Messages of one block, issue 8",
        "messages",
        &curves_of_messages,
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
    use super::{super::SimulatedCipher, *};

    /// By hand: 9 of 10 is halfway between 8 at 8 and 10 at 16.
    #[test]
    fn a_curve_saturates_between_its_points() {
        let at = |points| saturation_point(&Curve { cipher: SimulatedCipher::PAPER[0], points });
        assert_eq!(at(vec![(1.0, 2.0), (8.0, 8.0), (16.0, 10.0)]), 12.0);
        assert_eq!(at(vec![(1.0, 10.0), (2.0, 10.0)]), 1.0);
    }
}
