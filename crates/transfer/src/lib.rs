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
mod link;
#[cfg(test)]
mod link_faulty;
#[cfg(test)]
mod link_nth;
mod names;
mod noise;
mod opened;
mod options;
mod outgoing;
mod owner;
mod quota;
mod ranges;
mod rate;
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

pub use admission::{Allow, Limits};
pub use options::{SendEvent, SendOptions, SendReport, Synchronisation};
pub use receiver::{Event, ReceiveOptions, receive};
pub use sender::{send, send_with_events};

use zeroize::Zeroizing;

use tress_container::container::CHUNK_BYTES;
use tress_container::keys::KeyPair;
use tress_container::pipeline::batch::BATCH_CHUNKS;
use tress_container::{Error, ErrorKind};

/// Plaintext bytes of the largest batch.
pub(crate) const BATCH_PLAIN_BYTES: u64 = BATCH_CHUNKS * CHUNK_BYTES as u64;

/// Buffers of a stream, at either end; 512 KiB each.
pub(crate) const SLOTS: usize = 4;

/// How long a handshake may take.
pub(crate) const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// How long the other end may be silent, or take nothing, before it counts as gone.
pub const STALL_TIME: Duration = Duration::from_secs(30);
/// How often a sender asks whether the receiver is there.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(1);

/// Chunks of a file of this size. The last chunk is never full, so there is always one more than full ones.
pub(crate) fn chunks(size_bytes: u64) -> u64 {
    size_bytes / CHUNK_BYTES as u64 + 1
}

/// Plaintext bytes of these chunks of a file of this size.
pub(crate) fn plain_bytes(size_bytes: u64, chunks: u64) -> u64 {
    chunks.saturating_mul(CHUNK_BYTES as u64).min(size_bytes)
}

/// Everything that reads what the other end, or a disk, says, on the same bytes; what is read has to be what would be
/// written. For the fuzz targets.
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
    if let Some(names) = names::components(bytes) {
        assert_eq!(names.join(&b'/'), bytes);
        assert!(!names.iter().any(|name| matches!(*name, b"" | b"." | b"..")));
    }
    let _ = Allow::read(bytes);
}

/// A sender that does what these bytes say, against a receiver in this empty folder, and what has to hold of the receiver. For the
/// fuzz targets.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub fn any_sender(next: &mut dyn FnMut() -> Option<u8>, folder: &std::path::Path) {
    any_sender::run(next, folder);
}

/// The Noise key of a pair that has one.
pub(crate) fn noise_key(pair: &KeyPair) -> Result<Zeroizing<[u8; 32]>, Error> {
    pair.noise_secret_key().ok_or_else(|| {
        Error::new(ErrorKind::BadIdentity).with_detail("it has no Noise key; tress keygen makes identities with one")
    })
}
