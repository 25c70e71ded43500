//! Amdahl's law, section 2.2: the paper's two examples; what its own profile allows; and what the shares measured here predict,
//! beside what came of it.

use std::hint::black_box;
use std::time::Instant;

use super::files::{self, OnDisk};
use super::paper::{self, amdahl};
use super::plain::{Direction, Keys};
use super::strategy::{Bench, Code, Strategy};
use super::turns::{self, Notes, Turns, size};
use super::{KEY, budget};
use crate::bench::statistics;
use crate::picture::{Axis, Chart, Drawing, Level, Line, Mark, Scale};
use crate::study::{Claim, Effort, Error, Measured, Picture, Row, Section, Verdict, busy::Looks};

/// How many cores the law is asked for.
const CORES: [(f64, &str); 4] =
    [(1.0, "1 core"), (2.0, "2 cores"), (4.0, "4 cores"), (f64::INFINITY, "any number of cores")];

pub(super) const ROWS_SHARE: &str = "share of SubBytes, ShiftRows and MixColumns in a whole run";
pub(super) const ALL_SHARE: &str = "share of encryption in a whole run";

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let bytes = if effort.is_quick { 2_000_000 } else { 20_000_000 };
    let mut section = Section {
        text: format!(
            "If c cores share a part p of the work, the gain is 1/(1-p+p/c). A whole run here reads {} of text, expands the key, \
             encrypts and writes. Splitting rows parallelises three functions, splitting segments the whole encryption. The law \
             does not include waiting.",
            size(bytes)
        ),
        ..Section::default()
    };
    the_papers(&mut section);
    let bench = Bench::new(KEY, None)?;
    let file = files::padded(&files::text(bytes));
    measured(&mut section, &bench, &file, effort)?;
    Ok(section)
}

/// The examples, and the paper's run beside the law.
fn the_papers(section: &mut Section) {
    for (cores, name, printed) in [(4.0, "4 cores", "1.176"), (f64::INFINITY, "any number of cores", "1.25")] {
        section.rows.push(Row {
            what: format!("the paper's example: 20 % parallel, {name}"),
            paper: Some(printed.into()),
            model: Some(amdahl(0.2, cores)),
            ..Row::default()
        });
    }
    let share = paper::SERIAL_ENCRYPT_S / paper::SERIAL_S;
    let most = amdahl(share, paper::CORES);
    let printed = paper::SERIAL_S / paper::PARALLEL_S;
    section.rows.push(Row {
        what: "the paper's run: all of Encrypt parallel, 2 cores".into(),
        paper: Some(format!("{printed:.3}")),
        model: Some(most),
        ..Row::default()
    });
    let needed = paper::SERIAL_ENCRYPT_S / (paper::SERIAL_ENCRYPT_S - (paper::SERIAL_S - paper::PARALLEL_S));
    section.verdicts.push(Claim::Print.judge(
        format!(
            "the paper's gain fits its own profile: Encrypt is {} of {} s, {:.1} %, so two cores can gain at most {most:.2} times \
             and reach {:.2} s; the paper prints {} s, {printed:.2} times. Encrypt alone would have had to become {needed:.2} \
             times as fast on two cores",
            paper::SERIAL_ENCRYPT,
            paper::SERIAL,
            100.0 * share,
            paper::SERIAL_S / most,
            paper::PARALLEL,
        ),
        printed <= most,
    ));
}

/// Seconds of the parts of whole runs, all in turn.
struct Whole {
    /// Of reading, round keys and writing, for each sample.
    around: Vec<f64>,
    /// Of the three functions in those of plain AES.
    in_rows: Vec<f64>,
    plain: Turns,
    others: Vec<Turns>,
    looks: Looks,
}

fn measure(bench: &Bench<'_>, file: &[u8], effort: &Effort) -> Result<Whole, Error> {
    let samples = if effort.is_quick { 5 } else { 9 };
    let strategies = [Strategy::Plain, Strategy::RowsSpinning, Strategy::Segments(Code::Plain)];
    let mut looks = Looks::default();
    let notes = &mut Notes { left_out: &mut Vec::new(), looks: &mut looks };
    let mut turns = turns::measure(bench, &strategies, Direction::Encrypt, file, samples, budget(effort), notes)?;
    let disk = OnDisk::new(file)?;
    let reading_s = super::threads::reading_s();
    let (mut around, mut in_rows) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        let (mut read, reading) = disk.read()?;
        let start = Instant::now();
        black_box(Keys::new(black_box(&KEY)));
        let key_schedule = start.elapsed().as_secs_f64();
        read.truncate(turns.first().map_or(0, |plain| plain.bytes));
        let laps = bench.run(Strategy::Plain, Direction::Encrypt, true, &mut read)?.laps.without(reading_s);
        in_rows.push(laps.seconds[..3].iter().sum::<f64>() / laps.total().max(f64::MIN_POSITIVE));
        around.push(reading + key_schedule + disk.write(file)?);
    }
    let plain = turns.remove(0);
    Ok(Whole { around, in_rows, plain, others: turns, looks })
}

impl Whole {
    /// Of each sample: what strategy's encryption of the file takes.
    fn encrypt(turns: &Turns) -> Vec<f64> {
        turns.runs.iter().map(|run| run.seconds * turns.of as f64 / turns.bytes as f64).collect()
    }

    /// The share of the three functions, or of all of encryption, in whole serial runs.
    fn share(&self, of_rows: bool) -> Measured {
        let shares: Vec<f64> = Whole::encrypt(&self.plain)
            .iter()
            .zip(self.around.iter().zip(&self.in_rows))
            .map(|(encrypt, (around, in_rows))| encrypt * if of_rows { *in_rows } else { 1.0 } / (encrypt + around))
            .collect();
        statistics::median(&shares).into()
    }

    /// How many times as fast a whole run is.
    fn gain(&self, turns: &Turns) -> Measured {
        let gains: Vec<f64> = Whole::encrypt(&self.plain)
            .iter()
            .zip(Whole::encrypt(turns))
            .zip(&self.around)
            .map(|((plain, ours), around)| (plain + around) / (ours + around))
            .collect();
        statistics::median(&gains).into()
    }
}

fn measured(section: &mut Section, bench: &Bench<'_>, file: &[u8], effort: &Effort) -> Result<(), Error> {
    let whole = measure(bench, file, effort)?;
    let mut lines = Vec::new();
    let mut marks = Vec::new();
    let here = bench.threads.min(super::cores().max(1));
    for (turns, is_rows, what, name) in
        [(&whole.others[0], true, "rows", ROWS_SHARE), (&whole.others[1], false, "segments", ALL_SHARE)]
    {
        let share = whole.share(is_rows);
        section.rows.push(Row { what: name.into(), measured: Some(share), ..Row::default() });
        let gain = whole.gain(turns);
        let threads = turns.strategy.threads(bench.threads);
        for (cores, text) in CORES {
            section.rows.push(Row {
                what: format!("{what} over {text}"),
                unit: if cores == threads as f64 { format!("times{}", turns.label()) } else { "times".into() },
                model: Some(amdahl(share.median, cores)),
                measured: (cores == threads as f64 && threads <= here).then_some(gain),
                ..Row::default()
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
                    "{what} over {threads} cores are within 15 % of Amdahl's {predicted:.2}: a whole run is {}",
                    super::times(gain.median)
                ),
                gain,
                0.85 * predicted..=f64::INFINITY,
                &whole.looks,
            ));
            marks.push(Mark { name: format!("{what}, measured"), at: (threads as f64, gain.median) });
        }
        let points =
            (0..=64).map(|step| 2f64.powf(f64::from(step) / 16.0)).map(|cores| (cores, amdahl(share.median, cores)));
        lines.push(Line { name: format!("{what}: {:.1} % parallel", 100.0 * share.median), points: points.collect() });
    }
    section.rows.extend(whole.looks.row());
    let example = (0..=64).map(|step| 2f64.powf(f64::from(step) / 16.0)).map(|cores| (cores, amdahl(0.2, cores)));
    lines.push(Line { name: "the paper's example: 20 %".into(), points: example.collect() });
    let chart = Chart {
        title: "Amdahl's law: greatest speed-up of a whole run".into(),
        x: Axis { name: "cores".into(), from: 1.0, to: 16.0, scale: Scale::Logarithmic },
        y: Axis { name: "speed relative to one core".into(), from: 0.0, to: 16.0, scale: Scale::Linear },
        lines,
        levels: vec![Level { name: "no gain".into(), at: 1.0 }],
        walls: Vec::new(),
        marks,
    };
    section.pictures.push(Picture { name: "amdahl".into(), drawing: Drawing::Chart(chart) });
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
        the_papers(&mut section);
        let models: Vec<String> =
            section.rows.iter().filter_map(|row| row.model).map(|model| format!("{model:.5}")).collect();
        assert_eq!(models, ["1.17647", "1.25000", "1.39332"]);
        let [Verdict::Misprint(text)] = &section.verdicts[..] else { panic!("{:?}", section.verdicts) };
        for part in ["56.5 %", "1.39 times", "5.38 s", "1.50 times", "2.42 times"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
