//! Containers piece by piece, as streams, at any offset and whole in memory.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::pipeline_support::plain as plaintext;
use crate::ways::{Slow, opens, sealed};
use tress_container::ErrorKind;
use tress_container::Threads;
use tress_container::commands::EncryptOptions;
use tress_container::format::{Aead, LAYOUT};
use tress_container::keys::{Identities, KeyPair, Recipients};
use tress_container::streaming::*;

const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
const BATCH_BYTES: usize = LAYOUT.batch_chunks() as usize * CHUNK_BYTES;

/// Lengths around chunks, batches of one thread, and the shares of three threads.
const LENGTHS: [usize; 12] = [
    0,
    1,
    CHUNK_BYTES - 1,
    CHUNK_BYTES,
    CHUNK_BYTES + 1,
    3 * CHUNK_BYTES + 5,
    BATCH_BYTES - 1,
    BATCH_BYTES,
    BATCH_BYTES + 1,
    2 * BATCH_BYTES,
    6 * BATCH_BYTES,
    7 * BATCH_BYTES + CHUNK_BYTES + 77,
];

fn recipients(key: &KeyPair) -> Recipients {
    key.into()
}

fn identities(key: &KeyPair) -> Identities {
    key.into()
}

fn options(threads: usize) -> EncryptOptions {
    let aead = if threads == 1 { Aead::Aes128Ccm } else { Aead::Aes256Ccm };
    EncryptOptions::default().threads(threads).aead(aead)
}

fn whole(plain: &[u8], key: &KeyPair) -> Vec<u8> {
    encrypt_bytes(plain, &recipients(key), &options(1)).unwrap()
}

#[test]
fn containers_sealed_in_any_way_open_in_any_way() {
    let key = KeyPair::generate().unwrap();
    for bytes in LENGTHS {
        let plain = plaintext(bytes);
        for threads in [1, 3, usize::MAX] {
            for file in sealed(&plain, &recipients(&key), &options(threads)) {
                opens(&file, &identities(&key), &plain);
            }
        }
    }
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

#[test]
fn a_reader_reads_anywhere() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(5 * BATCH_BYTES + 333);
    let sealed = whole(&plain, &key);
    let mut reader = Reader::open(Cursor::new(&sealed), &identities(&key), Threads::ONE).unwrap();
    let mut place = 1_u64;
    for round in 0..400 {
        place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let start = (place >> 33) as usize % (plain.len() + 10);
        let mut found = vec![0; [1, 100, CHUNK_BYTES + 1][round % 3]];
        assert_eq!(reader.seek(SeekFrom::Start(start as u64)).unwrap(), start as u64);
        let mut filled = 0;
        // Further sequential reads.
        while filled < found.len() {
            match reader.read(&mut found[filled..]).unwrap() {
                0 => break,
                bytes => filled += bytes,
            }
        }
        let start = start.min(plain.len());
        let expected = &plain[start..plain.len().min(start + found.len())];
        assert!(&found[..filled] == expected, "at {start}");
    }
    assert_eq!(reader.seek(SeekFrom::End(-3)).unwrap(), plain.len() as u64 - 3);
    assert_eq!(reader.seek(SeekFrom::Current(1)).unwrap(), plain.len() as u64 - 2);
    assert!(reader.seek(SeekFrom::Current(i64::MIN)).is_err());
    assert_eq!(reader.read(&mut [0; 5]).unwrap(), 2);
    reader.seek(SeekFrom::Start(u64::MAX)).unwrap();
    assert_eq!(reader.read(&mut [0; 5]).unwrap(), 0);
}

/// Fails in one read of its user.
struct FailsOnce<'a>(Cursor<&'a [u8]>, usize);

impl Read for FailsOnce<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1.wrapping_sub(1);
        if self.1 == 0 { Err(io::Error::other("given up")) } else { self.0.read(buffer) }
    }
}

impl Seek for FailsOnce<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn every_error_of_a_source_reaches_its_user() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(2 * BATCH_BYTES);
    let sealed = whole(&plain, &key);
    for number in 1.. {
        let source = FailsOnce(Cursor::new(&sealed), number);
        let mut reader = match Reader::open(source, &identities(&key), Threads::ONE) {
            Ok(reader) => reader,
            Err(error) => {
                assert!(error.to_string().contains("given up"), "{error}");
                continue;
            }
        };
        let (mut found, mut errors) = (vec![0; plain.len()], 0);
        let mut filled = 0;
        while filled < found.len() {
            match reader.read(&mut found[filled..plain.len().min(filled + 50_000)]) {
                Ok(bytes) => filled += bytes,
                Err(_) => errors += 1,
            }
        }
        assert!(found == plain && errors <= 1);
        if errors == 0 {
            assert!(number > 5, "{number}");
            break;
        }
    }
}

#[test]
fn after_an_error_there_are_only_errors() {
    let key = KeyPair::generate().unwrap();
    let mut decryptor = Decryptor::new(&identities(&key), Threads::ONE);
    let mut plain = Vec::new();
    assert_eq!(decryptor.push(&[0; 4096], &mut plain).unwrap_err().kind, ErrorKind::NotAContainer);
    assert_eq!(decryptor.push(&[0; 4096], &mut plain).unwrap_err().kind, ErrorKind::Usage);
    assert_eq!(decryptor.finish(&mut plain).unwrap_err().kind, ErrorKind::Usage);
    let encryptor = WholeEncryptor::new(5, &recipients(&key), &options(1)).unwrap();
    assert_eq!(encryptor.encrypt(b"four", &mut []).unwrap_err().kind, ErrorKind::Usage);
}

#[test]
fn a_new_head_is_for_the_new_recipients() {
    let (old, new) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let plain = plaintext(CHUNK_BYTES + 1);
    let sealed = whole(&plain, &old);
    let NewHead { old_bytes, head, .. } = rewrap_head(&mut &sealed[..], &identities(&old), &recipients(&new)).unwrap();
    let rewrapped = [&head[..], &sealed[old_bytes as usize..]].concat();
    opens(&rewrapped, &identities(&new), &plain);
    assert_eq!(decrypt_bytes(&rewrapped, &identities(&old), Threads::ONE).unwrap_err().kind, ErrorKind::NoMatchingKey);
    let error = rewrap_head(&mut &sealed[..old_bytes as usize + 3], &identities(&old), &recipients(&new)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Truncated);
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
        file.write_all(&whole(&plain, &key)).unwrap();
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
