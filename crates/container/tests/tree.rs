//! Valid trees: a packed tree unpacks to the same tree, and GNU tar can read our archives and we can read its archives.
#![cfg(unix)]

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tress_container::tree::{PackOptions, Packed, UnpackOptions, pack, pack_with, unpack};
use tress_container::{Control, Error, ErrorKind};

/// A temporary folder that is removed even if it contains read-only folders.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(TempDir::new().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(self.path()).output();
    }
}

/// Type, mode, modification time in seconds and nanoseconds, and content or target of everything below a folder, by path.
type Listing = Vec<(PathBuf, char, u32, (i64, i64), Vec<u8>)>;

fn list(root: &Path) -> Listing {
    let mut listing = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(path) = folders.pop() {
        let full = root.join(&path);
        let metadata = fs::symlink_metadata(&full).unwrap();
        let (kind, content) = if metadata.is_dir() {
            folders.extend(fs::read_dir(&full).unwrap().map(|entry| path.join(entry.unwrap().file_name())));
            ('d', Vec::new())
        } else if metadata.is_symlink() {
            ('l', fs::read_link(&full).unwrap().into_os_string().into_vec())
        } else {
            ('f', fs::read(&full).unwrap())
        };
        let mode = if kind == 'l' { 0 } else { metadata.mode() & 0o7777 };
        listing.push((path, kind, mode, (metadata.mtime(), metadata.mtime_nsec()), content));
    }
    listing.sort();
    listing
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// GNU `touch` can set the times of links, and times before 1970.
fn touch(path: &Path, date: &str) {
    let status = Command::new("touch").args(["-h", "-d", date]).arg(path).status().unwrap();
    assert!(status.success());
}

fn name(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// Makes a tree with one of everything.
fn rich_tree(root: &Path) {
    fs::create_dir_all(root.join("folder/inner")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::write(root.join("folder/empty file"), b"").unwrap();
    for size_bytes in [1, 511, 512, 513] {
        fs::write(root.join(format!("folder/inner/{size_bytes}")), vec![7; size_bytes]).unwrap();
    }
    let big: Vec<u8> = (0..3_000_001_u32).map(|index| (index % 251) as u8).collect();
    fs::write(root.join("big"), &big).unwrap();
    fs::write(root.join("program"), b"#!/bin/sh\n").unwrap();
    set_mode(&root.join("program"), 0o755);
    set_mode(&root.join("big"), 0o400);
    // Names: not UTF-8, characters that are special on other systems, 100, 101 and 255 bytes, a path longer than any ustar field.
    fs::write(root.join(name(b"not \xff\xfe utf-8")), b"raw").unwrap();
    fs::write(root.join("a:b\\c\n\u{e4}\u{1f600}"), b"odd").unwrap();
    fs::write(root.join("n".repeat(100)), b"100").unwrap();
    fs::write(root.join("n".repeat(101)), b"101").unwrap();
    fs::write(root.join(name(&[0xe9; 255])), b"255").unwrap();
    let long = root.join("l".repeat(200)).join("m".repeat(200)).join("n".repeat(200));
    fs::create_dir_all(&long).unwrap();
    fs::write(long.join("file"), b"far").unwrap();
    // Links: to a file, to a folder, upwards, dangling, long, and not UTF-8.
    symlink("big", root.join("to file")).unwrap();
    symlink("folder/inner", root.join("to folder")).unwrap();
    symlink("../../big", root.join("folder/inner/up")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("t".repeat(150), root.join("long target")).unwrap();
    symlink(name(b"\xff"), root.join("odd target")).unwrap();
    fs::hard_link(root.join("big"), root.join("second name of big")).unwrap();
    touch(&root.join("program"), "1999-12-31 23:59:59.123456789 UTC");
    touch(&root.join("big"), "1969-07-20 20:17:40.5 UTC");
    touch(&root.join("dangling"), "2001-02-03 04:05:06.000000007 UTC");
    set_mode(&root.join("folder/inner"), 0o500);
    touch(&root.join("folder/inner"), "2011-11-11 11:11:11.111111111 UTC");
    set_mode(&root.join("folder"), 0o711);
    touch(&root.join("folder"), "2012-12-12 12:12:12 UTC");
    touch(root, "1980-01-01 00:00:00 UTC");
    set_mode(root, 0o750);
}

fn packed(root: &Path) -> Result<Vec<u8>, Error> {
    let mut archive = Vec::new();
    pack(root, &mut archive, &Control::new()).map(|()| archive)
}

fn unpacked(archive: &[u8], target: &Path) -> Result<(), Error> {
    unpack(&mut &*archive, target, UnpackOptions::default(), &Control::new()).map(drop)
}

fn replaced(archive: &[u8], target: &Path) -> Result<(), Error> {
    let mut options = UnpackOptions::default();
    options.force = true;
    unpack(&mut &*archive, target, options, &Control::new()).map(drop)
}

fn kind(result: Result<impl Sized, Error>) -> ErrorKind {
    result.map(|_| ()).unwrap_err().kind
}

#[test]
fn a_rich_tree_survives_a_round_trip() {
    let folder = Scratch::new();
    let (source, target) = (folder.path().join("source"), folder.path().join("target"));
    rich_tree(&source);
    let archive = packed(&source).unwrap();
    unpacked(&archive, &target).unwrap();
    assert_eq!(list(&target), list(&source));
    assert_eq!(archive, packed(&target).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// -2^63 s, which tmpfs and btrfs keep. The next second is stored.
#[test]
fn the_earliest_time() {
    let folder = Scratch::new();
    let (source, target) = (folder.path().join("source"), folder.path().join("target"));
    fs::create_dir_all(source.join("folder")).unwrap();
    fs::write(source.join("file"), b"").unwrap();
    symlink("file", source.join("link")).unwrap();
    let names = ["folder", "file", "link"];
    for name in names {
        // Some systems refuse it.
        let _ = Command::new("touch").args(["-h", "-d", &format!("@{}", i64::MIN)]).arg(source.join(name)).status();
    }
    let time = |path: &Path| fs::symlink_metadata(path).map(|found| (found.mtime(), found.mtime_nsec())).unwrap();
    if time(&source.join("file")) != (i64::MIN, 0) {
        return eprintln!("SKIPPED: this file system does not keep the time");
    }
    unpacked(&packed(&source).unwrap(), &target).unwrap();
    assert_eq!(names.map(|name| time(&target.join(name))), [(i64::MIN + 1, 0); 3]);
}

#[test]
fn gnu_tar_reads_what_is_packed() {
    let folder = Scratch::new();
    let (source, target) = (folder.path().join("source"), folder.path().join("target"));
    rich_tree(&source);
    fs::write(folder.path().join("tar"), packed(&source).unwrap()).unwrap();
    fs::create_dir(&target).unwrap();
    let archive = folder.path().join("tar");
    let output =
        Command::new("tar").args(["--same-permissions", "-xf"]).arg(archive).arg("-C").arg(&target).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Nanoseconds are where other programs do not look.
    let whole_seconds = |root: &Path| -> Listing {
        list(root)
            .into_iter()
            .map(|(path, kind, mode, time, content)| (path, kind, mode, (time.0, 0), content))
            .collect()
    };
    assert_eq!(whole_seconds(&target), whole_seconds(&source));
}

#[test]
fn archives_of_gnu_tar_are_read() {
    for format in ["pax", "gnu"] {
        let folder = Scratch::new();
        let (source, target) = (folder.path().join("source"), folder.path().join("target"));
        rich_tree(&source);
        fs::remove_file(source.join("second name of big")).unwrap();
        touch(&source, "1980-01-01 00:00:00 UTC");
        let output =
            Command::new("tar").args(["--format", format, "-cf", "-", "-C"]).arg(&source).arg(".").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        unpacked(&output.stdout, &target).unwrap();
        let (mut seen, mut expected) = (list(&target), list(&source));
        if format == "gnu" {
            // This format has whole seconds only.
            for entry in seen.iter_mut().chain(&mut expected) {
                entry.3.1 = 0;
            }
        }
        assert_eq!(seen, expected, "{format}");
    }
}

#[test]
fn a_tree_deeper_than_open_files_are_allowed() {
    let folder = Scratch::new();
    let (source, target) = (folder.path().join("source"), folder.path().join("target"));
    // The usual limit is 1024.
    let mut deep = source.clone();
    for level in 0..1200 {
        deep.push(format!("{}", level % 10));
        // Siblings before and after, so that the walk returns to every level.
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.with_file_name("z"), b"after").unwrap();
    }
    unpacked(&packed(&source).unwrap(), &target).unwrap();
    assert_eq!(list(&target), list(&source));
    // Replacing it removes the old tree.
    let archive = packed(&source).unwrap();
    replaced(&archive, &target).unwrap();
    assert_eq!(list(&target), list(&source));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn what_cannot_be_packed_is_an_error_or_counted() {
    let folder = Scratch::new();
    let root = folder.path().join("special");
    fs::create_dir(&root).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("fifo")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    fs::write(root.join("file"), b"").unwrap();
    let error = packed(&root).unwrap_err();
    assert_eq!((error.kind, error.path), (ErrorKind::TreeSpecialFile, Some(root.join("fifo"))));
    for (special, entries, left_out, reported) in
        [((false, false), 2, 2, 2), ((false, true), 2, 0, 2), ((true, false), 3, 1, 1), ((true, true), 3, 0, 1)]
    {
        let mut options = PackOptions::default();
        options.go_on = true;
        (options.special, options.skip_special) = special;
        let mut errors = Vec::new();
        let mut on_error = |error: &Error| errors.push(error.path.clone());
        let done = pack_with(&root, &mut io::sink(), &options, &Control::new(), &mut on_error).unwrap();
        let Packed { entries: seen, left_out: missing, changed, .. } = done;
        assert_eq!((seen, missing, changed, errors.len()), (entries, left_out, 0, reported), "{special:?}");
    }
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    assert_eq!(kind(packed(&file)), ErrorKind::Io(io::ErrorKind::NotADirectory));
    assert_eq!(kind(packed(&folder.path().join("missing"))), ErrorKind::Io(io::ErrorKind::NotFound));
}

/// Calls a function when the bytes before the change have been written.
struct ChangeAfter<'a> {
    written: Vec<u8>,
    left_bytes: usize,
    change: &'a dyn Fn(),
}

impl io::Write for ChangeAfter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.extend_from_slice(bytes);
        if self.left_bytes > 0 {
            self.left_bytes = self.left_bytes.saturating_sub(bytes.len());
            if self.left_bytes == 0 {
                (self.change)();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn changes_while_packing_are_errors_or_counted() {
    let append = |path: &Path| {
        use std::io::Write;
        fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"more").unwrap();
    };
    // Same size, same inode, and the modification time restored: only the change time differs.
    let rewrite = |path: &Path| {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        fs::write(path, vec![1; 1_000_000]).unwrap();
        fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    };
    let shrink = |path: &Path| fs::File::options().write(true).open(path).unwrap().set_len(600_000).unwrap();
    let add = |path: &Path| fs::write(path.with_file_name("added"), b"").unwrap();
    let remove = |path: &Path| fs::remove_file(path.with_file_name("second")).unwrap();
    let replace = |path: &Path| {
        let second = path.with_file_name("second");
        fs::remove_file(&second).unwrap();
        symlink("first", second).unwrap();
    };
    // With the entry that an error is about, and the numbers of changed files and of those left out.
    type Change<'a> = (&'a str, &'a dyn Fn(&Path), &'a str, (u64, u64));
    let changes: [Change<'_>; 6] = [
        ("append", &append, "first", (1, 0)),
        ("rewrite", &rewrite, "first", (1, 0)),
        ("shrink", &shrink, "first", (1, 0)),
        ("add", &add, "", (0, 0)),
        ("remove", &remove, "second", (0, 1)),
        ("replace", &replace, "", (0, 0)),
    ];
    for ((label, change, named, counts), go_on) in
        changes.into_iter().flat_map(|change| [(change, false), (change, true)])
    {
        let folder = Scratch::new();
        let first = folder.path().join("first");
        fs::write(&first, vec![0; 1_000_000]).unwrap();
        fs::write(folder.path().join("second"), b"2").unwrap();
        // File times are coarse. From here on, a change gets a later one.
        let probe = tempfile::NamedTempFile::new_in(folder.path().parent().unwrap()).unwrap();
        let time = |path: &Path| fs::metadata(path).map(|found| (found.ctime(), found.ctime_nsec())).unwrap();
        while time(probe.path()) <= time(&folder.path().join("second")) {
            probe.as_file().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        }
        let mut out = ChangeAfter { written: Vec::new(), left_bytes: 300_000, change: &|| change(&first) };
        if go_on {
            let mut options = PackOptions::default();
            options.go_on = true;
            let done = pack_with(folder.path(), &mut out, &options, &Control::new(), &mut |_| {}).unwrap();
            assert_eq!((done.changed, done.left_out), counts, "{label}");
            let beside = Scratch::new();
            unpacked(&out.written, &beside.path().join("target")).unwrap();
            assert_eq!(fs::metadata(beside.path().join("target/first")).unwrap().len(), 1_000_000, "{label}");
            continue;
        }
        let error = pack(folder.path(), &mut out, &Control::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::InputChanged, "{label}");
        assert_eq!(error.path, Some(folder.path().join(named)), "{label}");
    }
}

#[test]
fn existing_targets() {
    let folder = Scratch::new();
    let (source, target) = (folder.path().join("source"), folder.path().join("target"));
    fs::create_dir(&source).unwrap();
    fs::write(source.join("new"), b"new").unwrap();
    let archive = packed(&source).unwrap();
    let replace = |path: &Path| replaced(&archive, path);

    // A folder, even an empty one, is not replaced without `force`.
    fs::create_dir(&target).unwrap();
    assert_eq!(kind(unpacked(&archive, &target)), ErrorKind::OutputExists);
    fs::create_dir(target.join("old")).unwrap();
    fs::write(target.join("old/file"), b"old").unwrap();
    set_mode(&target.join("old"), 0o500);
    replace(&target).unwrap();
    assert_eq!(list(&target), list(&source));

    // The target is a link to the folder: the link stays.
    let link = folder.path().join("link");
    symlink("target", &link).unwrap();
    assert_eq!(kind(unpacked(&archive, &link)), ErrorKind::OutputExists);
    fs::write(target.join("old"), b"old").unwrap();
    replace(&link).unwrap();
    assert!(link.is_symlink());
    assert_eq!(list(&target), list(&source));

    // A file is never replaced, nor the current folder or one above it.
    let file = folder.path().join("file");
    fs::write(&file, b"keep").unwrap();
    assert_eq!(kind(replace(&file)), ErrorKind::OutputExists);
    assert_eq!(fs::read(&file).unwrap(), b"keep");
    for kept in [Path::new("."), Path::new(".."), Path::new("/"), &std::env::current_dir().unwrap()] {
        assert_eq!(kind(replace(kept)), ErrorKind::OutputExists);
    }

    // A failure leaves the old folder unchanged.
    assert_eq!(kind(replaced(&archive[..1500], &target)), ErrorKind::TreeDamaged);
    assert_eq!(list(&target), list(&source));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    assert_eq!(kind(unpacked(&archive, &folder.path().join("missing/target"))), ErrorKind::Io(io::ErrorKind::NotFound));
}

#[test]
fn cancelling_leaves_nothing() {
    let folder = Scratch::new();
    let source = folder.path().join("source");
    rich_tree(&source);
    let archive = packed(&source).unwrap();
    let control = Control::new();
    control.cancel();
    assert_eq!(kind(pack(&source, &mut io::sink(), &control)), ErrorKind::Interrupted);
    let target = folder.path().join("target");
    assert_eq!(kind(unpack(&mut &archive[..], &target, UnpackOptions::default(), &control)), ErrorKind::Interrupted);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Fails like a pipeline whose next chunk is damaged.
struct DamagedAfter<'a>(&'a [u8]);

impl io::Read for DamagedAfter<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match io::Read::read(&mut self.0, buffer)? {
            0 => Err(io::Error::other(Error::new(ErrorKind::ChunkDamaged { chunk: 5 }))),
            count => Ok(count),
        }
    }
}

#[test]
fn errors_of_the_streams_come_through() {
    let folder = Scratch::new();
    let source = folder.path().join("source");
    rich_tree(&source);
    let archive = packed(&source).unwrap();
    for length in [0, 512, 3000, archive.len() - 1024, archive.len()] {
        let target = folder.path().join("target");
        let mut input = DamagedAfter(&archive[..length]);
        let error = unpack(&mut input, &target, UnpackOptions::default(), &Control::new()).unwrap_err();
        assert_eq!((error.kind, error.path), (ErrorKind::ChunkDamaged { chunk: 5 }, None));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = pack(&source, &mut Full, &Control::new()).unwrap_err();
    assert_eq!((error.kind, error.path), (ErrorKind::Io(io::ErrorKind::StorageFull), None));
}
