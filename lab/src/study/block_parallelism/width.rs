//! Fig. 6: one message of one block, by issue width.

use super::super::{Claim, Effort, Error};
use super::{
    PAPER_ONE_BLOCK, RaptorVariant, Scale, Section, SimulatedRun, SimulationFigures, Sweep, Varied, modes_differ_little,
};

const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
/// Index of the issue width from which the paper's curves are flat.
const FLAT: usize = 3;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
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
    section
        .verdicts
        .push(Claim::Paper.judge(format!("flat from issue 8 on: 16 gains {:.0} % at most", 100.0 * gain), gain <= 0.1));
    let is_above =
        sweep.curves.chunks(2).all(|pair| pair[0].points.iter().zip(&pair[1].points).all(|(a, b)| a.1 >= b.1));
    section.verdicts.push(Claim::Paper.judge("Rijndael's IPC is above that of RC6 at every width".into(), is_above));
    section.verdicts.push(modes_differ_little(&sweep.curves));
    section.pictures.push(sweep.picture(
        "width",
        "One block",
        "issue width",
        Scale::Logarithmic,
        Some(PAPER_ONE_BLOCK),
    ));
    Ok(section)
}
