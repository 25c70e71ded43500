//! Numbers from and to bytes, and the operations that keys need outside of a [`Modulus`](tress_modular::Modulus): whole products, and
//! remainders by even numbers. Limbs have 64 bits, the lowest first. Constant time except for lengths. The results of comparisons are
//! public: callers compare only where an error would reveal the result anyway.

use tress_modular::{Limb as _, add, reveal};
use zeroize::Zeroizing;

/// A number that is wiped when it is dropped.
pub(crate) type Number = Zeroizing<Vec<u64>>;

/// Converts from big-endian bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> Number {
    let mut number = Zeroizing::new(Vec::with_capacity(bytes.len().div_ceil(8)));
    for chunk in bytes.rchunks(8) {
        number.push(chunk.iter().fold(0, |limb, byte| limb << 8 | u64::from(*byte)));
    }
    number
}

/// Converts to `length` big-endian bytes. Higher bytes must be zero.
pub(crate) fn to_bytes(number: &[u64], length: usize) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(vec![0; length]);
    for (position, byte) in bytes.iter_mut().rev().enumerate() {
        *byte = number.get(position / 8).map_or(0, |limb| (limb >> (8 * (position % 8))) as u8);
    }
    debug_assert!(number.len() * 8 <= length || is_zero_from_byte(number, length));
    bytes
}

/// Whether the number is below 256^`length`.
pub(crate) fn is_zero_from_byte(number: &[u64], length: usize) -> bool {
    (length..number.len() * 8).all(|position| (number[position / 8] >> (8 * (position % 8))) as u8 == 0)
}

/// Length in bits. Only for numbers with a public length.
pub(crate) fn bits(number: &[u64]) -> usize {
    add::bits_vartime(number)
}

/// Whether two numbers of any lengths are equal.
pub(crate) fn is_equal(a: &[u64], b: &[u64]) -> bool {
    let length = a.len().max(b.len());
    reveal(add::is_equal(&padded(a, length), &padded(b, length))) == 1
}

/// Whether `a < b`, for numbers of any lengths.
pub(crate) fn is_less(a: &[u64], b: &[u64]) -> bool {
    let length = a.len().max(b.len());
    reveal(add::is_less(&padded(a, length), &padded(b, length))) == 1
}

/// Whether the number is 0.
pub(crate) fn is_zero(a: &[u64]) -> bool {
    reveal(add::is_zero(a)) == 1
}

/// Pads the number with zeros to `length` limbs.
pub(crate) fn padded(number: &[u64], length: usize) -> Number {
    let mut padded = Zeroizing::new(vec![0; length]);
    padded[..number.len()].copy_from_slice(number);
    padded
}

/// Numbers of these lengths in limbs, all zero.
pub(crate) fn zeros(lengths: impl Iterator<Item = usize>) -> Vec<Number> {
    lengths.map(|length| Zeroizing::new(vec![0; length])).collect()
}

/// `a · b`, row by row.
pub(crate) fn multiply(a: &[u64], b: &[u64]) -> Number {
    let mut product = Zeroizing::new(vec![0; a.len() + b.len()]);
    for (i, &digit) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, &other) in b.iter().enumerate() {
            // At most (2^64 − 1)² + 2 (2^64 − 1) = 2^128 − 1.
            let sum = u128::from(digit) * u128::from(other) + u128::from(product[i + j]) + u128::from(carry);
            product[i + j] = sum as u64;
            carry = (sum >> 64) as u64;
        }
        product[i + b.len()] = carry;
    }
    product
}

/// Adds `b` to `a`, which must be long enough for the sum.
pub(crate) fn add_assign(a: &mut [u64], b: &[u64]) {
    let carry = add::add_assign(a, &padded(b, a.len()));
    debug_assert_eq!(carry, 0);
}

/// The number minus 1. The number must not be 0.
pub(crate) fn less_one(number: &[u64]) -> Number {
    let mut result = Zeroizing::new(number.to_vec());
    let mut one = vec![0; number.len()];
    one[0] = 1;
    add::subtract_assign(&mut result, &one);
    result
}

/// `value` modulo `modulus`, bit by bit. The modulus may be even.
pub(crate) fn remainder(value: &[u64], modulus: &[u64]) -> Number {
    divide(value, modulus, |_, _| ())
}

/// [`remainder`], which passes each bit of the quotient, with its position, to `bit`.
pub(crate) fn divide(value: &[u64], modulus: &[u64], mut bit: impl FnMut(usize, u64)) -> Number {
    // One more limb, so that doubling never overflows.
    let length = modulus.len() + 1;
    let modulus = padded(modulus, length);
    let mut rest = Zeroizing::new(vec![0; length]);
    for position in (0..64 * value.len()).rev() {
        add::double(&mut rest);
        rest[0] |= add::bit(value, position);
        let keeps = add::is_less(&rest, &modulus);
        add::subtract_masked(&mut rest, &modulus, (keeps ^ 1).mask());
        bit(position, keeps ^ 1);
    }
    rest.truncate(length - 1);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_limbs() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        let number = from_bytes(&bytes);
        assert_eq!(*number, [0x0203_0405_0607_0809, 1]);
        assert_eq!(to_bytes(&number, 9)[..], bytes);
        assert_eq!(to_bytes(&number, 11)[..], [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert!(is_zero_from_byte(&number, 9) && !is_zero_from_byte(&number, 8));
        assert!(from_bytes(&[]).is_empty());
    }

    #[test]
    fn products_and_remainders() {
        // (2^128 − 1)² = 2^256 − 2^129 + 1
        let all = [u64::MAX, u64::MAX];
        assert_eq!(*multiply(&all, &all), [1, 0, u64::MAX - 1, u64::MAX]);
        // 2^64 · 3 + 5 modulo 10: 2^64 ends in 6.
        assert_eq!(*remainder(&[5, 3], &[10]), [3]);
        assert_eq!(*remainder(&[7, 0, 0], &[8, 0]), [7, 0]);
        assert_eq!(*remainder(&all, &all), [0, 0]);
        assert_eq!(*remainder(&[u64::MAX, u64::MAX, 1], &[0, 1 << 63]), [u64::MAX, (1 << 63) - 1]);
        assert_eq!(*less_one(&[0, 1]), [u64::MAX, 0]);
    }

    #[test]
    fn lengths_do_not_matter_to_comparisons() {
        assert!(is_equal(&[1, 0], &[1]) && !is_equal(&[1, 1], &[1]) && is_zero(&[0, 0]));
        assert!(is_less(&[u64::MAX], &[0, 1]) && !is_less(&[0, 1], &[5]) && !is_less(&[5, 0], &[5]));
    }
}
