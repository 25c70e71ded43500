//! Finds and decodes the key in a PEM file (RFC 7468), as OpenSSL and others write and accept it.

use base64ct::{Base64, Encoding as _};
use zeroize::Zeroizing;

use super::read::{PRIVATE, PUBLIC, ReadKey};
use crate::{Error, UnsupportedKey};

/// The header of an encrypted key in the PEM format before PKCS #8 (RFC 1421, 4.6.1.1).
const ENCRYPTED: &[u8] = b"Proc-Type: 4,ENCRYPTED";

/// Returns content and reader of the only private key, or else of the only public key. Text around blocks, and other blocks, are ignored.
pub(super) fn decode_key(text: &[u8]) -> Result<(ReadKey, Zeroizing<Vec<u8>>), Error> {
    let (mut private, mut public, mut refused) = (Vec::new(), Vec::new(), None);
    let mut rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    while let Some(at) = find_line(rest, b"-----BEGIN ") {
        let (label, block) = split(&rest[at + 11..], b"-----").ok_or(Error::MalformedKey)?;
        let (body, end) = split(block, b"-----END ").ok_or(Error::MalformedKey)?;
        let end = end.strip_prefix(label).and_then(|end| end.strip_prefix(b"-----"));
        rest = end.ok_or(Error::MalformedKey)?;
        let among =
            |labels: &[(&str, ReadKey)]| labels.iter().find(|known| known.0.as_bytes() == label).map(|known| known.1);
        if let Some(read) = among(&PRIVATE) {
            private.push((read, body));
        } else if let Some(read) = among(&PUBLIC) {
            public.push((read, body));
        } else if label == b"OPENSSH PRIVATE KEY" {
            refused = Some(Error::Unsupported(UnsupportedKey::OpenSsh));
        } else if split(label, b"CERTIFICATE").is_some() {
            refused = Some(Error::Unsupported(UnsupportedKey::X509));
        } else {
            refused = refused.or(Some(Error::UnknownPem));
        }
    }
    match (&private[..], &public[..]) {
        ([(read, body)], _) | ([], [(read, body)]) => Ok((*read, decode(body)?)),
        ([], []) if text.starts_with(b"ssh-") => Err(Error::Unsupported(UnsupportedKey::OpenSsh)),
        ([], []) => Err(refused.unwrap_or(Error::MalformedKey)),
        _ => Err(Error::SeveralKeys),
    }
}

/// Decodes Base64 in lines of any length. Spaces around lines, and empty lines, are ignored.
fn decode(body: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let lines = || body.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    if lines().any(|line| line == ENCRYPTED) {
        return Err(Error::UnknownEncryption);
    }
    let mut digits = Zeroizing::new(Vec::with_capacity(body.len()));
    lines().for_each(|line| digits.extend_from_slice(line));
    let mut der = Zeroizing::new(vec![0; digits.len() / 4 * 3]);
    let length = Base64::decode(&*digits, &mut der).map_err(|_| Error::MalformedKey)?.len();
    der.truncate(length);
    Ok(der)
}

/// Where a line begins with `start`, after spaces.
fn find_line(text: &[u8], start: &[u8]) -> Option<usize> {
    let begins_line = |at: &usize| {
        let before = text[..*at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        before.is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
    };
    (0..text.len()).filter(|at| text[*at..].starts_with(start)).find(begins_line)
}

fn split<'a>(text: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(separator.len()).position(|window| window == separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}
