//! Transfers over real links between network namespaces, measured by the study, which compares the received files.
//! Times are judged with `TRESS_SOAK` in the environment only (`make soak`), with wide bounds: the machine may be busy.
#![cfg(target_os = "linux")]

use crate::common::{Folder, SYS_ADMIN, skip_without_right};

#[test]
fn transfers_take_the_time_of_the_slower_side() {
    let folder = Folder::empty();
    folder.tress(["study", "ccm-overlap", "--quick", "--part", "links", "--out", "studies"]).ok();
    let kept: serde_json::Value = serde_json::from_slice(&folder.read("studies/ccm-overlap/links.json")).unwrap();
    let section = &kept["section"];
    let verdicts = section["verdicts"].as_array().unwrap();
    let rows = section["rows"].as_array().unwrap();
    if rows.is_empty() {
        return skip_without_right(SYS_ADMIN, &verdicts[0].to_string());
    }
    let is_left_out = verdicts.iter().any(|verdict| verdict.to_string().contains("transfers over real links: "));
    assert!(!is_left_out, "{verdicts:?}");
    assert!(folder.exists("studies/ccm-overlap/links-sweep.svg"));
    let judges_times = std::env::var_os("TRESS_SOAK").is_some();
    // The model's or the paper's value, and the range of the ratio to it on a busy machine.
    let mut seen = 0;
    for row in rows {
        let (what, median) = (row["what"].as_str().unwrap(), row["measured"]["median"].as_f64().unwrap());
        let Some(model) = row["model"].as_f64() else { continue };
        seen += 1;
        // Nothing is faster than the wire. Transfers of less than a second, and barriers of many stages, suffer most from
        // other programs: each of 1600 stages of a quarter of a millisecond can wait a few milliseconds for a processor.
        let is_short = what.starts_with("1000 Mbit/s") || what.contains("barrier");
        let range = match row["unit"].as_str() {
            Some("s") if is_short => 0.9..=40.0,
            Some("s") => 0.9..=3.0,
            _ if what.contains("speed-up") && is_short => 0.05..=5.0,
            _ if what.contains("speed-up") => 0.5..=1.5,
            _ if is_short => 0.95..=40.0,
            _ => 0.95..=3.0,
        };
        assert!(!judges_times || range.contains(&(median / model)), "{what}: {median}, {model} expected");
    }
    assert!(seen >= 20, "{seen} of {} rows", rows.len());
    // The claim holds, or is unclear because the machine was busy.
    let holds = |verdict: &serde_json::Value| {
        let claim = if verdict["kind"] == "busy" { &verdict["unclear"] } else { &verdict["holds"] };
        claim.as_str().is_some_and(|claim| claim.contains("a new plan after the change"))
    };
    assert!(!judges_times || verdicts.iter().any(holds), "{verdicts:?}");
}

#[test]
fn an_unknown_part_is_a_usage_error() {
    let folder = Folder::empty();
    folder.tress(["study", "ccm-overlap", "--part", "nonsense"]).wrong_use("unknown part nonsense");
}
