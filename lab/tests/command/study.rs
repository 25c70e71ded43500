//! `tress study` as a script sees it: results that do not depend on this machine, and results without a C compiler.

use crate::common::Folder;
use crate::study::has_parts;

#[test]
fn a_study_is_a_page_with_pictures() {
    let folder = Folder::empty();
    let run = folder.tress(["study", "pipo-riscv", "--part", "table-5", "--out", "out"]).ok();
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim_end(), "out/pipo-riscv/README.md");
    let page = String::from_utf8(folder.read("out/pipo-riscv/README.md")).unwrap();
    for text in ["| four blocks, CTR | 1907 | ", "(table-5.svg)", "as we expected: every row takes fewer cycles"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(folder.exists("out/pipo-riscv/table-5.svg") && !folder.exists("out/pipo-riscv/rtl.json"));
    // An earlier run's files are replaced, and no others.
    folder.tress(["study", "pipo-riscv", "--part", "table-5", "--out", "out"]).ok();
    for file in
        ["README.md", "table-5.json", "table-5.svg", "machine.toml"].map(|name| format!("out/pipo-riscv/{name}"))
    {
        let old = if folder.exists(&file) { folder.read(&file) } else { Vec::new() };
        folder.write(&file, "mine\n");
        let machine: &[_] = if file.ends_with(".toml") { &["--set", "hertz=1000"] } else { &[] };
        let run = ["study", "pipo-riscv", "--part", "table-5", "--out", "out"];
        folder.tress([&run, machine].concat()).failed(&file);
        assert_eq!(folder.read(&file), b"mine\n");
        folder.write(&file, old);
    }
    // Without a folder, the page goes to standard output.
    let run = folder.tress(["study", "pipo-riscv", "--part", "misprints"]).ok();
    assert!(String::from_utf8(run.stdout).unwrap().contains("152.125 per byte, printed 152.21"));
}

#[test]
fn strategies_of_aes() {
    let folder = Folder::empty();
    let run = folder.tress(["study", "aes-strategies", "--quick", "--part", "misprints"]).ok();
    let page = String::from_utf8(run.stdout).unwrap();
    has_parts(&page, "aes-strategies, misprints");
    let run = folder.tress(["study", "aes-strategies", "--part", "harts"]).ok();
    has_parts(&String::from_utf8(run.stdout).unwrap(), "aes-strategies, harts");
    // Without a C compiler, all rows of the paper are left out, with one line on how to install one.
    let mut command = folder.command(["study", "aes-strategies", "--quick", "--part", "operations"]);
    command.args(["--out", "out"]);
    crate::common::run(command.env("CC", "no-such-compiler"), b"").ok();
    let page = String::from_utf8(folder.read("out/aes-strategies/README.md")).unwrap();
    has_parts(&page, "aes-strategies, operations, without a compiler");
    assert!(!page.contains("counted 73"), "{page}");
    // With one, they are made, and a limit of the environment does not hold up the paper's barriers.
    let mut command = folder.command(["study", "aes-strategies", "--quick", "--part", "operations", "--out", "out"]);
    let run = crate::common::run(command.env("OMP_THREAD_LIMIT", "1"), b"").ok();
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim_end(), "out/aes-strategies/README.md");
    let page = String::from_utf8(folder.read("out/aes-strategies/README.md")).unwrap();
    if page.contains("left out: the paper's own construct") {
        crate::common::skip("no C compiler with OpenMP");
        return;
    }
    has_parts(&page, "aes-strategies, operations");
    // Measured figures stay where they could not be measured again.
    let mut command = folder.command(["study", "aes-strategies", "--quick", "--part", "operations", "--out", "out"]);
    crate::common::run(command.env("CC", "no-such-compiler"), b"").ok();
    assert!(String::from_utf8(folder.read("out/aes-strategies/README.md")).unwrap() == page);
}

/// The stored section of a part.
fn section(folder: &Folder, path: &str) -> serde_json::Value {
    serde_json::from_slice::<serde_json::Value>(&folder.read(path)).unwrap()["section"].clone()
}

#[test]
fn the_users_machine_is_beside_the_papers() {
    let folder = Folder::empty();
    let width = |options: &[&str]| {
        let study = ["study", "block-parallelism", "--quick", "--part", "width", "--out", "out"];
        folder.tress([&study, options].concat()).ok();
        section(&folder, "out/block-parallelism/width.json")
    };
    let page = || String::from_utf8(folder.read("out/block-parallelism/README.md")).unwrap();
    let plain = width(&[]);
    assert!(!folder.exists("out/block-parallelism/machine.toml") && !page().contains("our machine"));
    let settings = ["--set", "issue=6", "--set", "out_of_order.unit[alu].count=4"];
    let own = width(&settings);
    // Figures and verdicts of the paper are the same, and the machine's own width is a point of its curve.
    let rows = |section: &serde_json::Value| section["rows"].as_array().unwrap().clone();
    assert_eq!((rows(&own)[..20].to_vec(), &own["verdicts"]), (rows(&plain), &plain["verdicts"]));
    assert_eq!(rows(&own).len(), 20 + 4 * 6);
    let ipc = |section: &serde_json::Value, what: &str| {
        let row =
            rows(section).into_iter().find(|row| row["what"] == what).unwrap_or_else(|| panic!("{what}: {section}"));
        row["simulated"].as_f64().unwrap()
    };
    assert!(ipc(&own, "RC6, ECB, issue 6, your machine") > 0.0);
    assert!(ipc(&own, "RC6, CBC, issue 8, your machine") > 1.2 * ipc(&own, "RC6, CBC, issue 8"));
    let names = own["pictures"][0]["drawing"]["chart"]["lines"].as_array().unwrap().iter().map(|line| &line["name"]);
    assert!(names.filter(|name| name.as_str().unwrap().starts_with("your machine, ")).count() >= 2, "{own}");
    assert!(page().contains("Your machine is raptor-study with issue=6, out_of_order.unit[alu].count=4."));
    // With the machine's file in place of the settings, the stored section is not made again.
    let stored = folder.read("out/block-parallelism/width.json");
    let file = folder.read("out/block-parallelism/machine.toml");
    assert_eq!(width(&["--machine", "out/block-parallelism/machine.toml"]), own);
    assert!(folder.read("out/block-parallelism/width.json") == stored);
    assert!(folder.read("out/block-parallelism/machine.toml") == file);
    // Another machine is simulated again.
    let other = width(&["--machine", "out/block-parallelism/machine.toml", "--set", "l1d.size=1024"]);
    assert!(ipc(&other, "Rijndael, ECB, issue 6, your machine") < ipc(&own, "Rijndael, ECB, issue 6, your machine"));
    assert_eq!(width(&[]), plain);
}

#[test]
fn wrong_machines_are_one_line() {
    let folder = Folder::empty();
    let raptor = tress_sim::machine::preset_file("raptor").unwrap();
    folder.write("small.toml", raptor.replace("size = 0x4000_0000", "size = 0x1000"));
    folder.write("integer.toml", format!("isa = \"rv64i\"\n{raptor}"));
    folder.write("no-text.toml", [0xff; 9]);
    folder.write("large.toml", vec![b'#'; (1 << 20) + 1]);
    folder.write("broken.toml", "harts = ");
    for (options, status, text) in [
        ("block-parallelism --set isue=4", 2, "--set: invalid machine: unknown field `isue`"),
        ("block-parallelism --set issue=0", 2, "--set: invalid machine: out_of_order.issue: 0, must be 1 to 64"),
        ("block-parallelism --set issue", 2, "KEY=VALUE"),
        ("pipo-riscv --set issue=4", 2, "issue: an in-order hart"),
        ("block-parallelism --machine broken.toml", 1, "broken.toml: invalid machine: line 1"),
        ("block-parallelism --machine no-text.toml", 1, "no-text.toml: not a text file"),
        ("block-parallelism --machine missing.toml", 1, "missing.toml: "),
        ("block-parallelism --machine .", 1, "."),
        ("block-parallelism --machine large.toml", 1, "large.toml: longer than"),
        ("block-parallelism --machine fe310", 1, "fe310: the program is for RV64"),
        ("block-parallelism --machine small.toml", 1, "small.toml: segment at"),
        ("block-parallelism --machine integer.toml", 1, "integer.toml: the program is compiled for"),
        ("modular --set issue=4", 2, "study modular: the parts to run simulate no other machine"),
        ("ccm-overlap --machine fe310", 2, "study ccm-overlap: "),
        ("all --set issue=4", 2, "study ccm-overlap: "),
        ("block-parallelism --part misprints --set issue=4", 2, "study block-parallelism: the parts to run"),
        ("pipo-riscv --part rtl --machine raptor", 2, "study pipo-riscv: the parts to run"),
    ] {
        let run = folder.tress(["study", "--out", "out"].into_iter().chain(options.split(' ')));
        if status == 2 {
            run.wrong_use(text)
        } else {
            run.failed(text)
        };
        assert!(!folder.exists("out"), "{options}");
    }
}

/// The study waits for a C compiler that does not end: its temporary folder is gone after the signal.
#[cfg(unix)]
#[test]
fn a_signal_leaves_nothing_and_prints_one_line() {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Stdio;
    let folder = Folder::empty();
    std::fs::create_dir(folder.path("temporary")).unwrap();
    let started = folder.path("started");
    folder.script(
        "compiler",
        &format!("touch '{}'\nwhile kill -0 $PPID; do sleep 0.1; done 2> /dev/null", started.display()),
    );
    let mut command = folder.command(["study", "aes-strategies", "--part", "misprints"]);
    command.env("TMPDIR", folder.path("temporary")).env("CC", folder.path("compiler"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !started.exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(crate::common::names(&folder.path("temporary")).len(), 1);
    // A background job of a script ignores SIGINT.
    assert!(std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.signal(), output.stdout.as_slice()), (Some(15), &b""[..]));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "tress: error: interrupted\n");
    assert!(crate::common::names(&folder.path("temporary")).is_empty());
}
