//! SSH keys: public ones are recipients, private ones are identities. Crate `age` does the cryptography.

use age::DecryptError;
use age::ssh::{EncryptedKey, Identity, ParseRecipientKeyError as Refused, Recipient, UnsupportedKey};
use age_core::format::Stanza;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::address::LOW_ORDER;
use super::ask::{AskCallbacks, Locked, LockedIdentity};
use super::lines::{OLD_PEM, is_ssh_type};
use crate::{Error, ErrorKind};

const OPENSSH: &[u8] = b"-----BEGIN OPENSSH PRIVATE KEY-----";
/// Bytes of the hash of a public key that its stanzas begin with.
const TAG_BYTES: usize = 4;

/// Parses a public key: its type, a space and Base64.
pub(super) fn recipient(text: &str) -> Result<Recipient, Error> {
    let (kind, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let malformed = || {
        bad_recipient(match kind {
            "ssh-ed25519" | "ssh-rsa" => format!("not an SSH public key of type {kind}"),
            _ => unsupported(kind),
        })
    };
    let encoded = rest.split(|c: char| !(c.is_ascii_alphanumeric() || "+/".contains(c))).next().unwrap_or_default();
    if BASE64_STANDARD_NO_PAD.decode(encoded).is_ok_and(|key| has_long_zero(&key)) {
        return Err(malformed());
    }
    match text.parse::<Recipient>() {
        Ok(Recipient::SshEd25519(_, point)) if point.is_small_order() => Err(bad_recipient(LOW_ORDER)),
        Ok(recipient) => Ok(recipient),
        Err(Refused::RsaModulusTooLarge) => Err(bad_recipient("RSA key is too large")),
        Err(Refused::RsaModulusTooSmall) => Err(bad_recipient("RSA key is smaller than 2048 bits")),
        Err(_) => Err(malformed()),
    }
}

/// Reads a private key in PEM, and takes the recipient that belongs to it.
pub(super) fn recipient_of(pem: &[u8]) -> Result<Recipient, Error> {
    recipient(&Recipient::try_from(read(pem)?).map_err(without_recipient)?.to_string())
}

/// Reads a private key in PEM.
pub(super) fn identity(pem: &[u8], ask: Option<AskCallbacks>) -> Result<Box<dyn age::Identity + Send + Sync>, Error> {
    match (read(pem)?, ask) {
        (Identity::Encrypted(key), Some(ask)) => Ok(Box::new(LockedIdentity::new(ask, LockedKey::new(key)?))),
        (Identity::Encrypted(_), None) => {
            Err(bad_identity("SSH key is encrypted and a passphrase cannot be entered here"))
        }
        (identity, _) => Ok(Box::new(identity)),
    }
}

fn read(pem: &[u8]) -> Result<Identity, Error> {
    let malformed =
        || bad_identity(if pem.starts_with(OPENSSH) { "not an SSH private key that age can use" } else { OLD_PEM });
    if openssh_has_long_zero(pem) == Some(true) {
        return Err(malformed());
    }
    match Identity::from_buffer(pem, None).map_err(|error| malformed().with_source(error))? {
        Identity::Unsupported(key) => Err(bad_identity(match key {
            UnsupportedKey::EncryptedPem => OLD_PEM.into(),
            UnsupportedKey::EncryptedSsh(cipher) => {
                format!("SSH key is encrypted with {cipher}, which is not supported")
            }
            UnsupportedKey::Hardware(kind) | UnsupportedKey::Type(kind) => unsupported(&kind),
        })),
        identity => Ok(identity),
    }
}

/// The error of a private key without a recipient.
fn without_recipient(error: Refused) -> Error {
    bad_identity(match error {
        Refused::Unsupported(kind) => unsupported(&kind),
        Refused::RsaModulusTooLarge => "RSA key is too large".into(),
        _ => "SSH key has no recipient".into(),
    })
}

/// Names the type of an SSH key that age does not support. It comes from a file: anything but a type's name is not repeated.
fn unsupported(kind: &str) -> String {
    let named = if is_ssh_type(kind) { format!(" of type {kind}") } else { String::new() };
    format!("SSH keys{named} are not supported, only ssh-ed25519 and ssh-rsa")
}

/// A private key that a passphrase encrypts.
struct LockedKey {
    key: EncryptedKey,
    /// Type and first argument of the stanzas that it opens. `None` for RSA above 4096 bits, of which age makes no recipient.
    opens: Option<(&'static str, String)>,
}

impl LockedKey {
    fn new(key: EncryptedKey) -> Result<Self, Error> {
        let tag = |public: &[u8]| BASE64_STANDARD_NO_PAD.encode(&Sha256::digest(public)[..TAG_BYTES]);
        let opens = match Recipient::try_from(Identity::from(key.clone())) {
            Ok(Recipient::SshRsa(public, _)) => Some(("ssh-rsa", tag(&public))),
            Ok(Recipient::SshEd25519(public, _)) => Some(("ssh-ed25519", tag(&public))),
            Err(Refused::RsaModulusTooLarge) => None,
            Err(error) => return Err(without_recipient(error)),
        };
        Ok(Self { key, opens })
    }
}

impl Locked for LockedKey {
    type Unlocked = Identity;

    const QUESTION: &str = "Type passphrase for OpenSSH key";

    fn may_open(&self, stanza: &Stanza) -> bool {
        match &self.opens {
            Some((kind, tag)) => stanza.tag == *kind && stanza.args.first() == Some(tag),
            None => stanza.tag == "ssh-rsa",
        }
    }

    fn unlock(&self, passphrase: &str, _: &AskCallbacks) -> Result<Identity, DecryptError> {
        self.key.decrypt(passphrase.into()).map(Identity::from)
    }
}

fn bad_recipient(detail: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadRecipient).with_detail(detail)
}

fn bad_identity(detail: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadIdentity).with_detail(detail)
}

/// Whether a key in OpenSSH's format has a number at which age's parser panics. `None` if it has another format. What a passphrase
/// encrypts is not seen.
fn openssh_has_long_zero(pem: &[u8]) -> Option<bool> {
    let lines = pem.strip_prefix(OPENSSH)?;
    // The capacity suffices: growing would leave a copy behind.
    let mut encoded = Zeroizing::new(Vec::with_capacity(lines.len()));
    encoded.extend(lines.iter().take_while(|&&byte| byte != b'-').filter(|byte| !byte.is_ascii_whitespace()));
    let bytes = Zeroizing::new(BASE64_STANDARD.decode(&*encoded).ok()?);
    let bytes = bytes.strip_prefix(b"openssh-key-v1\0")?;
    // Cipher, key derivation and its options, the number of keys in 4 bytes, the public key, the private key after 8 check bytes.
    let keys = 4 + fields(bytes).take(3).map(|field| 4 + field.len()).sum::<usize>();
    let mut keys = fields(bytes.get(keys..)?);
    let (public, private) = (keys.next()?, keys.next()?);
    Some(has_long_zero(public) || has_long_zero(private.get(8..)?))
}

/// Whether one of these fields is a zero with digits. Zero has none, and age's parser panics if it has.
fn has_long_zero(key: &[u8]) -> bool {
    fields(key).any(|field| !field.is_empty() && field.iter().all(|&byte| byte == 0))
}

/// The fields that these bytes begin with, each after its length (RFC 4251, section 5: `string` and `mpint`).
fn fields(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk()?;
        let (field, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        bytes = rest;
        Some(field)
    })
}

#[cfg(test)]
mod tests {
    use base16ct::lower::decode_vec;

    use super::*;
    use crate::ErrorKind::{BadIdentity, BadRecipient};
    use crate::keys::{Identities, Recipients};

    const KEY: &[u8] = include_bytes!("testdata/ssh_ed25519");
    const LOCKED: &[u8] = include_bytes!("testdata/ssh_ed25519_locked");

    fn field(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
    }

    fn fields_of(parts: &[&[u8]]) -> Vec<u8> {
        parts.iter().flat_map(|part| field(part)).collect()
    }

    fn refused(kind: &str, public: &[&[u8]]) -> bool {
        let key = fields_of(&[&[kind.as_bytes()], public].concat());
        let found = format!("{kind} {} me", BASE64_STANDARD.encode(key)).parse::<Recipients>();
        found.is_err_and(|error| error.kind == BadRecipient)
    }

    /// The coordinates of all points of low order, with those above the prime: libsodium's list.
    #[test]
    fn points_of_low_order_are_refused() {
        for y in [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ] {
            let mut point = decode_vec(y).unwrap();
            for _ in 0..2 {
                assert!(refused("ssh-ed25519", &[&point]), "{y}");
                point[31] ^= 0x80;
            }
        }
    }

    /// RFC 4251, section 5: zero has no digits.
    #[test]
    fn a_zero_with_digits_is_refused() {
        let number = &[0x7f; 256][..];
        for zero in [&[0][..], &[0; 300]] {
            assert!(refused("ssh-rsa", &[zero, number]) && refused("ssh-rsa", &[number, zero]));
            // The numbers of the public and the private key. With a passphrase only the public key is read.
            for place in 0..8 {
                let bcrypt = [&field(b"salt")[..], &[0, 0, 0, 1]].concat();
                let encryption: [&[u8]; 3] =
                    if place < 2 { [b"aes256-ctr", b"bcrypt", &bcrypt] } else { [b"none", b"none", b""] };
                let mut numbers = [number; 8];
                numbers[place] = zero;
                let public = fields_of(&[&[&b"ssh-rsa"[..]], &numbers[..2]].concat());
                let private = fields_of(&[&[&b"ssh-rsa"[..]], &numbers[2..], &[b"comment"]].concat());
                let start = [&b"openssh-key-v1\0"[..], &fields_of(&encryption), &[0, 0, 0, 1]].concat();
                let key = [start, field(&public), field(&[&[7; 8], &private[..]].concat())].concat();
                let encoded = BASE64_STANDARD.encode(key);
                let pem = [OPENSSH, b"\n", encoded.as_bytes(), b"\n-----END OPENSSH PRIVATE KEY-----\n"].concat();
                assert_eq!(Identities::from_file(&pem[..]).unwrap_err().kind, BadIdentity);
                assert_eq!(Recipients::from_identity_file(&pem[..]).unwrap_err().kind, BadIdentity);
            }
        }
    }

    #[test]
    fn the_recipient_of_a_private_key_is_checked_like_any_other() {
        // `openssl genrsa -traditional 512`.
        let rsa = include_bytes!("testdata/rsa_512.pem");
        let kind = |pem: &[u8]| Recipients::from_identity_file(pem).err().map(|error| error.kind);
        let cases: [(&[u8], Option<ErrorKind>); 5] = [
            (KEY, None),
            (LOCKED, None),
            (rsa, Some(BadRecipient)),
            (&KEY[..200], Some(BadIdentity)),
            (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", Some(BadIdentity)),
        ];
        for (pem, expected) in cases {
            assert_eq!(kind(pem), expected);
        }
    }
}
