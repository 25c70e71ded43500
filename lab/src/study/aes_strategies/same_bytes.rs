//! Section 4.1, Table 4: files of five kinds, encrypted and decrypted by every strategy. The output has to be equal
//! to that of the library's reference and of its best backend. The section also has the times.

use tress_cipher::Backend;
use tress_cipher::aes::Aes;
use tress_cipher::modes::ecb;

use super::files::{self, KINDS};
use super::strategy::{Strategy, StrategyRunner};
use super::turns::{self, Budget, Measurement, StrategyRuns, size};
use super::{Direction, KEY};
use crate::study::busy::BusyMonitor;
use crate::study::{Claim, Effort, Error, Measured, Section, StudyTable, Verdict, figure};

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let (bytes, samples, rows_s) = if effort.is_quick { (128_000, 5, 0.04) } else { (1_000_000, 7, 0.4) };
    let budget = Budget { rows_s, others_s: 5.0 };
    let mut section = Section::begin(&super::STUDY, "files", &[]);
    let bench = StrategyRunner::new(&mut section.verdicts);
    let files = files::all(bytes);
    let mut described = StudyTable::new("Files", &["kind", "bytes", "padded", "content"]);
    for (kind, file) in &files {
        let content = if *kind == KINDS[0] { "words in ASCII" } else { "arbitrary bytes" };
        let padded = files::padded(file).len();
        described.rows.push(vec![kind.to_string(), file.len().to_string(), padded.to_string(), content.into()]);
    }
    section.tables.push(described);

    let mut strategies = bench.strategies();
    strategies.retain(|&strategy| {
        // A strategy that fails here would fail with every file.
        let trial = bench.run(strategy, Direction::Encrypt, false, &mut files::padded(b""));
        let failure = if let Err(Error::Worker(why)) = trial { Some(why) } else { None };
        let left_out = failure.map(|why| Verdict::LeftOut(format!("{}: {why}", strategy.name())));
        let runs = left_out.is_none();
        section.verdicts.extend(left_out);
        runs
    });
    let columns = [&["strategy"], &KINDS[..]].concat();
    let mut compared = StudyTable::new("Bytes compared in both directions", &columns);
    let progress = crate::timing::progress((strategies.len() * files.len()) as u64);
    for &strategy in &strategies {
        let mut row = vec![strategy.name()];
        for (kind, file) in &files {
            progress.set_message(format!("{kind}: {}", strategy.name()));
            let (checked, of) = compared_bytes(&bench, strategy, kind, file, budget)?;
            row.push(if checked == of { "all".into() } else { size(checked) });
            progress.inc(1);
        }
        compared.rows.push(row);
    }
    progress.finish_and_clear();
    section.tables.push(compared);
    section.verdicts.push(Verdict::Holds(format!(
        "for {} strategies and {} kinds of files, encryption gives the same bytes as the reference and the library, and decryption the file",
        strategies.len(),
        files.len()
    )));

    let title = "Encryption, measured in milliseconds: median (95 % interval); ~ extrapolated from the compared part";
    let mut times = StudyTable::new(title, &columns);
    times.rows = strategies.iter().map(|strategy| vec![strategy.name()]).collect();
    let (mut plain_ns, mut monitor): (Vec<f64>, _) = (Vec::new(), BusyMonitor::default());
    for (_, file) in &files {
        let (left_out, monitor) = (&mut section.verdicts, &mut monitor);
        let mut measuring = Measurement { bench: &bench, samples, budget, is_watched: false, left_out, monitor };
        let all = measuring.run(&strategies, Direction::Encrypt, &files::padded(file))?;
        for (strategy, row) in strategies.iter().zip(&mut times.rows) {
            row.push(turns::of(&all, *strategy).map_or(String::new(), milliseconds));
        }
        plain_ns.extend(turns::of(&all, Strategy::Plain).map(StrategyRuns::ns_per_byte));
    }
    section.tables.push(times);
    if !plain_ns.is_empty() {
        let (low, high) = crate::study::range(plain_ns);
        let claim = format!(
            "the content of a file does not matter: plain AES takes {low:.1} to {high:.1} ns per byte over the {} kinds",
            files.len()
        );
        let is_equal = if high <= 1.15 * low { Some(true) } else { (high > 1.5 * low).then_some(false) };
        section.verdicts.push(Claim::Ours.measured(claim, is_equal, &monitor));
    }
    section.rows.extend(monitor.row());
    Ok(section)
}

/// Encrypts and decrypts as much of the file as the budget allows. Returns the number of bytes compared, and the
/// number of bytes of the padded file.
fn compared_bytes(
    bench: &StrategyRunner,
    strategy: Strategy,
    kind: &str,
    file: &[u8],
    budget: Budget,
) -> Result<(usize, usize), Error> {
    let plain = files::padded(file);
    let bytes = turns::bytes_in_budget(bench, strategy, Direction::Encrypt, &plain, budget)?;
    let disagreement = |what: &str| Error::Disagreement(format!("{kind}, {}: {what}", strategy.name()));
    let mut data = plain[..bytes].to_vec();
    bench.run(strategy, Direction::Encrypt, false, &mut data)?;
    for cipher in [Aes::with_backend(&KEY, Backend::Reference)?, Aes::new(&KEY)?] {
        let mut expected = plain[..bytes].to_vec();
        ecb::encrypt(&cipher, &mut expected)?;
        if data != expected {
            return Err(disagreement("encryption"));
        }
    }
    bench.run(strategy, Direction::Decrypt, false, &mut data)?;
    let is_the_file = bytes < plain.len() || files::unpadded(&data) == Some(file);
    if data != plain[..bytes] || !is_the_file {
        return Err(disagreement("decryption"));
    }
    Ok((bytes, plain.len()))
}

fn milliseconds(turns: &StrategyRuns) -> String {
    let seconds = Measured::of(&turns.seconds(turns.of));
    let [median, low, high] = [seconds.median, seconds.low, seconds.high].map(|seconds| figure(seconds * 1e3));
    format!("{}{median} ({low} to {high})", if turns.bytes == turns.of { "" } else { "~" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For files of all lengths; with the C program if there is a compiler.
    #[test]
    fn every_strategy_makes_the_same_bytes() {
        let mut left_out = Vec::new();
        let bench = StrategyRunner::new(&mut left_out);
        if bench.openmp.is_none() {
            assert!(std::env::var_os("CI").is_none(), "{left_out:?}");
            eprintln!("SKIPPED: OpenMP in C, {left_out:?}");
        }
        let budget = Budget { rows_s: 0.2, others_s: 1.0 };
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 1000, 1024, 16_400] {
            // A slow machine has time for no more than eight blocks of a longer file with rows over threads.
            for strategy in bench.strategies().into_iter().filter(|way| !way.is_rows() || length < 128) {
                let (checked, _) = compared_bytes(&bench, strategy, "odd", &files::text(length), budget)
                    .unwrap_or_else(|error| panic!("{error}"));
                assert!(checked >= 16, "{length} {}", strategy.name());
            }
        }
    }

    /// Runs with clocks around functions give the same bytes, and report every thread.
    #[test]
    fn watched_runs_make_the_same_bytes() {
        let bench = StrategyRunner::new(&mut Vec::new());
        let plain = files::padded(&files::text(1100));
        let mut expected = plain.clone();
        ecb::encrypt(&Aes::with_backend(&KEY, Backend::Reference).expect("a key"), &mut expected).expect("blocks");
        for strategy in bench.strategies() {
            for (direction, from, to) in
                [(Direction::Encrypt, &plain, &expected), (Direction::Decrypt, &expected, &plain)]
            {
                let mut data = from.clone();
                let run = bench.run(strategy, direction, true, &mut data).expect("a run");
                assert!(data == *to, "{} {direction:?}", strategy.name());
                assert!(run.laps.iter().sum::<f64>() > 0.0 && run.reading_s > 0.0, "{} {run:?}", strategy.name());
                if cfg!(unix) {
                    assert_eq!(run.busy_s.len(), bench.threads(strategy), "{}", strategy.name());
                }
            }
        }
    }
}
