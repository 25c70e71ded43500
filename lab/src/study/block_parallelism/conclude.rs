//! The conclusion.

use super::super::{Findings, Verdict};

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let parts = ["width", "blocks", "messages", "harts"];
    found.ran(&parts)?;
    let (holds, claims) = found.holding(&parts);
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
    let mut text = format!(
        "Of {claims} claims of the paper's four figures, {holds} hold on the machine built from its Table 2. One block offers \
         little parallelism to a wide processor, several blocks of one message offer more, and several messages on several \
         processors scale nearly with their number ({threads:.2} times with four). So the parallelism is between blocks and \
         messages, not inside a block. ECB and CBC are alike, because the instruction window does not reach the next block. "
    );
    text += &format!(
        "We could not reproduce one figure: one block of RC6 has {one:.2} instructions per cycle, the paper says 0.9. The order \
         of the ciphers in Fig. 6 and the slope of the RC6 curves follow from it. With a division in each step of the key \
         schedule, as C programs of that time had, it is {divided:.2}. Such a program has {each:.2} with 128 messages that each set \
         up a key, where the paper says 2.2, and {shared:.2} if they share one key. So a division explains all three figures only if \
         the messages share a key, although the paper says that each has its own key setup. "
    );
    text += &format!(
        "Two lanes of RC6 in software on a processor of issue 4 take {narrow:.0} cycles per block, one chain at issue 16 takes \
         {wide:.0}: independent work gains more than width. The paper has {misprints} misprints, none of them in a measured figure; \
         of its curves, only the end points are given as numbers."
    );
    Some(text)
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
