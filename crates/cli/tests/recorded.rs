//! `tress plan --from` as used by scripts, with rates from a record. The record has the rates of the paper's Table 1. Expected figures
//! come from that table or are computed by hand.

use crate::common::{Folder, Run};
use serde_json::{Value, json};

/// A roof of the record: 10 µs for a synchronisation, 100 Mbit/s over loopback.
fn roof(name: &str, median_per_s: f64) -> Value {
    json!({
        "name": name, "counts": "", "threads": 2, "per_s": 2.0 * median_per_s, "median_per_s": median_per_s,
        "low_per_s": median_per_s, "high_per_s": median_per_s, "samples": [median_per_s]
    })
}

/// A row of the record. 27,027,027 bytes per second are 0.037 µs per byte.
fn row(backend: &str, threads: u32, lanes: u32, bytes_per_s: f64) -> Value {
    json!({
        "name": "aes-128-ccm", "direction": "encrypt", "workload": "written", "backend": backend, "threads": threads,
        "lanes": lanes, "message_bytes": 16384, "bytes_per_s": bytes_per_s, "against": {}, "samples": [bytes_per_s]
    })
}

fn record() -> Value {
    json!({
        "schema": 1, "time": 951_782_400, "tress": "0.1.0", "quick": true, "missing": [],
        "machine": {
            "model": "A machine of long ago", "cores": 2, "flags": [], "memory_bytes": null, "governor": null, "load": null,
            "kernel": "", "virtual_machine": false, "rustc": "", "target": "", "commit": null
        },
        "rows": [row("aesni", 1, 32, 1e6), row("vaes512", 1, 32, 1.0 / 0.037e-6)],
        "roofs": {
            "roofs": [roof("loopback", 12.5e6), roof("counter-2", 1e5), roof("barrier-2", 1e4)],
            "missing": [], "cache_bytes": []
        }
    })
}

fn plan(folder: &Folder, record: &Value, more: &[&str]) -> Run {
    folder.write("record.json", record.to_string());
    folder.tress([&["plan", "--from", "record.json", "--size", "10GB"], more].concat())
}

fn planned(folder: &Folder, record: &Value, more: &[&str]) -> Value {
    plan(folder, record, &[more, &["--json"]].concat()).json()
}

/// 10 GB at 100 Mbit/s: 8944 stages, speed-up 1.46.
#[test]
fn table_one_from_a_record() {
    let folder = Folder::new();
    let json = planned(&folder, &record(), &[]);
    assert_eq!((json["stages"].as_u64(), json["limit"].as_str()), (Some(8_944), Some("link")));
    assert_eq!((json["speedup"].as_f64().unwrap() * 100.0) as u64, 146);
    assert!((json["compute_s_per_byte"].as_f64().unwrap() - 0.037e-6).abs() < 1e-15, "{json}");
    assert!(json["measured"].is_null());
    let from = &json["from"];
    assert_eq!((from["machine"].as_str(), from["cores"].as_u64()), (Some("A machine of long ago"), Some(2)));
    assert_eq!((from["date"].as_str(), from["is_this_machine"].as_bool()), (Some("2000-02-29"), Some(false)));
    assert_eq!(from["row"], "aes-128-ccm encrypt, vaes512, 32 lanes of 16384 bytes");

    // Options override the record: 10 Mbit/s give 28,284 stages; 100 Mbit/s and a barrier of 100 µs give 2,828.
    assert_eq!(planned(&folder, &record(), &["--link-rate", "10Mbit"])["stages"], 28_284);
    assert_eq!(planned(&folder, &record(), &["--sync", "barrier"])["stages"], 2_828);
    assert_eq!(planned(&folder, &record(), &["--sync-cost", "100us"])["stages"], 2_828);
    // With four cores the link is still the limit.
    assert_eq!(planned(&folder, &record(), &["--cores", "4"])["compute_cores"], 1);
}

#[test]
fn another_machine_is_named() {
    let folder = Folder::new();
    let run = plan(&folder, &record(), &[]).ok();
    let (out, told) = (String::from_utf8(run.stdout).unwrap(), run.stderr);
    assert!(out.contains("recorded on A machine of long ago, 2 cores, 2000-02-29"), "{out}");
    assert!(out.contains("row         aes-128-ccm encrypt, vaes512, 32 lanes"), "{out}");
    assert!(out.contains("that machine's loopback"), "{out}");
    assert!(told.contains("another machine"), "{told}");
    for (rates, text) in [
        (&["--link-rate", "1Gbit"][..], "2000-02-29; link rate as given\n"),
        (&["--compute-rate", "1GB"], "rates as given; link rate from that machine's loopback\n"),
        (&["--compute-rate", "1GB", "--link-rate", "1Gbit"], "rates as given\n"),
    ] {
        let out = String::from_utf8(plan(&folder, &record(), rates).ok().stdout).unwrap();
        assert!(out.contains(text), "{out}");
    }
}

/// Two threads have 1.5 times the rate of one: with three cores and a fast link a byte costs 0.037 / 1.5 µs.
#[test]
fn rows_of_several_threads_count() {
    let folder = Folder::new();
    let mut record = record();
    record["rows"].as_array_mut().unwrap().push(row("vaes512", 2, 32, 1.5 / 0.037e-6));
    let json = planned(&folder, &record, &["--cores", "3", "--link-rate", "100MB"]);
    assert_eq!(json["compute_cores"], 2);
    assert!((json["compute_s_per_byte"].as_f64().unwrap() - 0.037e-6 / 1.5).abs() < 1e-15, "{json}");
}

#[test]
fn unusable_records() {
    let folder = Folder::new();
    let with = |change: fn(&mut Value)| {
        let mut record = record();
        change(&mut record);
        plan(&folder, &record, &[])
    };
    with(|record| record["schema"] = 2.into()).failed("schema 2");
    with(|record| drop(record.as_object_mut().unwrap().remove("machine"))).failed("record.json");
    with(|record| record["rows"] = json!([])).failed("record.json: the record has no row");
    with(|record| record["rows"] = json!([row("vaes512", 1, 1, 1e9)])).failed("record.json: the record has no row");
    with(|record| record["rows"] = json!([row("vaes512", 1, 32, -1e9)])).failed("record.json: the record has no row");
    with(|record| record["rows"] = json!([row("vaes512", 2, 32, 1e9)])).failed("record.json: the record has no row");
    with(|record| drop(record.as_object_mut().unwrap().remove("roofs")))
        .failed("record.json: the record has no loopback");
    with(|record| record["roofs"]["roofs"] = json!([roof("loopback", 1e9)])).failed("synchronisation");
    with(|record| record["roofs"]["roofs"][0] = roof("loopback", 0.0)).failed("record.json");
    with(|record| record["roofs"]["roofs"][1] = roof("counter-2", -1.0)).failed("record.json");
    // A record may lack figures that are given as options.
    let mut bare = record();
    bare.as_object_mut().unwrap().remove("roofs");
    plan(&folder, &bare, &["--link-rate", "1Gbit", "--sync-cost", "10us"]).ok();

    for damaged in ["", "{", "null", "[]", "{\"schema\": 1}", "{\"schema\": 1, \"rows\": [", &"[".repeat(100_000)] {
        folder.write("damaged.json", damaged);
        folder.tress(["plan", "--from", "damaged.json"]).failed("damaged.json");
    }
    folder.write("record.json", record().to_string());
    folder.tress(["plan", "--from", "record.json", "--measure"]).wrong_use("--measure");
    folder.tress(["plan", "--from", "record.json", "--strategy", "serial"]).wrong_use("--compute-rate");
    // Only the folder's keys and the records are there.
    assert_eq!(folder.names(), ["damaged.json", "me.key", "other.key", "record.json"]);
}

/// A record is an input like others: any descriptor provides it, and no output replaces it.
#[cfg(unix)]
#[test]
fn a_record_is_an_input() {
    let folder = Folder::new();
    let text = record().to_string();
    for name in ["-", "/dev/stdin"] {
        folder.tress_with(["plan", "--from", name], text.as_bytes()).ok();
    }
    folder.tress(["plan", "--from", "/dev/stdout"]).failed("descriptor 1 is not open for reading");
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff");
    folder.tress(["plan".as_ref(), "--from".as_ref(), name]).failed(r"\xff");
    folder.write("record.svg", &text);
    std::os::unix::fs::symlink("record.svg", folder.path("link.svg")).unwrap();
    for output in ["record.svg", "link.svg"] {
        folder.tress(["plan", "--from", "record.svg", "--force", "-o", output]).failed(output);
        assert_eq!(folder.read("record.svg"), text.as_bytes());
    }
}
