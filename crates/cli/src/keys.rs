//! Reads recipients and identities from the options.

use std::path::{Path, PathBuf};

use tress_container::format::{CobblestoneKey, Format};
use tress_container::keys::{Identities, RawKey, Recipients, key_file};
use tress_container::{Error, ErrorKind};
use zeroize::Zeroizing;

use crate::failure::{self, Failure};
use crate::passphrase::{self, Purpose};
use crate::prompt::Terminal;
use crate::stdin::Stdin;
use crate::{args, files};

/// Most bytes of an identity or recipient file. An RSA key has 3 KiB.
const MAX_BYTES: usize = 256 * 1024;

const MAX_KEY_BYTES: usize = 32;

/// Largest context of a Cobblestone file, in bytes.
const MAX_CONTEXT_BYTES: usize = 1 << 20;

/// Reads the recipients of a file in this format, among them the owners of these identities.
pub(crate) fn recipients(
    options: &args::Recipients,
    identities: &[PathBuf],
    format: &args::FileFormat,
    stdin: &mut Stdin,
) -> Result<Recipients, Failure> {
    let context = context(format, stdin)?;
    let mut recipients = Recipients::default();
    for path in identities {
        stdin.claim(path, "an identity")?;
        let bytes = files::read_small(path, MAX_BYTES)?;
        let found = Recipients::from_identity_file(bytes.as_slice()).map_err(|error| at(error, path));
        recipients.extend([found.map_err(failure::from_error)?]);
    }
    for text in &options.recipients {
        // Do not print the text: it may be an identity pasted by mistake.
        recipients.extend([text.parse::<Recipients>().map_err(|error| error.at("-r")).map_err(failure::from_error)?]);
    }
    for path in &options.recipients_file {
        stdin.claim(path, "recipients")?;
        let bytes = files::read_small(path, MAX_BYTES)?;
        let skipped = |line: usize, kind: &str| {
            tress_terminal::warn(&format!(
                "{}: line {line}: skipped, keys of type {kind} cannot decrypt",
                failure::name(path)
            ));
        };
        let found = Recipients::from_file_skipping(bytes.as_slice(), skipped).map_err(|error| at(error, path));
        recipients.extend([found.map_err(failure::from_error)?]);
    }
    for path in &options.key_file {
        match (format.format, &context) {
            (Some(format), Some(context)) => recipients.extend([cobblestone_key(format, path, context, stdin)?]),
            (Some(Format::Age), _) => {
                return Err(Failure::wrong_use("age files have no raw keys").hint("use -r, -R or -p"));
            }
            _ => recipients.extend([raw_key(path, stdin)?]),
        }
    }
    if context.is_some() && (recipients.len() != 1 || options.key_file.is_empty()) {
        return Err(needs_one_key());
    }
    if let Some(passphrase) = passphrase::read(&options.passphrase, Purpose::Encrypt, stdin)? {
        recipients.extend([Recipients::from_passphrase(&passphrase).map_err(failure::from_error)?]);
    }
    if recipients.is_empty() {
        return Err(failure::from_error(Error::new(ErrorKind::NoRecipients)));
    }
    Ok(recipients)
}

/// The context of a Cobblestone file; `None` for other formats, which have none.
fn context(options: &args::FileFormat, stdin: &mut Stdin) -> Result<Option<Vec<u8>>, Failure> {
    if options.format.and_then(Format::key_bytes).is_none() {
        if options.context.is_some() || options.context_file.is_some() {
            return Err(
                Failure::wrong_use("only Cobblestone files have a context").hint("add --format cobblestone-128")
            );
        }
        return Ok(None);
    }
    if let Some(path) = &options.context_file {
        stdin.claim(path, "the context")?;
        return files::read_small(path, MAX_CONTEXT_BYTES).map(|bytes| Some(bytes.to_vec()));
    }
    Ok(Some(options.context.clone().unwrap_or_default().into_bytes()))
}

fn needs_one_key() -> Failure {
    Failure::wrong_use("a Cobblestone file has one key, and no recipients")
        .hint("give it with --key-file; head -c 16 /dev/urandom > KEY makes one for cobblestone-128")
}

fn cobblestone_key(format: Format, path: &Path, context: &[u8], stdin: &mut Stdin) -> Result<CobblestoneKey, Failure> {
    let bytes = key_bytes(path, stdin)?;
    CobblestoneKey::new(format, &bytes, context).map_err(|error| at(error, path)).map_err(failure::from_error)
}

/// Reads the identities that the options name, if any, for a file in this format.
pub(crate) fn identities(
    options: &args::Identities,
    format: &args::FileFormat,
    stdin: &mut Stdin,
) -> Result<Identities, Failure> {
    let context = context(format, stdin)?;
    let mut identities = Identities::default();
    for path in &options.identities {
        stdin.claim(path, "an identity")?;
        let bytes = files::read_small(path, MAX_BYTES)?;
        let found = Identities::from_file_asking(bytes.as_slice(), Terminal(crate::failure::name(path)))
            .map_err(|error| at(error, path))
            .map_err(failure::from_error)?;
        files::warn_if_public(path);
        identities.extend([found]);
    }
    for path in &options.key_file {
        match (format.format, &context) {
            (Some(format), Some(context)) => identities.extend([cobblestone_key(format, path, context, stdin)?]),
            _ => identities.extend([raw_key(path, stdin)?]),
        }
    }
    if context.is_some() && (identities.len() != options.key_file.len() || options.passphrase.is_some()) {
        return Err(needs_one_key());
    }
    if let Some(passphrase) = passphrase::read(&options.passphrase, Purpose::Decrypt, stdin)? {
        identities.extend([
            Identities::from_passphrase_noting(&passphrase, tress_terminal::note).map_err(failure::from_error)?
        ]);
    }
    Ok(identities)
}

/// Reads the identities that the options name. At least one is required.
pub(crate) fn some_identities(
    options: &args::Identities,
    format: &args::FileFormat,
    stdin: &mut Stdin,
) -> Result<Identities, Failure> {
    let identities = identities(options, format, stdin)?;
    if identities.is_empty() {
        return Err(Failure::wrong_use("no identity given")
            .hint("add one: -i IDENTITY, -p, --passphrase-file FILE or --key-file FILE"));
    }
    Ok(identities)
}

fn raw_key(path: &Path, stdin: &mut Stdin) -> Result<RawKey, Failure> {
    let bytes = key_bytes(path, stdin)?;
    key_file(&bytes).map_err(|error| at(error, path)).map_err(failure::from_error)
}

fn key_bytes(path: &Path, stdin: &mut Stdin) -> Result<Zeroizing<Vec<u8>>, Failure> {
    stdin.claim(path, "a key")?;
    let bytes = files::read_start(path, MAX_KEY_BYTES + 1)?;
    if bytes.len() > MAX_KEY_BYTES {
        // Do not read the rest to report the length: the file may be a whole disk.
        return Err(failure::from_error(at(Error::new(ErrorKind::KeyFileLength).with_detail("it is longer"), path)));
    }
    Ok(bytes)
}

/// Adds the name of the file to an error without one.
fn at(error: Error, path: &Path) -> Error {
    error.at(files::shown(path))
}
