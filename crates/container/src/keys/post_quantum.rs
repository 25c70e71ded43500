//! age's post-quantum recipients and identities (<https://c2sp.org/age>, `mlkem768x25519`): HPKE with X-Wing, which joins ML-KEM-768 and
//! X25519 (<https://datatracker.ietf.org/doc/draft-connolly-cfrg-xwing-kem/>).

use std::collections::HashSet;
use std::fmt;
use std::io::Read;
use std::time::SystemTime;

use age::{DecryptError, EncryptError};
use age_core::format::{FileKey, Stanza};
use age_core::primitives::{bech32_decode, bech32_encode, hpke_open, hpke_seal};
use age_core::secrecy::ExposeSecret as _;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use bech32::Hrp;
use hpke::generic_array::typenum::{Sum, U32, U64, U128, U1024};
use hpke::kem::SharedSecret;
use hpke::{Deserializable, HpkeError, Kem, Serializable};
use ml_kem::kem::{Decapsulate as _, Encapsulate as _};
use ml_kem::{EncodedSizeUser as _, KemCore, MlKem768};
use sha3::digest::{ExtendableOutput as _, Update as _, XofReader};
use sha3::{Digest as _, Sha3_256, Shake256};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize as _, Zeroizing};

use super::address::{decode, has_low_order};
use super::lines::{created_line, key_lines, read_key_file};
use crate::random::fill_random;
use crate::{Error, ErrorKind};

const STANZA_TYPE: &str = "mlkem768x25519";
const INFO: &[u8] = b"age-encryption.org/mlkem768x25519";
/// Recipients without this label do not go into one file with those that have it.
const LABEL: &str = "postquantum";
const RECIPIENT_PREFIX: Hrp = Hrp::parse_unchecked("age1pq");
const IDENTITY_PREFIX: Hrp = Hrp::parse_unchecked("AGE-SECRET-KEY-PQ-");
const SEED_BYTES: usize = 32;
/// Bytes of a file key and its tag.
const BODY_BYTES: usize = 32;

/// A post-quantum identity. Wiped on drop, and `Debug` does not show it. It has no address: transfers are not post-quantum.
#[derive(Clone)]
pub struct PostQuantumIdentity(Zeroizing<[u8; SEED_BYTES]>);

impl PostQuantumIdentity {
    /// Generates an identity.
    ///
    /// # Errors
    /// `Io` when the system has no randomness.
    pub fn generate() -> Result<Self, Error> {
        let mut seed = Zeroizing::new([0; SEED_BYTES]);
        fill_random(&mut *seed)?;
        Ok(Self(seed))
    }

    /// Reads an identity file with exactly one identity, which is post-quantum.
    ///
    /// # Errors
    /// `BadIdentity`; the error never contains a line. `Io`.
    pub fn from_file(reader: impl Read) -> Result<Self, Error> {
        let bad = |detail| Error::new(ErrorKind::BadIdentity).with_detail(detail);
        let bytes = read_key_file(reader, ErrorKind::BadIdentity)?;
        let mut lines = key_lines(&bytes, &ErrorKind::BadIdentity)?;
        lines.retain(|(_, line)| !line.starts_with('#'));
        match lines[..] {
            [(_, line)] => Self::parse(line).ok_or_else(|| bad("not a post-quantum identity")),
            [] => Err(bad("file contains no identity")),
            _ => Err(bad("a second identity; use a file for each")),
        }
    }

    /// Writes the identity file, with the current time as its creation time. Wiped on drop.
    pub fn to_identity_file_text(&self) -> Zeroizing<String> {
        let (created, recipient) = (created_line(SystemTime::now()), self.recipient());
        Zeroizing::new(format!("{created}# public key: {recipient}\n{}\n", *self.to_text()))
    }

    /// Parses `AGE-SECRET-KEY-PQ-1…`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // The prefix is compared without regard to case, and an identity is in upper case.
        let is_upper = !text.bytes().any(|byte| byte.is_ascii_lowercase());
        decode(text, IDENTITY_PREFIX).filter(|_| is_upper).map(|seed| Self(Zeroizing::new(seed)))
    }

    /// The text that [`parse`](Self::parse) reads.
    fn to_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(bech32_encode(IDENTITY_PREFIX, &*self.0));
        text.make_ascii_uppercase();
        text
    }

    /// The recipient, `age1pq1…`.
    pub fn recipient(&self) -> PostQuantumRecipient {
        PostQuantumRecipient(XWing::sk_to_pk(&Seed(self.0.clone())))
    }
}

impl fmt::Debug for PostQuantumIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostQuantumIdentity").finish_non_exhaustive()
    }
}

impl age::Identity for PostQuantumIdentity {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        if stanza.tag != STANZA_TYPE {
            return None;
        }
        let Some(encapsulated) = encapsulated(stanza) else { return Some(Err(DecryptError::InvalidHeader)) };
        match hpke_open::<XWing>(&encapsulated, &Seed(self.0.clone()), INFO, &stanza.body) {
            Ok(opened) => {
                let opened = Zeroizing::new(opened);
                Some(Ok(FileKey::init_with_mut(|file_key| file_key.copy_from_slice(&opened))))
            }
            Err(HpkeError::DecapError) => Some(Err(DecryptError::InvalidHeader)),
            // A stanza that this identity does not open belongs to another recipient.
            Err(_) => None,
        }
    }
}

/// The encapsulated key of a stanza that is well formed.
fn encapsulated(stanza: &Stanza) -> Option<Encapsulated> {
    let [argument] = &stanza.args[..] else { return None };
    let bytes = BASE64_STANDARD_NO_PAD.decode(argument).ok().filter(|_| stanza.body.len() == BODY_BYTES)?;
    Encapsulated::from_bytes(&bytes).ok()
}

/// Public key of a post-quantum identity. `Display` writes its text, `age1pq1…`.
#[derive(Clone)]
pub struct PostQuantumRecipient(PublicKeys);

impl PostQuantumRecipient {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_ours = |prefix| if prefix == RECIPIENT_PREFIX { Ok(()) } else { Err(()) };
        let keys = bech32_decode(
            text,
            |_| (),
            is_ours,
            |_, bytes| PublicKeys::from_bytes(&bytes.collect::<Vec<u8>>()).map_err(drop),
        );
        // ML-KEM's keys have one form.
        let is_valid = |keys: &PublicKeys| {
            keys.ml_kem().as_bytes()[..] == keys.0[..ML_KEM_KEY_BYTES] && !has_low_order(keys.x25519().to_bytes())
        };
        keys.ok().filter(is_valid).map(Self)
    }
}

impl age::Recipient for PostQuantumRecipient {
    fn wrap_file_key(&self, file_key: &FileKey) -> Result<(Vec<Stanza>, HashSet<String>), EncryptError> {
        let (encapsulated, body) =
            hpke_seal::<XWing, _>(&self.0, INFO, file_key.expose_secret(), &mut rand::rngs::OsRng);
        let args = vec![BASE64_STANDARD_NO_PAD.encode(&encapsulated.0[..])];
        let stanza = Stanza { tag: STANZA_TYPE.to_owned(), args, body };
        Ok((vec![stanza], HashSet::from([LABEL.to_owned()])))
    }
}

impl fmt::Display for PostQuantumRecipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bech32_encode(RECIPIENT_PREFIX, &self.0.0[..]))
    }
}

/// X-Wing as a KEM of crate `hpke`.
struct XWing;

const ML_KEM_KEY_BYTES: usize = 1184;
const ML_KEM_CIPHERTEXT_BYTES: usize = 1088;

type DecapsulationKey = <MlKem768 as KemCore>::DecapsulationKey;
type EncapsulationKey = <MlKem768 as KemCore>::EncapsulationKey;

/// The secret key: what the keys of both parts are made from.
#[derive(Clone, PartialEq, Eq)]
struct Seed(Zeroizing<[u8; SEED_BYTES]>);

/// The public keys of ML-KEM-768 and X25519.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PublicKeys(Box<[u8; 1216]>);

/// The ciphertext of ML-KEM-768 and an ephemeral X25519 key.
#[derive(Clone)]
struct Encapsulated(Box<[u8; 1120]>);

/// Makes a type of bytes one of `hpke`.
macro_rules! bytes_of_hpke {
    ($type:ident, $bytes:ty, $wrap:expr) => {
        impl Serializable for $type {
            type OutputSize = $bytes;

            fn write_exact(&self, out: &mut [u8]) {
                out.copy_from_slice(&self.0[..]);
            }
        }

        impl Deserializable for $type {
            fn from_bytes(bytes: &[u8]) -> Result<Self, HpkeError> {
                let array = bytes.try_into().map_err(|_| HpkeError::IncorrectInputLength(Self::size(), bytes.len()))?;
                Ok(Self($wrap(array)))
            }
        }
    };
}

bytes_of_hpke!(Seed, U32, Zeroizing::new);
bytes_of_hpke!(PublicKeys, Sum<U1024, Sum<U128, U64>>, Box::new);
bytes_of_hpke!(Encapsulated, Sum<U1024, Sum<U64, U32>>, Box::new);

impl Seed {
    fn expand(&self) -> (DecapsulationKey, EncapsulationKey, StaticSecret) {
        let mut expanded = Zeroizing::new([[0; 32]; 3]);
        let mut hash = Shake256::default().chain(&self.0[..]).finalize_xof();
        XofReader::read(&mut hash, expanded.as_flattened_mut());
        let [d, z, x25519] = &*expanded;
        let (decapsulation, encapsulation) = MlKem768::generate_deterministic(d.into(), z.into());
        (decapsulation, encapsulation, StaticSecret::from(*x25519))
    }
}

impl PublicKeys {
    fn ml_kem(&self) -> EncapsulationKey {
        EncapsulationKey::from_bytes(self.0[..ML_KEM_KEY_BYTES].try_into().expect("is as long"))
    }

    fn x25519(&self) -> PublicKey {
        PublicKey::from(*self.0.last_chunk::<32>().expect("is as long"))
    }
}

/// The secret that both sides share.
fn combine(ml_kem: &[u8], x25519: &[u8], ephemeral: &PublicKey, public: &PublicKey) -> SharedSecret<XWing> {
    let mut hash = Sha3_256::new();
    for part in [ml_kem, x25519, ephemeral.as_bytes(), public.as_bytes(), br"\.//^\"] {
        sha3::Digest::update(&mut hash, part);
    }
    SharedSecret(hash.finalize())
}

impl Kem for XWing {
    type PublicKey = PublicKeys;
    type PrivateKey = Seed;
    type EncappedKey = Encapsulated;
    type NSecret = U32;
    const KEM_ID: u16 = 0x647a;

    fn sk_to_pk(seed: &Seed) -> PublicKeys {
        let (_, ml_kem, x25519) = seed.expand();
        let keys = [&ml_kem.as_bytes()[..], PublicKey::from(&x25519).as_bytes()].concat();
        PublicKeys::from_bytes(&keys).expect("is as long")
    }

    fn derive_keypair(_: &[u8]) -> (Seed, PublicKeys) {
        unreachable!("identities are seeds")
    }

    fn decap(
        seed: &Seed,
        _: Option<&PublicKeys>,
        encapsulated: &Encapsulated,
    ) -> Result<SharedSecret<Self>, HpkeError> {
        let (ml_kem, _, x25519) = seed.expand();
        let (ciphertext, ephemeral) = encapsulated.0.split_at(ML_KEM_CIPHERTEXT_BYTES);
        let ephemeral = PublicKey::from(<[u8; 32]>::try_from(ephemeral).expect("is as long"));
        let shared = x25519.diffie_hellman(&ephemeral);
        if !shared.was_contributory() {
            return Err(HpkeError::DecapError);
        }
        let ciphertext = ciphertext.try_into().expect("is as long");
        let mut first = ml_kem.decapsulate(&ciphertext).map_err(|()| HpkeError::DecapError)?;
        let secret = combine(&first, shared.as_bytes(), &ephemeral, &PublicKey::from(&x25519));
        first.as_mut_slice().zeroize();
        Ok(secret)
    }

    fn encap<R: rand::CryptoRng + rand::RngCore>(
        keys: &PublicKeys,
        _: Option<(&Seed, &PublicKeys)>,
        random: &mut R,
    ) -> Result<(SharedSecret<Self>, Encapsulated), HpkeError> {
        let (ciphertext, mut first) = keys.ml_kem().encapsulate(random).map_err(|()| HpkeError::EncapError)?;
        let ephemeral = StaticSecret::random_from_rng(random);
        let public = PublicKey::from(&ephemeral);
        let shared = ephemeral.diffie_hellman(&keys.x25519());
        let encapsulated = Encapsulated::from_bytes(&[&ciphertext[..], public.as_bytes()].concat())?;
        let secret = combine(&first, shared.as_bytes(), &public, &keys.x25519());
        first.as_mut_slice().zeroize();
        Ok((secret, encapsulated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use age::{Identity as _, Recipient as _};

    /// The example of the specification.
    const IDENTITY: &str = "AGE-SECRET-KEY-PQ-1XX76JRALNLXDMEW0CRK45QMCCH4X06SE84UN3VPM33W6HWDX0H3SK3ZQFR";

    #[test]
    fn only_its_identity_opens_what_a_recipient_gets() {
        let identity = PostQuantumIdentity::parse(IDENTITY).unwrap();
        assert_eq!(*identity.to_text(), IDENTITY);
        let recipient = PostQuantumRecipient::parse(&identity.recipient().to_string()).unwrap();
        let file_key = FileKey::init_with_mut(|key| key.copy_from_slice(b"yellow submarine"));
        let (mut stanzas, labels) = recipient.wrap_file_key(&file_key).unwrap();
        assert!(labels.contains(LABEL));
        let stanza = stanzas.remove(0);
        assert_eq!(identity.unwrap_stanza(&stanza).unwrap().unwrap().expose_secret(), b"yellow submarine");
        assert!(PostQuantumIdentity::generate().unwrap().unwrap_stanza(&stanza).is_none());
        assert!(PostQuantumIdentity::parse(&IDENTITY.to_lowercase()).is_none());
    }
}
