//! `decrypt`: a container to its file, its tree, or a range of its plaintext.

use std::io::Write;
use std::ops::{Bound, RangeBounds};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::encrypt::is_broken_pipe;
use super::filter::SequentialWriter;
use super::list::SourceAt;
use super::open::OpenContainer;
use super::{Control, Report, Sink, Source};
use crate::format::{ContentType, Format, Opened, Payload, Version};
use crate::keys::Identities;
use crate::pipeline::pipe::{PipeReader, pipe};
use crate::pipeline::{BatchSink, BatchSource, Direction, Pipeline, PlainWindow, Totals};
use crate::sink::CheckedSink;
use crate::source::OpenSource;
use crate::sys::{Os, System};
use crate::threads::{Threads, start};
use crate::tree::{LeftOutKind, Member, Tree, UnpackOptions, path_bytes, shown_path};
use crate::{Error, ErrorKind, tree};
use tress_terminal::shown;

/// Options of [`decrypt`].
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct DecryptOptions {
    /// Number of threads.
    pub threads: Threads,
    /// The bytes of the plaintext to write: the first, and one past the last, where `None` means the end of the plaintext.
    pub range: Option<(u64, Option<u64>)>,
    /// The format that the file must have; `None` recognises it. Keys of Cobblestone files imply theirs.
    pub format: Option<Format>,
    /// Paths of a tree, or patterns: only these are given out. A single file is given out as its bytes, everything else as a tree.
    pub members: Vec<PathBuf>,
    /// Gives out all files of a damaged or cut tree that verify.
    pub salvage: bool,
    /// Makes everything that a tree holds ([`UnpackOptions::preserve`]).
    pub preserve: bool,
    /// Sets owners by their numbers ([`UnpackOptions::numeric_owner`]).
    pub numeric_owner: bool,
}

impl DecryptOptions {
    /// Sets the number of threads; 0 means one for each core.
    pub fn threads(self, threads: impl Into<Threads>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// Sets the format that the file must have.
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// How a tree is unpacked.
    fn unpack(&self, version: Version, force: bool) -> UnpackOptions {
        UnpackOptions { version, force, preserve: self.preserve, numeric_owner: self.numeric_owner }
    }

    /// Selects these bytes of the plaintext, such as `1000..2000` or `1000..`.
    pub fn range(self, range: impl RangeBounds<u64>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => Some(last.saturating_add(1)),
            Bound::Excluded(&end) => Some(end),
            Bound::Unbounded => None,
        };
        Self { range: Some((start, end)), ..self }
    }
}

/// Decrypts the container, or the file in another format, in `source` with the first of `identities` that fits, and writes the plaintext to
/// `sink`.
///
/// A tree is unpacked into the folder that `sink` names. If the sink is a stream, it receives the tree's verified tar stream instead
/// (`tress decrypt x | tar t`).
///
/// A range of a regular file reads the chunks that it needs and the last one, and checks the bounds before it writes the first byte. A
/// range of a stream reads and verifies the whole stream; an out-of-bounds range is detected only at the end, after a stream sink has
/// received the bytes that exist. A range of a tree is a usage error, except that of one member.
///
/// ```no_run
/// use std::{fs::File, io::BufReader};
/// use tress_container::commands::{DecryptOptions, Sink, Source, decrypt};
/// use tress_container::{Control, keys::Identities};
///
/// let identities = Identities::from_file(BufReader::new(File::open("me.key")?))?;
/// let (source, sink) = (Source::Path("film.tress".into()), Sink::Path { path: "film.mkv".into(), force: false });
/// decrypt(&source, &sink, &identities, &DecryptOptions::default(), &Control::new())?;
/// # Ok::<(), tress_container::Error>(())
/// ```
///
/// # Errors
/// Every failure of reading, verifying or writing, and [`ErrorKind::Interrupted`]. Then no new file remains, and an
/// existing one is unchanged. A sink that is a stream has received the verified chunks before the first bad one, and nothing else.
pub fn decrypt(
    source: &Source,
    sink: &Sink,
    identities: &Identities,
    options: &DecryptOptions,
    control: &Control,
) -> Result<Report, Error> {
    decrypt_on(&Os, source, sink, identities, options, control)
}

pub(crate) fn decrypt_on(
    system: &dyn System,
    source: &Source,
    sink: &Sink,
    identities: &Identities,
    options: &DecryptOptions,
    control: &Control,
) -> Result<Report, Error> {
    let started = Instant::now();
    let range = options.range;
    if range.is_some_and(|(start, end)| end.is_some_and(|end| end < start)) {
        return Err(Error::new(ErrorKind::RangeOutOfBounds).with_detail("it ends before it starts"));
    }
    let input = OpenSource::open(system, source)?;
    let destination = CheckedSink::check(system, sink, Some(&input))?;
    if options.salvage || !options.members.is_empty() {
        let report = decrypt_members(&input, destination, identities, options, control)?;
        return Ok(Report { elapsed: started.elapsed(), ..report });
    }
    let container = OpenContainer::read(&input, options.format.or(identities.format()), control)?;
    let Opened { content, payload } = container.open(identities)?;
    let is_tree = content.content_type() == ContentType::Tree;
    if is_tree && range.is_some() {
        let detail = "a range of a folder needs the path of one file in it";
        return Err(Error::new(ErrorKind::Usage).with_detail(detail).at(input.name()));
    }
    let version = content.version();
    let head_bytes = container.chunks_offset;
    let ReadPlan { batches, window, plain_bytes } = ReadPlan::make(container, &payload, range, control)?;
    let run = DecryptRun { payload: &payload, input: &input, threads: options.threads, control };
    let output = match destination {
        CheckedSink::Name(name) if is_tree => {
            refuse_to_replace(&input, &name.path)?;
            let unpack = options.unpack(version, name.force);
            let target = |reader: &mut PipeReader| tree::unpack_on(system, reader, &name.path, unpack, control);
            let (totals, left_out) = run.through_pipe(batches, target)?;
            return Ok(Report {
                bytes_in: head_bytes + totals.sealed_bytes,
                bytes_out: totals.plain_bytes,
                chunks: totals.chunks,
                elapsed: started.elapsed(),
                left_out,
                ..Report::default()
            });
        }
        destination if is_tree && version == Version::V2 => {
            let output = destination.create()?;
            let mut writer = SequentialWriter::new(&output, control);
            let run = run.through_pipe(batches, |reader: &mut PipeReader| tree::copy_stream(reader, &mut writer));
            let (totals, ()) = writer.error.take().map_or(run, Err)?;
            let bytes_out = writer.offset;
            input.check_unchanged()?;
            output.commit(control)?;
            return Ok(Report {
                bytes_in: head_bytes + totals.sealed_bytes,
                bytes_out,
                chunks: totals.chunks,
                elapsed: started.elapsed(),
                ..Report::default()
            });
        }
        destination => destination.create()?,
    };
    let totals = run.pipeline(batches, BatchSink::new(&output, 0, window.clone()))?;
    input.check_unchanged()?;
    // For a stream the length is known only now; for a file it was known before.
    let plain_bytes = plain_bytes.unwrap_or(totals.plain_bytes);
    check_bounds(range, plain_bytes).map_err(|error| error.at(input.name()))?;
    output.commit(control)?;
    Ok(Report {
        bytes_in: head_bytes + totals.sealed_bytes,
        bytes_out: plain_bytes.min(window.end) - window.start,
        chunks: totals.chunks,
        elapsed: started.elapsed(),
        ..Report::default()
    })
}

/// Gives out members of a tree, or those of a damaged one that verify.
fn decrypt_members(
    input: &OpenSource<'_>,
    mut destination: CheckedSink<'_>,
    identities: &Identities,
    options: &DecryptOptions,
    control: &Control,
) -> Result<Report, Error> {
    let at_input = |error: Error| error.in_container(input.name());
    let source = SourceAt::new(input)?;
    if let Some(format) = options.format {
        let container = OpenContainer::read(input, Some(format), control)?;
        // Only the key shows whether a file without a magic number has its format.
        if format.magic().is_none() {
            container.open(identities)?;
        }
    }
    let tree = match options.salvage {
        true => Tree::salvage(source, identities, options.threads, control),
        false => Tree::open_with(source, identities, options.threads, control),
    };
    let tree = tree.map_err(at_input)?;
    let mut members = Vec::new();
    for path in &options.members {
        let path = path_bytes(path).ok_or_else(|| Error::new(ErrorKind::TreePath).at(path))?;
        members.extend(tree.select(&path).map_err(at_input)?);
    }
    if options.members.is_empty() {
        members = tree.members().collect::<Result<_, Error>>().map_err(at_input)?;
    }
    members.sort_unstable_by_key(|member| member.place);
    members.dedup_by_key(|member| member.place);
    let mut report = Report { gaps: tree.gaps(), ..Report::default() };
    for member in std::mem::take(&mut members) {
        tree::check_cancelled(control)?;
        match tree.is_whole(&member) {
            true => members.push(member),
            false => report.lost.push(member.shown_path()),
        }
    }
    if options.salvage && members.is_empty() {
        return Err(Error::new(ErrorKind::Truncated).with_detail("no file of it is whole").at(input.name()));
    }
    // A folder of one file is no file.
    if let ([path], [member]) = (&options.members[..], &members[..])
        && matches!((&destination, member.flag), (_, b'0' | b'1') | (CheckedSink::Stream(_), b'2' | b'3' | b'4' | b'6'))
        && path_bytes(path).is_some_and(|path| path.strip_prefix(b"./").unwrap_or(&path) == member.path)
    {
        check_alone(member, &destination, options.preserve)?;
        let data = tree.data(member).map_err(at_input)?;
        let (start, end) = options.range.unwrap_or((0, None));
        check_bounds(options.range, data.size_bytes()).map_err(|error| error.at_entry(member.shown_path()))?;
        let end = end.unwrap_or(data.size_bytes());
        control.set_total(end - start);
        if let CheckedSink::Name(name) = &mut destination
            && name.is_new()
        {
            // Whoever may not read it in the folder may not read it here.
            name.set_mode(data.mode());
        }
        let output = destination.create()?;
        let mut writer = SequentialWriter::new(&output, control);
        let written = tree.copy_data(&data, start..end, &mut writer, control);
        writer.error.take().map_or(written, Err).map_err(at_input)?;
        report.bytes_out = writer.offset;
        input.check_unchanged()?;
        output.commit(control)?;
        return Ok(report);
    }
    if options.range.is_some() {
        return Err(Error::new(ErrorKind::Usage).with_detail("a range needs the path of one file"));
    }
    let write = |out: &mut dyn Write| tree.write(&members, out, control);
    match destination {
        CheckedSink::Name(name) => {
            refuse_to_replace(input, &name.path)?;
            let (mut writer, mut reader) = pipe();
            report.left_out = std::thread::scope(|scope| {
                let worker = start(scope, move || {
                    write(&mut writer)?;
                    // Without the end, the folder is not installed.
                    input.check_unchanged()?;
                    Ok(writer.finish()?)
                })?;
                let mut unpack = options.unpack(Version::V2, name.force);
                // Behind a gap, the content of a file may look like entries. Version 1 has nothing to preserve.
                unpack.preserve &= tree.version() == Version::V2 && (tree.has_index() || tree.gaps() == 0);
                let unpacked = tree::unpack_on(input.system(), &mut reader, &name.path, unpack, control);
                drop(reader);
                let written: Result<(), Error> = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                match (written, unpacked) {
                    (Err(error), Err(other)) if is_broken_pipe(&error) => Err(at_input(other)),
                    (Err(error), _) | (_, Err(error)) => Err(at_input(error)),
                    (Ok(()), Ok(left_out)) => Ok(left_out),
                }
            })?;
            // Version 1 has no owners.
            report.left_out.retain(|left| tree.version() == Version::V2 || left.kind != LeftOutKind::Owners);
        }
        destination => {
            let output = destination.create()?;
            let mut writer = SequentialWriter::new(&output, control);
            let written = write(&mut writer);
            writer.error.take().map_or(written, Err).map_err(at_input)?;
            report.bytes_out = writer.offset;
            input.check_unchanged()?;
            output.commit(control)?;
        }
    }
    Ok(report)
}

/// Fails for an entry that has no bytes to give out, and for a file that would lose what is to be preserved.
fn check_alone(member: &Member, destination: &CheckedSink<'_>, preserve: bool) -> Result<(), Error> {
    let detail = match member.flag {
        b'2' => format!("it is a link to {}: -o FOLDER makes it", shown::foreign(shown_path(&member.target))),
        b'3' | b'4' | b'6' => "it is a FIFO or device: -o FOLDER makes it".into(),
        _ if preserve && matches!(destination, CheckedSink::Name(_)) => {
            "one file is given out without owner and attributes: name its folder to keep them".into()
        }
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Usage).with_detail(detail).at_entry(member.shown_path()))
}

/// Fails if the input is in the folder that the output would replace.
fn refuse_to_replace(input: &OpenSource<'_>, folder: &Path) -> Result<(), Error> {
    if input.is_in(folder) { Err(Error::new(ErrorKind::OutputIsInput).at(folder)) } else { Ok(()) }
}

fn check_bounds(range: Option<(u64, Option<u64>)>, plain_bytes: u64) -> Result<(), Error> {
    match range {
        Some((start, end)) if start.max(end.unwrap_or(0)) > plain_bytes => {
            Err(Error::new(ErrorKind::RangeOutOfBounds).with_detail(format!("plaintext has {plain_bytes} bytes")))
        }
        _ => Ok(()),
    }
}

/// The chunks to read, and the part of their plaintext to write.
struct ReadPlan<'a> {
    batches: BatchSource<'a>,
    window: PlainWindow,
    /// Length of the whole plaintext if known before the run, and verified if there is a range.
    plain_bytes: Option<u64>,
}

impl<'a> ReadPlan<'a> {
    fn make(
        container: OpenContainer<'a>,
        payload: &Payload,
        range: Option<(u64, Option<u64>)>,
        control: &'a Control,
    ) -> Result<Self, Error> {
        let (start, end) = range.unwrap_or((0, None));
        let input = container.input;
        let layout = payload.layout();
        let Some(plain_bytes) = container.plain_bytes()? else {
            let batches = BatchSource::input(input, container.reader, layout);
            return Ok(Self { batches, window: start..end.unwrap_or(u64::MAX), plain_bytes: None });
        };
        let mut chunks = 0..layout.chunks(plain_bytes);
        let window = start..end.unwrap_or(plain_bytes);
        if range.is_some() {
            container.verify_last(payload, plain_bytes)?;
            check_bounds(range, plain_bytes).map_err(|error| error.at(input.name()))?;
            chunks = layout.covering(&window);
        }
        control.set_total(layout.sealed_range_bytes(plain_bytes, &chunks));
        let batches = BatchSource::file(input, layout, container.chunks_offset, plain_bytes, chunks);
        Ok(Self { batches, window, plain_bytes: Some(plain_bytes) })
    }
}

/// The context that all pipelines of one decryption share.
struct DecryptRun<'a> {
    payload: &'a Payload,
    input: &'a OpenSource<'a>,
    threads: Threads,
    control: &'a Control,
}

impl DecryptRun<'_> {
    fn pipeline(&self, batches: BatchSource<'_>, sink: BatchSink<'_>) -> Result<Totals, Error> {
        Pipeline::new(self.payload, Direction::Unseal, batches, sink, self.control, self.threads)
            .run()
            .map_err(|error| self.named(error))
    }

    fn named(&self, error: Error) -> Error {
        error.in_container(self.input.name())
    }

    /// Calls a function on this thread with a reader of what the workers have verified. The reader's declared end comes after the last
    /// chunk was verified.
    fn through_pipe<T>(
        &self,
        batches: BatchSource<'_>,
        read: impl FnOnce(&mut PipeReader) -> Result<T, Error>,
    ) -> Result<(Totals, T), Error> {
        let (writer, mut reader) = pipe();
        std::thread::scope(|scope| {
            let sink = BatchSink::pipe(writer);
            let worker = start(scope, move || self.pipeline(batches, sink))?;
            let done = read(&mut reader);
            if done.is_err() {
                self.input.stop();
            }
            drop(reader);
            let totals = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match (totals, done) {
                // The other end only saw a broken pipe, so the error of the end that failed first is reported.
                (Err(error), Err(other)) if is_broken_pipe(&error) => Err(self.named(other)),
                (Err(error), _) => Err(error),
                (Ok(_), Err(error)) => Err(self.named(error)),
                (Ok(totals), Ok(done)) => Ok((totals, done)),
            }
        })
    }
}
