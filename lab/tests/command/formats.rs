//! Records and studies of an earlier build can be read, and printed JSON has its documented shape.
#![cfg(target_os = "linux")]

use std::fs;

use crate::common::kept::{RECORD, fixtures, kept, same_shapes};

#[test]
fn json_of_every_command() {
    same_shapes(&fixtures(), |word| ["bench", "study"].contains(&word));
}

#[test]
fn a_study_and_a_record_are_reported() {
    let folder = fixtures();
    fs::create_dir_all(folder.path("kept/pipo-riscv")).unwrap();
    folder.write("kept/pipo-riscv/misprints.json", kept("study").to_string());
    folder.write("kept/record.json", folder.read(RECORD));
    let run = folder.tress(["report", "kept"]).ok();
    let page = String::from_utf8(folder.read("kept/report.html")).unwrap();
    assert!(run.stderr.is_empty(), "study and record.json: {}", run.stderr);
    assert!(page.contains("PIPO on a 32-bit RISC-V") && page.contains("aes-128-ccm"), "study and record.json");
}
