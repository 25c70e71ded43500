//! Files of the paper's kinds, made anew so that they are nobody else's: text, MP3, MP4, Docx and Hwp, of about the size that
//! is asked for. Each is what its format says, down to what a reader of the format needs, and not more.

mod mp3;
mod mp4;
mod office;

use std::{fs, time::Instant};

use tempfile::TempDir;

use super::plain::BLOCK;
use crate::study::Error;

/// A file.
pub(super) struct File {
    /// The paper's name for its kind.
    pub(super) kind: &'static str,
    /// What it is.
    pub(super) what: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// One of each kind, in the paper's order.
///
/// # Errors
/// None that a machine can cause.
pub(super) fn all(bytes: usize) -> Result<Vec<File>, Error> {
    let failed = |what: &str, error: std::io::Error| Error::Program(format!("{what}: {error}"));
    Ok(vec![
        File { kind: "Text", what: "words in ASCII, lines of up to 100 letters", bytes: text(bytes) },
        File {
            kind: "MP3",
            what: "frames of MPEG-1 Layer III, 128 kbit/s, mono: silence, with arbitrary ancillary data in place of music",
            bytes: mp3::write(bytes),
        },
        File {
            kind: "MP4",
            what: "ISO base media with one track of H.264, 128 by 96 pixels, every macroblock as samples (I_PCM)",
            bytes: mp4::write(bytes),
        },
        File {
            kind: "Docx",
            what: "Office Open XML: an uncompressed ZIP archive of the three parts that a document needs",
            bytes: office::docx(bytes).map_err(|error| failed("docx", error))?,
        },
        File {
            kind: "Hwp",
            what: "HWP 5.0: a compound file with header, fonts and style, and paragraphs as records, not compressed; no layout of \
                   pages",
            bytes: office::hwp(bytes).map_err(|error| failed("hwp", error))?,
        },
    ])
}

/// The file with PKCS #7's padding: 1 to 16 bytes, each their number.
pub(super) fn padded(bytes: &[u8]) -> Vec<u8> {
    let padding = BLOCK - bytes.len() % BLOCK;
    let mut padded = Vec::with_capacity(bytes.len() + padding);
    padded.extend_from_slice(bytes);
    padded.resize(bytes.len() + padding, padding as u8);
    padded
}

/// What [`padded`] had, where its padding is whole.
pub(super) fn unpadded(bytes: &[u8]) -> Option<&[u8]> {
    let padding = usize::from(*bytes.last()?);
    let (bytes, rest) = bytes.split_at(bytes.len().checked_sub(padding)?);
    ((1..=BLOCK).contains(&padding) && rest.iter().all(|&byte| usize::from(byte) == padding)).then_some(bytes)
}

/// Text of exactly so many bytes.
pub(super) fn text(bytes: usize) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "the", "state", "has", "four", "rows", "and", "every", "thread", "takes", "one", "of", "them", "until", "all",
        "wait", "for", "a", "block", "cipher", "whose", "columns", "mix", "slowly", "again",
    ];
    let mut random = Random(1);
    let mut text = Vec::with_capacity(bytes + 16);
    let mut line = 0;
    while text.len() < bytes {
        let word = WORDS[random.below(WORDS.len())].as_bytes();
        text.extend_from_slice(word);
        line += word.len() + 1;
        text.push(if line > 90 { b'\n' } else { b' ' });
        line = if line > 90 { 0 } else { line };
    }
    text.truncate(bytes);
    text
}

/// A file in a folder that goes with it, to be read and written with a clock beside.
pub(super) struct OnDisk(TempDir);

impl OnDisk {
    /// # Errors
    /// Where nothing can be written.
    pub(super) fn new(bytes: &[u8]) -> Result<OnDisk, Error> {
        let folder = tempfile::tempdir().map_err(|error| Error::files(&std::env::temp_dir(), error))?;
        let path = folder.path().join("plain");
        fs::write(&path, bytes).map_err(|error| Error::files(&path, error))?;
        Ok(OnDisk(folder))
    }

    /// What is in it, and the seconds that reading took; from the system's cache, after the first time at the latest.
    pub(super) fn read(&self) -> Result<(Vec<u8>, f64), Error> {
        let path = self.0.path().join("plain");
        let start = Instant::now();
        let bytes = fs::read(&path).map_err(|error| Error::files(&path, error))?;
        Ok((bytes, start.elapsed().as_secs_f64()))
    }

    /// The seconds that writing another file took; the system may keep it for itself for a while.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<f64, Error> {
        let path = self.0.path().join("encrypted");
        let start = Instant::now();
        fs::write(&path, bytes).map_err(|error| Error::files(&path, error))?;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Bytes that look like nothing: Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn sizes_are_about_what_is_asked_for() {
        for bytes in [100_000, 1_000_000] {
            for file in all(bytes).expect("files") {
                let difference = file.bytes.len().abs_diff(bytes);
                assert!(difference < bytes / 5, "{}: {} for {bytes}", file.kind, file.bytes.len());
            }
        }
    }

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

    /// Python's own readers of ZIP and XML take the document.
    #[test]
    fn python_reads_the_document() {
        const READ: &str = "
import io, sys, zipfile
from xml.etree import ElementTree
archive = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert archive.testzip() is None
for name in archive.namelist(): ElementTree.fromstring(archive.read(name))
types = ElementTree.fromstring(archive.read('[Content_Types].xml'))
assert any(part.get('PartName') == '/word/document.xml' for part in types)
document = ElementTree.fromstring(archive.read('word/document.xml'))
word = '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}'
print('\\n'.join(text.text for text in document.iter(word + 't')))
";
        let file = office::docx(50_000).expect("a document");
        let command = Command::new("python3").args(["-c", READ]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = match command {
            Ok(child) => child,
            Err(error) => {
                assert!(std::env::var_os("CI").is_none(), "python3: {error}");
                eprintln!("SKIPPED: no python3 ({error})");
                return;
            }
        };
        child.stdin.take().expect("a pipe").write_all(&file).expect("written");
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success());
        let found = String::from_utf8(output.stdout).expect("text");
        let written = String::from_utf8(text(37_500)).expect("text");
        assert!(found.lines().eq(written.lines().map(str::trim_end)), "{} of {}", found.len(), written.len());
    }
}
