//! Runs the command under strace, which makes the n-th call of a system call fail, for every n, call and error.
//!
//! Calls are counted in each thread. By default some of the calls fail; with `TRESS_EVERY_FAULT` in the environment every one
//! (`make soak`).
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::{fs, thread};

use super::{names, skip};

/// Calls that write, and their errors. Every n is tried.
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

/// Calls that the loader and the standard library make too.
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

pub fn tress(folder: &Path, arguments: &[&str]) -> Output {
    super::program().current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

pub fn copy(template: &Path, folder: &Path) {
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

/// Called with a server's folder and address once it listens.
pub type Meet<'a> = &'a (dyn Fn(&Path, &str) + Sync);

/// Runs the command in a copy of `template`, with this error in the n-th of these calls. Ends a server after `meet`. `None` if
/// there are fewer than n calls.
pub fn run(
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
        .arg(crate::PROGRAM)
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

/// Waits until a traced server listens or ends, calls `meet`, and ends it.
fn serve(mut child: Child, meet: impl FnOnce(&str)) -> Output {
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while stderr.read_line(&mut told).unwrap() > 0 {
        let last = told.lines().last().unwrap();
        if let Some(to) = last.strip_prefix("tress: listening on ") {
            let to = to.to_string();
            // Drain standard error, so that the server does not block.
            let rest = thread::spawn(move || {
                let mut rest = String::new();
                let _ = stderr.read_to_string(&mut rest);
                rest
            });
            meet(&to);
            let children = format!("/proc/{0}/task/{0}/children", child.id());
            let traced = fs::read_to_string(&children).unwrap_or_else(|error| panic!("{children}: {error}"));
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

/// Tries all faults, each for n until the n-th call does not exist. Checks that at least `least` were reached. Returns the failed calls.
pub fn walk(
    template: &Path,
    arguments: &[&str],
    least: usize,
    judge: impl Fn(&Path, &Output, &str) + Sync,
) -> Option<BTreeSet<&'static str>> {
    walk_and_meet(template, arguments, None, least, judge)
}

/// Like [`walk`], for a server.
pub fn walk_and_meet(
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
    // Without its first line, the address of a server is unknown.
    let writing = WRITING.iter().filter(|fault| meet.is_none() || fault.0 != "write");
    let faults = writing.map(|fault| (*fault, 1)).chain(READING.iter().map(move |fault| (*fault, stride)));
    let (faults, points) = (Mutex::new(faults), Mutex::new(Vec::new()));
    let work = || {
        loop {
            // Take the next fault, and release the lock.
            let next = faults.lock().unwrap().next();
            let Some((fault, stride)) = next else { break };
            for n in (1..).step_by(stride) {
                let Some((folder, output)) = run(template, arguments, meet, fault, n) else { break };
                let label = format!("{arguments:?}, {} in {} {n}", fault.1, fault.0);
                // A failing `write` may suppress the message itself.
                if !output.status.success() && fault.0 != "write" {
                    assert!(!output.stderr.is_empty(), "{label}: no error was printed");
                }
                let text = String::from_utf8_lossy(&output.stderr);
                // The standard library asserts that a folder can be closed, which always holds on Linux.
                if text.contains("unexpected error during closedir") {
                    continue;
                }
                // This test ends a server by a signal.
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

/// Checks that with each fault the output, on standard output and in `new`, is the same as without, or is missing with an error. A page
/// may lack unreadable records, if it is complete otherwise and the error was reported.
pub fn says_the_same(files: &[(&str, &str)], arguments: &[&str], least: usize) {
    let template = tempfile::tempdir().unwrap();
    for (name, source) in files {
        let path = template.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(
            Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|at| at.join(source)).find(|at| at.exists()).unwrap(),
            path,
        )
        .unwrap();
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
