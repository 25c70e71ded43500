//! Hostile trees in valid containers, through the commands. Each one fails with its error kind, and leaves nothing behind.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::container::layout;
use crate::pipeline_support::{TestFolder, plain};
use crate::tree_hostile::Archive;
use tress_container::commands::{DecryptOptions, Sink, Source, decrypt, list};
use tress_container::format::{self, Aead, Content, ContentType, LAYOUT, Payload, Version};
use tress_container::{Control, ErrorKind};

const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();

/// Makes a container of version 1 and type `tree` around any bytes, as anyone can who knows a recipient.
fn sealed_tree(dir: &TestFolder, tar: &[u8]) -> Vec<u8> {
    sealed_tree_of(Version::V1, dir, tar)
}

fn sealed_tree_of(version: Version, dir: &TestFolder, tar: &[u8]) -> Vec<u8> {
    let content = Content::generate(Aead::Aes128Ccm, ContentType::Tree, None).unwrap().with_version(version);
    let mut sealed = format::Header::seal(&content, &dir.recipients()).unwrap();
    let (payload, prefix) = Payload::create(&content).unwrap();
    sealed.extend_from_slice(&prefix);
    let mut chunks = layout(tar);
    payload.seal(0, &mut chunks, true).unwrap();
    sealed.extend_from_slice(&chunks);
    sealed
}

/// Valid entries that fill several batches, so that much is on disk when the hostile entry comes.
fn harmless() -> Archive {
    Archive::default().folder(b"./").entry(b'0', b"big", b"", &plain(3_000_000)).folder(b"d/").file(b"d/file")
}

#[test]
fn a_hostile_tree_leaves_nothing_and_touches_nothing() {
    type Hostile<'a> = (&'a str, ErrorKind, &'a [(u8, &'a [u8], &'a [u8])]);
    let cases: [Hostile<'_>; 10] = [
        ("absolute name", ErrorKind::TreePath, &[(b'0', b"/tmp/tress-escaped", b"")]),
        ("name with ..", ErrorKind::TreePath, &[(b'0', b"d/../../victim", b"")]),
        ("absolute link", ErrorKind::TreeLink, &[(b'2', b"l", b"/etc/passwd")]),
        ("link that leads out", ErrorKind::TreeLink, &[(b'2', b"l", b"../victim")]),
        ("entry below a link", ErrorKind::TreeLink, &[(b'2', b"l", b"d"), (b'0', b"l/file", b"")]),
        ("file twice", ErrorKind::TreeDuplicate, &[(b'0', b"big", b"")]),
        ("FIFO", ErrorKind::TreeSpecialFile, &[(b'6', b"fifo", b"")]),
        ("device", ErrorKind::TreeSpecialFile, &[(b'3', b"null", b"")]),
        ("hard link", ErrorKind::TreeSpecialFile, &[(b'1', b"hard", b"big")]),
        ("folder come back to", ErrorKind::TreeDamaged, &[(b'0', b"x", b""), (b'0', b"d/late", b"")]),
    ];
    for (label, expected, entries) in cases {
        let dir = TestFolder::new();
        fs::write(dir.path("victim"), b"untouched").unwrap();
        let mut tar = harmless();
        for (entry_type, path, target) in entries {
            tar = tar.entry(*entry_type, path, target, b"");
        }
        // The following data is never reached, and the workers have to notice that nobody reads it.
        let tar = tar.entry(b'0', b"zz", b"", &plain(5_000_000)).end();
        fs::write(dir.path("box"), sealed_tree(&dir, &tar)).unwrap();
        for threads in [1, 3] {
            assert_eq!(dir.decrypt("box", "out", threads).expect_err(label).kind, expected, "{label}");
            assert_eq!(dir.names(), ["box", "victim"], "{label}");
        }
        assert_eq!(fs::read(dir.path("victim")).unwrap(), b"untouched", "{label}");
    }
}

#[test]
fn a_tree_needs_its_end_and_a_verified_last_chunk() {
    let dir = TestFolder::new();
    let tar = harmless().end();
    fs::write(dir.path("box"), sealed_tree(&dir, &tar[..tar.len() - 1024])).unwrap();
    assert_eq!(dir.decrypt("box", "out", 2).unwrap_err().kind, ErrorKind::TreeDamaged);
    let good = sealed_tree(&dir, &tar);
    // The whole tree is there and its end mark was read, but the container's end is missing.
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    fs::write(dir.path("box"), &bad).unwrap();
    let last = (tar.len() / CHUNK_BYTES) as u64;
    assert_eq!(dir.decrypt("box", "out", 2).unwrap_err().kind, ErrorKind::ChunkDamaged { chunk: last });
    assert_eq!(dir.names(), ["box"]);
    fs::write(dir.path("box"), &good).unwrap();
    dir.decrypt("box", "out", 2).unwrap();
    assert!(fs::read(dir.path("out/big")).unwrap() == plain(3_000_000));
}

/// Without its access list, the group of a file gets no rights of the list's mask. A hard link is the file.
#[test]
fn a_member_alone_has_the_mode_of_its_file() {
    let dir = TestFolder::new();
    let list = b"74 SCHILY.acl.access=user::rw-,user:1:rw-,group::---,mask::rw-,other::---\n";
    let tar = Archive::default().folder(b"./").pax(list).with(b'0', b"a", b"", b"x", |header| header.set_mode(0o660));
    let tar = tar.with(b'1', b"b", b"a", b"", |header| header.set_mode(0o666)).file(b"c").end();
    fs::write(dir.path("box"), sealed_tree_of(Version::V2, &dir, &tar)).unwrap();
    for (path, mode) in [("a", 0o600), ("b", 0o600), ("c", 0o644)] {
        let mut options = DecryptOptions::default();
        (options.members, options.salvage) = (vec![path.into()], true);
        let (source, sink) = (Source::Path(dir.path("box")), Sink::Path { path: dir.path(path), force: false });
        decrypt(&source, &sink, &dir.identities(), &options, &Control::new()).unwrap();
        assert_eq!(fs::metadata(dir.path(path)).unwrap().permissions().mode() & 0o7777, mode, "{path}");
    }
}

/// A hard link in an admitted stream, whose paths may begin with `./`, and a target's may not.
#[test]
fn hard_links_to_paths_with_a_point_are_given_out() {
    let tar = Archive::default().folder(b"./").folder(b"./d").file(b"./d/a").entry(b'1', b"./d/b", b"d/a", b"").end();
    for member in ["d", "d/*", "."] {
        let dir = TestFolder::new();
        fs::write(dir.path("box"), sealed_tree_of(Version::V2, &dir, &tar)).unwrap();
        let mut options = DecryptOptions::default();
        // There is no index.
        (options.members, options.salvage) = (vec![member.into()], true);
        let (source, sink) = (Source::Path(dir.path("box")), Sink::Path { path: dir.path("out"), force: false });
        decrypt(&source, &sink, &dir.identities(), &options, &Control::new()).unwrap();
        assert_eq!(fs::metadata(dir.path("out/d/a")).unwrap().nlink(), 2, "{member}");
    }
}

/// A tree of version 1 is read through before its members are known, here up to a FIFO.
#[test]
fn lists_and_members_heed_their_control() {
    let dir = TestFolder::new();
    fs::create_dir_all(dir.path("folder/d")).unwrap();
    dir.encrypt("folder", "v2", 2).unwrap();
    fs::write(dir.path("v1"), sealed_tree(&dir, &harmless().end())).unwrap();
    fs::write(dir.path("fifo"), sealed_tree(&dir, &harmless().entry(b'6', b"fifo", b"", b"").end())).unwrap();
    for (name, before) in [("v1", 0), ("v1", 1), ("v2", 0), ("v2", 1), ("fifo", 0)] {
        let (control, mut count) = (Control::new(), 0);
        if before == 0 {
            control.cancel();
        }
        let error = list(&Source::Path(dir.path(name)), &dir.identities(), &control, &mut |_| {
            count += 1;
            control.cancel();
            Ok(())
        });
        let error = error.unwrap_err();
        assert_eq!((error.kind, error.path, count), (ErrorKind::Interrupted, None, before), "{name}");
    }
    for salvage in [false, true] {
        let (mut options, control) = (DecryptOptions::default(), Control::new());
        (options.members, options.salvage) = (vec!["d".into()], salvage);
        control.cancel();
        let (source, sink) = (Source::Path(dir.path("fifo")), Sink::Path { path: dir.path("out"), force: false });
        let error = decrypt(&source, &sink, &dir.identities(), &options, &control).unwrap_err();
        assert_eq!((error.kind, error.path), (ErrorKind::Interrupted, None));
    }
}

/// Members of a tree of version 1 follow its rules, with and without `--preserve`: no owners, and no links that lead out.
#[test]
fn members_of_version_1() {
    let owned = |header: &mut tar::Header| header.set_uid(12345);
    let tar = Archive::default().folder(b"./").folder(b"d").with(b'0', b"d/a", b"", b"x", owned);
    let tar = tar.entry(b'2', b"d/in", b"../e", b"").entry(b'2', b"d/out", b"../../e", b"").folder(b"e").end();
    let dir = TestFolder::new();
    fs::write(dir.path("box"), sealed_tree(&dir, &tar)).unwrap();
    for (number, (members, preserve, kind)) in [
        (vec!["d/a", "d/in"], false, None),
        (vec!["d/a", "d/in"], true, None),
        (vec!["d"], false, Some(ErrorKind::TreeLink)),
        (vec!["d"], true, Some(ErrorKind::TreeLink)),
    ]
    .into_iter()
    .enumerate()
    {
        let mut options = DecryptOptions::default();
        options.preserve = preserve;
        options.members = members.iter().map(Into::into).collect();
        let path = dir.path(&number.to_string());
        let (source, sink) = (Source::Path(dir.path("box")), Sink::Path { path: path.clone(), force: false });
        let found = decrypt(&source, &sink, &dir.identities(), &options, &Control::new());
        assert_eq!(
            (found.as_ref().err().map(|error| error.kind.clone()), path.exists()),
            (kind.clone(), kind.is_none())
        );
        assert!(found.is_err() || found.unwrap().left_out.is_empty() && path.join("d/in").is_symlink());
    }
}

/// In a file, holes stay holes: a member of few bytes may say that it has 2^60. In a stream they are zeros.
#[test]
fn a_sparse_member_alone_stays_sparse() {
    let dir = TestFolder::new();
    let (start, size, data) = (1 << 20, 64 << 20, plain(4096));
    let records =
        format!("22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n21 GNU.sparse.name=s\n32 GNU.sparse.realsize={size}\n");
    let mut stored = format!("1\n{start}\n4096\n").into_bytes();
    stored.resize(512, 0);
    stored.extend_from_slice(&data);
    let tar = Archive::default().folder(b"./").pax(records.as_bytes());
    let tar = tar.entry(b'0', b"GNUSparseFile.0/s", b"", &stored).end();
    fs::write(dir.path("box"), sealed_tree_of(Version::V2, &dir, &tar)).unwrap();
    let mut whole = vec![0; size];
    whole[start..start + 4096].copy_from_slice(&data);
    let give_out = |to: &str, range: std::ops::Range<usize>| {
        let mut options = DecryptOptions::default().range(range.start as u64..range.end as u64);
        (options.members, options.salvage) = (vec!["s".into()], true);
        let (source, sink) = (Source::Path(dir.path("box")), Sink::Path { path: dir.path(to), force: true });
        let report = decrypt(&source, &sink, &dir.identities(), &options, &Control::new()).unwrap();
        assert_eq!(report.bytes_out, range.len() as u64);
    };
    for range in [0..size, 9..2 * start, start + 9..start + 10, start + 9..size, 2 * start..size, 9..9] {
        give_out("out", range.clone());
        assert!(fs::read(dir.path("out")).unwrap() == whole[range.clone()], "{range:?}");
        let stored_bytes = 512 * fs::metadata(dir.path("out")).unwrap().blocks();
        assert!(stored_bytes < 1 << 19, "{range:?}: {stored_bytes}");
    }
    dir.fifo("pipe");
    let read = std::thread::scope(|scope| {
        let reader = scope.spawn(|| fs::read(dir.path("pipe")).unwrap());
        give_out("pipe", 9..2 * start);
        reader.join().unwrap()
    });
    assert!(read == whole[9..2 * start]);
}

/// Names from an archive are shown with the container's name, escaped and shortened.
#[test]
fn errors_in_trees_name_the_container() {
    let archive = Archive::default;
    for (archive, shown) in [
        (archive().file(b""), "\"\""),
        (archive().file("../a\u{61c}\\n\n".as_bytes()), "../a\\u{61c}\\\\n\\n"),
        (archive().entry(b'L', b"././@LongLink", b"", &[b'a'; 1 << 20]).file(b"a"), "aaaa"),
    ] {
        let dir = TestFolder::new();
        fs::write(dir.path("box"), sealed_tree(&dir, &archive.end())).unwrap();
        let text = dir.decrypt("box", "out", 2).unwrap_err().to_string();
        let start = format!("{}: ", dir.path("box").display());
        assert!(text.starts_with(&start) && text.contains(shown) && text.len() < 1000, "{shown}: {text}");
    }
}
