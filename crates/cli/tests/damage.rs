//! Damaged containers: `decrypt` and `inspect` fail with one line that names the file, print no plaintext of an unverified chunk, and leave
//! no file behind. The tests of `tress-container` have all kinds of damage (`tests/damage.rs`, `tests/every_bit.rs`).

use crate::common::{CHUNK_BYTES, Folder, PREFIX_BYTES, SEALED_BYTES, plaintext};

#[test]
fn damage_is_one_line_and_leaves_nothing() {
    let folder = Folder::new();
    // Four chunks, the last one of 1000 bytes.
    let plain = plaintext(3 * CHUNK_BYTES + 1000);
    let container = folder.sealed(&plain);
    let header_bytes = folder.header_bytes(&container);
    let chunk = |number: usize| header_bytes + PREFIX_BYTES + number * SEALED_BYTES;
    assert_eq!(container.len(), chunk(3) + 1016);
    let flipped = |at: usize| {
        let mut damaged = container.clone();
        damaged[at] ^= 1;
        damaged
    };
    // Each with the number of chunks before the damage.
    for (damaged, whole) in [
        // An absurd length of the header, behind the first line.
        ([&container[..21], &[0xff; 4], &container[25..]].concat(), 0),
        (flipped(80), 0),
        (flipped(header_bytes), 0),
        (flipped(chunk(1)), 1),
        (flipped(container.len() - 1), 3),
        (vec![], 0),
        (container[..chunk(0)].to_vec(), 0),
        (container[..chunk(2) + 100].to_vec(), 2),
        ([&container[..], &container].concat(), 3),
        (b"\n".to_vec(), 0),
        (b"age-encryption.org/v1\n-> X25519\n".to_vec(), 0),
        (plaintext(100_000), 0),
    ] {
        folder.write("bad.tress", &damaged);
        let before = folder.names();
        let run = folder.tress(["decrypt", "-i", "me.key", "-o", "out", "bad.tress"]).failed("bad.tress");
        assert!(run.stdout.is_empty());
        let run = folder.tress_with(["decrypt", "-i", "me.key"], &damaged).failed("standard input");
        assert!(plain.starts_with(&run.stdout), "no plaintext that was never encrypted");
        assert!(run.stdout.len() <= whole * CHUNK_BYTES, "{} bytes of unverified chunks", run.stdout.len());
        assert_eq!(folder.names(), before);
    }
    let range = |range| folder.tress(["decrypt", "-i", "me.key", "--range", range, "bad.tress"]);
    folder.write("bad.tress", flipped(chunk(1)));
    // This range does not need the damaged chunk 1.
    assert_eq!(range("0:10").ok().stdout, plain[..10]);
    assert!(range("16380:16390").failed("bad.tress").stdout.len() <= 4);
    // The last chunk is always verified, so a truncated file yields no range.
    folder.write("bad.tress", &container[..chunk(2)]);
    assert!(range("0:10").failed("bad.tress").stdout.is_empty());
    folder.tress(["inspect", "-i", "me.key", "bad.tress"]).failed("bad.tress");
    folder.write("bad.tress", b"something else");
    folder.tress(["inspect", "bad.tress"]).failed("bad.tress");
}
