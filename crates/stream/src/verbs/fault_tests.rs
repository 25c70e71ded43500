//! Every call on a file fails once: nothing is left behind, and nothing half-written has a final name.

use std::fs;
use std::io::ErrorKind as IoKind;
use std::path::Path;

use super::decrypt::decrypt_on;
use super::encrypt::encrypt_on;
use super::rewrap::rewrap_on;
use super::{Control, DecryptOptions, EncryptOptions, Sink, Source};
use crate::sys::faulty::{Fault, Faulty};
use crate::{ErrorKind, keys};

/// Four batches and a rest, so that two workers have something to do.
pub(super) const PLAIN_BYTES: usize = 130 * 16384 + 77;

pub(super) fn recipients() -> Vec<Box<dyn age::Recipient + Send>> {
    vec![Box::new(keys::key_file(&[7; 16]).unwrap())]
}

pub(super) fn identities() -> Vec<Box<dyn age::Identity>> {
    vec![Box::new(keys::key_file(&[7; 16]).unwrap())]
}

pub(super) fn plain() -> Vec<u8> {
    (0..PLAIN_BYTES).map(|i| (i % 251) as u8).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The faults that one call may have: no space, a broken disk (EIO, which has no kind of its own), a signal, and fewer bytes
/// than asked for.
fn faults() -> [Fault; 4] {
    let broken_disk = std::io::Error::from_raw_os_error(5).kind();
    [Fault::Error(IoKind::StorageFull), Fault::Error(broken_disk), Fault::Signal, Fault::Short]
}

/// Runs `verb` in a fresh folder with a fault in call 0, 1, 2, ..., until a run needs fewer calls. After each failure
/// `output` has to be as it was, and no other file be there; after each success it has to be right.
fn walk(
    output: &str,
    has_anonymous: bool,
    prepare: impl Fn(&Path),
    verb: impl Fn(&Path, &Faulty) -> Result<(), crate::Error>,
    is_right: impl Fn(&Path) -> bool,
) {
    for fault in faults() {
        for fails in 0.. {
            let folder = tempfile::tempdir().unwrap();
            prepare(folder.path());
            let before = names(folder.path());
            let output_path = folder.path().join(output);
            let old = fs::read(&output_path).ok();
            let system = Faulty::new(fails, fault, has_anonymous);
            let result = verb(folder.path(), &system);
            if !system.has_failed() {
                result.unwrap();
                assert!(fails > 10, "the walk has to reach the calls that matter");
                break;
            }
            let label = format!("{fault:?} in call {fails}");
            match (result, fault) {
                // A call whose failure does no harm, or that was made again.
                (Ok(()), _) => {
                    assert!(names(folder.path()).iter().all(|name| before.contains(name) || name == output), "{label}");
                    assert!(is_right(&output_path), "{label}");
                }
                (Err(error), Fault::Short) => panic!("{label}: {error}"),
                (Err(error), _) => {
                    let kind = match fault {
                        Fault::Error(kind) => kind,
                        _ => IoKind::Interrupted,
                    };
                    assert_eq!(error.kind, ErrorKind::Io(kind), "{label}");
                    assert_eq!(names(folder.path()), before, "{label}");
                    // Replacing is one step: the file is the old one or, if only the folder's sync failed, a complete new one.
                    assert!(fs::read(&output_path).ok() == old || is_right(&output_path), "{label}");
                }
            }
        }
    }
}

fn holds_plain(path: &Path) -> bool {
    let copy = path.with_extension("check");
    let sink = Sink::Path { path: copy.clone(), force: false };
    let source = Source::Path(path.into());
    super::decrypt(&source, &sink, &identities(), &DecryptOptions::default(), &Control::new()).is_ok()
        && fs::read(copy).unwrap() == plain()
}

fn encrypt_in(folder: &Path, system: &Faulty, force: bool) -> Result<(), crate::Error> {
    let options = EncryptOptions { threads: 2, ..EncryptOptions::default() };
    let sink = Sink::Path { path: folder.join("out"), force };
    let source = Source::Path(folder.join("in"));
    encrypt_on(system, &source, &sink, &recipients(), &options, &Control::new()).map(drop)
}

#[test]
fn no_failure_of_an_encryption_leaves_anything() {
    for has_anonymous in [true, false] {
        let prepare = |folder: &Path| fs::write(folder.join("in"), plain()).unwrap();
        walk("out", has_anonymous, prepare, |folder, system| encrypt_in(folder, system, false), holds_plain);
    }
}

#[test]
fn no_failure_of_a_replacing_encryption_harms_the_old_file() {
    for has_anonymous in [true, false] {
        let prepare = |folder: &Path| {
            fs::write(folder.join("in"), plain()).unwrap();
            fs::write(folder.join("out"), b"old").unwrap();
        };
        walk("out", has_anonymous, prepare, |folder, system| encrypt_in(folder, system, true), holds_plain);
    }
}

/// A container made once, copied into each fresh folder.
pub(super) fn container() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), plain()).unwrap();
    encrypt_in(folder.path(), &Faulty::none(), false).unwrap();
    fs::read(folder.path().join("out")).unwrap()
}

#[test]
fn no_failure_of_a_decryption_leaves_anything() {
    let container = container();
    let prepare = |folder: &Path| fs::write(folder.join("in"), &container).unwrap();
    let verb = |folder: &Path, system: &Faulty| decrypt_in(folder, system).map(drop);
    walk("out", true, prepare, verb, |path| fs::read(path).unwrap() == plain());
}

fn decrypt_in(folder: &Path, system: &Faulty) -> Result<super::Report, crate::Error> {
    let sink = Sink::Path { path: folder.join("out"), force: false };
    let options = DecryptOptions { threads: 2, range: None };
    decrypt_on(system, &Source::Path(folder.join("in")), &sink, &identities(), &options, &Control::new())
}

#[test]
fn no_failure_of_a_rewrap_harms_the_container() {
    let container = container();
    let prepare = |folder: &Path| fs::write(folder.join("box"), &container).unwrap();
    let verb = |folder: &Path, system: &Faulty| {
        rewrap_on(system, &folder.join("box"), &identities(), &recipients(), &Control::new()).map(drop)
    };
    walk("box", true, prepare, verb, holds_plain);
}

#[test]
fn signals_and_short_reads_and_writes_change_nothing() {
    let container = container();
    for fault in [Fault::Signal, Fault::Short] {
        for period in [2, 3, 7] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("in"), plain()).unwrap();
            encrypt_in(folder.path(), &Faulty::every(period, fault), false).unwrap();
            assert!(holds_plain(&folder.path().join("out")), "{fault:?} {period}");
            fs::remove_file(folder.path().join("out")).unwrap();
            fs::write(folder.path().join("in"), &container).unwrap();
            decrypt_in(folder.path(), &Faulty::every(period, fault)).unwrap();
            assert!(fs::read(folder.path().join("out")).unwrap() == plain(), "{fault:?} {period}");
        }
    }
}
