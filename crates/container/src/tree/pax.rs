//! PAX extended header records (POSIX.1-2017, pax, "pax Extended Header"): `LENGTH KEY=VALUE\n`. The length includes its own digits.

/// Appends one record.
pub(crate) fn push(records: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    // The space, the equals sign and the newline.
    let rest = key.len() + value.len() + 3;
    let mut length = rest + decimal_digits(rest);
    // The digits of the length itself may add one digit, but never two.
    if decimal_digits(length) > decimal_digits(rest) {
        length = rest + decimal_digits(length);
    }
    records.extend_from_slice(format!("{length} ").as_bytes());
    records.extend_from_slice(key);
    records.push(b'=');
    records.extend_from_slice(value);
    records.push(b'\n');
}

fn decimal_digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// One record, or `None` if it is malformed. Nothing after a malformed record can be read.
pub(crate) type Record<'a> = Option<(&'a [u8], &'a [u8])>;

/// Iterates over the records.
pub(crate) fn records(mut rest: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let record = split_record(rest);
        rest = match record {
            Some((_, after)) => after,
            None => &[],
        };
        Some(record.map(|(pair, _)| pair))
    })
}

/// The first record's key and value, and what follows the record.
type Split<'a> = ((&'a [u8], &'a [u8]), &'a [u8]);

fn split_record(bytes: &[u8]) -> Option<Split<'_>> {
    let space = bytes.iter().take(20).position(|&byte| byte == b' ')?;
    let digits = &bytes[..space];
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let (record, after) = bytes.split_at_checked(length)?;
    let pair = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = pair.iter().position(|&byte| byte == b'=').filter(|&position| position > 0)?;
    Some(((&pair[..equals], &pair[equals + 1..]), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first is POSIX's own example; the others are at lengths where a digit is added.
    #[test]
    fn lengths_count_themselves() {
        for (value_bytes, length) in [(0, "5 "), (4, "9 "), (5, "11 "), (92, "98 "), (93, "99 "), (94, "101 ")] {
            let mut records_bytes = Vec::new();
            push(&mut records_bytes, b"k", &vec![b'v'; value_bytes]);
            assert!(records_bytes.starts_with(length.as_bytes()), "{value_bytes}");
            assert_eq!(records_bytes.len().to_string(), length.trim_end());
        }
    }

    #[test]
    fn records_are_read_in_order() {
        let bytes = b"8 a=b=\n\n14 path=\xff a/b\n";
        let read: Vec<Record<'_>> = records(bytes).collect();
        assert_eq!(read, [Some((&b"a"[..], &b"b=\n"[..])), Some((&b"path"[..], &b"\xff a/b"[..]))]);
    }
}
