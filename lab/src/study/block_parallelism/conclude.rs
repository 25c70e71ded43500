//! The conclusion.

use std::fmt::Write as _;

use super::super::Findings;

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let parts = ["width", "blocks", "messages", "harts"];
    let (holds, claims) = found.holding(&parts);
    let one = found.simulated("width", "RC6, ECB, issue 16", "IPC")?;
    let divided = found.simulated("open", "RC6, indexes by division, ECB, 1 block", "IPC")?;
    let (alone, four) = ("Rijndael, ECB, 256 blocks, 1 thread", "Rijndael, ECB, 256 blocks, 4 threads");
    let cycles = |what| found.simulated("harts", what, "cycles");
    let threads = cycles(alone)? / cycles(four)?;
    let per_block = |what| found.simulated("lanes", what, "cycles per block");
    let (wide, narrow) = (per_block("RC6, issue 16")?, per_block("RC6, two lanes, issue 4")?);
    let mut text = format!(
        "Of {claims} claims of the paper's four figures, {holds} hold on the machine built from its Table 2. One block offers \
         little parallelism to a wide processor, several blocks of one message offer more, and several messages on several \
         processors scale nearly with their number ({threads:.2} times with four). So the parallelism is between blocks and \
         messages, not inside a block. ECB and CBC are alike, because the instruction window does not reach the next block. "
    );
    let _ = write!(
        text,
        "We could not reproduce one figure: one block of RC6 has {one:.2} instructions per cycle, the paper says 0.9. The order \
         of the ciphers in Fig. 6 and the slope of the RC6 curves follow from it. If the key schedule computes its indexes by \
         division, as C programs of that time did, the figure is {divided:.2}; this is a guess, as the program was not \
         published. "
    );
    let _ = write!(
        text,
        "Two lanes of RC6 in software on a processor of issue 4 take {narrow:.0} cycles per block, one chain at issue 16 takes \
         {wide:.0}: independent work gains more than width. We found no misprinted figure in the paper; of its curves, only \
         the end points are given as numbers."
    );
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Section, StudyPart, StudyRow};

    /// Rows as the parts write them: each row of "harts" has an IPC and cycles under one name. By hand: 8000 cycles
    /// over 2000 are 4.
    #[test]
    fn speed_ups_are_of_cycles() {
        let row = |what: &str, unit: &str, value| StudyRow {
            what: what.into(),
            unit: unit.into(),
            simulated: Some(value),
            ..StudyRow::default()
        };
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
            ("open", vec![row("RC6, indexes by division, ECB, 1 block", "IPC", 0.9)]),
            ("lanes", lanes.into()),
        ];
        let sections = parts.map(|(name, rows)| {
            let part: &'static StudyPart =
                Box::leak(Box::new(StudyPart { name, title: "", run: |_| Ok(Section::default()) }));
            (part, Section { rows, ..Section::default() })
        });
        let text = conclude(Findings::new(&sections)).expect("words");
        assert!(text.contains("scale nearly with their number (4.00 times with four)"), "{text}");
    }
}
