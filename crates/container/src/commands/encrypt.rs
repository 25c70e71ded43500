//! `encrypt`: a file, a stream or a folder to a container.

use std::io::{self, IoSlice, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use age::armor::ArmoredWriter;
use age::armor::Format::AsciiArmor;

use super::filter::SequentialWriter;
use super::{Control, Report, Sink, Source};
use crate::format::{self, Aead, Content, ContentType, Format, Payload, is_valid_name};
use crate::keys::Recipients;
use crate::pipeline::pipe::{PipeReader, PipeWriter, pipe};
use crate::pipeline::{BatchSink, BatchSource, Direction, Pipeline};
use crate::sink::{CheckedSink, OpenSink};
use crate::source::OpenSource;
use crate::sys::{Kind, Os, System};
use crate::threads::{Threads, start};
use crate::tree::{Inputs, OnError, PackOptions};
use crate::{Error, ErrorKind, tree};

/// Most threads that read small files of a folder.
const MAX_READERS: usize = 4;

/// Options of [`encrypt`].
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct EncryptOptions {
    /// Format of the output. Keys of Cobblestone files imply theirs.
    pub format: Format,
    /// Whether an age file is written as text. Only [`encrypt`] can do so.
    pub armor: bool,
    /// AEAD of a container's payload. `None` is AES-128-CCM. An error in other formats, whose AEAD is fixed.
    pub aead: Option<Aead>,
    /// Number of threads.
    pub threads: Threads,
    /// Name to store (encrypted) in a container. `None` takes the name of the source file or folder, if a container can store it. The
    /// functions of [`streaming`](crate::streaming) have no source file: there `None` stores no name. An error in other formats.
    pub name: Option<String>,
    /// Which entries of a folder are stored.
    pub tree: PackOptions,
}

impl EncryptOptions {
    /// Sets the format.
    pub fn format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// Sets whether an age file is written as text.
    pub fn armor(self, armor: bool) -> Self {
        Self { armor, ..self }
    }

    /// Sets the AEAD.
    pub fn aead(self, aead: Aead) -> Self {
        Self { aead: Some(aead), ..self }
    }

    /// Sets the number of threads; 0 means one for each core.
    pub fn threads(self, threads: impl Into<Threads>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// Sets the name to store in the container.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Starts a file with these options. Also returns its bytes before the first chunk.
    pub(crate) fn start(
        &self,
        content_type: ContentType,
        name: Option<String>,
        recipients: &Recipients,
    ) -> Result<(Payload, Vec<u8>), Error> {
        if self.armor {
            return Err(Error::new(ErrorKind::Usage).with_detail("only encrypt of files and streams adds an armor"));
        }
        let is_container = self.is_container(recipients);
        if !is_container && (self.aead.is_some() || self.name.is_some()) {
            return Err(Error::new(ErrorKind::Usage).with_detail("only a container has a name and a choice of AEAD"));
        }
        if is_container && self.aead.is_some_and(|aead| !Aead::ALL.contains(&aead)) {
            return Err(Error::new(ErrorKind::Usage).with_detail("a container has another AEAD"));
        }
        let content = || Content::generate(self.aead.unwrap_or_default(), content_type, name);
        format::start(self.format, content, recipients)
    }

    /// Whether the output is a container.
    fn is_container(&self, recipients: &Recipients) -> bool {
        self.format == Format::Tress && recipients.keys().next().is_none()
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

/// Encrypts one source like [`encrypt`], or several files and folders to one tree, in which they are the entries of the top. Calls
/// `on_error` with every error after which it continues, by the options for trees.
///
/// # Errors
/// The same as [`encrypt`]; `Usage` for no source, for standard input among several, and for two with one name.
pub fn encrypt_all(
    sources: &[Source],
    sink: &Sink,
    recipients: &Recipients,
    options: &EncryptOptions,
    control: &Control,
    on_error: OnError<'_>,
) -> Result<Report, Error> {
    let encryption = Encryption { system: &Os, sink, recipients, options, control };
    if let [source] = sources {
        return encryption.run(source, on_error);
    }
    let path = |source: &Source| source.path().filter(|_| source.descriptor().is_none()).map(Path::to_path_buf);
    let paths: Option<Vec<PathBuf>> = sources.iter().map(path).collect();
    let paths = paths.filter(|paths| !paths.is_empty());
    let paths =
        paths.ok_or_else(|| Error::new(ErrorKind::Usage).with_detail("several inputs are files and folders"))?;
    let started = Instant::now();
    let report = encryption.tree(Inputs::Several(&paths), on_error)?;
    Ok(Report { elapsed: started.elapsed(), ..report })
}

pub(crate) fn encrypt_on(
    system: &dyn System,
    source: &Source,
    sink: &Sink,
    recipients: &Recipients,
    options: &EncryptOptions,
    control: &Control,
) -> Result<Report, Error> {
    Encryption { system, sink, recipients, options, control }.run(source, &mut |_| {})
}

/// One call of [`encrypt`].
struct Encryption<'a> {
    system: &'a dyn System,
    sink: &'a Sink,
    recipients: &'a Recipients,
    options: &'a EncryptOptions,
    control: &'a Control,
}

impl<'a> Encryption<'a> {
    fn run(&self, source: &Source, on_error: OnError<'_>) -> Result<Report, Error> {
        let started = Instant::now();
        let root = match source {
            Source::Path(path) => {
                let status = self.system.status_of(path).map_err(|error| Error::from(error).at(path))?;
                (status.kind == Kind::Folder).then_some(path)
            }
            Source::Stdin => None,
        };
        let report = match root {
            Some(root) => self.tree(Inputs::Folder(root), on_error)?,
            None => self.file(source)?,
        };
        Ok(Report { elapsed: started.elapsed(), ..report })
    }

    fn file(&self, source: &Source) -> Result<Report, Error> {
        let input = OpenSource::open(self.system, source)?;
        let destination = CheckedSink::check(self.system, self.sink, Some(&input))?;
        let name = source.path().filter(|_| input.status().kind == Kind::Regular);
        let sealed = self.container(destination, ContentType::File, name)?;
        let layout = sealed.payload.layout();
        let batches = match input.seekable_bytes() {
            Some(bytes) => {
                self.control.set_total(bytes);
                let chunks = layout.checked_chunks(bytes).map_err(|error| error.at(input.name()))?;
                BatchSource::file(&input, layout, 0, bytes, 0..chunks)
            }
            None => BatchSource::input(&input, input.reader(self.control), layout),
        };
        let report = sealed.run(batches, self.options.threads, self.control)?;
        input.check_unchanged()?;
        sealed.output.commit(self.control)?;
        Ok(report)
    }

    /// Packs folders on this thread, and streams the tar through the workers.
    fn tree(&self, inputs: Inputs<'_>, on_error: OnError<'_>) -> Result<Report, Error> {
        let (root, all) = match inputs {
            Inputs::Folder(root) => (root, vec![root]),
            Inputs::Several(paths) => (&*paths[0], paths.iter().map(PathBuf::as_path).collect()),
        };
        if !self.options.is_container(self.recipients) {
            let detail = "only a container holds a folder; pack it first: tar c DIR";
            return Err(Error::new(ErrorKind::Usage).with_detail(detail).at(root));
        }
        let destination = CheckedSink::check(self.system, self.sink, None)?;
        // The container would include itself.
        if let CheckedSink::Stream(stream) = &destination
            && let Some(input) = all.iter().find(|input| stream.is_in(input))
        {
            return Err(Error::new(ErrorKind::OutputIsInput).at(input));
        }
        if let CheckedSink::Name(name) = &destination {
            let canonical = |path: &Path| self.system.canonical(path).map_err(|error| Error::from(error).at(path));
            let is_file = |path: &Path| canonical(path).is_ok_and(|path| canonical(&name.path).ok() == Some(path));
            let folder = canonical(&name.folder())?;
            for input in all {
                // A link that leads nowhere is one of several inputs; anything else that is missing is reported when it is packed.
                if canonical(input).is_ok_and(|input| folder.starts_with(input)) || !name.is_new() && is_file(input) {
                    return Err(Error::new(ErrorKind::OutputIsInput).at(&name.path));
                }
            }
        }
        let named = matches!(inputs, Inputs::Folder(_)).then_some(root);
        let sealed = self.container(destination, ContentType::Tree, named)?;
        let (mut writer, reader) = pipe();
        let report = std::thread::scope(|scope| {
            let (reader, sealed) = (reader, &sealed);
            let worker = start(scope, move || {
                let batches = BatchSource::stream(reader, sealed.payload.layout(), root);
                sealed.run(batches, self.options.threads, self.control)
            })?;
            let options = &self.options.tree;
            // One thread makes no others; more than a few only wait for each other.
            let threads = match self.options.threads.count() {
                1 => 0,
                threads => threads.min(MAX_READERS),
            };
            let packed = tree::pack_on(self.system, inputs, &mut writer, options, threads, self.control, on_error);
            // Without the declared end the workers do not take it for one.
            let packed = packed.and_then(|packed| writer.finish().map(|()| packed).map_err(Error::from));
            let report = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match (packed, report) {
                // The other end only saw a broken pipe, so the error of the end that failed first is reported.
                (Err(error), Err(other)) if is_broken_pipe(&error) => Err(other),
                (Err(error), _) => Err(error),
                (Ok(packed), report) => report.map(|report| Report { packed, ..report }),
            }
        })?;
        sealed.output.commit(self.control)?;
        Ok(report)
    }

    /// Starts the container. It stores the name of the options, or else that of this file or folder.
    fn container(
        &self,
        destination: CheckedSink<'a>,
        content_type: ContentType,
        named: Option<&Path>,
    ) -> Result<ContainerWriter<'a>, Error> {
        if let CheckedSink::Stream(stream) = &destination
            && !self.options.armor
        {
            stream.refuse_terminal()?;
        }
        let name = self.options.name.clone().or_else(|| storable_name(self.system, named?));
        if self.options.armor && self.options.format != Format::Age {
            return Err(Error::new(ErrorKind::Usage).with_detail("only age files can be armored"));
        }
        let (payload, head) = self.options.clone().armor(false).start(content_type, name, self.recipients)?;
        Ok(ContainerWriter { payload, head, armor: self.options.armor, output: destination.create()? })
    }
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
    let (payload, head) = EncryptOptions::default().start(ContentType::File, storable_name(&Os, shown), recipients)?;
    writer.write_all(&head)?;
    let batches = BatchSource::stream(reader, payload.layout(), shown);
    let sink = BatchSink::pipe(writer);
    Pipeline::new(&payload, Direction::Seal, batches, sink, control, Threads::All).run().map(drop)
}

pub(super) fn is_broken_pipe(error: &Error) -> bool {
    error.kind == ErrorKind::Io(std::io::ErrorKind::BrokenPipe)
}

/// The last component of a path, if a container can store it. For paths such as `.` and `..` it is the folder's real name.
fn storable_name(system: &dyn System, path: &Path) -> Option<String> {
    let name = match path.file_name() {
        Some(name) => name.to_owned(),
        None => system.canonical(path).ok()?.file_name()?.to_owned(),
    };
    name.into_string().ok().filter(|name| is_valid_name(name))
}

/// A file with a complete head, before its payload is sealed.
struct ContainerWriter<'a> {
    payload: Payload,
    /// The bytes before the first chunk.
    head: Vec<u8>,
    armor: bool,
    output: OpenSink<'a>,
}

impl ContainerWriter<'_> {
    fn run(&self, batches: BatchSource<'_>, threads: Threads, control: &Control) -> Result<Report, Error> {
        let awaited = batches.awaited();
        let seal = |sink| Pipeline::new(&self.payload, Direction::Seal, batches, sink, control, threads).run();
        let (totals, bytes_out) = if self.armor {
            let (mut writer, reader) = pipe();
            std::thread::scope(|scope| {
                let worker = start(scope, move || {
                    writer.write_all(&self.head)?;
                    seal(BatchSink::pipe(writer))
                })?;
                let written = self.write_armored(reader, control);
                if let (Err(_), Some(input)) = (&written, awaited) {
                    input.stop();
                }
                let totals = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                match (totals, written) {
                    // The other end only saw a broken pipe, so the error of the end that failed first is reported.
                    (Err(error), Err(other)) if is_broken_pipe(&error) => Err(other),
                    (Err(error), _) | (_, Err(error)) => Err(error),
                    (Ok(totals), Ok(bytes)) => Ok((totals, bytes)),
                }
            })?
        } else {
            self.output.write_all(&mut [IoSlice::new(&self.head)], 0, control)?;
            let head_bytes = self.head.len() as u64;
            let totals = seal(BatchSink::new(&self.output, head_bytes, 0..u64::MAX))?;
            (totals, head_bytes + totals.sealed_bytes)
        };
        Ok(Report { bytes_in: totals.plain_bytes, bytes_out, chunks: totals.chunks, ..Report::default() })
    }

    /// Writes the bytes of `reader` as text, and returns the length of the text.
    fn write_armored(&self, reader: PipeReader, control: &Control) -> Result<u64, Error> {
        let mut output = SequentialWriter::new(&self.output, control);
        let written = armor(reader, &mut output);
        match output.error {
            Some(error) => Err(error),
            None => Ok(written.map(|()| output.offset)?),
        }
    }
}

/// Writes the bytes of `reader` as text.
pub(super) fn armor(mut reader: impl Read, output: impl Write) -> io::Result<()> {
    let mut armored = ArmoredWriter::wrap_output(output, AsciiArmor)?;
    io::copy(&mut reader, &mut armored)?;
    armored.finish().map(drop)
}
