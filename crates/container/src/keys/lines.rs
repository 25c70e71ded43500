//! The lines of key files: identities, recipients, allow files. Spaces around a line, blank lines and CRLF are ignored in all of them.

use std::io::Read;
use std::time::SystemTime;

use tress_terminal::secret;
use zeroize::Zeroizing;

use super::MAX_KEY_LIST_BYTES;
use crate::formats::Format;
use crate::{Error, ErrorKind};

/// Prefix of age's post-quantum identities.
pub(super) const POST_QUANTUM: &str = "AGE-SECRET-KEY-PQ-1";

/// The detail of an error: a private key of SSH in PEM that age cannot open. `ssh-keygen -p -o` converts it.
pub const OLD_PEM: &str = "SSH key is not in OpenSSH's own format";

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

/// Whether this may be the type of an SSH key.
pub(super) fn is_ssh_type(kind: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.@".contains(&byte);
    kind.len() < 64 && kind.bytes().all(is_name)
}

/// The line with the time of creation; none if the clock is wrong and shows a year that the text cannot have.
pub(super) fn created_line(now: SystemTime) -> String {
    /// 9999-12-31T23:59:59Z.
    const LAST: u64 = 253_402_300_799;
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since.as_secs() <= LAST => format!("# created: {}\n", humantime::format_rfc3339_seconds(now)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The seconds are those that `date -u -d 9999-12-31T23:59:59Z +%s` prints.
    #[test]
    fn any_clock_makes_an_identity_file() {
        // Windows has no times far in the future.
        let after = |seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        assert_eq!(after(253_402_300_799).map(created_line).unwrap(), "# created: 9999-12-31T23:59:59Z\n");
        let before = SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(1));
        for wrong in [before, after(253_402_300_800), after(1 << 62)].into_iter().flatten() {
            assert_eq!(created_line(wrong), "");
        }
    }
}
