#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod receive;
mod send;
#[cfg(any(test, feature = "fuzzing"))]
mod testing;
#[cfg(test)]
mod tests;
mod wire;

pub use receive::admission::{Limits, limit_key};
pub use receive::allow::{Allow, AllowFile};
pub use receive::files::Receipt;
pub use receive::options::{Event, ReceiveOptions};
pub use receive::receiver::receive;
pub use receive::unreported::unreported;
pub use send::options::{SendEvent, SendOptions, SendReport, Synchronisation};
pub use send::sender::{WouldSend, list, send, send_with_events};
pub use wire::limits::STALL_TIME;

/// Runs every parser of input from the peer or the disk on the same bytes, and checks that a parsed message encodes to the
/// same bytes. For the fuzz targets.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub fn read_anything(bytes: &[u8]) {
    if let Ok(request) = wire::message::Request::parse(bytes) {
        assert_eq!(&request.encode()[..], bytes);
    }
    if let Ok(reply) = wire::message::Reply::parse(bytes) {
        assert_eq!(reply.encode(), bytes);
    }
    if let Some(journal) = receive::journal::parse(bytes) {
        assert!(journal.good_bytes <= bytes.len() as u64);
        assert!(journal.held.end() <= tress_container::format::LAYOUT.chunks(journal.size_bytes));
    }
    if let Some(record) = receive::files::FileRecord::parse(bytes) {
        // The byte that is left out says whether the file was reported.
        let encoded = record.encode();
        assert!(bytes.starts_with(&encoded[..2]) && bytes[3..].starts_with(&encoded[3..]));
    }
    if let Ok(names) = wire::names::components(bytes) {
        assert_eq!(names.join(&b'/'), bytes);
        assert!(!names.iter().any(|name| matches!(*name, b"" | b"." | b"..")));
    }
    let _ = Allow::read(bytes);
}

/// Runs a sender that follows a script of bytes against a receiver in this empty folder, and checks the receiver. For the fuzz targets.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub fn any_sender(next: &mut dyn FnMut() -> Option<u8>, folder: &std::path::Path) {
    testing::any_sender::run(next, folder);
}
