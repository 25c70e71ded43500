//! Recipients, identities, addresses and raw keys as text: each is read or refused. If it is read, it can be used, and
//! writing and reading it gives the same value.

use tress_container::ErrorKind;
use tress_container::container::{Aead, Content, ContentType, Header};
use tress_container::keys::{Address, Identities, KeyPair, Recipients, key_file};

use crate::vectors::containers;

/// Panics if two readings differ, or if an error shows a secret.
pub fn run(bytes: &[u8]) {
    if let Ok(recipients) = Recipients::from_file(bytes) {
        check_seal(&recipients);
    }
    match Identities::from_file(bytes) {
        Ok(identities) => {
            assert!(!identities.is_empty());
            let header = Header::read(&mut &containers()[0].sealed[..]).expect("a header");
            // The key of the vectors may be among them.
            let opened = header.open(&identities);
            assert!(opened.is_ok() || opened.is_err_and(|error| error.kind == ErrorKind::NoMatchingKey));
        }
        Err(error) => check_shows_no_secret(bytes, &error),
    }
    let is_hexadecimal = bytes.iter().all(u8::is_ascii_hexdigit);
    assert_eq!(key_file(bytes).is_ok(), matches!(bytes.len(), 16 | 32) && !is_hexadecimal);
    if let Ok(text) = std::str::from_utf8(bytes) {
        check_text(text);
    }
}

/// A container that is sealed to these recipients has the same number of them.
fn check_seal(recipients: &Recipients) {
    let content = Content::generate(Aead::default(), ContentType::File, None).expect("randomness");
    match Header::seal(&content, recipients) {
        Ok(header) => {
            let header = Header::read(&mut &header[..]).expect("our own header");
            assert_eq!(header.recipient_types().len(), recipients.len());
        }
        Err(error) => assert!(
            matches!(error.kind, ErrorKind::HeaderTooLarge | ErrorKind::MixedRecipients | ErrorKind::BadRecipient),
            "{error}"
        ),
    }
}

fn check_text(text: &str) {
    match KeyPair::parse(text) {
        Ok(pair) => {
            let file = pair.to_identity_file_text();
            let again = KeyPair::parse(&file).expect("what was written is read");
            assert_eq!((again.recipient(), again.address()), (pair.recipient(), pair.address()));
            assert_eq!(again.noise_secret_key(), pair.noise_secret_key());
            assert!(pair.recipient().to_string().parse::<Recipients>().is_ok());
        }
        Err(error) => check_shows_no_secret(text.as_bytes(), &error),
    }
    if let Ok(address) = text.parse::<Address>() {
        assert_eq!(address.to_string(), text.to_ascii_lowercase());
        assert!(address.to_string().parse::<Recipients>().is_ok());
    }
}

/// Checks that an error contains no secret of the input.
fn check_shows_no_secret(bytes: &[u8], error: &tress_container::Error) {
    const LENGTH: usize = 24;
    let shown = format!("{error} {error:?}").into_bytes();
    for line in bytes.split(|byte| *byte == b'\n') {
        let secret = line.windows(16).position(|piece| piece.eq_ignore_ascii_case(b"AGE-SECRET-KEY-1"));
        if let Some(secret) = secret.and_then(|start| line.get(start + 16..start + 16 + LENGTH)) {
            let is_plain = secret.iter().all(u8::is_ascii_alphanumeric);
            assert!(!is_plain || !shown.windows(LENGTH).any(|piece| piece == secret), "an error shows a secret");
        }
    }
}
