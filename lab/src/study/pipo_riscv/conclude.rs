//! The conclusion.

use std::fmt::Display;

use super::super::{Findings, text};

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let cell = |row, column| found.cell("table-5", row, column);
    let (one, four) = ("one block, ECB", "four blocks, ECB, speed");
    let (holds, claims) = found.holding(&["misprints"]);
    let (near, rows) = found.holding(&["rtl"]);
    let alone = [one, "one block, CBC", "one block, CTR", "four blocks, ECB, memory"];
    let number = |row, column| cell(row, column)?.parse::<f64>().ok();
    let faster = alone
        .iter()
        .map(|row| Some(100.0 * (1.0 - number(row, "its layout, simulated")? / number(row, "paper, cycles")?)))
        .collect::<Option<Vec<f64>>>()?;
    let (least, most) = faster.iter().fold((f64::MAX, f64::MIN), |(low, high), part| (low.min(*part), high.max(*part)));
    let values: [(&str, &dyn Display); 9] = [
        ("layout_four", &cell(four, "its layout, per byte")?),
        ("layout_one", &cell(one, "its layout, per byte")?),
        ("paper_four", &cell(four, "paper, per byte")?),
        ("paper_one", &cell(one, "paper, per byte")?),
        ("call", &cell(four, "ours, simulated")?),
        ("paper_call", &cell(four, "paper, cycles")?),
        ("bulk", &cell(four, "ours in bulk, per byte")?),
        ("least", &format!("{least:.0}")),
        ("most", &format!("{most:.0}")),
    ];
    let mut text = text(&super::STUDY, "conclusion", &values);
    if rows > 0 {
        let hold = if rows == 1 { "holds" } else { "hold" };
        text += &format!(
            " The core as RTL shows how far to trust a simulated figure: {near} of {rows} claims about the model {hold} there."
        );
    }
    if claims > 0 {
        text += &format!(
            " Of {claims} figures that can be recomputed, {} are misprinted, the sizes of the round keys by a factor of two.",
            claims - holds
        );
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::pipo_riscv::STUDY;
    use crate::study::{Effort, Verdict};

    /// Without the other parts there is no sentence about them.
    #[test]
    fn a_part_alone_concludes_nothing_about_others() {
        let [table, misprints] = ["table-5", "misprints"].map(|name| {
            let part = STUDY.parts.iter().find(|part| part.name == name).expect("a part");
            (part, (part.run)(&Effort::default()).expect("a section"))
        });
        let alone = conclude(Findings::new(std::slice::from_ref(&table))).expect("words");
        assert!(!alone.contains("claims about the model") && !alone.contains("misprinted"), "{alone}");
        let wrong = misprints.1.verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Misprint(_))).count();
        let both = conclude(Findings::new(&[table, misprints])).expect("words");
        assert!(both.contains(&format!("{wrong} are misprinted")), "{both}");
    }
}
