//! `tress bench` as a script sees it: records, and changes between two of them.

use std::thread;
use std::time::Duration;

use crate::common::Folder;
use serde_json::Value;

#[test]
fn records_are_compared() {
    let folder = Folder::empty();
    folder.tress(["bench", "aes-128-ctr", "--quick", "--force", "--record=before.json"]).ok();
    let mut record: Value = serde_json::from_slice(&folder.read("before.json")).unwrap();
    assert_eq!(record["schema"], 1);
    let rows = record["rows"].as_array().unwrap().len();
    assert!(rows > 0);
    // Samples of a busy machine vary, and are few. The test replaces them with steady ones, at most a percent apart.
    for row in record["rows"].as_array_mut().unwrap() {
        row["per_visit"] = 1.into();
        for samples in ["samples", "cycle_samples"] {
            if row[samples].as_array().is_some_and(|samples| !samples.is_empty()) {
                row[samples] = (0..40).map(|place| 1e9 + 1e6 * f64::from(place % 10)).collect();
            }
        }
    }
    folder.write("before.json", record.to_string());
    folder.write("same.json", record.to_string());
    let compare =
        |after: &str, more: &[&str]| folder.tress([&["bench", "--compare", "before.json", after], more].concat());
    let output = compare("same.json", &["--fail-on-regression"]).ok();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with(&format!("{rows} of {rows} rows: no change")));

    // Half as fast, by every measure.
    for row in record["rows"].as_array_mut().unwrap() {
        for (samples, factor) in [("samples", 0.5), ("cycle_samples", 2.0)] {
            for sample in row[samples].as_array_mut().into_iter().flatten() {
                *sample = (factor * sample.as_f64().unwrap()).into();
            }
        }
    }
    folder.write("slower.json", record.to_string());
    let output = compare("slower.json", &[]).ok();
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.contains("slower") && output.contains("-50.0 %") && output.contains("aes-128-ctr encrypt"),
        "{output}"
    );
    compare("slower.json", &["--fail-on-regression"]).failed("slower");
    let json = compare("slower.json", &["--json"]).ok();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["rows"][0]["verdict"], "slower");

    // A check without any verdict fails.
    let mut short = record.clone();
    for row in short["rows"].as_array_mut().unwrap() {
        for samples in ["samples", "cycle_samples"] {
            row[samples].as_array_mut().unwrap().truncate(3);
        }
        row["per_visit"] = 1.into();
    }
    folder.write("short.json", short.to_string());
    let output = compare("short.json", &[]).ok();
    assert!(String::from_utf8(output.stdout).unwrap().contains("too few samples: aes-128-ctr encrypt"));
    compare("short.json", &["--fail-on-regression"]).failed("could be compared");

    // A record of another machine, one of another schema, and a file that is not a record.
    record["machine"]["model"] = "another".into();
    folder.write("elsewhere.json", record.to_string());
    compare("elsewhere.json", &[]).wrong_use("machines");
    compare("elsewhere.json", &["--force"]).ok();
    record["schema"] = 2.into();
    folder.write("later.json", record.to_string());
    compare("later.json", &[]).failed("later.json");
    folder.write("damaged.json", "{\"schema\": 1, \"rows\": [");
    compare("damaged.json", &[]).failed("damaged.json");
    compare("missing.json", &[]).failed("missing.json");
    folder.tress(["bench", "--compare", "before.json"]).wrong_use("--compare");
    folder.tress(["bench", "--fail-on-regression"]).wrong_use("--compare");
}

/// A record of medians names the commit that has its samples.
#[test]
fn records_of_medians_have_no_samples() {
    let folder = Folder::empty();
    let record = "2026-11-24-amd-epyc-2.json";
    let text = std::fs::read(format!("{}/../bench/record/{record}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let samples_at = "184943ff";
    folder.write(record, &text);
    let output = folder.tress(["bench", "--force", "--compare", record, record]).failed("medians only").stderr;
    assert!(output.contains(&format!("git show {samples_at}")) && output.lines().count() == 2, "{output}");
    let resumed = format!("--record={record}");
    folder.tress(["bench", "--resume", &resumed, "^aes-"]).failed(&format!("its samples are in commit {samples_at}"));
    assert_eq!(folder.read(record), text);
    let output = folder.tress(["report", ".", "-o", "-"]).ok();
    assert!(String::from_utf8(output.stdout).unwrap().contains("This record holds medians only"));
}

/// The other build is a script that runs this program and changes its figures.
#[cfg(unix)]
#[test]
fn builds_take_turns() {
    let folder = Folder::empty();
    let script = |name: &str, text: &str| folder.script(name, text);
    let tress = crate::PROGRAM;
    // Ten times as fast, whatever else runs on this machine.
    let faster = "import json,sys\nfor line in sys.stdin:\n d=json.loads(line)\n \
                  if 'rows' not in d: d['bytes_per_s']*=10; d['cycles_per_byte']/=10\n \
                  print(json.dumps(d), flush=True)";
    folder.write("faster.py", faster);
    let beside = folder.path("faster.py").display().to_string();
    script("faster", &format!("echo \"$@\" >>asked; {tress} \"$@\" | python3 {beside}"));
    let arguments = ["bench", "--quick", "--against-build", "./faster", "--size=1KiB", "--lanes=1", "aes-128-ctr"];
    let output = folder.tress(arguments).ok();
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.contains("slower") && output.contains("aes-128-ctr encrypt"), "{output}");
    folder.tress([&arguments[..], &["--fail-on-regression"]].concat()).failed("slower");
    let questions = String::from_utf8(folder.read("asked")).unwrap();
    assert!(questions.lines().all(|line| line == "bench --visit --lanes=1 --size=1024 -- aes-128-ctr"), "{questions}");
    assert_eq!(questions.lines().count(), 2 * 21);

    let against = |program: &str| folder.tress(["bench", "--quick", "--against-build", program, "aes-128-ctr"]);
    against("./missing").failed("./missing");
    script("mute", "exit 0");
    against("./mute").failed("./mute bench --visit");
    script("failing", "echo no such option >&2; exit 2");
    against("./failing").failed("no such option");
    script("later", "echo '{\"schema\": 2}'");
    against("./later").failed("./later");
    script("forgetful", &format!("{tress} \"$@\" </dev/null"));
    against("./forgetful").failed("ended without an answer");
    script("silly", &format!("{tress} \"$@\" | sed -u 's/\"bytes_per_s\":[0-9.]*,/\"bytes_per_s\":0,/'"));
    against("./silly").failed("not a valid sample");
    script("talkative", &format!("{tress} \"$@\"; echo and more"));
    against("./talkative").ok();
    folder.tress(["bench", "--visit", "aes-128-ctr"]).ok();
    folder.tress(["bench", "--against-build", "./faster", "no-such-row"]).wrong_use("no benchmark");
    folder.tress(["bench", "--against-build", "./faster", "--record=x"]).wrong_use("--against-build");
}

#[test]
fn a_record_in_a_folder_replaces_none() {
    let folder = Folder::empty();
    std::fs::create_dir(folder.path("records")).unwrap();
    for count in 1..=3 {
        folder.tress(["bench", "^rc6-128-ctr$", "--quick", "--force", "--record=records"]).ok();
        assert_eq!(std::fs::read_dir(folder.path("records")).unwrap().count(), count);
    }
}

/// A run that is killed leaves a complete record of its finished rows, and another run resumes it.
#[test]
fn an_interrupted_run_is_resumed() {
    let folder = Folder::empty();
    let mut child = folder.command(["bench", "^aes-", "--force", "--record=record.json"]).spawn().unwrap();
    while !folder.exists("record.json") {
        assert!(child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before: Value = serde_json::from_slice(&folder.read("record.json")).unwrap();
    let rows = before["rows"].as_array().unwrap();
    assert_eq!(before["complete"], false);
    assert!(!rows.is_empty() && rows.iter().all(|row| row["name"] != "rc6-128-ctr"));

    // Resuming with another effort fails and leaves the record unchanged.
    let resume =
        |more: &[&str]| folder.tress([&["bench", "--force", "--record=record.json", "--resume"], more].concat());
    resume(&["^rc6-128-ctr$", "--quick"]).wrong_use("record.json");
    resume(&["^rc6-128-ctr$"]).ok();
    let after: Value = serde_json::from_slice(&folder.read("record.json")).unwrap();
    assert_eq!(after["complete"], true);
    let (kept, new) = after["rows"].as_array().unwrap().split_at(rows.len());
    // The finished record has each row's share of its roof.
    let mut kept = kept.to_vec();
    for row in kept.iter_mut().filter_map(Value::as_object_mut) {
        row.remove("bound");
        row.remove("share");
    }
    assert_eq!((&kept, new.len()), (rows, 1));
    assert_eq!(new[0]["name"], "rc6-128-ctr");
    // All rows are finished, so nothing is measured again.
    resume(&["^rc6-128-ctr$"]).ok();
    let again: Value = serde_json::from_slice(&folder.read("record.json")).unwrap();
    assert_eq!(again["rows"], after["rows"]);
    folder.tress(["bench", "--resume"]).wrong_use("--record");
}

/// A run that is killed ends the program that it measures, also if that knows nothing of Tress.
#[cfg(target_os = "linux")]
#[test]
fn programs_of_others_end_with_the_run() {
    use std::{env, fs};
    let folder = Folder::empty();
    let waits = "mkfifo never; rm -r \"${4%/*}\"; echo $$ > new; mv new started; read line < never";
    for (name, script) in [
        ("tress", "case $1 in keygen) echo age1;; *) cp \"$8\" \"$7\"; esac"),
        ("age", &format!("test $1 != --version || exec echo 1\n{waits}")),
    ] {
        folder.script(name, script);
    }
    let mut command = folder.command(["bench", "^encrypt-start$", "--quick", "--against", "age"]);
    command.env("PATH", format!("{}:{}", folder.root().display(), env::var("PATH").unwrap()));
    command.env("TRESS_COMMAND", folder.path("tress")).env("TRESS_COMMAND_VERSION", env!("CARGO_PKG_VERSION"));
    let mut child = command.spawn().unwrap();
    while !folder.exists("started") {
        assert!(child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // A process that has ended has no command line. The limit ends a hang only.
    let line = format!("/proc/{}/cmdline", String::from_utf8(folder.read("started")).unwrap().trim());
    let has_ended = || fs::read(&line).map_or(true, |line| line.is_empty());
    assert!((0..60_000).any(|_| has_ended() || {
        thread::sleep(Duration::from_millis(20));
        false
    }));
}

/// More threads than cores are other work, which the load average shows only later.
#[cfg(unix)]
#[test]
fn a_busy_machine_is_not_recorded() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    let folder = Folder::empty();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 * thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while !is_done.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let run = folder.tress(["bench", "^aes-", "--record=x"]);
        is_done.store(true, Relaxed);
        run.failed("busy");
    });
    assert!(!folder.exists("x"));
}

#[test]
fn unwritable_records_fail_before_the_measurement() {
    let folder = Folder::empty();
    folder.write("file", "");
    for record in ["--record=missing/record.json", "--record=file/record.json"] {
        let run = folder.tress(["bench", "^aes-", record]).failed("record.json");
        assert!(run.stdout.is_empty(), "no row was measured");
    }
    // Nobody can create files there, not even root.
    #[cfg(target_os = "linux")]
    for record in ["--record=/proc", "--record=/proc/record.json"] {
        folder.tress(["bench", "^aes-", record]).failed("/proc");
    }
    // A record replaces only another record.
    folder.write("notes", "precious");
    folder.tress(["bench", "^aes-", "--record=notes"]).failed("notes");
    assert_eq!(folder.read("notes"), b"precious");
}

#[test]
fn combinations_are_rows() {
    let folder = Folder::empty();
    let arguments =
        ["--lanes", "1,4", "--threads", "1,2", "--size", "256,1KiB", "--backend", "portable", "--quick", "--json"];
    let output = folder.tress([&["bench", "^rijndael-256-192-cbc$"], &arguments[..]].concat()).ok();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut seen = Vec::new();
    for row in json["rows"].as_array().unwrap() {
        assert_eq!((&row["name"], &row["backend"]), (&"rijndael-256-192-cbc".into(), &"portable".into()));
        assert!(row["bytes_per_s"].as_f64() > Some(0.0) && row["rate_low"].as_f64() <= row["rate_high"].as_f64());
        assert!(!row["samples"].as_array().unwrap().is_empty() && row["stopped"].is_string());
        let number = |key: &str| row[key].as_u64().unwrap();
        // Cycles of the calling core say nothing about other threads.
        assert!(number("threads") == 1 || row["cycles_per_byte"].is_null());
        seen.push((
            row["direction"].as_str().unwrap().to_string(),
            number("lanes"),
            number("threads"),
            number("message_bytes"),
        ));
    }
    // Encryption with both numbers of lanes, decryption with one; each with two lengths, and on one thread and two.
    assert_eq!(seen.len(), 8 + 4);
    seen.dedup();
    assert_eq!(seen.len(), 12);

    for (wrong, output) in [
        (&["ecb", "--lanes", "2"][..], "lanes"),
        (&["aes-128-ccm", "--threads", "x"], "--threads"),
        (&["aes-128-ccm", "--threads", "1000"], "1000 threads"),
        (&["aes-128-cbc", "--size", "1furlong"], "--size"),
        (&["aes-128-ctr", "--size", "16777216TiB"], "--size"),
        (&["aes-128-ctr", "--backend", "nothing"], "nothing"),
        (&["no-such-name"], "matches"),
        // Rows of commands need the command's program.
        (&["^encrypt-file$", "--visit"], "matches"),
        (&["ecb", "--against", "nobody"], "unknown peer nobody"),
        (&["--list", "--quick"], "--list"),
    ] {
        folder.tress([&["bench"], wrong].concat()).wrong_use(output);
    }
}

#[test]
fn names_are_listed() {
    let folder = Folder::empty();
    let text = String::from_utf8(folder.tress(["bench", "--list"]).ok().stdout).unwrap();
    let json: Value = serde_json::from_slice(&folder.tress(["bench", "--list", "--json"]).ok().stdout).unwrap();
    for name in ["aes-192-ccm", "rijndael-224-160-ctr", "pipo-256-ecb", "rsa-4096-sign", "multiply"] {
        assert!(text.contains(name));
        assert_eq!(json.as_array().unwrap().iter().filter(|one| one["name"] == name).count(), 1, "{name}");
    }
}
