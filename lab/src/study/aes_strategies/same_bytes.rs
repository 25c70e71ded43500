//! Section 4.1, Table 4: files of five kinds, encrypted and decrypted by every strategy, byte for byte the same as by the
//! library's reference and by its best backend; and what that takes.

use tress_cipher::{Backend, aes::Aes, modes::ecb};

use super::files::{self, File};
use super::plain::Direction;
use super::strategy::{Bench, Strategy};
use super::turns::{self, Budget, Notes, Turns, size};
use super::{KEY, cells, header, three};
use crate::study::{Claim, Effort, Error, Section, Table, Verdict, busy::Looks};

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let (bytes, samples) = if effort.is_quick { (128_000, 5) } else { (1_000_000, 7) };
    let rows_s = if effort.is_quick { 0.04 } else { 0.4 };
    let budget = Budget { rows_s, others_s: 5.0 };
    let mut section = Section {
        text: "The paper compares files qualitatively with a tool. Here every strategy encrypts every padded file and decrypts the \
               result. The output is compared with that of the library's slow reference and of its best backend. Strategies too \
               slow for a whole file process its first blocks. The files are generated for this study, with the structure that \
               readers of their format expect."
            .into(),
        ..Section::default()
    };
    let openmp = turns::openmp(&mut section.verdicts);
    let bench = Bench::new(KEY, openmp.as_ref())?;
    let files = files::all(bytes)?;
    let kinds = |first: &[&str]| -> Vec<String> {
        header(first).into_iter().chain(files.iter().map(|file| file.kind.to_string())).collect()
    };
    section.tables.push(Table {
        title: "Files".into(),
        header: header(&["kind", "bytes", "padded", "content"]),
        rows: files.iter().map(described).collect(),
    });

    let mut strategies: Vec<Strategy> = Strategy::all().into_iter().filter(|&way| bench.has(way)).collect();
    let mut compared: Vec<Vec<String>> = Vec::new();
    let progress = crate::bench::progress((strategies.len() * files.len()) as u64);
    let mut left_out = Vec::new();
    strategies.retain(|&strategy| {
        // What fails here would fail with every file.
        let mut trial = files::padded(b"");
        match bench.run(strategy, Direction::Encrypt, false, &mut trial) {
            Err(Error::Worker(why)) => {
                left_out.push(Verdict::LeftOut(format!("{}: {why}", strategy.name())));
                false
            }
            _ => true,
        }
    });
    for &strategy in &strategies {
        let mut row = vec![strategy.name()];
        for file in &files {
            progress.set_message(format!("{}: {}", file.kind, strategy.name()));
            let (checked, of) = agree(&bench, strategy, file, budget)?;
            row.push(if checked == of { "all".into() } else { size(checked) });
            progress.inc(1);
        }
        compared.push(row);
    }
    progress.finish_and_clear();
    section.verdicts.append(&mut left_out);
    section.tables.push(Table {
        title: "Bytes compared in both directions".into(),
        header: kinds(&["strategy"]),
        rows: compared,
    });
    section.verdicts.push(Verdict::Holds(format!(
        "for {} strategies and {} kinds of files, encryption gives the same bytes as the reference and the library, and decryption the file",
        strategies.len(),
        files.len()
    )));
    times(&mut section, &bench, &strategies, &files, samples, budget, kinds(&["strategy"]))?;
    Ok(section)
}

fn described(file: &File) -> Vec<String> {
    let padded = files::padded(&file.bytes).len();
    cells([file.kind.into(), file.bytes.len().to_string(), padded.to_string(), file.what.into()])
}

/// Encrypts and decrypts, as much of the file as fits. How many bytes were compared, and of how many.
fn agree(bench: &Bench<'_>, strategy: Strategy, file: &File, budget: Budget) -> Result<(usize, usize), Error> {
    let plain = files::padded(&file.bytes);
    let bytes = turns::fitting(bench, strategy, Direction::Encrypt, &plain, budget)?;
    let disagreement = |what: &str| Error::Disagreement(format!("{}, {}: {what}", file.kind, strategy.name()));
    let mut expected = plain[..bytes].to_vec();
    ecb::encrypt(&Aes::with_backend(&KEY, Backend::Reference)?, &mut expected)?;
    let mut by_library = plain[..bytes].to_vec();
    ecb::encrypt(&Aes::new(&KEY)?, &mut by_library)?;
    let mut data = plain[..bytes].to_vec();
    bench.run(strategy, Direction::Encrypt, false, &mut data)?;
    if data != expected || data != by_library {
        return Err(disagreement("encryption"));
    }
    bench.run(strategy, Direction::Decrypt, false, &mut data)?;
    let is_the_file = bytes < plain.len() || files::unpadded(&data) == Some(&file.bytes);
    if data != plain[..bytes] || !is_the_file {
        return Err(disagreement("decryption"));
    }
    Ok((bytes, plain.len()))
}

/// Seconds of every strategy for every file.
fn times(
    section: &mut Section,
    bench: &Bench<'_>,
    strategies: &[Strategy],
    files: &[File],
    samples: usize,
    budget: Budget,
    header: Vec<String>,
) -> Result<(), Error> {
    let mut rows: Vec<Vec<String>> = strategies.iter().map(|strategy| vec![strategy.name()]).collect();
    let (mut plain_ns, mut looks): (Vec<f64>, _) = (Vec::new(), Looks::default());
    for file in files {
        let padded = files::padded(&file.bytes);
        let notes = &mut Notes { left_out: &mut section.verdicts, looks: &mut looks };
        let all = turns::measure(bench, strategies, Direction::Encrypt, &padded, samples, budget, notes)?;
        for (strategy, row) in strategies.iter().zip(&mut rows) {
            let found = all.iter().find(|turns| turns.strategy == *strategy);
            row.push(found.map_or(String::new(), milliseconds));
            if let Some(turns) = found.filter(|turns| turns.strategy == Strategy::Plain) {
                plain_ns.push(turns.ns_per_byte().median);
            }
        }
    }
    section.tables.push(Table {
        title: "Encryption, measured in milliseconds: median (95 % interval); ~ extrapolated from the compared part"
            .into(),
        header,
        rows,
    });
    let (low, high) = plain_ns.iter().fold((f64::INFINITY, 0.0f64), |(low, high), ns| (low.min(*ns), high.max(*ns)));
    let claim = format!(
        "the content of a file does not matter: plain AES takes {low:.1} to {high:.1} ns per byte over the {} kinds",
        files.len()
    );
    let is_so = (high <= 1.15 * low).then_some(true);
    section.verdicts.push(Claim::Ours.measured(claim, is_so, &looks));
    Ok(())
}

fn milliseconds(turns: &Turns) -> String {
    let seconds = turns.seconds();
    let part = if turns.bytes == turns.of { "" } else { "~" };
    let [median, low, high] = [seconds.median, seconds.low, seconds.high].map(|seconds| three(seconds * 1e3));
    format!("{part}{median} ({low} to {high})")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the length of the file; with the C program where there is a compiler.
    #[test]
    fn every_strategy_makes_the_same_bytes() {
        let mut left_out = Vec::new();
        let openmp = turns::openmp(&mut left_out);
        if openmp.is_none() {
            assert!(std::env::var_os("CI").is_none(), "{left_out:?}");
            eprintln!("SKIPPED: OpenMP in C, {left_out:?}");
        }
        let bench = Bench::new(KEY, openmp.as_ref()).expect("a bench");
        let budget = Budget { rows_s: 0.2, others_s: 1.0 };
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 1000, 1024, 16_400] {
            let file = File { kind: "odd", what: "", bytes: files::text(length) };
            for strategy in Strategy::all().into_iter().filter(|&strategy| bench.has(strategy)) {
                let (checked, _) = agree(&bench, strategy, &file, budget).unwrap_or_else(|error| panic!("{error}"));
                assert!(checked >= 16, "{length} {}", strategy.name());
            }
        }
    }

    /// Where functions are timed the same bytes come out, and every thread is told.
    #[test]
    fn watched_runs_make_the_same_bytes() {
        let mut left_out = Vec::new();
        let openmp = turns::openmp(&mut left_out);
        let bench = Bench::new(KEY, openmp.as_ref()).expect("a bench");
        let plain = files::padded(&files::text(1100));
        let mut expected = plain.clone();
        ecb::encrypt(&Aes::with_backend(&KEY, Backend::Reference).expect("a key"), &mut expected).expect("blocks");
        for strategy in Strategy::all().into_iter().filter(|&strategy| bench.has(strategy)) {
            for (direction, from, to) in
                [(Direction::Encrypt, &plain, &expected), (Direction::Decrypt, &expected, &plain)]
            {
                let mut data = from.clone();
                let run = bench.run(strategy, direction, true, &mut data).expect("a run");
                assert!(data == *to, "{} {direction:?}", strategy.name());
                assert!(run.laps.total() > 0.0 && run.laps.readings > 0, "{} {:?}", strategy.name(), run.laps);
                if cfg!(unix) {
                    assert_eq!(run.busy_s.len(), strategy.threads(bench.threads), "{}", strategy.name());
                }
            }
        }
    }
}
