#![doc = include_str!("../README.md")]

mod account;
mod admission;
#[cfg(any(test, feature = "fuzzing"))]
mod any_sender;
mod dial;
mod epoch;
mod folders;
mod incoming;
mod journal;
mod ledger;
mod leftovers;
mod link;
#[cfg(test)]
mod link_fail_nth;
#[cfg(test)]
mod link_faulty;
mod names;
mod noise;
mod opened;
mod options;
mod outgoing;
mod owner;
mod quota;
mod ranges;
mod rate;
mod receipt;
mod receiver;
mod resolver;
mod sender;
mod session;
mod source;
mod stages;
mod steering;
mod store;
#[cfg(test)]
mod tests;
mod throttle;
mod ticket;
mod trace;
mod walk;
mod wire;

use std::time::Duration;

pub use admission::{Allow, Limits, limit_key};
pub use options::{SendEvent, SendOptions, SendReport, Synchronisation};
pub use receipt::{Receipt, unreported};
pub use receiver::{Event, ReceiveOptions, receive};
pub use sender::{send, send_with_events};

use zeroize::Zeroizing;

use tress_container::format::LAYOUT;
use tress_container::keys::KeyPair;
use tress_container::pipeline::batch::BATCH_CHUNKS;
use tress_container::{Error, ErrorKind};

/// Plaintext bytes of the largest batch.
pub(crate) const BATCH_PLAIN_BYTES: u64 = LAYOUT.plain_offset(BATCH_CHUNKS);

/// Buffers of one data connection, at either end, 512 KiB each.
pub(crate) const STREAM_BUFFERS: usize = 4;

/// Time limit of a handshake.
pub(crate) const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// How long the peer may send nothing, or accept nothing, before the connection counts as lost.
pub const STALL_TIME: Duration = Duration::from_secs(30);
/// How often a sender sends a ping.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(1);

/// Number of chunks of a file of this size.
pub(crate) fn chunks(size_bytes: u64) -> u64 {
    LAYOUT.chunks(size_bytes)
}

/// Plaintext bytes of this number of chunks, at most the size of the file.
pub(crate) fn plain_bytes(size_bytes: u64, chunks: u64) -> u64 {
    LAYOUT.plain_offset(chunks).min(size_bytes)
}

/// Runs every parser of input from the peer or the disk on the same bytes, and checks that a parsed message encodes to the
/// same bytes. For the fuzz targets.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub fn read_anything(bytes: &[u8]) {
    if let Ok(request) = wire::Request::parse(bytes) {
        assert_eq!(&request.encode()[..], bytes);
    }
    if let Ok(reply) = wire::Reply::parse(bytes) {
        assert_eq!(reply.encode(), bytes);
    }
    if let Some(journal) = journal::parse(bytes) {
        assert!(journal.good_bytes <= bytes.len() as u64);
        assert!(journal.held.end() <= chunks(journal.size_bytes));
    }
    if let Ok(names) = names::components(bytes) {
        assert_eq!(names.join(&b'/'), bytes);
        assert!(!names.iter().any(|name| matches!(*name, b"" | b"." | b"..")));
    }
    let _ = Allow::read(bytes);
}

/// Runs a sender that follows a script of bytes against a receiver in this empty folder, and checks the receiver. For the fuzz targets.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub fn any_sender(next: &mut dyn FnMut() -> Option<u8>, folder: &std::path::Path) {
    any_sender::run(next, folder);
}

/// The secret Noise key of a key pair, or an error if the pair has none.
pub(crate) fn noise_key(pair: &KeyPair) -> Result<Zeroizing<[u8; 32]>, Error> {
    pair.noise_secret_key().ok_or_else(|| {
        Error::new(ErrorKind::BadIdentity)
            .with_detail("the identity has no Noise key; tress keygen makes identities with one")
    })
}
