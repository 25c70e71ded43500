//! Values on the command line: sizes, ranges and hexadecimal bytes.

use std::fmt;

use zeroize::Zeroizing;

/// A half-open range of the plaintext; without an end it runs to the end of the plaintext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
}

/// Bytes given in hexadecimal. They may be a key, so they are wiped and never shown.
#[derive(Clone)]
pub(crate) struct Hex(pub(crate) Zeroizing<Vec<u8>>);

impl fmt::Debug for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hex({} bytes)", self.0.len())
    }
}

/// Powers of 1000 and of 1024, as DESIGN.md's "Sizes" has them.
const UNITS: [(&str, u64); 11] = [
    ("", 1),
    ("B", 1),
    ("kB", 1000),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// A size such as `4096`, `10MB` or `10GiB`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err("a size is a number and a unit, such as 4096, 10MB or 10GiB".into());
    }
    let factor = UNITS
        .iter()
        .find_map(|(name, factor)| (*name == unit).then_some(*factor))
        .ok_or("units are B, kB, MB, GB, TB, KiB, MiB, GiB and TiB")?;
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "more bytes than a file can have".into())
}

/// Bits in a second, powers of 1000.
const BIT_UNITS: [(&str, u64); 4] =
    [("kbit", 1000), ("Mbit", 1_000_000), ("Gbit", 1_000_000_000), ("Tbit", 1_000_000_000_000)];

/// A rate in bytes per second, such as `25MB`, `1Gbit` or `2500000`; never 0.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    let bits = BIT_UNITS.iter().find_map(|(name, factor)| Some((text.strip_suffix(name)?, *factor)));
    let bytes = match bits {
        Some((number, factor)) => size(number)?.checked_mul(factor / 8).ok_or("more than any link carries")?,
        None => size(text).map_err(|error| format!("{error}; or kbit, Mbit and Gbit"))?,
    };
    if bytes == 0 { Err("a rate is more than nothing".into()) } else { Ok(bytes) }
}

/// `START:[END]`, both sizes, END not before START.
pub(crate) fn range(text: &str) -> Result<ByteRange, String> {
    let (start, end) = text.split_once(':').ok_or("a range is START:[END], such as 10MiB:11MiB")?;
    let start = if start.is_empty() { 0 } else { size(start)? };
    let end = match end {
        "" => None,
        end => Some(size(end)?),
    };
    if end.is_some_and(|end| end < start) {
        return Err("the end is before the start".into());
    }
    Ok(ByteRange { start, end })
}

/// An even number of hexadecimal digits, none included.
pub(crate) fn hex(text: &str) -> Result<Hex, String> {
    // The message does not repeat the text, which may be a key; clap's own does not either (`main` sees to that).
    let digit = |byte: u8| char::from(byte).to_digit(16).ok_or("not hexadecimal digits");
    if !text.len().is_multiple_of(2) {
        return Err("an odd number of hexadecimal digits".into());
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() / 2));
    for pair in text.as_bytes().chunks_exact(2) {
        bytes.push((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    }
    Ok(Hex(bytes))
}

/// Bytes for people: `16400 B`, `12.3 MiB`.
pub(crate) fn bytes_text(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("10MB"), Ok(10_000_000));
        assert_eq!(size("10GiB"), Ok(10_737_418_240));
        assert_eq!(size("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["", "MiB", "-1", "1.5MiB", "1 MiB", "1mib", "18446744073709551616", "16777216TiB"] {
            assert!(size(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn rates() {
        assert_eq!(rate("2500000"), Ok(2_500_000));
        assert_eq!(rate("25MB"), Ok(25_000_000));
        assert_eq!(rate("1Gbit"), Ok(125_000_000));
        assert_eq!(rate("10Mbit"), Ok(1_250_000));
        assert_eq!(rate("8kbit"), Ok(1000));
        for wrong in ["", "0", "Gbit", "1.5Gbit", "1gbit", "-1", "99999999999999999999Gbit"] {
            assert!(rate(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn ranges() {
        let of = |start, end| Ok(ByteRange { start, end });
        assert_eq!(range("5:"), of(5, None));
        assert_eq!(range(":7"), of(0, Some(7)));
        assert_eq!(range("1KiB:1KiB"), of(1024, Some(1024)));
        for wrong in ["", "5", "7:5", "1:2:3", "a:b"] {
            assert!(range(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn hexadecimal() {
        assert_eq!(hex("00fF10").unwrap().0.as_slice(), [0, 0xff, 0x10]);
        assert!(hex("").unwrap().0.is_empty());
        for wrong in ["0", "0g", "é0"] {
            assert!(hex(wrong).is_err(), "{wrong:?}");
        }
    }
}
