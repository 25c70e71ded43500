//! Decrypts a container piece by piece.

use std::fmt;

use zeroize::Zeroizing;

use super::parallel::{self, Run, call_chunks};
use crate::format::{ALIGNMENT_BYTES, Content, Header, PREFIX_BYTES, Payload};
use crate::keys::Identities;
use crate::threads::Threads;
use crate::{Error, ErrorKind};

/// Decrypts a container that is pushed piece by piece. Only verified chunks come out. Only [`finish`](Decryptor::finish) confirms that
/// the container is complete.
///
/// Holds up to one batch of pushed data (513 KiB, or a MiB per thread if there are several).
pub struct Decryptor {
    identities: Identities,
    /// `None` until the header was read and opened.
    opened: Option<(Content, Payload)>,
    /// Pushed data that does not fill a batch yet; the whole header until it is complete.
    carry: Vec<u8>,
    next_chunk: u64,
    threads: usize,
    failed: bool,
}

impl Decryptor {
    /// Makes a decryptor that opens the header with the first of `identities` that fits.
    pub fn new(identities: &Identities, threads: Threads) -> Self {
        Self::with(identities.clone(), None, threads)
    }

    /// Makes a decryptor for the chunks of a container whose header was opened.
    pub(super) fn opened(content: Content, payload: Payload, threads: Threads) -> Self {
        Self::with(Identities::default(), Some((content, payload)), threads)
    }

    fn with(identities: Identities, opened: Option<(Content, Payload)>, threads: Threads) -> Self {
        let threads = threads.count();
        Self { identities, opened, carry: Vec::new(), next_chunk: 0, threads, failed: false }
    }

    /// The content of the header, once it was read.
    pub fn content(&self) -> Option<&Content> {
        self.opened.as_ref().map(|(content, _)| content)
    }

    /// Takes the next bytes of the container, any number, and appends plaintext to `plain`. The plaintext of a tree is a tar stream.
    ///
    /// # Errors
    /// The errors of [`Header::read`] and [`Header::open`]; `Commitment`; `ChunkDamaged`, after the verified chunks before it. After an
    /// error every further call fails with `Usage`.
    pub fn push(&mut self, sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        self.checked(|this| this.try_push(sealed, plain))
    }

    /// Declares the end of the container, and appends the remaining plaintext.
    ///
    /// # Errors
    /// `Truncated` if the container cannot end here; the errors of [`push`](Decryptor::push).
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
        let layout = self.payload().layout();
        let batch_bytes = layout.sealed_offset(call_chunks(self.threads)) as usize;
        if !self.carry.is_empty() {
            self.fill(&mut sealed, batch_bytes);
        }
        if self.carry.len() == batch_bytes {
            let mut carry = std::mem::take(&mut self.carry);
            self.unseal(&carry, plain, false)?;
            carry.clear();
            self.carry = carry;
        }
        if sealed.len() >= batch_bytes {
            // A chunk of full length is never the last one.
            let whole = sealed.len() - sealed.len() % layout.sealed_chunk_bytes();
            self.unseal(sealed.split_off(..whole).unwrap_or_default(), plain, false)?;
        }
        self.fill(&mut sealed, usize::MAX);
        Ok(())
    }

    /// Moves input into the carry until it holds `bytes` bytes, or the input is used up.
    fn fill(&mut self, sealed: &mut &[u8], bytes: usize) {
        let missing = bytes.saturating_sub(self.carry.len());
        self.carry.extend_from_slice(sealed.split_off(..sealed.len().min(missing)).unwrap_or_default());
    }

    /// Number of bytes that the next step needs: first the fields that give the header's length, then header and prefix.
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

    /// Like [`finish`](Decryptor::finish), for callers that keep the decryptor but call it no more.
    pub(super) fn try_finish(&mut self, plain: &mut Vec<u8>) -> Result<(), Error> {
        if self.opened.is_none() {
            // An error in the header is more specific than `Truncated`.
            Header::read(&mut &self.carry[..])?;
            return Err(ErrorKind::Truncated.into());
        }
        let carry = std::mem::take(&mut self.carry);
        self.payload().layout().run(carry.len(), true)?;
        self.unseal(&carry, plain, true)
    }

    fn payload(&self) -> &Payload {
        &self.opened.as_ref().expect("the header was opened").1
    }

    /// Appends the plaintext of chunks; `ends` is whether the last one is among them.
    fn unseal(&mut self, sealed: &[u8], plain: &mut Vec<u8>, ends: bool) -> Result<(), Error> {
        let payload = self.payload();
        let (layout, first, before) = (payload.layout(), self.next_chunk, plain.len());
        append_zeros(plain, layout.plain_within(sealed.len()));
        let run = Run { payload, first, ends, threads: self.threads };
        run.unseal(sealed, &mut plain[before..])
            .inspect_err(|error| plain.truncate(before + parallel::verified_bytes(&layout, first, error)))?;
        self.next_chunk += (sealed.len() / layout.sealed_chunk_bytes()) as u64;
        Ok(())
    }
}

/// Appends zeros. If the memory has to move, the old memory is wiped, because it holds plaintext.
fn append_zeros(plain: &mut Vec<u8>, bytes: usize) {
    let length = plain.len() + bytes;
    if plain.capacity() < length {
        let capacity = if plain.is_empty() { length } else { length.max(2 * plain.capacity()) };
        // The system provides fresh memory zeroed.
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
