//! Reads signing keys from files.

use std::path::Path;

use tress_container::keys::other_forms;
use tress_sign::{Error, KeyFile, PrivateKey, PublicKey, Scheme, SigningKey, VerifyingKey};

use crate::failure::{self, Failure};
use crate::passphrase::{self, Purpose};
use crate::progress::Waiting;
use crate::stdin::Stdin;
use crate::{args, files};

/// Most bytes of a key file. RSA with 8192 bits in PEM has about 7000.
const MAX_BYTES: usize = 64 * 1024;

/// Whether this looks like a signing key and not like an identity.
pub(crate) fn is_key_file(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x30) || bytes.windows(10).any(|window| window == b"-----BEGIN")
}

pub(crate) fn signing_key(options: &args::Sign, stdin: &mut Stdin) -> Result<SigningKey, Failure> {
    let path = &options.key;
    stdin.claim(path, "a key")?;
    let bytes = files::read_small(path, MAX_BYTES)?;
    let key = open(path, &bytes, &options.passphrase, stdin)?;
    let public = key.public_key();
    let scheme = options.scheme.unwrap_or(Scheme::of(&public));
    SigningKey::new(key, scheme).map_err(|error| wrong_scheme(error, path, &public, scheme))
}

pub(crate) fn verifying_key(options: &args::Verify, stdin: &mut Stdin) -> Result<VerifyingKey, Failure> {
    let path = &options.key;
    stdin.claim(path, "a key")?;
    let bytes = files::read_small(path, MAX_BYTES)?;
    let public = KeyFile::read(&bytes)
        .and_then(KeyFile::into_public)
        .map_err(|error| failure::signing(error, failure::name(path)))?;
    let scheme = options.scheme.unwrap_or(Scheme::of(&public));
    VerifyingKey::new(public.clone(), scheme).map_err(|error| wrong_scheme(error, path, &public, scheme))
}

/// The public key of the private or public key in the file.
pub(crate) fn public_part(
    path: &Path,
    bytes: &[u8],
    passphrase: &args::Passphrase,
    stdin: &mut Stdin,
) -> Result<PublicKey, Failure> {
    match KeyFile::read(bytes).map_err(|error| failure::signing(error, failure::name(path)))? {
        KeyFile::Public(key) => Ok(key),
        _ => Ok(open(path, bytes, passphrase, stdin)?.public_key()),
    }
}

/// The private key. A passphrase is read only if the key is encrypted.
fn open(path: &Path, bytes: &[u8], options: &args::Passphrase, stdin: &mut Stdin) -> Result<PrivateKey, Failure> {
    let named = |error| failure::signing(error, failure::name(path));
    let file = KeyFile::read(bytes).map_err(named)?;
    let KeyFile::Encrypted(_) = file else { return file.into_private(None).map_err(named) };
    let passphrase = passphrase::read(options, Purpose::Decrypt, stdin)?;
    let _waiting = passphrase.as_ref().map(|_| Waiting::start("deriving the key from the passphrase"));
    let mut opened = file.into_private(passphrase.as_ref().map(|passphrase| passphrase.as_bytes()));
    for form in passphrase.iter().flat_map(|passphrase| other_forms(passphrase)) {
        if opened.as_ref().is_err_and(|error| *error == Error::WrongPassphrase) {
            tress_terminal::note("the passphrase does not fit: trying its other Unicode form");
            opened = KeyFile::read(bytes).and_then(|file| file.into_private(Some(form.as_bytes())));
        }
    }
    opened.map_err(named)
}

fn wrong_scheme(error: Error, path: &Path, key: &PublicKey, scheme: Scheme) -> Failure {
    let kind = match key {
        PublicKey::Rsa(_) => "an RSA",
        PublicKey::Dsa(_) => "a DSA",
        PublicKey::Schnorr(_) => "a Schnorr",
        _ => "another",
    };
    failure::signing(error, failure::name(path)).hint(format!("{kind} key cannot be used with {scheme}"))
}
