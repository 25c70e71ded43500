//! Keys, signatures, the files that say who may, and what the simulator and the lab read when system calls fail: strace makes
//! one call of the command fail, for every call on a file that it makes. A file has its name only if it is complete and right,
//! nothing else is left, and what is missing was told; nobody is taken for one of those who may.
//!
//! The n-th call is counted in each thread. By default some of the calls; with `TRESS_EVERY_FAULT` in the environment every one
//! (`make soak`).
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::Mutex,
    thread,
};

use crate::common::{plaintext, skip};

/// Calls that write, of which every one is tried, and their errors.
const WRITING: [(&str, &str); 12] = [
    ("write", "ENOSPC"),
    ("write", "EINTR"),
    ("pwritev", "ENOSPC"),
    ("pwritev", "EIO"),
    ("pwritev", "EINTR"),
    ("fsync", "EIO"),
    ("fsync", "EINTR"),
    ("linkat", "EIO"),
    ("linkat", "ENOSPC"),
    ("linkat", "EINTR"),
    ("renameat2", "EIO"),
    ("fchmod", "EIO"),
];

/// Calls that the loader and the library make as well.
const READING: [(&str, &str); 9] = [
    ("openat", "EIO"),
    ("openat", "EINTR"),
    ("openat", "ENOSPC"),
    ("read", "EIO"),
    ("read", "EINTR"),
    ("statx", "EIO"),
    ("getdents64", "EIO"),
    ("close", "EIO"),
    ("close", "EINTR"),
];

fn tress(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tress")).current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn copy(template: &Path, folder: &Path) {
    for entry in fs::read_dir(template).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), folder.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// What is done with a server, in its folder, once it listens there.
type Meet<'a> = &'a (dyn Fn(&Path, &str) + Sync);

/// Runs the command in a copy of `template`, with this error in the n-th of these calls; a server until it was met. `None` when
/// there are not so many calls.
fn run(
    template: &Path,
    arguments: &[&str],
    meet: Option<Meet<'_>>,
    fault: (&str, &str),
    n: u32,
) -> Option<(tempfile::TempDir, Output)> {
    let (folder, log) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy(template, folder.path());
    let (call, error) = fault;
    let log = log.path().join("log");
    let child = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:error={error}:when={n}")])
        .arg(env!("CARGO_BIN_EXE_tress"))
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = match meet {
        Some(meet) => serve(child, |to| meet(folder.path(), to)),
        None => child.wait_with_output().unwrap(),
    };
    let log = fs::read_to_string(&log).unwrap_or_default();
    log.contains("(INJECTED)").then_some((folder, output))
}

/// Waits until a traced server listens or ends, meets it, and ends it.
fn serve(mut child: Child, meet: impl FnOnce(&str)) -> Output {
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while stderr.read_line(&mut told).unwrap() > 0 {
        let last = told.lines().last().unwrap();
        if let Some(to) = last.strip_prefix("tress: listening on ") {
            let to = to.to_string();
            // Somebody has to read what it says meanwhile.
            let rest = thread::spawn(move || {
                let mut rest = String::new();
                let _ = stderr.read_to_string(&mut rest);
                rest
            });
            meet(&to);
            let traced = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap_or_default();
            if let Some(traced) = traced.split_whitespace().next() {
                let _ = Command::new("kill").args(["-TERM", traced]).status();
            }
            let mut output = child.wait_with_output().unwrap();
            output.stderr = (told + &rest.join().unwrap()).into_bytes();
            return output;
        }
    }
    let mut output = child.wait_with_output().unwrap();
    output.stderr = told.into_bytes();
    output
}

/// Every n until none is reached, of all faults; `least` of them at least. Which calls failed.
fn walk(
    template: &Path,
    arguments: &[&str],
    least: usize,
    judge: impl Fn(&Path, &Output, &str) + Sync,
) -> Option<BTreeSet<&'static str>> {
    walk_and_meet(template, arguments, None, least, judge)
}

/// The same of a server.
fn walk_and_meet(
    template: &Path,
    arguments: &[&str],
    meet: Option<Meet<'_>>,
    least: usize,
    judge: impl Fn(&Path, &Output, &str) + Sync,
) -> Option<BTreeSet<&'static str>> {
    let can_trace = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    if !can_trace.is_ok_and(|output| output.status.success()) {
        skip("there is no strace, or it may not trace");
        return None;
    }
    let stride = if std::env::var_os("TRESS_EVERY_FAULT").is_some() { 1 } else { 2 };
    // A server whose first line is lost cannot be met.
    let writing = WRITING.iter().filter(|fault| meet.is_none() || fault.0 != "write");
    let faults = writing.map(|fault| (*fault, 1)).chain(READING.iter().map(move |fault| (*fault, stride)));
    let (faults, points) = (Mutex::new(faults), Mutex::new(Vec::new()));
    let work = || {
        loop {
            // Not held while the faults of one kind are tried.
            let next = faults.lock().unwrap().next();
            let Some((fault, stride)) = next else { break };
            for n in (1..).step_by(stride) {
                let Some((folder, output)) = run(template, arguments, meet, fault, n) else { break };
                let label = format!("{arguments:?}, {} in {} {n}", fault.1, fault.0);
                // What cannot be said on standard error was not said.
                if !output.status.success() && fault.0 != "write" {
                    assert!(!output.stderr.is_empty(), "{label}: nothing was told");
                }
                let text = String::from_utf8_lossy(&output.stderr);
                // The standard library takes it that a folder that was read can be closed, and on Linux it can.
                if text.contains("unexpected error during closedir") {
                    continue;
                }
                // A server that was met is ended by a signal.
                let has_ended = output.status.code().is_some() || meet.is_some();
                assert!(has_ended && !text.contains("panicked"), "{label}: {output:?}");
                judge(folder.path(), &output, &label);
                points.lock().unwrap().push(fault.0);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(work);
        }
    });
    let points = points.into_inner().unwrap();
    println!("{arguments:?}: {} calls failed", points.len());
    assert!(points.len() >= least, "{}", points.len());
    Some(points.into_iter().collect())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file was written, synced and named, and each of these failed once.
fn is_written(reached: Option<BTreeSet<&'static str>>) {
    let Some(reached) = reached else { return };
    let is_named = reached.contains("linkat") || reached.contains("renameat2");
    assert!(reached.contains("pwritev") && reached.contains("fsync") && is_named, "{reached:?}");
}

/// Every failure of writing a key leaves none, or a complete one that nobody else may read.
fn keygen(options: &[&str]) {
    let template = tempfile::tempdir().unwrap();
    let arguments = [&["keygen", "-o", "new"], options].concat();
    let reached = walk(template.path(), &arguments, 40, |folder, output, label| {
        let names = names(folder);
        if names.is_empty() {
            assert!(!output.status.success(), "{label}: no key, and nobody was told");
            return;
        }
        assert_eq!(names, ["new"], "{label}");
        assert_eq!(fs::metadata(folder.join("new")).unwrap().permissions().mode() & 0o777, 0o600, "{label}");
        assert!(tress(folder, &["keygen", "--public", "new"]).status.success(), "{label}: the key is incomplete");
    });
    is_written(reached);
}

#[test]
fn no_failure_leaves_half_an_identity() {
    keygen(&[]);
}

#[test]
fn no_failure_leaves_half_a_signing_key() {
    keygen(&["--schnorr", "2048"]);
}

/// Three files, a key, its public half.
fn signing() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("a", 0), ("b", 1000), ("c", 300_000)] {
        fs::write(folder.path().join(name), plaintext(bytes)).unwrap();
    }
    assert!(tress(folder.path(), &["keygen", "--schnorr", "2048", "-o", "key"]).status.success());
    fs::write(folder.path().join("public"), tress(folder.path(), &["keygen", "--public", "key"]).stdout).unwrap();
    folder
}

#[test]
fn no_failure_leaves_half_a_signature() {
    let template = signing();
    let sign = ["sign", "--threads", "2", "--key", "key", "a", "b", "c"];
    let before = names(template.path());
    let reached = walk(template.path(), &sign, 60, |folder, output, label| {
        let mut there = vec![];
        for name in names(folder) {
            match name.strip_suffix(".sig") {
                Some(name) => there.push(name.to_string()),
                None => assert!(before.contains(&name), "{label}: {name} is left"),
            }
        }
        if there.len() < 3 {
            assert!(!output.status.success(), "{label}: only {there:?} are signed, and nobody was told");
        }
        if !there.is_empty() {
            let mut verify = vec!["verify", "--key", "public"];
            verify.extend(there.iter().map(String::as_str));
            let verified = tress(folder, &verify);
            assert!(verified.status.success(), "{label}: {}", String::from_utf8_lossy(&verified.stderr));
        }
    });
    is_written(reached);
}

#[test]
fn no_failure_verifies_what_is_not_signed() {
    let template = signing();
    assert!(tress(template.path(), &["sign", "--key", "key", "a", "b", "c"]).status.success());
    let verify = ["verify", "--threads", "2", "--key", "public", "a", "b", "c"];
    let before = names(template.path());
    // What is signed may fail to be verified, and is told.
    let judge = |folder: &Path, _: &Output, label: &str| assert_eq!(names(folder), before, "{label}");
    walk(template.path(), &verify, 35, judge);
    fs::copy(template.path().join("a.sig"), template.path().join("b.sig")).unwrap();
    walk(template.path(), &verify, 35, |folder, output, label| {
        judge(folder, output, label);
        assert!(!output.status.success(), "{label}: verified");
    });
}

/// Two identities, `me` and `other`, their public halves, and a file.
fn keys() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["me", "other", "stranger"] {
        assert!(tress(folder.path(), &["keygen", "-o", name]).status.success());
        let public = tress(folder.path(), &["keygen", "--public", name]).stdout;
        fs::write(folder.path().join(format!("{name}.public")), public).unwrap();
    }
    fs::write(folder.path().join("plain"), plaintext(40_000)).unwrap();
    folder
}

/// A line of what `keygen --public` shows: 0 is the recipient, 1 the address.
fn public(folder: &Path, name: &str, line: usize) -> String {
    fs::read_to_string(folder.join(format!("{name}.public"))).unwrap().lines().nth(line).unwrap().to_string()
}

/// Whether there is `new` beside what was there before. Nothing else is, and without it the command has failed.
fn is_new_there(folder: &Path, before: &[String], output: &Output, label: &str) -> bool {
    let mut left = names(folder);
    left.retain(|name| !before.contains(name));
    if left.is_empty() {
        assert!(!output.status.success(), "{label}: there is nothing, and nobody was told");
        return false;
    }
    assert_eq!(left, ["new"], "{label}");
    true
}

#[test]
fn no_failure_leaves_a_recipient_out() {
    let template = keys();
    for name in ["me", "other"] {
        fs::write(template.path().join(format!("{name}.list")), public(template.path(), name, 0) + "\n").unwrap();
    }
    let before = names(template.path());
    let encrypt = ["encrypt", "-R", "me.list", "-R", "other.list", "-o", "new", "plain"];
    let reached = walk(template.path(), &encrypt, 60, |folder, output, label| {
        if !is_new_there(folder, &before, output, label) {
            return;
        }
        for identity in ["me", "other"] {
            let opened = tress(folder, &["decrypt", "-i", identity, "-o", "-", "new"]);
            assert!(opened.stdout == plaintext(40_000), "{label}: {}", String::from_utf8_lossy(&opened.stderr));
        }
    });
    is_written(reached);
}

#[test]
fn no_failure_leaves_half_a_plaintext() {
    let template = keys();
    let recipient = public(template.path(), "me", 0);
    assert!(tress(template.path(), &["encrypt", "-r", &recipient, "-o", "sealed", "plain"]).status.success());
    let before = names(template.path());
    // The first identity is not the one.
    let decrypt = ["decrypt", "-i", "other", "-i", "me", "-o", "new", "sealed"];
    let reached = walk(template.path(), &decrypt, 60, |folder, output, label| {
        if !is_new_there(folder, &before, output, label) {
            return;
        }
        assert!(fs::read(folder.join("new")).unwrap() == plaintext(40_000), "{label}");
    });
    is_written(reached);
}

#[test]
fn no_failure_admits_a_stranger() {
    let template = keys();
    fs::write(template.path().join("allow"), public(template.path(), "me", 1) + "\n").unwrap();
    let address = public(template.path(), "other", 1);
    let send = |folder: &Path, to: &str, identity: &str| {
        tress(folder, &["send", "--to", to, "-r", &address, "-i", identity, "plain"])
    };
    let meet = |folder: &Path, to: &str| {
        let refused = send(folder, to, "stranger");
        assert!(!refused.status.success(), "a stranger was served");
        let sent = send(folder, to, "me");
        fs::write(folder.join(if sent.status.success() { "sent" } else { "failed" }), sent.stderr).unwrap();
    };
    let receive = ["receive", "--listen", "127.0.0.1:0", "-i", "other", "--allow", "allow", "-o", "."];
    let (served, ended) = (Mutex::new(0), Mutex::new(0));
    let reached = walk_and_meet(template.path(), &receive, Some(&meet), 40, |folder, output, label| {
        let folders: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
        assert!(folders.len() <= 1, "{label}: {folders:?}");
        let complete = folders.first().is_some_and(|folder| folder.join("plain").exists());
        if folder.join("sent").exists() {
            *served.lock().unwrap() += 1;
            assert!(fs::read(folders[0].join("plain")).unwrap() == plaintext(40_000), "{label}");
        } else if folder.join("failed").exists() {
            assert!(!fs::read(folder.join("failed")).unwrap().is_empty(), "{label}: nobody was told");
            assert!(!complete || fs::read(folders[0].join("plain")).unwrap() == plaintext(40_000), "{label}");
        } else {
            *ended.lock().unwrap() += 1;
            assert!(!output.status.success(), "{label}: it ended, and nobody was told");
        }
    });
    if reached.is_some() {
        let (served, ended) = (served.into_inner().unwrap(), ended.into_inner().unwrap());
        println!("{served} receivers served whom they may, {ended} did not begin");
        assert!(served > 0 && ended > 0);
    }
}

/// What is computed from files is what it is without a fault, on standard output and in `new`, or not there at all, and told. A page
/// may lack what could not be read, if it is whole and the error was told.
fn says_the_same(files: &[(&str, &str)], arguments: &[&str], least: usize) {
    let template = tempfile::tempdir().unwrap();
    for (name, source) in files {
        let path = template.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(source), path).unwrap();
    }
    let before = names(template.path());
    let (right, right_new) = {
        let folder = tempfile::tempdir().unwrap();
        copy(template.path(), folder.path());
        let output = tress(folder.path(), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (output.stdout, fs::read(folder.path().join("new")).ok())
    };
    assert!(right_new.is_some() || !right.is_empty());
    let told = Mutex::new(0);
    let reached = walk(template.path(), arguments, least, |folder, output, label| {
        let mut left = names(folder);
        left.retain(|name| !before.contains(name));
        assert!(left.iter().all(|name| name == "new"), "{label}: {left:?}");
        let new = fs::read(folder.join("new")).ok();
        let has_error = String::from_utf8_lossy(&output.stderr).contains("os error");
        let is_told = || has_error && new.as_ref().is_some_and(|page| page.ends_with(b"</html>"));
        let is_right = new == right_new || is_told();
        assert!(new.is_none() || is_right, "{label}: half of it");
        if output.status.success() {
            assert!(output.stdout == right && is_right, "{label}: it says something else");
        } else {
            *told.lock().unwrap() += 1;
        }
    });
    if reached.is_some() {
        let told = told.into_inner().unwrap();
        println!("{told} runs failed, and said so");
        assert!(told >= 10, "{told}");
    }
}

#[test]
fn no_failure_simulates_another_program_or_machine() {
    let files =
        [("machine.toml", "riscv/sim/src/machine/presets/fe310.toml"), ("node.elf", "riscv/firmware/images/node.elf")];
    says_the_same(&files, &["simulate", "--json", "--machine", "machine.toml", "node.elf"], 25);
}

#[test]
fn no_failure_compares_or_draws_another_record() {
    let [before, after] = ["tests/report/fixtures/records/before.json", "tests/report/fixtures/records/after.json"];
    let files = [("before.json", before), ("after.json", after)];
    says_the_same(&files, &["bench", "--json", "--compare", "before.json", "after.json"], 25);
    // Two folders down, so that the call that lists it is one of those that fail.
    let files = [("before.json", before), ("one/two/after.json", after)];
    says_the_same(&files, &["report", "-o", "new", "."], 40);
}
