//! Hostile trees: one archive for each failure, and random damage. Each one must fail with its error kind, leave nothing behind and touch
//! nothing outside.
#![cfg(unix)]

use proptest::prelude::*;
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
    fn with(&self, entry_type: u8, path: &[u8], target: &[u8], data: &[u8], change: impl Fn(&mut Header)) -> Archive {
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

    fn pax(&self, records: &[u8]) -> Archive {
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

fn refuse(label: &str, bytes: &[u8], expected: ErrorKind) {
    let cage = Cage::new();
    let error = cage.unpack(bytes).expect_err(label);
    assert_eq!(error.0, expected, "{label}");
    cage.assert_untouched(label);
}

fn refuse_at(label: &str, bytes: &[u8], expected: ErrorKind, path: &str) {
    refuse(label, bytes, expected.clone());
    assert_eq!(Cage::new().unpack(bytes).expect_err(label), (expected, Some(path.into())), "{label}");
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
    // An empty archive is a valid tree.
    let cage = Cage::new();
    cage.unpack(&archive().end()).unwrap();
    assert_eq!(fs::read_dir(cage.target()).unwrap().count(), 0);
}

#[test]
fn names_that_lead_out() {
    use ErrorKind::TreePath;
    for path in [
        "/tmp/tress-escaped",
        "/",
        "..",
        "../victim",
        "a/../../victim",
        "a/..",
        "../../victim",
        "./../victim",
        "a//b",
        ".//victim",
        "a/./b",
    ] {
        let start = archive().folder(b"a");
        refuse_at(path, &start.file(path.as_bytes()).end(), TreePath, path);
        refuse_at(path, &start.folder(path.as_bytes()).end(), TreePath, path);
        refuse_at(path, &start.link(path.as_bytes(), b"a").end(), TreePath, path);
        // The path is in a pax record, or in GNU tar's long name.
        let record = format!("path={path}\n");
        let record = format!("{} {record}", record.len() + 2 + usize::from(record.len() > 7));
        refuse_at(path, &start.pax(record.as_bytes()).file(b"harmless").end(), TreePath, path);
        refuse_at(path, &start.entry(b'L', b"long", b"", path.as_bytes()).file(b"harmless").end(), TreePath, path);
    }
    refuse(
        "prefix",
        &archive()
            .with(b'0', b"victim", b"", b"", |header| {
                header.as_ustar_mut().unwrap().prefix[..2].copy_from_slice(b"..");
            })
            .end(),
        TreePath,
    );
    refuse("no name", &archive().file(b"").end(), TreePath);
    refuse("NUL in a pax path", &archive().pax(b"12 path=a\0b\n").file(b"c").end(), TreePath);
    refuse("NUL in a long name", &archive().entry(b'L', b"", b"", b"a\0b\0").file(b"c").end(), TreePath);
    refuse("file as root", &archive().file(b".").end(), TreePath);
    refuse("link as root", &archive().link(b"./", b"a").end(), TreePath);
    refuse("file with a slash", &archive().file(b"a/").end(), TreePath);
    refuse("long path", &archive().entry(b'L', b"", b"", &b"a/".repeat(2048)).file(b"c").end(), TreePath);
    let name_of_256 = archive().entry(b'L', b"", b"", &[b'a'; 256]).file(b"c").end();
    refuse("long name", &name_of_256, ErrorKind::Io(std::io::ErrorKind::InvalidFilename));
}

#[test]
fn links_that_lead_out() {
    use ErrorKind::TreeLink;
    refuse("point first", &archive().folder(b"a/").folder(b"a/b/").link(b"a/b/c", b"./../x").end(), TreeLink);
    for target in ["/", "/etc/passwd", "..", "../victim", "a/../../victim", "a/..", "./..", ""] {
        refuse_at(target, &archive().folder(b"a").link(b"link", target.as_bytes()).end(), TreeLink, "link");
        let below = format!("../{target}");
        if !target.starts_with('/') && !target.is_empty() {
            refuse(target, &archive().folder(b"a").link(b"a/link", below.as_bytes()).end(), TreeLink);
        }
    }
    // Each link alone looks harmless.
    let two_steps = archive().folder(b"a").folder(b"a/b").link(b"a/b/up", b"../..").link(b"x", b"a/b/up/..");
    refuse_at("two steps", &two_steps.end(), TreeLink, "x");
    refuse("NUL", &archive().pax(b"16 linkpath=a\0b\n").link(b"x", b"a").end(), TreeLink);
    refuse("long target", &archive().entry(b'K', b"", b"", &[b'a'; 5000]).link(b"x", b"a").end(), TreeLink);
    // Writes through a link, even one that stays inside.
    refuse_at("through", &archive().link(b"a", b".").file(b"a/b").end(), TreeLink, "a/b");
    refuse("through", &archive().folder(b"b").link(b"a", b"b").folder(b"a/c").end(), TreeLink);
    refuse("over a link", &archive().link(b"a", b"b").file(b"a").end(), ErrorKind::TreeDuplicate);
    refuse("folder over a link", &archive().link(b"a", b".").folder(b"a").end(), ErrorKind::TreeDuplicate);
}

#[test]
fn kinds_that_trees_do_not_have() {
    use ErrorKind::TreeSpecialFile;
    let outside = archive().entry(b'1', b"link", b"/etc/passwd", b"");
    refuse_at("hard link out", &outside.file(b"link").end(), TreeSpecialFile, "link");
    refuse("hard link up", &archive().entry(b'1', b"link", b"../victim", b"").end(), TreeSpecialFile);
    refuse("hard link inside", &archive().file(b"a").entry(b'1', b"link", b"a", b"").end(), TreeSpecialFile);
    for (label, entry_type) in [("FIFO", b'6'), ("character device", b'3'), ("block device", b'4'), ("reserved", b'7')]
    {
        refuse_at(label, &archive().entry(entry_type, b"special", b"", b"").end(), TreeSpecialFile, "special");
    }
    for entry_type in [b'S', b'D', b'M', b'V', b'g', b'A', b'X', b'?', 0xff] {
        refuse(&format!("{entry_type}"), &archive().entry(entry_type, b"a", b"", b"").end(), TreeSpecialFile);
    }
    refuse("sparse by pax", &archive().pax(b"22 GNU.sparse.major=1\n").file(b"a").end(), TreeSpecialFile);
}

#[test]
fn names_that_come_twice() {
    use ErrorKind::TreeDuplicate;
    refuse_at("file", &archive().file(b"a").file(b"a").end(), TreeDuplicate, "a");
    refuse("file after others", &archive().file(b"a").folder(b"b").file(b"b/c").file(b"a").end(), TreeDuplicate);
    refuse("file over folder", &archive().folder(b"a").file(b"a").end(), TreeDuplicate);
    refuse("folder over file", &archive().file(b"a").folder(b"a").end(), TreeDuplicate);
    refuse("folder", &archive().folder(b"a").folder(b"a").end(), TreeDuplicate);
    refuse("link", &archive().link(b"a", b"b").link(b"a", b"b").end(), TreeDuplicate);
    refuse("root", &archive().folder(b"./").folder(b"./").end(), TreeDuplicate);
    for root in [&b"."[..], b"./.", b"././"] {
        refuse("another name of the root", &archive().folder(root).end(), ErrorKind::TreePath);
    }
    refuse("late root", &archive().file(b"a").folder(b"./").end(), ErrorKind::TreeDamaged);
    refuse("other spelling", &archive().file(b"a").file(b"./a").end(), TreeDuplicate);
    refuse("folder come back to", &archive().folder(b"a").folder(b"b").folder(b"a").end(), TreeDuplicate);
}

#[test]
fn damaged_archives() {
    use ErrorKind::TreeDamaged;
    let whole = archive().folder(b"./").folder(b"a").file(b"a/b").file(b"c");
    let bytes = whole.end();
    for length in (0..bytes.len()).step_by(128).chain([1, bytes.len() - 1]) {
        refuse(&format!("cut at {length}"), &bytes[..length], TreeDamaged);
    }
    refuse("one zero block", &bytes[..bytes.len() - 512], TreeDamaged);
    for (label, tail) in
        [("byte", &b"x"[..]), ("zero byte", b"\0"), ("block", &[b'x'; 512]), ("entry", &archive().file(b"d").0)]
    {
        refuse(&format!("{label} after the end"), &[&bytes, tail].concat(), TreeDamaged);
        refuse(&format!("{label} far after the end"), &[&bytes, &[0; 20 * 512][..], tail].concat(), TreeDamaged);
    }
    let mut between = whole.0.clone();
    between.resize(between.len() + 512, 0);
    refuse("entry between end blocks", &[between, archive().file(b"d").end()].concat(), TreeDamaged);
    let mut flipped = bytes.clone();
    flipped[0] ^= 1;
    refuse("checksum", &flipped, TreeDamaged);
    refuse("not tar", &[b'x'; 4096], TreeDamaged);

    refuse_at("no folder", &archive().file(b"a/b").end(), TreeDamaged, "a/b");
    refuse("below a file", &archive().file(b"a").file(b"a/b").end(), TreeDamaged);
    refuse("folder left", &archive().folder(b"a").folder(b"b").file(b"a/c").end(), TreeDamaged);

    let sized =
        |field: &[u8; 12]| archive().with(b'0', b"a", b"", b"", |header| header.as_old_mut().size = *field).end();
    refuse("absurd size, octal", &sized(b"77777777777\0"), TreeDamaged);
    refuse("absurd size, binary", &sized(b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"), TreeDamaged);
    refuse("negative sign in size", &sized(b"-1\0\0\0\0\0\0\0\0\0\0"), TreeDamaged);
    refuse("absurd size, pax", &archive().pax(b"29 size=18446744073709551615\n").file(b"a").end(), TreeDamaged);
    refuse("size beyond 64 bits", &archive().pax(b"29 size=18446744073709551616\n").file(b"a").end(), TreeDamaged);
    refuse("folder with data", &archive().entry(b'5', b"a", b"", b"data").end(), TreeDamaged);
    refuse("link with data", &archive().entry(b'2', b"a", b"b", b"data").end(), TreeDamaged);
    refuse("folder with pax size", &archive().pax(b"11 size=99\n").folder(b"a").end(), TreeDamaged);

    for entry_type in [b'x', b'L', b'K'] {
        let absurd = archive().with(entry_type, b"a", b"", b"", |header| header.set_size(1 << 60));
        refuse("absurd extension", &absurd.end(), TreeDamaged);
        refuse("extension of nothing", &archive().entry(entry_type, b"a", b"", b"9 path=a\n").end(), TreeDamaged);
        let twice = archive().entry(entry_type, b"a", b"", b"9 path=a\n").entry(entry_type, b"a", b"", b"9 path=a\n");
        refuse("extension twice", &twice.file(b"a").end(), TreeDamaged);
    }
    for records in [
        &b"x"[..],
        b"9 path=a",
        b"99 path=a\n",
        b"9 path=a\n9 path=b\n",
        b"8 size=\n",
        b"9 size=x\n",
        b"10 mtime=x\n",
        b"0 path=a\n",
    ] {
        refuse(&format!("{records:?}"), &archive().pax(records).file(b"a").end(), TreeDamaged);
    }
    for entry_type in [b'0', b'5', b'2', b'x', b'L', b'K'] {
        for (at, byte) in [(0, b'$'), (5, b'0'), (6, b'1'), (7, b'\0')] {
            let format = archive().with(entry_type, b"a", b"b", b"", |header| header.as_mut_bytes()[257 + at] = byte);
            refuse("format", &format.folder(b"a").end(), TreeDamaged);
        }
    }
    // Some readers apply the size to the long name.
    for (what, records) in [("path", &b"9 path=a\n"[..]), ("size", b"9 size=7\n"), ("nothing", b"")] {
        for entry_type in [b'L', b'K'] {
            let pax_first = archive().pax(records).entry(entry_type, b"", b"", b"a").file(b"a").end();
            refuse(&format!("pax {what} and long name"), &pax_first, TreeDamaged);
            let pax_last = archive().entry(entry_type, b"", b"", b"a").pax(records).file(b"a").end();
            refuse(&format!("long name and pax {what}"), &pax_last, TreeDamaged);
        }
    }
    let content = b"content".len();
    for size in [0, 1, content - 1, content + 1, 512, 513] {
        let digits = size.to_string().len();
        let record = format!("{} size={size}\n", 8 + digits + usize::from(digits > 1));
        refuse(&record, &archive().pax(record.as_bytes()).file(b"a").end(), TreeDamaged);
    }
    let hidden_data = archive().pax(b"9 size=0\n").entry(b'5', b"a", b"", b"data");
    refuse("folder with data that pax denies", &hidden_data.end(), TreeDamaged);
    refuse(
        "mode",
        &archive().with(b'0', b"a", b"", b"", |header| header.as_old_mut().mode = *b"rwxr-xr-").end(),
        TreeDamaged,
    );
    refuse(
        "time",
        &archive()
            .with(b'0', b"a", b"", b"", |header| header.as_old_mut().mtime = [0xff; 12].map(|byte| byte ^ 0x88))
            .end(),
        TreeDamaged,
    );
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
    refuse("read-only folders", &bytes, ErrorKind::TreeDuplicate);
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
