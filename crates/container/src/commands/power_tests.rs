//! Simulates a loss of power at every moment, where the disk has kept any subset of the writes that were not yet synced. The output must
//! be the old one or complete, and complete once a command has returned.

use std::fs;
use std::path::Path;

use super::Control;
use super::fault_tests::{PLAIN_BYTES, container, decrypt_in, encrypt_from, identities, plain};
use super::rewrap::rewrap_on;
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
    disk.lose_power(&events, |moment, state| {
        states += 1;
        let content = state.file(&output);
        let is_complete = content.is_some_and(&mut judge);
        complete += usize::from(is_complete);
        assert!(content == old || is_complete, "moment {moment} of {}", events.len());
        assert!(is_complete || moment < events.len(), "the command had returned");
    });
    println!("{} events, {states} disks after a loss of power: {complete} with the new output", events.len());
    assert!(complete > 0);
}

fn holds_plain(container: &[u8]) -> bool {
    decrypt_bytes(container, &identities(), Threads::ONE).is_ok_and(|found| found == plain())
}

#[test]
fn encryptions() {
    for has_anonymous in [true, false] {
        let prepare = |folder: &Path| fs::write(folder.join("in"), plain()).unwrap();
        for old in [None, Some(&b"old"[..])] {
            let command = |folder: &Path, system: &Recording| encrypt_from("in", folder, system, old.is_some());
            lose_power("out", old, has_anonymous, prepare, command, holds_plain);
        }
    }
}

#[test]
fn decryptions() {
    let container = container();
    for has_anonymous in [true, false] {
        let prepare = |folder: &Path| fs::write(folder.join("in"), &container).unwrap();
        let command = |folder: &Path, system: &Recording| decrypt_in(folder, system, false);
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
