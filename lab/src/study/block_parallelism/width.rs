//! Fig. 6: one message of one block, by issue width.

use super::super::{Claim, Effort, Error};
use super::{
    PAPER_ONE_BLOCK, ProgramParameters, RaptorVariant, Scale, Section, SimulatedRun, SimulationFigures, cipher_modes,
    compare_with_paper, curves, kind_name, modes_differ_little, picture,
};
use super::{row, simulate};

const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
/// Index of the issue width from which the paper's curves are flat.
const FLAT: usize = 3;

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let runs: Vec<SimulatedRun> = cipher_modes()
        .flat_map(|(cipher, mode)| {
            WIDTHS.map(|issue| SimulatedRun {
                core: RaptorVariant::paper(issue),
                work: ProgramParameters::new(cipher, mode),
            })
        })
        .collect();
    let figures = simulate::all(&runs)?;
    let curves = curves(&WIDTHS, &figures);
    let mut section = Section {
        text:
            "One block of one message on one processor: a key setup and an encryption, with code and tables not yet in any \
               cache. According to the text of the paper, IPC rises up to issue 8 and does not exceed these figures at 16."
                .into(),
        ..Section::default()
    };
    for (run, figures) in runs.iter().zip(&figures) {
        let paper = (run.core.issue >= WIDTHS[FLAT]).then(|| PAPER_ONE_BLOCK.of(run.work.cipher));
        section.rows.push(row(format!("{}, issue {}", kind_name(&run.work), run.core.issue), paper, figures));
    }
    let at_end = |figures: &[SimulationFigures]| [figures[FLAT].ipc(), figures[FLAT + 1].ipc()];
    for (figures, (cipher, mode)) in figures.chunks(WIDTHS.len()).zip(cipher_modes()) {
        let what = format!("{}, issue 16", kind_name(&ProgramParameters::new(cipher, mode)));
        section.verdicts.push(compare_with_paper(&what, PAPER_ONE_BLOCK.of(cipher), &figures[FLAT + 1]));
    }
    let gain =
        figures.chunks(WIDTHS.len()).map(at_end).map(|[eight, sixteen]| sixteen / eight - 1.0).fold(0.0, f64::max);
    section
        .verdicts
        .push(Claim::Paper.judge(format!("flat from issue 8 on: 16 gains {:.0} % at most", 100.0 * gain), gain <= 0.1));
    let is_above = curves.chunks(2).all(|pair| pair[0].points.iter().zip(&pair[1].points).all(|(a, b)| a.1 >= b.1));
    section.verdicts.push(Claim::Paper.judge("Rijndael's IPC is above that of RC6 at every width".into(), is_above));
    section.verdicts.push(modes_differ_little(&curves));
    section.pictures.push(picture(
        "width",
        "One block",
        "issue width",
        &curves,
        Scale::Logarithmic,
        Some(PAPER_ONE_BLOCK),
    ));
    Ok(section)
}
