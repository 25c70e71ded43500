//! The conclusion, from the sections' figures.

use std::fmt::Display;

use super::super::busy::HAD_CORES;
use super::super::{Findings, Verdict, figure, text};
use super::misprints::REFUSED;
use super::operations::{FORK, PTHREAD, SLEEPING, SPINNING};
use super::strategy::{BlockCode, Strategy, Waiting, best};
use super::{harts, paper, times};

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let gain =
        |strategy: Strategy| found.measured("headline", &format!("times as fast as plain: {}", strategy.name()), "");
    let is_busy = |share: &f64| *share < 0.9 || found.busy("headline") > 0;
    let busy = found.measured("headline", HAD_CORES, "").filter(is_busy);
    let [sleeping, spinning, unspecified] =
        [Waiting::Sleeping, Waiting::Spinning, Waiting::Unspecified].map(|waiting| gain(Strategy::Rows(waiting)));
    let (Some(sleeping), Some(spinning), Some(unspecified)) = (sleeping, spinning, unspecified) else {
        found.ran(&["headline"])?;
        return Some(text(&super::STUDY, "conclusion-without-rows", &[]));
    };
    let work = |function: &str| found.measured("operations", &format!("{function} of one state, one thread"), "ns");
    let step = (work("SubBytes")? + work("ShiftRows")? + work("MixColumns")?) / 3.0;
    found.ran(&["files", "operations", "misprints"])?;
    let paper = paper::SERIAL_S / paper::PARALLEL_S;
    let conclusion = match (sleeping.max(spinning).max(unspecified) >= 1.0, &busy) {
        (true, _) => "depends on how threads wait",
        (false, Some(_)) => "can be neither confirmed nor refuted by this run, because the machine was busy",
        (false, None) => "does not hold",
    };
    let busy =
        busy.map(|share| text(&super::STUDY, "conclusion-busy", &[("percent", &format!("{:.0}", 100.0 * share))]));
    let gates = [
        (SLEEPING, "a sleeping barrier"),
        (SPINNING, "a spinning barrier"),
        (PTHREAD, PTHREAD),
        (FORK, "a fork and join of OpenMP"),
    ];
    let gates: Vec<String> = gates
        .iter()
        .filter_map(|(row, name)| Some(format!("{name} {} ns", figure(found.measured("operations", row, "ns")?))))
        .collect();
    let (holds, claims) = found.holding(&["misprints"]);
    let is_listing = |verdict: &Verdict| matches!(verdict, Verdict::Misprint(text) if text.ends_with(REFUSED));
    let has_listings = found.section("misprints")?.verdicts.iter().any(is_listing);
    let allowed = paper::amdahl(paper::SERIAL_ENCRYPT_S / paper::SERIAL_S, paper::CORES);
    let values: [(&str, &dyn Display); 18] = [
        ("conclusion", &conclusion),
        ("paper", &format!("{paper:.2}")),
        ("openmp", &times(unspecified)),
        ("sleeping", &times(sleeping)),
        ("spinning", &times(spinning)),
        ("busy", &busy.map_or(String::new(), |busy| busy + " ")),
        ("step", &format!("{step:.0}")),
        ("gates", &gates.join(", ")),
        ("blocks", &figure(gain(Strategy::Blocks(BlockCode::Plain))?)),
        ("segments", &figure(gain(Strategy::Segments(BlockCode::Plain))?)),
        ("lanes", &figure(gain(Strategy::Lanes(best()))?)),
        ("backend", &best().name()),
        ("everywhere", &figure(gain(Strategy::LanesEverywhere)?)),
        ("harts", &on_harts(found).map_or(String::new(), |harts| harts + " ")),
        ("allowed", &format!("{allowed:.2}")),
        ("claims", &claims),
        ("wrong", &(claims - holds)),
        ("listings", if has_listings { &", including listings that no compiler accepts" } else { &"" }),
    ];
    Some(text(&super::STUDY, "conclusion", &values))
}

/// What simulated harts of issue width 1 do.
fn on_harts(found: Findings<'_>) -> Option<String> {
    let gain = |way: usize, harts| found.cell("harts", harts::WAYS[way], &harts::column(harts, 1));
    let barrier = found.simulated("harts", &format!("a barrier, {}", harts::column(2, 1)), "cycles")?;
    let values: [(&str, &dyn Display); 5] = [
        ("barrier", &format!("{barrier:.0}")),
        ("two", &gain(harts::FEWEST, 2)?),
        ("four", &gain(harts::FEWEST, 4)?),
        ("segments", &gain(harts::SEGMENTS, 2)?),
        ("all", &gain(harts::SEGMENTS, 4)?),
    ];
    Some(text(&super::STUDY, "conclusion-harts", &values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Effort, Measured, Section, StudyRow, test_part};

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

    /// By hand from the cycles: 120,061 of one hart, 91,404 of two, 55,580 of four.
    #[test]
    fn simulated_harts_have_a_sentence() {
        let section = harts::run(&Effort::default()).expect("a section");
        let text = on_harts(Findings::new(&[(test_part("harts"), section)])).expect("words");
        assert!(text.contains("two harts are 1.314 times as fast as one and four 2.160 times"), "{text}");
        assert!(!text.contains('{'), "{text}");
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
