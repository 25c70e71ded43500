//! `tress study` of what does not depend on this machine, as a script sees it.

mod common;

use common::Folder;

#[test]
fn a_study_is_a_page_with_pictures() {
    let folder = Folder::new();
    let run = folder.tress(["study", "pipo-riscv", "--part", "table-5", "--out", "out"]).ok();
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim_end(), "out/pipo-riscv/README.md");
    let page = String::from_utf8(folder.read("out/pipo-riscv/README.md")).unwrap();
    for text in ["| four blocks, CTR | 1907 | ", "(table-5.svg)", "holds: every row takes fewer cycles"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(folder.exists("out/pipo-riscv/table-5.svg") && !folder.exists("out/pipo-riscv/rtl.json"));
    // Without a folder the page goes to standard output.
    let run = folder.tress(["study", "pipo-riscv", "--part", "misprints"]).ok();
    assert!(String::from_utf8(run.stdout).unwrap().contains("152.125 a byte, printed 152.21"));
}
