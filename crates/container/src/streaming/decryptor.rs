//! Decrypts a container piece by piece.

use std::fmt;

use zeroize::Zeroizing;

use super::encryptor::Output;
use super::parallel::{self, Run, call_chunks};
use crate::format::{Content, Dearmor, Head, LAYOUT, Opened, PREFIX_BYTES, Parsed, Payload};
use crate::keys::{CobblestoneKey, Identities};
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
    by_chunk: bool,
    /// Whether it has failed or finished.
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
        let (carry, by_chunk, failed) = (Vec::new(), false, false);
        Self { identities, armor, opened, carry, needed: 1, next_chunk: 0, threads, by_chunk, failed }
    }

    /// Makes a decryptor of a Cobblestone file that does not wait for a batch: it decrypts every chunk that is complete.
    pub fn by_chunk(key: CobblestoneKey, threads: Threads) -> Self {
        Self { by_chunk: true, ..Self::with(key.into(), false, None, threads) }
    }

    /// Length of the output of [`push_into`](Self::push_into) for this many bytes.
    pub fn ready_bytes(&self, sealed_bytes: usize) -> usize {
        let head = if self.opened.is_some() { 0 } else { PREFIX_BYTES };
        let bytes = (self.carry.len() + sealed_bytes).saturating_sub(head);
        // Chunks of Cobblestone are as long as ours.
        bytes / LAYOUT.sealed_chunk_bytes() * LAYOUT.chunk_bytes()
    }

    /// Like [`push`](Self::push), but writes to the beginning of `plain`, and returns the number of bytes. For decryptors by
    /// [`by_chunk`](Self::by_chunk).
    ///
    /// # Errors
    /// `Usage` for another decryptor, or a buffer shorter than [`ready_bytes`](Self::ready_bytes), and then nothing has happened; the
    /// errors of [`push`](Self::push), after which `plain` holds verified plaintext followed by zeros.
    pub fn push_into(&mut self, sealed: &[u8], plain: &mut [u8]) -> Result<usize, Error> {
        let ready = self.ready_bytes(sealed.len());
        if !self.by_chunk || plain.len() < ready {
            return Err(Error::new(ErrorKind::Usage).with_detail(format!("buffer must be at least {ready} bytes")));
        }
        let mut rest = &mut plain[..ready];
        self.checked(|this| this.try_push(sealed, &mut rest))?;
        Ok(ready - rest.len())
    }

    /// The content of the header, once it was read.
    pub fn content(&self) -> Option<&Content> {
        self.opened.as_ref().map(|opened| &opened.content)
    }

    /// Takes the next bytes of the container, any number, and appends plaintext to `plain`. The plaintext of a tree is a tar stream.
    ///
    /// # Errors
    /// The errors of [`Header::read`](crate::format::Header::read) and [`Header::open`](crate::format::Header::open); `Commitment`;
    /// `ChunkDamaged`, after the verified chunks before it. After an error every further call fails with `Usage`.
    pub fn push(&mut self, sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        self.checked(|this| this.try_push(sealed, &mut Plaintext(plain)))
    }

    /// Declares the end of the container, and appends the remaining plaintext.
    ///
    /// # Errors
    /// `Truncated` if the container cannot end here; the errors of [`push`](Decryptor::push).
    pub fn finish(mut self, plain: &mut Vec<u8>) -> Result<(), Error> {
        self.try_finish(plain)
    }

    /// Like [`finish`](Self::finish), but keeps the decryptor for its [`content`](Self::content): the header of a small file may be opened
    /// only here. Every further call fails with `Usage`.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub fn try_finish(&mut self, plain: &mut Vec<u8>) -> Result<(), Error> {
        self.checked(|this| this.take_end(plain))?;
        self.failed = true;
        Ok(())
    }

    fn checked(&mut self, call: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        if self.failed {
            return Err(Error::new(ErrorKind::Usage).with_detail("this decryptor has already failed or finished"));
        }
        self.failed = true;
        call(self)?;
        self.failed = false;
        Ok(())
    }

    fn try_push(&mut self, sealed: &[u8], plain: &mut impl Output) -> Result<(), Error> {
        if self.armor.is_binary() {
            return self.take(sealed, plain);
        }
        let mut bytes = Vec::new();
        self.armor.push(sealed, &mut bytes)?;
        self.take(&bytes, plain)
    }

    /// Takes bytes without armor.
    fn take(&mut self, mut sealed: &[u8], plain: &mut impl Output) -> Result<(), Error> {
        while self.opened.is_none() {
            self.fill(&mut sealed, self.needed);
            if self.carry.len() < self.needed {
                return Ok(());
            }
            self.parse_head(false, plain)?;
        }
        let layout = self.payload().layout();
        let chunks = if self.by_chunk { 1 } else { call_chunks(&layout, self.threads) };
        let batch_bytes = layout.sealed_offset(chunks) as usize;
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
    fn parse_head(&mut self, at_end: bool, plain: &mut impl Output) -> Result<(), Error> {
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

    fn take_end(&mut self, plain: &mut Vec<u8>) -> Result<(), Error> {
        let (mut bytes, plain) = (Vec::new(), &mut Plaintext(plain));
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
    fn unseal(&mut self, sealed: &[u8], plain: &mut impl Output, ends: bool) -> Result<(), Error> {
        let payload = self.payload();
        let (layout, first) = (payload.layout(), self.next_chunk);
        let bytes = layout.plain_within(sealed.len());
        let run = Run { payload, first, ends, threads: self.threads };
        run.unseal(sealed, plain.grow(bytes))
            .inspect_err(|error| plain.shrink(bytes - parallel::verified_bytes(&layout, first, error)))?;
        self.next_chunk += (sealed.len() / layout.sealed_chunk_bytes()) as u64;
        Ok(())
    }
}

/// A vector of plaintext: if its memory has to move, the old memory is wiped.
struct Plaintext<'a>(&'a mut Vec<u8>);

impl Output for Plaintext<'_> {
    fn grow(&mut self, bytes: usize) -> &mut [u8] {
        let Self(plain) = self;
        let (before, length) = (plain.len(), plain.len() + bytes);
        if plain.capacity() < length {
            let capacity = if plain.is_empty() { length } else { length.max(2 * plain.capacity()) };
            // The system provides fresh memory zeroed.
            let mut larger = vec![0; capacity];
            larger[..before].copy_from_slice(plain);
            drop(Zeroizing::new(std::mem::replace(*plain, larger)));
        }
        plain.resize(length, 0);
        &mut plain[before..]
    }

    fn shrink(&mut self, bytes: usize) {
        self.0.shrink(bytes);
    }
}

impl fmt::Debug for Decryptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decryptor").field("content", &self.content()).finish_non_exhaustive()
    }
}
