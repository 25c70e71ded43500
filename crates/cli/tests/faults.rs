//! Failing system calls while the command writes keys and signatures, and while it reads recipient and allow files. strace makes one
//! call on a file fail, for each call. A file exists under its name only if it is complete and correct, no other file is left, a
//! missing file was reported, and no stranger is accepted.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;

use crate::common::faults::{tress, walk, walk_and_meet};
use crate::common::{names, plaintext};

/// Checks that the calls that write, sync and name a file have each failed once.
fn is_written(reached: Option<BTreeSet<&'static str>>) {
    let Some(reached) = reached else { return };
    let is_named = reached.contains("linkat") || reached.contains("renameat2");
    assert!(reached.contains("pwritev") && reached.contains("fsync") && is_named, "{reached:?}");
}

/// Checks that a failure while a key is written leaves no key, or a complete one that only its owner can read.
fn keygen(options: &[&str]) {
    let template = tempfile::tempdir().unwrap();
    let arguments = [&["keygen", "-o", "new"], options].concat();
    let reached = walk(template.path(), &arguments, 40, |folder, output, label| {
        let names = names(folder);
        if names.is_empty() {
            assert!(!output.status.success(), "{label}: no key, and no error");
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

/// A folder with three files, a signing key and its public key.
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
            assert!(!output.status.success(), "{label}: only {there:?} are signed, without an error");
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
    // A valid signature may fail to verify because of a fault, but this is reported.
    let judge = |folder: &Path, _: &Output, label: &str| assert_eq!(names(folder), before, "{label}");
    walk(template.path(), &verify, 35, judge);
    fs::copy(template.path().join("a.sig"), template.path().join("b.sig")).unwrap();
    walk(template.path(), &verify, 35, |folder, output, label| {
        judge(folder, output, label);
        assert!(!output.status.success(), "{label}: verified");
    });
}

/// A folder with identities, their public lines, and a file.
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

/// A line of the output of `keygen --public`: 0 is the recipient, 1 the address.
fn public(folder: &Path, name: &str, line: usize) -> String {
    fs::read_to_string(folder.join(format!("{name}.public"))).unwrap().lines().nth(line).unwrap().to_string()
}

/// Whether the folder has the file `new`. Checks that it has no other new file, and that the command failed if it is missing.
fn is_new_there(folder: &Path, before: &[String], output: &Output, label: &str) -> bool {
    let mut left = names(folder);
    left.retain(|name| !before.contains(name));
    if left.is_empty() {
        assert!(!output.status.success(), "{label}: there is no file, and no error");
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
    // The first identity does not match.
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
            assert!(!fs::read(folder.join("failed")).unwrap().is_empty(), "{label}: no error was printed");
            assert!(!complete || fs::read(folders[0].join("plain")).unwrap() == plaintext(40_000), "{label}");
        } else {
            *ended.lock().unwrap() += 1;
            assert!(!output.status.success(), "{label}: it ended without an error");
        }
    });
    if reached.is_some() {
        let (served, ended) = (served.into_inner().unwrap(), ended.into_inner().unwrap());
        println!("{served} receivers served whom they may, {ended} did not begin");
        assert!(served > 0 && ended > 0);
    }
}
