//! Reads passphrases from the terminal, a file or an open descriptor, and never from the standard input that holds the data.

use std::path::Path;

use tress_container::keys::encoding_fault;
use tress_container::{Error, ErrorKind};
use zeroize::Zeroizing;

use crate::failure::{self, Failure};
use crate::stdin::Stdin;
use crate::{args, files, prompt};

/// Most bytes of a passphrase file, in case it is a device that never ends.
const MAX_BYTES: usize = 64 * 1024;

/// The use of a passphrase. A new passphrase is asked for twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Encrypt,
    Decrypt,
}

/// Reads the passphrase that the options name, if any.
pub(crate) fn read(
    options: &args::Passphrase,
    purpose: Purpose,
    stdin: &mut Stdin,
) -> Result<Option<Zeroizing<String>>, Failure> {
    if let Some(path) = &options.passphrase_file {
        return from_file(path, stdin).map(Some);
    }
    if let Some(descriptor) = options.passphrase_fd {
        if !cfg!(unix) {
            return Err(Failure::wrong_use("--passphrase-fd needs a Unix system").hint("use --passphrase-file"));
        }
        return from_file(Path::new(&format!("/dev/fd/{descriptor}")), stdin).map(Some);
    }
    if !options.passphrase {
        return Ok(None);
    }
    let passphrase = prompt::secret("Passphrase: ")?;
    if passphrase.is_empty() {
        return Err(failure::from_error(Error::new(ErrorKind::BadPassphrase).with_detail("it is empty")));
    }
    if purpose == Purpose::Encrypt {
        let again = prompt::secret("Passphrase again: ")?;
        if passphrase != again {
            return Err(Failure::failed("the two passphrases differ"));
        }
    }
    Ok(Some(passphrase))
}

fn from_file(path: &Path, stdin: &mut Stdin) -> Result<Zeroizing<String>, Failure> {
    stdin.claim(path, "the passphrase")?;
    let bytes = files::read_small(path, MAX_BYTES)?;
    let unusable = |cause: &str| Error::new(ErrorKind::BadPassphrase).with_detail(cause).at(files::shown(path));
    if let Some(fault) = encoding_fault(&bytes) {
        return Err(failure::from_error(unusable(&format!("it {fault}"))));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| unusable("it is not UTF-8")).map_err(failure::from_error)?;
    // Strip one newline, which an editor or `echo` adds. A second one belongs to the passphrase.
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() {
        return Err(failure::from_error(unusable("it is empty")));
    }
    // An allocation of the final size: growing would leave a copy behind.
    Ok(Zeroizing::new(text.to_owned()))
}

/// Converts a line typed at a prompt, without its newline.
pub(crate) fn line(mut bytes: Zeroizing<Vec<u8>>) -> Result<Zeroizing<String>, Failure> {
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Error::new(ErrorKind::BadPassphrase).with_detail("it is not UTF-8"))
        .map_err(failure::from_error)?;
    Ok(Zeroizing::new(text.to_owned()))
}
