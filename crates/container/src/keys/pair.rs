//! Key pairs, as `tress keygen` makes them: an age X25519 identity and a separate Noise X25519 static key.
//!
//! The Noise key is in a comment line of the identity file, so that every age implementation can still read the file:
//!
//! ```text
//! # created: 2026-01-31T12:00:00Z
//! # public key: age1…
//! # tress address: tress1…
//! # tress noise key: TRESS-NOISE-KEY-1…
//! AGE-SECRET-KEY-1…
//! ```

use std::fmt;
use std::fmt::Write;
use std::io::Read;
use std::time::SystemTime;

use age::secrecy::ExposeSecret;
use age::x25519;
use age_core::primitives::bech32_encode;
use bech32::Hrp;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use super::address::{Address, KEY_BYTES, Recipient, decode};
use super::lines::{created_line, key_lines, read_key_file};
use super::post_quantum::PostQuantumIdentity;
use crate::random::fill_random;
use crate::{Error, ErrorKind};

const NOISE_PREFIX: Hrp = Hrp::parse_unchecked("tress-noise-key-");
const NOISE_LINE: &str = "# tress noise key: ";
/// Capacity for the identity file, so that its buffer never grows.
const TEXT_BYTES: usize = 1024;

/// An age identity and a Noise static key, which a file that age made does not have. Both are wiped on drop, and `Debug` does not show
/// them.
#[derive(Clone)]
pub struct KeyPair {
    identity: x25519::Identity,
    noise: Option<StaticSecret>,
}

impl KeyPair {
    /// Generates a key pair.
    ///
    /// # Errors
    /// `Io` when the system has no randomness.
    pub fn generate() -> Result<KeyPair, Error> {
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        fill_random(&mut *secret)?;
        Ok(Self { identity: x25519::Identity::generate(), noise: Some(StaticSecret::from(*secret)) })
    }

    /// Parses an identity file with exactly one X25519 identity, and its Noise key if there is one.
    ///
    /// # Errors
    /// `BadIdentity`, with the line number; the error never contains the line itself.
    pub fn parse(text: &str) -> Result<KeyPair, Error> {
        Self::from_file(text.as_bytes())
    }

    /// Reads an identity file like [`parse`](Self::parse).
    ///
    /// # Errors
    /// The same as [`parse`](Self::parse); `Io`.
    pub fn from_file(reader: impl Read) -> Result<KeyPair, Error> {
        let bytes = read_key_file(reader, ErrorKind::BadIdentity)?;
        let mut identity = None;
        let mut noise = None;
        let mut missing = "file contains no identity";
        for (number, line) in key_lines(&bytes, &ErrorKind::BadIdentity)? {
            let bad = |what| Error::new(ErrorKind::BadIdentity).with_detail(format!("line {number}: {what}"));
            if let Some(encoded) = line.strip_prefix(NOISE_LINE) {
                let secret = Zeroizing::new(
                    decode::<KEY_BYTES>(encoded, NOISE_PREFIX).ok_or_else(|| bad("malformed Noise key"))?,
                );
                if noise.replace(StaticSecret::from(*secret)).is_some() {
                    return Err(bad("a second Noise key"));
                }
            } else if PostQuantumIdentity::parse(line).is_some() {
                missing = "a post-quantum identity cannot send or receive";
            } else if !line.starts_with('#') {
                let parsed = line.parse().map_err(|_| bad("not an age X25519 identity"))?;
                if identity.replace(parsed).is_some() {
                    return Err(bad("a second identity; use a file for each"));
                }
            }
        }
        let identity = identity.ok_or_else(|| Error::new(ErrorKind::BadIdentity).with_detail(missing))?;
        Ok(Self { identity, noise })
    }

    /// Writes the identity file, with the current time as its creation time. Wiped on drop.
    pub fn to_identity_file_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(TEXT_BYTES));
        text.push_str(&created_line(SystemTime::now()));
        writeln!(text, "# public key: {}", self.recipient()).expect("a string takes everything");
        if let (Some(address), Some(noise)) = (self.address(), &self.noise) {
            let mut encoded = Zeroizing::new(bech32_encode(NOISE_PREFIX, &*Zeroizing::new(noise.to_bytes())));
            encoded.make_ascii_uppercase();
            writeln!(text, "# tress address: {address}\n{NOISE_LINE}{}", *encoded).expect("a string takes everything");
        }
        text.push_str(self.identity.to_string().expose_secret());
        text.push('\n');
        text
    }

    /// The recipient, `age1…`.
    pub fn recipient(&self) -> Recipient {
        Recipient(self.identity.to_public())
    }

    /// The address, `tress1…`, if there is a Noise key.
    pub fn address(&self) -> Option<Address> {
        self.noise.as_ref().map(|noise| Address::new(&self.recipient(), PublicKey::from(noise).to_bytes()))
    }

    pub(super) fn identity(&self) -> &x25519::Identity {
        &self.identity
    }

    /// The Noise static secret key, if there is one.
    pub fn noise_secret_key(&self) -> Option<Zeroizing<[u8; 32]>> {
        self.noise.as_ref().map(|noise| Zeroizing::new(noise.to_bytes()))
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair").field("recipient", &self.recipient()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_key_pairs_parse() {
        let pair = KeyPair::generate().unwrap();
        let text = pair.to_identity_file_text();
        let read = KeyPair::parse(&text).unwrap();
        assert_eq!(read.recipient(), pair.recipient());
        assert_eq!(read.address(), pair.address());
        assert_eq!(read.noise_secret_key(), pair.noise_secret_key());
        assert_eq!(crate::keys::Identities::from_file(text.as_bytes()).unwrap().len(), 1);
        assert!(text.len() < TEXT_BYTES);
        assert_eq!(crate::keys::Identities::from(pair).len(), 1);
    }

    #[test]
    fn an_address_carries_both_public_keys() {
        let pair = KeyPair::generate().unwrap();
        let text = pair.address().unwrap().to_string();
        assert!(text.starts_with("tress1"));
        let address: Address = text.parse().unwrap();
        assert_eq!(address.recipient(), pair.recipient());
        let noise = StaticSecret::from(*pair.noise_secret_key().unwrap());
        assert_eq!(address.noise_public_key(), PublicKey::from(&noise).as_bytes());
        for text in [text.clone(), text.to_uppercase()] {
            assert!(text.parse::<crate::keys::Recipients>().is_ok());
        }
        assert_eq!(text.to_uppercase().parse::<Address>().unwrap(), address);
    }

    #[test]
    fn damaged_addresses_are_refused() {
        let text = KeyPair::generate().unwrap().address().unwrap().to_string();
        let other_version = bech32_encode(Hrp::parse_unchecked("tress"), &[2; 65]);
        let too_long = bech32_encode(Hrp::parse_unchecked("tress"), &[1; 66]);
        let last = if text.ends_with('q') { 'p' } else { 'q' };
        let flipped = format!("{}{last}", &text[..text.len() - 1]);
        for bad in ["tress1", &text[..text.len() - 1], &flipped, &other_version, &too_long] {
            assert_eq!(bad.parse::<Address>().unwrap_err().kind, ErrorKind::BadRecipient, "{bad}");
        }
    }

    #[test]
    fn an_identity_file_of_age_has_no_address() {
        let text = "# created: x\nAGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33\r\n";
        let pair = KeyPair::parse(text).unwrap();
        assert!(pair.recipient().to_string().starts_with("age1"));
        assert_eq!(pair.address(), None);
        for bad in ["", "# x\n", "x\n", &format!("{text}{text}"), "# tress noise key: TRESS-NOISE-KEY-1QQ\n"] {
            assert_eq!(KeyPair::parse(bad).unwrap_err().kind, ErrorKind::BadIdentity);
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let shown = format!("{:?}", KeyPair::generate().unwrap());
        assert!(!shown.to_uppercase().contains("SECRET") && !shown.to_uppercase().contains("NOISE-KEY"));
    }
}
