//! Reports of folders with right, damaged, foreign and hostile files. tests/report tests the page in a browser.

use std::fs;

use super::*;
use crate::study::{self, Section, StudyRow, Verdict};

const HOSTILE: &str = "</script><script>alert(1)</script><!-- ' \" & \u{2028}";

/// A section in the form of the documentation and of older runs, written by hand.
fn section(text: &str) -> serde_json::Value {
    serde_json::json!({
        "schema": 2, "tress": "0.1.0", "quick": true, "time": 0,
        "machine": { "model": text, "cores": 2, "flags": [], "memory_bytes": null, "governor": null, "load": null,
            "kernel": text, "virtual_machine": false, "rustc": "r", "target": "t", "commit": text },
        "section": {
            "text": text,
            "rows": [{ "what": text, "unit": text, "paper": text, "model": 1.5, "simulated": null, "measured": null }],
            "tables": [{ "title": text, "header": [text], "rows": [[text, text], []] }],
            "pictures": [{ "name": text, "drawing": { "bars": { "title": text, "series": [text],
                "groups": [{ "name": text, "values": [1.0, 2.0] }] } } }],
            "verdicts": [{ "holds": text }]
        }
    })
}

fn record(text: &str, time: u64) -> serde_json::Value {
    let samples: Vec<f64> = (0..21).map(|sample| 1e9 + f64::from(sample)).collect();
    let pairs: Vec<[f64; 2]> = samples.iter().map(|sample| [*sample, 5e8]).collect();
    serde_json::json!({
        "schema": 1, "time": time, "tress": text, "quick": false, "missing": [{ "peer": text, "hint": text }],
        "machine": section(text)["machine"],
        "rows": [{ "name": text, "direction": text, "workload": text, "backend": text, "threads": 1, "lanes": 1,
            "message_bytes": 16384, "bytes_per_s": 1e9, "bound": text, "share": 0.5, "samples": samples,
            "against": { text: { "version": text, "ratio": 2.0, "ratio_low": 1.9, "ratio_high": 2.1, "rate": 5e8,
                "pairs": pairs } } }]
    })
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    }
    folder
}

#[test]
fn texts_are_escaped() {
    let texts = [section(HOSTILE).to_string(), record(HOSTILE, 0).to_string(), record(HOSTILE, u64::MAX).to_string()];
    let folder = folder(&[("pipo-riscv/table-5.json", &texts[0]), ("a.json", &texts[1]), ("b.json", &texts[2])]);
    let report = make(folder.path()).expect("a page");
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    // The page's script and its data. Nothing in the files opens or closes an element.
    assert_eq!(report.html.matches("<script").count(), 2);
    assert_eq!(report.html.matches("</script").count(), 2);
    assert!(report.html.contains("<title>&lt;/script&gt;&lt;script&gt;alert(1)"));
    assert!(!report.html.contains("<!--") && report.html.contains("&#60;script&#62;alert(1)"));
}

/// The policy has the hashes of script and style, and neither of them ends its element.
#[test]
fn the_policy_fits() {
    assert!(!SCRIPT.contains("</script") && !style().contains("</style"));
    let policy = policy();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe"));
    assert_eq!(policy.matches("'sha256-").count(), 2);
}

#[test]
fn unusable_files_are_reported() {
    let good = section("t").to_string();
    let half = &good[..good.len() / 2];
    let deep = "[".repeat(100_000);
    let older = good.replace("\"schema\":2", "\"schema\":1");
    let bare = good.replace("\"schema\":2,", "");
    let wrong = good.replace("\"cores\":2", "\"cores\":-2");
    let huge = record("t", 0).to_string().replace("1000000000.0", "1e999");
    let files = [
        ("s/good.json", good.as_str()),
        ("s/half.json", half),
        ("s/deep.json", &deep),
        ("s/older.json", &older),
        ("s/bare.json", &bare),
        ("s/wrong.json", &wrong),
        ("huge.json", &huge),
        ("empty.json", ""),
        ("other.json", "{}"),
        ("list.json", "[1]"),
        ("README.md", "# no JSON"),
        (".hidden.json", "{"),
    ];
    let folder = folder(&files);
    let report = make(folder.path()).expect("a page");
    let mut named: Vec<&str> = report.notes.iter().filter_map(|note| note.split(':').next()).collect();
    named.sort_unstable();
    let bad = ["empty.json", "huge.json", "list.json", "other.json", "s/bare.json", "s/deep.json", "s/half.json"];
    assert_eq!(named, [&bad[..], &["s/older.json", "s/wrong.json"]].concat());
    assert!(report.notes.iter().all(|note| !note.contains('\n')));
    // The page shows the notes, too.
    assert!(report.html.contains("s/half.json: damaged"));
}

/// Sections with wrong contents: the conclusion of every study accepts them.
#[test]
fn conclusions_accept_wrong_sections() {
    let nothing = Section::default();
    let verdicts = vec![Verdict::Fails("f".into()); 40];
    let lies = Section { verdicts, rows: vec![StudyRow::default()], ..Section::default() };
    for study in study::all() {
        for section in [&nothing, &lies] {
            let sections: Vec<_> = study.parts.iter().map(|part| (part, section.clone())).collect();
            for count in 0..=sections.len() {
                let _ = study::conclusion(&study, &sections[..count]);
            }
        }
    }
}

/// Parts are in the study's order, unknown parts come after them, and an unknown study has the name of its folder.
#[test]
fn known_and_unknown_parts_and_studies() {
    let good = section("t").to_string();
    let files = ["ccm-overlap/links.json", "ccm-overlap/by-size.json", "ccm-overlap/aside.json", "mine/x.json"];
    let folder = folder(&files.map(|name| (name, good.as_str())));
    let found = read::read(folder.path()).expect("a folder");
    let names: Vec<Vec<&str>> =
        found.studies.iter().map(|kind| kind.parts.iter().map(|(name, _)| name.as_str()).collect()).collect();
    assert_eq!(names, [vec!["by-size", "links", "aside"], vec!["x"]]);
    assert_eq!((found.studies[0].name.as_str(), found.studies[1].name.as_str()), ("ccm-overlap", "mine"));
}

#[test]
fn debug_builds_are_named() {
    for (target, expected) in [("t debug", 2), ("t release", 0)] {
        let text =
            |value: serde_json::Value| value.to_string().replace(r#""target":"t""#, &format!(r#""target":"{target}""#));
        let files = [text(section("t")), text(record("t", 0))];
        let folder = folder(&[("ccm-overlap/links.json", &files[0]), ("a.json", &files[1])]);
        let report = make(folder.path()).expect("a page");
        assert_eq!(report.html.matches("do not apply to a release build").count(), expected, "{target}");
    }
}

/// A page with too many samples leaves them out and reports it.
#[test]
fn too_many_samples_are_left_out() {
    let mut document = record("t", 0);
    let row = document["rows"][0].clone();
    document["rows"] = std::iter::repeat_n(row, 1200).collect();
    let folder = folder(&[("a.json", &document.to_string())]);
    let report = make(folder.path()).expect("a page");
    assert!(report.html.contains("too many raw samples") && !report.html.contains("data-samples="));
    assert!(report.html.len() < 3_000_000, "{}", report.html.len());
}
