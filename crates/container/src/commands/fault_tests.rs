//! Makes every call on a file fail once. A failed command leaves nothing behind, and gives no final name to an incomplete file.

use std::path::Path;
use std::{fs, io};

use tress_cipher::aes::Aes;

use super::decrypt::decrypt_on;
use super::encrypt::encrypt_on;
use super::fault_walk::{holds, walk, walk_reads};
use super::inspect::inspect_on;
use super::raw::{raw_aead_on, raw_on};
use super::rewrap::rewrap_on;
use super::store::{store_on, store_private_on};
use super::{Control, DecryptOptions, EncryptOptions, RawAead, RawDirection, RawMode, Sink, Source};
use crate::ErrorKind;
use crate::keys::{Identities, Recipients, key_file};
use crate::streaming::decrypt_bytes;
use crate::sys::{Call, System};
use crate::testing::faulty::{Fault, Faulty};
use crate::threads::Threads;

/// Four batches and a partial one, so that two workers have something to do.
pub(super) const PLAIN_BYTES: usize = 130 * 16384 + 77;

pub(super) fn recipients() -> Recipients {
    key_file(&[7; 16]).unwrap().into()
}

pub(super) fn identities() -> Identities {
    key_file(&[7; 16]).unwrap().into()
}

pub(super) fn plain() -> Vec<u8> {
    (0..PLAIN_BYTES).map(|i| (i % 251) as u8).collect()
}

fn holds_plain(path: &Path) -> bool {
    let container = fs::read(path).unwrap();
    decrypt_bytes(&container, &identities(), Threads::ONE).is_ok_and(|found| found == plain())
}

fn encrypt_in(folder: &Path, system: &Faulty, force: bool) -> Result<(), crate::Error> {
    encrypt_from("in", folder, system, force)
}

/// Encrypts a file or folder of this name to `out`.
pub(super) fn encrypt_from(name: &str, folder: &Path, system: &dyn System, force: bool) -> Result<(), crate::Error> {
    seal(system, &Source::Path(folder.join(name)), &Sink::Path { path: folder.join("out"), force })
}

pub(super) fn seal(system: &dyn System, source: &Source, sink: &Sink) -> Result<(), crate::Error> {
    let options = EncryptOptions::default().threads(2);
    encrypt_on(system, source, sink, &recipients(), &options, &Control::new()).map(drop)
}

#[test]
fn no_failure_of_an_encryption_leaves_anything() {
    for (has_anonymous, force) in [(true, false), (false, false), (true, true)] {
        let prepare = |folder: &Path| fs::write(folder.join("in"), plain()).unwrap();
        let command = |folder: &Path, system: &Faulty| encrypt_in(folder, system, force);
        walk(1, "out", has_anonymous, prepare, command, holds_plain);
    }
}

#[test]
fn no_failure_of_a_replacing_encryption_harms_the_old_file() {
    for has_anonymous in [true, false] {
        let prepare = |folder: &Path| {
            fs::write(folder.join("in"), plain()).unwrap();
            fs::write(folder.join("out"), b"old").unwrap();
        };
        let command = |folder: &Path, system: &Faulty| encrypt_in(folder, system, true);
        walk(1, "out", has_anonymous, prepare, command, holds_plain);
    }
}

/// As an anonymous file gets its name without `force`, the last calls are the link and the sync of the folder.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_the_system_refuses_to_name_is_copied() {
    let run = |fails| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in"), plain()).unwrap();
        let system = Faulty::new(fails, Fault::Unsupported, true);
        let result = encrypt_in(folder.path(), &system, false);
        (folder, result, system.has_failed())
    };
    let calls = (0..).find(|&fails| !run(fails).2).unwrap();
    let (folder, result, _) = run(calls - 2);
    result.unwrap();
    assert!(holds_plain(&folder.path().join("out")));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
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
    let command = |folder: &Path, system: &Faulty| decrypt_in(folder, system, false);
    walk(1, "out", true, prepare, command, |path| holds(path, &plain()));
}

/// Decrypts `in` to `out`.
pub(super) fn decrypt_in(folder: &Path, system: &dyn System, force: bool) -> Result<(), crate::Error> {
    open(system, &Source::Path(folder.join("in")), &Sink::Path { path: folder.join("out"), force })
}

pub(super) fn open(system: &dyn System, source: &Source, sink: &Sink) -> Result<(), crate::Error> {
    let options = DecryptOptions::default().threads(2);
    decrypt_on(system, source, sink, &identities(), &options, &Control::new()).map(drop)
}

#[test]
fn no_failure_of_a_rewrap_harms_the_container() {
    let container = container();
    let prepare = |folder: &Path| fs::write(folder.join("box"), &container).unwrap();
    let command = |folder: &Path, system: &Faulty| {
        rewrap_on(system, &folder.join("box"), &identities(), &recipients(), &Control::new()).map(drop)
    };
    walk(1, "box", true, prepare, command, holds_plain);
}

/// Another process puts a file under the name while the new container is synced.
struct Exchanges<'a>(&'a Path);

impl System for Exchanges<'_> {
    fn before(&self, call: Call<'_>) -> io::Result<usize> {
        if let Call::Sync(_) = call {
            fs::rename(self.0.join("other"), self.0.join("box"))?;
        }
        Ok(usize::MAX)
    }
}

#[test]
fn a_rewrap_replaces_only_what_it_has_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("box"), container()).unwrap();
    fs::write(folder.join("other"), b"newer").unwrap();
    let rewrapped =
        rewrap_on(&Exchanges(folder), &folder.join("box"), &identities(), &recipients(), &Control::new()).unwrap_err();
    assert_eq!(rewrapped.kind, ErrorKind::InputChanged);
    assert_eq!(fs::read(folder.join("box")).unwrap(), b"newer");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
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
            decrypt_in(folder.path(), &Faulty::every(period, fault), false).unwrap();
            assert!(fs::read(folder.path().join("out")).unwrap() == plain(), "{fault:?} {period}");
        }
    }
}

#[test]
fn no_failure_of_an_inspection_is_taken_for_an_answer() {
    let container = container();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in");
    fs::write(&path, &container).unwrap();
    let inspect = |system: &Faulty, source: &Source, identities: Option<&Identities>| {
        inspect_on(system, source, None, identities, &Control::new())
    };
    for identities in [None, Some(identities())] {
        let expected = super::inspect(&Source::Path(path.clone()), identities.as_ref()).unwrap();
        assert_eq!((expected.plaintext_bytes, expected.verified), (PLAIN_BYTES as u64, identities.is_some()));
        walk_reads(|system| {
            let found = inspect(&system, &Source::Path(path.clone()), identities.as_ref());
            (system.has_failed(), found.map(|found| assert_eq!(found, expected)))
        });
        // A stream is read to its end.
        walk_reads(|system| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            let container = &container;
            std::thread::scope(|scope| {
                scope.spawn(move || drop(std::io::Write::write_all(&mut writer, container)));
                let system = system.with_standard(Some(handle(reader)), None);
                let found = inspect(&system, &Source::Stdin, identities.as_ref());
                let has_failed = system.has_failed();
                // Otherwise the writer waits forever.
                drop(system);
                (has_failed, found.map(|found| assert_eq!(found, expected)))
            })
        });
    }
}

#[cfg(unix)]
fn handle(reader: std::io::PipeReader) -> fs::File {
    std::os::fd::OwnedFd::from(reader).into()
}

#[cfg(windows)]
fn handle(reader: std::io::PipeReader) -> fs::File {
    std::os::windows::io::OwnedHandle::from(reader).into()
}

#[test]
fn no_failure_of_a_raw_mode_leaves_anything() {
    let cipher = Aes::new(&[7; 16]).unwrap();
    // Several full buffers and a partial one.
    let plain = &plain()[..700_001];
    let ends = |folder: &Path| (Source::Path(folder.join("in")), Sink::Path { path: folder.join("out"), force: false });
    type Command<'a> = &'a dyn Fn(&Path, &Faulty, RawDirection) -> Result<(), crate::Error>;
    let both_ways = |anonymous_out: bool, command: Command<'_>| {
        let prepare = |bytes: &[u8], folder: &Path| fs::write(folder.join("in"), bytes).unwrap();
        let encrypt = |folder: &Path, system: &Faulty| command(folder, system, RawDirection::Encrypt);
        let decrypt = |folder: &Path, system: &Faulty| command(folder, system, RawDirection::Decrypt);
        let folder = tempfile::tempdir().unwrap();
        prepare(plain, folder.path());
        encrypt(folder.path(), &Faulty::none()).unwrap();
        let sealed = fs::read(folder.path().join("out")).unwrap();
        walk(1, "out", true, |folder| prepare(plain, folder), encrypt, |path| holds(path, &sealed));
        walk(1, "out", anonymous_out, |folder| prepare(&sealed, folder), decrypt, |path| holds(path, plain));
        sealed.len()
    };
    for mode in [
        RawMode::Ecb { padding: true },
        RawMode::Cbc { iv: vec![3; 16], padding: true },
        RawMode::Ctr { counter: vec![9; 16] },
    ] {
        both_ways(false, &|folder, system, direction| {
            let (source, sink) = ends(folder);
            raw_on(system, &source, &sink, &cipher, &mode, direction, &Control::new())
        });
    }
    let parameters = RawAead { nonce: vec![1; 12], associated_data: b"header".to_vec(), tag_bytes: 16 };
    let sealed_bytes = both_ways(true, &|folder, system, direction| {
        let (source, sink) = ends(folder);
        raw_aead_on(system, &source, &sink, &cipher, &parameters, direction, &Control::new())
    });
    assert_eq!(sealed_bytes, plain.len() + 16);
}

/// The function that writes signatures, identities and signing keys.
#[test]
fn no_failure_of_storing_leaves_anything() {
    let text = &plain()[..7_001];
    for has_anonymous in [true, false] {
        for force in [false, true] {
            let prepare = |folder: &Path| {
                if force {
                    fs::write(folder.join("out"), b"old").unwrap();
                }
            };
            let command = |folder: &Path, system: &Faulty| {
                store_on(system, text, &Sink::Path { path: folder.join("out"), force }, &Control::new())
            };
            walk(1, "out", has_anonymous, prepare, command, |path| holds(path, text));
        }
        let command =
            |folder: &Path, system: &Faulty| store_private_on(system, text, &folder.join("out"), &Control::new());
        let is_private = |path: &Path| {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o600);
            }
            holds(path, text)
        };
        walk(1, "out", has_anonymous, |_| {}, command, is_private);
    }
}

#[test]
fn a_secret_never_replaces_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let store = || super::store_private(b"secret", &path, &Control::new()).map_err(|error| error.kind);
    for make in [
        |path: &Path| fs::write(path, b"theirs").unwrap(),
        |path: &Path| fs::create_dir(path).unwrap(),
        #[cfg(unix)]
        |path: &Path| std::os::unix::fs::symlink("nowhere", path).unwrap(),
    ] {
        make(&path);
        assert_eq!(store(), Err(crate::ErrorKind::OutputExists));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir(&path);
    }
    store().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"secret");
}
