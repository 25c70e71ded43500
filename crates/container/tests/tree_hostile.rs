//! Hostile trees: those of `vectors/container/trees.json`, and random damage. Each one must fail with its error kind, leave nothing
//! behind and touch nothing outside.
#![cfg(unix)]

use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tar::{EntryType, Header};
use tempfile::TempDir;
use tress_container::format::Version;
use tress_container::tree::{UnpackOptions, pack, unpack};
use tress_container::{Control, ErrorKind};

/// An archive of raw headers, so that nothing validates its entries.
#[derive(Clone, Default)]
pub(crate) struct Archive(Vec<u8>);

impl Archive {
    pub(crate) fn entry(&self, entry_type: u8, path: &[u8], target: &[u8], data: &[u8]) -> Archive {
        self.with(entry_type, path, target, data, |_| {})
    }

    /// Adds an entry after `change` has edited its header, and computes the checksum.
    pub(crate) fn with(
        &self,
        entry_type: u8,
        path: &[u8],
        target: &[u8],
        data: &[u8],
        change: impl Fn(&mut Header),
    ) -> Archive {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::new(entry_type));
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(1_000_000_000);
        header.set_size(data.len() as u64);
        header.as_old_mut().name[..path.len()].copy_from_slice(path);
        header.as_old_mut().linkname[..target.len()].copy_from_slice(target);
        change(&mut header);
        header.set_cksum();
        let mut archive = self.clone();
        archive.0.extend_from_slice(header.as_bytes());
        archive.0.extend_from_slice(data);
        archive.0.resize(archive.0.len().next_multiple_of(512), 0);
        archive
    }

    pub(crate) fn folder(&self, path: &[u8]) -> Archive {
        self.with(b'5', path, b"", b"", |header| header.set_mode(0o755))
    }

    pub(crate) fn file(&self, path: &[u8]) -> Archive {
        self.entry(b'0', path, b"", b"content")
    }

    fn link(&self, path: &[u8], target: &[u8]) -> Archive {
        self.entry(b'2', path, target, b"")
    }

    pub(crate) fn pax(&self, records: &[u8]) -> Archive {
        self.entry(b'x', b"pax", b"", records)
    }

    pub(crate) fn end(&self) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes.resize(bytes.len() + 1024, 0);
        bytes
    }
}

fn archive() -> Archive {
    Archive::default()
}

/// A folder in which only the target may change, with files around it that would reveal an escape.
struct Cage {
    folder: TempDir,
    before: Vec<(PathBuf, u32, i64, Vec<u8>)>,
}

impl Cage {
    fn new() -> Cage {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("middle/parent")).unwrap();
        for path in ["victim", "middle/victim", "middle/parent/victim"] {
            fs::write(folder.path().join(path), b"untouched").unwrap();
        }
        let before = Cage::list(folder.path());
        Cage { folder, before }
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("middle/parent/target")
    }

    /// Unpacks a stream of version 1, which admits less. `tests/python/tree_cases.py` has what version 2 admits.
    fn unpack(&self, bytes: &[u8]) -> Result<(), (ErrorKind, Option<PathBuf>)> {
        self.unpack_as(Version::V1, bytes)
    }

    fn unpack_as(&self, version: Version, bytes: &[u8]) -> Result<(), (ErrorKind, Option<PathBuf>)> {
        let mut options = UnpackOptions::default();
        options.version = version;
        let unpacked = unpack(&mut &*bytes, &self.target(), options, &Control::new());
        unpacked.map(drop).map_err(|error| (error.kind, error.path))
    }

    fn list(folder: &Path) -> Vec<(PathBuf, u32, i64, Vec<u8>)> {
        let mut listing = Vec::new();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(path) = folders.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            // The times of folders change when the temporary folder is made and removed.
            let modified = if metadata.is_dir() { 0 } else { metadata.mtime() };
            if metadata.is_dir() {
                folders.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            listing.push((path, metadata.mode(), modified, content));
        }
        listing.sort();
        listing
    }

    fn assert_untouched(&self, label: &str) {
        assert_eq!(Cage::list(self.folder.path()), self.before, "{label}");
    }
}

/// Bytes from hex in which `bytes*N` means N repetitions.
fn stream(text: &str) -> Vec<u8> {
    let word = |word: &str| {
        let (bytes, count) = word.split_once('*').unwrap_or((word, "1"));
        base16ct::lower::decode_vec(bytes).unwrap().repeat(count.parse().unwrap())
    };
    text.split(' ').flat_map(word).collect()
}

/// Valid trees have names that other systems do not have, so those are for Linux. A link that is left out has no entries below it: such a
/// tree is damaged.
#[test]
fn every_tree_of_the_vectors_is_accepted_or_refused() {
    let file: Value = serde_json::from_str(include_str!("../../../vectors/container/trees.json")).unwrap();
    let (mut counts, mut wrong) = (Vec::new(), Vec::new());
    for (group, version) in file["testGroups"].as_array().unwrap().iter().zip([Version::V1, Version::V2]) {
        let tests = group["tests"].as_array().unwrap();
        counts.push(tests.len());
        for test in tests {
            let cage = Cage::new();
            let unpacked = cage.unpack_as(version, &stream(test["stream"].as_str().unwrap()));
            let found = unpacked.err().map(|error| format!("{:?}", error.0));
            let expected = test["error"].as_str();
            if expected.is_some() {
                cage.assert_untouched(test["comment"].as_str().unwrap());
            }
            let is_left_out = test["comment"] == "below a link that leads out";
            let expected = if is_left_out { Some("TreeDamaged") } else { expected };
            if found.as_deref() != expected && (expected.is_some() || cfg!(target_os = "linux")) {
                wrong.push((&test["comment"], found));
            }
        }
    }
    assert_eq!((counts, wrong), (vec![387, 493], vec![]));
}

#[test]
fn the_building_blocks_of_hostile_archives_are_valid() {
    let cage = Cage::new();
    let bytes = archive().folder(b"./").folder(b"a/").file(b"a/b").link(b"a/c", b"../a/b").file(b"d").end();
    cage.unpack(&bytes).unwrap();
    assert_eq!(fs::read(cage.target().join("a/c")).unwrap(), b"content");
    // GNU tar pads its last record with zeros.
    let mut padded = bytes;
    padded.resize(20 * 512, 0);
    Cage::new().unpack(&padded).unwrap();
    // A file of the earliest time, of which the link needs the status.
    let earliest = |header: &mut Header| header.as_old_mut().mtime = *b"\xff\xff\xff\xff\x80\0\0\0\0\0\0\0";
    let linked = archive().with(b'0', b"a", b"", b"", earliest).entry(b'1', b"b", b"a", b"");
    Cage::new().unpack_as(Version::V2, &linked.end()).unwrap();
    // An empty archive is a valid tree.
    let cage = Cage::new();
    cage.unpack(&archive().end()).unwrap();
    assert_eq!(fs::read_dir(cage.target()).unwrap().count(), 0);
}

#[test]
fn an_error_names_its_entry() {
    use ErrorKind::{Io, TreeDamaged, TreeDuplicate, TreeLink, TreePath, TreeSpecialFile};
    let long_path = archive().entry(b'L', b"long", b"", b"../victim").file(b"harmless");
    let record = archive().pax(b"18 path=../victim\n").file(b"harmless");
    let long_name = archive().entry(b'L', b"", b"", &[b'a'; 256]).file(b"c");
    for (archive, kind, path) in [
        (archive().file(b"/tmp/tress-escaped"), TreePath, "/tmp/tress-escaped"),
        (archive().folder(b"a/.."), TreePath, "a/.."),
        (archive().link(b"a//b", b"a"), TreePath, "a//b"),
        (long_path, TreePath, "../victim"),
        (record, TreePath, "../victim"),
        (long_name, Io(std::io::ErrorKind::InvalidFilename), &"a".repeat(256)),
        (archive().link(b"link", b"../victim"), TreeLink, "link"),
        (archive().link(b"a", b".").file(b"a/b"), TreeLink, "a/b"),
        (archive().entry(b'6', b"special", b"", b""), TreeSpecialFile, "special"),
        (archive().file(b"a").file(b"a"), TreeDuplicate, "a"),
        (archive().file(b"a/b"), TreeDamaged, "a/b"),
    ] {
        let cage = Cage::new();
        assert_eq!(cage.unpack(&archive.end()), Err((kind, Some(path.into()))));
        cage.assert_untouched(path);
    }
}

#[test]
fn archives_that_are_cut() {
    let bytes = archive().folder(b"./").folder(b"a").file(b"a/b").file(b"c").end();
    for length in (0..bytes.len()).step_by(128).chain([1, bytes.len() - 512, bytes.len() - 1]) {
        let cage = Cage::new();
        let error = cage.unpack(&bytes[..length]).expect_err("cut");
        assert_eq!(error.0, ErrorKind::TreeDamaged, "cut at {length}");
        cage.assert_untouched("cut");
    }
}

/// A reader that searches for newlines finds a path in the comment.
#[test]
fn records_end_where_their_length_says() {
    let cage = Cage::new();
    cage.unpack(&archive().pax(b"28 comment=a\n12 path=evil\n\n\n").file(b"a").end()).unwrap();
    assert_eq!(fs::read_dir(cage.target()).unwrap().count(), 1);
    assert_eq!(fs::read(cage.target().join("a")).unwrap(), b"content");
}

#[test]
fn setuid_setgid_and_sticky_are_dropped() {
    let cage = Cage::new();
    let bytes = archive()
        .with(b'5', b"./", b"", b"", |header| header.set_mode(0o7755))
        .with(b'5', b"a", b"", b"", |header| header.set_mode(0o7777))
        .with(b'0', b"a/b", b"", b"", |header| header.set_mode(0o6755))
        .end();
    cage.unpack(&bytes).unwrap();
    for (path, mode) in [("", 0o755), ("a", 0o777), ("a/b", 0o755)] {
        assert_eq!(fs::metadata(cage.target().join(path)).unwrap().mode() & 0o7777, mode, "{path}");
    }
}

#[test]
fn read_only_folders_are_removed_too() {
    let mode = |mode| move |header: &mut Header| header.set_mode(mode);
    let bytes = archive()
        .with(b'5', b"a", b"", b"", mode(0o500))
        .with(b'5', b"a/b", b"", b"", mode(0))
        .file(b"a/b/c")
        .file(b"d")
        .file(b"d")
        .end();
    let cage = Cage::new();
    assert_eq!(cage.unpack(&bytes).expect_err("twice").0, ErrorKind::TreeDuplicate);
    cage.assert_untouched("read-only folders");
}

/// A packed tree with every kind of entry.
fn valid() -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/file"), b"content").unwrap();
    fs::write(root.join("a/b").join("n".repeat(120)), [1; 600]).unwrap();
    symlink("../file", root.join("a/b/link")).unwrap();
    symlink("a", root.join("z")).unwrap();
    fs::set_permissions(root.join("a/b"), fs::Permissions::from_mode(0o500)).unwrap();
    let mut bytes = Vec::new();
    pack(root, &mut bytes, &Control::new()).unwrap();
    fs::set_permissions(root.join("a/b"), fs::Permissions::from_mode(0o700)).unwrap();
    bytes
}

/// Corrects the checksum of every block that had a valid one, so that the damaged fields behind it are parsed.
fn repair(bytes: &mut [u8], headers: &[usize]) {
    for &offset in headers {
        let block = &mut bytes[offset..offset + 512];
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_damage_never_escapes(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"\0/.0127xLKS5=\n \xff\x80"[..])), 1..6),
        only_headers in any::<bool>(),
    ) {
        let mut bytes = valid();
        let headers: Vec<usize> =
            (0..bytes.len()).step_by(512).filter(|&offset| &bytes[offset + 257..offset + 262] == b"ustar").collect();
        for (index, byte) in &changes {
            let offset = match only_headers {
                true => headers[index.index(headers.len())] + index.index(345),
                false => index.index(bytes.len()),
            };
            bytes[offset] = *byte;
        }
        repair(&mut bytes, &headers);
        let cage = Cage::new();
        match cage.unpack_as(Version::V2, &bytes) {
            Err(_) => cage.assert_untouched("failed"),
            Ok(()) => {
                // The damaged archive unpacks inside of the target, and no link points out of it.
                let mut links = Vec::new();
                unlock(&cage.target(), &mut links);
                let root = cage.target().canonicalize().unwrap();
                for real in links.iter().filter_map(|link| link.canonicalize().ok()) {
                    prop_assert!(real.starts_with(&root));
                }
                fs::remove_dir_all(cage.target()).unwrap();
                cage.assert_untouched("unpacked");
            }
        }
    }
}

/// Makes a tree readable and removable, whatever its modes, and collects its links.
fn unlock(path: &Path, links: &mut Vec<PathBuf>) {
    let metadata = fs::symlink_metadata(path).unwrap();
    if metadata.is_symlink() {
        links.push(path.to_path_buf());
        return;
    }
    assert_eq!(metadata.mode() & 0o6000, 0);
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            unlock(&entry.unwrap().path(), links);
        }
    }
}
