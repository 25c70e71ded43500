//! A system that refuses threads: the caller works alone where it can, and otherwise returns an error, leaves nothing and does not hang.

use std::fs;
use std::path::PathBuf;

use super::fault_tests::{identities, plain, recipients};
use super::fault_walk::names;
use super::{Control, DecryptOptions, EncryptOptions, Report, Sink, Source, decrypt, encrypt};
use crate::streaming::{decrypt_bytes, encrypt_bytes};
use crate::threads::{LEFT, Threads, together};
use crate::{Error, ErrorKind};

/// Runs `work` on a thread that may start `left` other threads.
fn with_threads<T>(left: usize, work: impl FnOnce() -> T) -> T {
    LEFT.set(left);
    let result = work();
    LEFT.set(usize::MAX);
    result
}

fn sealed(from: PathBuf, to: PathBuf) -> Result<Report, Error> {
    let options = EncryptOptions { threads: 4.into(), ..EncryptOptions::default() };
    let sink = Sink::Path { path: to, force: false };
    encrypt(&Source::Path(from), &sink, &recipients(), &options, &Control::new())
}

fn opened(from: PathBuf, to: PathBuf) -> Result<Report, Error> {
    let options = DecryptOptions::default().threads(4);
    let sink = Sink::Path { path: to, force: false };
    decrypt(&Source::Path(from), &sink, &identities(), &options, &Control::new())
}

#[test]
fn files_need_no_other_thread() {
    for left in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let path = |name| folder.path().join(name);
        fs::write(path("in"), plain()).unwrap();
        with_threads(left, || sealed(path("in"), path("box"))).unwrap();
        with_threads(left, || opened(path("box"), path("out"))).unwrap();
        assert!(fs::read(path("out")).unwrap() == plain(), "{left}");
    }
}

#[test]
fn memory_needs_no_other_thread() {
    let plain: Vec<u8> = (0..20 * (1 << 19)).map(|i: u32| (i % 251) as u8).collect();
    let options = EncryptOptions { threads: 4.into(), ..EncryptOptions::default() };
    for left in 0..4 {
        let sealed = with_threads(left, || encrypt_bytes(&plain, &recipients(), &options)).unwrap();
        assert!(
            with_threads(left, || decrypt_bytes(&sealed, &identities(), Threads::from(4))).unwrap() == plain,
            "{left}"
        );
        // The error is that of the first damaged chunk, whichever thread finds it.
        let mut damaged = sealed;
        let end = damaged.len();
        damaged[end - 5] ^= 1;
        let middle = end - 300 * 16400;
        damaged[middle] ^= 1;
        let error = with_threads(left, || decrypt_bytes(&damaged, &identities(), Threads::from(4))).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::ChunkDamaged { chunk: 300..500 }), "{left}: {error}");
    }
}

#[test]
fn a_tree_without_its_thread_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    fs::create_dir(path("in")).unwrap();
    fs::write(path("in").join("file"), plain()).unwrap();
    let error = with_threads(0, || sealed(path("in"), path("box"))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoThread);
    assert_eq!(names(folder.path()), ["in"]);
    with_threads(1, || sealed(path("in"), path("box"))).unwrap();
    let error = with_threads(0, || opened(path("box"), path("out"))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoThread);
    assert_eq!(names(folder.path()), ["box", "in"]);
    with_threads(1, || opened(path("box"), path("out"))).unwrap();
    assert!(fs::read(path("out").join("file")).unwrap() == plain());
}

/// The threads wait for each other, so a missing one must not leave the others waiting.
#[test]
fn measuring_needs_all_its_threads() {
    for left in 0..3 {
        let refused = with_threads(left, || together(4, |_| panic!("one is missing")));
        assert_eq!(refused.map_err(|error| error.kind), Err(ErrorKind::NoThread), "{left}");
    }
    assert_eq!(with_threads(3, || together(4, |number| number)).unwrap(), 0);
}
