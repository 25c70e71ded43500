//! `tress raw`: a bare cipher in a bare mode.

use std::path::Path;

use tress_cipher::{Block, aes::Aes};
use tress_stream::{
    Error,
    verbs::{self, RawDirection, RawMode},
};

use super::cancellable;
use crate::{
    args,
    failure::Failure,
    files,
    names::{self, Mode},
};

/// Bytes of the tag where `--tag-length` is not given.
const TAG_BYTES: usize = 16;

pub(crate) fn run(raw: &args::Raw) -> Result<(), Failure> {
    let (direction, options) = match &raw.direction {
        args::RawDirection::Encrypt(options) => (RawDirection::Encrypt, options),
        args::RawDirection::Decrypt(options) => (RawDirection::Decrypt, options),
    };
    let (cipher, mode) = cipher_and_mode(options)?;
    let sink = files::sink(&options.output);
    if direction == RawDirection::Encrypt || options.output.output.as_deref() != Some(Path::new("-")) {
        files::refuse_terminal(&sink)?;
    }
    let source = files::source(&options.input);
    cancellable(|control| Ok(verbs::raw(&source, &sink, &cipher, &mode, direction, control)?))
}

/// Everything that the options say, checked before a byte is read.
fn cipher_and_mode(options: &args::RawOptions) -> Result<(Aes, RawMode), Failure> {
    let (cipher, mode) = names::cipher_and_mode(&options.cipher).ok_or_else(|| {
        Failure::wrong_use(format!("unknown cipher '{}'", options.cipher))
            .hint("NAME is CIPHER-MODE, such as aes-128-cbc; 'tress ciphers' lists them")
    })?;
    let key = &options.key.0;
    if key.len() != cipher.key_bytes {
        return Err(Failure::wrong_use(format!(
            "the key of {} has {} bytes, --key has {}",
            cipher.name,
            cipher.key_bytes,
            key.len()
        )));
    }
    let mode = with_parameters(mode, options)?;
    let cipher = match &options.backend {
        Some(name) => Aes::with_backend(key, names::backend(name)?),
        None => Aes::new(key),
    };
    Ok((cipher.map_err(Error::from)?, mode))
}

/// The mode with its parameters; refuses those that it does not have, as they may have been meant for another mode.
fn with_parameters(mode: Mode, options: &args::RawOptions) -> Result<RawMode, Failure> {
    let refuse = |option: &str| Failure::wrong_use(format!("{} takes no {option}", mode.name()));
    if mode != Mode::Ccm && options.aad.is_some() {
        return Err(refuse("--aad"));
    }
    if mode != Mode::Ccm && options.tag_length.is_some() {
        return Err(refuse("--tag-length"));
    }
    let padding = !options.no_padding;
    let iv = match (&options.iv, mode) {
        (None, Mode::Ecb) => return Ok(RawMode::Ecb { padding }),
        (Some(_), Mode::Ecb) => return Err(refuse("--iv")),
        (Some(iv), _) => iv.0.as_slice(),
        (None, _) => {
            return Err(Failure::wrong_use(format!("{} needs --iv", mode.name()))
                .hint("a fresh one for every message under a key"));
        }
    };
    let block = || {
        Block::try_from(iv)
            .map_err(|_| Failure::wrong_use(format!("--iv of {} has 16 bytes, not {}", mode.name(), iv.len())))
    };
    Ok(match mode {
        Mode::Ecb | Mode::Cbc => RawMode::Cbc { iv: block()?, padding },
        Mode::Ctr => RawMode::Ctr { counter: block()? },
        Mode::Ccm => RawMode::Ccm {
            nonce: iv.to_vec(),
            associated_data: options.aad.as_ref().map(|aad| aad.0.to_vec()).unwrap_or_default(),
            tag_bytes: options.tag_length.unwrap_or(TAG_BYTES),
        },
    })
}
