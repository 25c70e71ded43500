//! Shared by the tests of faults: runs a command once for every call that may fail and every fault that the call may have, and checks the
//! result of each run.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind as IoKind;
use std::path::{Path, PathBuf};

use crate::ErrorKind;
use crate::testing::faulty::{Fault, Faulty, broken_disk, wants_all};

/// The faults that one call may have: no space, a broken disk (EIO), a handle that would block, a signal, fewer bytes than asked for, a
/// disk that is gone from this call on, a disk that has lost the data that it should have synced, and a call that the file system does not
/// support.
fn all_faults() -> [Fault; 8] {
    let errors = [IoKind::StorageFull, broken_disk(), IoKind::WouldBlock].map(Fault::Error);
    let [full, broken, busy] = errors;
    [full, broken, busy, Fault::Signal, Fault::Short, Fault::Gone, Fault::Lost, Fault::Unsupported]
}

/// The kind of error that a run with this fault may return.
fn kind(fault: Fault) -> ErrorKind {
    ErrorKind::Io(match fault {
        Fault::Error(kind) => kind,
        Fault::Signal => IoKind::Interrupted,
        Fault::Gone | Fault::Lost => broken_disk(),
        Fault::Unsupported => IoKind::Unsupported,
        Fault::Short | Fault::Held => unreachable!("harmless"),
    })
}

/// A file's content, or everything below a folder, with links as their targets.
pub(super) fn snapshot(path: &Path) -> Option<BTreeMap<PathBuf, Vec<u8>>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let mut found = BTreeMap::new();
    let own = if metadata.is_symlink() {
        fs::read_link(path).unwrap().into_os_string().into_encoded_bytes()
    } else if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let name = PathBuf::from(entry.unwrap().file_name());
            let below = snapshot(&path.join(&name)).unwrap();
            // Joining an empty path would add a slash.
            found.extend(below.into_iter().map(|(below, bytes)| (name.iter().chain(below.iter()).collect(), bytes)));
        }
        Vec::new()
    } else {
        fs::read(path).unwrap()
    };
    found.insert(PathBuf::new(), own);
    Some(found)
}

pub(super) fn holds(path: &Path, bytes: &[u8]) -> bool {
    fs::read(path).is_ok_and(|found| found == bytes)
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs `command` in a fresh folder with a fault in call 0, 1, 2, ..., until a run makes fewer calls. After each failure `output` must be
/// unchanged or right, and there must be no other file. After each success it must be right.
///
/// Every `stride`-th call has a fault; with `TRESS_EVERY_FAULT` in the environment every one.
pub(super) fn walk(
    stride: u64,
    output: &str,
    has_anonymous: bool,
    prepare: impl Fn(&Path),
    command: impl Fn(&Path, &Faulty) -> Result<(), crate::Error>,
    is_right: impl Fn(&Path) -> bool,
) {
    let (mut points, mut reported) = (0, 0);
    let stride = if wants_all() { 1 } else { stride };
    for (index, fault) in all_faults().into_iter().enumerate() {
        for fails in (index as u64 % stride..).step_by(stride as usize) {
            let folder = tempfile::tempdir().unwrap();
            prepare(folder.path());
            let before = names(folder.path());
            let output_path = folder.path().join(output);
            let old = snapshot(&output_path);
            let system = Faulty::new(fails, fault, has_anonymous);
            let result = command(folder.path(), &system);
            if !system.has_failed() {
                result.unwrap();
                assert!(fails > 5 || fault == Fault::Lost, "the walk has to reach the calls that matter: {fails}");
                break;
            }
            points += 1;
            let label = format!("{fault:?} in call {fails}");
            let found = names(folder.path());
            let is_there = output_path.symlink_metadata().is_ok();
            match result {
                // The failed call did no harm, or was repeated.
                Ok(()) => {
                    assert!(found.iter().all(|name| before.contains(name) || name == output), "{label}");
                    assert!(is_right(&output_path), "{label}");
                }
                Err(error) => {
                    reported += 1;
                    assert_ne!(fault, Fault::Short, "{label}: {error}");
                    assert_eq!(error.kind, kind(fault), "{label}");
                    assert!(error.path.is_some(), "{label}: {error}");
                    // Replacing is one step: the output is the old one or, if only the folder's sync failed, a complete new one.
                    let is_old = snapshot(&output_path) == old;
                    // Where folders cannot be exchanged in one step, a disk that disappears between the steps leaves the old one under
                    // another name, which the error states.
                    let is_aside = |name: &String| {
                        snapshot(&folder.path().join(name)) == old && error.to_string().contains(name.as_str())
                    };
                    let is_reported = fault == Fault::Gone && found.iter().any(is_aside);
                    let may_stay = is_there && (old.is_some() || fault == Fault::Gone);
                    assert!(is_old || may_stay && is_right(&output_path) || is_reported, "{label}: {error}, {found:?}");
                    // A disk that is gone removes nothing any more, and an old folder may remain.
                    if fault != Fault::Gone && is_old {
                        assert_eq!(found, before, "{label}");
                    }
                    let is_ours = |name: &String| name.starts_with(".tress-") || name == output;
                    assert!(found.iter().all(|name| before.contains(name) || is_ours(name)), "{label}: {found:?}");
                }
            }
        }
    }
    println!("{output}: {points} calls had a fault, {reported} runs failed by it");
    assert!(points > 40 && reported > 20, "{points} {reported}");
}

/// Like [`walk`] for a run without output: each run returns the right result or an error. `run` returns whether the call was reached.
pub(super) fn walk_reads(run: impl Fn(Faulty) -> (bool, Result<(), crate::Error>)) {
    let (mut points, mut reported) = (0, 0);
    for fault in all_faults().into_iter().filter(|&fault| fault != Fault::Lost) {
        for fails in 0.. {
            let (has_failed, result) = run(Faulty::new(fails, fault, true));
            if !has_failed {
                result.unwrap();
                assert!(fails > 2, "{fails}");
                break;
            }
            points += 1;
            if let Err(error) = result {
                reported += 1;
                assert_ne!(fault, Fault::Short, "call {fails}: {error}");
                assert_eq!(error.kind, kind(fault), "{fault:?} in call {fails}");
            }
        }
    }
    println!("{points} calls had a fault, {reported} runs failed by it");
    assert!(points >= 15 && reported >= 10, "{points} {reported}");
}
