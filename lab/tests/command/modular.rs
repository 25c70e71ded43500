//! `tress bench modular` and `tress study modular` as a script sees them.

use crate::common::Folder;
use crate::study::has_parts;
use serde_json::Value;

#[test]
fn json_of_a_few_operations() {
    let folder = Folder::empty();
    let arguments = [
        "bench",
        "modular",
        "--quick",
        "--json",
        "--bits",
        "768,128",
        "--digits",
        "16,64",
        "^multiply-(rows|columns)$",
    ];
    let measured = || -> Value { serde_json::from_slice(&folder.tress(arguments).ok().stdout).unwrap() };
    let json = measured();
    assert_eq!(json["schema"], 1);
    assert!(json["machine"]["cores"].as_u64() >= Some(1));
    let rows = json["rows"].as_array().unwrap();
    let keys: Vec<_> = rows
        .iter()
        .map(|row| {
            (row["operation"].as_str().unwrap(), row["bits"].as_u64().unwrap(), row["digit_bits"].as_u64().unwrap())
        })
        .collect();
    let both = |bits| {
        ["multiply-rows", "multiply-columns"]
            .into_iter()
            .flat_map(move |name| [16, 64].map(|digit| (name, bits, digit)))
    };
    assert_eq!(keys, both(128).chain(both(768)).collect::<Vec<_>>());
    for row in rows {
        let ns = |key: &str| row[key].as_f64().unwrap();
        assert!(0.0 < ns("ns_least") && ns("ns_least") <= ns("ns_low"), "{row}");
        assert!(ns("ns_low") <= ns("ns") && ns("ns") <= ns("ns_high"), "{row}");
        assert!(row["samples"].as_u64() >= Some(1));
    }
    // Sixteen times as many digit products take at least four times as long on every machine, unless it was interrupted.
    let is_longer = |json: &Value| {
        let mut rows = json["rows"].as_array().unwrap().iter().filter(|row| row["bits"] == 768);
        let mut ns = |digit| rows.find(|row| row["digit_bits"] == digit).unwrap()["ns_least"].as_f64().unwrap();
        ns(16) > 4.0 * ns(64)
    };
    assert!(is_longer(&json) || (0..5).any(|_| is_longer(&measured())));
}

#[test]
fn a_table_for_each_size() {
    let run = Folder::empty().tress(["bench", "modular", "--quick", "--bits", "256,512", "^add$"]).ok();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("256 bits") && text.contains("512 bits") && text.contains("digits of 32 bits"), "{text}");
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("add ")).count(), 2, "{text}");
}

#[test]
fn invalid_sizes_are_usage_errors() {
    let folder = Folder::empty();
    for arguments in [
        ["--digits", "8"],
        ["--digits", ""],
        ["--digits", "16,x"],
        ["--bits", "0"],
        ["--bits", "100"],
        ["--bits", "8256"],
        ["--bits", "-256"],
        ["--bits", "99999999999999999999"],
        ["--against", "gmp"],
        ["--backend", "adx"],
        ["^no-such$", "--quick"],
        ["(", "--quick"],
        ["add", "more"],
    ] {
        let run = folder.tress(["bench", "modular"].iter().chain(&arguments));
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.is_empty());
        run.one_line("");
    }
    folder.tress(["bench", "--quick", "modular"]).wrong_use("");
}

#[test]
fn a_quick_study_with_recorded_systems() {
    let folder = Folder::empty();
    let run = folder.tress(["study", "modular", "--quick", "--out", "out"]).ok();
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim_end(), "out/modular/README.md");
    let page = String::from_utf8(folder.read("out/modular/README.md")).unwrap();
    // The first and the last figure of Table 5, the two that are swapped, and the rest.
    has_parts(&page, "modular");
    // No table has both times of machines and counts of emulators.
    let tables: Vec<&str> = page.split("\n\n").filter(|table| table.starts_with('|')).collect();
    for emulator in ["qemu-riscv64", "machine fe310", "DOSBox"] {
        let of_it: Vec<_> = tables.iter().filter(|table| table.contains(emulator)).collect();
        assert!(!of_it.is_empty() && of_it.iter().all(|table| !table.contains("this machine")), "{emulator}: {page}");
    }
    assert!(folder.exists("out/modular/library.svg") && folder.exists("out/modular/digits.svg"));
}

#[test]
fn an_invalid_record_of_systems_is_rejected() {
    let folder = Folder::empty();
    let system = r#"{"kind":"system","schema":1,"system":"mine","title":"My | own","unit":"ns","through":null,"compiler":"c","machine":"m","time":0}"#;
    let time = r#"{"kind":"time","system":"mine","digit_bits":64,"bits":256,"operation":"add","runs":2,"elapsed":246}"#;
    folder.write("mine.jsonl", format!("{system}\n{time}\n"));
    let study = |more: &[&str]| {
        folder.tress(["study", "modular", "--quick", "--part", "table-2", "--systems"].iter().chain(more))
    };
    let page = String::from_utf8(study(&["mine.jsonl"]).ok().stdout).unwrap();
    assert!(page.contains("| recorded: My  own | 64 | 123 ns |"), "{page}");
    // A section of another record is not reused.
    study(&["mine.jsonl", "--out", "out"]).ok();
    folder.write("mine.jsonl", format!("{system}\n{}\n", time.replace("246", "500")));
    study(&["mine.jsonl", "--out", "out"]).ok();
    assert!(String::from_utf8(folder.read("out/modular/README.md")).unwrap().contains("| 250 ns |"));

    study(&["missing.jsonl"]).failed("missing.jsonl");
    study(&["."]).failed(".");
    folder.write("wrong.jsonl", format!("{system}\n{time}\n{time}\n"));
    let run = study(&["wrong.jsonl"]).failed("wrong.jsonl, line 3");
    assert!(run.stdout.is_empty());
    folder.write("bytes.jsonl", [0xff, 0xfe, 0]);
    study(&["bytes.jsonl"]).failed("bytes.jsonl");
}
