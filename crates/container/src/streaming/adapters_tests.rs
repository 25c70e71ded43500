//! Compares the streaming interfaces with whole containers in memory.

use std::io::{self, BufRead, Cursor, Read, Write};
use std::mem::discriminant;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::tests::{
    BATCH_BYTES, BATCH_CHUNKS, LENGTHS, SEALED_CHUNK_BYTES, identities, options, plaintext, pulled, pushed, recipients,
};
use super::*;
use crate::format::{LAYOUT, PREFIX_BYTES};
use crate::keys::KeyPair;
use crate::threads::Threads;
use crate::{Error, ErrorKind};

const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
const TAG_BYTES: usize = LAYOUT.tag_bytes();

/// Moves few bytes, is interrupted at every second call, and fails at one of the others.
struct Slow<T> {
    inner: T,
    most: usize,
    calls: usize,
    /// Number of the call that fails.
    fails: usize,
}

impl<T> Slow<T> {
    fn new(inner: T, most: usize, fails: usize) -> Self {
        Self { inner, most, calls: 0, fails }
    }

    fn call(&mut self, bytes: usize) -> io::Result<usize> {
        self.calls += 1;
        match self.calls {
            call if call == self.fails => Err(io::ErrorKind::TimedOut.into()),
            call if call % 2 == 0 => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(bytes.min(self.most)),
        }
    }
}

impl<T: Read> Read for Slow<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.call(buffer.len())?;
        self.inner.read(&mut buffer[..bytes])
    }
}

impl<T: Write> Write for Slow<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let now = self.call(bytes.len())?;
        self.inner.write(&bytes[..now])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[test]
fn copied_data_round_trips() {
    let key = KeyPair::generate().unwrap();
    for bytes in LENGTHS {
        let plain = plaintext(bytes);
        for (most, threads) in [(1, 1), (4097, 3), (usize::MAX, 1), (usize::MAX, 3)] {
            if most == 1 && bytes > BATCH_BYTES + 1 {
                continue;
            }
            let sink = Slow::new(Vec::new(), most, 0);
            let mut writer = EncryptWriter::new(sink, &recipients(&key), &options(threads)).unwrap();
            io::copy(&mut Slow::new(&plain[..], most, 0), &mut writer).unwrap();
            let sealed = writer.finish().unwrap().inner;
            let case = format!("{bytes} bytes, {most} at a time, {threads} threads");
            assert!(decrypt_bytes(&sealed, &identities(&key), Threads::ONE).unwrap() == plain, "{case}");

            let source = Slow::new(&sealed[..], most, 0);
            let mut reader = DecryptReader::open(source, &identities(&key), threads.into()).unwrap();
            let mut found = Vec::new();
            reader.read_to_end(&mut found).unwrap();
            assert!(found == plain, "{case}");
            assert!(reader.fill_buf().unwrap().is_empty());
        }
    }
}

#[test]
fn tar_streams_can_be_encrypted_and_decrypted() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(BATCH_BYTES + 3);
    let mut header = tar::Header::new_gnu();
    header.set_size(plain.len() as u64);
    let mut builder = tar::Builder::new(EncryptWriter::new(Vec::new(), &recipients(&key), &options(1)).unwrap());
    builder.append_data(&mut header, "name", &plain[..]).unwrap();
    let sealed = builder.into_inner().unwrap().finish().unwrap();
    let mut archive = tar::Archive::new(DecryptReader::open(&sealed[..], &identities(&key), Threads::ONE).unwrap());
    let mut found = Vec::new();
    archive.entries().unwrap().next().unwrap().unwrap().read_to_end(&mut found).unwrap();
    assert!(found == plain);
}

#[test]
fn a_writer_whose_sink_fails_loses_no_byte() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(3 * BATCH_BYTES + 7);
    for fails in [1, 3, 5, 101, 151] {
        let mut writer =
            EncryptWriter::new(Slow::new(Vec::new(), 10_000, fails), &recipients(&key), &options(1)).unwrap();
        let (mut rest, mut failures) = (&plain[..], 0);
        while !rest.is_empty() {
            match writer.write(rest) {
                Ok(bytes) => rest = &rest[bytes..],
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                    failures += 1;
                }
            }
        }
        failures += usize::from(writer.flush().is_err());
        assert_eq!(failures, 1, "call {fails}");
        let sealed = writer.finish().unwrap().inner;
        assert!(decrypt_bytes(&sealed, &identities(&key), Threads::ONE).unwrap() == plain);
    }
    let writer = EncryptWriter::new(Slow::new(Vec::new(), 10, 1), &recipients(&key), &options(1)).unwrap();
    assert_eq!(writer.finish().map(|_| ()).unwrap_err().kind, ErrorKind::Io(io::ErrorKind::TimedOut));
}

#[test]
fn without_finish_there_is_no_container() {
    let key = KeyPair::generate().unwrap();
    for bytes in LENGTHS {
        let mut sealed = Vec::new();
        let mut writer = EncryptWriter::new(&mut sealed, &recipients(&key), &options(1)).unwrap();
        writer.write_all(&plaintext(bytes)).unwrap();
        writer.flush().unwrap();
        drop(writer);
        let error = decrypt_bytes(&sealed, &identities(&key), Threads::ONE).unwrap_err();
        assert_eq!(error.kind, if bytes == 0 { ErrorKind::NotAContainer } else { ErrorKind::Truncated });
    }
}

/// Reads to the end or to the error, and checks that the error repeats.
fn read(source: impl Read, key: &KeyPair) -> (Vec<u8>, Result<(), ErrorKind>) {
    let mut reader = match DecryptReader::open(source, &identities(key), Threads::ONE) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Err(error.kind)),
    };
    let mut found = Vec::new();
    let result = reader.read_to_end(&mut found).map(drop).map_err(Error::from);
    for _ in 0..3 {
        let again = reader.read(&mut [0; 9]).map(|bytes| assert_eq!(bytes, 0)).map_err(Error::from);
        assert_eq!(format!("{again:?}"), format!("{result:?}"));
    }
    (found, result.map_err(|error| error.kind))
}

#[test]
fn damage_and_every_wrong_end_are_errors_of_every_interface() {
    let key = KeyPair::generate().unwrap();
    let last = BATCH_CHUNKS + 2;
    let plain = plaintext(last * CHUNK_BYTES + 9);
    let sealed = pushed(&plain, usize::MAX, &key, 1);
    let first = sealed.len() - last * SEALED_CHUNK_BYTES - 9 - TAG_BYTES;
    let place = |chunk: usize| first + chunk * SEALED_CHUNK_BYTES;
    let damaged = |chunk: usize| ErrorKind::ChunkDamaged { chunk: chunk as u64 };
    let flips = [
        (0, ErrorKind::NotAContainer),
        (30, ErrorKind::HeaderDamaged),
        (first - PREFIX_BYTES - 1, ErrorKind::HeaderPadding),
        (first - PREFIX_BYTES, ErrorKind::Commitment),
        (first - 1, ErrorKind::Commitment),
        (first, damaged(0)),
        (place(1) - 1, damaged(0)),
        (place(BATCH_CHUNKS - 1), damaged(BATCH_CHUNKS - 1)),
        (place(BATCH_CHUNKS), damaged(BATCH_CHUNKS)),
        (place(last), damaged(last)),
        (sealed.len() - 1, damaged(last)),
    ];
    let ends = [
        (0, ErrorKind::NotAContainer),
        (4095, ErrorKind::Truncated),
        (first - 1, ErrorKind::Truncated),
        (first, ErrorKind::Truncated),
        (first + TAG_BYTES - 1, ErrorKind::Truncated),
        (first + TAG_BYTES, damaged(0)),
        (place(1), ErrorKind::Truncated),
        (place(BATCH_CHUNKS), ErrorKind::Truncated),
        (place(last), ErrorKind::Truncated),
        (sealed.len() - 1, damaged(last)),
        (sealed.len() + 1, damaged(last)),
        // Full chunks alone have no end.
        (place(last + 1), ErrorKind::Truncated),
        (place(last + 1) + TAG_BYTES, damaged(last)),
    ];
    let flipped = flips.into_iter().map(|(at, kind)| {
        let mut sealed = sealed.clone();
        sealed[at] ^= 1;
        (format!("flip at {at}"), sealed, kind)
    });
    let ended = ends.into_iter().map(|(end, kind)| {
        let mut sealed = sealed.clone();
        sealed.resize(end, 0);
        (format!("end at {end}"), sealed, kind)
    });
    for (case, sealed, kind) in flipped.chain(ended) {
        for most in [5000, usize::MAX] {
            let (found, result) = read(Slow::new(&sealed[..], most, 0), &key);
            assert_eq!(result, Err(kind.clone()), "{case}");
            assert!(plain.starts_with(&found), "{case}");
            if let ErrorKind::ChunkDamaged { chunk } = kind {
                assert_eq!(found.len(), chunk as usize * CHUNK_BYTES, "{case}");
            }
        }
        let (found, result) = pulled(&sealed, 5000, &key, 1);
        assert!(plain.starts_with(&found), "{case}");
        let (key, buffer) = (identities(&key), &mut vec![0; plain.len()]);
        let read = Reader::open(Cursor::new(&sealed), &key, Threads::ONE)
            .and_then(|mut reader| Ok(reader.read_exact(buffer)?));
        let ranges = RangeReader::open(Arc::new(&sealed[..]), &key).and_then(|reader| reader.read_at(buffer, 0));
        for result in [result, decrypt_bytes(&sealed, &key, Threads::ONE).map(drop), read, ranges.map(drop)] {
            assert_eq!(discriminant(&result.unwrap_err().kind), discriminant(&kind), "{case}");
        }
    }
    for fails in [1, 3, 101] {
        let (found, result) = read(Slow::new(&sealed[..], 10_000, fails), &key);
        assert_eq!(result, Err(ErrorKind::Io(io::ErrorKind::TimedOut)), "call {fails}");
        assert!(plain.starts_with(&found));
    }
}

/// Returns few bytes, is interrupted at every second call, and counts the bytes.
struct SlowAt<T>(T, AtomicUsize, AtomicUsize);

impl<T: ReadAt> ReadAt for SlowAt<T> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.1.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = buffer.len().min(9999);
        let bytes = self.0.read_at(&mut buffer[..most], offset)?;
        self.2.fetch_add(bytes, Ordering::Relaxed);
        Ok(bytes)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        self.0.size_bytes()
    }
}

#[test]
fn ranges_are_those_of_the_plaintext_in_every_thread() {
    let key = KeyPair::generate().unwrap();
    for bytes in [0, 1, CHUNK_BYTES, BATCH_BYTES + 9, 3 * BATCH_BYTES + 333] {
        let (plain, mut file) = (plaintext(bytes), tempfile::tempfile().unwrap());
        file.write_all(&pushed(&plain, usize::MAX, &key, 1)).unwrap();
        let source = SlowAt(file, AtomicUsize::new(0), AtomicUsize::new(0));
        let reader = RangeReader::open(&source, &identities(&key)).unwrap();
        let read_anywhere = |mut place: u64| {
            for round in 0..60 {
                place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (place >> 33) as usize % (bytes + 10);
                let mut found = vec![0; [0, 1, 100, CHUNK_BYTES + 1, 2 * BATCH_BYTES][round % 5]];
                let expected = &plain[at.min(bytes)..bytes.min(at + found.len())];
                let filled = reader.read_at(&mut found, at as u64).unwrap();
                assert!(found[..filled] == *expected, "{bytes} bytes, at {at}");
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|number| drop(scope.spawn(move || read_anywhere(number)))));
        assert_eq!(reader.read_at(&mut [0; 5], u64::MAX).unwrap(), 0);

        let all = bytes as u64;
        let ranges = [all / 2..all, 0..all, all..all, 0..0, all / 3..all / 2, 0..1.min(all), all / 3..all, 0..all];
        source.2.store(0, Ordering::Relaxed);
        for (found, range) in reader.read_ranges(&ranges).unwrap().iter().zip(&ranges) {
            assert!(found[..] == plain[range.start as usize..range.end as usize], "{bytes} bytes, {range:?}");
        }
        assert!(source.2.load(Ordering::Relaxed) as u64 <= LAYOUT.sealed_bytes(all), "a chunk twice");
        let sealed = reader.sealed_ranges(&ranges).unwrap();
        // From the first chunk on, the plaintext and a tag for each chunk: not the last chunk where it is empty.
        let start = source.0.metadata().unwrap().len() - LAYOUT.sealed_bytes(all);
        let end = start + all + 16 * all.div_ceil(CHUNK_BYTES as u64);
        assert_eq!(sealed, if all > 0 { vec![Range { start, end }] } else { Vec::new() });
        for range in [all..all + 1, 0..u64::MAX, u64::MAX..u64::MAX, Range { start: 1, end: 0 }] {
            let error = reader.read_ranges(&[0..all, range.clone()]).unwrap_err();
            assert_eq!(error.kind, ErrorKind::RangeOutOfBounds);
            assert_eq!(reader.sealed_ranges(&[range]).unwrap_err().kind, ErrorKind::RangeOutOfBounds);
        }
        // Far apart, and numerous, so that batches have gaps.
        let places = (0..all).step_by(2 * CHUNK_BYTES + 1).map(|at| at..at + 1);
        let found = reader.read_ranges(&places.clone().collect::<Vec<_>>()).unwrap();
        assert!(places.clone().map(|range| vec![plain[range.start as usize]]).eq(found), "{bytes} bytes");
        assert_eq!(reader.sealed_ranges(&places.clone().collect::<Vec<_>>()).unwrap().len(), places.count());
    }
}
