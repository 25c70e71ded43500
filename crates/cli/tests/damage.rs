//! Damaged containers: whatever is wrong, `decrypt` fails with one line that names the file, shows no plaintext of a
//! chunk that it has not verified, and leaves nothing behind.

use crate::common::{CHUNK_BYTES, Folder, PREFIX_BYTES, SEALED_BYTES, plaintext};

/// Four chunks, the last one of 1000 bytes.
const PLAIN_BYTES: usize = 3 * CHUNK_BYTES + 1000;

struct Case {
    folder: Folder,
    plain: Vec<u8>,
    container: Vec<u8>,
    header_bytes: usize,
}

impl Case {
    fn new() -> Case {
        let folder = Folder::new();
        let plain = plaintext(PLAIN_BYTES);
        let container = folder.sealed(&plain);
        let header_bytes = folder.header_bytes(&container);
        assert_eq!(container.len(), header_bytes + PREFIX_BYTES + 3 * SEALED_BYTES + 1016);
        Case { folder, plain, container, header_bytes }
    }

    /// Where chunk `number` begins.
    fn chunk(&self, number: usize) -> usize {
        self.header_bytes + PREFIX_BYTES + number * SEALED_BYTES
    }

    /// To a file, from a file: nothing but the error. To a pipe, from a pipe: at most the `whole` first chunks.
    #[track_caller]
    fn refused(&self, damaged: &[u8], whole: usize) {
        self.folder.write("bad.tress", damaged);
        let before = self.folder.names();
        let run = self.folder.tress(["decrypt", "-i", "me.key", "-o", "out", "bad.tress"]).failed("bad.tress");
        assert!(run.stdout.is_empty());
        assert_eq!(self.folder.names(), before);

        let run = self.folder.tress_with(["decrypt", "-i", "me.key"], damaged);
        assert_eq!(run.status.code(), Some(1), "{}", run.stderr);
        run.one_line("standard input");
        assert!(self.plain.starts_with(&run.stdout), "no plaintext that was never encrypted");
        assert!(run.stdout.len() <= whole * CHUNK_BYTES, "{} bytes of unverified chunks", run.stdout.len());
        assert_eq!(self.folder.names(), before);
    }
}

#[test]
fn header() {
    let case = Case::new();
    // In the version, the AEAD, the length, the age file's version, its stanza, its MAC's neighbourhood and the zeros.
    for at in [0, 7, 12, 20, 22, 24, 40, 80, 200, case.header_bytes - 1] {
        let mut damaged = case.container.clone();
        damaged[at] ^= 1;
        case.refused(&damaged, 0);
    }
}

#[test]
fn absurd_header_length() {
    let case = Case::new();
    let length = case.container.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for bytes in [[0xff; 4], [0; 4], [0, 1, 0, 1]] {
        let mut damaged = case.container.clone();
        damaged[length..length + 4].copy_from_slice(&bytes);
        case.refused(&damaged, 0);
    }
}

#[test]
fn unknown_version_and_strangers() {
    let case = Case::new();
    let mut future = case.container.clone();
    future[7] = b'2';
    case.refused(&future, 0);
    case.refused(b"", 0);
    case.refused(b"\n", 0);
    case.refused(b"age-encryption.org/v1\n-> X25519\n", 0);
    case.refused(&plaintext(100_000), 0);
}

#[test]
fn flipped_bits_of_the_payload() {
    let case = Case::new();
    let end = case.container.len();
    let places = [
        (case.header_bytes, 0),
        (case.header_bytes + 24, 0),
        (case.chunk(0), 0),
        (case.chunk(1) - 1, 0),
        (case.chunk(1), 1),
        (case.chunk(2) + 5000, 2),
        (case.chunk(3), 3),
        (end - 1, 3),
    ];
    for (at, whole) in places {
        let mut damaged = case.container.clone();
        damaged[at] ^= 0x80;
        case.refused(&damaged, whole);
    }
}

#[test]
fn truncation() {
    let case = Case::new();
    let end = case.container.len();
    let places = [
        (5, 0),
        (30, 0),
        (case.header_bytes, 0),
        (case.chunk(0) - 1, 0),
        // An empty payload is no empty plaintext, which has a chunk of 16 bytes.
        (case.chunk(0), 0),
        (case.chunk(0) + 15, 0),
        (case.chunk(1), 1),
        (case.chunk(1) + 16, 1),
        (case.chunk(2) + 100, 2),
        (case.chunk(3), 3),
        (end - 1, 3),
    ];
    for (length, whole) in places {
        case.refused(&case.container[..length], whole);
    }
}

#[test]
fn extension() {
    let case = Case::new();
    for more in [1, 16, 17, SEALED_BYTES - 1016, SEALED_BYTES, 100_000] {
        let mut damaged = case.container.clone();
        damaged.resize(case.container.len() + more, 0);
        case.refused(&damaged, 3);
    }
    let twice = [case.container.clone(), case.container.clone()].concat();
    case.refused(&twice, 3);
}

#[test]
fn chunks_out_of_place() {
    let case = Case::new();
    let other = case.folder.sealed(&case.plain);
    let chunk = |container: &[u8], number| container[case.chunk(number)..case.chunk(number + 1)].to_vec();

    let mut swapped = case.container.clone();
    swapped[case.chunk(1)..case.chunk(2)].copy_from_slice(&chunk(&case.container, 2));
    swapped[case.chunk(2)..case.chunk(3)].copy_from_slice(&chunk(&case.container, 1));
    case.refused(&swapped, 1);

    let mut duplicated = case.container.clone();
    duplicated.splice(case.chunk(1)..case.chunk(1), chunk(&case.container, 0));
    case.refused(&duplicated, 1);

    let mut missing = case.container.clone();
    missing.drain(case.chunk(1)..case.chunk(2));
    case.refused(&missing, 1);

    let mut foreign = case.container.clone();
    foreign[case.chunk(2)..case.chunk(3)].copy_from_slice(&chunk(&other, 2));
    case.refused(&foreign, 2);

    // The header of one file before the payload of another: the commitment tells.
    let mut spliced = case.container[..case.header_bytes].to_vec();
    spliced.extend_from_slice(&other[case.header_bytes..]);
    case.refused(&spliced, 0);
}

#[test]
fn a_damaged_range() {
    let case = Case::new();
    let mut damaged = case.container.clone();
    damaged[case.chunk(1)] ^= 1;
    case.folder.write("bad.tress", &damaged);
    let range = |range| case.folder.tress(["decrypt", "-i", "me.key", "--range", range, "bad.tress"]);
    // Chunk 1 is not needed here.
    assert_eq!(range("0:10").ok().stdout, case.plain[..10]);
    let run = range("16380:16390").failed("bad.tress");
    assert!(run.stdout.len() <= 4);
    // The last chunk is always checked, so no range comes from a truncated file.
    case.folder.write("bad.tress", &case.container[..case.chunk(2)]);
    assert!(range("0:10").failed("bad.tress").stdout.is_empty());
}

#[test]
fn inspect_tells_too() {
    let case = Case::new();
    case.folder.write("bad.tress", &case.container[..case.chunk(3)]);
    case.folder.tress(["inspect", "-i", "me.key", "bad.tress"]).failed("bad.tress");
    case.folder.write("bad.tress", b"something else");
    case.folder.tress(["inspect", "bad.tress"]).failed("bad.tress");
}
