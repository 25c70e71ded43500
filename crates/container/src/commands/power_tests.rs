//! Simulates a loss of power at every moment, where the disk has kept any subset of the writes that were not yet synced. The output must
//! be the old one or complete, and complete once a command has returned.

use std::fs;
use std::path::Path;

use super::decrypt::decrypt_on;
use super::encrypt::encrypt_on;
use super::fault_tests::{PLAIN_BYTES, container, identities, plain, recipients};
use super::rewrap::rewrap_on;
use super::{Control, DecryptOptions, EncryptOptions, Sink, Source};
use crate::keys;
use crate::streaming::decrypt_bytes;
use crate::testing::recording::{Disk, Event, Recording};
use crate::threads::Threads;

/// Runs a command that makes `output`, and checks every disk state that a loss of power may leave. `old` exists before.
fn lose_power(
    output: &str,
    old: Option<&[u8]>,
    has_anonymous: bool,
    prepare: impl Fn(&Path),
    command: impl Fn(&Path, &Recording) -> Result<(), crate::Error>,
    is_right: impl Fn(&[u8]) -> bool,
) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join(output);
    prepare(folder.path());
    let mut disk = Disk::default();
    if let Some(old) = old {
        fs::write(&output, old).unwrap();
        disk = disk.with(&output);
    }
    let system = Recording::new(has_anonymous);
    command(folder.path(), &system).unwrap();
    let events = system.events();
    let written: usize =
        events.iter().map(|event| if let Event::Write { bytes, .. } = event { bytes.len() } else { 0 }).sum();
    assert!(written >= PLAIN_BYTES, "the recording has to hold what was written");

    let (mut states, mut complete) = (0, 0);
    // Most states have one of a few contents, so results are cached.
    let mut known: Vec<(Vec<u8>, bool)> = Vec::new();
    let mut judge = |content: &[u8]| match known.iter().find(|(known, _)| known == content) {
        Some((_, is_good)) => *is_good,
        None => {
            let is_good = is_right(content);
            known.push((content.to_vec(), is_good));
            is_good
        }
    };
    for moment in 0..=events.len() {
        for content in disk.possible(&output) {
            states += 1;
            let is_old = content.as_deref() == old;
            let is_complete = content.as_deref().is_some_and(&mut judge);
            complete += usize::from(is_complete);
            assert!(is_old || is_complete, "moment {moment} of {}", events.len());
            assert!(is_complete || moment < events.len(), "the command had returned");
        }
        if let Some(event) = events.get(moment) {
            disk.apply(event);
        }
    }
    println!("{} events, {states} disks after a loss of power: {complete} with the new output", events.len());
    assert!(complete > 0);
}

fn holds_plain(container: &[u8]) -> bool {
    decrypt_bytes(container, &identities(), Threads::ONE).is_ok_and(|found| found == plain())
}

fn encrypt(folder: &Path, system: &Recording, force: bool) -> Result<(), crate::Error> {
    let options = EncryptOptions { threads: 2.into(), ..EncryptOptions::default() };
    let sink = Sink::Path { path: folder.join("out"), force };
    encrypt_on(system, &Source::Path(folder.join("in")), &sink, &recipients(), &options, &Control::new()).map(drop)
}

#[test]
fn encryptions() {
    for has_anonymous in [true, false] {
        let prepare = |folder: &Path| fs::write(folder.join("in"), plain()).unwrap();
        lose_power("out", None, has_anonymous, prepare, |folder, system| encrypt(folder, system, false), holds_plain);
        let replace = |folder: &Path, system: &Recording| encrypt(folder, system, true);
        lose_power("out", Some(b"old"), has_anonymous, prepare, replace, holds_plain);
    }
}

#[test]
fn decryptions() {
    let container = container();
    for has_anonymous in [true, false] {
        let prepare = |folder: &Path| fs::write(folder.join("in"), &container).unwrap();
        let command = |folder: &Path, system: &Recording| {
            let sink = Sink::Path { path: folder.join("out"), force: false };
            let options = DecryptOptions::default().threads(2);
            let source = Source::Path(folder.join("in"));
            decrypt_on(system, &source, &sink, &identities(), &options, &Control::new()).map(drop)
        };
        lose_power("out", None, has_anonymous, prepare, command, |found| found == plain());
    }
}

#[test]
fn rewraps() {
    let container = container();
    let others = || keys::key_file(&[8; 16]).unwrap();
    let is_theirs =
        |found: &[u8]| decrypt_bytes(found, &others().into(), Threads::ONE).is_ok_and(|found| found == plain());
    for has_anonymous in [true, false] {
        let command = |folder: &Path, system: &Recording| {
            rewrap_on(system, &folder.join("box"), &identities(), &others().into(), &Control::new()).map(drop)
        };
        lose_power("box", Some(&container), has_anonymous, |_| {}, command, is_theirs);
    }
}
