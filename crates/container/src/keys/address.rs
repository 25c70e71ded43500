//! Addresses: `tress1…`, one line with both public keys of a key pair.
//!
//! Bech32 (BIP 173, without its length limit, as in age) with prefix `tress` over a version byte 1, the age X25519 recipient (32 bytes)
//! and the Noise X25519 public key (32 bytes).

use std::fmt;
use std::str::FromStr;

use age_core::primitives::{bech32_decode, bech32_encode};
use bech32::Hrp;
use x25519_dalek::{PublicKey, StaticSecret};

use crate::{Error, ErrorKind};

pub(super) const KEY_BYTES: usize = 32;
const PREFIX: Hrp = Hrp::parse_unchecked("tress");
pub(super) const RECIPIENT_PREFIX: Hrp = Hrp::parse_unchecked("age");
const VERSION: u8 = 1;
/// The detail of an error.
pub(super) const LOW_ORDER: &str = "public key is a point of low order";

/// Public key of an X25519 identity. `Display` writes its text, `age1…`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Recipient(pub(super) age::x25519::Recipient);

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient({self})")
    }
}

/// Public keys of a receiver: one to encrypt to (age), and one to connect to (Noise).
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    age_public_key: [u8; KEY_BYTES],
    noise_public_key: [u8; KEY_BYTES],
}

impl Address {
    pub(super) fn new(recipient: &Recipient, noise_public_key: [u8; KEY_BYTES]) -> Self {
        let age_public_key = decode(&recipient.to_string(), RECIPIENT_PREFIX).expect("age prints what it parses");
        Self { age_public_key, noise_public_key }
    }

    /// The address's age recipient.
    pub fn recipient(&self) -> Recipient {
        Recipient(bech32_encode(RECIPIENT_PREFIX, &self.age_public_key).parse().expect("32 bytes are a recipient"))
    }

    /// The address's Noise static public key.
    pub fn noise_public_key(&self) -> &[u8; 32] {
        &self.noise_public_key
    }
}

impl FromStr for Address {
    type Err = Error;

    /// # Errors
    /// `BadRecipient`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes: [u8; 1 + 2 * KEY_BYTES] = decode(text, PREFIX)
            .ok_or_else(|| Error::new(ErrorKind::BadRecipient).with_detail("not a tress address"))?;
        if bytes[0] != VERSION {
            return Err(Error::new(ErrorKind::BadRecipient).with_detail("tress address of an unknown version"));
        }
        let (age_public_key, noise_public_key) = bytes[1..].split_at(KEY_BYTES);
        let age_public_key = age_public_key.try_into().expect("32 bytes");
        let noise_public_key = noise_public_key.try_into().expect("32 bytes");
        if has_low_order(age_public_key) || has_low_order(noise_public_key) {
            return Err(Error::new(ErrorKind::BadRecipient).with_detail(LOW_ORDER));
        }
        Ok(Self { age_public_key, noise_public_key })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&[VERSION], &self.age_public_key[..], &self.noise_public_key[..]].concat();
        f.write_str(&bech32_encode(PREFIX, &bytes))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// Whether any secret key gives zeros with this X25519 public key, so that everybody knows what is encrypted to it. age's crate panics.
pub(super) fn has_low_order(public_key: [u8; KEY_BYTES]) -> bool {
    !StaticSecret::from([1; KEY_BYTES]).diffie_hellman(&PublicKey::from(public_key)).was_contributory()
}

/// Decodes exactly N bytes in Bech32 with this prefix.
pub(super) fn decode<const N: usize>(text: &str, prefix: Hrp) -> Option<[u8; N]> {
    bech32_decode(
        text,
        |_| (),
        |found| if found == prefix { Ok(()) } else { Err(()) },
        |_, mut bytes| {
            let mut out = [0; N];
            for byte in &mut out {
                *byte = bytes.next().ok_or(())?;
            }
            if bytes.next().is_some() { Err(()) } else { Ok(out) }
        },
    )
    .ok()
}
