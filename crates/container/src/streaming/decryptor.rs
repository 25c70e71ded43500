//! Decrypts a container piece by piece.

use std::fmt;

use zeroize::Zeroizing;

use super::parallel::{self, Run, call_chunks};
use crate::format::{Content, Dearmor, Head, Opened, Parsed, Payload};
use crate::keys::Identities;
use crate::threads::Threads;
use crate::{Error, ErrorKind};

/// Decrypts a container, or a file in another format, that is pushed piece by piece. Only verified chunks come out. Only
/// [`finish`](Decryptor::finish) confirms that the file is complete.
///
/// Holds up to one batch of pushed data (513 KiB, or a MiB per thread if there are several).
pub struct Decryptor {
    identities: Identities,
    armor: Dearmor,
    /// `None` until the header was read and opened.
    opened: Option<Opened>,
    /// Bytes without armor that do not fill a batch yet; the whole header until it is complete.
    carry: Vec<u8>,
    /// Number of bytes that the header needs, at least.
    needed: usize,
    next_chunk: u64,
    threads: usize,
    failed: bool,
}

impl Decryptor {
    /// Makes a decryptor that opens the header with the first of `identities` that fits.
    pub fn new(identities: &Identities, threads: Threads) -> Self {
        Self::with(identities.clone(), identities.format().is_none(), None, threads)
    }

    /// Makes a decryptor for the chunks of a file, after its header was opened and its armor removed.
    pub(super) fn opened(opened: Opened, threads: Threads) -> Self {
        Self::with(Identities::default(), false, Some(opened), threads)
    }

    fn with(identities: Identities, may_be_armored: bool, opened: Option<Opened>, threads: Threads) -> Self {
        let (armor, threads) = (Dearmor::new(may_be_armored), threads.count());
        Self { identities, armor, opened, carry: Vec::new(), needed: 1, next_chunk: 0, threads, failed: false }
    }

    /// The content of the header, once it was read.
    pub fn content(&self) -> Option<&Content> {
        self.opened.as_ref().map(|opened| &opened.content)
    }

    /// Takes the next bytes of the container, any number, and appends plaintext to `plain`. The plaintext of a tree is a tar stream.
    ///
    /// # Errors
    /// The errors of [`Header::read`](crate::format::Header::read) and [`Header::open`](crate::format::Header::open); `Commitment`; `ChunkDamaged`, after the verified chunks before it. After an
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

    fn try_push(&mut self, sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        if self.armor.is_binary() {
            return self.take(sealed, plain);
        }
        let mut bytes = Vec::new();
        self.armor.push(sealed, &mut bytes)?;
        self.take(&bytes, plain)
    }

    /// Takes bytes without armor.
    fn take(&mut self, mut sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        while self.opened.is_none() {
            self.fill(&mut sealed, self.needed);
            if self.carry.len() < self.needed {
                return Ok(());
            }
            self.parse_head(false, plain)?;
        }
        let layout = self.payload().layout();
        let batch_bytes = layout.sealed_offset(call_chunks(&layout, self.threads)) as usize;
        // Where the last chunk may be full, a full one waits for the next byte.
        let held = if layout.may_end_full() { 1 } else { 0 };
        if !self.carry.is_empty() {
            self.fill(&mut sealed, batch_bytes);
        }
        if self.carry.len() == batch_bytes && sealed.len() >= held {
            let mut carry = std::mem::take(&mut self.carry);
            self.unseal(&carry, plain, false)?;
            carry.clear();
            self.carry = carry;
        }
        if self.carry.is_empty() && sealed.len() >= batch_bytes + held {
            let whole = (sealed.len() - held) / layout.sealed_chunk_bytes() * layout.sealed_chunk_bytes();
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

    /// Parses and opens the head in the carry, if it is complete, and takes what follows; `at_end` is whether no more bytes come.
    fn parse_head(&mut self, at_end: bool, plain: &mut Vec<u8>) -> Result<(), Error> {
        match Head::parse(&self.carry, self.identities.format(), at_end)? {
            Parsed::Needs(bytes) => self.needed = bytes,
            Parsed::Head(head) => {
                self.opened = Some(head.open(&std::mem::take(&mut self.identities))?);
                let carry = std::mem::take(&mut self.carry);
                self.take(&carry[head.chunks_offset as usize..], plain)?;
            }
        }
        Ok(())
    }

    /// Like [`finish`](Decryptor::finish), for callers that keep the decryptor but call it no more.
    pub(super) fn try_finish(&mut self, plain: &mut Vec<u8>) -> Result<(), Error> {
        let mut bytes = Vec::new();
        self.armor.finish(&mut bytes)?;
        self.take(&bytes, plain)?;
        if self.opened.is_none() {
            self.parse_head(true, plain)?;
        }
        let carry = std::mem::take(&mut self.carry);
        self.payload().layout().run(self.next_chunk, carry.len(), true)?;
        self.unseal(&carry, plain, true)
    }

    fn payload(&self) -> &Payload {
        &self.opened.as_ref().expect("the header was opened").payload
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
