//! Archives of folders. A refused archive leaves no files. An unpacked one gives the files that the crate `tar` finds in the
//! same bytes, and changes nothing outside of its folder. Packing it gives an archive that unpacks to the same files, and an index that
//! leads to them. An index that was changed leads to them or nowhere.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use tress_container::format::{Aead, Content, ContentType, Header, Payload, Version};
use tress_container::keys::{Identities, KeyPair};
use tress_container::tree::{Tree, UnpackOptions, pack, unpack};
use tress_container::{Control, Threads};

use crate::input::Input;
use crate::temp_folder;

const BLOCK_BYTES: usize = 512;

/// Panics if files remain, are changed, or differ from those of the crate `tar`.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let archive = archive(&mut input);
    for version in [Version::V1, Version::V2] {
        check(&archive, version, &mut input);
    }
}

fn check(archive: &[u8], version: Version, input: &mut Input<'_>) {
    let folder = temp_folder::emptied();
    fs::write(folder.join("beside"), b"untouched").expect("a file");
    let out = folder.join("out");
    let mut options = UnpackOptions::default();
    options.version = version;
    let result = unpack(&mut &*archive, &out, options, &Control::new());
    assert_eq!(fs::read(folder.join("beside")).expect("it is there"), b"untouched");
    if result.is_err() {
        assert_eq!(temp_folder::names(folder), ["beside"]);
        return;
    }
    assert_eq!(temp_folder::names(folder), ["beside", "out"]);
    let found = walk(&out);
    // The crate tar ends a record of pax at the first newline, not at its length. It knows no sparse files of pax.
    if version == Version::V1 && !found.keys().any(|path| path.as_os_str().as_encoded_bytes().contains(&b'\n')) {
        let peers = read_by_tar_crate(archive);
        assert!(found == peers, "crate tar reads {peers:?}, here are {found:?}");
    }

    let packed = packed(&out);
    let again = folder.join("again");
    unpack(&mut &packed[..], &again, UnpackOptions::default(), &Control::new()).expect("what was packed unpacks");
    assert!(walk(&again) == found);
    assert!(self::packed(&again) == packed, "packing twice differs");
    check_index(packed, input, &found);
}

/// Panics if the index of a packed folder leads to other files than it holds, or a changed one to others than none.
fn check_index(mut packed: Vec<u8>, input: &mut Input<'_>, found: &BTreeMap<PathBuf, EntryContents>) {
    let trailer = packed.len() - 32;
    let tar_bytes = u64::from_be_bytes(packed[trailer..trailer + 8].try_into().expect("8 bytes")) as usize;
    let changes = input.below(4);
    for _ in 0..changes {
        let place = tar_bytes + input.below(packed.len() - tar_bytes);
        packed[place] = input.byte();
    }
    let content = Content::generate(Aead::Aes128Ccm, ContentType::Tree, None).expect("a content");
    let key = KeyPair::generate().expect("a key");
    let mut container = Header::seal(&content, &key.recipient().into()).expect("a header");
    let (payload, prefix) = Payload::create(&content).expect("a payload");
    container.extend_from_slice(&prefix);
    let layout = payload.layout();
    let mut sealed = Vec::new();
    for number in 0..=packed.len() / layout.chunk_bytes() {
        let rest = &packed[number * layout.chunk_bytes()..];
        sealed.extend_from_slice(&rest[..rest.len().min(layout.chunk_bytes())]);
        sealed.extend_from_slice(&[0; 16]);
    }
    payload.seal(0, &mut sealed, true).expect("few chunks");
    container.extend_from_slice(&sealed);
    let tree = match Tree::open(container, &Identities::from(&key), Threads::ONE) {
        Err(_) if changes > 0 => return,
        tree => tree.expect("an index that was written"),
    };
    for member in tree.members().take(100_000) {
        let Ok(member) = member else { return assert!(changes > 0) };
        match (tree.data(&member), found.get(&member.shown_path())) {
            (Ok(data), Some(EntryContents::File(expected))) => {
                let mut read = vec![0; data.size_bytes() as usize];
                tree.read_at(&data, &mut read, 0).expect("all of it is there");
                assert!(read == *expected, "{member:?}");
            }
            (Ok(_), _) => panic!("{member:?} is not there"),
            (Err(_), Some(EntryContents::File(_))) => assert!(changes > 0, "{member:?}"),
            (Err(_), _) => {}
        }
    }
}

fn packed(folder: &Path) -> Vec<u8> {
    let mut packed = Vec::new();
    pack(folder, &mut packed, &Control::new()).expect("what was unpacked packs");
    packed
}

/// An entry of a folder.
#[derive(Debug, PartialEq)]
enum EntryContents {
    Folder,
    File(Vec<u8>),
    Link(PathBuf),
}

/// All entries below a folder, by path.
fn walk(folder: &Path) -> BTreeMap<PathBuf, EntryContents> {
    let mut nodes = BTreeMap::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(path) = left.pop() {
        for entry in fs::read_dir(&path).expect("a folder") {
            let path = entry.expect("an entry").path();
            let kind = path.symlink_metadata().expect("an entry").file_type();
            let node = if kind.is_symlink() {
                EntryContents::Link(fs::read_link(&path).expect("a link"))
            } else if kind.is_dir() {
                left.push(path.clone());
                EntryContents::Folder
            } else {
                EntryContents::File(fs::read(&path).expect("a file"))
            };
            nodes.insert(path.strip_prefix(folder).expect("below it").to_path_buf(), node);
        }
    }
    nodes
}

/// All entries of an archive, by path, as the crate `tar` reads them.
fn read_by_tar_crate(archive: &[u8]) -> BTreeMap<PathBuf, EntryContents> {
    let mut archive = tar::Archive::new(archive);
    let mut nodes = BTreeMap::new();
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        // `components` drops `./` and a slash at the end.
        let path: PathBuf = entry.path().expect("a path").components().collect();
        let path = path.strip_prefix(".").unwrap_or(&path).to_path_buf();
        if path.as_os_str().is_empty() {
            continue;
        }
        let node = match entry.header().entry_type() {
            tar::EntryType::Directory => EntryContents::Folder,
            tar::EntryType::Symlink => {
                EntryContents::Link(entry.link_name().expect("a target").expect("a target").into_owned())
            }
            _ => {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).expect("a file's data");
                EntryContents::File(bytes)
            }
        };
        nodes.insert(path, node);
    }
    nodes
}

/// Valid and invalid names.
const NAMES: [&[u8]; 16] = [
    b"a", b"b", b"a/b", b"a/b/c", b"A", b".", b"./", b"..", b"a/../c", b"/a", b"", b"a//b", b"a/", b"\xff", b"a\\b",
    b"a\0b",
];
const TARGETS: [&[u8]; 8] = [b"a", b"b", b"..", b"../..", b"/etc", b"a/../..", b"", b"../a"];

/// Makes an archive of some entries, some of them damaged.
fn archive(input: &mut Input<'_>) -> Vec<u8> {
    let mut archive = Vec::new();
    let ending = input.byte();
    for _ in 0..input.below(13) {
        if input.is_empty() {
            break;
        }
        entry(&mut archive, input);
    }
    match ending % 8 {
        0 => {}
        1 => archive.extend([0; BLOCK_BYTES]),
        2 => archive.extend([0; 2 * BLOCK_BYTES + 1]),
        3 => archive.extend([[0; BLOCK_BYTES], [0; BLOCK_BYTES], [1; BLOCK_BYTES]].concat()),
        4 => archive.truncate(input.below(archive.len() + 1)),
        _ => archive.extend([0; 4 * BLOCK_BYTES]),
    }
    archive
}

fn entry(archive: &mut Vec<u8>, input: &mut Input<'_>) {
    let kind = *input.pick(b"00055552xxLK\x001346Sg7");
    let name = name(input);
    let data = match kind {
        b'x' => records(input),
        b'L' | b'K' => [&name[..], &[0][..input.below(2)]].concat(),
        b'0' | b'\0' => {
            let length = input.below(1100);
            input.message(length)
        }
        _ => Vec::new(),
    };
    let mut header = [0; BLOCK_BYTES];
    put(&mut header, 0, &name[..name.len().min(100)]);
    let mode: &[u8] = if kind == b'5' { b"0000755\0" } else { b"0000644\0" };
    put(&mut header, 100, mode);
    put(&mut header, 108, b"0000000\x00000000000\0");
    put(&mut header, 124, format!("{:011o}\0", data.len()).as_bytes());
    put(&mut header, 136, format!("{:011o}\0", input.word()).as_bytes());
    header[156] = kind;
    if kind == b'2' {
        put(&mut header, 157, TARGETS[input.below(TARGETS.len())]);
    }
    put(&mut header, 257, if input.flag() { b"ustar  \0" } else { b"ustar\x0000" });
    for _ in 0..input.byte().saturating_sub(250) {
        header[input.below(BLOCK_BYTES)] = input.byte();
    }
    put(&mut header, 148, b"        ");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    put(&mut header, 148, format!("{sum:06o}\0 ").as_bytes());
    archive.extend(header);
    archive.extend_from_slice(&data);
    archive.resize(archive.len().next_multiple_of(BLOCK_BYTES), 0);
}

fn put(header: &mut [u8; BLOCK_BYTES], at: usize, bytes: &[u8]) {
    header[at..at + bytes.len()].copy_from_slice(bytes);
}

fn name(input: &mut Input<'_>) -> Vec<u8> {
    match input.byte() {
        number @ 0..0xe0 => NAMES[usize::from(number) % NAMES.len()].to_vec(),
        number => {
            let length = if number < 0xf0 { 20 } else { 300 };
            let length = input.below(length);
            input.take(length).to_vec()
        }
    }
}

/// Makes extended headers. Their lengths are mostly correct.
fn records(input: &mut Input<'_>) -> Vec<u8> {
    let mut records = Vec::new();
    for _ in 0..input.below(4) {
        let mut key = *input.pick(&["path", "linkpath", "size", "mtime", "GNU.sparse.major", "comment"]);
        if key == "comment" {
            let sparse = ["GNU.sparse.minor", "GNU.sparse.name", "GNU.sparse.realsize"];
            let attributes = ["uid", "gname", "SCHILY.acl.access", "SCHILY.xattr.user.a", "SCHILY.xattr.%3"];
            key = *input.pick(&[&sparse[..], &attributes].concat());
        }
        let value = match key {
            "size" | "uid" => input.below(600).to_string().into_bytes(),
            "GNU.sparse.major" | "GNU.sparse.minor" | "GNU.sparse.realsize" => input.below(3).to_string().into_bytes(),
            "SCHILY.acl.access" => {
                input.pick(&["user::rw-,group::r--,other::r--", "user::rwx,user:7:r-x"]).as_bytes().to_vec()
            }
            "mtime" => format!("{}.{}", input.short() as i32 - 0x4000, input.byte()).into_bytes(),
            "linkpath" => input.pick(&TARGETS).to_vec(),
            "path" => name(input),
            _ => name(input).into_iter().filter(|&byte| byte != b'\n').collect(),
        };
        let rest = key.len() + value.len() + 3;
        let length = (rest + 1..).find(|length| rest + length.to_string().len() == *length).expect("there is one");
        let length = if input.byte() > 250 { input.below(600) } else { length };
        records.extend(format!("{length} {key}=").as_bytes());
        records.extend(value);
        records.push(b'\n');
    }
    records
}
