//! Makes a container piece by piece.

use tress_lanes::fork;
use zeroize::{Zeroize, Zeroizing};

use super::parallel::{self, Run, call_chunks};
use crate::commands::EncryptOptions;
use crate::format::{ContentType, Payload};
use crate::keys::Recipients;
use crate::{Error, ErrorKind};

/// Where a call appends its output: to a vector, or to the rest of a buffer that has room.
pub(super) trait Output {
    /// Appends this many bytes, and returns them.
    fn grow(&mut self, bytes: usize) -> &mut [u8];
    /// Takes back the last bytes, if nobody sees them otherwise.
    fn shrink(&mut self, bytes: usize);
}

impl Output for Vec<u8> {
    fn grow(&mut self, bytes: usize) -> &mut [u8] {
        let before = self.len();
        self.resize(before + bytes, 0);
        &mut self[before..]
    }

    fn shrink(&mut self, bytes: usize) {
        self.truncate(self.len() - bytes);
    }
}

impl Output for &mut [u8] {
    fn grow(&mut self, bytes: usize) -> &mut [u8] {
        self.split_off_mut(..bytes).expect("the caller has made room")
    }

    fn shrink(&mut self, _: usize) {}
}

/// Makes a container from plaintext that is pushed piece by piece. The output is usable only after [`finish`](Encryptor::finish):
/// no reader accepts a container without its last chunk.
///
/// An encryptor belongs to the process that made it. After a fork two processes would encrypt with one key and nonce, so sealing in
/// another process is an error.
///
/// Holds up to one batch of plaintext (512 KiB, or a MiB per thread if there are several), which is wiped.
pub struct Encryptor {
    payload: Payload,
    /// Header and prefix, until they are appended.
    head: Vec<u8>,
    /// Plaintext that does not fill a batch yet.
    carry: Zeroizing<Vec<u8>>,
    batch_bytes: usize,
    next_chunk: u64,
    threads: usize,
    failed: bool,
    process: usize,
}

impl Encryptor {
    /// Starts a container for these recipients.
    ///
    /// # Errors
    /// The errors of [`Header::seal`](crate::format::Header::seal); `BadName`; `Io` when the system has no randomness.
    pub fn new(recipients: &Recipients, options: &EncryptOptions) -> Result<Self, Error> {
        let (payload, head) = options.start(ContentType::File, options.name.clone(), recipients)?;
        let threads = options.threads.count();
        let layout = payload.layout();
        let batch_bytes = layout.plain_offset(call_chunks(&layout, threads)) as usize;
        let carry = Zeroizing::default();
        let process = fork::generation();
        Ok(Self { payload, head, carry, batch_bytes, next_chunk: 0, threads, failed: false, process })
    }

    /// Makes [`push`](Self::push) seal every chunk that is full, where it would wait for a batch.
    #[must_use]
    pub fn by_chunk(mut self) -> Self {
        self.batch_bytes = self.payload.layout().chunk_bytes();
        self
    }

    /// Length of the output of [`push_into`](Self::push_into) for this many bytes; without [`by_chunk`](Self::by_chunk), the longest.
    pub fn ready_bytes(&self, plain_bytes: usize) -> usize {
        let layout = self.payload.layout();
        let held = if layout.may_end_full() { 1 } else { 0 };
        let chunks = layout.chunk_at((self.carry.len() + plain_bytes).saturating_sub(held) as u64);
        self.head.len() + layout.sealed_offset(chunks) as usize
    }

    /// Like [`push`](Self::push), but writes to the beginning of `sealed`, and returns the number of bytes.
    ///
    /// # Errors
    /// `Usage` for a buffer shorter than [`ready_bytes`](Self::ready_bytes), and then nothing has happened; the errors of
    /// [`push`](Self::push), after which `sealed` holds zeros.
    pub fn push_into(&mut self, plain: &[u8], sealed: &mut [u8]) -> Result<usize, Error> {
        let ready = self.ready_bytes(plain.len());
        if sealed.len() < ready {
            return Err(Error::new(ErrorKind::Usage).with_detail(format!("buffer must be at least {ready} bytes")));
        }
        let mut rest = &mut sealed[..ready];
        let pushed = self.append(plain, &mut rest, false);
        let left = rest.len();
        pushed.inspect_err(|_| sealed[..ready].zeroize())?;
        Ok(ready - left)
    }

    /// Takes the next bytes of plaintext, any number, and appends the part of the container that is ready to `sealed`.
    ///
    /// # Errors
    /// `TooManyChunks`; `Usage` in another process; `Io` if there is no memory. After an error `sealed` is unchanged, and every further
    /// call fails with `Usage`.
    pub fn push(&mut self, plain: &[u8], sealed: &mut Vec<u8>) -> Result<(), Error> {
        self.append_to(plain, sealed, false)
    }

    /// Appends the rest of the container.
    ///
    /// # Errors
    /// The errors of [`push`](Encryptor::push).
    pub fn finish(mut self, sealed: &mut Vec<u8>) -> Result<(), Error> {
        self.append_to(&[], sealed, true)
    }

    /// Largest amount of plaintext that it holds, in bytes.
    pub(super) fn batch_bytes(&self) -> usize {
        self.batch_bytes
    }

    fn append_to(&mut self, plain: &[u8], sealed: &mut Vec<u8>, last: bool) -> Result<(), Error> {
        let before = sealed.len();
        self.append(plain, sealed, last).inspect_err(|_| {
            // The bytes that were not sealed are plaintext.
            sealed[before..].zeroize();
            sealed.truncate(before);
        })
    }

    fn append(&mut self, plain: &[u8], sealed: &mut impl Output, last: bool) -> Result<(), Error> {
        if self.failed {
            return Err(Error::new(ErrorKind::Usage).with_detail("this encryptor has already failed"));
        }
        self.failed = true;
        let result = self.try_append(plain, sealed, last);
        self.failed = result.is_err();
        result
    }

    fn try_append(&mut self, mut plain: &[u8], sealed: &mut impl Output, last: bool) -> Result<(), Error> {
        sealed.grow(self.head.len()).copy_from_slice(&self.head);
        self.head.clear();
        if !self.carry.is_empty() {
            let missing = self.batch_bytes - self.carry.len();
            let now = plain.split_off(..plain.len().min(missing)).unwrap_or_default();
            parallel::extend(&mut self.carry, now, self.batch_bytes)?;
        }
        // Where the last chunk may be full, a full batch waits for the next byte.
        let held = if self.payload.layout().may_end_full() { 1 } else { 0 };
        if last || self.carry.len() == self.batch_bytes && plain.len() >= held {
            let mut carry = std::mem::take(&mut self.carry);
            self.seal(&carry, sealed, last)?;
            // Its whole capacity is wiped when it is dropped.
            carry.clear();
            self.carry = carry;
        }
        if self.carry.is_empty() && plain.len() >= self.batch_bytes + held {
            let layout = self.payload.layout();
            let whole = layout.plain_offset(layout.chunk_at((plain.len() - held) as u64)) as usize;
            let whole = plain.split_off(..whole).unwrap_or_default();
            self.seal(whole, sealed, false)?;
        }
        Ok(parallel::extend(&mut self.carry, plain, self.batch_bytes)?)
    }

    /// Seals whole chunks or, with `last`, everything.
    fn seal(&mut self, plain: &[u8], sealed: &mut impl Output, last: bool) -> Result<(), Error> {
        if fork::generation() != self.process {
            return Err(Error::new(ErrorKind::Usage).with_detail("this encryptor belongs to another process"));
        }
        let layout = self.payload.layout();
        let chunks = layout.chunk_at(plain.len() as u64);
        let bytes = if last { layout.sealed_bytes(plain.len() as u64) } else { layout.sealed_offset(chunks) };
        let run = Run { payload: &self.payload, first: self.next_chunk, ends: last, threads: self.threads };
        run.seal(plain, sealed.grow(bytes as usize))?;
        self.next_chunk += chunks;
        Ok(())
    }
}
