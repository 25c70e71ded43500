//! The error type of the crate.

use core::fmt;

use crate::Backend;

/// Why an operation was refused. Buffers are unchanged unless the variant says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The cipher has no keys of this length.
    KeyLength,
    /// The nonce is not 7 to 13 bytes long (CCM), or not 12 (ChaCha20-Poly1305, GCM).
    NonceLength,
    /// Two jobs of a batch have the same key and nonce.
    NonceRepeated {
        /// Index of the later one.
        job: usize,
    },
    /// The tag is not 4, 6, 8, 10, 12, 14 or 16 bytes long (CCM), or not 16 (ChaCha20-Poly1305, GCM).
    TagLength,
    /// The initialisation vector is not one block long.
    IvLength,
    /// The data is not a whole number of blocks.
    DataLength,
    /// The message is too long for a nonce of this length (CCM: at most 2^(8·(15 − nonce bytes)) − 1 bytes).
    MessageTooLong,
    /// The pieces of a message have more or fewer bytes in all than were announced.
    AnnouncedLength,
    /// The data needs more counter values than are left. The counter of CTR is shorter than the block (PIPO: 16 bits).
    CounterExhausted,
    /// The tag does not match this key, nonce, associated data and ciphertext. The data was wiped.
    Authentication,
    /// The padding is not PKCS#7 padding.
    Padding,
    /// This machine or this build lacks the backend.
    BackendUnavailable(Backend),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::KeyLength => f.write_str("invalid key length"),
            Error::NonceLength => f.write_str("a nonce must have 12 bytes, for CCM 7 to 13"),
            Error::NonceRepeated { job } => write!(f, "job {job} has the nonce of another job with its key"),
            Error::TagLength => f.write_str("a tag must have 16 bytes, for CCM 4, 6, 8, 10, 12, 14 or 16"),
            Error::IvLength => f.write_str("the initialisation vector must be one block long"),
            Error::DataLength => f.write_str("the data is not a whole number of blocks"),
            Error::MessageTooLong => f.write_str("the message is too long for its nonce"),
            Error::AnnouncedLength => f.write_str("the message is not as long as was announced"),
            Error::CounterExhausted => f.write_str("the data is too long for the counter"),
            Error::Authentication => f.write_str("authentication failed"),
            Error::Padding => f.write_str("invalid padding"),
            Error::BackendUnavailable(backend) => {
                write!(f, "backend {} is not available on this machine", backend.name())
            }
        }
    }
}

impl core::error::Error for Error {}
