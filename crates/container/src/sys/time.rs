//! Modification times in nanoseconds, before and after 1970, in the form of a PAX record (POSIX.1-2017, pax, "Extended Header": decimal
//! seconds with an optional fraction).
use std::time::SystemTime;

/// A time in seconds since 1970, and the nanoseconds after that second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileTime {
    pub seconds: i64,
    /// Below 10^9. Counted forwards, even if the seconds are negative.
    pub nanoseconds: u32,
}

impl FileTime {
    pub fn from_system(time: SystemTime) -> Option<FileTime> {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => {
                Some(FileTime { seconds: after.as_secs().try_into().ok()?, nanoseconds: after.subsec_nanos() })
            }
            Err(before) => {
                let before = before.duration();
                // Of -2^63 s, which no record can state, the next second.
                let seconds = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
                Some(match before.subsec_nanos() {
                    0 => FileTime { seconds: -seconds, nanoseconds: 0 },
                    nanoseconds => FileTime { seconds: -seconds - 1, nanoseconds: 1_000_000_000 - nanoseconds },
                })
            }
        }
    }

    /// Converts to the system's type; `None` for a time that it cannot represent. Unix uses seconds and nanoseconds directly.
    #[cfg(any(not(unix), test))]
    pub fn to_system(self) -> Option<SystemTime> {
        use std::time::Duration;
        let whole = Duration::from_secs(self.seconds.unsigned_abs());
        let second = match self.seconds < 0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(whole)?,
            false => SystemTime::UNIX_EPOCH.checked_add(whole)?,
        };
        second.checked_add(Duration::from_nanos(self.nanoseconds.into()))
    }

    /// Parses decimal seconds. Digits after the nanoseconds are dropped, which rounds towards the past, as in file systems.
    pub fn parse(text: &[u8]) -> Option<FileTime> {
        let text = std::str::from_utf8(text).ok()?;
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let has_digits_only = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !has_digits_only(whole) || !has_digits_only(fraction) {
            return None;
        }
        let seconds: i64 = whole.parse().ok()?;
        let kept = &fraction[..fraction.len().min(9)];
        let nanoseconds: u32 = format!("{kept:0<9}").parse().ok()?;
        let is_cut = fraction[kept.len()..].bytes().any(|byte| byte != b'0');
        match (is_negative, nanoseconds + u32::from(is_negative && is_cut)) {
            (false, nanoseconds) => Some(FileTime { seconds, nanoseconds }),
            (true, 0) => Some(FileTime { seconds: -seconds, nanoseconds: 0 }),
            (true, below) => Some(FileTime { seconds: -seconds - 1, nanoseconds: 1_000_000_000 - below }),
        }
    }

    /// Formats as decimal seconds with nine digits of fraction, or without a fraction. The number is above -2^63, as [`parse`](Self::parse)
    /// needs it.
    pub fn format(self) -> String {
        match (self.seconds < 0, self.nanoseconds) {
            (_, 0) => self.seconds.max(-i64::MAX).to_string(),
            (false, nanoseconds) => format!("{}.{nanoseconds:09}", self.seconds),
            (true, nanoseconds) => format!("-{}.{:09}", (self.seconds + 1).unsigned_abs(), 1_000_000_000 - nanoseconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        let cases: [(&str, i64, u32); 6] = [
            ("0", 0, 0),
            ("1350244992.023960108", 1_350_244_992, 23_960_108),
            ("-1", -1, 0),
            ("-0.250000000", -1, 750_000_000),
            ("-1.500000000", -2, 500_000_000),
            ("7.000000001", 7, 1),
        ];
        for (text, seconds, nanoseconds) in cases {
            let time = FileTime { seconds, nanoseconds };
            assert_eq!(FileTime::parse(text.as_bytes()), Some(time), "{text}");
            assert_eq!(time.format(), text);
            // Windows counts in units of 100 ns.
            if cfg!(unix) || nanoseconds % 100 == 0 {
                assert_eq!(time.to_system().and_then(FileTime::from_system), Some(time));
            }
        }
        assert_eq!(FileTime { seconds: i64::MIN, nanoseconds: 0 }.format(), "-9223372036854775807");
        assert_eq!(FileTime::parse(b"1.5"), Some(FileTime { seconds: 1, nanoseconds: 500_000_000 }));
        assert_eq!(FileTime::parse(b"1.0000000019"), Some(FileTime { seconds: 1, nanoseconds: 1 }));
        assert_eq!(FileTime::parse(b"-1.0000000001"), Some(FileTime { seconds: -2, nanoseconds: 999_999_999 }));
        for refused in ["", "-", ".5", "1e3", "+1", "--1", "1.2.3", "99999999999999999999", "1,5", "-.5", "１"] {
            assert_eq!(FileTime::parse(refused.as_bytes()), None, "{refused}");
        }
    }
}
