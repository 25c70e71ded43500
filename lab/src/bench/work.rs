//! Pieces of work that Tress and its peers do over the same buffer.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use tress_cipher::Backend;
use tress_peers::{
    Direction, Peer, aws_lc_rs, crypto_bigint, cryptopp, gcrypt, gmp, ipsec_mb, openssl, pipo, ring, rsa, rustcrypto,
};

use super::Error;

/// Who does the work: Tress, a peer, or a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contender {
    Tress,
    OpenSsl,
    /// GCM in place of the row's mode, the fastest authenticated encryption of most libraries.
    OpenSslGcm,
    /// OpenSSL without AVX-512 IFMA, in a separate process.
    OpenSslWithoutIfma,
    IpsecMb,
    IpsecMbGcm,
    Gcrypt,
    RustCrypto,
    AwsLcRs,
    AwsLcRsGcm,
    Ring,
    RingGcm,
    CryptoPp,
    Pipo,
    Gmp,
    CryptoBigint,
    Rsa,
    /// Tress on other work: a baseline of the row, with its name.
    Baseline(&'static str),
}

impl Contender {
    /// The name in the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Contender::Tress => "ours",
            Contender::OpenSslWithoutIfma => "openssl-without-ifma",
            Contender::OpenSslGcm => "openssl-gcm",
            Contender::IpsecMbGcm => "ipsec-mb-gcm",
            Contender::AwsLcRsGcm => "aws-lc-rs-gcm",
            Contender::RingGcm => "ring-gcm",
            Contender::Baseline(what) => what,
            _ => self.library().unwrap_or_default(),
        }
    }

    /// The peer's library, by its name in `--against`. `None` for Tress.
    pub(crate) fn library(self) -> Option<&'static str> {
        Some(match self {
            Contender::Tress | Contender::Baseline(_) => return None,
            Contender::OpenSsl | Contender::OpenSslGcm | Contender::OpenSslWithoutIfma => openssl::NAME,
            Contender::IpsecMb | Contender::IpsecMbGcm => ipsec_mb::NAME,
            Contender::Gcrypt => gcrypt::NAME,
            Contender::RustCrypto => rustcrypto::NAME,
            Contender::AwsLcRs | Contender::AwsLcRsGcm => aws_lc_rs::NAME,
            Contender::Ring | Contender::RingGcm => ring::NAME,
            Contender::CryptoPp => cryptopp::NAME,
            Contender::Pipo => pipo::NAME,
            Contender::Gmp => gmp::NAME,
            Contender::CryptoBigint => crypto_bigint::NAME,
            Contender::Rsa => rsa::NAME,
        })
    }

    pub(crate) fn is_gcm(self) -> bool {
        self.name().ends_with("-gcm")
    }

    /// `None` if it is not installed.
    fn found_version(self) -> Option<&'static str> {
        static PEERS: LazyLock<Vec<Peer>> = LazyLock::new(tress_peers::list);
        match self.library() {
            None => Some(env!("CARGO_PKG_VERSION")),
            Some(name) => PEERS.iter().find(|peer| peer.name == name)?.version.as_deref().ok(),
        }
    }

    pub(crate) fn version(self) -> String {
        self.found_version().unwrap_or_default().into()
    }

    pub(crate) fn is_available(self) -> bool {
        self.found_version().is_some()
    }

    /// Adds the peer's name to its error.
    pub(crate) fn failed(self) -> impl Fn(tress_peers::Error) -> Error {
        move |error| Error::Peer(self.name(), error)
    }
}

/// Work over a buffer. Every contender leaves the same bytes there.
pub(crate) trait TimedWork {
    /// Bytes of messages that one run works on.
    fn bytes(&self, contender: Contender) -> u64;
    /// Whether [`bytes`](Self::bytes) counts operations, such as signatures.
    fn counts_operations(&self) -> bool {
        false
    }
    /// Whether the buffer has to be prepared before every run, outside the timed part.
    fn needs_preparation(&self) -> bool {
        false
    }
    /// Whether making the work takes long, so that it is kept from visit to visit.
    fn cache_setup(&self) -> bool {
        false
    }
    /// Puts the input of a run into the buffer.
    fn prepare(&mut self, _who: Contender) -> Result<(), Error> {
        Ok(())
    }
    /// Starts the program for the contenders that run in another process.
    fn attach_worker(&mut self, _program: &Path) -> Result<(), Error> {
        Ok(())
    }
    /// Whether the cycles of the calling core mean something: not if other threads do the work.
    fn counts_cycles(&self) -> bool {
        true
    }
    /// The name of our backend, if it is not one of the ciphers' backends.
    fn backend(&self) -> Option<&'static str> {
        None
    }
    /// The time of runs in another process or on other threads, for contenders that run there.
    fn external_time(&mut self, _who: Contender, _runs: u32) -> Option<Result<Duration, Error>> {
        None
    }
    /// Does the work once.
    fn run(&mut self, contender: Contender) -> Result<(), Error>;
    /// The bytes that a run leaves: all of them, or the first ones for a peer that does a part of the work. Empty if
    /// outputs of different work cannot be compared.
    fn output(&self, contender: Contender) -> &[u8];
}

/// Work that has been made, or the error.
pub(crate) type WorkResult = Result<Box<dyn TimedWork>, Error>;
/// Makes a row's work for a backend and these peers.
pub(crate) type MakeWork = Box<dyn Fn(Backend, &[Contender]) -> WorkResult>;

/// A row to be measured.
pub(crate) struct BenchCase {
    pub(crate) name: String,
    /// The operation: `encrypt`, `decrypt`, `multiply`, `sign` or `verify`.
    pub(crate) direction: &'static str,
    pub(crate) workload: String,
    pub(crate) threads: usize,
    pub(crate) lanes: usize,
    pub(crate) message_bytes: u64,
    pub(crate) peers: Vec<Contender>,
    /// The backends of the cipher.
    pub(crate) backends: &'static [Backend],
    pub(crate) make: MakeWork,
}

/// The name of a direction in the record.
pub(crate) fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Encrypt => "encrypt",
        Direction::Decrypt => "decrypt",
    }
}
