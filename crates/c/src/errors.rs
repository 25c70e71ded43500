//! Converts errors of containers and signatures to status codes.

use tress_container::ErrorKind;

use crate::failure::{Failure, cipher_status};
use crate::status::tress_status::{self, *};

impl From<tress_container::Error> for Failure {
    fn from(error: tress_container::Error) -> Self {
        Self::with_detail(container_status(&error.kind), error.to_string())
    }
}

impl From<tress_sign::Error> for Failure {
    fn from(error: tress_sign::Error) -> Self {
        Self::with_detail(signature_status(error), error.to_string())
    }
}

fn container_status(kind: &ErrorKind) -> tress_status {
    match kind {
        ErrorKind::Io(std::io::ErrorKind::OutOfMemory) => TRESS_MEMORY,
        ErrorKind::Io(_) | ErrorKind::NoThread => TRESS_IO,
        ErrorKind::NotAContainer => TRESS_NOT_A_CONTAINER,
        ErrorKind::OtherFormat => TRESS_OTHER_FORMAT,
        ErrorKind::ArmorDamaged => TRESS_ARMOR_DAMAGED,
        ErrorKind::UnknownVersion => TRESS_UNKNOWN_VERSION,
        ErrorKind::UnknownAead => TRESS_UNKNOWN_AEAD,
        ErrorKind::HeaderDamaged => TRESS_HEADER_DAMAGED,
        ErrorKind::HeaderTooLarge => TRESS_HEADER_TOO_LARGE,
        ErrorKind::HeaderPadding => TRESS_HEADER_PADDING,
        ErrorKind::AeadMismatch => TRESS_AEAD_MISMATCH,
        ErrorKind::NoMatchingKey => TRESS_NO_MATCHING_KEY,
        ErrorKind::WrongPassphrase => TRESS_WRONG_PASSPHRASE,
        ErrorKind::WorkFactorTooHigh => TRESS_WORK_FACTOR,
        ErrorKind::Commitment => TRESS_COMMITMENT,
        ErrorKind::ChunkDamaged { .. } => TRESS_CHUNK_DAMAGED,
        ErrorKind::Truncated => TRESS_TRUNCATED,
        ErrorKind::TooManyChunks => TRESS_TOO_MANY_CHUNKS,
        ErrorKind::RangeOutOfBounds => TRESS_RANGE,
        ErrorKind::OutputExists => TRESS_OUTPUT_EXISTS,
        ErrorKind::OutputIsInput => TRESS_OUTPUT_IS_INPUT,
        ErrorKind::BinaryToTerminal => TRESS_BINARY_TO_TERMINAL,
        ErrorKind::Interrupted => TRESS_INTERRUPTED,
        ErrorKind::InputChanged => TRESS_INPUT_CHANGED,
        ErrorKind::TreeDamaged => TRESS_TREE_DAMAGED,
        ErrorKind::TreePath | ErrorKind::TreeLink | ErrorKind::TreeSpecialFile | ErrorKind::TreeDuplicate => {
            TRESS_TREE_REFUSED
        }
        ErrorKind::BadRecipient => TRESS_BAD_RECIPIENT,
        ErrorKind::BadIdentity => TRESS_BAD_IDENTITY,
        ErrorKind::KeyFileLength => TRESS_RAW_KEY_LENGTH,
        ErrorKind::BadPassphrase => TRESS_BAD_PASSPHRASE,
        ErrorKind::NoRecipients => TRESS_NO_RECIPIENTS,
        ErrorKind::MixedRecipients => TRESS_MIXED_RECIPIENTS,
        ErrorKind::Plugin => TRESS_PLUGIN,
        ErrorKind::BadName => TRESS_BAD_NAME,
        ErrorKind::Cipher(error) => cipher_status(*error),
        ErrorKind::MessageTooLong => TRESS_MESSAGE_TOO_LONG,
        ErrorKind::Usage => TRESS_ARGUMENT,
        // Errors of network connections, which this library never opens.
        _ => TRESS_INTERNAL,
    }
}

pub(crate) fn signature_status(error: tress_sign::Error) -> tress_status {
    use tress_sign::Error;
    match error {
        Error::MalformedKey
        | Error::UnknownPem
        | Error::UnknownAlgorithm
        | Error::Unsupported(_)
        | Error::SeveralKeys => TRESS_MALFORMED_KEY,
        Error::NotPrivate => TRESS_NOT_PRIVATE,
        Error::NotPublic => TRESS_NOT_PUBLIC,
        Error::Encrypted | Error::UnknownEncryption => TRESS_KEY_ENCRYPTED,
        Error::WrongPassphrase => TRESS_WRONG_PASSPHRASE,
        Error::WorkFactorTooHigh => TRESS_WORK_FACTOR,
        Error::Memory => TRESS_MEMORY,
        Error::ModulusTooShort
        | Error::ModulusTooLong
        | Error::ModulusLength
        | Error::ModulusEven
        | Error::PublicExponent
        | Error::EqualPrimes
        | Error::WrongPrimes
        | Error::WrongPrivateValues
        | Error::MultiPrime
        | Error::GroupSize
        | Error::WrongGroup
        | Error::WrongPublicValue => TRESS_KEY_REFUSED,
        Error::UnknownScheme => TRESS_UNKNOWN_NAME,
        Error::WrongScheme | Error::SaltTooLong => TRESS_WRONG_SCHEME,
        Error::DigestLength => TRESS_DIGEST_LENGTH,
        Error::MalformedSignature => TRESS_MALFORMED_SIGNATURE,
        Error::Mismatch => TRESS_MISMATCH,
        Error::Fault => TRESS_FAULT,
        Error::Random => TRESS_RANDOM,
        _ => TRESS_INTERNAL,
    }
}
