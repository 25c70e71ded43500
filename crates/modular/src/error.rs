//! The error type of this crate.

use core::fmt;

/// Why a number was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The modulus has no digits.
    Empty,
    /// The modulus is zero.
    Zero,
    /// The modulus is even, and the algorithm needs an odd one.
    Even,
    /// The modulus has one digit; at least two are needed.
    OneDigit,
    /// The modulus has more than 8192 bits.
    TooLong,
    /// The highest digit of the modulus is zero.
    LeadingZero,
    /// A slice does not have the length that the algorithm needs.
    Length,
    /// A value is not below the modulus, or is outside of the range that the algorithm can reduce.
    NotReduced,
    /// The exponent is zero.
    ZeroExponent,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Empty => "the modulus has no digits",
            Error::Zero => "the modulus is zero",
            Error::Even => "the modulus is even",
            Error::OneDigit => "the modulus has only one digit",
            Error::TooLong => "the modulus has more than 8192 bits",
            Error::LeadingZero => "the highest digit of the modulus is zero",
            Error::Length => "a number has the wrong length",
            Error::NotReduced => "a value is not below the modulus",
            Error::ZeroExponent => "the exponent is zero",
        })
    }
}

impl core::error::Error for Error {}
