//! Headers from an attacker: arbitrary bytes, any text in age files, and any content from somebody who has the key. The
//! length that is read is bounded, and a content is accepted only in the form in which it would be written. And age files with up to four
//! edits, binary or armored, which open as the crate `age` opens them.

use std::io::{Read, Write};
use std::sync::OnceLock;

use tress_container::age::{self, Encryptor, armor::ArmoredReader, x25519};
use tress_container::container::{ALIGNMENT_BYTES, Aead, Header, MAX_AGE_FILE_BYTES, MAX_RECIPIENTS, is_valid_name};
use tress_container::keys::{Identities, RawKey, Recipients, key_file};
use tress_container::streaming::{Decryptor, decrypt_bytes};
use tress_container::{ErrorKind, Threads};

use crate::edits::edit;
use crate::input::Input;
use crate::vectors::identities;

/// Panics if a header is accepted that no writer writes.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    match input.byte() % 4 {
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
        2 => check_content(&mut input),
        _ => check_age_file(&mut input),
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

/// A file of age's test kit, and its identities for X25519, one a line.
struct AgeFile {
    identities: String,
    file: Vec<u8>,
}

/// The files of the kit that need no passphrase and no other crate.
fn age_files() -> &'static [AgeFile] {
    static FILES: OnceLock<Vec<AgeFile>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut archive = tar::Archive::new(&include_bytes!("../../vectors/age/cctv.tar")[..]);
        let read = |mut entry: tar::Entry<'_, _>| {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("in memory");
            let end = bytes.windows(2).position(|two| two == b"\n\n")?;
            let fields = std::str::from_utf8(&bytes[..end]).expect("text");
            let identities =
                fields.lines().filter_map(|line| line.strip_prefix("identity: ")).collect::<Vec<_>>().join("\n");
            let others = ["passphrase: ", "compressed: ", "identity: AGE-SECRET-KEY-PQ"];
            let is_ours =
                !identities.is_empty() && !fields.lines().any(|line| others.iter().any(|o| line.starts_with(o)));
            is_ours.then(|| AgeFile { identities, file: bytes.split_off(end + 2) })
        };
        archive.entries().expect("a tar archive").filter_map(|entry| read(entry.expect("an entry"))).collect()
    })
}

/// Opens an age file whole, in pieces and by the crate.
fn check_age_file(input: &mut Input<'_>) {
    let base = input.pick(age_files());
    let mut file = base.file.clone();
    for _ in 0..input.below(5) {
        edit(&mut file, input);
    }
    let identities = Identities::from_file(base.identities.as_bytes()).expect("identities");
    let whole = decrypt_bytes(&file, &identities, Threads::ONE);
    let mut decryptor = Decryptor::new(&identities, Threads::ONE);
    let mut plain = Vec::new();
    let length = 1 + input.below(0x1000);
    let pushed = file.chunks(length).try_for_each(|piece| decryptor.push(piece, &mut plain));
    let pushed = pushed.and_then(|()| decryptor.finish(&mut plain));
    assert_eq!(whole.is_ok(), pushed.is_ok(), "{whole:?} {pushed:?}");
    let by_crate = || {
        // The crate takes no white space around armor, which the kit allows.
        let trimmed = file.trim_ascii();
        let file = if trimmed.starts_with(b"-----BEGIN") { trimmed } else { &file };
        let decryptor = age::Decryptor::new_buffered(ArmoredReader::new(file)).ok()?;
        let keys: Vec<x25519::Identity> = base.identities.lines().map(|line| line.parse().expect("X25519")).collect();
        let mut plain = Vec::new();
        decryptor.decrypt(keys.iter().map(|key| key as &dyn age::Identity)).ok()?.read_to_end(&mut plain).ok()?;
        Some(plain)
    };
    // The crate takes a stanza without its short last line, which the kit forbids, and (trimmed here) any white space behind armor, of
    // which age takes little.
    let stricter = ["lacks its last line", "a line is too long", "too much white space", "is not the END line"];
    if whole.as_ref().is_err_and(|error| stricter.iter().any(|text| error.to_string().contains(text))) {
        return;
    }
    assert!(whole.is_err() || whole.as_ref().ok() == Some(&plain), "{} bytes", plain.len());
    assert_eq!(whole.ok(), by_crate(), "the crate says otherwise");
}

fn key() -> RawKey {
    key_file(&[3; 16]).expect("a key of its length")
}
