//! Headers from an attacker: arbitrary bytes, any text in age files, and any content from somebody who has the key. The
//! length that is read is bounded, and a content is accepted only in the form in which it would be written.

use std::io::Write;

use tress_container::ErrorKind;
use tress_container::age::Encryptor;
use tress_container::container::{ALIGNMENT_BYTES, Aead, Header, MAX_AGE_FILE_BYTES, MAX_RECIPIENTS, is_valid_name};
use tress_container::keys::{RawKey, Recipients, key_file};

use crate::input::Input;
use crate::vectors::identities;

/// Panics if a header is accepted that no writer writes.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    match input.byte() % 3 {
        // Add the padding before the payload, so that the fuzzer need not find it.
        0 => {
            let mut bytes = input.rest().to_vec();
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT_BYTES), 0);
            check_header(&bytes);
        }
        1 => {
            let aead = *input.pick(Aead::ALL);
            check_header(&header_with(aead, input.rest()));
        }
        _ => check_content(&mut input),
    }
}

/// A header with this age file.
fn header_with(aead: Aead, age_file: &[u8]) -> Vec<u8> {
    let mut header = aead.first_line().as_bytes().to_vec();
    header.extend((age_file.len() as u32).to_be_bytes());
    header.extend_from_slice(age_file);
    header.resize(header.len().next_multiple_of(ALIGNMENT_BYTES), 0);
    header
}

fn check_header(bytes: &[u8]) -> Option<Header> {
    let mut rest = bytes;
    let header = Header::read(&mut rest).ok()?;
    let length = bytes.len() - rest.len();
    assert_eq!(header.header_bytes(), length as u64, "reads its header and no more");
    assert!(length <= (MAX_AGE_FILE_BYTES + 25).next_multiple_of(ALIGNMENT_BYTES));
    assert_eq!(Header::length(&bytes[..ALIGNMENT_BYTES]).ok(), Some(length));
    assert!(header.recipient_types().len() <= MAX_RECIPIENTS);
    if let Ok(content) = header.open(&identities()) {
        assert_eq!(content.aead(), header.aead());
        assert!(content.name().is_none_or(is_valid_name));
    }
    Some(header)
}

/// Encrypts the input as the content of an age file, under a known key.
fn check_content(input: &mut Input<'_>) {
    let first_line = *input.pick(Aead::ALL);
    let content = input.rest();
    let key = key();
    let encryptor = Encryptor::with_recipients(Recipients::from(key.clone()).for_age()).expect("a recipient");
    let mut age_file = Vec::new();
    let mut writer = encryptor.wrap_output(&mut age_file).expect("into memory");
    writer.write_all(content).expect("into memory");
    writer.finish().expect("into memory");
    if age_file.len() > MAX_AGE_FILE_BYTES {
        return;
    }
    let header = check_header(&header_with(first_line, &age_file)).expect("a whole header");
    match header.open(&key.clone().into()) {
        Ok(opened) => {
            // The form of docs/reference/formats/container.md, "Content".
            let name = opened.name().map_or(String::new(), |name| format!("name {name}\n"));
            let text = format!("aead {}\ntype {}\n{name}\n", opened.aead().name(), opened.content_type().name());
            let rest = content.strip_prefix(text.as_bytes()).expect("only one form is accepted");
            assert_eq!(rest.len(), opened.aead().key_bytes());
            let again = Header::seal(&opened, &key.clone().into()).expect("what was read can be written");
            let again = check_header(&again).expect("a header").open(&key.into()).expect("our own header");
            assert_eq!((again.name(), again.content_type()), (opened.name(), opened.content_type()));
        }
        Err(error) => {
            assert!(matches!(error.kind, ErrorKind::HeaderDamaged | ErrorKind::AeadMismatch), "{error}");
        }
    }
}

fn key() -> RawKey {
    key_file(&[3; 16]).expect("a key of its length")
}
