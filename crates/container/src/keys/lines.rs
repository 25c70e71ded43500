//! The lines of key files: identities, recipients, allow files. Spaces around a line, blank lines and CRLF are ignored in all of them.

use std::io::Read;

use tress_terminal::secret;
use zeroize::Zeroizing;

use super::MAX_KEY_LIST_BYTES;
use crate::formats::Format;
use crate::{Error, ErrorKind};

/// Prefix of age's post-quantum identities.
pub(super) const POST_QUANTUM: &str = "AGE-SECRET-KEY-PQ-1";

/// Reads a key file. Wiped on drop.
///
/// # Errors
/// `kind` for a file larger than 1 MiB; `Io`.
pub fn read_key_file(reader: impl Read, kind: ErrorKind) -> Result<Zeroizing<Vec<u8>>, Error> {
    let bytes = secret::read(reader, MAX_KEY_LIST_BYTES + 1)?;
    if bytes.len() > MAX_KEY_LIST_BYTES {
        return Err(Error::new(kind).with_detail("file is larger than 1 MiB"));
    }
    Ok(bytes)
}

/// The lines of a key file that are not blank, each with its number. Comments, which begin with `#`, are among them.
///
/// # Errors
/// `kind` for a file that is encrypted, is not UTF-8 or begins with a byte order mark.
pub fn key_lines<'a>(bytes: &'a [u8], kind: &ErrorKind) -> Result<Vec<(usize, &'a str)>, Error> {
    let bad = |detail: String| Error::new(kind.clone()).with_detail(detail);
    if Format::recognise(bytes) == Some(Format::Age) || bytes.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----") {
        return Err(bad("file is encrypted: decrypt it first".into()));
    }
    let mut lines = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let numbered = |what: &str| bad(format!("line {}: {what}", index + 1));
        if let Some(fault) = encoding_fault(line) {
            return Err(numbered(fault));
        }
        let line = std::str::from_utf8(line).map_err(|_| numbered("not UTF-8"))?.trim();
        if !line.is_empty() {
            lines.push((index + 1, line));
        }
    }
    Ok(lines)
}

/// The error for a text that begins as some editors and shells of Windows write it.
pub fn encoding_fault(text: &[u8]) -> Option<&'static str> {
    match text {
        [0xef, 0xbb, 0xbf, ..] => Some("begins with a byte order mark (BOM): save it as UTF-8 without BOM"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("is UTF-16: save it as UTF-8 without BOM"),
        _ => None,
    }
}
