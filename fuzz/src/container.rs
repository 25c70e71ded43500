//! Damaged containers in every reader in memory: all readers either fail or return the bytes that were encrypted. The bytes
//! that they return before a failure are the beginning of those.

use std::io::{Cursor, ErrorKind, Read, Seek, SeekFrom};

use tress_container::Threads;
use tress_container::keys::key_file;
use tress_container::streaming::{Decryptor, Reader, decrypt_bytes, rewrap_head};

use crate::edits::edited;
use crate::input::Input;
use crate::vectors::{containers, identities};

/// Panics if a reader returns a wrong byte, or if two readers disagree.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (base, sealed) = edited(&mut input);
    let opened = decrypt_bytes(&sealed, &identities(), (1 + input.below(2)).into()).ok();
    if sealed == base.sealed {
        assert!(opened.as_ref() == Some(&base.plain), "{} does not open", base.name);
    }
    if let Some(plain) = &opened {
        assert!(containers().iter().any(|container| container.plain == *plain), "wrong bytes");
    }
    check_push(&sealed, opened.as_deref(), &mut input);
    check_seek(&sealed, opened.as_deref(), &mut input);
    check_rewrap(&sealed, opened.as_deref());
}

/// Pushes the container in pieces of any length.
fn check_push(sealed: &[u8], opened: Option<&[u8]>, input: &mut Input<'_>) {
    let mut decryptor = Decryptor::new(&identities(), Threads::ONE);
    let mut plain = Vec::new();
    let mut rest = sealed;
    let mut result = Ok(());
    while result.is_ok() && !rest.is_empty() {
        // At the end of the input, the rest is one piece.
        let length = if input.is_empty() { rest.len() } else { 1 + input.below(0x10000) };
        let piece = rest.split_off(..length.min(rest.len())).unwrap_or_default();
        result = decryptor.push(piece, &mut plain);
    }
    let result = result.and_then(|()| decryptor.finish(&mut plain));
    assert_eq!(result.is_ok(), opened.is_some(), "{result:?}");
    match opened {
        Some(opened) => assert!(plain == opened, "wrong bytes"),
        None => assert!(containers().iter().any(|container| container.plain.starts_with(&plain)), "wrong bytes"),
    }
}

/// Reads at some offsets, and then the whole plaintext.
fn check_seek(sealed: &[u8], opened: Option<&[u8]>, input: &mut Input<'_>) {
    let mut reader = match Reader::open(Cursor::new(sealed), &identities(), Threads::ONE) {
        Ok(reader) => reader,
        Err(error) => return assert!(opened.is_none(), "{error}"),
    };
    let length = reader.plain_bytes();
    let right = |at: u64, read: &[u8]| {
        let at = at as usize;
        let end = at + read.len();
        containers()
            .iter()
            .any(|container| container.plain.len() as u64 == length && container.plain.get(at..end) == Some(read))
    };
    let mut buffer = vec![0; 0x10000];
    for _ in 0..input.below(9) {
        let (from, buffer) = (input.byte(), &mut buffer[..input.below(0x8000)]);
        let place = match from % 3 {
            0 => SeekFrom::Start(input.below(0x10000) as u64),
            1 => SeekFrom::End(-(input.below(0x10000) as i64)),
            _ => SeekFrom::Current(input.short() as i64 - 0x8000),
        };
        let Ok(at) = reader.seek(place) else { continue };
        match reader.read(buffer) {
            Ok(bytes) => {
                assert!(bytes == 0 || right(at, &buffer[..bytes]), "wrong bytes at {at}");
                assert!(bytes > 0 || buffer.is_empty() || at >= length, "no bytes at {at} of {length}");
            }
            Err(error) => {
                assert!(opened.is_none() && error.kind() == ErrorKind::InvalidData, "{error}");
            }
        }
    }
    reader.rewind().expect("a beginning");
    let mut plain = Vec::new();
    let result = reader.read_to_end(&mut plain);
    assert_eq!(result.is_ok(), opened.is_some(), "{result:?}");
    assert!(plain.is_empty() || right(0, &plain), "wrong bytes");
}

/// Replaces the header, which must open the same payload.
fn check_rewrap(sealed: &[u8], opened: Option<&[u8]>) {
    let key = key_file(&[9; 32]).expect("a key of its length");
    match rewrap_head(&mut &sealed[..], &identities(), &key.clone().into()) {
        Ok(head) => {
            let mut container = head.head;
            assert_eq!(container.len() % 4096, 0);
            container.extend_from_slice(&sealed[head.old_bytes as usize..]);
            let again = decrypt_bytes(&container, &key.into(), Threads::ONE).ok();
            assert!(again.as_deref() == opened, "another payload");
        }
        Err(error) => assert!(opened.is_none(), "{error}"),
    }
}
