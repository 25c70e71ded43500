//! age's armor: a file as text, in the strict PEM of <https://c2sp.org/age>.

use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Error, ErrorKind};

const BEGIN: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";
const END: &[u8] = b"-----END AGE ENCRYPTED FILE-----";
/// Characters of every line but the last, and bytes that it holds.
const COLUMNS: usize = 64;
const LINE_BYTES: usize = 48;
/// Most white space before the first line, and after the last.
const MAX_BLANK_BYTES: usize = 1024;

/// Takes the bytes of a file piece by piece, and removes the armor if there is one.
pub(crate) struct Dearmor {
    state: State,
    /// The start of the line that is not complete yet; before the first line, everything.
    line: Vec<u8>,
    blank_bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not known yet.
    Unknown,
    /// The bytes have no armor.
    Binary,
    Body,
    /// A short line has ended the body.
    Footer,
    Ended,
}

impl Dearmor {
    /// With `may_be_armored` unset, all bytes are passed on as they are.
    pub(crate) fn new(may_be_armored: bool) -> Self {
        let state = if may_be_armored { State::Unknown } else { State::Binary };
        Self { state, line: Vec::new(), blank_bytes: 0 }
    }

    /// Whether the bytes are passed on as they are.
    pub(crate) fn is_binary(&self) -> bool {
        self.state == State::Binary
    }

    /// Whether there is an armor, as far as is known.
    pub(crate) fn is_armored(&self) -> bool {
        !matches!(self.state, State::Unknown | State::Binary)
    }

    /// Takes the next bytes, and appends those that they encode.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        if self.state == State::Unknown {
            self.line.extend_from_slice(bytes);
            return self.recognise(false).map_or(Ok(()), |rest| self.take(&rest, out));
        }
        self.take(bytes, out)
    }

    fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        if self.is_binary() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.line.is_empty() {
                self.take_line(line, out)?;
            } else {
                self.line.extend_from_slice(line);
                let line = std::mem::take(&mut self.line);
                self.take_line(&line, out)?;
            }
            bytes = rest;
        }
        self.line.extend_from_slice(bytes);
        if self.line.len() > MAX_BLANK_BYTES { Err(damaged("a line is too long")) } else { Ok(()) }
    }

    /// Declares the end of the file.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.state == State::Unknown {
            let rest = self.recognise(true).expect("decides at the end");
            self.take(&rest, out)?;
        }
        let line = std::mem::take(&mut self.line);
        if self.is_armored() && !line.is_empty() {
            self.take_line(&line, out)?;
        }
        match self.state {
            State::Body | State::Footer => Err(ErrorKind::Truncated.into()),
            _ => Ok(()),
        }
    }

    /// Decides whether there is an armor. If so, the rest begins after the first line, otherwise it is everything.
    fn recognise(&mut self, at_end: bool) -> Option<Vec<u8>> {
        let start = self.line.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(self.line.len());
        // Blank lines may come before it, but no spaces on its own line.
        let begins_line = start == 0 || self.line[start - 1] == b'\n';
        let text = &self.line[start..];
        let known = text.len().min(BEGIN.len());
        let may_begin = start <= MAX_BLANK_BYTES && text[..known] == BEGIN[..known];
        if may_begin && !at_end && text.len() <= BEGIN.len() + 1 {
            return None;
        }
        let is_first_line = match text.get(BEGIN.len()..) {
            Some([b'\n', ..] | [b'\r', b'\n', ..]) => may_begin && begins_line,
            _ => false,
        };
        if !is_first_line {
            self.state = State::Binary;
            return Some(std::mem::take(&mut self.line));
        }
        self.state = State::Body;
        let line_bytes = text.iter().position(|&byte| byte == b'\n').expect("was seen") + 1;
        let rest = text[line_bytes..].to_vec();
        self.line.clear();
        Some(rest)
    }

    fn take_line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match self.state {
            State::Body | State::Footer if line == END => self.state = State::Ended,
            State::Body if (1..=COLUMNS).contains(&line.len()) => {
                let start = out.len();
                out.resize(start + LINE_BYTES, 0);
                let decoded = STANDARD.decode_slice(line, &mut out[start..]);
                out.truncate(start + *decoded.as_ref().unwrap_or(&0));
                match decoded {
                    Ok(LINE_BYTES) => {}
                    Ok(_) => self.state = State::Footer,
                    Err(_) => return Err(damaged("a line is not canonical Base64")),
                }
            }
            State::Body => return Err(damaged("a line has not 64 characters")),
            State::Ended if line.trim_ascii().is_empty() => {
                self.blank_bytes += line.len() + 1;
                if self.blank_bytes > MAX_BLANK_BYTES {
                    return Err(damaged("too much white space after it"));
                }
            }
            State::Ended => return Err(damaged("something follows it")),
            _ => return Err(damaged("its last line is not the END line")),
        }
        Ok(())
    }
}

fn damaged(detail: &str) -> Error {
    Error::new(ErrorKind::ArmorDamaged).with_detail(detail)
}

/// Bytes that are read at a time from a file whose start is examined, or that has an armor.
const READ_BYTES: usize = 8192;

/// Reads a file without its armor. Its start can be examined before it is read.
pub(crate) struct SealedReader<R> {
    inner: R,
    dearmor: Dearmor,
    raw: Box<[u8]>,
    /// Bytes without armor, and the number of those that were read.
    ready: Vec<u8>,
    given: usize,
    ended: bool,
    /// The error behind the bytes that are ready.
    failed: Option<Error>,
}

impl<R: Read> SealedReader<R> {
    pub(crate) fn new(inner: R, may_be_armored: bool) -> Self {
        let (dearmor, raw) = (Dearmor::new(may_be_armored), vec![0; READ_BYTES].into());
        Self { inner, dearmor, raw, ready: Vec::new(), given: 0, ended: false, failed: None }
    }

    /// Whether the file has an armor; known after the first byte was examined.
    pub(crate) fn is_armored(&self) -> bool {
        self.dearmor.is_armored()
    }

    /// The next bytes, at least `bytes` unless the file ends before.
    pub(crate) fn fill_to(&mut self, bytes: usize) -> Result<&[u8], Error> {
        while self.ready.len() - self.given < bytes && !self.ended {
            self.fill()?;
        }
        Ok(&self.ready[self.given..])
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.given += bytes;
    }

    /// Reads more bytes. An error of these bytes is that of the next call, because some of them may be ready.
    fn fill(&mut self) -> Result<(), Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.ready.drain(..self.given);
        self.given = 0;
        let filled = match self.inner.read(&mut self.raw) {
            Ok(0) => {
                let finished = self.dearmor.finish(&mut self.ready);
                self.ended = finished.is_ok();
                finished
            }
            Ok(bytes) => self.dearmor.push(&self.raw[..bytes], &mut self.ready),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.failed = filled.err();
        Ok(())
    }
}

impl<R: Read> Read for SealedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() && self.dearmor.is_binary() {
            return self.inner.read(buffer);
        }
        let bytes = self.fill_to(1)?.read(buffer)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, piece: usize) -> Result<Vec<u8>, Error> {
        let (mut dearmor, mut out) = (Dearmor::new(true), Vec::new());
        text.as_bytes().chunks(piece).try_for_each(|piece| dearmor.push(piece, &mut out))?;
        dearmor.finish(&mut out).map(|()| out)
    }

    #[test]
    fn an_armor_has_one_form_besides_its_line_ends() {
        let (begin, end) = ("-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----");
        let (full, short) = ("A".repeat(64), "AAAA");
        for (text, bytes) in [
            (format!("{begin}\n{full}\n{end}\n"), Some(48)),
            (format!("\n \r\n{begin}\r\n{full}\r\n{short}\r\n{end}\r\n \n"), Some(51)),
            (format!("{begin}\n{short}\n{end}"), Some(3)),
            (format!("{begin}\n{end}"), Some(0)),
            (format!("{begin}\n{short}\n{short}\n{end}"), None),
            (format!("{begin}\n{full}A\n{end}"), None),
            (format!("{begin}\n\n{full}\n{end}"), None),
            (format!("{begin}\nAAB=\n{end}"), None),
            (format!("{begin}\nAA\n{end}"), None),
            (format!("{begin}\n{full}\n{end}\nx"), None),
            (format!("{begin}\n{full}\n{end}{}", " ".repeat(2000)), None),
            (format!("{begin}\n{full}\n{end}{}", "\n".repeat(2000)), None),
            (format!("{begin}\n{full}\n"), None),
        ] {
            for piece in [1, 7, usize::MAX] {
                assert_eq!(read(&text, piece).ok().map(|bytes| bytes.len()), bytes, "{text}");
            }
        }
        for text in ["", "\n", "-----BEGIN", "age", &format!(" {begin}\n"), &format!("{begin}x\n"), &" ".repeat(2000)] {
            assert_eq!(read(text, 5).unwrap(), text.as_bytes(), "is no armor");
        }
    }
}
