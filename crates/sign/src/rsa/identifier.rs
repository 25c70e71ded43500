//! The schemes that the algorithm identifier of an RSA key allows (RFC 4055, sections 1.2 and 3.1).

use std::ops::RangeInclusive;

use super::{PublicKey, SaltLength};
use crate::{Error, Hash};

/// The algorithm identifier of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RsaIdentifier {
    /// rsaEncryption: all RSA schemes.
    Any,
    /// id-RSASSA-PSS without parameters: only PSS.
    Pss,
    /// id-RSASSA-PSS with parameters: only PSS with this hash function, also for MGF1, and with a salt of a minimum length.
    PssWith {
        /// Hash function for the message and for MGF1.
        hash: Hash,
        /// Shortest allowed salt in bytes.
        least_salt_bytes: usize,
    },
}

impl PublicKey {
    pub(crate) const fn identifier(&self) -> RsaIdentifier {
        self.identifier
    }

    pub(crate) fn with_identifier(self, identifier: RsaIdentifier) -> Self {
        Self { identifier, ..self }
    }

    /// The allowed lengths of the PSS salt in bytes with this hash function.
    ///
    /// # Errors
    /// `SaltTooLong` if the salt does not fit into the modulus; `WrongScheme` if the key's identifier does not allow it.
    pub(crate) fn salt_bytes(&self, hash: Hash, salt: SaltLength) -> Result<RangeInclusive<usize>, Error> {
        let least = match self.identifier {
            RsaIdentifier::PssWith { hash: only, .. } if only != hash => return Err(Error::WrongScheme),
            RsaIdentifier::PssWith { least_salt_bytes, .. } => least_salt_bytes,
            RsaIdentifier::Any | RsaIdentifier::Pss => 0,
        };
        // EMSA-PSS (RFC 8017, 9.1.1, step 3): digest, salt and two bytes, in one bit less than the modulus has.
        let most =
            ((self.bits() - 1).div_ceil(8)).checked_sub(hash.digest_bytes() + 2).ok_or(Error::ModulusTooShort)?;
        let range = match salt {
            SaltLength::Digest => hash.digest_bytes()..=hash.digest_bytes(),
            SaltLength::Bytes(bytes) => bytes..=bytes,
            SaltLength::Any => least..=most,
        };
        if *range.start().max(&least) > most {
            return Err(Error::SaltTooLong);
        }
        if *range.start() < least {
            return Err(Error::WrongScheme);
        }
        Ok(range)
    }
}
