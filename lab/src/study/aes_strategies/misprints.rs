//! Misprints and contradictions in the paper, each found by something that can be computed, counted or compiled.

use super::openmp::is_accepted;
use super::strategy::StrategyRunner;
use super::{Function, paper};
use crate::study::verdict::misprints;
use crate::study::{Claim, Effort, Error, Section, Verdict};

/// Last words about a listing with an error.
pub(super) const REFUSED: &str = ": a C compiler refuses it";

/// Number of states on which Table 2 is tried exactly as printed.
const STATES: u64 = 20_000;

/// Lines of the paper's listings that a compiler has to reject: a description, and the lines.
const LISTINGS: [(&str, &str); 3] = [
    (
        "Tables 1 and 3: a block in braces where `omp for` needs a loop",
        "#pragma omp for private(i, j)\n{ for (i = 0; i < 4; i++) { } }",
    ),
    (
        "Table 3: `shared` at `omp for`, which does not have this clause",
        "unsigned char t;\n#pragma omp for shared(t)\nfor (i = 0; i < 4; i++) { }",
    ),
    ("Table 3: an empty `reduction()`", "#pragma omp for reduction()\nfor (i = 0; i < 4; i++) { }"),
];

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "misprints", &[]);
    figures(&mut section.verdicts);
    formulas(&mut section.verdicts);
    contradictions(&mut section.verdicts);
    listings(&mut section.verdicts, effort)?;
    Ok(section)
}

fn figures(verdicts: &mut Vec<Verdict>) {
    let saved = paper::SERIAL_S - paper::PARALLEL_S;
    let exact = 100.0 * saved / paper::SERIAL_S;
    let (serial, parallel) = (paper::SERIAL_S, paper::PARALLEL_S);
    verdicts.push(Claim::Print.judge(
        format!("section 4.3: {serial} s minus {parallel} s is {} s; computed {saved:.4}", paper::SAVED),
        format!("{saved:.4}") == paper::SAVED,
    ));
    for (place, printed) in paper::GAINS {
        verdicts.push(Claim::Print.judge(
            format!("{place}: about {printed} % faster; {serial} s to {parallel} s is {exact:.1} %"),
            (exact - printed).abs() < 0.5,
        ));
    }
    for (cores, name, printed) in paper::AMDAHL {
        let gain = paper::amdahl(0.2, cores);
        verdicts.push(Claim::Print.judge(
            format!("section 2.2: 20 % parallel gain {printed} times on {name}; computed {gain:.4}"),
            (gain - printed.parse().unwrap_or(f64::NAN)).abs() < 0.0005,
        ));
    }
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

/// On c cores, a loop of n has n/c turns and one more test. The operations of directives are a constant in the formulas.
fn formulas(verdicts: &mut Vec<Verdict>) {
    // A row has n + 1 tests and 3n for n calls, which is 4n + 1; a column 22.
    for (function, factor, constant, directives) in
        [(Function::SubBytes, 4.0, 1.0, 2.0), (Function::MixColumns, 0.0, 22.0, 9.0)]
    {
        for cores in [2, 4] {
            let Some(formula) = paper::of(function, cores) else { continue };
            let expected = |n: f64| n / cores as f64 * (1.0 + factor * n + constant) + 1.0 + directives;
            let follows = [4.0, 8.0, 16.0].iter().all(|&n| is_close(formula.at(n), expected(n)));
            let (four, printed) = (expected(4.0), formula.at(4.0));
            verdicts.push(Claim::Print.judge(
                format!(
                    "section 4.2, {} on {cores} cores: the serial count divided among the cores plus the directives in the text is \
                     {four} at n = 4, the printed T(n) = {} gives {printed}{}",
                    function.name(),
                    formula.text,
                    if follows { "" } else { ". It has only 20 of the 22 operations of a column" }
                ),
                follows,
            ));
        }
    }
}

/// References and statements that the paper itself or the standard contradicts.
fn contradictions(verdicts: &mut Vec<Verdict>) {
    verdicts.extend(misprints(include_str!("misprints.txt")));
    verdicts.push(Verdict::Unclear(
        "figures 6 and 7 are titled CPU Time, which threads do not reduce; the text reads them as elapsed time".into(),
    ));
}

fn listings(verdicts: &mut Vec<Verdict>, effort: &Effort) -> Result<(), Error> {
    for (what, lines) in LISTINGS {
        verdicts.push(match is_accepted(lines) {
            Ok(true) => Verdict::Holds(format!("{what}: a C compiler accepts it")),
            Ok(false) => Verdict::Misprint(format!("{what}{REFUSED}")),
            Err(why) => Verdict::LeftOut(format!("{what}: {why}")),
        });
    }
    let Some(openmp) = StrategyRunner::new(verdicts).openmp else { return Ok(()) };
    let states = if effort.is_quick { STATES } else { 10 * STATES };
    match openmp.race(states) {
        Ok(0) => verdicts.push(Verdict::Unclear(format!(
            "Table 2 shares `temp` between its sections: a thread can overwrite it while the other uses it; none of {states} states was \
             wrong here"
        ))),
        Ok(wrong) => verdicts.push(Verdict::Misprint(format!(
            "Table 2 is wrong as printed: `temp` is shared between its sections, and {wrong} of {states} states were wrong"
        ))),
        Err(Error::Worker(why)) => verdicts.push(Verdict::LeftOut(format!("Table 2 as printed: {why}"))),
        Err(error) => return Err(error),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(verdicts: &[Verdict]) -> Vec<&str> {
        verdicts
            .iter()
            .filter_map(|verdict| if let Verdict::Misprint(text) = verdict { Some(text.as_str()) } else { None })
            .collect()
    }

    /// By hand: 2.4872/7.4999 = 33.163 %; 11n+n/2+10 at 4 is 56 and not 52, 5n+3n/4+10 is 33 and not 31.
    #[test]
    fn figures_that_do_not_follow() {
        let mut verdicts = Vec::new();
        figures(&mut verdicts);
        let found = fails(&verdicts);
        assert_eq!((verdicts.len(), found.len()), (6, 2), "{found:?}");
        assert!(found[0].starts_with("abstract") && found[1].starts_with("conclusion"), "{found:?}");
        assert!(found[1].contains("33.2 %"));
        let mut verdicts = Vec::new();
        formulas(&mut verdicts);
        let found = fails(&verdicts);
        assert_eq!((verdicts.len(), found.len()), (4, 2), "{verdicts:?}");
        assert!(found[0].contains("is 56 at n = 4") && found[0].contains("gives 52"), "{found:?}");
        assert!(found[1].contains("is 33 at n = 4") && found[1].contains("gives 31"), "{found:?}");
    }

    /// A compiler that rejects the listings accepts the corrected lines.
    #[test]
    fn the_listings_are_not_valid_c() {
        let good = "#pragma omp for private(j)\nfor (i = 0; i < 4; i++) for (j = 0; j < 4; j++) state[i][j] = value(state[i][j]);";
        match is_accepted(good) {
            Ok(is_so) => assert!(is_so),
            Err(why) => {
                assert!(std::env::var_os("CI").is_none(), "{why}");
                eprintln!("SKIPPED: {why}");
                return;
            }
        }
        for (what, lines) in LISTINGS {
            assert_eq!(is_accepted(lines), Ok(false), "{what}");
        }
    }
}
