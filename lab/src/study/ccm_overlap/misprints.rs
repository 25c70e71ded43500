//! Figures and statements of the paper that contradict each other, beside the 292 of Table 1.

use tress_plan::{Problem, Strategy};

use super::super::{Claim, Effort, Error, Section, Verdict};
use super::paper::{BARRIERS_US, R_COMP, T_SYN, TABLE_1};

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "misprints", &[]);
    let verdicts = &mut section.verdicts;
    verdicts.push(Verdict::Misprint(format!(
        "section 2.2: with one core of four for the MAC, CTR takes T_seq/8; three cores are left, so it takes T_seq/6. The bound \
         of {:.1} stays",
        Strategy::MacApart.speedup(4)
    )));
    let (fits, all) = barrier_fits(BARRIERS_US[0].1 * 1e-6);
    verdicts.push(Claim::Print.judge(
        format!(
            "section 4 says that Table 1 is computed with the measured barrier of {} µs; {fits} of its {all} numbers of stages follow from \
             that. With {:.0} µs all but 292 do",
            BARRIERS_US[0].1,
            T_SYN * 1e6
        ),
        fits == all,
    ));
    let best = TABLE_1[..6].iter().filter_map(|row| row.4.parse().ok()).fold(0.0, f64::max);
    verdicts.push(Claim::Print.judge(
        format!(
            "section 5 says that the experiment shows times of 50 % of the sequential one, and a gain of up to 1.4 times. The best figure of \
             Table 1 is {best}, which is {:.0} %; 50 % needs R_comm = R_comp, which section 4 only assumes",
            100.0 / best
        ),
        (1.0 / best - 0.5).abs() < 0.01,
    ));
    verdicts.push(Verdict::Unclear(
        "section 4 has m = 10MB for the size M, and reference 5 has N. Dworkin for M. Dworkin; our copy is a transcript, which can \
         have made both errors"
            .into(),
    ));
    Ok(section)
}

/// How many of the numbers of stages of Table 1 this T_syn gives, and how many there are.
fn barrier_fits(t_syn: f64) -> (usize, usize) {
    let fits = |&&(bytes, _, r_comm, _, _, stages): &&(u64, &str, f64, &str, &str, &str)| {
        Problem::new(bytes, R_COMP, r_comm, t_syn).plan().is_ok_and(|plan| plan.stages.to_string() == stages)
    };
    (TABLE_1.iter().filter(fits).count(), TABLE_1.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: sqrt(10^7 · 0.8 / 10.1) is 890.0 and not 894, sqrt(10^7 · 0.037 / 10.1) is 191.4 and not 192.
    #[test]
    fn the_table_has_a_rounded_barrier() {
        assert_eq!((barrier_fits(10.1e-6), barrier_fits(10e-6)), ((0, 8), (7, 8)));
        let misprints = run(&Effort::default()).expect("a section").verdicts;
        assert!(misprints.iter().any(|verdict| matches!(verdict, Verdict::Misprint(text) if text.contains("is 68 %"))));
    }
}
