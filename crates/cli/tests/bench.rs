//! `tress bench` as a script sees it: records, and what changed between two of them.

mod common;

use common::Folder;
use serde_json::Value;

#[test]
fn records_are_compared() {
    let folder = Folder::new();
    folder.tress(["bench", "aes-128-ctr", "--quick", "--record=before.json"]).ok();
    let mut record: Value = serde_json::from_slice(&folder.read("before.json")).unwrap();
    assert_eq!(record["schema"], 1);
    let rows = record["rows"].as_array().unwrap().len();
    assert!(rows > 0);
    // A busy machine's samples may be anything: steady ones instead, as many, a percent apart at most.
    for row in record["rows"].as_array_mut().unwrap() {
        for samples in ["samples", "cycle_samples"] {
            let samples = row[samples].as_array_mut().into_iter().flatten();
            samples.enumerate().for_each(|(place, sample)| *sample = (1e9 + 1e6 * (place % 10) as f64).into());
        }
    }
    folder.write("before.json", record.to_string());
    folder.write("same.json", record.to_string());
    let compare =
        |after: &str, more: &[&str]| folder.tress([&["bench", "--compare", "before.json", after], more].concat());
    let told = compare("same.json", &["--fail-on-regression"]).ok();
    assert!(String::from_utf8(told.stdout).unwrap().starts_with(&format!("{rows} of {rows} rows: no change")));

    // Half as fast, however it is counted.
    for row in record["rows"].as_array_mut().unwrap() {
        for (samples, factor) in [("samples", 0.5), ("cycle_samples", 2.0)] {
            for sample in row[samples].as_array_mut().into_iter().flatten() {
                *sample = (factor * sample.as_f64().unwrap()).into();
            }
        }
    }
    folder.write("slower.json", record.to_string());
    let told = compare("slower.json", &[]).ok();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("slower") && told.contains("-50.0 %") && told.contains("aes-128-ctr encrypt"), "{told}");
    compare("slower.json", &["--fail-on-regression"]).failed("slower than before");
    let json = compare("slower.json", &["--json"]).ok();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["rows"][0]["verdict"], "slower");

    // Of another machine, of another schema, no record at all.
    record["machine"]["model"] = "another".into();
    folder.write("elsewhere.json", record.to_string());
    compare("elsewhere.json", &[]).wrong_use("machines");
    compare("elsewhere.json", &["--force"]).ok();
    record["schema"] = 2.into();
    folder.write("later.json", record.to_string());
    compare("later.json", &[]).failed("later.json: a record of schema 2");
    folder.write("damaged.json", "{\"schema\": 1, \"rows\": [");
    compare("damaged.json", &[]).failed("damaged.json");
    compare("missing.json", &[]).failed("missing.json");
    folder.tress(["bench", "--compare", "before.json"]).wrong_use("--compare");
    folder.tress(["bench", "--fail-on-regression"]).wrong_use("--compare");
}

#[test]
fn a_record_in_a_folder_replaces_none() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("records")).unwrap();
    for count in 1..=3 {
        folder.tress(["bench", "aes-128-ctr", "--quick", "--record=records"]).ok();
        assert_eq!(std::fs::read_dir(folder.path("records")).unwrap().count(), count);
    }
}
