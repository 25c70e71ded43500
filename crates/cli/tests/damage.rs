//! Damaged containers: `decrypt` fails with one line that names the file, prints no plaintext of an unverified chunk, and leaves no
//! file behind. `tests/every_bit.rs` of `tress-container` tests all other kinds of damage.

use crate::common::{CHUNK_BYTES, Folder, PREFIX_BYTES, SEALED_BYTES, plaintext};

/// Four chunks, the last one of 1000 bytes.
const PLAIN_BYTES: usize = 3 * CHUNK_BYTES + 1000;

struct DamagedCase {
    folder: Folder,
    plain: Vec<u8>,
    container: Vec<u8>,
    header_bytes: usize,
}

impl DamagedCase {
    fn new() -> DamagedCase {
        let folder = Folder::new();
        let plain = plaintext(PLAIN_BYTES);
        let container = folder.sealed(&plain);
        let header_bytes = folder.header_bytes(&container);
        assert_eq!(container.len(), header_bytes + PREFIX_BYTES + 3 * SEALED_BYTES + 1016);
        DamagedCase { folder, plain, container, header_bytes }
    }

    /// Offset of chunk `number`.
    fn chunk(&self, number: usize) -> usize {
        self.header_bytes + PREFIX_BYTES + number * SEALED_BYTES
    }

    /// Checks that decryption fails. With `-o` it writes no file; to a pipe it writes at most the first `whole` chunks.
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
fn damage_of_every_kind() {
    let case = DamagedCase::new();
    let (end, length) = (case.container.len(), case.container.iter().position(|byte| *byte == b'\n').unwrap() + 1);
    let mut absurd = case.container.clone();
    absurd[length..length + 4].fill(0xff);
    case.refused(&absurd, 0);
    // In the header, the salt, and the first and last bytes of chunks.
    let flips =
        [(80, 0), (case.header_bytes, 0), (case.chunk(1) - 1, 0), (case.chunk(1), 1), (case.chunk(3), 3), (end - 1, 3)];
    for (at, whole) in flips {
        let mut damaged = case.container.clone();
        damaged[at] ^= 1;
        case.refused(&damaged, whole);
    }
    // An empty plaintext has a chunk of 16 bytes, so an empty payload is truncated.
    for (length, whole) in [(0, 0), (30, 0), (case.chunk(0), 0), (case.chunk(1), 1), (case.chunk(2) + 100, 2)] {
        case.refused(&case.container[..length], whole);
    }
    case.refused(&[&case.container[..], &case.container].concat(), 3);
    for stranger in [&b"\n"[..], b"age-encryption.org/v1\n-> X25519\n", &plaintext(100_000)] {
        case.refused(stranger, 0);
    }
}

#[test]
fn a_damaged_range() {
    let case = DamagedCase::new();
    let mut damaged = case.container.clone();
    damaged[case.chunk(1)] ^= 1;
    case.folder.write("bad.tress", &damaged);
    let range = |range| case.folder.tress(["decrypt", "-i", "me.key", "--range", range, "bad.tress"]);
    // This range does not need the damaged chunk 1.
    assert_eq!(range("0:10").ok().stdout, case.plain[..10]);
    let run = range("16380:16390").failed("bad.tress");
    assert!(run.stdout.len() <= 4);
    // The last chunk is always verified, so a truncated file yields no range.
    case.folder.write("bad.tress", &case.container[..case.chunk(2)]);
    assert!(range("0:10").failed("bad.tress").stdout.is_empty());
}

#[test]
fn inspect_reports_truncation() {
    let case = DamagedCase::new();
    case.folder.write("bad.tress", &case.container[..case.chunk(3)]);
    case.folder.tress(["inspect", "-i", "me.key", "bad.tress"]).failed("bad.tress");
    case.folder.write("bad.tress", b"something else");
    case.folder.tress(["inspect", "bad.tress"]).failed("bad.tress");
}
