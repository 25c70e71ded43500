//! Damaged records of measurements: a text, or a record of the report's tests with some changed values. `bench --compare`
//! accepts or refuses it, a record is never slower than itself, and a report shows its texts as text, not as markup.

use std::fs;
use std::sync::OnceLock;

use serde_json::Value;
use tress_lab::bench::compare::{self, Verdict};
use tress_lab::report;

use crate::input::Input;
use crate::temp_folder;

const RECORD: &str = include_str!("../../tests/report/fixtures/records/before.json");
const OTHER: &str = include_str!("../../tests/report/fixtures/records/after.json");
const SECTION: &str = include_str!("../../tests/report/fixtures/every-kind/figures.json");

/// Panics if a record that is accepted cannot be compared, written or shown.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (is_section, text) = match input.byte() % 8 {
        0 => (false, input.rest().to_vec()),
        1 | 2 => (true, changed(SECTION, &mut input)),
        _ => (false, changed(RECORD, &mut input)),
    };
    if !is_section {
        check_compare(&text);
    }
    // A report takes a hundred times as long as a comparison.
    if input.byte().is_multiple_of(4) {
        check_report(&text, is_section);
    }
}

fn check_compare(text: &[u8]) {
    let folder = temp_folder::emptied();
    let [before, after] = ["before.json", "after.json"].map(|name| folder.join(name));
    fs::write(&before, text).expect("a file");
    fs::write(&after, OTHER).expect("a file");
    for (before, after) in [(&before, &after), (&after, &before)] {
        for (json, force) in [(true, false), (false, true)] {
            let options = compare::Options { before: before.clone(), after: after.clone(), force, json };
            let mut out = Vec::new();
            if compare::run(&options, &mut out).is_ok() && json {
                let _: Value = serde_json::from_slice(&out).expect("JSON");
            }
        }
    }
    let Ok(document) = compare::read(&before) else { return };
    let _ = document.file_name();
    let written = serde_json::to_vec(&document).expect("what was read can be written");
    fs::write(&after, &written).expect("a file");
    let again = compare::read(&after).expect("what was written is read");
    assert!(serde_json::to_vec(&again).expect("as before") == written);
    let itself = compare::compare(&document, &again);
    // If two rows have the same name, it is undefined which of them is compared.
    if itself.new.is_empty() {
        assert!(itself.gone.is_empty());
        let same = |change: &compare::Change| change.verdict == Verdict::Same;
        assert!(itself.rows.iter().all(same), "{:?}", itself.rows.iter().find(|change| !same(change)));
    }
}

/// Checks that a page has no scripts and pictures from a record.
fn check_report(text: &[u8], is_section: bool) {
    static USUAL: OnceLock<usize> = OnceLock::new();
    let usual = *USUAL.get_or_init(|| markup(&page(SECTION.as_bytes(), true).expect("the tests' own page")));
    if let Some(page) = page(text, is_section) {
        assert!(markup(&page) <= usual, "a text became markup");
    }
}

fn page(text: &[u8], is_section: bool) -> Option<String> {
    let folder = temp_folder::emptied();
    let path = if is_section { "every-kind/figures.json" } else { "record.json" };
    fs::create_dir(folder.join("every-kind")).expect("a folder");
    fs::write(folder.join(path), text).expect("a file");
    Some(report::make(folder).ok()?.html)
}

/// The number of elements in the page that a text could inject.
fn markup(page: &str) -> usize {
    ["<script", "<img", "<iframe"].iter().map(|element| page.matches(element).count()).sum()
}

/// The template with up to six of its values changed.
fn changed(template: &str, input: &mut Input<'_>) -> Vec<u8> {
    let mut value: Value = serde_json::from_str(template).expect("JSON");
    for _ in 0..1 + input.below(6) {
        let count = count_values(&value);
        let place = input.below(count);
        let new = new_value(input);
        let _ = replace(&mut value, place, new);
    }
    serde_json::to_vec(&value).expect("JSON")
}

fn new_value(input: &mut Input<'_>) -> Option<Value> {
    const TEXTS: [&str; 12] =
        ["null", "0", "0.0", "1", "-1", "1e308", "5e-324", "18446744073709551615", "[]", "{}", "true", "[[0.0,0.0]]"];
    match input.byte() % 8 {
        0 => None,
        1 => Some(Value::from(
            ["", "<script>alert(1)</script>", "</script><img src=x>", "\u{1b}[2J", "a"][input.below(5)],
        )),
        2 => Some(Value::from(f64::from(input.word()) / 16.0)),
        3 => Some(Value::from(String::from_utf8_lossy(input.take(8)).into_owned())),
        _ => serde_json::from_str(TEXTS[input.below(TEXTS.len())]).ok(),
    }
}

/// The number of values in a value, including itself.
fn count_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count_values).sum(),
        Value::Object(values) => values.values().map(count_values).sum(),
        _ => 0,
    }
}

/// Replaces value number `place` of all values, or removes it. If it is not in this value, the error is the number of values that
/// remain to be skipped.
fn replace(value: &mut Value, place: usize, new: Option<Value>) -> Result<(), usize> {
    let Some(mut left) = place.checked_sub(1) else {
        *value = new.unwrap_or(Value::Null);
        return Ok(());
    };
    let children: Vec<&mut Value> = match value {
        Value::Array(values) => {
            if let (None, true) = (&new, left < values.len()) {
                values.remove(left);
                return Ok(());
            }
            values.iter_mut().collect()
        }
        Value::Object(values) => values.values_mut().collect(),
        _ => return Err(left),
    };
    for child in children {
        match replace(child, left, new.clone()) {
            Ok(()) => return Ok(()),
            Err(rest) => left = rest,
        }
    }
    Err(left)
}
