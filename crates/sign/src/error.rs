//! The error type of this crate. Programs and tests match it; the text is for people.

/// Why a key cannot be used, or a signature cannot be made or is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The key is damaged, in BER instead of DER, or of an unknown type.
    #[error("malformed key")]
    MalformedKey,
    /// The PEM file holds something else: a certificate, or a key of another type.
    #[error("PEM file holds no supported key")]
    UnknownPem,
    /// The file or its key is of a kind that is not supported.
    #[error("unsupported: {0}")]
    Unsupported(UnsupportedKey),
    /// The PEM file holds several private keys, or several public keys and no private one.
    #[error("file holds several keys")]
    SeveralKeys,
    /// The key's algorithm identifier is not that of RSA, DSA or tress's Schnorr.
    #[error("unsupported key algorithm")]
    UnknownAlgorithm,
    /// This is a public key, but a private key is needed.
    #[error("this is a public key; a private key is needed")]
    NotPrivate,
    /// This is a private key, but a public key is needed.
    #[error("this is a private key; a public key is needed")]
    NotPublic,
    /// The key is encrypted, and no passphrase was given.
    #[error("key is encrypted")]
    Encrypted,
    /// The passphrase is wrong, or the file is damaged. The two cannot be distinguished.
    #[error("wrong passphrase")]
    WrongPassphrase,
    /// The key's encryption is not supported: PEM's own, or another one than PBES2 with AES.
    #[error("unsupported encryption of the key")]
    UnknownEncryption,
    /// Deriving the key from the passphrase would exceed this library's limit on time or memory.
    #[error("work factor of the encrypted key is above the limit")]
    WorkFactorTooHigh,
    /// There is not enough memory to derive the key from the passphrase.
    #[error("not enough memory for the passphrase of the encrypted key")]
    Memory,

    /// The modulus is shorter than 1024 bits (verifying) or 2048 bits (signing).
    #[error("modulus is too short: signing needs 2048 bits, verifying 1024")]
    ModulusTooShort,
    /// The modulus is longer than 8192 bits.
    #[error("modulus is longer than 8192 bits")]
    ModulusTooLong,
    /// Keys of this length are not generated.
    #[error("length of a generated RSA modulus must be an even number of bits from 2048 to 8192")]
    ModulusLength,
    /// The modulus is even.
    #[error("modulus is even")]
    ModulusEven,
    /// The public exponent is even, or 1, or has more than 64 bits.
    #[error("public exponent is even, less than 3 or longer than 64 bits")]
    PublicExponent,
    /// The two primes are equal.
    #[error("primes p and q are equal")]
    EqualPrimes,
    /// The product of the primes is not the modulus, or one of them is even or has 64 bits or fewer.
    #[error("primes p and q do not match the modulus")]
    WrongPrimes,
    /// The private exponent, or one of the values for the Chinese remainder theorem, does not match the key.
    #[error("private values do not match the key")]
    WrongPrivateValues,
    /// The RSA key has more than two primes.
    #[error("RSA keys with more than two primes are not supported")]
    MultiPrime,
    /// The sizes of p and q of a DSA or Schnorr key are not supported.
    #[error("group size is not supported")]
    GroupSize,
    /// p, q and g do not define a group of prime order.
    #[error("group parameters are invalid")]
    WrongGroup,
    /// The public value is not in the group.
    #[error("public value is not in the group")]
    WrongPublicValue,

    /// No scheme has this name.
    #[error("unknown signature scheme")]
    UnknownScheme,
    /// The key does not fit the scheme, for example a DSA key for Schnorr; or the key is for PSS only, and does not allow the scheme.
    #[error("key does not fit the signature scheme")]
    WrongScheme,
    /// The salt of PSS does not fit into a signature with this key.
    #[error("salt is longer than the key has room for")]
    SaltTooLong,
    /// The digest does not have the length of the scheme's hash function.
    #[error("digest has the wrong length")]
    DigestLength,
    /// The signature has the wrong length or form for the key and scheme, or a value in it is out of range.
    #[error("malformed signature for this key")]
    MalformedSignature,
    /// The signature is not valid for this message and key.
    #[error("signature does not match")]
    Mismatch,
    /// A computation failed: its result did not verify, and was wiped.
    #[error("computation failed its own check; nothing was signed")]
    Fault,
    /// The system provides no randomness.
    #[error("the system provides no random bytes")]
    Random,
    /// The queue's worker has ended, or the answer was taken already.
    #[error("signing queue is closed")]
    QueueClosed,
    /// The queue is full until it has signed some requests.
    #[error("signing queue is full")]
    QueueFull,
    /// The system refused a thread.
    #[error("the system provides no thread")]
    NoThread,
}

/// A kind of key that this library knows and does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsupportedKey {
    /// A key in the format of OpenSSH.
    #[error("OpenSSH key")]
    OpenSsh,
    /// A file of keys and certificates (RFC 7292).
    #[error("PKCS #12 file")]
    Pkcs12,
    /// A certificate or a request for one.
    #[error("X.509 certificate")]
    X509,
    /// A key for PSS with SHA-1 in its mask generation function, the default of RFC 4055.
    #[error("PSS key with SHA-1 for MGF1")]
    Mgf1Sha1,
}

impl Error {
    /// Whether the key, the scheme or the digest is invalid. Otherwise the operation failed.
    #[must_use]
    pub fn is_usage(self) -> bool {
        !matches!(
            self,
            Self::WrongPassphrase
                | Self::WorkFactorTooHigh
                | Self::Memory
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
