//! No recorded row is above its roof. If one is, the roof was measured wrong, or the row needs less than its model assumes.
//!
//! Roofs come from records that have them, and from `tests/roofs/`. That file has the higher roofs of two runs of
//! `tress bench roofs --json` on one core, without samples, for the machine of the records that are older than roofs.

use std::fs;
use std::path::PathBuf;

use tress_lab::bench::Document;
use tress_lab::bench::roofline::Share;
use tress_lab::roofs::Roofline;

/// Cycles are counted by a chain beside each sample. Rates have a larger tolerance, because the clock may change
/// between roof and row.
const BY_CYCLES: f64 = 1.02;
const BY_TIME: f64 = 1.15;
/// On Zen 5 the loop of this roof takes 9.0 cycles per round and the cipher 8.3, so this chain is measured too slow there.
const BY_CHAIN_OF_RC6: f64 = 1.1;

fn records() -> Vec<(PathBuf, Document)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/record");
    let files = fs::read_dir(folder).expect("the records").map(|entry| entry.expect("a file").path());
    let records = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    let read = |file: PathBuf| {
        let text = fs::read(&file).expect("a record");
        let document = serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (file, document)
    };
    records.map(read).collect()
}

/// A record without roofs, of a processor with the name and flags of Zen 4.
const ZEN_5: &str = "2026-11-24-amd-epyc.json";

#[test]
fn recorded_rows_are_below_their_roofs() {
    let records = records();
    let mut compared = 0;
    let mut bound = Vec::new();
    let (kept_model, kept): (String, Roofline) =
        serde_json::from_str(include_str!("roofs/ice-lake-server.json")).expect("roofs");
    // Under a hypervisor, several generations of processors have the same name.
    let with_roofs = records.iter().filter_map(|(_, Document { machine, roofs, .. })| {
        Some((&machine.model, Some(&machine.flags), roofs.as_ref()?))
    });
    for (model, flags, roofs) in with_roofs.chain([(&kept_model, None, &kept)]) {
        let is_same = |(file, document): &&(PathBuf, Document)| match &document.roofs {
            Some(own) => std::ptr::eq(own, roofs),
            None => {
                let has_flags = flags.is_none_or(|flags| document.machine.flags == *flags);
                document.machine.model == *model && has_flags && !file.ends_with(ZEN_5)
            }
        };
        for (file, document) in records.iter().filter(is_same) {
            for row in &document.rows {
                let Some(Share { roof, share }) = Share::of(row, roofs) else { continue };
                let has_cycles =
                    row.cycles_per_byte.is_some() && roofs.find(&roof).is_some_and(|r| r.per_cycle.is_some());
                let most = match (roof.as_str(), has_cycles) {
                    ("rc6-chain", _) => BY_CHAIN_OF_RC6,
                    (_, true) => BY_CYCLES,
                    (_, false) => BY_TIME,
                };
                let what = format!("{} {}, {}", row.name, row.direction, row.workload);
                assert!(share > 0.0 && share <= most, "{}: {what}: {share} of {roof}", file.display());
                compared += 1;
                bound.push(row.name.clone());
            }
        }
    }
    // The records of 2026-11 have this many rows with a model, of every kind.
    assert!(compared >= 80, "{compared} rows");
    for name in
        ["aes-128-ccm", "aes-128-cbc", "rc6-128-ctr", "pipo-128-ctr", "rijndael-256-256-ecb", "multiply", "power"]
    {
        assert!(bound.iter().any(|row| row == name), "{name}");
    }
    for name in ["rsa-2048-sign", "rsa-2048-verify", "dsa-2048-sign", "encrypt-file"] {
        assert!(bound.iter().any(|row| row == name), "{name}");
    }
}
