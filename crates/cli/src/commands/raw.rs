//! `tress raw`: encrypts and decrypts with a bare cipher and mode.

use std::path::Path;

use tress_cipher::catalogue::{FromKey, Mode, WithCipher};
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::lanes::Aead;
use tress_cipher::{Backend, CcmCipher};
use tress_container::Error;
use tress_container::commands::{self, Control, RawAead, RawDirection, RawMode, Sink, Source};

use super::{cancellable, note};
use crate::failure::{self, Failure};
use crate::names::{RawAlgorithm, RawAlgorithmFacts};
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
    let algorithm = names::algorithm(&options.cipher).ok_or_else(|| {
        let unknown = Failure::wrong_use(format!("unknown cipher '{}'", options.cipher));
        let near = names::nearest(&options.cipher);
        if near.is_empty() {
            unknown.hint("a name is CIPHER-MODE, such as aes-128-cbc; run 'tress ciphers' for all names")
        } else {
            unknown.hint(format!("did you mean {}? run 'tress ciphers' for all names", near.join(", ")))
        }
    })?;
    let RawAlgorithmFacts { cipher, key_bytes, backends, .. } = algorithm.facts();
    let key = &options.key.0;
    if key.len() != key_bytes {
        let wrong = format!("a key of {cipher} has {key_bytes} bytes, --key has {}", key.len());
        return Err(Failure::wrong_use(wrong));
    }
    let backend = options.backend.as_deref().map(names::backend).transpose()?;
    if let Some(backend) = backend.filter(|backend| !backends.contains(backend)) {
        let names: Vec<_> = backends.iter().map(|backend| backend.name()).collect();
        return Err(Failure::wrong_use(format!("{cipher} has no {} backend", backend.name()))
            .hint(format!("its backends are {}", names.join(", "))));
    }
    let parameters = parameters(algorithm, options)?;
    let sink = files::sink(&options.output);
    if direction == RawDirection::Encrypt || options.output.output.as_deref() != Some(Path::new("-")) {
        files::refuse_terminal(&sink)?;
    }
    let source = files::source(&options.input);
    cancellable(|control| {
        let backend = backend.unwrap_or_else(|| Backend::best_of(backends));
        let (source, sink, parameters) = (&source, &sink, &parameters);
        let call = RawCall { key, backend, source, sink, parameters, direction, control };
        match algorithm {
            RawAlgorithm::Block(cipher, _) => cipher.with(call),
            RawAlgorithm::ChaCha20Poly1305 => call.aead(ChaCha20Poly1305::with_backend),
        }
        .map_err(failure::from_error)?;
        if direction == RawDirection::Encrypt {
            note_weak_use(algorithm, parameters, control.done_bytes());
        }
        Ok(())
    })
}

/// Prints a note if the message is longer, or its tag shorter, than is advised. Other messages under the same key count too,
/// but this function does not know them.
fn note_weak_use(algorithm: RawAlgorithm, parameters: &ModeParameters, bytes: u64) {
    if let RawAlgorithm::Block(cipher, _) = algorithm
        && let advised = commands::raw_advised_bytes(cipher.block_bytes)
        && bytes > advised
    {
        note(&format!(
            "more than {} MiB under one key: blocks of {} bits begin to repeat and reveal plaintext",
            advised >> 20,
            8 * cipher.block_bytes
        ));
    }
    if let ModeParameters::Aead(aead) = parameters
        && aead.tag_bytes < ADVISED_TAG_BYTES
    {
        note(&format!("with a tag of {} bytes, one forgery in 2^{} is accepted", aead.tag_bytes, 8 * aead.tag_bytes));
    }
}

/// A mode with its parameters.
enum ModeParameters {
    Plain(RawMode),
    Aead(RawAead),
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

impl RawCall<'_> {
    fn aead<A: Aead>(self, keyed: fn(&[u8], Backend) -> Result<A, tress_cipher::Error>) -> Result<(), Error> {
        let ModeParameters::Aead(parameters) = self.parameters else { unreachable!("the caller has matched the mode") };
        let aead = keyed(self.key, self.backend)?;
        commands::raw_aead(self.source, self.sink, &aead, parameters, self.direction, self.control)
    }
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
        match self.parameters {
            ModeParameters::Plain(_) => self.block::<C>(),
            ModeParameters::Aead(_) => self.aead(C::with_backend),
        }
    }
}

/// Collects the parameters of the mode. Refuses options of other modes: they may show that another mode was intended.
fn parameters(algorithm: RawAlgorithm, options: &args::RawOptions) -> Result<ModeParameters, Failure> {
    let RawAlgorithmFacts { cipher: name, mode: mode_name, .. } = algorithm.facts();
    let (block_bytes, mode) = match algorithm {
        RawAlgorithm::Block(cipher, mode) if mode != Mode::Ccm => (cipher.block_bytes, Some(mode)),
        _ => (0, None),
    };
    let refuse = |option: &str| Failure::wrong_use(format!("{option} cannot be used with {mode_name}"));
    for (option, is_given, is_known) in [
        ("--aad", options.aad.is_some(), mode.is_none()),
        ("--aad-file", options.aad_file.is_some(), mode.is_none()),
        ("--tag-length", options.tag_length.is_some(), mode.is_none()),
        ("--no-padding", options.no_padding, matches!(mode, Some(Mode::Ecb | Mode::Cbc))),
    ] {
        if is_given && !is_known {
            return Err(refuse(option));
        }
    }
    let padding = !options.no_padding;
    let iv = match (&options.iv, mode) {
        (None, Some(Mode::Ecb)) => return Ok(ModeParameters::Plain(RawMode::Ecb { padding })),
        (Some(_), Some(Mode::Ecb)) => return Err(refuse("--iv")),
        (Some(iv), _) => iv.0.to_vec(),
        (None, _) => {
            return Err(Failure::wrong_use(format!("{mode_name} needs --iv"))
                .hint("use a new one for every message under a key"));
        }
    };
    if mode.is_some() && iv.len() != block_bytes {
        let wrong = format!("--iv of {name}-{mode_name} must have {block_bytes} bytes, not {}", iv.len());
        return Err(Failure::wrong_use(wrong));
    }
    Ok(match mode {
        Some(Mode::Ctr) => ModeParameters::Plain(RawMode::Ctr { counter: iv }),
        Some(_) => ModeParameters::Plain(RawMode::Cbc { iv, padding }),
        None => ModeParameters::Aead(RawAead {
            nonce: iv,
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
    let mut stdin = Stdin::with_data(&options.input)?;
    stdin.claim(path, "the associated data")?;
    stdin.keep(&options.output)?;
    Ok(files::read_small(path, MAX_AAD_BYTES)?.to_vec())
}
