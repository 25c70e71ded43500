//! Compares the streaming interfaces with the commands, which have their own tests and an independent reader in Python.

use std::io::{Cursor, Read, Seek, SeekFrom};

use super::*;
use crate::commands::{self, DecryptOptions, EncryptOptions, Sink, Source};
use crate::format::{Aead, LAYOUT};
use crate::keys::{Identities, KeyPair, Recipients};
use crate::pipeline::batch;
use crate::threads::Threads;
use crate::{Control, Error, ErrorKind};

const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
pub(super) const SEALED_CHUNK_BYTES: usize = LAYOUT.sealed_chunk_bytes();
pub(super) const BATCH_CHUNKS: usize = batch::BATCH_CHUNKS as usize;
pub(super) const BATCH_BYTES: usize = BATCH_CHUNKS * CHUNK_BYTES;
const SEALED_BATCH_BYTES: usize = BATCH_CHUNKS * SEALED_CHUNK_BYTES;

/// Lengths around chunks, batches of one thread, and the shares of three threads.
pub(super) const LENGTHS: [usize; 12] = [
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

pub(super) fn plaintext(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|number| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

pub(super) fn recipients(key: &KeyPair) -> Recipients {
    key.into()
}

pub(super) fn identities(key: &KeyPair) -> Identities {
    key.into()
}

pub(super) fn options(threads: usize) -> EncryptOptions {
    let aead = if threads == 1 { Aead::Aes128Ccm } else { Aead::Aes256Ccm };
    EncryptOptions::default().threads(threads).aead(aead)
}

pub(super) fn pushed(plain: &[u8], piece: usize, key: &KeyPair, threads: usize) -> Vec<u8> {
    let mut encryptor = Encryptor::new(&recipients(key), &options(threads)).unwrap();
    let mut sealed = Vec::new();
    for piece in plain.chunks(piece) {
        encryptor.push(piece, &mut sealed).unwrap();
    }
    encryptor.finish(&mut sealed).unwrap();
    sealed
}

fn decryptor(key: &KeyPair, threads: usize) -> Decryptor {
    Decryptor::new(&identities(key), threads.into())
}

/// The output, and the result at the end.
pub(super) fn pulled(sealed: &[u8], piece: usize, key: &KeyPair, threads: usize) -> (Vec<u8>, Result<(), Error>) {
    let mut decryptor = decryptor(key, threads);
    let mut plain = Vec::new();
    let result = sealed.chunks(piece).try_for_each(|piece| decryptor.push(piece, &mut plain));
    let result = result.and_then(|()| decryptor.finish(&mut plain));
    (plain, result)
}

/// Decrypts with the command, by way of files.
fn by_command(sealed: &[u8], key: &KeyPair) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("sealed"), folder.path().join("plain"));
    std::fs::write(&source, sealed).unwrap();
    let sink = Sink::Path { path: target.clone(), force: false };
    let options = DecryptOptions::default();
    commands::decrypt(&Source::Path(source), &sink, &identities(key), &options, &Control::new()).unwrap();
    std::fs::read(target).unwrap()
}

#[test]
fn the_command_opens_containers_pushed_in_any_pieces() {
    let key = KeyPair::generate().unwrap();
    for bytes in LENGTHS {
        let plain = plaintext(bytes);
        for (piece, threads) in
            [(usize::MAX, 1), (usize::MAX, 3), (1000, 1), (CHUNK_BYTES, 3), (900_001, 3), (900_001, 1)]
        {
            let sealed = pushed(&plain, piece, &key, threads);
            assert!(by_command(&sealed, &key) == plain, "{bytes} bytes, {piece} at a time, {threads} threads");
        }
        let sealed = encrypt_bytes(&plain, &recipients(&key), &options(3)).unwrap();
        assert!(by_command(&sealed, &key) == plain, "{bytes} bytes in one call");
    }
}

#[test]
fn containers_of_the_command_decrypt_in_any_pieces() {
    let key = KeyPair::generate().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for bytes in LENGTHS {
        let plain = plaintext(bytes);
        let (source, target) = (folder.path().join("plain"), folder.path().join(format!("{bytes}")));
        std::fs::write(&source, &plain).unwrap();
        let sink = Sink::Path { path: target.clone(), force: false };
        commands::encrypt(&Source::Path(source), &sink, &recipients(&key), &EncryptOptions::default(), &Control::new())
            .unwrap();
        let sealed = std::fs::read(target).unwrap();
        for (piece, threads) in [(usize::MAX, 1), (usize::MAX, 3), (1, 1), (4097, 3), (900_001, 3), (900_001, 1)] {
            if piece == 1 && bytes > BATCH_BYTES {
                continue;
            }
            let (found, result) = pulled(&sealed, piece, &key, threads);
            result.unwrap();
            assert!(found == plain, "{bytes} bytes, {piece} at a time, {threads} threads");
        }
        assert!(decrypt_bytes(&sealed, &identities(&key), Threads::from(3)).unwrap() == plain);
        let mut found = Vec::new();
        let mut reader = Reader::open(Cursor::new(&sealed), &identities(&key), Threads::from(3)).unwrap();
        assert_eq!(reader.plain_bytes(), bytes as u64);
        assert_eq!(reader.content().name(), Some("plain"));
        reader.read_to_end(&mut found).unwrap();
        assert!(found == plain, "{bytes} bytes read");
    }
}

#[test]
fn a_reader_reads_anywhere() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(5 * BATCH_BYTES + 333);
    let sealed = pushed(&plain, usize::MAX, &key, 1);
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

#[test]
fn chunks_before_damage_come_out_and_none_after() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(7 * BATCH_BYTES);
    let sealed = pushed(&plain, usize::MAX, &key, 1);
    let first = sealed.len() - LAYOUT.sealed_bytes(plain.len() as u64) as usize;
    for chunk in [0, 1, 31, 32, 64, 200, 7 * BATCH_CHUNKS] {
        let mut damaged = sealed.clone();
        damaged[first + chunk * SEALED_CHUNK_BYTES + 3] ^= 4;
        for (piece, threads) in [(usize::MAX, 1), (usize::MAX, 3), (100_000, 1), (100_000, 3)] {
            let (found, result) = pulled(&damaged, piece, &key, threads);
            assert_eq!(result.unwrap_err().kind, ErrorKind::ChunkDamaged { chunk: chunk as u64 });
            assert!(found == plain[..chunk * CHUNK_BYTES], "chunk {chunk}");
        }
        let error = decrypt_bytes(&damaged, &identities(&key), Threads::from(3)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::ChunkDamaged { chunk: chunk as u64 });
        let mut buffer = vec![0xaa; plain.len()];
        let opening_keys = identities(&key);
        WholeDecryptor::new(&damaged, &opening_keys).unwrap().decrypt(&mut buffer, Threads::All).unwrap_err();
        assert!(buffer[..chunk * CHUNK_BYTES] == plain[..chunk * CHUNK_BYTES]);
        assert!(buffer[chunk * CHUNK_BYTES..].iter().all(|&byte| byte == 0), "chunk {chunk}");
        match Reader::open(Cursor::new(&damaged), &identities(&key), Threads::ONE) {
            Err(error) => assert_eq!((error.kind, chunk), (ErrorKind::ChunkDamaged { chunk: chunk as u64 }, 224)),
            Ok(mut reader) => {
                reader.seek(SeekFrom::Start((chunk * CHUNK_BYTES) as u64)).unwrap();
                let error = reader.read(&mut [0; 10]).unwrap_err();
                assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
                // A repeated read fails, and so does a read of other unverified chunks.
                reader.read(&mut [0; 10]).unwrap_err();
            }
        }
    }
}

#[test]
fn after_an_error_there_are_only_errors() {
    let key = KeyPair::generate().unwrap();
    let mut decryptor = decryptor(&key, 1);
    let mut plain = Vec::new();
    assert_eq!(decryptor.push(&[0; 4096], &mut plain).unwrap_err().kind, ErrorKind::NotAContainer);
    assert_eq!(decryptor.push(&[0; 4096], &mut plain).unwrap_err().kind, ErrorKind::Usage);
    assert_eq!(decryptor.finish(&mut plain).unwrap_err().kind, ErrorKind::Usage);
    let encryptor = WholeEncryptor::new(5, &recipients(&key), &options(1)).unwrap();
    assert_eq!(encryptor.encrypt(b"four", &mut []).unwrap_err().kind, ErrorKind::Usage);
}

#[test]
fn excessive_thread_counts_are_limited() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(BATCH_BYTES + 5);
    let sealed = pushed(&plain, 10_000, &key, usize::MAX);
    assert!(by_command(&sealed, &key) == plain);
    assert!(pulled(&sealed, 10_000, &key, usize::MAX).0 == plain);
    assert!(decrypt_bytes(&sealed, &identities(&key), Threads::from(usize::MAX)).unwrap() == plain);
    let mut found = Vec::new();
    Reader::open(Cursor::new(&sealed), &identities(&key), Threads::from(usize::MAX))
        .unwrap()
        .read_to_end(&mut found)
        .unwrap();
    assert!(found == plain);
}

#[test]
fn a_new_head_is_for_the_new_recipients() {
    let (old, new) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let plain = plaintext(CHUNK_BYTES + 1);
    let sealed = pushed(&plain, usize::MAX, &old, 1);
    let NewHead { old_bytes, head } = rewrap_head(&mut &sealed[..], &identities(&old), &recipients(&new)).unwrap();
    let rewrapped = [&head[..], &sealed[old_bytes as usize..]].concat();
    assert!(by_command(&rewrapped, &new) == plain);
    assert_eq!(decrypt_bytes(&rewrapped, &identities(&old), Threads::ONE).unwrap_err().kind, ErrorKind::NoMatchingKey);
    let error = rewrap_head(&mut &sealed[..old_bytes as usize + 3], &identities(&old), &recipients(&new)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Truncated);
}

#[test]
fn a_reader_uses_the_documented_memory() {
    let key = KeyPair::generate().unwrap();
    let plain = plaintext(9 * BATCH_BYTES);
    let sealed = pushed(&plain, usize::MAX, &key, 1);
    for (threads, batches) in [(1, 1), (2, 4), (3, 6)] {
        let mut reader = Reader::open(Cursor::new(&sealed), &identities(&key), threads.into()).unwrap();
        let mut found = Vec::new();
        // In pieces, so that it is not asked for everything in one call.
        let mut piece = vec![0; 100_000];
        loop {
            match reader.read(&mut piece).unwrap() {
                0 => break,
                bytes => found.extend_from_slice(&piece[..bytes]),
            }
        }
        assert!(found == plain);
        assert!(reader.buffer_bytes() <= batches * SEALED_BATCH_BYTES, "{threads}: {}", reader.buffer_bytes());
    }
}
