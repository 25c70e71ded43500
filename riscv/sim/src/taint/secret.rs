//! Names of secrets, and the labels under which they are followed.

use std::str::FromStr;

use super::findings::SecretReport;
use crate::elf::Image;
use crate::error::{Error, ErrorKind};

/// Number of labels. The last one is shared by all marks for which no other label is left.
const LABELS: usize = u16::BITS as usize;

/// Bytes that are secret from the beginning of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The name that findings use.
    pub name: String,
    /// Address of the first byte.
    pub start: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// How a user names a secret: `SYMBOL`, `SYMBOL+BYTES` or `ADDRESS+BYTES`. Numbers are decimal, or hexadecimal with
/// `0x`.
///
/// ```
/// use tress_sim::SecretName;
///
/// assert_eq!("key+16".parse(), Ok(SecretName::Symbol("key".into(), Some(16))));
/// assert_eq!("0x80001000+32".parse(), Ok(SecretName::Address(0x8000_1000, 32)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretName {
    /// All bytes of a symbol, or the given number of its first bytes.
    Symbol(String, Option<u64>),
    /// Address and number of bytes.
    Address(u64, u64),
}

impl FromStr for SecretName {
    type Err = String;

    fn from_str(text: &str) -> Result<SecretName, String> {
        let (place, bytes) = match text.rsplit_once('+') {
            Some((place, bytes)) => (place, Some(number(bytes).filter(|bytes| *bytes > 0))),
            None => (text, None),
        };
        let bytes = match bytes {
            Some(None) => return Err("the text after + is not a number of bytes".into()),
            Some(bytes) => bytes,
            None => None,
        };
        match (place.starts_with(|letter: char| letter.is_ascii_digit()), bytes) {
            _ if place.is_empty() => Err("expected a symbol or an address, as in key or 0x80001000+16".into()),
            (false, bytes) => Ok(SecretName::Symbol(place.to_owned(), bytes)),
            (true, Some(bytes)) => match number(place) {
                Some(address) => Ok(SecretName::Address(address, bytes)),
                None => Err("not an address, and a symbol does not begin with a digit".into()),
            },
            (true, None) => Err("an address needs a number of bytes, as in 0x80001000+16".into()),
        }
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // `from_str_radix` accepts a sign, which is no digit here.
        Some(digits) if digits.starts_with(|digit: char| digit.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        None if text.starts_with(|digit: char| digit.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

impl SecretName {
    /// Finds the bytes in a program.
    ///
    /// # Errors
    ///
    /// There is no such symbol, or its size is unknown.
    pub fn find(&self, image: &Image) -> Result<Secret, Error> {
        match self {
            SecretName::Address(start, bytes) => {
                Ok(Secret { name: format!("{start:#x}+{bytes}"), start: *start, bytes: *bytes })
            }
            SecretName::Symbol(name, bytes) => {
                let symbol = image.data(name).ok_or_else(|| Error::new(ErrorKind::NoSymbol(name.clone())))?;
                let bytes = bytes.unwrap_or(symbol.size);
                if bytes == 0 {
                    return Err(ErrorKind::NoSymbolSize(name.clone()).into());
                }
                Ok(Secret { name: name.clone(), start: symbol.address, bytes })
            }
        }
    }
}

/// A label in use.
#[derive(Debug)]
struct Label {
    name: String,
    /// The range that was marked last.
    start: u64,
    bytes: u64,
    reads: u64,
}

/// The labels in use. Each is one bit of a `u16`.
#[derive(Debug, Default)]
pub(super) struct Labels {
    all: Vec<Label>,
    /// Ranges in which all values are secret: first byte, byte after the last, label.
    kept: Vec<(u64, u64, u16)>,
}

impl Labels {
    pub(super) fn keep(&mut self, secret: &Secret) -> Result<u16, ErrorKind> {
        // One label is reserved for marks of the program.
        if self.all.len() + 1 == LABELS {
            return Err(ErrorKind::TooManySecrets(LABELS - 1));
        }
        let label = self.marked(secret.name.clone(), secret.start, secret.bytes);
        self.kept.push((secret.start, secret.start.saturating_add(secret.bytes), label));
        Ok(label)
    }

    /// The label of a name. Allocates a new one if the name is not known.
    pub(super) fn marked(&mut self, name: String, start: u64, bytes: u64) -> u16 {
        let known = self.all.iter().position(|label| label.name == name);
        let number = known.unwrap_or_else(|| {
            let number = self.all.len().min(LABELS - 1);
            if number == self.all.len() {
                let name = if number == LABELS - 1 { "other marks".to_owned() } else { name };
                self.all.push(Label { name, start, bytes, reads: 0 });
            }
            number
        });
        (self.all[number].start, self.all[number].bytes) = (start, bytes);
        1 << number
    }

    /// Removes a range from the kept secrets.
    pub(super) fn release(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        let left =
            |&(first, last, label): &(u64, u64, u16)| [(first, last.min(start), label), (first.max(end), last, label)];
        self.kept = self.kept.iter().flat_map(left).filter(|(first, last, _)| first < last).collect();
    }

    /// Calls `mark` for each part of a written range that is kept secret.
    pub(super) fn kept(
        &self,
        start: u64,
        bytes: u64,
        mut mark: impl FnMut(u64, u64, u16) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        for (first, last, label) in &self.kept {
            let (from, to) = (start.max(*first), start.saturating_add(bytes).min(*last));
            if from < to {
                mark(from, to - from, *label)?;
            }
        }
        Ok(())
    }

    /// Counts a load of secret data.
    pub(super) fn count(&mut self, labels: u16) {
        if labels != 0 {
            for (number, label) in self.all.iter_mut().enumerate() {
                label.reads += u64::from(labels >> number & 1);
            }
        }
    }

    pub(super) fn names(&self, labels: u16) -> Vec<String> {
        let has = |number: &usize| labels >> number & 1 != 0;
        (0..self.all.len()).filter(has).map(|number| self.all[number].name.clone()).collect()
    }

    pub(super) fn report(&self) -> Vec<SecretReport> {
        let report = |label: &Label| SecretReport {
            name: label.name.clone(),
            address: label.start,
            bytes: label.bytes,
            reads: label.reads,
        };
        self.all.iter().map(report).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        let symbol = |name: &str, bytes| Ok(SecretName::Symbol(name.into(), bytes));
        assert_eq!("key".parse(), symbol("key", None));
        assert_eq!("a::KEY+0x10".parse(), symbol("a::KEY", Some(16)));
        assert_eq!("0x80001000+32".parse(), Ok(SecretName::Address(0x8000_1000, 32)));
        assert_eq!("4096+1".parse(), Ok(SecretName::Address(4096, 1)));
        for wrong in ["", "+4", "key+", "key+0", "key+x", "key+-1", "key+0x", "0x80001000", "12", "0xkey+4", "9key+4"] {
            assert!(wrong.parse::<SecretName>().is_err(), "{wrong}");
        }
    }

    /// The middle of a range becomes public, and the parts on both sides stay secret.
    #[test]
    fn released_ranges_leave_the_rest() {
        let mut labels = Labels::default();
        let label = labels.keep(&Secret { name: "key".into(), start: 100, bytes: 50 }).unwrap();
        labels.release(110, 20);
        let mut marked = Vec::new();
        let mut mark = |start, bytes, label| {
            marked.push((start, bytes, label));
            Ok(())
        };
        for start in [96, 106, 112, 128, 150] {
            labels.kept(start, 8, &mut mark).unwrap();
        }
        assert_eq!(marked, [(100, 4, label), (106, 4, label), (130, 6, label)]);
    }

    #[test]
    fn labels_run_out_for_names_and_never_for_marks() {
        let mut labels = Labels::default();
        for number in 0..15 {
            let secret = Secret { name: format!("s{number}"), start: 0, bytes: 1 };
            assert_eq!(labels.keep(&secret).unwrap(), 1 << number);
        }
        let more = Secret { name: "more".into(), start: 0, bytes: 1 };
        assert!(matches!(labels.keep(&more), Err(ErrorKind::TooManySecrets(15))));
        assert_eq!(labels.marked("one".into(), 0, 1), 1 << 15);
        assert_eq!(labels.marked("two".into(), 0, 1), 1 << 15);
        assert_eq!(labels.names(1 << 15 | 1), ["s0", "other marks"]);
    }
}
