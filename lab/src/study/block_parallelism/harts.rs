//! Fig. 10: threads on several processors of issue 2.

use super::super::{Claim, Effort, Error};
use super::{
    PAPER_HARTS, ProgramParameters, RaptorVariant, Scale, Section, SimulatedRun, SimulationFigures, StudyRow, Sweep,
    Varied, YOURS, compare_with_paper, count, kind_name, row,
};

const HARTS: [u32; 3] = [1, 2, 4];
/// The number of the paper's threads.
const MESSAGES: u32 = 4;
/// Blocks of a long message.
const LONG: u32 = 256;
/// Least gain of four threads, on messages that are long enough for warm caches and predictions.
const LEAST_GAIN: f64 = 3.8;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "harts", &[("messages", &MESSAGES), ("long", &LONG)]);
    for blocks in [LONG, 1] {
        let sweep = Sweep::new(effort, &HARTS, Varied::Harts, |work, harts| SimulatedRun {
            core: RaptorVariant::paper(2),
            work: ProgramParameters { blocks, messages: MESSAGES, harts, ..work },
        })?;
        let (length, is_long) = (count(blocks, "block"), blocks == LONG);
        let own = sweep.own.as_deref();
        for (sweep, whose) in [(&sweep, String::new())].into_iter().chain(own.map(|own| (own, format!(", {YOURS}")))) {
            for (run, figures) in sweep.runs.iter().zip(&sweep.figures) {
                let harts = run.work.harts;
                let what = format!("{}, {length}, {}{whose}", kind_name(&run.work), count(harts, "thread"));
                let paper = (is_long && harts == 4 && whose.is_empty()).then(|| PAPER_HARTS.of(run.work.cipher));
                section.rows.push(row(what.clone(), paper, figures));
                section.rows.push(StudyRow::simulated(what, "cycles", figures.cycles as f64));
            }
        }
        for (runs, figures) in sweep.by_curve() {
            let (name, cipher) = (kind_name(&runs[0].work), runs[0].work.cipher);
            let gain = gain(figures);
            if is_long {
                let what = format!("{name}, {length}, 4 threads");
                section.verdicts.push(compare_with_paper(&what, PAPER_HARTS.of(cipher), &figures[2]));
                let claim =
                    format!("{name}, {length}: four threads are nearly four times as fast as one: {gain:.2} times");
                section.verdicts.push(Claim::Paper.judge(claim, gain >= LEAST_GAIN));
            } else {
                let claim = format!("{name}, {length}: four threads pay off, {gain:.2} times as fast as one");
                section.verdicts.push(Claim::Ours.judge(claim, gain > 1.5));
            }
        }
        let (paper, name) = (is_long.then_some(PAPER_HARTS), if is_long { "harts" } else { "harts-short" });
        let title = format!("{MESSAGES} messages of {length}, issue 2");
        section.pictures.push(sweep.picture(name, &title, "processors and threads", Scale::Linear, paper));
    }
    Ok(section)
}

fn gain(figures: &[SimulationFigures]) -> f64 {
    figures[0].cycles as f64 / figures[2].cycles.max(1) as f64
}
