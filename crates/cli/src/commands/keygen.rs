//! `tress keygen`: makes identities and signing keys, and prints their public parts.

use std::io::{self, Write as _};
use std::path::Path;

use tress_container::keys::{KeyPair, PostQuantumIdentity, key_lines};
use tress_container::{Control, Error, ErrorKind, commands};
use tress_sign::{PrivateKey, discrete, rsa};
use tress_terminal::descriptor;

use super::cancellable;
use crate::failure::{self, Failure};
use crate::progress::Waiting;
use crate::stdin::Stdin;
use crate::{args, files, signing};

const MAX_BYTES: usize = 256 * 1024;

pub(crate) fn run(options: &args::Keygen) -> Result<(), Failure> {
    if let Some(path) = &options.public {
        return public(path, &options.passphrase);
    }
    if options.passphrase.is_some() {
        return Err(Failure::wrong_use("passphrase options need --public: new keys are not encrypted")
            .hint("'openssl pkcs8 -topk8' encrypts a signing key with a passphrase"));
    }
    // The system refuses it in the end, but primes take a while.
    if let Some(path) = options.output.as_deref().filter(|path| *path != Path::new("-"))
        && descriptor::number(path).is_none()
        && path.symlink_metadata().is_ok()
    {
        return Err(failed(Error::new(ErrorKind::OutputExists).at(path)));
    }
    if let Some(key) = signing_key(options) {
        let key = key.map_err(|error| failure::signing(error, "the key"))?;
        return write(options, key.to_pem().as_bytes());
    }
    if options.pq {
        let identity = PostQuantumIdentity::generate().map_err(failure::from_error)?;
        write(options, identity.to_identity_file_text().as_bytes())?;
        let _ = writeln!(io::stderr().lock(), "recipient {}", identity.recipient());
        return Ok(());
    }
    let pair = KeyPair::generate().map_err(failure::from_error)?;
    let text = pair.to_identity_file_text();
    write(options, text.as_bytes())?;
    // Only a note: an error of standard error is ignored.
    let _ = io::stderr().lock().write_all(public_lines(&pair, ("recipient ", "address   ")).as_bytes());
    Ok(())
}

/// Generates the signing key that the options ask for, if any. RSA with 8192 bits takes a while.
fn signing_key(options: &args::Keygen) -> Option<Result<PrivateKey, tress_sign::Error>> {
    if let Some(bits) = options.rsa {
        let _waiting = Waiting::start("looking for primes");
        return Some(rsa::PrivateKey::generate(usize::from(bits)).map(PrivateKey::Rsa));
    }
    if let Some(size) = options.dsa {
        return Some(discrete::PrivateKey::generate(size).map(PrivateKey::Dsa));
    }
    options.schnorr.map(|size| discrete::PrivateKey::generate(size).map(PrivateKey::Schnorr))
}

/// Writes to the file of the options, or to standard output.
fn write(options: &args::Keygen, text: &[u8]) -> Result<(), Failure> {
    match &options.output {
        Some(path) if path != Path::new("-") => cancellable(|control| write_new(path, text, control)),
        _ => {
            warn_if_public();
            files::print_bytes(text)
        }
    }
}

/// Warns if standard output is a file that others can read, as the shell makes it for `tress keygen > file`.
fn warn_if_public() {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        let file = io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
        if file.and_then(|file| file.metadata()).is_ok_and(|file| files::is_public(&file)) {
            tress_terminal::warn(
                "the secret key goes to a file that everybody can read; -o FILE makes one that only you can",
            );
        }
    }
}

fn public(path: &Path, passphrase: &args::Passphrase) -> Result<(), Failure> {
    let mut stdin = Stdin::default();
    stdin.claim(path, "a key")?;
    files::refuse_stdout(path)?;
    let bytes = files::read_small(path, MAX_BYTES)?;
    if signing::is_key_file(&bytes) {
        let key = signing::public_part(path, &bytes, passphrase, &mut stdin)?;
        return files::print(&key.to_pem());
    }
    let failed = |error: tress_container::Error| failure::from_error(error.at(files::shown(path)));
    let mut lines = key_lines(&bytes, &ErrorKind::BadIdentity).map_err(failed)?;
    lines.retain(|(_, line)| !line.starts_with('#'));
    let recipient = |line: &str| PostQuantumIdentity::from_file(line.as_bytes()).ok().map(|found| found.recipient());
    let post_quantum: Vec<_> = lines.iter().filter_map(|(_, line)| recipient(line)).collect();
    let mut text: String = post_quantum.iter().map(|recipient| format!("{recipient}\n")).collect();
    // Of any other line, or of none, the key pair says what is wrong.
    if post_quantum.is_empty() || post_quantum.len() < lines.len() {
        text.push_str(&public_lines(&KeyPair::from_file(&bytes[..]).map_err(failed)?, ("", "")));
    }
    files::print(&text)
}

fn public_lines(pair: &KeyPair, labels: (&str, &str)) -> String {
    let mut lines = format!("{}{}\n", labels.0, pair.recipient());
    // An identity made by age-keygen has no address.
    if let Some(address) = pair.address() {
        lines.push_str(&format!("{}{address}\n", labels.1));
    }
    lines
}

/// Writes a new file that only its owner can read.
fn write_new(path: &Path, bytes: &[u8], control: &Control) -> Result<(), Failure> {
    commands::store_private(bytes, path, control).map_err(failed)
}

fn failed(error: Error) -> Failure {
    match error.kind {
        ErrorKind::OutputExists => failure::from_error(error).hint("keys are never replaced; choose another name"),
        _ => failure::from_error(error),
    }
}
