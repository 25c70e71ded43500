//! The conclusion, from the sections' figures.

use super::super::busy::HAD_CORES;
use super::super::{Findings, Verdict, figure};
use super::misprints::REFUSED;
use super::operations::{FORK, SLEEPING, SPINNING};
use super::strategy::{BlockCode, Strategy, Waiting, best};
use super::{paper, times};

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let gain =
        |strategy: Strategy| found.measured("headline", &format!("times as fast as plain: {}", strategy.name()), "");
    let is_busy = |share: &f64| *share < 0.9 || found.busy("headline") > 0;
    let busy = found.measured("headline", HAD_CORES, "").filter(is_busy);
    let [sleeping, spinning, unspecified] =
        [Waiting::Sleeping, Waiting::Spinning, Waiting::Unspecified].map(|waiting| gain(Strategy::Rows(waiting)));
    let (Some(sleeping), Some(spinning), Some(unspecified)) = (sleeping, spinning, unspecified) else {
        found.ran(&["headline"])?;
        return Some(
            "This run has no rows of the paper: its AES is a program in C, and this machine lacks a C compiler with OpenMP. So \
             nothing was compared with it."
                .into(),
        );
    };
    let work = |function: &str| found.measured("operations", &format!("{function} of one state, one thread"), "ns");
    let step = (work("SubBytes")? + work("ShiftRows")? + work("MixColumns")?) / 3.0;
    found.ran(&["files", "operations", "misprints"])?;
    let mut text = String::from(
        "The paper's check holds: for all five kinds of files, every strategy produces the same bytes and decrypts them again. ",
    );
    let paper = paper::SERIAL_S / paper::PARALLEL_S;
    let best_of_rows = sleeping.max(spinning).max(unspecified);
    text += &format!(
        "Its conclusion {}. The paper found the rows of one state over threads {paper:.2} times as fast as plain AES; here they are ",
        match (best_of_rows >= 1.0, &busy) {
            (true, _) => "depends on how threads wait",
            (false, Some(_)) => "can be neither confirmed nor refuted by this run, because the machine was busy",
            (false, None) => "does not hold",
        }
    );
    text += &format!(
        "with OpenMP {} as plain AES, {} where threads sleep while they wait, and {} where they spin. ",
        times(unspecified),
        times(sleeping),
        times(spinning)
    );
    if let Some(share) = busy {
        text += &format!(
            "(This program had {:.0} % of the cores. Threads that wait for each other lose most on a busy machine: on an idle one \
             their figures can be thousands of times better.) ",
            100.0 * share
        );
    }
    let gates = [(SLEEPING, "sleeping barrier"), (SPINNING, "spinning barrier"), (FORK, "fork and join of OpenMP")];
    let gates: Vec<String> = gates
        .iter()
        .filter_map(|(row, name)| Some(format!("a {name} {} ns", figure(found.measured("operations", row, "ns")?))))
        .collect();
    text += &format!(
        "The reason is a cost that T(n) leaves out. A step on 16 bytes takes {step:.0} ns, dividing it between two threads saves at \
         most half of that, and synchronisation costs more ({}). Every block has three such steps in each of ten rounds. ",
        gates.join(", ")
    );
    let (blocks, segments) = (gain(Strategy::Blocks(BlockCode::Plain))?, gain(Strategy::Segments(BlockCode::Plain))?);
    let (lanes, everywhere) = (gain(Strategy::Lanes(best()))?, gain(Strategy::LanesEverywhere)?);
    text += &format!(
        "The same code gains where threads synchronise less often: {} times with a queue of blocks, {} times with one segment per \
         thread. Independent blocks within one core gain more than either: {} times plain AES in lanes of the backend {}, {} times \
         on all cores. So the best order is lanes within a core first, then cores, and never the bytes of one block. ",
        figure(blocks),
        figure(segments),
        figure(lanes),
        best().name(),
        figure(everywhere)
    );
    let (holds, claims) = found.holding(&["misprints"]);
    text += &format!(
        "The paper's figures contradict each other. Its profile and Amdahl's law, which it quotes correctly, allow {:.2} times on two \
         cores, but it prints {paper:.2}. It states its gain as 30, 33 and 21 %. Of {claims} statements that can be checked on \
         their own, {} are wrong",
        paper::amdahl(paper::SERIAL_ENCRYPT_S / paper::SERIAL_S, paper::CORES),
        claims - holds
    );
    let is_listing = |verdict: &&Verdict| matches!(verdict, Verdict::Misprint(text) if text.ends_with(REFUSED));
    let listings = found.section("misprints")?.verdicts.iter().filter(is_listing).count();
    text.push_str(if listings > 0 { ", including listings that no compiler accepts." } else { "." });
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Measured, Section, StudyRow, test_part};

    fn section(rows: &[(String, f64)], unit: &str) -> Section {
        let row = |(what, median): &(String, f64)| StudyRow::measured(what, unit, Measured::of(&[*median]));
        Section { rows: rows.iter().map(row).collect(), ..Section::default() }
    }

    fn words(sleeping: f64, openmp: f64, had_cores: f64) -> String {
        let gain = |strategy: Strategy, gain| (format!("times as fast as plain: {}", strategy.name()), gain);
        let mut headline = vec![
            gain(Strategy::Rows(Waiting::Sleeping), sleeping),
            gain(Strategy::Rows(Waiting::Spinning), 0.1),
            gain(Strategy::Rows(Waiting::Unspecified), openmp),
            gain(Strategy::Blocks(BlockCode::Plain), 1.5),
            gain(Strategy::Segments(BlockCode::Plain), 1.9),
            gain(Strategy::Lanes(best()), 300.0),
            gain(Strategy::LanesEverywhere, 450.0),
        ];
        headline.push((HAD_CORES.into(), had_cores));
        let operations: Vec<(String, f64)> = [("SubBytes", 20.0), ("ShiftRows", 10.0), ("MixColumns", 30.0)]
            .map(|(name, ns)| (format!("{name} of one state, one thread"), ns))
            .into_iter()
            .chain([(format!("2 threads: {SLEEPING}"), 8000.0), (format!("2 threads: {SPINNING}"), 150.0)])
            .collect();
        let misprints =
            Section { verdicts: vec![Verdict::Holds("a".into()), Verdict::Misprint("b".into())], ..Section::default() };
        let sections = [
            (test_part("headline"), section(&headline, "")),
            (test_part("operations"), section(&operations, "ns")),
            (test_part("misprints"), misprints),
            (test_part("files"), Section::default()),
        ];
        conclude(Findings::new(&sections)).expect("words")
    }

    #[test]
    fn the_conclusion_follows_the_figures() {
        let text = words(0.002, 0.25, 0.99);
        for part in [
            "Its conclusion does not hold. ",
            "with OpenMP 4.00 times as slow as plain AES, 500 times as slow where threads sleep while they wait",
            "and 10.0 times as slow where they spin",
            "step on 16 bytes takes 20 ns",
            "a spinning barrier 150.0 ns",
            "allow 1.39 times on two cores, but it prints 1.50",
            "Of 2 statements that can be checked on their own, 1 are wrong.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = words(1.2, 0.25, 0.99);
        assert!(text.contains("depends on how threads wait"), "{text}");
    }

    #[test]
    fn a_busy_machine_refutes_nothing() {
        let text = words(2e-6, 0.25, 0.4);
        assert!(text.contains("neither confirmed nor refuted") && text.contains("had 40 % of the cores"), "{text}");
        assert!(!text.contains("does not hold"), "{text}");
    }

    #[test]
    fn no_conclusion_without_figures() {
        assert_eq!(conclude(Findings::new(&[])), None);
        let text = conclude(Findings::new(&[(test_part("headline"), Section::default())])).expect("words");
        assert!(text.contains("no rows of the paper:"), "{text}");
    }
}
