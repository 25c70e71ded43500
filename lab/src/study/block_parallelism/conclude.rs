//! The conclusion.

use std::fmt::Display;

use super::super::{Findings, Verdict, text};

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let parts = ["width", "blocks", "messages", "harts"];
    found.ran(&parts)?;
    let (holds, claims) = found.holding_of_paper(&parts);
    let one = found.simulated("width", "RC6, ECB, issue 16", "IPC")?;
    let with_division = |load: &str| found.simulated("key-setup", &format!("RC6, a division per step, {load}"), "IPC");
    let divided = with_division("1 block")?;
    let each = with_division("128 messages, a key schedule in each")?;
    let shared = with_division("128 messages, one key schedule")?;
    let is_misprint = |verdict: &&Verdict| matches!(verdict, Verdict::Misprint(_));
    let misprints = found.section("misprints")?.verdicts.iter().filter(is_misprint).count();
    let (alone, four) = ("Rijndael, ECB, 256 blocks, 1 thread", "Rijndael, ECB, 256 blocks, 4 threads");
    let cycles = |what| found.simulated("harts", what, "cycles");
    let threads = cycles(alone)? / cycles(four)?;
    let per_block = |what| found.simulated("lanes", what, "cycles per block");
    let (wide, narrow) = (per_block("RC6, issue 16")?, per_block("RC6, two lanes, issue 4")?);
    let values: [(&str, &dyn Display); 10] = [
        ("claims", &claims),
        ("holds", &holds),
        ("threads", &format!("{threads:.2}")),
        ("one", &format!("{one:.2}")),
        ("divided", &format!("{divided:.2}")),
        ("each", &format!("{each:.2}")),
        ("shared", &format!("{shared:.2}")),
        ("narrow", &format!("{narrow:.0}")),
        ("wide", &format!("{wide:.0}")),
        ("misprints", &misprints),
    ];
    Some(text(&super::STUDY, "conclusion", &values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Section, StudyRow, test_part};

    /// Rows as the parts write them: each row of "harts" has an IPC and cycles under one name. By hand: 8000 cycles
    /// over 2000 are 4.
    #[test]
    fn speed_ups_are_of_cycles() {
        let row = |what: &str, unit: &str, value| StudyRow::simulated(what, unit, value);
        let harts = [("1 thread", 1.4, 8000.0), ("4 threads", 5.6, 2000.0)].map(|(threads, ipc, cycles)| {
            let what = format!("Rijndael, ECB, 256 blocks, {threads}");
            [row(&what, "IPC", ipc), row(&what, "cycles", cycles)]
        });
        let lanes = [
            row("RC6, issue 16", "cycles per block", 300.0),
            row("RC6, two lanes, issue 4", "cycles per block", 200.0),
        ];
        let parts = [
            ("width", vec![row("RC6, ECB, issue 16", "IPC", 1.5)]),
            ("harts", harts.into_iter().flatten().collect()),
            (
                "key-setup",
                ["1 block", "128 messages, a key schedule in each", "128 messages, one key schedule"]
                    .map(|load| row(&format!("RC6, a division per step, {load}"), "IPC", 0.9))
                    .into(),
            ),
            ("misprints", Vec::new()),
            ("blocks", Vec::new()),
            ("messages", Vec::new()),
            ("lanes", lanes.into()),
        ];
        let sections = parts.map(|(name, rows)| (test_part(name), Section { rows, ..Section::default() }));
        let text = conclude(Findings::new(&sections)).expect("words");
        assert!(text.contains("scale nearly with their number (4.00 times with four)"), "{text}");
    }
}
