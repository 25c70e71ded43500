//! Parses and formats values on the command line: sizes, rates, durations, ranges and hexadecimal bytes.

use std::fmt;

use zeroize::Zeroizing;

/// A half-open range of the plaintext, in bytes. `None` means the end of the plaintext.
pub type ByteRange = (u64, Option<u64>);

/// Bytes given in hexadecimal. They may be a key, so they are wiped on drop and `Debug` does not show them.
#[derive(Clone)]
pub struct Hex(pub Zeroizing<Vec<u8>>);

impl fmt::Debug for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hex({} bytes)", self.0.len())
    }
}

/// The factor of the unit with this name.
fn factor<T: Copy>(units: &[(&str, T)], unit: &str) -> Option<T> {
    units.iter().find_map(|(name, factor)| (*name == unit).then_some(*factor))
}

/// Units of a size, with their bytes: powers of 1000 (kB) and of 1024 (KiB).
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

/// Parses a size such as `4096`, `10MB` or `10GiB`.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err("a size is a whole number with or without a unit, such as 4096, 10MB or 10GiB".into());
    }
    let factor = factor(&UNITS, unit).ok_or("units are B, kB, MB, GB, TB, KiB, MiB, GiB and TiB")?;
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "too large: a size must be less than 2^64 bytes".into())
}

/// Checks a host or IP address and a port, such as `host:7878` or `[::1]:7878`.
pub fn endpoint(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').ok_or("the port is missing; an example is host:7878")?;
    port.parse::<u16>().map_err(|_| "a port is a number from 0 to 65535")?;
    if host.is_empty() {
        return Err("the host is missing; an example is host:7878".into());
    }
    if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
        return Err("an IPv6 address must be in brackets, such as [::1]:7878".into());
    }
    Ok(text.into())
}

/// Units in bits, as for network links.
const BIT_UNITS: [(&str, f64); 6] =
    [("bit", 1.0), ("kbit", 1e3), ("Kbit", 1e3), ("Mbit", 1e6), ("Gbit", 1e9), ("Tbit", 1e12)];

const DURATION_UNITS: [(&str, f64); 6] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// Parses a rate such as `25MB`, `1Gbit` or `27027027`, in bytes per second. Also accepts the time per byte, as in the paper: `0.037us/B`.
pub fn rate(text: &str) -> Result<f64, String> {
    const WRONG: &str = "a rate is an amount per second, such as 25MB, 1Gbit or 27027027 (bytes), \
                         or a time per byte, such as 0.037us/B";
    let bytes_per_s = match text.strip_suffix("/B") {
        Some(time) => duration(time).map_err(|_| WRONG)?.recip(),
        None => {
            let (number, unit) = number_and_unit(text.strip_suffix("/s").unwrap_or(text)).ok_or(WRONG)?;
            let bytes = factor(&UNITS, unit).map(|factor| factor as f64);
            let bits = factor(&BIT_UNITS, unit).map(|factor| factor / 8.0);
            number * bytes.or(bits).ok_or("units are B, kB to TB, KiB to TiB, and bit, kbit to Tbit")?
        }
    };
    match bytes_per_s {
        0.0 => Err("a rate must be greater than zero".into()),
        rate if !rate.is_finite() => Err("the rate is too large".into()),
        rate => Ok(rate),
    }
}

/// Parses a duration such as `10us` or `1.5ms`, in seconds.
pub fn duration(text: &str) -> Result<f64, String> {
    const WRONG: &str = "a duration is a number and a unit, such as 10us, 1.5ms or 2s";
    let (number, unit) = number_and_unit(text).ok_or(WRONG)?;
    let seconds = number * factor(&DURATION_UNITS, unit).ok_or(WRONG)?;
    if seconds.is_finite() { Ok(seconds) } else { Err("the duration is too large".into()) }
}

/// Splits a text into a decimal number, without sign and exponent, and its unit.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let is_number = number.starts_with(|letter: char| letter.is_ascii_digit()) && !number.ends_with('.');
    is_number.then(|| number.parse().ok()).flatten().map(|number| (number, unit))
}

/// Parses the rate of a link, in whole bytes per second.
pub fn link_rate(text: &str) -> Result<u64, String> {
    match rate(text)? {
        rate if rate < 1.0 => Err("a rate must be at least one byte per second".into()),
        // The cast saturates at the largest `u64`.
        rate => Ok(rate as u64),
    }
}

/// Parses `START:[END]`. Both are sizes, and END is not before START.
pub fn range(text: &str) -> Result<ByteRange, String> {
    let (start, end) = text.split_once(':').ok_or("a range is START:[END], such as 10MiB:11MiB")?;
    let start = if start.is_empty() { 0 } else { size(start)? };
    let end = match end {
        "" => None,
        end => Some(size(end)?),
    };
    if end.is_some_and(|end| end < start) {
        return Err("the end is before the start".into());
    }
    Ok((start, end))
}

/// Parses an even number of hexadecimal digits, which may be 0.
pub fn hex(text: &str) -> Result<Hex, String> {
    // The message does not repeat the text, which may be a key. clap's own message does not either (see `usage::report`).
    let mut bytes = Zeroizing::new(vec![0; text.len() / 2]);
    match base16ct::mixed::decode(text, &mut bytes) {
        Ok(_) => Ok(Hex(bytes)),
        Err(base16ct::Error::InvalidLength) => Err("an odd number of hexadecimal digits".into()),
        Err(base16ct::Error::InvalidEncoding) => Err("not hexadecimal".into()),
    }
}

/// Formats seconds with four significant digits: `803.9 s`, `10.00 µs`, and from two hours and two days on `5.556 h`, `9.259 days`.
pub fn seconds_text(seconds: f64) -> String {
    // What rounds up to a unit takes the unit: no `1000.0 ms`.
    let (factor, unit) = match seconds * (1.0 + 0.5e-4) {
        0.0 => return "0 s".into(),
        s if s >= 172_800.0 => (1.0 / 86_400.0, "days"),
        s if s >= 7200.0 => (1.0 / 3600.0, "h"),
        s if s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e3, "ms"),
        s if s >= 1e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    let value = seconds * factor;
    let decimals = match value {
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$} {unit}")
}

/// Formats a rate: `27.0 MB/s`.
pub fn rate_text(bytes_per_s: f64) -> String {
    let (factor, unit) = match bytes_per_s * (1.0 + 0.5e-6) {
        r if r >= 1e9 => (1e9, "GB/s"),
        r if r >= 1e6 => (1e6, "MB/s"),
        r if r >= 1e3 => (1e3, "kB/s"),
        _ => (1.0, "B/s"),
    };
    format!("{:.3} {unit}", bytes_per_s / factor)
}

/// Formats a number with separators: `28,284`.
pub fn count_text(count: u64) -> String {
    indicatif::HumanCount(count).to_string()
}

/// Formats a size in the largest unit that divides it: `10 GB`, `1 TiB`, and `16,401 bytes` if none does.
pub fn size_text(bytes: u64) -> String {
    let divides = |(_, factor): &&(&str, u64)| *factor > 1 && bytes >= *factor && bytes.is_multiple_of(*factor);
    match UNITS.iter().rev().filter(divides).max_by_key(|(_, factor)| *factor) {
        Some((name, factor)) => format!("{} {name}", count_text(bytes / factor)),
        None => exact_bytes_text(bytes),
    }
}

/// Formats a number of bytes with separators: `1 byte`, `16,401 bytes`.
pub fn exact_bytes_text(bytes: u64) -> String {
    format!("{} byte{}", count_text(bytes), if bytes == 1 { "" } else { "s" })
}

/// Formats a number of bytes: `16400 B`, `12.3 MiB`.
pub fn bytes_text(bytes: u64) -> String {
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
    fn endpoints() {
        for right in ["host:7878", "127.0.0.1:0", "[::1]:65535", "[fe80::1%eth0]:1"] {
            assert_eq!(endpoint(right).as_deref(), Ok(right));
        }
        for wrong in ["", "host", ":7878", "host:", "host:99999", "host:-1", "host:7878x", "::1:7878", "[::1]"] {
            assert!(endpoint(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn rates() {
        assert_eq!(rate("27027027"), Ok(27_027_027.0));
        assert_eq!(rate("25MB"), Ok(25e6));
        assert_eq!(rate("25MB/s"), Ok(25e6));
        assert_eq!(rate("1.5GiB"), Ok(1_610_612_736.0));
        assert_eq!(rate("10Mbit"), Ok(1_250_000.0));
        assert_eq!(rate("1Gbit/s"), Ok(125e6));
        assert_eq!(rate("0.8us/B"), Ok(1_250_000.0));
        let endless = "9".repeat(400);
        for wrong in
            ["", "0", "0Mbit", "-1", "NaN", "inf", "1e9", "1.", ".5", "1.2.3", "10mbit", "1Gbps", "0us/B", &endless]
        {
            assert!(rate(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn rates_of_links() {
        assert_eq!(link_rate("2500000"), Ok(2_500_000));
        assert_eq!(link_rate("1Gbit"), Ok(125_000_000));
        assert_eq!(link_rate("8kbit"), Ok(1000));
        for wrong in ["0", "1bit", "1gbit", "-1"] {
            assert!(link_rate(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(duration("10us"), Ok(10.0 * 1e-6));
        assert_eq!(duration("10µs"), Ok(10.0 * 1e-6));
        assert_eq!(duration("1.5ms"), Ok(1.5e-3));
        assert_eq!(duration("0s"), Ok(0.0));
        let endless = format!("{}s", "9".repeat(400));
        for wrong in ["", "10", "us", "-1s", "NaNs", "1e3s", "10 us", "1h", &endless] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn figures_for_people() {
        assert_eq!(seconds_text(803.93), "803.9 s");
        assert_eq!(seconds_text(10e-6), "10.00 µs");
        assert_eq!(seconds_text(0.0321), "32.10 ms");
        assert_eq!(seconds_text(0.0), "0 s");
        assert_eq!((seconds_text(20_000.0), seconds_text(8e5)), ("5.556 h".into(), "9.259 days".into()));
        assert_eq!((seconds_text(0.99994), seconds_text(0.99996)), ("999.9 ms".into(), "1.000 s".into()));
        assert_eq!(rate_text(27_027_027.0), "27.027 MB/s");
        assert_eq!(rate_text(1e-9_f64.recip()), "1.000 GB/s");
        assert_eq!((rate_text(999_999.4), rate_text(999_999.6)), ("999.999 kB/s".into(), "1.000 MB/s".into()));
        assert_eq!(size_text(10_000_000_000), "10 GB");
        assert_eq!(size_text(1 << 40), "1 TiB");
        assert_eq!((size_text(1536), size_text(1)), ("1,536 bytes".into(), "1 byte".into()));
        assert_eq!(count_text(28_284), "28,284");
        assert_eq!(count_text(999), "999");
        assert_eq!(count_text(1_000_000), "1,000,000");
    }

    #[test]
    fn ranges() {
        let of = |start, end| Ok((start, end));
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
