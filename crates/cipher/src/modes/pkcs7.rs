//! PKCS#7 padding (RFC 5652 section 6.3).

use subtle::{ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater, ConstantTimeLess};

use crate::Error;
use crate::reveal::reveal;

/// The number of bytes to append to a message of `length` bytes, 1 to `block`. The value of each of these bytes is that number.
///
/// # Panics
/// Unless `block` is 1 to 255.
pub fn padding(length: usize, block: usize) -> usize {
    assert!((1..=255).contains(&block));
    block - length % block
}

/// The length of the message without its padding. The run time and the error do not depend on how the padding is wrong. But if an
/// attacker learns whether a padding is valid, CBC can be decrypted byte by byte: verify a MAC of the ciphertext first.
///
/// # Errors
/// `DataLength` unless `data` is one or more whole blocks, and `Padding`.
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
    // Only the validity is revealed; the length becomes public if the padding is valid.
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
