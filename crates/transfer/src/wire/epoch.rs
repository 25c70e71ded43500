//! An epoch: the key of one connection for one file. The key is never stored and never seals a chunk twice.
//!
//! A chunk's number is its nonce. If the input changed and a chunk were sealed again, two plaintexts would be encrypted
//! with one key stream. So the numbers under one key only rise; a lower number needs a new key.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::wire::message::Request;
use tress_container::Error;
use tress_container::container::{Aead, Content, ContentType, Payload};

static NUMBER: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Epoch {
    pub(crate) file: u32,
    /// Unique in this process, in the order in which the epochs were made.
    pub(crate) number: u64,
    pub(crate) payload: Payload,
    /// The message that gives this key to the receiver.
    pub(crate) message: Request,
    /// The lowest chunk number that this key may still seal.
    next_chunk: AtomicU64,
}

impl Epoch {
    pub(crate) fn new(file: u32) -> Result<Self, Error> {
        let content = Content::generate(Aead::Aes128Ccm, ContentType::File, None)?;
        let (payload, prefix) = Payload::create(&content)?;
        let message =
            Request::Key { file, aead: content.aead(), input_key: content.input_key().to_vec().into(), prefix };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Ok(Self { file, number, payload, message, next_chunk: AtomicU64::new(0) })
    }

    /// A lower bound for the numbers of all epochs made after this call.
    pub(crate) fn next_number() -> u64 {
        NUMBER.load(Ordering::Relaxed)
    }

    /// Claims these chunks, to be sealed once. Returns `false` if this key may have sealed some of them.
    pub(crate) fn claim(&self, chunks: &Range<u64>) -> bool {
        self.next_chunk
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |next| (chunks.start >= next).then_some(chunks.end))
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_chunk_is_sealed_twice_under_one_key() {
        let epoch = Epoch::new(1).unwrap();
        assert!(epoch.claim(&(0..32)) && epoch.claim(&(64..96)));
        // Not the same chunks again, not the gap that was skipped, and no overlap.
        assert!(!epoch.claim(&(0..32)) && !epoch.claim(&(32..64)) && !epoch.claim(&(95..127)));
        assert!(epoch.claim(&(96..97)));
    }

    #[test]
    fn the_receiver_gets_the_same_key_and_no_two_are_alike() {
        let (one, other) = (Epoch::new(1).unwrap(), Epoch::new(1).unwrap());
        let mut sealed = vec![7; 100];
        one.payload.seal(5, &mut sealed, true).unwrap();
        let open = |message: &Request, bytes: &[u8]| {
            let Request::Key { aead, input_key, prefix, .. } = message else { unreachable!() };
            let content = Content::with_input_key(*aead, input_key).unwrap();
            let mut bytes = bytes.to_vec();
            Payload::open(&content, prefix).unwrap().unseal(5, &mut bytes, true).map(|()| bytes)
        };
        assert_eq!(open(&one.message, &sealed).unwrap()[..84], [7; 84]);
        assert!(open(&other.message, &sealed).is_err());
    }
}
