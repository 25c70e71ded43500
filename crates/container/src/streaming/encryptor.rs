//! Makes a container piece by piece.

use tress_lanes::fork;
use zeroize::{Zeroize, Zeroizing};

use super::parallel::{self, Run, call_chunks};
use crate::commands::EncryptOptions;
use crate::format::{ContentType, Payload};
use crate::keys::Recipients;
use crate::{Error, ErrorKind};

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

    /// Takes the next bytes of plaintext, any number, and appends the part of the container that is ready to `sealed`.
    ///
    /// # Errors
    /// `TooManyChunks`; `Usage` in another process; `Io` if there is no memory. After an error `sealed` is unchanged, and every further
    /// call fails with `Usage`.
    pub fn push(&mut self, plain: &[u8], sealed: &mut Vec<u8>) -> Result<(), Error> {
        self.append(plain, sealed, false)
    }

    /// Appends the rest of the container.
    ///
    /// # Errors
    /// The errors of [`push`](Encryptor::push).
    pub fn finish(mut self, sealed: &mut Vec<u8>) -> Result<(), Error> {
        self.append(&[], sealed, true)
    }

    /// Largest amount of plaintext that it holds, in bytes.
    pub(super) fn batch_bytes(&self) -> usize {
        self.batch_bytes
    }

    fn append(&mut self, plain: &[u8], sealed: &mut Vec<u8>, last: bool) -> Result<(), Error> {
        if self.failed {
            return Err(Error::new(ErrorKind::Usage).with_detail("this encryptor has already failed"));
        }
        let before = sealed.len();
        self.failed = true;
        let result = self.try_append(plain, sealed, last);
        self.failed = result.is_err();
        if self.failed {
            // The bytes that were not sealed are plaintext.
            sealed[before..].zeroize();
            sealed.truncate(before);
        }
        result
    }

    fn try_append(&mut self, mut plain: &[u8], sealed: &mut Vec<u8>, last: bool) -> Result<(), Error> {
        sealed.append(&mut self.head);
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
    fn seal(&mut self, plain: &[u8], sealed: &mut Vec<u8>, last: bool) -> Result<(), Error> {
        if fork::generation() != self.process {
            return Err(Error::new(ErrorKind::Usage).with_detail("this encryptor belongs to another process"));
        }
        let layout = self.payload.layout();
        let chunks = layout.chunk_at(plain.len() as u64);
        let bytes = if last { layout.sealed_bytes(plain.len() as u64) } else { layout.sealed_offset(chunks) };
        let before = sealed.len();
        sealed.resize(before + bytes as usize, 0);
        let run = Run { payload: &self.payload, first: self.next_chunk, ends: last, threads: self.threads };
        run.seal(plain, &mut sealed[before..])?;
        self.next_chunk += chunks;
        Ok(())
    }
}
