//! PKCS#7 padding (RFC 5652 section 6.3).

use subtle::{ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater, ConstantTimeLess};

use crate::Error;
use crate::reveal::reveal;

/// How many bytes to append to a message of `length` bytes, 1 to `block`; each has that number as its value.
///
/// # Panics
/// Unless `block` is 1 to 255.
pub fn padding(length: usize, block: usize) -> usize {
    assert!((1..=255).contains(&block));
    block - length % block
}

/// The length of the message without its padding. Takes the same time whatever the padding is, and says no more than
/// that it is wrong. Who tells a stranger even that lets him decrypt CBC, byte by byte: check a MAC of the ciphertext first.
///
/// # Panics
/// Unless `block` is 1 to 255.
pub fn unpad(data: &[u8], block: usize) -> Result<usize, Error> {
    assert!((1..=255).contains(&block));
    if data.is_empty() || !data.len().is_multiple_of(block) {
        return Err(Error::DataLength);
    }
    let last = &data[data.len() - block..];
    let count = last[block - 1];
    let mut good = !count.ct_eq(&0) & !count.ct_gt(&(block as u8));
    for (i, byte) in last.iter().rev().enumerate() {
        let is_padding = (i as u8).ct_lt(&count);
        good &= !is_padding | byte.ct_eq(&count);
    }
    // What is told is only good or not; the length is public once it is good.
    let count = u8::conditional_select(&0, &count, good);
    if reveal(good) { Ok(data.len() - usize::from(count)) } else { Err(Error::Padding) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_padding_comes_off() {
        for length in 0..32 {
            let mut data = std::vec![7; length];
            let count = padding(length, 16);
            data.extend(std::iter::repeat_n(count as u8, count));
            assert_eq!(unpad(&data, 16), Ok(length));
        }
    }

    #[test]
    fn wrong_paddings_are_refused() {
        let mut data = [3; 16];
        assert_eq!(unpad(&data, 16), Ok(13));
        for (byte, value) in [(15, 0), (15, 17), (15, 255), (13, 2), (14, 4)] {
            let old = data[byte];
            data[byte] = value;
            assert_eq!(unpad(&data, 16), Err(Error::Padding));
            data[byte] = old;
        }
        assert_eq!(unpad(&[16; 16], 16), Ok(0));
        assert_eq!(unpad(&[1; 15], 16), Err(Error::DataLength));
        assert_eq!(unpad(&[], 16), Err(Error::DataLength));
    }
}
