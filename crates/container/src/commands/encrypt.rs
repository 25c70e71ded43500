//! `encrypt`: a file, a stream or a folder to a container.

use std::io::IoSlice;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

use super::{Control, Report, Sink, Source};
use crate::container::{
    Aead, CHUNK_BYTES, Content, ContentType, Header, MAX_CHUNKS, PREFIX_BYTES, Payload, TAG_BYTES, is_valid_name,
};
use crate::keys::Recipients;
use crate::pipeline::pipe::{PipeWriter, pipe};
use crate::pipeline::{BatchSink, BatchSource, Direction, Pipeline};
use crate::sink::{CheckedSink, OpenSink};
use crate::source::OpenSource;
use crate::sys::{Kind, Os, System};
use crate::threads::{Threads, start};
use crate::tree::Skipped;
use crate::{Error, ErrorKind, tree};

/// Options of [`encrypt`].
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct EncryptOptions {
    /// AEAD of the payload.
    pub aead: Aead,
    /// Number of threads.
    pub threads: Threads,
    /// Name to store (encrypted) in the container. `None` takes the name of the source file or folder, if a container can store it. The
    /// functions of [`streaming`](crate::streaming) have no source file: there `None` stores no name.
    pub name: Option<String>,
}

impl EncryptOptions {
    /// Sets the AEAD.
    pub fn aead(self, aead: Aead) -> Self {
        Self { aead, ..self }
    }

    /// Sets the number of threads; 0 means one for each core.
    pub fn threads(self, threads: impl Into<Threads>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// Sets the name to store in the container.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }
}

/// Encrypts `source` to all `recipients` and writes the container to `sink`. A folder becomes a tree.
///
/// ```no_run
/// use tress_container::commands::{EncryptOptions, Sink, Source, encrypt};
/// use tress_container::{Control, keys::Recipients};
///
/// let recipients: Recipients = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p".parse()?;
/// let (source, sink) = (Source::Path("film.mkv".into()), Sink::Path { path: "film.tress".into(), force: false });
/// let control = Control::new().on_progress(|done, total| eprintln!("{done} of {total:?} bytes"));
/// encrypt(&source, &sink, &recipients, &EncryptOptions::default(), &control)?;
/// # Ok::<(), tress_container::Error>(())
/// ```
///
/// # Errors
/// Every failure of reading, sealing or writing, and [`ErrorKind::Interrupted`]. Then no new file remains, and an
/// existing one is unchanged.
pub fn encrypt(
    source: &Source,
    sink: &Sink,
    recipients: &Recipients,
    options: &EncryptOptions,
    control: &Control,
) -> Result<Report, Error> {
    encrypt_on(&Os, source, sink, recipients, options, control)
}

/// Encrypts like [`encrypt`], but leaves out what a tree cannot hold: links that may point out of the folder, and special files. Calls
/// `skipped` for each of them.
///
/// # Errors
/// The same as [`encrypt`].
pub fn encrypt_skipping(
    source: &Source,
    sink: &Sink,
    recipients: &Recipients,
    options: &EncryptOptions,
    control: &Control,
    skipped: Skipped<'_>,
) -> Result<Report, Error> {
    encrypt_with(&Os, source, sink, recipients, options, control, Some(skipped))
}

pub(crate) fn encrypt_on(
    system: &dyn System,
    source: &Source,
    sink: &Sink,
    recipients: &Recipients,
    options: &EncryptOptions,
    control: &Control,
) -> Result<Report, Error> {
    encrypt_with(system, source, sink, recipients, options, control, None)
}

fn encrypt_with(
    system: &dyn System,
    source: &Source,
    sink: &Sink,
    recipients: &Recipients,
    options: &EncryptOptions,
    control: &Control,
    skipped: Option<Skipped<'_>>,
) -> Result<Report, Error> {
    let started = Instant::now();
    let root = match source {
        Source::Path(path) => {
            let status = system.status_of(path).map_err(|error| Error::from(error).at(path))?;
            (status.kind == Kind::Folder).then_some(path)
        }
        Source::Stdin => None,
    };
    let mut report = match root {
        Some(root) => encrypt_tree(system, root, sink, recipients, options, control, skipped)?,
        None => encrypt_file(system, source, sink, recipients, options, control)?,
    };
    report.elapsed = started.elapsed();
    Ok(report)
}

fn encrypt_file(
    system: &dyn System,
    source: &Source,
    sink: &Sink,
    recipients: &Recipients,
    options: &EncryptOptions,
    control: &Control,
) -> Result<Report, Error> {
    let input = OpenSource::open(system, source)?;
    let destination = CheckedSink::check(system, sink, Some(&input))?;
    let name = options.name.clone().or_else(|| match input.status().kind {
        Kind::Regular => source.path().and_then(storable_name),
        _ => None,
    });
    let sealed = ContainerWriter::create(destination, ContentType::File, name, recipients, options)?;
    let batches = match input.seekable_bytes() {
        Some(bytes) => {
            control.set_total(bytes);
            let chunks = bytes / CHUNK_BYTES as u64 + 1;
            if chunks > MAX_CHUNKS {
                return Err(Error::new(ErrorKind::TooManyChunks).at(input.name()));
            }
            let last_sealed_bytes = (bytes % CHUNK_BYTES as u64) as usize + TAG_BYTES;
            BatchSource::file(&input, 0, 0, chunks, last_sealed_bytes)
        }
        None => BatchSource::stream(input.reader(control), input.name()),
    };
    let report = sealed.run(batches, options.threads, control)?;
    input.check_unchanged()?;
    sealed.commit(control)?;
    Ok(report)
}

/// Seals the data of `reader` into a container that is written to a pipe. The end is declared after all chunks are sealed.
#[doc(hidden)]
pub fn encrypt_to_pipe(
    reader: impl Read + Send,
    shown: &Path,
    recipients: &Recipients,
    mut writer: PipeWriter,
    control: &Control,
) -> Result<(), Error> {
    let content = Content::generate(Aead::Aes128Ccm, ContentType::File, storable_name(shown))?;
    writer.write_all(&Header::seal(&content, recipients)?)?;
    let (payload, prefix) = Payload::create(&content)?;
    writer.write_all(&prefix)?;
    let batches = BatchSource::stream(reader, shown);
    let sink = BatchSink::pipe(writer);
    Pipeline::new(&payload, Direction::Seal, batches, sink, control, Threads::All).run().map(drop)
}

/// Packs the folder on this thread, and streams the tar through the workers.
fn encrypt_tree(
    system: &dyn System,
    root: &Path,
    sink: &Sink,
    recipients: &Recipients,
    options: &EncryptOptions,
    control: &Control,
    skipped: Option<Skipped<'_>>,
) -> Result<Report, Error> {
    let destination = CheckedSink::check(system, sink, None)?;
    if let CheckedSink::Name(name) = &destination {
        // The container would include itself.
        let canonical = |path: &Path| system.canonical(path).map_err(|error| Error::from(error).at(path));
        if canonical(&name.folder)?.starts_with(canonical(root)?) {
            return Err(Error::new(ErrorKind::OutputIsInput).at(&name.path));
        }
    }
    let name = options.name.clone().or_else(|| storable_name(root));
    let sealed = ContainerWriter::create(destination, ContentType::Tree, name, recipients, options)?;
    let (writer, reader) = pipe();
    let report = std::thread::scope(|scope| {
        let (reader, sealed) = (reader, &sealed);
        let worker = start(scope, move || {
            let batches = BatchSource::stream(reader, root);
            sealed.run(batches, options.threads, control)
        })?;
        let packed = pack(root, writer, control, skipped);
        let report = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (packed, report) {
            // The other end only saw a broken pipe, so the error of the end that failed first is reported.
            (Err(error), Err(other)) if is_broken_pipe(&error) => Err(other),
            (Err(error), _) => Err(error),
            (Ok(()), report) => report,
        }
    })?;
    sealed.commit(control)?;
    Ok(report)
}

fn pack(root: &Path, mut writer: PipeWriter, control: &Control, skipped: Option<Skipped<'_>>) -> Result<(), Error> {
    tree::pack_with(root, &mut writer, control, skipped)?;
    Ok(writer.finish()?)
}

pub(super) fn is_broken_pipe(error: &Error) -> bool {
    error.kind == ErrorKind::Io(std::io::ErrorKind::BrokenPipe)
}

/// The last component of a path, if a container can store it. For paths such as `.` and `..` it is the folder's real name.
fn storable_name(path: &Path) -> Option<String> {
    let name = match path.file_name() {
        Some(name) => name.to_owned(),
        None => std::fs::canonicalize(path).ok()?.file_name()?.to_owned(),
    };
    name.into_string().ok().filter(|name| is_valid_name(name))
}

/// A container with a complete header, before its payload is sealed.
struct ContainerWriter<'a> {
    payload: Payload,
    /// Header and prefix.
    head: Vec<u8>,
    output: OpenSink<'a>,
}

impl<'a> ContainerWriter<'a> {
    fn create(
        destination: CheckedSink<'a>,
        content_type: ContentType,
        name: Option<String>,
        recipients: &Recipients,
        options: &EncryptOptions,
    ) -> Result<Self, Error> {
        if let CheckedSink::Stream(stream) = &destination {
            stream.refuse_terminal()?;
        }
        let content = Content::generate(options.aead, content_type, name)?;
        let mut head = Header::seal(&content, recipients)?;
        let (payload, prefix): (Payload, [u8; PREFIX_BYTES]) = Payload::create(&content)?;
        head.extend_from_slice(&prefix);
        Ok(Self { payload, head, output: destination.create()? })
    }

    fn run(&self, batches: BatchSource<'_>, threads: Threads, control: &Control) -> Result<Report, Error> {
        self.output.write_all(&mut [IoSlice::new(&self.head)], 0, control)?;
        let sink = BatchSink::new(&self.output, self.head.len() as u64, 0..u64::MAX);
        let totals = Pipeline::new(&self.payload, Direction::Seal, batches, sink, control, threads).run()?;
        Ok(Report {
            bytes_in: totals.plain_bytes,
            bytes_out: self.head.len() as u64 + totals.sealed_bytes,
            chunks: totals.chunks,
            ..Report::default()
        })
    }

    fn commit(self, control: &Control) -> Result<(), Error> {
        self.output.commit(control)
    }
}
