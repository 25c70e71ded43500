//! Real changes are found, noise is not taken for a change, and records that cannot be compared are rejected.

use super::*;
use crate::bench::record::{Against, Machine};
use crate::roofs::{Roof, Roofline};

/// Rates around `rate` with a deterministic noise of up to the fraction `noise`, different for each `seed`.
fn samples(rate: f64, noise: f64, seed: u64) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..41).map(|_| rate * (1.0 + noise * (2.0 * random.f64() - 1.0))).collect()
}

fn row(name: &str, samples: Vec<f64>) -> BenchRow {
    let text = |text: &str| text.to_string();
    let (direction, workload) = (text("encrypt"), text("32 messages"));
    BenchRow { name: name.into(), direction, workload, message_bytes: 16384, samples, ..BenchRow::default() }
}

fn document(rows: Vec<BenchRow>) -> Document {
    Document { rows, ..Document::new(Machine::default()) }
}

fn only(before: BenchRow, after: BenchRow) -> Change {
    let mut found = compare(&document(vec![before]), &document(vec![after]));
    assert_eq!((found.rows.len(), found.gone.len(), found.new.len()), (1, 0, 0));
    found.rows.pop().unwrap()
}

#[test]
fn a_slow_down_of_three_percent_is_found_and_named() {
    let found = only(row("a", samples(8e9, 0.01, 1)), row("a", samples(0.97 * 8e9, 0.01, 2)));
    assert_eq!((found.verdict, found.measure.as_str()), (Verdict::Slower, "rate"));
    assert_eq!(found.row, "a encrypt: 32 messages, 16 KiB");
    assert!((0.96..0.98).contains(&found.ratio) && found.ratio_low < found.ratio && found.ratio < found.ratio_high);
    let found = only(row("a", samples(0.97 * 8e9, 0.01, 1)), row("a", samples(8e9, 0.01, 2)));
    assert_eq!(found.verdict, Verdict::Faster);
}

#[test]
fn noise_is_no_change() {
    for seed in 0..500 {
        // With any amount of noise.
        for noise in [0.0, 0.01, 0.1, 0.4] {
            let found = only(row("a", samples(8e9, noise, seed)), row("a", samples(8e9, noise, seed + 1000)));
            assert_eq!(found.verdict, Verdict::Same, "{seed} {noise}: {found:?}");
        }
    }
    // A certain change that is too small to report.
    assert_eq!(only(row("a", vec![1.0; 41]), row("a", vec![0.985; 41])).verdict, Verdict::Same);
    // A large change with too few samples.
    let found = compare(&document(vec![row("a", vec![1.0; 10])]), &document(vec![row("a", vec![0.5; 10])]));
    assert_eq!((found.rows.len(), found.has_verdict(), found.has_regression()), (0, false, false));
    assert_eq!(found.unsure, ["a encrypt: 32 messages, 16 KiB"]);
}

/// A record may contain any values; these do not become a measure.
#[test]
fn pairs_of_zeros_are_not_a_measure() {
    let with = |pairs: Vec<[f64; 2]>| {
        let mut row = row("a", samples(8e9, 0.01, 1));
        row.against.insert("openssl".into(), Against { per_visit: 1, pairs, ..Against::default() });
        row
    };
    let found = only(with(vec![[0.0, 0.0]; 41]), with([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].repeat(14)));
    assert_eq!((found.verdict, found.measure.as_str()), (Verdict::Same, "rate"));
}

/// The second run met another load, and so did the peer that was measured alternately with ours.
#[test]
fn a_peer_in_turn_takes_the_weather_out() {
    let with_peer = |version: &str, ours: Vec<f64>, theirs: Vec<f64>| {
        let mut made = row("a", ours.clone());
        let pairs = ours.into_iter().zip(theirs).map(|(ours, theirs)| [ours, theirs]).collect();
        made.against.insert("openssl".into(), Against { version: version.into(), pairs, ..Against::default() });
        made
    };
    let weather = samples(1.0, 0.3, 7);
    let under = |rate: f64| weather.iter().map(|factor| rate * factor).collect::<Vec<_>>();
    let before = with_peer("3.0", vec![10.0; 41], vec![5.0; 41]);
    let found = only(before.clone(), with_peer("3.0", under(7.0), under(3.5)));
    assert_eq!((found.verdict, found.measure.as_str()), (Verdict::Same, "openssl"));
    assert!((found.ratio - 1.0).abs() < 1e-9);
    let found = only(before.clone(), with_peer("3.0", under(6.7), under(3.5)));
    assert_eq!((found.verdict, found.measure.as_str()), (Verdict::Slower, "openssl"));
    // A ratio to another version of the peer is not comparable, nor one to our own code, which may have changed.
    assert_eq!(only(before.clone(), with_peer("3.1", under(7.0), under(3.5))).measure, "rate");
    let beside_our_own = |mut row: BenchRow| {
        row.against = row.against.into_values().map(|against| ("own-aes-256".into(), against)).collect();
        row
    };
    let found = only(beside_our_own(before), beside_our_own(with_peer("3.0", under(7.0), under(3.5))));
    assert_eq!((found.verdict, found.measure.as_str()), (Verdict::Slower, "rate"));
}

#[test]
fn rows_of_one_record_only() {
    let (a, b) = (row("a", vec![1.0; 41]), row("b", vec![1.0; 41]));
    let found = compare(&document(vec![a.clone(), b.clone()]), &document(vec![b, row("c", vec![1.0; 41])]));
    assert_eq!(found.gone, ["a encrypt: 32 messages, 16 KiB"]);
    assert_eq!(found.new, ["c encrypt: 32 messages, 16 KiB"]);
    assert_eq!(found.rows.len(), 1);
    // More than a run makes; their pairs would not fit into memory.
    assert_eq!(compare(&document(vec![a.clone()]), &document(vec![row("a", vec![1.0; 1_000_000])])).rows, []);
    // Samples that no clock gives.
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(compare(&document(vec![a.clone()]), &document(vec![row("a", vec![wrong; 41])])).rows, []);
    }
}

/// The published figures of a record are the same without its samples. Functions that need samples report the commit
/// that has them.
#[test]
fn medians_are_kept_without_samples() {
    let mut row = row("a", samples(8e9, 0.4, 1));
    let pairs = samples(8e9, 0.4, 2).into_iter().zip(samples(2e9, 0.4, 3)).map(|(ours, theirs)| [ours, theirs]);
    row.against.insert("openssl".into(), crate::bench::sample::compare("3.0".into(), pairs.collect(), 3, None));
    row.cycle_samples = vec![1.0; 41];
    // Older records have no intervals for rates.
    row.bytes_per_s = Some(row.clone().summarise());
    let roof = Roof { cycle_samples: vec![4.0, 1.0, 3.0], samples: vec![1.0; 3], ..Roof::default() };
    let roofs = Roofline { roofs: vec![roof.clone(), roof], ..Roofline::default() };
    let full = Document { roofs: Some(roofs), ..document(vec![row.clone(), row.clone()]) };
    let mut kept = full.clone();
    kept.keep_medians("0123abc".into());

    let folder = tempfile::tempdir().unwrap();
    let [full_path, kept_path] = [("full", &full), ("kept", &kept)].map(|(name, document)| {
        let path = folder.path().join(name);
        document.write_lines(std::fs::File::create(&path).unwrap()).unwrap();
        path
    });
    let text = std::fs::read_to_string(&kept_path).unwrap();
    // A head, two rows and two rooflines.
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.lines().skip(1).all(|line| line.starts_with("{\"name\":")) && text.ends_with("}\n"));
    assert_eq!(read(&full_path).unwrap().rows, full.rows);

    let found = read(&kept_path).unwrap();
    let median = BenchRow { count: Some(41), samples: vec![], cycle_samples: vec![], ..full.rows[0].clone() };
    let expected = BenchRow { against: found.rows[0].against.clone(), outliers: found.rows[0].outliers, ..median };
    let rate = crate::timing::statistics::median(&row.samples);
    let intervals = BenchRow { rate_low: Some(rate.low), rate_high: Some(rate.high), ..expected };
    assert_eq!(found.rows, [intervals.clone(), intervals]);
    let against = Against { count: Some(41), pairs: vec![], ..full.rows[0].against["openssl"].clone() };
    assert_eq!(found.rows[0].against["openssl"], against);
    let roof = &found.roofs.unwrap().roofs[0];
    assert_eq!((roof.median_per_cycle(), roof.samples.len(), roof.cycle_samples.len()), (Some(3.0), 0, 0));

    for [before, after] in [[&kept_path, &full_path], [&full_path, &kept_path]] {
        let options = Options { before: before.clone(), after: after.clone(), force: true, json: false };
        let error = run(&options, &mut Vec::new()).expect_err("no samples");
        assert!(matches!(&error, Error::NoSamples { path, commit } if *path == kept_path && commit == "0123abc"));
    }
    // Lists of samples may be missing altogether.
    let text = text.replace("\"samples\":[]", "\"more\":0").replace("\"pairs\":[]", "\"more\":0");
    std::fs::write(&kept_path, text).unwrap();
    assert_eq!(read(&kept_path).unwrap().rows, found.rows);
}

#[test]
fn records_that_say_nothing_about_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let good = document(vec![row("a", vec![1.0; 41])]);
    let write = |name: &str, document: &Document| file(name, &serde_json::to_vec(document).unwrap());
    let here = write("here", &good);
    let run = |after: &Path, force| {
        let options = Options { before: here.clone(), after: after.into(), force, json: false };
        super::run(&options, &mut Vec::new()).map(|found| found.rows.len())
    };
    assert_eq!(run(&here, false).unwrap(), 1);
    let mut elsewhere = good.clone();
    elsewhere.machine.model = "another".into();
    let elsewhere = write("elsewhere", &elsewhere);
    assert!(matches!(run(&elsewhere, false), Err(Error::NotComparable { what: "machines" })));
    assert_eq!(run(&elsewhere, true).unwrap(), 1);
    let quick = write("quick", &Document { quick: true, ..good.clone() });
    assert!(matches!(run(&quick, false), Err(Error::NotComparable { .. })));
    let next = write("next", &Document { schema: SCHEMA + 1, ..good });
    assert!(matches!(run(&next, true), Err(Error::Schema { schema: 2, .. })));
    for text in ["", "{", "[]", "{\"schema\": 1}", "{\"schema\": \"1\"}"] {
        assert!(matches!(run(&file("damaged", text.as_bytes()), true), Err(Error::Record { .. })), "{text:?}");
    }
    assert!(matches!(run(Path::new("missing"), true), Err(Error::Record { .. })));
}
