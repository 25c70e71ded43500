//! What a session sends: small files, folders and links in lists, and large files one after the other.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;

use crate::send::opened::OpenInput;
use crate::send::options::{SendEvent, SendReport};
use crate::send::packs::{MAX_PACKED_BYTES, NextList, Outcome, SmallInput};
use crate::send::session::SendSession;
use crate::send::source::{FileSource, is_folder, metadata_of, version_of};
use crate::send::trace::TraceRow;
use crate::send::walk::{Walk, WalkItem, base_name};
use crate::wire::batch::plain_bytes_of;
use crate::wire::limits::ANSWER_STALLS;
use crate::wire::link::TICK;
use crate::wire::message::{Entry, EntryKind, Metadata, Reply, Request};
use crate::wire::names::{link_stays_inside, sealed_name};
use crate::wire::ranges::Ranges;
use tress_container::commands::Source;
use tress_container::format::LAYOUT;
use tress_container::sys::{FileTime, Kind, Status};
use tress_container::tree::names::to_bytes;
use tress_container::tree::shown_path;
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind, Refusal};

/// Threads that read packs, besides the one that lists files.
const READERS: usize = 3;

/// What a run has sent, its errors, and what is still to be listed.
#[derive(Default)]
pub(super) struct Run {
    report: SendReport,
    pub(super) first: Option<Error>,
    errors: u64,
    next: NextList,
    /// Files that are offered alone.
    alone: Vec<(SmallInput, Vec<u8>)>,
    /// Listed after all files.
    links: Vec<Entry>,
    /// Listed last, the deepest first: each entry in a folder changes the folder's time.
    folders: Vec<Entry>,
}

impl Run {
    /// The report, or the error of the files that were not sent.
    pub(super) fn result(self) -> Result<SendReport, Error> {
        match self.first {
            None => Ok(self.report),
            Some(error) if self.errors == 1 => Err(error),
            Some(error) => Err(error.with_more(self.errors - 1)),
        }
    }
}

impl SendSession<'_> {
    /// Sends everything. An error is one of the session: those of files are in `run`.
    pub(super) fn send_all<'scope>(
        &'scope self,
        inputs: &[Source],
        scope: &'scope Scope<'scope, '_>,
        run: &mut Run,
    ) -> Result<(), Error> {
        // If the system refuses one, the others read, or the thread that lists.
        let _ = (0..READERS).try_for_each(|_| self.start(scope, || self.read_packs()));
        for source in inputs {
            match self.walk(source) {
                Ok(Some((walk, top))) => {
                    for item in std::iter::once(Ok(top)).chain(walk) {
                        let sent = item.and_then(|item| self.send_item(item, run));
                        self.keep_first(sent, run)?;
                    }
                }
                Ok(None) => {
                    let sent = self.send_input(source, run);
                    self.keep_first(sent, run)?;
                }
                Err(error) => self.keep_first(Err(error), run)?,
            }
        }
        self.flush(run)?;
        for (input, name) in std::mem::take(&mut run.alone) {
            let sent = self.open_small(&input).and_then(|opened| self.send_file(opened, &name, &mut run.report));
            self.keep_first(sent, run)?;
        }
        let folders = std::mem::take(&mut run.folders).into_iter().rev();
        for entry in std::mem::take(&mut run.links).into_iter().chain(folders) {
            self.list(entry, None, run)?;
        }
        self.flush(run)
    }

    /// Adds an entry to the next list, and sends the list before it if that is full.
    fn list(&self, entry: Entry, input: Option<SmallInput>, run: &mut Run) -> Result<(), Error> {
        match run.next.add(entry, input) {
            Some(full) => {
                self.submit(full)?;
                self.settle(run)
            }
            None => Ok(()),
        }
    }

    /// Waits until everything that is listed is done.
    fn flush(&self, run: &mut Run) -> Result<(), Error> {
        self.submit(std::mem::take(&mut run.next))?;
        self.finish_lists()?;
        self.settle(run)
    }

    /// Counts the listed files that are done.
    fn settle(&self, run: &mut Run) -> Result<(), Error> {
        for outcome in self.packs.take_outcomes() {
            match outcome {
                Outcome::Sent(bytes) => {
                    run.report.files += 1;
                    run.report.bytes_sent += bytes;
                }
                Outcome::CompleteBefore(bytes) => {
                    run.report.files += 1;
                    run.report.complete_before += 1;
                    self.control.add_held(bytes);
                }
                Outcome::Failed(error, bytes) => {
                    self.lower_total(bytes);
                    self.keep_first(Err(error), run)?;
                }
                Outcome::Alone(input, name) => run.alone.push((input, name)),
            }
        }
        Ok(())
    }

    /// For a folder: the walk, and the item of the folder itself.
    fn walk(&self, source: &Source) -> Result<Option<(Walk<'_>, WalkItem)>, Error> {
        match source {
            Source::Path(path) if is_folder(self.system, source)? => {
                Walk::new(self.system, path, base_name(self.system, path)?, &self.options.exclude).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Keeps the first error of a file for the end of the run. An error of the session is returned immediately.
    fn keep_first(&self, sent: Result<(), Error>, run: &mut Run) -> Result<(), Error> {
        let Err(error) = sent else { return Ok(()) };
        if self.stopped().is_some() {
            return Err(error);
        }
        run.errors += 1;
        if run.first.is_some() {
            (self.on_event)(&SendEvent::Failed { error: &error });
        }
        run.first.get_or_insert(error);
        Ok(())
    }

    /// Sends an input that is no folder.
    fn send_input(&self, source: &Source, run: &mut Run) -> Result<(), Error> {
        let status = source.path().and_then(|path| self.system.status_of(path).ok());
        let sent = || {
            let name = match source {
                Source::Path(path) => base_name(self.system, path)?,
                Source::Stdin => self.options.stdin_name.as_bytes().to_vec(),
            };
            if let (Source::Path(path), Some(status)) = (source, status.as_ref().filter(|status| self.is_small(status)))
            {
                let input = SmallInput { folder: None, name: OsString::new(), path: path.clone() };
                return self.list(self.small_file(status, name), Some(input), run);
            }
            let opened = OpenInput::open(self.system, source)?;
            match opened.seekable_bytes() {
                Some(_) => self.submit(std::mem::take(&mut run.next))?,
                // Workers that wait for a stream do not send packs.
                None => self.flush(run)?,
            }
            self.send_file(opened, &name, &mut run.report)
        };
        let sent = { sent }();
        sent.inspect_err(|_| self.lower_total(status.map_or(0, |status| status.size_bytes)))
    }

    fn small_file(&self, status: &Status, path: Vec<u8>) -> Entry {
        let identity = version_of(status, self.options.ignore_ctime);
        let kind = EntryKind::File { size_bytes: status.size_bytes, identity };
        Entry { kind, metadata: metadata_of(status), path }
    }

    /// Whether a file with this status travels in a pack.
    fn is_small(&self, status: &Status) -> bool {
        let is_whole = self.options.keep_sealed || self.options.sequential;
        status.kind == Kind::Regular && status.size_bytes <= MAX_PACKED_BYTES && !is_whole
    }

    fn send_item(&self, item: WalkItem, run: &mut Run) -> Result<(), Error> {
        match item {
            WalkItem::File { folder, entry, path, name, size_bytes } => {
                let sent = || {
                    let status = self.system.status_of(&path).map_err(|error| Error::from(error).at(&path))?;
                    if self.is_small(&status) {
                        let input = SmallInput { folder: Some(folder), name: entry, path };
                        return self.list(self.small_file(&status, name), Some(input), run);
                    }
                    self.submit(std::mem::take(&mut run.next))?;
                    let opened = OpenInput::in_folder(self.system, &folder, &entry, path)?;
                    self.send_file(opened, &name, &mut run.report)
                };
                let sent = { sent }();
                sent.inspect_err(|_| self.lower_total(size_bytes))
            }
            WalkItem::Link { path, .. } if self.options.keep_sealed => {
                run.report.skipped += 1;
                (self.on_event)(&SendEvent::Skipped { link: &path });
                Ok(())
            }
            WalkItem::Link { folder, entry, path, name } => {
                run.links.push(self.link(&folder, &entry, &path, name)?);
                Ok(())
            }
            WalkItem::Folder { path, name } => {
                let status = self.system.status_of(&path).map_err(|error| Error::from(error).at(&path))?;
                run.folders.push(Entry { kind: EntryKind::Folder, metadata: metadata_of(&status), path: name });
                Ok(())
            }
        }
    }

    /// The entry of a link that stays inside the folder that is sent.
    fn link(&self, folder: &Dir, entry: &OsStr, path: &Path, name: Vec<u8>) -> Result<Entry, Error> {
        let read = || -> std::io::Result<_> {
            let modified = self.system.metadata_of(path)?.modified()?;
            Ok((self.system.read_link_in(folder, entry)?, modified))
        };
        let (target, modified) = read().map_err(|error| Error::from(error).at(path))?;
        // Below the folder that is sent, whose name comes first.
        let depth = name.iter().filter(|byte| **byte == b'/').count().saturating_sub(1);
        let target = to_bytes(target.as_os_str()).filter(|target| link_stays_inside(depth, target));
        let target = target.ok_or_else(|| Error::new(ErrorKind::TreeLink).at(path))?.to_vec();
        let metadata = Metadata { mode: None, modified: FileTime::from_system(modified) };
        Ok(Entry { kind: EntryKind::Link { target }, metadata, path: name })
    }

    /// Sends a request and waits for the answer. A refusal is an error about `name`.
    fn ask(&self, file: u32, request: &Request, name: &[u8]) -> Result<Reply, Error> {
        if self.ledger.wait_answer(Duration::ZERO).is_some() {
            return Err(self.protocol_error());
        }
        self.takes_refusals.store(true, Ordering::Release);
        self.request(request);
        let answer = self.wait_answer(file);
        self.takes_refusals.store(false, Ordering::Release);
        match answer? {
            Reply::Refused { reason } => {
                let error = Error::new(ErrorKind::Refused(reason)).at(shown_path(name));
                let is_about_the_file = match reason {
                    Refusal::Name | Refusal::Exists => true,
                    Refusal::OtherVersion | Refusal::TooMany | Refusal::Quota => {
                        matches!(request, Request::Offer { .. })
                    }
                    _ => false,
                };
                if is_about_the_file {
                    // The receiver may accept other files.
                    return Err(error);
                }
                // Another thread may have seen that the receiver then closes.
                lock(&self.state).failure = Some(error);
                self.stop();
                Err(Error::new(ErrorKind::Interrupted))
            }
            answer => Ok(answer),
        }
    }

    /// Waits for the answer to a request. The receiver may have much to sync, but it has to make progress; pings alone are not enough.
    fn wait_answer(&self, file: u32) -> Result<Reply, Error> {
        let since = Instant::now();
        loop {
            if let Some(answer) = self.ledger.wait_answer(TICK) {
                return Ok(answer);
            }
            // A batch that was lost may have to be read again after the last one was written.
            if let Some(error) = self.queue.take_failure(file).or_else(|| self.stopped()) {
                return Err(error);
            }
            if self.ledger.idle_since(since) > self.stall_time.saturating_mul(ANSWER_STALLS) {
                self.stop();
                return Err(Error::new(ErrorKind::Stalled).at(&self.options.to));
            }
        }
    }

    fn protocol_error(&self) -> Error {
        let error = Error::new(ErrorKind::Protocol).at(&self.options.to);
        self.stop();
        error
    }

    fn send_file(&self, opened: OpenInput, name: &[u8], report: &mut SendReport) -> Result<(), Error> {
        let since = Instant::now();
        let sent = if self.options.keep_sealed {
            let recipient = self.options.receiver.recipient();
            let (source, is_new) = FileSource::sealed(opened, recipient, &self.reading)?;
            let name = if is_new { sealed_name(name) } else { name.to_vec() };
            self.send_source(&Arc::new(source), &name, report)
        } else {
            self.send_source(&Arc::new(FileSource::new(opened, &self.reading)), name, report)
        };
        self.trace.slice(TraceRow::Session, "file", since, None);
        sent
    }

    /// The number of the next file or list.
    pub(super) fn next_number(&self) -> u32 {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        NUMBERS.fetch_add(1, Ordering::Relaxed) as u32
    }

    fn send_source(&self, source: &Arc<FileSource>, name: &[u8], report: &mut SendReport) -> Result<(), Error> {
        let file = self.next_number();
        let size_bytes = source.size_bytes();
        if size_bytes.is_some_and(|bytes| LAYOUT.checked_chunks(bytes).is_err()) {
            return Err(Error::new(ErrorKind::TooManyChunks).at(source.name()));
        }
        let (identity, metadata) = (source.identity(self.options.ignore_ctime)?, source.metadata());
        let (path, restart) = (name.to_vec(), self.options.restart);
        let offer = Request::Offer { file, size_bytes, restart, identity, metadata, path };
        let held = match self.ask(file, &offer, name)? {
            Reply::Resume { file: answered, held } if answered == file => held,
            Reply::Complete { file: answered } if answered == file => {
                report.files += 1;
                report.complete_before += 1;
                self.control.add_held(size_bytes.unwrap_or(0));
                self.control.add_file();
                return Ok(());
            }
            _ => return Err(self.protocol_error()),
        };
        let all = size_bytes.map_or(0, |bytes| LAYOUT.chunks(bytes));
        if held.last().is_some_and(|range| range.end > all) {
            return Err(self.protocol_error());
        }
        let mut have = Ranges::new();
        held.into_iter().for_each(|range| have.insert(range));
        let mut holes = source.holes(self.system);
        holes.retain(|chunks| !have.covers(chunks));
        if !holes.is_empty() {
            holes.iter().for_each(|chunks| have.insert(chunks.clone()));
            self.request(&Request::Holes { file, chunks: holes });
        }
        let todo = have.gaps(all);
        let held_bytes = plain_bytes_of(size_bytes, &have);
        self.control.add_held(held_bytes);
        self.queue.begin(file, source.clone(), todo);
        let sent = self.finish(file, source, name);
        let written_bytes = self.queue.end(file);
        if sent.is_err() && self.stopped().is_none() {
            // The receiver must not wait for the rest of this file. The other files are still sent.
            self.request(&Request::Abandon { file });
            self.control.take_back(held_bytes + written_bytes);
        }
        report.bytes_sent += sent? - held_bytes;
        report.files += 1;
        self.control.add_file();
        Ok(())
    }

    /// Waits until the whole file is written, sends `Finish`, and waits for the confirmation.
    fn finish(&self, file: u32, source: &FileSource, name: &[u8]) -> Result<u64, Error> {
        let size_bytes = loop {
            if let Some(size_bytes) = self.queue.wait_written(file, TICK)? {
                break size_bytes;
            }
            if let Some(error) = self.stopped() {
                return Err(lock(&self.state).failure.take().unwrap_or(error));
            }
        };
        source.check_unchanged()?;
        match self.ask(file, &Request::Finish { file, size_bytes }, name)? {
            Reply::Confirmed { file: confirmed } if confirmed == file => Ok(size_bytes),
            _ => Err(self.protocol_error()),
        }
    }

    /// Subtracts a file that is not sent from the total, unless the session has ended.
    fn lower_total(&self, bytes: u64) {
        if self.stopped().is_none() {
            self.control.lower_total(bytes);
        }
    }
}
