//! `tress raw`: encrypts and decrypts with a bare cipher and mode.

use std::path::Path;

use tress_cipher::catalogue::{Cipher, FromKey, Mode, WithCipher};
use tress_cipher::{Backend, CcmCipher};
use tress_container::Error;
use tress_container::commands::{self, Control, RawCcm, RawDirection, RawMode, Sink, Source};

use super::{cancellable, note};
use crate::failure::{self, Failure};
use crate::stdin::Stdin;
use crate::{args, files, names};

/// Most associated data read from a file, in bytes: more than any protocol uses, and little to hold in memory.
const MAX_AAD_BYTES: usize = 64 << 20;

/// Length of the tag in bytes without `--tag-length`.
const TAG_BYTES: usize = 16;

/// Tags shorter than this many bytes need a careful analysis of the harm of a forgery (SP 800-38C, appendix B.2).
const ADVISED_TAG_BYTES: usize = 8;

pub(crate) fn run(raw: &args::Raw) -> Result<(), Failure> {
    let (direction, options) = match &raw.direction {
        args::RawDirection::Encrypt(options) => (RawDirection::Encrypt, options),
        args::RawDirection::Decrypt(options) => (RawDirection::Decrypt, options),
    };
    // Check all options before reading any data.
    let (cipher, mode) = names::cipher_and_mode(&options.cipher).ok_or_else(|| {
        let unknown = Failure::wrong_use(format!("unknown cipher '{}'", options.cipher));
        let near = names::nearest(&options.cipher);
        if near.is_empty() {
            unknown.hint("a name is CIPHER-MODE, such as aes-128-cbc; run 'tress ciphers' for all names")
        } else {
            unknown.hint(format!("did you mean {}? run 'tress ciphers' for all names", near.join(", ")))
        }
    })?;
    let key = &options.key.0;
    if key.len() != cipher.key_bytes {
        return Err(Failure::wrong_use(format!(
            "a key of {} has {} bytes, --key has {}",
            cipher.name,
            cipher.key_bytes,
            key.len()
        )));
    }
    let backend = options.backend.as_deref().map(names::backend).transpose()?;
    if let Some(backend) = backend.filter(|backend| !cipher.backends.contains(backend)) {
        let names: Vec<_> = cipher.backends.iter().map(|backend| backend.name()).collect();
        return Err(Failure::wrong_use(format!("{} has no {} backend", cipher.name, backend.name()))
            .hint(format!("its backends are {}", names.join(", "))));
    }
    let parameters = parameters(cipher, mode, options)?;
    let sink = files::sink(&options.output);
    if direction == RawDirection::Encrypt || options.output.output.as_deref() != Some(Path::new("-")) {
        files::refuse_terminal(&sink)?;
    }
    let source = files::source(&options.input);
    cancellable(|control| {
        let backend = backend.unwrap_or_else(|| cipher.best_backend());
        let (source, sink, parameters) = (&source, &sink, &parameters);
        cipher
            .with(RawCall { key, backend, source, sink, parameters, direction, control })
            .map_err(failure::from_error)?;
        if direction == RawDirection::Encrypt {
            note_weak_use(cipher, parameters, control.done_bytes());
        }
        Ok(())
    })
}

/// Prints a note if the message is longer, or its tag shorter, than is advised. Other messages under the same key count too,
/// but this function does not know them.
fn note_weak_use(cipher: &Cipher, parameters: &ModeParameters, bytes: u64) {
    let advised = commands::raw_advised_bytes(cipher.block_bytes);
    if bytes > advised {
        note(&format!(
            "more than {} MiB under one key: blocks of {} bits begin to repeat and reveal plaintext",
            advised >> 20,
            8 * cipher.block_bytes
        ));
    }
    if let ModeParameters::Ccm(ccm) = parameters
        && ccm.tag_bytes < ADVISED_TAG_BYTES
    {
        note(&format!("with a tag of {} bytes, one forgery in 2^{} is accepted", ccm.tag_bytes, 8 * ccm.tag_bytes));
    }
}

/// A mode with its parameters.
enum ModeParameters {
    Plain(RawMode),
    Ccm(RawCcm),
}

/// The arguments of the operation, which is generic over the cipher.
struct RawCall<'a> {
    key: &'a [u8],
    backend: Backend,
    source: &'a Source,
    sink: &'a Sink,
    parameters: &'a ModeParameters,
    direction: RawDirection,
    control: &'a Control,
}

impl WithCipher for RawCall<'_> {
    type Output = Result<(), Error>;

    fn block<C: FromKey>(self) -> Self::Output {
        let ModeParameters::Plain(mode) = self.parameters else {
            unreachable!("the name of a cipher without CCM has no ccm")
        };
        let cipher = C::with_backend(self.key, self.backend)?;
        commands::raw(self.source, self.sink, &cipher, mode, self.direction, self.control)
    }

    fn ccm<C: FromKey + CcmCipher>(self) -> Self::Output {
        let ModeParameters::Ccm(ccm) = self.parameters else { return self.block::<C>() };
        let cipher = C::with_backend(self.key, self.backend)?;
        commands::raw_ccm(self.source, self.sink, &cipher, ccm, self.direction, self.control)
    }
}

/// Collects the parameters of the mode. Refuses options of other modes: they may show that another mode was intended.
fn parameters(cipher: &Cipher, mode: Mode, options: &args::RawOptions) -> Result<ModeParameters, Failure> {
    let refuse = |option: &str| Failure::wrong_use(format!("{option} cannot be used with {}", mode.name()));
    let is_padded = matches!(mode, Mode::Ecb | Mode::Cbc);
    for (option, is_given, is_known) in [
        ("--aad", options.aad.is_some(), mode == Mode::Ccm),
        ("--aad-file", options.aad_file.is_some(), mode == Mode::Ccm),
        ("--tag-length", options.tag_length.is_some(), mode == Mode::Ccm),
        ("--no-padding", options.no_padding, is_padded),
    ] {
        if is_given && !is_known {
            return Err(refuse(option));
        }
    }
    let padding = !options.no_padding;
    let iv = match (&options.iv, mode) {
        (None, Mode::Ecb) => return Ok(ModeParameters::Plain(RawMode::Ecb { padding })),
        (Some(_), Mode::Ecb) => return Err(refuse("--iv")),
        (Some(iv), _) => iv.0.as_slice(),
        (None, _) => {
            return Err(Failure::wrong_use(format!("{} needs --iv", mode.name()))
                .hint("use a new one for every message under a key"));
        }
    };
    let block = || match iv.len() {
        length if length == cipher.block_bytes => Ok(iv.to_vec()),
        length => Err(Failure::wrong_use(format!(
            "--iv of {}-{} must have {} bytes, not {length}",
            cipher.name,
            mode.name(),
            cipher.block_bytes
        ))),
    };
    Ok(match mode {
        Mode::Ecb | Mode::Cbc => ModeParameters::Plain(RawMode::Cbc { iv: block()?, padding }),
        Mode::Ctr => ModeParameters::Plain(RawMode::Ctr { counter: block()? }),
        Mode::Ccm => ModeParameters::Ccm(RawCcm {
            nonce: iv.to_vec(),
            associated_data: associated_data(options)?,
            tag_bytes: options.tag_length.unwrap_or(TAG_BYTES),
        }),
    })
}

/// Reads the associated data from the command line or from a file.
fn associated_data(options: &args::RawOptions) -> Result<Vec<u8>, Failure> {
    let Some(path) = &options.aad_file else {
        return Ok(options.aad.as_ref().map(|aad| aad.0.to_vec()).unwrap_or_default());
    };
    Stdin::with_data(&options.input)?.claim(path, "the associated data")?;
    Ok(files::read_small(path, MAX_AAD_BYTES)?.to_vec())
}
