//! No recorded row is above its roof: where one is, the roof was measured wrong, or the row needs less than its model says.

use std::{fs, path::PathBuf};

use tress_lab::{
    bench::Document,
    roofs::{Roofs, Share},
};

/// Cycles are counted by a chain beside each sample; a clock that changes between roof and row shows in rates.
const BY_CYCLES: f64 = 1.02;
const BY_TIME: f64 = 1.15;

fn records() -> Vec<(PathBuf, Document)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/record");
    let files = fs::read_dir(folder).expect("the records").map(|entry| entry.expect("a file").path());
    let records = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    let read = |file: PathBuf| {
        let text = fs::read(&file).expect("a record");
        let document = serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (file, document)
    };
    records.map(read).collect()
}

#[test]
fn recorded_rows_are_below_their_roofs() {
    let records = records();
    let mut compared = 0;
    let mut bound = Vec::new();
    for (file, with_roofs) in records.iter().filter(|(_, document)| document.roofs.is_some()) {
        let roofs: &Roofs = with_roofs.roofs.as_ref().expect("roofs");
        for (_, document) in records.iter().filter(|(_, other)| other.machine.model == with_roofs.machine.model) {
            for row in &document.rows {
                let Some(Share { roof, share }) = Share::of(row, roofs) else { continue };
                let has_cycles =
                    row.cycles_per_byte.is_some() && roofs.find(&roof).is_some_and(|r| r.per_cycle.is_some());
                let most = if has_cycles { BY_CYCLES } else { BY_TIME };
                let what = format!("{} {}, {}", row.name, row.direction, row.workload);
                assert!(share > 0.0 && share <= most, "{}: {what}: {share} of {roof}", file.display());
                compared += 1;
                bound.push(row.name.clone());
            }
        }
    }
    // The records of 2026-11 have that many rows of a model, and every kind of model.
    assert!(compared >= 100, "{compared} rows");
    for name in
        ["aes-128-ccm", "aes-128-cbc", "rc6-128-ctr", "pipo-128-ctr", "rijndael-256-256-ecb", "multiply", "power"]
    {
        assert!(bound.iter().any(|row| row == name), "{name}");
    }
    for name in ["rsa-2048-sign", "rsa-2048-verify", "dsa-2048-sign", "encrypt-file"] {
        assert!(bound.iter().any(|row| row == name), "{name}");
    }
}
