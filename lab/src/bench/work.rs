//! What is measured: pieces of work that we and our peers do over the same buffer.

use std::{path::Path, sync::LazyLock, time::Duration};

use tress_cipher::Backend;
use tress_peers::{
    Direction, Peer, aws_lc_rs, crypto_bigint, cryptopp, gcrypt, gmp, ipsec_mb, openssl, pipo, ring, rsa, rustcrypto,
};

use super::Error;

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Ours,
    OpenSsl,
    /// The same without AVX-512 IFMA, in a process of its own.
    OpenSslWithoutIfma,
    IpsecMb,
    Gcrypt,
    RustCrypto,
    AwsLcRs,
    /// Another mode than ours, as fast as anybody's authenticated encryption is otherwise.
    AwsLcRsGcm,
    Ring,
    RingGcm,
    CryptoPp,
    Pipo,
    Gmp,
    CryptoBigint,
    Rsa,
    /// Ours again, on other work: the row's own yardstick, by its name.
    Own(&'static str),
}

impl Who {
    /// The name in the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Who::Ours => "ours",
            Who::OpenSslWithoutIfma => "openssl-without-ifma",
            Who::AwsLcRsGcm => "aws-lc-rs-gcm",
            Who::RingGcm => "ring-gcm",
            Who::Own(what) => what,
            _ => self.library().unwrap_or_default(),
        }
    }

    /// The peer whose library works, by its name in `--against`; none where we do.
    pub(crate) fn library(self) -> Option<&'static str> {
        Some(match self {
            Who::Ours | Who::Own(_) => return None,
            Who::OpenSsl | Who::OpenSslWithoutIfma => openssl::NAME,
            Who::IpsecMb => ipsec_mb::NAME,
            Who::Gcrypt => gcrypt::NAME,
            Who::RustCrypto => rustcrypto::NAME,
            Who::AwsLcRs | Who::AwsLcRsGcm => aws_lc_rs::NAME,
            Who::Ring | Who::RingGcm => ring::NAME,
            Who::CryptoPp => cryptopp::NAME,
            Who::Pipo => pipo::NAME,
            Who::Gmp => gmp::NAME,
            Who::CryptoBigint => crypto_bigint::NAME,
            Who::Rsa => rsa::NAME,
        })
    }

    /// None where it is not installed.
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

    /// Names the peer whose error it is.
    pub(crate) fn failed(self) -> impl Fn(tress_peers::Error) -> Error {
        move |error| Error::Peer(self.name(), error)
    }
}

/// Work over a buffer. Whoever runs it leaves the same bytes there.
pub(crate) trait Work {
    /// Bytes of messages that one run works on.
    fn bytes(&self, who: Who) -> u64;
    /// Whether [`bytes`](Self::bytes) are operations, such as signatures.
    fn counts_operations(&self) -> bool {
        false
    }
    /// Whether the buffer has to be prepared, untimed, before every run.
    fn needs_preparation(&self) -> bool {
        false
    }
    /// Whether making it takes long, so that it is kept from visit to visit.
    fn is_costly(&self) -> bool {
        false
    }
    /// Puts the input of a run into the buffer.
    fn prepare(&mut self, _who: Who) -> Result<(), Error> {
        Ok(())
    }
    /// Has the program work where [`timed_elsewhere`](Self::timed_elsewhere) says.
    fn employ(&mut self, _program: &Path) -> Result<(), Error> {
        Ok(())
    }
    /// Whether cycles of the core that calls say something: not where other threads do the work.
    fn counts_cycles(&self) -> bool {
        true
    }
    /// The name of our backend, where it is not one of the ciphers'.
    fn backend(&self) -> Option<&'static str> {
        None
    }
    /// The time of runs in another process or on other threads, for who works there.
    fn timed_elsewhere(&mut self, _who: Who, _runs: u32) -> Option<Result<Duration, Error>> {
        None
    }
    /// One run.
    fn run(&mut self, who: Who) -> Result<(), Error>;
    /// The bytes that a run leaves: all of them, or the first ones from a peer that does a part of the work; empty when
    /// outputs of different work cannot be compared.
    fn output(&self, who: Who) -> &[u8];
}

/// Work that has been made.
pub(crate) type Made = Result<Box<dyn Work>, Error>;
/// Prepares a row's work for a backend and those who are to do the same.
pub(crate) type Make = Box<dyn Fn(Backend, &[Who]) -> Made>;

/// A row to be measured.
pub(crate) struct Case {
    pub(crate) name: String,
    /// What is done: `encrypt`, `decrypt`, `multiply`, `sign` or `verify`.
    pub(crate) direction: &'static str,
    pub(crate) workload: String,
    pub(crate) threads: usize,
    pub(crate) lanes: usize,
    pub(crate) message_bytes: u64,
    pub(crate) peers: Vec<Who>,
    /// The backends of the cipher.
    pub(crate) backends: &'static [Backend],
    pub(crate) make: Make,
}

/// The name of a direction in the record.
pub(crate) fn called(direction: Direction) -> &'static str {
    match direction {
        Direction::Encrypt => "encrypt",
        Direction::Decrypt => "decrypt",
    }
}
