//! `tress study` as a script sees it: results that do not depend on this machine, and results without a C compiler.

use crate::common::Folder;

#[test]
fn a_study_is_a_page_with_pictures() {
    let folder = Folder::empty();
    let run = folder.tress(["study", "pipo-riscv", "--part", "table-5", "--out", "out"]).ok();
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim_end(), "out/pipo-riscv/README.md");
    let page = String::from_utf8(folder.read("out/pipo-riscv/README.md")).unwrap();
    for text in ["| four blocks, CTR | 1907 | ", "(table-5.svg)", "holds: every row takes fewer cycles"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(folder.exists("out/pipo-riscv/table-5.svg") && !folder.exists("out/pipo-riscv/rtl.json"));
    // Without a folder, the page goes to standard output.
    let run = folder.tress(["study", "pipo-riscv", "--part", "misprints"]).ok();
    assert!(String::from_utf8(run.stdout).unwrap().contains("152.125 per byte, printed 152.21"));
}

#[test]
fn strategies_of_aes() {
    let folder = Folder::empty();
    let run = folder.tress(["study", "aes-strategies", "--quick", "--part", "misprints"]).ok();
    let page = String::from_utf8(run.stdout).unwrap();
    for text in [
        "holds: section 4.3: about 33 % faster; 7.4999 s to 5.0127 s is 33.2 %",
        "**misprint**: conclusion: about 21 % faster",
        "holds: section 2.2: 20 % parallel gain 1.176 times on 4 cores",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // Without a C compiler, all rows of the paper are left out, with one line on how to install one.
    let mut command = folder.command(["study", "aes-strategies", "--quick", "--part", "operations"]);
    let run = crate::common::run(command.env("CC", "no-such-compiler"), b"").ok();
    let page = String::from_utf8(run.stdout).unwrap();
    for text in [
        "left out: the paper's own construct, OpenMP in C, and with it all rows of the paper: no-such-compiler: ",
        "install a C compiler with OpenMP",
        "| SubBytes | 1 | 4n²+2n+1 | 73 |  |",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("counted 73"), "{page}");
    let run = folder.tress(["study", "aes-strategies", "--quick", "--part", "operations", "--out", "out"]).ok();
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim_end(), "out/aes-strategies/README.md");
    let page = String::from_utf8(folder.read("out/aes-strategies/README.md")).unwrap();
    if page.contains("left out: the paper's own construct") {
        crate::common::skip("no C compiler with OpenMP");
        return;
    }
    for text in [
        "| SubBytes | 1 | 4n²+2n+1 | 73 | 73 |",
        "| MixColumns | 2 | 10n+n/2+10 | 52 | 56 |",
        "threads: a barrier, sleeping | ns |",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}
