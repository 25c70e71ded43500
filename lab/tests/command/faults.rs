//! Failing system calls while the lab reads files.
#![cfg(target_os = "linux")]

use crate::common::faults::says_the_same;

#[test]
fn no_failure_compares_or_draws_another_record() {
    let [before, after] = ["tests/report/fixtures/records/before.json", "tests/report/fixtures/records/after.json"];
    let files = [("before.json", before), ("after.json", after)];
    says_the_same(&files, &["bench", "--json", "--compare", "before.json", "after.json"], 25);
    // Two folders down, so that the call that lists this folder is one of those that fail.
    let files = [("before.json", before), ("one/two/after.json", after)];
    says_the_same(&files, &["report", "-o", "new", "."], 40);
}
