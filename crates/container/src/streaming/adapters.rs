//! A `Write` that encrypts and a `Read` that decrypts.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use zeroize::Zeroizing;

use super::{Decryptor, Encryptor};
use crate::Error;
use crate::commands::EncryptOptions;
use crate::format::{Content, Head, SealedReader};
use crate::keys::{Identities, Recipients};
use crate::threads::Threads;

/// Bytes read from the source at a time.
const READ_BYTES: usize = 64 * 1024;

/// Encrypts the data that is written to it, and writes the container to `W`.
///
/// **Call [`finish`](EncryptWriter::finish).** It writes the end of the container. If the writer is dropped without it, the container is
/// truncated and no reader accepts it. [`flush`](Write::flush) writes the complete batches, but not the end.
///
/// If `W` fails, the next write, `flush` or `finish` returns the error. No byte is lost, so a write or `flush` can be repeated.
///
/// Holds two batches: plaintext, as [`Encryptor`] does, and the same amount of the container.
///
/// ```
/// use std::io;
/// use tress_container::Threads;
/// use tress_container::keys::{Identities, KeyPair};
/// use tress_container::streaming::{DecryptReader, EncryptWriter};
/// use tress_container::commands::EncryptOptions;
///
/// let key = KeyPair::generate()?;
/// let mut writer = EncryptWriter::new(Vec::new(), &key.recipient().into(), &EncryptOptions::default())?;
/// io::copy(&mut &b"lanes side by side"[..], &mut writer)?;
/// let container = writer.finish()?;
///
/// let mut reader = DecryptReader::open(&container[..], &Identities::from(&key), Threads::ONE)?;
/// assert_eq!(io::read_to_string(&mut reader)?, "lanes side by side");
/// # Ok::<(), tress_container::Error>(())
/// ```
pub struct EncryptWriter<W> {
    writer: W,
    encryptor: Encryptor,
    /// The part of the container that is ready, and the number of its bytes that were written.
    sealed: Vec<u8>,
    written: usize,
}

impl<W: Write> EncryptWriter<W> {
    /// Starts a container for these recipients. Writes nothing yet.
    ///
    /// # Errors
    /// The errors of [`Encryptor::new`].
    pub fn new(writer: W, recipients: &Recipients, options: &EncryptOptions) -> Result<Self, Error> {
        let encryptor = Encryptor::new(recipients, options)?;
        Ok(Self { writer, encryptor, sealed: Vec::new(), written: 0 })
    }

    /// Writes the end of the container and flushes `W`.
    ///
    /// # Errors
    /// The errors of [`Encryptor::finish`]; `Io` of `W`. Then the container is truncated.
    pub fn finish(mut self) -> Result<W, Error> {
        self.drain()?;
        self.encryptor.finish(&mut self.sealed)?;
        self.writer.write_all(&self.sealed)?;
        self.writer.flush()?;
        Ok(self.writer)
    }

    /// Writes the part of the container that is ready.
    fn drain(&mut self) -> io::Result<()> {
        while self.written < self.sealed.len() {
            match self.writer.write(&self.sealed[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.sealed.clear();
        self.written = 0;
        Ok(())
    }
}

impl<W: Write> Write for EncryptWriter<W> {
    fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        // First, because after an error no byte of `plain` may have been consumed.
        self.drain()?;
        let now = &plain[..plain.len().min(self.encryptor.batch_bytes())];
        self.encryptor.push(now, &mut self.sealed)?;
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.writer.flush()
    }
}

/// Reads the plaintext of the container in `R`, which must extend to the end of `R`. See [`EncryptWriter`] for an example.
///
/// Returns only verified bytes. But only the end, a read of 0 bytes, confirms that the container is complete and that nothing follows
/// it. The `io::Error`s wrap an [`Error`]: `Error::from` unwraps it. For a damaged container the kind is `InvalidData`. After an error
/// every further read returns the same error.
///
/// Holds two batches: of the container, as [`Decryptor`] does, and the same amount of plaintext, which is wiped.
pub struct DecryptReader<R> {
    source: SealedReader<R>,
    decryptor: Decryptor,
    /// The bytes of the last read of the source.
    sealed: Box<[u8]>,
    /// Verified plaintext, and the number of its bytes that were returned.
    plain: Zeroizing<Vec<u8>>,
    given: usize,
    /// The result at the end of the container.
    end: Option<Result<(), Error>>,
}

impl<R: Read> DecryptReader<R> {
    /// Reads and opens the header.
    ///
    /// # Errors
    /// The errors of [`Header::read`](crate::format::Header::read) and [`Header::open`](crate::format::Header::open); `Commitment`,
    /// `Truncated`; `Io` of the source.
    pub fn open(source: R, identities: &Identities, threads: Threads) -> Result<Self, Error> {
        let format = identities.format();
        let mut source = SealedReader::new(source, format.is_none());
        let opened = Head::read(&mut source, format)?.open(identities)?;
        Ok(Self {
            source,
            decryptor: Decryptor::opened(opened, threads),
            sealed: vec![0; READ_BYTES].into(),
            plain: Zeroizing::default(),
            given: 0,
            end: None,
        })
    }

    /// Reads the next bytes of the source, and returns whether it has ended.
    fn advance(&mut self) -> Result<bool, Error> {
        match self.source.read(&mut self.sealed) {
            Ok(0) => self.decryptor.try_finish(&mut self.plain).map(|()| true),
            Ok(bytes) => self.decryptor.push(&self.sealed[..bytes], &mut self.plain).map(|()| false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl<R> DecryptReader<R> {
    /// The content of the header.
    pub fn content(&self) -> &Content {
        self.decryptor.content().expect("the header was opened")
    }
}

impl<R: Read> BufRead for DecryptReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.given == self.plain.len() {
            match &self.end {
                Some(Ok(())) => break,
                Some(Err(error)) => return Err(error.clone().into()),
                None => {}
            }
            self.plain.clear();
            self.given = 0;
            // Plaintext that was verified before an error is returned before it.
            self.end = self.advance().map(|ended| ended.then_some(())).transpose();
        }
        Ok(&self.plain[self.given..])
    }

    fn consume(&mut self, bytes: usize) {
        self.given = self.plain.len().min(self.given + bytes);
    }
}

impl<R: Read> Read for DecryptReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?.read(buffer)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

impl<R> fmt::Debug for DecryptReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecryptReader").field("content", self.content()).finish_non_exhaustive()
    }
}
