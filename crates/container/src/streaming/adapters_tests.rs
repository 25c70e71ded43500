//! Held against containers that are encrypted and decrypted whole in memory.

use std::io::{self, BufRead, Read, Write};

use super::tests::{LENGTHS, identities, options, plaintext, pushed, recipients};
use super::*;
use crate::container::{PREFIX_BYTES, TAG_BYTES};
use crate::keys::KeyPair;
use crate::{Error, ErrorKind};

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
fn what_is_copied_in_comes_out() {
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
            assert!(decrypt_bytes(&sealed, &identities(&key), 1).unwrap() == plain, "{case}");

            let source = Slow::new(&sealed[..], most, 0);
            let mut reader = DecryptReader::open(source, &identities(&key), threads).unwrap();
            let mut found = Vec::new();
            reader.read_to_end(&mut found).unwrap();
            assert!(found == plain, "{case}");
            assert!(reader.fill_buf().unwrap().is_empty());
        }
    }
}

#[test]
fn a_tar_stream_fits_in_between() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(BATCH_BYTES + 3);
    let mut header = tar::Header::new_gnu();
    header.set_size(plain.len() as u64);
    let mut builder = tar::Builder::new(EncryptWriter::new(Vec::new(), &recipients(&key), &options(1)).unwrap());
    builder.append_data(&mut header, "name", &plain[..]).unwrap();
    let sealed = builder.into_inner().unwrap().finish().unwrap();
    let mut archive = tar::Archive::new(DecryptReader::open(&sealed[..], &identities(&key), 1).unwrap());
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
        assert!(decrypt_bytes(&sealed, &identities(&key), 1).unwrap() == plain);
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
        let error = decrypt_bytes(&sealed, &identities(&key), 1).unwrap_err();
        assert_eq!(error.kind, if bytes == 0 { ErrorKind::NotAContainer } else { ErrorKind::Truncated });
    }
}

/// Reads to the end or the error, which comes again and again.
fn read(source: impl Read, key: &KeyPair) -> (Vec<u8>, Result<(), ErrorKind>) {
    let mut reader = match DecryptReader::open(source, &identities(key), 1) {
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
fn a_reader_gives_what_is_verified_and_then_the_error() {
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
    }
    for fails in [1, 3, 101] {
        let (found, result) = read(Slow::new(&sealed[..], 10_000, fails), &key);
        assert_eq!(result, Err(ErrorKind::Io(io::ErrorKind::TimedOut)), "call {fails}");
        assert!(plain.starts_with(&found));
    }
}
