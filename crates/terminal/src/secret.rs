//! Reads secrets.

use std::io::{self, Read};

use zeroize::Zeroizing;

/// Reads at most `most_bytes`, which are wiped when dropped. A vector that grows leaves copies of its bytes behind, so each smaller
/// vector is wiped here. The largest one from the start would take a millisecond for a mebibyte.
///
/// # Errors
/// Those of `input`.
pub fn read(mut input: impl Read, most_bytes: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    let mut room = most_bytes.min(4096);
    loop {
        let mut larger = Zeroizing::new(Vec::with_capacity(room));
        larger.extend_from_slice(&bytes);
        bytes = larger;
        input.by_ref().take((room - bytes.len()) as u64).read_to_end(&mut bytes)?;
        if bytes.len() < room || room == most_bytes {
            return Ok(bytes);
        }
        room = most_bytes.min(16 * room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_read_up_to_the_most() {
        let input: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        for most in [0, 1, 4095, 4096, 4097, 65_536, 65_537, 150_000, 200_000, 300_000] {
            for bytes in [0, 1, 4095, 4096, 4097, 65_536, 150_000, 200_000] {
                assert!(*read(&input[..bytes], most).unwrap() == input[..bytes.min(most)], "{bytes} of at most {most}");
            }
        }
    }
}
