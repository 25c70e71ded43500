//! A reader of DER that is independent of the crate.

/// The numbers of a structure and of its OCTET STRINGs, in order, without leading zeros.
pub fn integers(mut der: &[u8]) -> Vec<Vec<u8>> {
    let mut numbers = Vec::new();
    while let [tag, first, rest @ ..] = der {
        let more = first.saturating_sub(0x80) as usize;
        let length = rest[..more].iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        let length = if *first < 0x80 { usize::from(*first) } else { length };
        let (content, after) = rest[more..].split_at(length);
        match tag {
            0x30 | 4 => numbers.extend(integers(content)),
            2 => numbers.push(content.iter().copied().skip_while(|byte| *byte == 0).collect()),
            _ => {}
        }
        der = after;
    }
    numbers
}

/// Those that are longer than 16 bytes, so no version and no exponent.
pub fn long_integers(der: &[u8]) -> Vec<Vec<u8>> {
    integers(der).into_iter().filter(|number| number.len() > 16).collect()
}
