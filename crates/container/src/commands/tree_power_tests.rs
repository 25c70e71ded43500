//! Simulates a loss of power at every moment of a decryption into a folder. Afterwards the folder is missing or complete and, with force,
//! the old one or the new one. Once the command has returned, it is the new one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::fault_tests::{decrypt_in, encrypt_from};
use super::fault_walk::snapshot;
use crate::sys::Os;
use crate::testing::disk::{Disk, Event, Node};
use crate::testing::recording::Recording;

/// Small enough to check thousands of disk states.
fn make_tree(folder: &Path) {
    let root = folder.join("tree");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file"), [7; 20_000]).unwrap();
    fs::write(root.join("z"), b"last").unwrap();
    std::os::unix::fs::symlink("b/file", root.join("a/link")).unwrap();
}

fn container() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    make_tree(folder.path());
    encrypt_from("tree", folder.path(), &Os, false).unwrap();
    fs::read(folder.path().join("out")).unwrap()
}

/// Everything below an existing folder.
fn nodes(folder: &Path) -> BTreeMap<PathBuf, Node> {
    let kind = |path: &Path, content: Vec<u8>| {
        let metadata = fs::symlink_metadata(folder.join(path)).unwrap();
        if metadata.is_dir() {
            Node::Folder
        } else if metadata.is_symlink() {
            Node::Link(content)
        } else {
            Node::File(content)
        }
    };
    let all = snapshot(folder).unwrap().into_iter().filter(|(path, _)| !path.as_os_str().is_empty());
    all.map(|(path, content)| (path.clone(), kind(&path, content))).collect()
}

fn lose_power(force: bool) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    fs::write(folder.path().join("in"), container()).unwrap();
    let mut disk = Disk::default();
    let mut old = None;
    if force {
        fs::create_dir_all(output.join("old/older")).unwrap();
        fs::write(output.join("old/file"), b"old").unwrap();
        old = Some(nodes(&output));
        disk = disk.with_folder(&output);
    }
    let system = Recording::new(true);
    decrypt_in(folder.path(), &system, force).unwrap();
    let events = system.events();
    let new = nodes(&output);
    assert_eq!(new.len(), 5);
    assert!(events.iter().any(|event| matches!(event, Event::Write { bytes, .. } if bytes.len() == 20_000)));
    let number = fs::metadata(folder.path()).unwrap().ino().to_string();
    let key = Path::new(&number).join("out");

    let (mut disks, mut complete) = (0, 0);
    disk.lose_power(&events, |moment, state| {
        disks += 1;
        let found = state.inode(&key).map(|inode| state.below(inode));
        let is_new = found.as_ref() == Some(&new);
        complete += usize::from(is_new);
        let names = found.iter().flat_map(|found| found.keys()).collect::<Vec<_>>();
        assert!(is_new || found == old, "moment {moment} of {}: {names:?}", events.len());
        assert!(is_new || moment < events.len(), "the command had returned");
    });
    println!("{} events, {disks} disks after a loss of power: {complete} with the new folder", events.len());
    assert!(disks > 100 && complete > 0 && complete < disks, "{complete} of {disks}");
}

#[test]
fn decryptions_into_a_folder() {
    lose_power(false);
    lose_power(true);
}
