//! `tress plan` as used by scripts. Expected figures come from the paper (Table 1) or are computed by hand.

use crate::common::{Folder, Run};
use serde_json::Value;

/// R_comp and T_syn of Table 1.
const PAPER: [&str; 5] = ["plan", "--compute-rate", "0.037us/B", "--sync-cost", "10us"];

/// A folder that also holds the cache.
struct CacheFolder(Folder);

impl CacheFolder {
    fn new() -> CacheFolder {
        CacheFolder(Folder::new())
    }

    fn tress(&self, arguments: &[&str]) -> Run {
        crate::common::run(self.0.command(arguments).env("XDG_CACHE_HOME", self.0.path("cache")), &[])
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.tress(&[arguments, &["--json"]].concat()).json()
    }

    fn cached(&self) -> String {
        "cache/tress/machine-v1.json".into()
    }
}

/// Rows of Table 1: size, link rate, speed-up in hundredths, stages. The misprinted 292 is corrected to 283.
#[test]
fn table_one_of_the_paper() {
    let cache = CacheFolder::new();
    let rows = [
        ("10MB", "10Mbit", 104, 894),
        ("10MB", "100Mbit", 145, 283),
        ("10MB", "1000Mbit", 120, 192),
        ("10GB", "10Mbit", 104, 28_284),
        ("10GB", "100Mbit", 146, 8_944),
        ("10GB", "1Gbit", 121, 6_082),
    ];
    for (size, link, hundredths, stages) in rows {
        let json = cache.json(&[&PAPER[..], &["--size", size, "--link-rate", link]].concat());
        assert_eq!(json["stages"], stages, "{json}");
        assert_eq!((json["speedup"].as_f64().unwrap() * 100.0) as u64, hundredths, "{json}");
    }
    // The same rate in bytes.
    let json = cache.json(&["plan", "--size", "10GB", "--compute-rate", "27027027", "--link-rate", "12.5MB"]);
    assert_eq!(json["stages"], 8_944);
    // (m + 1) M/m R_max + m T_syn = 8945 · 1e10/8944 · 0.08e-6 + 8944 · 10e-6.
    assert!((json["time_s"].as_f64().unwrap() - 800.178_886).abs() < 1e-5);
    assert!((json["sequential_s"].as_f64().unwrap() - 1170.0).abs() < 1e-5);
    // 1e10 / 8944, rounded up.
    assert_eq!(json["stage_bytes"], 1_118_068);
    assert_eq!(json["limit"], "link");
    assert!(json["measured"].is_null());
}

#[test]
fn limits() {
    let cache = CacheFolder::new();
    let rates = ["plan", "--size", "10MB", "--compute-rate", "0.037us/B", "--link-rate", "10Mbit"];
    let with = |more: &[&str]| cache.json(&[&rates[..], more].concat());
    // 894 stages would have 11 kB each, less than a chunk. So there are 610 stages of 16 KiB.
    let json = with(&["--min-batch", "16KiB"]);
    assert_eq!((json["stages"].as_u64(), json["limit"].as_str()), (Some(610), Some("min-batch")));
    let json = with(&["--buffer", "10kB"]);
    assert_eq!((json["stages"].as_u64(), json["limit"].as_str()), (Some(1000), Some("buffer")));
    with(&["--sync-cost", "0us", "--min-batch", "1MB"]);
    let json = with(&["--cores", "1"]);
    assert_eq!((json["speedup"].as_f64(), json["limit"].as_str()), (Some(1.0), Some("one-core")));
    // Four links, each with a core, take a quarter of the time for a byte. One core computes 5.4 times as fast.
    for cores in [&["--cores", "5"][..], &[]] {
        let json = with(&[cores, &["--links", "4"]].concat());
        assert_eq!((json["link_cores"].as_u64(), json["compute_cores"].as_u64()), (Some(4), Some(1)));
    }
    // Section 2.2 of the paper: with CTR split over four cores, a message takes 5/8 of the time.
    let message = ["plan", "--size", "1GB", "--compute-rate", "8us/B", "--link-rate", "1GB", "--cores", "5"];
    for (strategy, us) in [("serial", 8.0), ("ctr-split", 5.0), ("mac-apart", 4.0), ("chunks", 2.0)] {
        let json = cache.json(&[&message[..], &["--strategy", strategy]].concat());
        assert!((json["compute_s_per_byte"].as_f64().unwrap() * 1e6 - us).abs() < 1e-9, "{json}");
    }
}

#[test]
fn a_picture() {
    let cache = CacheFolder::new();
    let plan = [&PAPER[..], &["--size", "10GB", "--link-rate", "100Mbit"]].concat();
    let with = |more: &[&str]| cache.tress(&[&plan[..], more].concat());
    let printed = with(&["-o", "-"]).ok().stdout;
    let table = with(&["-o", "plan.svg"]).ok().stdout;
    assert!(String::from_utf8(table).unwrap().contains("8,944"));
    assert_eq!(cache.0.read("plan.svg"), printed);
    let svg = String::from_utf8(printed).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("8944 stages"), "{svg}");
    // An existing file is replaced only with --force, and a failure leaves no partial file.
    cache.0.write("plan.svg", "mine");
    with(&["-o", "plan.svg"]).failed("plan.svg");
    assert_eq!(cache.0.read("plan.svg"), b"mine");
    with(&["-o", "plan.svg", "--force"]).ok();
    assert_eq!(cache.0.read("plan.svg"), svg.as_bytes());
    if cfg!(unix) {
        with(&["-o", "/dev/null"]).ok();
    }
    assert_eq!(cache.0.names(), ["me.key", "other.key", "plan.svg"]);
}

#[test]
fn measurements_are_kept_and_used() {
    let cache = CacheFolder::new();
    let json = cache.json(&["plan", "--measure"]);
    for key in ["stages", "stage_bytes", "time_s", "sequential_s", "speedup"] {
        assert!(json[key].as_f64().unwrap() > 0.0, "{key}: {json}");
    }
    assert!(json["limit"].is_string());
    assert!(json["stage_bytes"].as_u64().unwrap() >= 16384);
    let kept: Value = serde_json::from_slice(&cache.0.read(&cache.cached())).unwrap();
    assert_eq!(json["measured"], kept);
    // T_syn of each kind with 2, 4 and 8 threads.
    for figures in kept["sync"].as_array().unwrap() {
        let counts: Vec<_> =
            figures["seconds"].as_array().unwrap().iter().map(|figure| figure["count"].clone()).collect();
        assert_eq!(counts, [2, 4, 8]);
    }

    // A plan without rates uses the kept measurement.
    let rest = ["plan", "--size", "10GiB", "--link-rate", "1Gbit"];
    let planned = cache.json(&rest);
    // Compare time and machine: figures that were written and read may differ in the last digit.
    assert_eq!((&planned["measured"]["time"], &planned["measured"]["machine"]), (&kept["time"], &kept["machine"]));
    assert_eq!(planned["size_bytes"], 10_u64 << 30);
    let text = String::from_utf8(cache.tress(&rest).ok().stdout).unwrap();
    assert!(text.contains("limit"), "{text}");

    // A measurement of another machine, or a damaged one, is reported and measured again.
    let written = String::from_utf8(cache.0.read(&cache.cached())).unwrap();
    let model = kept["machine"]["model"].as_str().unwrap();
    for damaged in [written.replacen(model, "another", 1), written[..100].to_string()] {
        cache.0.write(&cache.cached(), damaged);
        let run = cache.tress(&[&rest[..], &["--json"]].concat()).ok();
        assert!(run.stderr.starts_with("tress: note: "), "{}", run.stderr);
        let again: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(again["measured"]["machine"], kept["machine"]);
        assert_eq!(again["measured"], serde_json::from_slice::<Value>(&cache.0.read(&cache.cached())).unwrap());
    }
}

/// If the cache cannot be written, a note says so, and the plan is still printed.
#[test]
fn a_measurement_that_cannot_be_kept() {
    let cache = CacheFolder::new();
    cache.0.write("cache", "a file, not a folder");
    let run = cache.tress(&["plan", "--measure"]).ok();
    assert!(run.stderr.starts_with("tress: note: ") && run.stderr.contains("not kept"), "{}", run.stderr);
    assert!(String::from_utf8(run.stdout).unwrap().contains("counter"));
}
