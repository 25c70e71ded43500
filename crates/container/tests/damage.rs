//! Damaged containers, opened in every way: the error is that of the damage, and only verified bytes come out before it. `every_bit.rs`
//! has every bit, and `vectors/container/` every kind of error.

use std::mem::discriminant;

use crate::pipeline_support::{damaged, plain};
use crate::ways::{Order, Slow, open, read_to_end};
use tress_container::commands::EncryptOptions;
use tress_container::format::{Header, LAYOUT, PREFIX_BYTES};
use tress_container::keys::{Identities, KeyPair};
use tress_container::streaming::{DecryptReader, RangeReader, Reader, WholeDecryptor, encrypt_bytes};
use tress_container::{ErrorKind, Threads};

const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
const SEALED_CHUNK_BYTES: usize = LAYOUT.sealed_chunk_bytes();
const TAG_BYTES: usize = LAYOUT.tag_bytes();
/// Number of the last chunk; a batch has 32.
const LAST: usize = 200;

#[test]
fn every_damage_is_found_at_its_place() {
    let pair = KeyPair::generate().unwrap();
    let (recipients, identities) = ((&pair).into(), Identities::from(&pair));
    let plain = plain(LAST * CHUNK_BYTES + 100);
    let seal = || encrypt_bytes(&plain, &recipients, &EncryptOptions::default()).unwrap();
    let (good, other) = (seal(), seal());
    let first = Header::length(&good).unwrap() + PREFIX_BYTES;
    let place = |chunk: usize| first + chunk * SEALED_CHUNK_BYTES;
    let chunk = |of: &[u8], number: usize| of[place(number)..of.len().min(place(number + 1))].to_vec();
    let with = |number: usize, replacement: &[u8]| {
        let mut bytes = good.clone();
        bytes.splice(place(number)..good.len().min(place(number + 1)), replacement.iter().copied());
        bytes
    };
    let swap = |one: usize, two: usize| {
        let mut bytes = with(one, &chunk(&good, two));
        bytes[place(two)..place(two + 1)].copy_from_slice(&chunk(&good, one));
        bytes
    };
    let at = |chunk: usize| ErrorKind::ChunkDamaged { chunk: chunk as u64 };

    let mut cases: Vec<(String, Vec<u8>, ErrorKind)> = Vec::new();
    for (byte, kind) in [
        (0, ErrorKind::NotAContainer),
        (30, ErrorKind::HeaderDamaged),
        (first - PREFIX_BYTES - 1, ErrorKind::HeaderPadding),
        (first - PREFIX_BYTES, ErrorKind::Commitment),
        (first - 1, ErrorKind::Commitment),
        (place(1) - 1, at(0)),
        (good.len() - 1, at(LAST)),
    ] {
        cases.push((format!("flip at {byte}"), damaged(&good, byte), kind));
    }
    for number in [0, 1, 31, 32, 64, 70, 192, LAST] {
        // A later chunk is damaged as well: the first one must be reported.
        let bytes = damaged(&damaged(&good, place(LAST) + 5), place(number) + 3);
        cases.push((format!("chunk {number}"), bytes, at(number)));
    }
    for (end, kind) in [
        (0, ErrorKind::NotAContainer),
        (4095, ErrorKind::Truncated),
        (first - 1, ErrorKind::Truncated),
        (first, ErrorKind::Truncated),
        (first + TAG_BYTES - 1, ErrorKind::Truncated),
        (first + TAG_BYTES, at(0)),
        (place(1), ErrorKind::Truncated),
        (place(64), ErrorKind::Truncated),
        (place(64) + 3, ErrorKind::Truncated),
        (place(64) + TAG_BYTES, at(64)),
        (place(LAST), ErrorKind::Truncated),
        (good.len() - 1, at(LAST)),
        (good.len() + 1, at(LAST)),
        (place(LAST + 1) + TAG_BYTES, at(LAST)),
    ] {
        let mut bytes = good.clone();
        bytes.resize(end, 0);
        cases.push((format!("end at {end}"), bytes, kind));
    }
    let behind = |head: &[u8], from: usize| [&head[..from], &other[from..]].concat();
    for (label, bytes, kind) in [
        ("neighbours swapped", swap(5, 6), at(5)),
        ("swapped between batches", swap(3, 130), at(3)),
        ("duplicated", with(8, &[chunk(&good, 7), chunk(&good, 8)].concat()), at(8)),
        ("dropped", with(70, &[]), at(70)),
        ("from another container", with(64, &chunk(&other, 64)), at(64)),
        ("last from another container", with(LAST, &chunk(&other, LAST)), at(LAST)),
        ("payload behind another header", behind(&good, first), at(0)),
        ("payload with its prefix behind another header", behind(&good, first - PREFIX_BYTES), ErrorKind::Commitment),
        ("container behind the container", [&good[..], &good].concat(), at(LAST)),
        ("first chunk appended", [&good[..], &chunk(&good, 0)].concat(), at(LAST)),
    ] {
        cases.push((label.into(), bytes, kind));
    }

    for (label, bytes, kind) in cases {
        for (way, order, (found, result)) in open(&bytes, &identities) {
            let error = result.map_err(|error| error.kind).expect_err(&label);
            assert_eq!(discriminant(&error), discriminant(&kind), "{label}, {way}: {error:?}");
            assert!(plain.starts_with(&found), "{label}, {way}: wrong bytes came out");
            if order == Order::Anywhere {
                continue;
            }
            assert_eq!(error, kind, "{label}, {way}");
            let whole = match kind {
                ErrorKind::ChunkDamaged { chunk } => chunk as usize,
                // A stream gets everything that verifies.
                ErrorKind::Truncated if way == "stream" => bytes.len().saturating_sub(first) / SEALED_CHUNK_BYTES,
                ErrorKind::Truncated => found.len() / CHUNK_BYTES,
                _ => 0,
            };
            assert_eq!(found.len(), if order == Order::Whole { 0 } else { whole * CHUNK_BYTES }, "{label}, {way}");
        }
        if let (Ok(whole), ErrorKind::ChunkDamaged { chunk }) = (WholeDecryptor::new(&bytes, &identities), kind) {
            let mut buffer = vec![0xaa; whole.plain_bytes()];
            whole.decrypt(&mut buffer, Threads::All).unwrap_err();
            let (before, after) = buffer.split_at(buffer.len().min(chunk as usize * CHUNK_BYTES));
            assert!(plain.starts_with(before) && after.iter().all(|&byte| byte == 0), "{label}");
        }
    }
    // The source fails, and the container is right.
    for fails in [1, 3, 101] {
        let source = Slow::new(&good[..], 10_000, fails);
        let (found, result) = read_to_end(DecryptReader::open(source, &identities, Threads::ONE));
        assert_eq!(result.unwrap_err().kind, ErrorKind::Io(std::io::ErrorKind::TimedOut), "call {fails}");
        assert!(plain.starts_with(&found));
    }
}

/// A damaged chunk in the middle costs those who read elsewhere nothing.
#[test]
fn what_is_not_damaged_can_be_read() {
    use std::io::{Cursor, Read as _, Seek as _, SeekFrom};
    let pair = KeyPair::generate().unwrap();
    let identities = Identities::from(&pair);
    let plain = plain(100 * CHUNK_BYTES + 5);
    let sealed = encrypt_bytes(&plain, &(&pair).into(), &EncryptOptions::default()).unwrap();
    let first = Header::length(&sealed).unwrap() + PREFIX_BYTES;
    let bytes = damaged(&sealed, first + 50 * SEALED_CHUNK_BYTES);
    let ranges = RangeReader::open(&bytes[..], &identities).unwrap();
    let mut reader = Reader::open(Cursor::new(&bytes), &identities, Threads::ONE).unwrap();
    for number in [49, 50, 51] {
        let (at, mut found) = (number * CHUNK_BYTES, vec![0; CHUNK_BYTES]);
        let is_good = ranges.read_at(&mut found, at as u64).is_ok();
        assert_eq!((is_good, is_good && found == plain[at..at + CHUNK_BYTES]), (number != 50, number != 50));
        // A read that failed fails again.
        for _ in 0..2 {
            reader.seek(SeekFrom::Start(at as u64)).unwrap();
            assert_eq!(reader.read(&mut found).is_ok(), number != 50, "{number}");
        }
    }
}
