//! Whole containers in memory.

use std::borrow::Cow;
use std::io::Read as _;

use zeroize::Zeroizing;

use super::parallel::Run;
use crate::commands::EncryptOptions;
use crate::format::{Content, ContentType, Head, Opened, Payload, SealedReader};
use crate::keys::{Identities, Recipients};
use crate::threads::Threads;
use crate::{Error, ErrorKind};

/// A container that is to be written into a buffer of the caller.
pub struct WholeEncryptor {
    payload: Payload,
    head: Vec<u8>,
    plain_bytes: usize,
    sealed_bytes: usize,
    threads: usize,
}

impl WholeEncryptor {
    /// Starts a container of `plain_bytes` bytes of plaintext. It stores a name only if `options` has one.
    ///
    /// # Errors
    /// The errors of [`Header::seal`](crate::format::Header::seal); `BadName`; `Io` when the system has no randomness; `MessageTooLong` if
    /// the length exceeds the address space.
    pub fn new(plain_bytes: usize, recipients: &Recipients, options: &EncryptOptions) -> Result<Self, Error> {
        let (payload, head) = options.start(ContentType::File, options.name.clone(), recipients)?;
        let sealed_bytes = payload.layout().sealed_bytes(plain_bytes as u64).saturating_add(head.len() as u64);
        let sealed_bytes = usize::try_from(sealed_bytes).ok().filter(|&bytes| bytes <= isize::MAX as usize);
        let sealed_bytes = sealed_bytes.ok_or(Error::new(ErrorKind::MessageTooLong))?;
        Ok(Self { payload, head, plain_bytes, sealed_bytes, threads: options.threads.count() })
    }

    /// Length of the container in bytes.
    pub fn sealed_bytes(&self) -> usize {
        self.sealed_bytes
    }

    /// Writes the container of `plain` into `sealed`.
    ///
    /// # Errors
    /// `TooManyChunks`; `Usage` if `plain` or `sealed` does not have its announced length. Then `sealed` is not usable, and may hold
    /// plaintext.
    pub fn encrypt(self, plain: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        if plain.len() != self.plain_bytes || sealed.len() != self.sealed_bytes {
            return Err(Error::new(ErrorKind::Usage).with_detail("buffers have the wrong length"));
        }
        let (head, chunks) = sealed.split_at_mut(self.head.len());
        head.copy_from_slice(&self.head);
        Run { payload: &self.payload, first: 0, ends: true, threads: self.threads }.seal(plain, chunks)
    }
}

/// A file in memory whose header was opened.
pub struct WholeDecryptor<'a> {
    content: Content,
    payload: Payload,
    chunks: Cow<'a, [u8]>,
    plain_bytes: usize,
}

impl<'a> WholeDecryptor<'a> {
    /// Opens the header of `file`, in any format. An armor is removed in memory.
    ///
    /// # Errors
    /// The errors of [`Header::read`](crate::format::Header::read) and [`Header::open`](crate::format::Header::open); `Commitment`,
    /// `Truncated`; `ArmorDamaged`.
    pub fn new(file: &'a [u8], identities: &Identities) -> Result<Self, Error> {
        let mut reader = SealedReader::new(file, identities.format().is_none());
        let head = Head::read(&mut reader, identities.format())?;
        let Opened { content, payload } = head.open(identities)?;
        let chunks = if reader.is_armored() {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes)?;
            Cow::from(bytes)
        } else {
            Cow::from(&file[head.chunks_offset as usize..])
        };
        let plain_bytes = payload.layout().plain_bytes(chunks.len() as u64)? as usize;
        Ok(Self { content, payload, chunks, plain_bytes })
    }

    /// The content of the header.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Length of the plaintext in bytes, if all of it verifies.
    pub fn plain_bytes(&self) -> usize {
        self.plain_bytes
    }

    /// Verifies all chunks and decrypts them into `plain`.
    ///
    /// # Errors
    /// `ChunkDamaged`, after which `plain` holds verified plaintext up to that chunk and zeros from it on; `Usage` if `plain` does not have
    /// the length of the plaintext.
    pub fn decrypt(&self, plain: &mut [u8], threads: Threads) -> Result<(), Error> {
        if plain.len() != self.plain_bytes {
            return Err(Error::new(ErrorKind::Usage).with_detail("buffer must be as long as the plaintext"));
        }
        let run = Run { payload: &self.payload, first: 0, ends: true, threads: threads.count() };
        run.unseal(&self.chunks, plain)
    }
}

/// Encrypts `plain`, and returns the container.
///
/// # Errors
/// The errors of [`WholeEncryptor::new`] and [`WholeEncryptor::encrypt`].
pub fn encrypt_bytes(plain: &[u8], recipients: &Recipients, options: &EncryptOptions) -> Result<Vec<u8>, Error> {
    let encryptor = WholeEncryptor::new(plain.len(), recipients, options)?;
    let mut sealed = vec![0; encryptor.sealed_bytes()];
    encryptor.encrypt(plain, &mut sealed)?;
    Ok(sealed)
}

/// Decrypts `container`, and returns the plaintext if all of it verifies. The plaintext of a tree is a tar stream.
///
/// # Errors
/// The errors of [`WholeDecryptor::new`] and [`WholeDecryptor::decrypt`].
pub fn decrypt_bytes(container: &[u8], identities: &Identities, threads: Threads) -> Result<Vec<u8>, Error> {
    let decryptor = WholeDecryptor::new(container, identities)?;
    let mut plain = Zeroizing::new(vec![0; decryptor.plain_bytes()]);
    decryptor.decrypt(&mut plain, threads)?;
    Ok(std::mem::take(&mut *plain))
}
