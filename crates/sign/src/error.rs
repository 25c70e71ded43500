//! The one error type of this crate. Programs and tests match it; the text is for people.

/// Why a key cannot be used, a signature cannot be made, or does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither PEM nor DER of a kind of key that is known here, or damaged, or BER where DER is asked for.
    #[error("malformed key")]
    MalformedKey,
    /// PEM of something else: a certificate, or a key of another kind.
    #[error("PEM file holds no supported key")]
    UnknownPem,
    /// The key's algorithm identifier is none of RSA, DSA and tress's Schnorr.
    #[error("unsupported key algorithm")]
    UnknownAlgorithm,
    /// A public key where a private one is needed.
    #[error("this is a public key; a private key is needed")]
    NotPrivate,
    /// A private key where a public one is needed.
    #[error("this is a private key; a public key is needed")]
    NotPublic,
    /// The file is encrypted, and no passphrase was given.
    #[error("key is encrypted")]
    Encrypted,
    /// The passphrase does not open the key, or the file is damaged: nobody can tell these apart.
    #[error("wrong passphrase")]
    WrongPassphrase,
    /// Encrypted in a way that is not supported: something else than PBES2 with AES, or PEM's own
    /// encryption.
    #[error("unsupported encryption of the key")]
    UnknownEncryption,
    /// Deriving the key from the passphrase would take more time or memory than this library is willing to spend.
    #[error("work factor of the encrypted key is above the limit")]
    WorkFactorTooHigh,

    /// The modulus is shorter than 1024 bits (verifying) or 2048 (signing).
    #[error("modulus is too short: signing needs 2048 bits, verifying 1024")]
    ModulusTooShort,
    /// The modulus is longer than 8192 bits.
    #[error("modulus is longer than 8192 bits")]
    ModulusTooLong,
    /// A key of this length is not generated.
    #[error("length of a generated RSA modulus must be an even number of bits from 2048 to 8192")]
    ModulusLength,
    /// The modulus is even.
    #[error("modulus is even")]
    ModulusEven,
    /// The public exponent is even, or 1, or has more than 64 bits.
    #[error("public exponent is even, less than 3 or longer than 64 bits")]
    PublicExponent,
    /// The two primes are one.
    #[error("primes p and q are equal")]
    EqualPrimes,
    /// The primes do not multiply to the modulus, or one of them is even or has 64 bits or fewer.
    #[error("primes p and q do not match the modulus")]
    WrongPrimes,
    /// The private exponent, or one of the values for the Chinese remainder theorem, does not belong to the key.
    #[error("private values do not match the key")]
    WrongPrivateValues,
    /// An RSA key of more than two primes.
    #[error("RSA keys with more than two primes are not supported")]
    MultiPrime,
    /// p and q of a DSA or Schnorr key have a size that is not supported.
    #[error("group size is not supported")]
    GroupSize,
    /// p, q and g make no group of prime order.
    #[error("group parameters are invalid")]
    WrongGroup,
    /// The public value is none of the group.
    #[error("public value is not in the group")]
    WrongPublicValue,

    /// No scheme has this name.
    #[error("unknown signature scheme")]
    UnknownScheme,
    /// The key is of another kind than the scheme needs: a DSA key for Schnorr, say; or its algorithm identifier is that of PSS
    /// and does not allow the scheme.
    #[error("key does not fit the signature scheme")]
    WrongScheme,
    /// The salt of PSS has no room in a signature of this key.
    #[error("salt is longer than the key has room for")]
    SaltTooLong,
    /// The digest has not the length that the scheme's hash function gives.
    #[error("digest has the wrong length")]
    DigestLength,
    /// The signature has another length or form than the key and scheme give, or a value in it is out of range.
    #[error("malformed signature")]
    MalformedSignature,
    /// The signature is not one of this message under this key.
    #[error("signature does not match")]
    Mismatch,
    /// A computation went wrong: what came out does not verify, and was destroyed.
    #[error("computation failed its own check; nothing was signed")]
    Fault,
    /// The system gave no randomness.
    #[error("the system provides no random bytes")]
    Random,
    /// The queue's worker is gone, or its answer was already taken.
    #[error("signing queue is closed")]
    QueueClosed,
    /// The queue takes no more requests until it has signed some.
    #[error("signing queue is full")]
    QueueFull,
    /// The system gave no thread.
    #[error("the system provides no thread")]
    NoThread,
}

impl Error {
    /// Whether the key, the scheme or the digest is of no use in itself, as opposed to something that failed.
    #[must_use]
    pub fn is_usage(self) -> bool {
        !matches!(
            self,
            Self::WrongPassphrase
                | Self::WorkFactorTooHigh
                | Self::MalformedSignature
                | Self::Mismatch
                | Self::Fault
                | Self::Random
                | Self::QueueClosed
                | Self::QueueFull
                | Self::NoThread
        )
    }
}

impl From<Error> for signature::Error {
    fn from(error: Error) -> Self {
        Self::from_source(error)
    }
}
