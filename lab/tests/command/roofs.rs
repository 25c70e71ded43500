//! `tress bench roofs` as a script sees it.

use serde_json::Value;
use tress_plan::Recorded;

use crate::common::Folder;

/// The record of `tress bench roofs` can be used by `tress plan`, and a picture of it can be drawn.
#[test]
fn roofs_are_measured_and_drawn() {
    let folder = Folder::empty();
    let run = folder.tress(["bench", "roofs", "--quick", "--json", "-o", "roofs.svg"]).ok();
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let roofs = json["roofs"]["roofs"].as_array().unwrap();
    for name in ["l1-read", "memory-copy", "memory-update-all", "barrier-2", "counter-4", "wake-up", "loopback"] {
        let found = roofs.iter().find(|roof| roof["name"] == name).unwrap_or_else(|| panic!("no {name}"));
        assert!(found["per_s"].as_f64() > Some(0.0) && found["samples"].as_array().is_some(), "{found}");
    }
    // No value is zero; a missing roof is listed by name.
    assert!(roofs.iter().all(|roof| roof["per_s"].as_f64() > Some(0.0)));
    assert!(json["roofs"]["missing"].is_array());
    assert!(json["rows"].as_array().unwrap().len() > 5);
    let svg = String::from_utf8(folder.read("roofs.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("in place") && !svg.contains("NaN"));

    folder.write("record.json", run.stdout);
    let planned = Recorded::parse(&folder.read("record.json")).unwrap();
    assert!(planned.is_here && planned.r_comm.is_some());

    folder.tress(["bench", "roofs", "-o", "roofs.svg"]).failed("roofs.svg");
    folder.tress(["bench", "roofs", "-o", "roofs.png"]).wrong_use("SVG");
    folder.tress(["bench", "roofs", "--json", "-o", "-"]).wrong_use("--json");
}
