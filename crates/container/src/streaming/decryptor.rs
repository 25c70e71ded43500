//! Container in, verified plaintext out, piece by piece.

use std::fmt;

use zeroize::Zeroizing;

use super::{SEALED_BATCH_BYTES, parallel};
use crate::container::{
    ALIGNMENT_BYTES, CHUNK_BYTES, Content, Header, PREFIX_BYTES, Payload, SEALED_CHUNK_BYTES, plain_bytes,
};
use crate::keys::Identities;
use crate::threads::Threads;
use crate::{Error, ErrorKind};

/// Decrypts a container that is pushed. Only chunks that were verified come out; that the container is complete is known
/// only after [`finish`](Decryptor::finish).
///
/// Holds what was pushed of one batch (513 KiB, or a MiB for each thread if there are several).
pub struct Decryptor {
    identities: Identities,
    /// `None` until the header was read and opened.
    opened: Option<(Content, Payload)>,
    /// What was pushed and is no batch yet; of the header, all.
    carry: Vec<u8>,
    batch_bytes: usize,
    next_chunk: u64,
    threads: usize,
    failed: bool,
}

impl Decryptor {
    /// Waits for a container, which the first of `identities` that fits will open.
    pub fn new(identities: &Identities, threads: Threads) -> Self {
        Self::with(identities.clone(), None, threads)
    }

    /// For a container whose header was opened: its chunks are pushed.
    pub(super) fn opened(content: Content, payload: Payload, threads: Threads) -> Self {
        Self::with(Identities::default(), Some((content, payload)), threads)
    }

    fn with(identities: Identities, opened: Option<(Content, Payload)>, threads: Threads) -> Self {
        let threads = threads.count();
        let batch_bytes = if threads == 1 { SEALED_BATCH_BYTES } else { 2 * threads * SEALED_BATCH_BYTES };
        Self { identities, opened, carry: Vec::new(), batch_bytes, next_chunk: 0, threads, failed: false }
    }

    /// What the header carries, once it was read.
    pub fn content(&self) -> Option<&Content> {
        self.opened.as_ref().map(|(content, _)| content)
    }

    /// Takes the next bytes of the container, any number, and appends plaintext to `plain`. That of a tree is a tar stream.
    ///
    /// # Errors
    /// As [`Header::read`]; as [`Header::open`]; `Commitment`; `ChunkDamaged`, after the verified chunks before it. After an
    /// error every further call fails with `Usage`.
    pub fn push(&mut self, sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        self.checked(|this| this.try_push(sealed, plain))
    }

    /// Says that the container ends here, and appends what is left of the plaintext.
    ///
    /// # Errors
    /// `Truncated` if this cannot be its end; as [`push`](Decryptor::push).
    pub fn finish(mut self, plain: &mut Vec<u8>) -> Result<(), Error> {
        self.checked(|this| this.try_finish(plain))
    }

    fn checked(&mut self, call: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        if self.failed {
            return Err(Error::new(ErrorKind::Usage).with_detail("this decryptor has already failed"));
        }
        self.failed = true;
        call(self)?;
        self.failed = false;
        Ok(())
    }

    fn try_push(&mut self, mut sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        while self.opened.is_none() {
            let needed = self.head_bytes()?;
            self.fill(&mut sealed, needed);
            if self.carry.len() < needed {
                return Ok(());
            }
            if needed > ALIGNMENT_BYTES {
                self.open_head()?;
            }
        }
        if !self.carry.is_empty() {
            self.fill(&mut sealed, self.batch_bytes);
        }
        if self.carry.len() == self.batch_bytes {
            let mut carry = std::mem::take(&mut self.carry);
            self.unseal(&carry, plain)?;
            carry.clear();
            self.carry = carry;
        }
        if sealed.len() >= self.batch_bytes {
            // A chunk of full length is never the last one.
            let whole = sealed.len() / SEALED_CHUNK_BYTES * SEALED_CHUNK_BYTES;
            self.unseal(sealed.split_off(..whole).unwrap_or_default(), plain)?;
        }
        self.fill(&mut sealed, usize::MAX);
        Ok(())
    }

    /// Moves bytes into the carry until it has so many.
    fn fill(&mut self, sealed: &mut &[u8], bytes: usize) {
        let missing = bytes.saturating_sub(self.carry.len());
        self.carry.extend_from_slice(sealed.split_off(..sealed.len().min(missing)).unwrap_or_default());
    }

    /// How many bytes have to be there next: those that tell the header's length, then header and prefix.
    fn head_bytes(&self) -> Result<usize, Error> {
        if self.carry.len() < ALIGNMENT_BYTES {
            return Ok(ALIGNMENT_BYTES);
        }
        Ok(Header::length(&self.carry)? + PREFIX_BYTES)
    }

    fn open_head(&mut self) -> Result<(), Error> {
        let (head, prefix) = self.carry.split_at(self.carry.len() - PREFIX_BYTES);
        let header = Header::read(&mut &head[..])?;
        let content = header.open(&std::mem::take(&mut self.identities))?;
        let payload = Payload::open(&content, prefix.try_into().expect("is as long"))?;
        self.opened = Some((content, payload));
        self.carry.clear();
        Ok(())
    }

    /// [`finish`](Decryptor::finish) for whoever keeps the decryptor, and calls it no more.
    pub(super) fn try_finish(&mut self, plain: &mut Vec<u8>) -> Result<(), Error> {
        if self.opened.is_none() {
            // What is wrong with a header tells more than that it is short.
            Header::read(&mut &self.carry[..])?;
            return Err(ErrorKind::Truncated.into());
        }
        let carry = std::mem::take(&mut self.carry);
        plain_bytes(carry.len() as u64)?;
        self.unseal(&carry, plain)
    }

    /// Appends the plaintext of chunks, the last one perhaps among them.
    fn unseal(&mut self, sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        let (_, payload) = self.opened.as_ref().expect("the header was opened");
        let chunks = sealed.len() / SEALED_CHUNK_BYTES;
        let bytes = if sealed.len().is_multiple_of(SEALED_CHUNK_BYTES) {
            chunks * CHUNK_BYTES
        } else {
            plain_bytes(sealed.len() as u64)? as usize
        };
        let before = plain.len();
        grow(plain, bytes);
        parallel::unseal(payload, self.next_chunk, sealed, &mut plain[before..], self.threads).inspect_err(
            |error| {
                plain.truncate(before + parallel::verified_bytes(self.next_chunk, error));
            },
        )?;
        self.next_chunk += chunks as u64;
        Ok(())
    }
}

/// Adds zeros. Where memory has to move, what it was is wiped: it is plaintext.
fn grow(plain: &mut Vec<u8>, bytes: usize) {
    let length = plain.len() + bytes;
    if plain.capacity() < length {
        let capacity = if plain.is_empty() { length } else { length.max(2 * plain.capacity()) };
        // Zeroed by the system, where the memory is fresh.
        let mut larger = vec![0; capacity];
        larger[..plain.len()].copy_from_slice(plain);
        drop(Zeroizing::new(std::mem::replace(plain, larger)));
    }
    plain.resize(length, 0);
}

impl fmt::Debug for Decryptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decryptor").field("content", &self.content()).finish_non_exhaustive()
    }
}
