//! What a session sends: folders, and files one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::send::opened::OpenInput;
use crate::send::options::{SendEvent, SendReport};
use crate::send::session::SendSession;
use crate::send::source::{FileSource, is_folder};
use crate::send::trace::TraceRow;
use crate::send::walk::{Walk, WalkItem, base_name};
use crate::wire::batch::plain_bytes;
use crate::wire::link::TICK;
use crate::wire::message::{Reply, Request};
use crate::wire::names::sealed_name;
use crate::wire::ranges::Ranges;
use tress_container::commands::Source;
use tress_container::format::LAYOUT;
use tress_container::tree::shown_path;
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind, Refusal};

/// A sender waits this many stall times for progress towards an answer: the receiver may first have to sync much data.
const ANSWER_STALLS: u32 = 10;

impl SendSession<'_> {
    pub(super) fn send_all(&self, inputs: &[Source]) -> Result<SendReport, Error> {
        let mut report = SendReport::default();
        let mut first = None;
        let mut count = 0_u64;
        for source in inputs {
            match self.walk(source) {
                Ok(Some((walk, top))) => {
                    for item in std::iter::once(Ok(top)).chain(walk) {
                        let sent = item.and_then(|item| self.send_item(item, &mut report));
                        self.keep_first(sent, &mut first, &mut count)?;
                    }
                }
                Ok(None) => {
                    let name = match source {
                        Source::Path(path) => base_name(self.system, path),
                        Source::Stdin => Ok(self.options.stdin_name.as_bytes().to_vec()),
                    };
                    let opened = name.and_then(|name| Ok((OpenInput::open(self.system, source)?, name)));
                    let sent = opened.and_then(|(opened, name)| self.send_file(opened, &name, &mut report));
                    let status = || self.system.status_of(source.path()?).ok();
                    let sent = sent.inspect_err(|_| self.lower_total(status().map_or(0, |status| status.size_bytes)));
                    self.keep_first(sent, &mut first, &mut count)?;
                }
                Err(error) => self.keep_first(Err(error), &mut first, &mut count)?,
            }
        }
        match first {
            None => Ok(report),
            Some(error) if count == 1 => Err(error),
            Some(error) => Err(error.with_more(count - 1)),
        }
    }

    /// For a folder: the walk, and the item of the folder itself.
    fn walk(&self, source: &Source) -> Result<Option<(Walk<'_>, WalkItem)>, Error> {
        match source {
            Source::Path(path) if is_folder(self.system, source)? => {
                Walk::new(self.system, path, base_name(self.system, path)?).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Keeps the first error of a file for the end of the run. An error of the session is returned immediately.
    fn keep_first(&self, sent: Result<(), Error>, first: &mut Option<Error>, count: &mut u64) -> Result<(), Error> {
        let Err(error) = sent else { return Ok(()) };
        if self.stopped().is_some() {
            return Err(error);
        }
        *count += 1;
        if first.is_some() {
            (self.on_event)(&SendEvent::Failed { error: &error });
        }
        first.get_or_insert(error);
        Ok(())
    }

    fn send_item(&self, item: WalkItem, report: &mut SendReport) -> Result<(), Error> {
        match item {
            WalkItem::File { folder, entry, path, name, size_bytes } => {
                let opened = OpenInput::in_folder(self.system, &folder, &entry, path);
                opened
                    .and_then(|opened| self.send_file(opened, &name, report))
                    .inspect_err(|_| self.lower_total(size_bytes))
            }
            WalkItem::Link { path } => {
                report.skipped += 1;
                (self.on_event)(&SendEvent::Skipped { link: &path });
                Ok(())
            }
            WalkItem::Folder { name } => match self.ask(&Request::Folder { path: name.clone() }, &name)? {
                Reply::FolderReady => Ok(()),
                _ => Err(self.protocol_error()),
            },
        }
    }

    /// Sends a request and waits for the answer. A refusal is an error about `name`.
    fn ask(&self, request: &Request, name: &[u8]) -> Result<Reply, Error> {
        self.takes_refusals.store(true, Ordering::Release);
        self.request(request);
        let answer = self.wait_answer();
        self.takes_refusals.store(false, Ordering::Release);
        match answer? {
            Reply::Refused { reason } => {
                let error = Error::new(ErrorKind::Refused(reason)).at(shown_path(name));
                // The receiver may accept other files.
                let is_about_the_file = matches!(
                    reason,
                    Refusal::Name | Refusal::Exists | Refusal::OtherVersion | Refusal::TooMany | Refusal::Quota
                );
                if !is_about_the_file {
                    self.stop();
                }
                Err(error)
            }
            answer => Ok(answer),
        }
    }

    /// Waits for the answer to a request. The receiver may have much to sync, but it has to make progress; pings alone are not enough.
    fn wait_answer(&self) -> Result<Reply, Error> {
        let since = Instant::now();
        loop {
            if let Some(answer) = self.ledger.wait_answer(TICK) {
                return Ok(answer);
            }
            // A batch that was lost may have to be read again after the last one was written.
            if let Some(error) = self.queue.take_failure().or_else(|| self.stopped()) {
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

    fn send_source(&self, source: &Arc<FileSource>, name: &[u8], report: &mut SendReport) -> Result<(), Error> {
        static FILES: AtomicU64 = AtomicU64::new(1);
        let file = FILES.fetch_add(1, Ordering::Relaxed) as u32;
        let size_bytes = source.size_bytes();
        if size_bytes.is_some_and(|bytes| LAYOUT.checked_chunks(bytes).is_err()) {
            return Err(Error::new(ErrorKind::TooManyChunks).at(source.name()));
        }
        let (identity, path, restart) = (source.identity()?, name.to_vec(), self.options.restart);
        let held = match self.ask(&Request::Offer { file, size_bytes, restart, identity, path }, name)? {
            Reply::Resume { file: answered, held } if answered == file => held,
            Reply::Complete { file: answered } if answered == file => {
                report.files += 1;
                report.complete_before += 1;
                self.control.add_held(size_bytes.unwrap_or(0));
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
        let todo = have.gaps(all);
        let held_bytes = plain_bytes(size_bytes.unwrap_or(0), have.count());
        self.control.add_held(held_bytes);
        self.queue.begin(file, source.clone(), todo);
        let sent = self.finish(file, source);
        let written_bytes = self.queue.end();
        if sent.is_err() && self.stopped().is_none() {
            // The receiver must not wait for the rest of this file. The other files are still sent.
            self.request(&Request::Abandon { file });
            self.control.take_back(held_bytes + written_bytes);
        }
        report.bytes_sent += sent? - held_bytes;
        report.files += 1;
        Ok(())
    }

    /// Waits until the whole file is written, sends `Finish`, and waits for the confirmation.
    fn finish(&self, file: u32, source: &FileSource) -> Result<u64, Error> {
        let size_bytes = loop {
            if let Some(size_bytes) = self.queue.wait_written(TICK)? {
                break size_bytes;
            }
            if let Some(error) = self.stopped() {
                return Err(lock(&self.state).failure.take().unwrap_or(error));
            }
        };
        source.check_unchanged()?;
        self.request(&Request::Finish { file, size_bytes });
        match self.wait_answer() {
            Ok(Reply::Confirmed { file: confirmed }) if confirmed == file => Ok(size_bytes),
            Ok(_) => Err(self.protocol_error()),
            Err(error) => Err(lock(&self.state).failure.take().unwrap_or(error)),
        }
    }

    /// Subtracts a file that is not sent from the total, unless the session has ended.
    fn lower_total(&self, bytes: u64) {
        if self.stopped().is_none() {
            self.control.lower_total(bytes);
        }
    }
}
