//! Table 1 of the paper and the two figures in the text below it, against `tress_plan`.

use tress_plan::Problem;

use super::super::{Claim, Effort, Error, Picture, Section, StudyRow, Verdict};
use super::paper::{R_COMP, T_SYN, TABLE_1};
use crate::picture;

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "table-1", &[]);
    let mut differ = Vec::new();
    for (bytes, size, r_comm, link, speedup, stages) in TABLE_1 {
        let problem = Problem::new(bytes, R_COMP, r_comm, T_SYN);
        let Ok(plan) = problem.plan() else {
            return Err(Error::Disagreement("the plan for the figures of the paper".into()));
        };
        let row = |what: &str, paper: &str, model| StudyRow {
            what: format!("{size}, {link}: {what}"),
            paper: Some(paper.into()),
            model: Some(model),
            ..StudyRow::default()
        };
        section.rows.push(row("speed-up", speedup, plan.speedup));
        section.rows.push(row("m_opt", stages, plan.optimal_stages));
        // Truncated or rounded to the two digits of the paper.
        let hundredths = plan.speedup * 100.0;
        let printed = [hundredths.floor(), hundredths.round()].map(|value| format!("{:.2}", value / 100.0));
        if !printed.iter().any(|printed| printed == speedup) {
            differ.push(format!("{size}, {link}: speed-up {speedup}, not {:.4}", plan.speedup));
        }
        if plan.stages.to_string() != stages {
            differ.push(format!("{size}, {link}: m_opt {stages}, but equation 2 gives {:.1}", plan.optimal_stages));
        }
        if bytes == 10_000_000_000 && link == "100 Mbit/s" {
            let title = "10 GB over 100 Mbit/s, the model of the paper".into();
            section.pictures.push(Picture::new("table-1", picture::plan::chart(&problem, &plan, title)));
        }
    }
    let right = 2 * TABLE_1.len() - differ.len();
    let claim = format!("{right} of {} figures follow from the equations", 2 * TABLE_1.len());
    section.verdicts.push(Claim::Paper.judge(claim, differ.len() <= 1));
    section.verdicts.extend(differ.into_iter().map(Verdict::Misprint));
    Ok(section)
}
