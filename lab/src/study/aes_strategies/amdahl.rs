//! Amdahl's law, section 2.2: the paper's two examples; the gain that its own profile allows; and the gain that the
//! shares measured here predict, beside the measured gain.

use super::Direction;
use super::files::{self, disk_s};
use super::paper::{self, amdahl};
use super::strategy::{BlockCode, Strategy, StrategyRunner, Waiting};
use super::turns::{Budget, Measurement, StrategyRuns, size};
use crate::picture::{Chart, Level, Line, Mark, Scale};
use crate::study::busy::BusyMonitor;
use crate::study::{Claim, Effort, Error, Measured, Picture, Section, StudyRow, Verdict, chart};

/// Numbers of cores for which the law is evaluated.
const CORES: [(f64, &str); 4] =
    [(1.0, "1 core"), (2.0, "2 cores"), (4.0, "4 cores"), (f64::INFINITY, "any number of cores")];

pub(super) const ROWS_SHARE: &str = "share of SubBytes, ShiftRows and MixColumns in a whole run";
pub(super) const ALL_SHARE: &str = "share of encryption in a whole run";

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let bytes = if effort.is_quick { 2_000_000 } else { 20_000_000 };
    let mut section = Section::begin(&super::STUDY, "amdahl", &[("size", &size(bytes))]);
    paper_examples(&mut section);
    let bench = StrategyRunner::new(&mut section.verdicts);
    if bench.openmp.is_some() {
        let file = files::padded(&files::text(bytes));
        measured(&mut section, &bench, &file, effort)?;
    }
    Ok(section)
}

/// The paper's examples, and its run beside the law.
fn paper_examples(section: &mut Section) {
    for (cores, name, printed) in paper::AMDAHL {
        section.rows.push(StudyRow {
            what: format!("the paper's example: 20 % parallel, {name}"),
            paper: Some(printed.into()),
            model: Some(amdahl(0.2, cores)),
            ..StudyRow::default()
        });
    }
    let share = paper::SERIAL_ENCRYPT_S / paper::SERIAL_S;
    let most = amdahl(share, paper::CORES);
    let printed = paper::SERIAL_S / paper::PARALLEL_S;
    section.rows.push(StudyRow {
        what: "the paper's run: all of Encrypt parallel, 2 cores".into(),
        paper: Some(format!("{printed:.3}")),
        model: Some(most),
        ..StudyRow::default()
    });
    let needed = paper::SERIAL_ENCRYPT_S / (paper::SERIAL_ENCRYPT_S - (paper::SERIAL_S - paper::PARALLEL_S));
    section.verdicts.push(Claim::Print.judge(
        format!(
            "the paper's gain beside its own profile: Encrypt is {} of {} s, {:.1} %, so two cores can gain at most {most:.2} times \
             and reach {:.2} s; the paper prints {} s, {printed:.2} times. Encrypt alone would have had to become {needed:.2} \
             times as fast on two cores",
            paper::SERIAL_ENCRYPT_S,
            paper::SERIAL_S,
            100.0 * share,
            paper::SERIAL_S / most,
            paper::PARALLEL_S,
        ),
        printed <= most,
    ));
}

/// Seconds of the parts of whole runs, measured alternately.
struct WholeRuns {
    /// Seconds of reading, round keys and writing, for each sample.
    around: Vec<f64>,
    /// Runs of plain AES, rows and segments.
    turns: [StrategyRuns; 3],
}

impl WholeRuns {
    fn new(
        section: &mut Section,
        monitor: &mut BusyMonitor,
        bench: &StrategyRunner,
        file: &[u8],
        effort: &Effort,
    ) -> Result<Option<WholeRuns>, Error> {
        let samples = if effort.is_quick { 5 } else { 9 };
        let strategies = [Strategy::Plain, Strategy::Rows(Waiting::Spinning), Strategy::Segments(BlockCode::Plain)];
        let (left_out, budget) = (&mut section.verdicts, Budget::new(effort));
        let mut measuring = Measurement { bench, samples, budget, is_watched: true, left_out, monitor };
        let Ok(turns) = measuring.run(&strategies, Direction::Encrypt, file)?.try_into() else { return Ok(None) };
        let schedule = bench.openmp.as_ref().map(|openmp| openmp.micro(Waiting::Unspecified, 1)).transpose()?;
        let schedule = schedule.map_or(0.0, |micro| micro.schedule);
        let [reading, writing] = disk_s(file, samples)?;
        let around = reading.iter().zip(writing).map(|(reading, writing)| reading + schedule + writing).collect();
        Ok(Some(WholeRuns { around, turns }))
    }

    /// Seconds of each whole run: a strategy's encryption of the file, with reading, round keys and writing.
    fn seconds(&self, which: usize) -> Vec<f64> {
        let turns = &self.turns[which];
        turns.seconds(turns.of).iter().zip(&self.around).map(|(encrypt, around)| encrypt + around).collect()
    }

    /// The share of the three functions, or of all of encryption, in whole serial runs.
    fn share(&self, of_rows: bool) -> Measured {
        let plain = &self.turns[0];
        let in_rows = plain.watched.iter().map(|run| {
            let three = run.laps[..3].iter().sum::<f64>();
            if of_rows { three / run.laps.iter().sum::<f64>().max(f64::MIN_POSITIVE) } else { 1.0 }
        });
        let encrypt = plain.seconds(plain.of);
        let part: Vec<f64> = encrypt.iter().zip(in_rows).map(|(encrypt, part)| encrypt * part).collect();
        Measured::ratio(&part, &self.seconds(0))
    }
}

fn measured(section: &mut Section, bench: &StrategyRunner, file: &[u8], effort: &Effort) -> Result<(), Error> {
    let mut monitor = BusyMonitor::default();
    let Some(whole) = WholeRuns::new(section, &mut monitor, bench, file, effort)? else { return Ok(()) };
    let mut lines = Vec::new();
    let mut marks = Vec::new();
    let here = bench.threads.min(super::cores().max(1));
    for (which, what, name) in [(1, "rows", ROWS_SHARE), (2, "segments", ALL_SHARE)] {
        let (turns, share) = (&whole.turns[which], whole.share(which == 1));
        section.rows.push(StudyRow::measured(name, "", share));
        let gain = Measured::ratio(&whole.seconds(0), &whole.seconds(which));
        let threads = bench.threads(turns.strategy);
        for (cores, text) in CORES {
            section.rows.push(StudyRow {
                what: format!("{what} over {text}"),
                unit: if cores == threads as f64 { format!("times{}", turns.label(turns.of)) } else { "times".into() },
                model: Some(amdahl(share.median, cores)),
                measured: (cores == threads as f64 && threads <= here).then_some(gain),
                ..StudyRow::default()
            });
        }
        if threads > here {
            section
                .verdicts
                .push(Verdict::LeftOut(format!("{what} compared with Amdahl's law: needs {threads} cores")));
        } else {
            let predicted = amdahl(share.median, threads as f64);
            section.verdicts.push(Claim::Paper.of(
                format!(
                    "{what} over {threads} cores gain at least 85 % of Amdahl's {predicted:.2}: a whole run is {}",
                    super::times(gain.median)
                ),
                gain,
                0.85 * predicted..=f64::INFINITY,
                &monitor,
            ));
            marks.push(Mark { name: format!("{what}, measured"), at: (threads as f64, gain.median) });
        }
        let points =
            (0..=64).map(|step| 2f64.powf(f64::from(step) / 16.0)).map(|cores| (cores, amdahl(share.median, cores)));
        lines.push(Line { name: format!("{what}: {:.1} % parallel", 100.0 * share.median), points: points.collect() });
    }
    section.rows.extend(monitor.row());
    let example = (0..=64).map(|step| 2f64.powf(f64::from(step) / 16.0)).map(|cores| (cores, amdahl(0.2, cores)));
    lines.push(Line { name: "the paper's example: 20 %".into(), points: example.collect() });
    let levels = vec![Level { name: "no gain".into(), at: 1.0 }];
    let title = "Amdahl's law: greatest speed-up of a whole run";
    let y = ("speed relative to one core", 0.0, 16.0, Scale::Linear);
    let chart = Chart { levels, marks, ..chart(title, ("cores", 1.0, 16.0, Scale::Logarithmic), y, lines) };
    section.pictures.push(Picture::new("amdahl", chart));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 4.2343/7.4999 = 0.56458; 7.4999 - 4.2343/2 = 5.38275 s, 7.4999/5.38275 = 1.39332; 4.2343/(4.2343 - 2.4872) =
    /// 2.42362.
    #[test]
    fn the_papers_run_is_faster_than_the_law_allows() {
        let mut section = Section::default();
        paper_examples(&mut section);
        let models: Vec<String> =
            section.rows.iter().filter_map(|row| row.model).map(|model| format!("{model:.5}")).collect();
        assert_eq!(models, ["1.17647", "1.25000", "1.39332"]);
        let [Verdict::Misprint(text)] = &section.verdicts[..] else { panic!("{:?}", section.verdicts) };
        for part in ["56.5 %", "1.39 times", "5.38 s", "1.50 times", "2.42 times"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
