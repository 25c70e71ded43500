//! Every way to seal a file and every way to open one. All must agree on what is right, and on what is wrong.

use std::io::{self, BufRead, Cursor, Read, Write};

use crate::pipeline_support::TestFolder;
use tress_container::commands::{DecryptOptions, EncryptOptions, Sink, Source, decrypt, encrypt};
use tress_container::keys::{Identities, Recipients};
use tress_container::streaming::{
    DecryptReader, Decryptor, EncryptWriter, Encryptor, RangeReader, Reader, decrypt_bytes, encrypt_bytes,
};
use tress_container::{Control, Error, Threads};

/// The verified plaintext, and the error after it.
pub(crate) type Opened = (Vec<u8>, Result<(), Error>);

/// What a way gives out of a damaged file, and which error it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The chunks before the first damage, and the error about it.
    Sequential,
    /// Nothing, and the same error.
    Whole,
    /// It may meet another damage first, such as that of the last chunk.
    Anywhere,
}

/// Moves few bytes, is interrupted at every second call, and fails at one of the others.
pub(crate) struct Slow<T> {
    pub(crate) inner: T,
    most: usize,
    calls: usize,
    /// Number of the call that fails.
    fails: usize,
}

impl<T> Slow<T> {
    pub(crate) fn new(inner: T, most: usize, fails: usize) -> Self {
        Self { inner, most, calls: 0, fails }
    }

    fn call(&mut self, bytes: usize) -> io::Result<usize> {
        self.calls += 1;
        match self.calls {
            call if call == self.fails => Err(io::ErrorKind::TimedOut.into()),
            call if call % 2 == 0 => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(bytes.min(self.most)),
        }
    }
}

impl<T: Read> Read for Slow<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.call(buffer.len())?;
        self.inner.read(&mut buffer[..bytes])
    }
}

impl<T: Write> Write for Slow<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let now = self.call(bytes.len())?;
        self.inner.write(&bytes[..now])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn all(result: Result<Vec<u8>, Error>) -> Opened {
    result.map_or_else(|error| (Vec::new(), Err(error)), |plain| (plain, Ok(())))
}

/// Reads to the end or to the error, which repeats.
pub(crate) fn read_to_end(reader: Result<DecryptReader<impl Read>, Error>) -> Opened {
    let (mut plain, mut reader) = match reader {
        Ok(reader) => (Vec::new(), reader),
        Err(error) => return (Vec::new(), Err(error)),
    };
    let result = reader.read_to_end(&mut plain).map(drop).map_err(Error::from);
    for _ in 0..3 {
        let again = reader.fill_buf().map(|rest| assert_eq!(rest, b"")).map_err(Error::from);
        assert_eq!(format!("{again:?}"), format!("{result:?}"));
    }
    (plain, result)
}

fn pushed(sealed: &[u8], identities: &Identities, piece: usize, threads: usize) -> Opened {
    let (mut decryptor, mut plain) = (Decryptor::new(identities, threads.into()), Vec::new());
    let result = sealed.chunks(piece).try_for_each(|piece| decryptor.push(piece, &mut plain));
    let result = result.and_then(|()| decryptor.try_finish(&mut plain));
    if result.is_ok() {
        assert!(decryptor.content().is_some());
        assert_eq!(decryptor.push(b"", &mut plain).unwrap_err().kind, tress_container::ErrorKind::Usage);
    }
    (plain, result)
}

fn ranges(sealed: &[u8], identities: &Identities) -> Result<Vec<u8>, Error> {
    let reader = RangeReader::open(sealed, identities)?;
    let middle = reader.plain_bytes() / 2;
    let parts = reader.read_ranges(&[middle..reader.plain_bytes(), 0..middle])?;
    let mut plain = vec![0; reader.plain_bytes() as usize + 1];
    assert_eq!(reader.read_at(&mut plain, 0)?, plain.len() - 1);
    plain.pop();
    assert!(plain == [&parts[1][..], &parts[0]].concat());
    Ok(plain)
}

/// Decrypts with the command from a file to a file.
fn command(sealed: &[u8], identities: &Identities, options: &DecryptOptions) -> Result<Vec<u8>, Error> {
    let folder = TestFolder::new();
    std::fs::write(folder.path("sealed"), sealed).unwrap();
    let sink = Sink::Path { path: folder.path("plain"), force: false };
    let source = Source::Path(folder.path("sealed"));
    let result = decrypt(&source, &sink, identities, options, &Control::new());
    assert_eq!(folder.names().len(), 1 + usize::from(result.is_ok()), "a failure leaves nothing");
    let report = result?;
    let plain = std::fs::read(folder.path("plain")).unwrap();
    assert_eq!(report.bytes_out, plain.len() as u64);
    Ok(plain)
}

/// Opens a file in every way that there is.
pub(crate) fn open(sealed: &[u8], identities: &Identities) -> Vec<(&'static str, Order, Opened)> {
    let command = |threads, options: DecryptOptions| command(sealed, identities, &options.threads(threads));
    let slow = DecryptReader::open(Slow::new(sealed, 9999, 0), identities, Threads::ONE);
    let mut reader = Reader::open(Cursor::new(sealed), identities, Threads::from(2));
    let read = reader.as_mut().map_err(|error| error.clone()).and_then(|reader| {
        let mut plain = Vec::new();
        reader.read_to_end(&mut plain)?;
        assert_eq!(reader.plain_bytes(), plain.len() as u64);
        Ok(plain)
    });
    vec![
        ("reader", Order::Sequential, read_to_end(DecryptReader::open(sealed, identities, Threads::from(2)))),
        ("slow reader", Order::Sequential, read_to_end(slow)),
        ("pushed at once", Order::Sequential, pushed(sealed, identities, usize::MAX, 3)),
        ("pushed in small pieces", Order::Sequential, pushed(sealed, identities, 4097, 1)),
        ("pushed in large pieces", Order::Sequential, pushed(sealed, identities, 900_001, usize::MAX)),
        ("whole", Order::Whole, all(decrypt_bytes(sealed, identities, Threads::from(3)))),
        ("seekable", Order::Anywhere, all(read)),
        ("ranges", Order::Anywhere, all(ranges(sealed, identities))),
        ("command", Order::Whole, all(command(3, DecryptOptions::default()))),
        ("command with a range", Order::Anywhere, all(command(1, DecryptOptions::default().range(0..)))),
        #[cfg(unix)]
        ("stream", Order::Sequential, {
            let mut plain = Vec::new();
            let options = DecryptOptions::default().threads(4);
            let result = TestFolder::new().between_fifos(sealed, &mut plain, |source, sink| {
                decrypt(source, sink, identities, &options, &Control::new()).map(drop)
            });
            (plain, result)
        }),
    ]
}

/// Opens a file that is right in every way.
pub(crate) fn opens(sealed: &[u8], identities: &Identities, plain: &[u8]) {
    for (way, _, (found, result)) in open(sealed, identities) {
        result.unwrap_or_else(|error| panic!("{way}: {error}"));
        assert!(found == plain, "{way}, {} bytes", plain.len());
    }
}

/// Seals in every way that there is.
pub(crate) fn sealed(plain: &[u8], recipients: &Recipients, options: &EncryptOptions) -> Vec<Vec<u8>> {
    let mut sealed = vec![encrypt_bytes(plain, recipients, options).unwrap()];
    for piece in [1000, 60_000, 900_001, usize::MAX] {
        let mut pushed = Vec::new();
        let mut encryptor = Encryptor::new(recipients, options).unwrap();
        plain.chunks(piece).for_each(|piece| encryptor.push(piece, &mut pushed).unwrap());
        encryptor.finish(&mut pushed).unwrap();
        sealed.push(pushed);
    }
    let mut writer = EncryptWriter::new(Slow::new(Vec::new(), 9999, 0), recipients, options).unwrap();
    io::copy(&mut Slow::new(plain, 9999, 0), &mut writer).unwrap();
    sealed.push(writer.finish().unwrap().inner);
    let folder = TestFolder::new();
    std::fs::write(folder.path("plain"), plain).unwrap();
    let sink = Sink::Path { path: folder.path("sealed"), force: false };
    let report = encrypt(&Source::Path(folder.path("plain")), &sink, recipients, options, &Control::new()).unwrap();
    sealed.push(std::fs::read(folder.path("sealed")).unwrap());
    assert_eq!((report.bytes_in, report.bytes_out), (plain.len() as u64, sealed[sealed.len() - 1].len() as u64));
    #[cfg(unix)]
    sealed.push(
        folder
            .through_fifos(plain, |source, sink| encrypt(source, sink, recipients, options, &Control::new()))
            .unwrap(),
    );
    sealed
}
