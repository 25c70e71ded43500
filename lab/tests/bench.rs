//! `bench::run` as the command calls it: what it writes for programs, what it refuses.

use regex::Regex;
use serde_json::Value;
use tress_lab::bench::{Document, Error, Options, run};

fn options(filter: &str) -> Options {
    Options { filter: Some(Regex::new(filter).expect("a pattern")), quick: true, ..Options::default() }
}

#[test]
fn json_has_the_keys_of_the_contract() {
    let mut out = Vec::new();
    let mut options = Options { json: true, against: vec!["rustcrypto".into()], ..options("^aes-128-ctr$") };
    let folder = tempfile::tempdir().expect("a temporary folder");
    options.record = Some(folder.path().to_path_buf());
    run(&options, &mut out).expect("a measurement");
    let json: Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(json["schema"], 1);
    assert!(json["machine"]["cores"].as_u64() >= Some(1));
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!((&row["name"], &row["direction"]), (&"aes-128-ctr".into(), &"encrypt".into()));
    assert_eq!((row["threads"].as_u64(), row["lanes"].as_u64()), (Some(1), Some(1)));
    assert_eq!(row["message_bytes"].as_u64(), Some(16_384));
    assert!(row["bytes_per_s"].as_f64() > Some(0.0));
    assert!(row["backend"].is_string());
    if tress_peers::clock::AVAILABLE {
        assert!(row["cycles_per_byte"].as_f64() > Some(0.0));
    }
    let against = &row["against"]["rustcrypto"];
    assert!(against["version"].is_string());
    let ratio = |key: &str| against[key].as_f64().expect("a number");
    assert!(ratio("ratio_low") <= ratio("ratio") && ratio("ratio") <= ratio("ratio_high"));
    assert!(against["pairs"].as_array().map(Vec::len) >= Some(11));
    assert!(["narrow", "time", "limit"].contains(&against["stopped"].as_str().expect("why it stopped")));
    assert!(against["outliers"].is_u64() && json["complete"] == true);

    let recorded: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(recorded.len(), 1);
    let text = std::fs::read(recorded[0].as_ref().expect("an entry").path()).expect("the record");
    let document: Document = serde_json::from_slice(&text).expect("a record can be read again");
    assert_eq!(document.rows.len(), 1);
}

#[test]
fn a_table_names_the_machine_and_the_rows() {
    let mut out = Vec::new();
    run(&options("^aes-128-ecb$"), &mut out).expect("a measurement");
    let text = String::from_utf8(out).expect("text");
    assert_eq!(text.matches("aes-128-ecb").count(), 2, "{text}");
    assert!(text.contains("GB/s"));
    // Who measures a build that nobody uses is told.
    assert_eq!(text.contains("debug build"), cfg!(debug_assertions), "{text}");
}

#[test]
fn wrong_names_are_wrong_use() {
    let unknown = Options { against: vec!["nobody".into()], ..options("ecb") };
    let error = run(&unknown, &mut Vec::new()).expect_err("no such peer");
    assert!(matches!(&error, Error::UnknownPeer(name) if name == "nobody") && error.is_usage());
    let error = run(&options("^no-such-row$"), &mut Vec::new()).expect_err("no such row");
    assert!(matches!(error, Error::NothingMatches));
    // Rows of commands need the command.
    let error = run(&options("^encrypt-file$"), &mut Vec::new()).expect_err("no command");
    assert!(matches!(error, Error::NothingMatches));
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_that_fails_is_named() {
    let options = Options { command: Some("/nonexistent/tress".into()), ..options("^encrypt-start$") };
    let error = run(&options, &mut Vec::new()).expect_err("no such program");
    assert!(matches!(error, Error::Command { .. }), "{error}");
}
