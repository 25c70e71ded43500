//! Keys and signatures when system calls fail: strace makes one call of the command fail, for every call on a file that it
//! makes. A file has its name only if it is complete and right, nothing else is left, and what is missing was told.
//!
//! The n-th call is counted in each thread. By default some of the calls; with `TRESS_EVERY_FAULT` in the environment every one
//! (`make soak`).
#![cfg(target_os = "linux")]

mod common;

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
    sync::Mutex,
    thread,
};

use common::{plaintext, skip};

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
const READING: [(&str, &str); 8] = [
    ("openat", "EIO"),
    ("openat", "EINTR"),
    ("openat", "ENOSPC"),
    ("read", "EIO"),
    ("read", "EINTR"),
    ("statx", "EIO"),
    ("close", "EIO"),
    ("close", "EINTR"),
];

fn tress(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tress")).current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn copy(template: &Path, folder: &Path) {
    for entry in fs::read_dir(template).unwrap() {
        let name = entry.unwrap().file_name();
        fs::copy(template.join(&name), folder.join(&name)).unwrap();
    }
}

/// Runs the command in a copy of `template`, with this error in the n-th of these calls, and has `judge` look at what is left.
/// `None` when there are not so many calls.
fn run(template: &Path, arguments: &[&str], fault: (&str, &str), n: u32) -> Option<(tempfile::TempDir, Output)> {
    let (folder, log) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy(template, folder.path());
    let (call, error) = fault;
    let log = log.path().join("log");
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:error={error}:when={n}")])
        .arg(env!("CARGO_BIN_EXE_tress"))
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = fs::read_to_string(&log).unwrap_or_default();
    log.contains("(INJECTED)").then_some((folder, output))
}

/// Every n until none is reached, of all faults; `least` of them at least. Which calls failed.
fn walk(
    template: &Path,
    arguments: &[&str],
    least: usize,
    judge: impl Fn(&Path, &Output, &str) + Sync,
) -> Option<BTreeSet<&'static str>> {
    let can_trace = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    if !can_trace.is_ok_and(|output| output.status.success()) {
        skip("there is no strace, or it may not trace");
        return None;
    }
    let stride = if std::env::var_os("TRESS_EVERY_FAULT").is_some() { 1 } else { 2 };
    let faults = WRITING.iter().map(|fault| (*fault, 1)).chain(READING.iter().map(move |fault| (*fault, stride)));
    let (faults, points) = (Mutex::new(faults), Mutex::new(Vec::new()));
    let work = || {
        loop {
            // Not held while the faults of one kind are tried.
            let next = faults.lock().unwrap().next();
            let Some((fault, stride)) = next else { break };
            for n in (1..).step_by(stride) {
                let Some((folder, output)) = run(template, arguments, fault, n) else { break };
                let label = format!("{arguments:?}, {} in {} {n}", fault.1, fault.0);
                // What cannot be said on standard error was not said.
                if !output.status.success() && fault.0 != "write" {
                    assert!(!output.stderr.is_empty(), "{label}: nothing was told");
                }
                let text = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.code().is_some() && !text.contains("panicked"), "{label}: {output:?}");
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
