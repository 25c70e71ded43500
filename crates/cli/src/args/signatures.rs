//! The commands `sign` and `verify`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueHint};
use tress_sign::Scheme;

use super::{Passphrase, Threads};

/// Sign files
///
/// Writes the signature of IN to IN.sig in the format that OpenSSL uses. The signature of standard input goes to standard
/// output. Name all files in one call: they are hashed on all cores and signed in lanes.
///
/// A file that cannot be signed is reported, all others are signed, and the exit status is 1.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress sign --key sign.pem release.tar
  tress sign --key sign.pem --scheme rsa-pkcs1-sha256 out/*.deb")]
pub(crate) struct Sign {
    /// Private key: PKCS #8 (encrypted or not) or PKCS #1, in PEM or DER
    #[arg(long, value_name = "KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// Signature scheme [default: rsa-pss-sha256, dsa-sha256 or schnorr-sha256, to match the key]
    ///
    /// rsa-pss-sha256:32 (a PSS scheme, a colon, bytes) signs with a salt of that length. Without it, the salt is as long as the
    /// digest.
    #[arg(long, value_name = "SCHEME", value_parser = scheme())]
    pub(crate) scheme: Option<Scheme>,
    #[command(flatten)]
    pub(crate) passphrase: Passphrase,
    /// Replace existing signatures
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Files to sign, or - for standard input
    #[arg(value_name = "IN", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
}

/// Verify signatures of files
///
/// Prints nothing if all signatures match. A signature that is missing or does not match is reported, all others are verified,
/// and the exit status is 1.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress verify --key sign.pub --signature release.tar.sig release.tar
  tress verify --key sign.pub out/*.deb")]
pub(crate) struct Verify {
    /// Public key: SubjectPublicKeyInfo or PKCS #1, in PEM or DER
    #[arg(long, value_name = "PUBLIC", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// Signature scheme [default: rsa-pss-sha256, dsa-sha256 or schnorr-sha256, to match the key]
    ///
    /// rsa-pss-sha256:32 (a PSS scheme, a colon, bytes) accepts salts of that length only. Without it, salts of every length are
    /// accepted.
    #[arg(long, value_name = "SCHEME", value_parser = scheme())]
    pub(crate) scheme: Option<Scheme>,
    /// Signature of the one IN [default: IN.sig]
    #[arg(long, value_name = "SIG", value_hint = ValueHint::FilePath)]
    pub(crate) signature: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Signed files, or - for standard input
    #[arg(value_name = "IN", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
}

/// Parses a scheme by its name. For PSS a colon and the length of the salt may follow.
fn scheme() -> SchemeParser {
    SchemeParser
}

#[derive(Clone)]
struct SchemeParser;

impl TypedValueParser for SchemeParser {
    type Value = Scheme;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Scheme, clap::Error> {
        let known = value.to_str().and_then(|value| value.parse().ok());
        // Errors and completions list only the names, without lengths.
        known.map_or_else(|| Err(names().parse_ref(command, argument, value).expect_err("no name")), Ok)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Scheme::ALL.iter().map(|scheme| PossibleValue::new(scheme.name()))))
    }
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(Scheme::ALL.iter().copied().map(Scheme::name))
}
