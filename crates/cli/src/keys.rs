//! Reads recipients and identities from the options.

use std::path::Path;

use tress_container::{
    Error, ErrorKind,
    keys::{Identities, RawKey, Recipients, key_file},
};

use crate::{
    args,
    failure::{self, Failure},
    files,
    passphrase::{self, Purpose},
    prompt::Terminal,
    stdin::Stdin,
};

/// Most bytes of an identity or recipient file. An RSA key has 3 KiB.
const MAX_BYTES: usize = 256 * 1024;

const MAX_KEY_BYTES: usize = 32;

pub(crate) fn recipients(options: &args::Recipients, stdin: &mut Stdin) -> Result<Recipients, Failure> {
    let mut recipients = Recipients::default();
    for text in &options.recipients {
        // Do not print the text: it may be an identity pasted by mistake.
        recipients.extend([text.parse::<Recipients>().map_err(|error| error.at("-r")).map_err(failure::from_error)?]);
    }
    for path in &options.recipients_file {
        stdin.claim(path, "recipients")?;
        let bytes = files::read_small(path, MAX_BYTES)?;
        let found =
            Recipients::from_file(bytes.as_slice()).map_err(|error| at(error, path)).map_err(failure::from_error)?;
        recipients.extend([found]);
    }
    for path in &options.key_file {
        recipients.extend([raw_key(path, stdin)?]);
    }
    if let Some(passphrase) = passphrase::read(&options.passphrase, Purpose::Encrypt, stdin)? {
        recipients.extend([Recipients::from_passphrase(&passphrase).map_err(failure::from_error)?]);
    }
    if recipients.is_empty() {
        return Err(failure::from_error(Error::new(ErrorKind::NoRecipients)));
    }
    Ok(recipients)
}

/// Reads the identities that the options name, if any.
pub(crate) fn identities(options: &args::Identities, stdin: &mut Stdin) -> Result<Identities, Failure> {
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
        identities.extend([raw_key(path, stdin)?]);
    }
    if let Some(passphrase) = passphrase::read(&options.passphrase, Purpose::Decrypt, stdin)? {
        identities.extend([
            Identities::from_passphrase_noting(&passphrase, tress_terminal::note).map_err(failure::from_error)?
        ]);
    }
    Ok(identities)
}

/// Reads the identities that the options name. At least one is required.
pub(crate) fn some_identities(options: &args::Identities, stdin: &mut Stdin) -> Result<Identities, Failure> {
    let identities = identities(options, stdin)?;
    if identities.is_empty() {
        return Err(Failure::wrong_use("no identity given")
            .hint("add one: -i IDENTITY, -p, --passphrase-file FILE or --key-file FILE"));
    }
    Ok(identities)
}

fn raw_key(path: &Path, stdin: &mut Stdin) -> Result<RawKey, Failure> {
    stdin.claim(path, "a key")?;
    let bytes = files::read_start(path, MAX_KEY_BYTES + 1)?;
    if bytes.len() > MAX_KEY_BYTES {
        // Do not read the rest to report the length: the file may be a whole disk.
        return Err(failure::from_error(at(Error::new(ErrorKind::KeyFileLength).with_detail("it is longer"), path)));
    }
    key_file(&bytes).map_err(|error| at(error, path)).map_err(failure::from_error)
}

/// Adds the name of the file to an error without one.
fn at(error: Error, path: &Path) -> Error {
    error.at(crate::failure::name(path))
}
