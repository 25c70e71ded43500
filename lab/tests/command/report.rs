//! `tress report` as a script sees it: the page is complete or missing, whatever the folder contains.

use crate::common::Folder;

fn with_a_study() -> Folder {
    let folder = Folder::empty();
    folder.tress(["study", "pipo-riscv", "--part", "table-5", "--part", "misprints", "--out", "out"]).ok();
    folder
}

#[test]
fn a_report_is_one_page() {
    let folder = with_a_study();
    folder.tress(["report", "out"]).ok();
    let page = String::from_utf8(folder.read("out/report.html")).unwrap();
    for text in [
        "PIPO on a 32-bit RISC-V",
        "1217",
        "Content-Security-Policy",
        "default-src &#39;none&#39;",
        "<svg viewBox=\"0 40 1000 ",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("src=\"http") && !page.contains("@import"));
    // The page is replaced only with --force.
    folder.tress(["report", "out"]).failed("report.html");
    folder.tress(["report", "out", "--force"]).ok();
    let printed = folder.tress(["report", "out", "-o", "-"]).ok();
    assert_eq!(printed.stdout, page.into_bytes());
}

#[test]
fn what_is_damaged_is_named_and_left_out() {
    let folder = with_a_study();
    folder.write("out/pipo-riscv/rtl.json", "{\"schema\": 2, \"sec");
    folder.write("out/foreign.json", "{\"schema\": 99, \"rows\": []}");
    let run = folder.tress(["report", "out"]).ok();
    assert!(run.stderr.contains("rtl.json") && run.stderr.contains("foreign.json"), "{}", run.stderr);
    let page = String::from_utf8(folder.read("out/report.html")).unwrap();
    assert!(page.contains("rtl.json") && page.contains("1217"));
}

#[test]
fn nothing_to_report() {
    let folder = Folder::empty();
    folder.tress(["report", "missing"]).failed("missing");
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.tress(["report", "empty"]).failed("no studies");
    folder.write("empty/bad.json", "{");
    folder.tress(["report", "empty"]).failed("bad.json");
    folder.tress(["report", "empty/bad.json"]).failed("bad.json");
    folder.tress(["report", "empty", "--force", "-o", "empty/bad.json"]).failed("does not replace a record");
    assert!(!folder.exists("empty/report.html"));
    folder.tress(["report"]).wrong_use("DIR");
}
