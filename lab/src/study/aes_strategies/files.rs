//! The files to encrypt: bytes under the paper's five names. Only the equality of the outputs matters, so the
//! contents are arbitrary.

use std::fs;
use std::time::Instant;

use super::super::numbers::NumberGenerator;
use super::BLOCK;
use crate::study::Error;

/// The paper's names for kinds of files.
pub(super) const KINDS: [&str; 5] = ["Text", "MP3", "MP4", "Docx", "Hwp"];

/// A file of each kind: text, and four of arbitrary bytes. All lengths differ, and so do the lengths of padding.
pub(super) fn all(bytes: usize) -> [(&'static str, Vec<u8>); 5] {
    let mut numbers = NumberGenerator::new();
    let mut arbitrary = |bytes: usize| {
        let mut file = numbers.bytes(bytes.div_ceil(4));
        file.truncate(bytes);
        file
    };
    std::array::from_fn(|place| {
        let bytes = bytes + 5 * place;
        (KINDS[place], if place == 0 { text(bytes) } else { arbitrary(bytes) })
    })
}

/// Text of exactly this many bytes.
pub(super) fn text(bytes: usize) -> Vec<u8> {
    const LINE: &[u8] =
        b"the state has four rows and every thread takes one of them until all wait for a block cipher\n";
    LINE.iter().copied().cycle().take(bytes).collect()
}

/// The file with PKCS #7 padding: 1 to 16 bytes, each with the number of padding bytes as its value.
pub(super) fn padded(bytes: &[u8]) -> Vec<u8> {
    let padding = BLOCK - bytes.len() % BLOCK;
    [bytes, &vec![padding as u8; padding]].concat()
}

/// The file without its padding. `None` if the padding is damaged.
pub(super) fn unpadded(bytes: &[u8]) -> Option<&[u8]> {
    let padding = usize::from(*bytes.last()?);
    let (bytes, rest) = bytes.split_at(bytes.len().checked_sub(padding)?);
    ((1..=BLOCK).contains(&padding) && rest.iter().all(|&byte| usize::from(byte) == padding)).then_some(bytes)
}

/// Seconds of reading these bytes from a file, and of writing them to another. The system has the first file in its
/// cache, and may delay the writes to the second.
pub(super) fn disk_s(bytes: &[u8], samples: usize) -> Result<[Vec<f64>; 2], Error> {
    let folder = crate::interrupted::folder(&std::env::temp_dir())
        .map_err(|error| Error::files(&std::env::temp_dir(), error))?;
    let [plain, encrypted] = ["plain", "encrypted"].map(|name| folder.path().join(name));
    fs::write(&plain, bytes).map_err(|error| Error::files(&plain, error))?;
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..samples {
        let start = Instant::now();
        let read = fs::read(&plain).map_err(|error| Error::files(&plain, error))?;
        seconds[0].push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        fs::write(&encrypted, read).map_err(|error| Error::files(&encrypted, error))?;
        seconds[1].push(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5652 section 6.3.
    #[test]
    fn padding() {
        assert_eq!(padded(b""), [16; 16]);
        assert_eq!(padded(b"0123456789abcde"), b"0123456789abcde\x01");
        for length in 0..40 {
            let bytes = vec![3; length];
            assert_eq!(unpadded(&padded(&bytes)), Some(&bytes[..]));
        }
        for bad in [&b""[..], &[0; 16], &[17; 17], &[1, 3, 2, 3]] {
            assert_eq!(unpadded(bad), None);
        }
    }
}
