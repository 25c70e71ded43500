//! The document as a table for people.

use std::io::{self, Write};

use super::record::{BenchRow, Document, Machine};
use super::text;

pub(crate) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    write_machine(&document.machine, out)?;
    write_rows(document, out)?;
    for missing in &document.missing {
        writeln!(out, "{}", missing.hint)?;
    }
    Ok(())
}

pub(crate) fn write_rows(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let header = [
        "name",
        "direction",
        "backend",
        "work",
        "message",
        "rate",
        "cycles/byte",
        "of the roof",
        "ratio (95 % interval)",
    ];
    let mut table = text::table(header, 4..=7);
    for row in &document.rows {
        table.add_row([
            row.name.clone(),
            row.direction.clone(),
            row.backend.clone(),
            workload(row),
            text::length(row.message_bytes),
            rate(row),
            row.cycles_per_byte.map_or(String::new(), |cycles| format!("{cycles:.3}")),
            share(row),
            ratios(row),
        ]);
    }
    writeln!(out, "{table}")?;
    if document
        .rows
        .iter()
        .any(|row| row.against.values().any(|a| has_many_outliers(a.outliers, a.pairs.len())) || is_noisy(row))
    {
        writeln!(
            out,
            "! more than 10 % of the samples are outliers (included): another program ran, or the clock rate changed"
        )?;
    }
    Ok(())
}

/// The share of the roof in percent, and the roof's name.
fn share(row: &BenchRow) -> String {
    match (&row.bound, row.share) {
        (Some(roof), Some(share)) => format!("{:.0} % {roof}", 100.0 * share),
        _ => String::new(),
    }
}

/// Writes the machine's data, and a warning if it is busy.
pub(crate) fn write_machine(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}, {} cores, {}, {}", machine.model, machine.cores, machine.kernel, machine.rustc)?;
    if machine.is_debug_build() {
        writeln!(out, "this is a debug build: its figures do not apply to a release build")?;
    }
    if let Some(load) = machine.load
        && load > 0.5
    {
        writeln!(out, "the machine is busy (load {load:.1}): the figures may be wrong; run again when it is idle")?;
    }
    Ok(())
}

/// The workload, with the number of threads if it is more than one and the row is not a whole command.
fn workload(row: &BenchRow) -> String {
    if row.threads > 1 && row.lanes > 0 {
        format!("{}, {} threads", row.workload, row.threads)
    } else {
        row.workload.clone()
    }
}

/// Whether there are enough outliers for a warning.
fn has_many_outliers(outliers: usize, samples: usize) -> bool {
    10 * outliers > samples
}

/// Whether a row without a peer, whose rate is the result, has many outliers.
fn is_noisy(row: &BenchRow) -> bool {
    row.against.is_empty() && has_many_outliers(row.outliers, row.samples.len())
}

/// The rate; with its interval if no ratio with an interval is shown.
fn rate(row: &BenchRow) -> String {
    let mark = if is_noisy(row) { " !" } else { "" };
    let interval = match (row.rate_low, row.rate_high) {
        (Some(low), Some(high)) if row.against.is_empty() && row.samples.len() > 1 => {
            // The lowest rate is the longest time.
            let is_time = row.per_s.is_some_and(|median| median <= 1000.0);
            let (first, second) = if is_time { (high, low) } else { (low, high) };
            format!(" ({} to {})", format_rate(row, first), format_rate(row, second))
        }
        _ => String::new(),
    };
    format!("{}{interval}{mark}", median(row))
}

/// The unit of a row's rates in bytes each second.
fn unit(median: f64) -> (f64, &'static str) {
    if median < 1e8 { (1e6, "MB/s") } else { (1e9, "GB/s") }
}

/// A rate in the unit of [`median`].
fn format_rate(row: &BenchRow, rate: f64) -> String {
    match row.per_s {
        None => format!("{:.2}", rate / unit(row.bytes_per_s.unwrap_or(rate)).0),
        Some(median) if median > 1000.0 => format!("{rate:.0}"),
        Some(_) => format!("{:.2}", 1e3 / rate),
    }
}

fn median(row: &BenchRow) -> String {
    match (row.bytes_per_s, row.per_s, row.peak_bytes) {
        (Some(rate), _, _) => format!("{:.2} {}", rate / unit(rate).0, unit(rate).1),
        (_, Some(rate), _) if rate > 1000.0 => format!("{rate:.0}/s"),
        (_, Some(rate), _) => format!("{:.2} ms", 1e3 / rate),
        (_, _, Some(peak)) => format!("{:.1} MiB", peak as f64 / f64::from(1 << 20)),
        _ => String::new(),
    }
}

fn ratios(row: &BenchRow) -> String {
    let ratios: Vec<String> = row
        .against
        .iter()
        .map(|(peer, against)| {
            let mark = if has_many_outliers(against.outliers, against.pairs.len()) { " !" } else { "" };
            let release = release(row, &against.version);
            format!("{peer}{release} {:.2}× ({:.2}-{:.2}){mark}", against.ratio, against.ratio_low, against.ratio_high)
        })
        .collect();
    ratios.join("\n")
}

/// The crate that does the row's work, for a peer that consists of several crates: ` (aes 0.9.4)`.
fn release(row: &BenchRow, version: &str) -> String {
    let cipher = row.name.split('-').next();
    let of_cipher = |one: &&str| one.split(' ').next() == cipher;
    version.split(", ").find(of_cipher).map(|one| format!(" ({one})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_of_several_crates_names_the_one_that_works() {
        let of = |name: &str, version| release(&BenchRow { name: name.into(), ..BenchRow::default() }, version);
        let version = "aes 0.9.4, ccm 0.6.1, rc6 0.1.0";
        assert_eq!(
            (of("aes-128-ccm", version), of("rc6-128-ecb", version)),
            (" (aes 0.9.4)".into(), " (rc6 0.1.0)".into())
        );
        assert_eq!(of("aes-128-ccm", "1.3.0"), "");
    }
}
