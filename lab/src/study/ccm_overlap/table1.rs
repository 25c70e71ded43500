//! Table 1 of the paper and the two figures in the text below it, against `tress_plan`.

use tress_plan::Problem;

use super::super::{Effort, Error, Picture, Section, StudyRow, Verdict};
use super::PAPER_R_COMP;
use crate::picture;

/// Every figure of the table fits this value; the paper measured about 10.1 µs.
const T_SYN: f64 = 10e-6;

/// Bytes and their name, R_comm and its name, and the paper's speed-up and m_opt.
const TABLE: [(u64, &str, f64, &str, &str, &str); 8] = [
    (10_000_000, "10 MB", 0.8e-6, "10 Mbit/s", "1.04", "894"),
    (10_000_000, "10 MB", 0.08e-6, "100 Mbit/s", "1.45", "292"),
    (10_000_000, "10 MB", 0.008e-6, "1000 Mbit/s", "1.20", "192"),
    (10_000_000_000, "10 GB", 0.8e-6, "10 Mbit/s", "1.04", "28284"),
    (10_000_000_000, "10 GB", 0.08e-6, "100 Mbit/s", "1.46", "8944"),
    (10_000_000_000, "10 GB", 0.008e-6, "1000 Mbit/s", "1.21", "6082"),
    (10_000_000, "10 MB", PAPER_R_COMP, "as fast as computing", "1.98", "192"),
    (10_000_000_000, "10 GB", PAPER_R_COMP, "as fast as computing", "2.00", "6082"),
];

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section {
        text:
            "Equations 1 and 2 with R_comp = 0.037 µs per byte and T_syn = 10 µs. The paper truncates the digits in its table \
               and rounds the two speed-ups in its text, the last two rows here."
                .into(),
        ..Section::default()
    };
    let mut differ = Vec::new();
    for (bytes, size, r_comm, link, speedup, stages) in TABLE {
        let problem = Problem::new(bytes, PAPER_R_COMP, r_comm, T_SYN);
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
    let right = 2 * TABLE.len() - differ.len();
    section.verdicts.push(Verdict::Holds(format!("{right} of {} figures follow from the equations", 2 * TABLE.len())));
    section.verdicts.extend(differ.into_iter().map(Verdict::Misprint));
    Ok(section)
}
