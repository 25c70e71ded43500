//! Sends lists and packs, and handles the receiver's statuses. Several threads read packs, so that they wait for a slow disk together.

use std::io::IoSliceMut;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::send::opened::OpenInput;
use crate::send::packs::{ListedFile, NextList, OpenList, Outcome, SmallInput, State};
use crate::send::session::SendSession;
use crate::send::source::{FileSource, version_of};
use crate::wire::limits::ANSWER_STALLS;
use crate::wire::link::TICK;
use crate::wire::message::{Entry, EntryKind, EntryStatus, Request};
use crate::wire::ranges::Ranges;
use tress_container::commands::Source;
use tress_container::format::LAYOUT;
use tress_container::tree::shown_path;
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind};

impl SendSession<'_> {
    /// Sends a list, as soon as there is room for it.
    pub(super) fn submit(&self, list: NextList) -> Result<(), Error> {
        if list.entries.is_empty() {
            return Ok(());
        }
        self.work_until(|state| state.has_room(list.content_bytes))?;
        let number = self.next_number();
        let (entries, inputs): (Vec<Entry>, Vec<_>) = list.entries.into_iter().unzip();
        let files = entries.iter().zip(inputs).map(|(entry, input)| ListedFile {
            path: entry.path.clone(),
            identity: match entry.kind {
                EntryKind::File { identity, .. } => Some(identity),
                EntryKind::Folder | EntryKind::Link { .. } => None,
            },
            size_bytes: entry.content_bytes(),
            input,
        });
        let list =
            OpenList { files: files.collect(), content_bytes: list.content_bytes, statuses: Vec::new(), void: None };
        lock(&self.packs.state).open.insert(number, list);
        self.request(&Request::List { list: number, entries });
        Ok(())
    }

    /// Waits until the last statuses of all lists have come.
    pub(super) fn finish_lists(&self) -> Result<(), Error> {
        self.work_until(|state| state.open.is_empty())
    }

    /// Reads packs until a condition holds.
    fn work_until(&self, is_done: impl Fn(&State) -> bool) -> Result<(), Error> {
        let since = Instant::now();
        while !is_done(&lock(&self.packs.state)) {
            if let Some(error) = self.stopped() {
                return Err(lock(&self.state).failure.take().unwrap_or(error));
            }
            if self.ledger.idle_since(since) > self.stall_time.saturating_mul(ANSWER_STALLS) {
                self.stop();
                return Err(Error::new(ErrorKind::Stalled).at(&self.options.to));
            }
            if !self.read_next_pack() {
                self.packs.wait(TICK, || self.stopped().is_some());
            }
        }
        Ok(())
    }

    /// Reads packs until the session ends: several threads wait for a slow disk together.
    pub(super) fn read_packs(&self) {
        while self.stopped().is_none() {
            if !self.read_next_pack() {
                self.packs.wait(Duration::from_secs(1), || self.stopped().is_some());
            }
        }
    }

    /// Reads the contents of a pack, and starts to send it. Returns `false` if no pack waits.
    fn read_next_pack(&self) -> bool {
        let Some((number, wanted)) = self.packs.take_to_read() else { return false };
        let (mut bytes, mut void) = (Vec::new(), Vec::new());
        for (index, file) in wanted {
            if self.stopped().is_some() {
                return true;
            }
            let (start, size_bytes) = (bytes.len(), file.size_bytes);
            if let Err(outcome) = self.read_small(file, &mut bytes) {
                bytes.truncate(start);
                bytes.resize(start + size_bytes as usize, 0);
                void.push(index);
                lock(&self.packs.state).outcomes.push(outcome);
            }
        }
        let size_bytes = bytes.len() as u64;
        if let Some(list) = lock(&self.packs.state).open.get_mut(&number) {
            list.void = Some(void.clone());
        }
        let source = Arc::new(FileSource::Pack { bytes });
        self.queue.begin(number, source, Ranges::new().gaps(LAYOUT.chunks(size_bytes)));
        self.request(&Request::PackEnd { list: number, void });
        true
    }

    /// Appends the content of a file, if it is still the listed version.
    fn read_small(&self, file: ListedFile, bytes: &mut Vec<u8>) -> Result<(), Outcome> {
        let ListedFile { path, identity, size_bytes, input } = file;
        let failed = |error: Error| Outcome::Failed(error, size_bytes);
        let (Some(input), Some(identity)) = (input, identity) else {
            return Err(failed(Error::new(ErrorKind::Protocol).at(&self.options.to)));
        };
        let opened = self.open_small(&input).map_err(failed)?;
        if opened.seekable_bytes().is_none() {
            // An empty file, or one of a system such as /proc, which has no lengths.
            let read = opened.read(&self.reading, 0, &mut [IoSliceMut::new(&mut [0])]);
            if read.map_err(|error| failed(Error::from(error).at(&input.path)))? > 0 {
                return Err(Outcome::Alone(input, path));
            }
        }
        if version_of(opened.status(), self.options.ignore_ctime) != identity {
            return Err(failed(Error::new(ErrorKind::InputChanged).at(input.path)));
        }
        let start = bytes.len();
        bytes.resize(start + size_bytes as usize, 0);
        if size_bytes > 0 {
            opened.read_exact_at(&mut [IoSliceMut::new(&mut bytes[start..])], 0).map_err(failed)?;
        }
        opened.check_unchanged().map_err(failed)
    }

    pub(super) fn open_small(&self, input: &SmallInput) -> Result<OpenInput, Error> {
        match &input.folder {
            Some(folder) => OpenInput::in_folder(self.system, folder, &input.name, input.path.clone()),
            None => OpenInput::open(self.system, &Source::Path(input.path.clone())),
        }
    }

    /// Handles the receiver's statuses of a list.
    pub(super) fn handle_statuses(&self, number: u32, statuses: &[EntryStatus]) -> Result<(), Error> {
        let wrong = || Error::new(ErrorKind::Protocol).with_detail("statuses of no list");
        let mut state = lock(&self.packs.state);
        let list = state.open.get_mut(&number).filter(|list| list.files.len() == statuses.len()).ok_or_else(wrong)?;
        let is_first = list.statuses.is_empty();
        if is_first {
            list.statuses = statuses.to_vec();
            let wants = |status| matches!(status, EntryStatus::Wanted | EntryStatus::Unfinished);
            let is_file = |file: &ListedFile| file.identity.is_some();
            if list.files.iter().zip(statuses).any(|(file, status)| wants(*status) && !is_file(file)) {
                return Err(wrong());
            }
            if statuses.contains(&EntryStatus::Wanted) {
                state.to_read.push_back(number);
                self.packs.changed.notify_all();
                return Ok(());
            }
        } else if list.void.is_none() {
            return Err(wrong());
        }
        let void = list.void.as_deref().unwrap_or_default();
        let is_missing = |(index, (first, last)): (u16, (&EntryStatus, &EntryStatus))| {
            *first == EntryStatus::Wanted
                && (*last == EntryStatus::Unfinished || *last == EntryStatus::Wanted && !void.contains(&index))
        };
        // As long as the list is there, the session has not ended well.
        if (0..).zip(list.statuses.iter().zip(statuses)).any(is_missing) {
            return Err(wrong());
        }
        let Some(list) = state.open.remove(&number) else { return Ok(()) };
        let written_bytes = self.queue.end(number);
        let mut kept_bytes = 0;
        let all = list.files.into_iter().zip(list.statuses.iter().zip(statuses));
        for (mut file, (first, last)) in all {
            let is_file = file.identity.is_some();
            let outcome = match (first, last) {
                // Void.
                (EntryStatus::Wanted, EntryStatus::Wanted | EntryStatus::Unfinished) => continue,
                (EntryStatus::Unfinished, _) => match file.input.take() {
                    Some(input) => Outcome::Alone(input, file.path),
                    None => continue,
                },
                (EntryStatus::Complete, _) | (_, EntryStatus::Complete) if !is_file => continue,
                (EntryStatus::Complete, _) => Outcome::CompleteBefore(file.size_bytes),
                (EntryStatus::Wanted, EntryStatus::Complete) => {
                    kept_bytes += file.size_bytes;
                    Outcome::Sent(file.size_bytes)
                }
                (EntryStatus::Refused(reason), _) | (_, EntryStatus::Refused(reason)) => {
                    let error = Error::new(ErrorKind::Refused(*reason)).at(shown_path(&file.path));
                    Outcome::Failed(error, file.size_bytes)
                }
            };
            if matches!(outcome, Outcome::Sent(_) | Outcome::CompleteBefore(_)) {
                self.control.add_file();
            }
            state.outcomes.push(outcome);
        }
        drop(state);
        self.control.take_back(written_bytes.saturating_sub(kept_bytes));
        self.packs.changed.notify_all();
        Ok(())
    }
}
