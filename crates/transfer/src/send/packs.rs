//! Small files, folders and links. They are listed without waiting for answers, and the contents that the receiver wants travel as packs:
//! the contents of a list's files in one run of batches, which are read into memory beforehand. So a pack never changes, and batches that
//! are lost are sent again as they were.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use cap_std::fs::Dir;

use crate::wire::message::{Entry, EntryStatus, MAX_LISTED_BYTES, MAX_LISTS, MAX_MESSAGE_BYTES, VersionId};
use tress_container::Error;
use tress_container::workers::lock;

/// Largest file that travels in a pack, in bytes.
pub(crate) const MAX_PACKED_BYTES: u64 = 256 << 10;
/// Most bytes of contents in a list, unless it is one file.
const LIST_BYTES: u64 = 1 << 20;
/// Most folders with entries of a list. Each is open until the list's files are read.
const LIST_FOLDERS: usize = 8;
/// Bytes of a list's message before its entries.
const LIST_HEAD_BYTES: usize = 5;

/// How a small file is opened.
pub(crate) struct SmallInput {
    /// `None` for a path that the user named.
    pub(crate) folder: Option<Arc<Dir>>,
    pub(crate) name: OsString,
    pub(crate) path: PathBuf,
}

/// An entry that is listed, and how it is opened if it is a file.
type ListedEntry = (Entry, Option<SmallInput>);

/// The list that is being filled.
#[derive(Default)]
pub(super) struct NextList {
    pub(super) entries: Vec<ListedEntry>,
    message_bytes: usize,
    pub(super) content_bytes: u64,
    folders: Vec<Arc<Dir>>,
}

impl NextList {
    /// Adds an entry. Returns the list before it if the entry does not fit in.
    pub(super) fn add(&mut self, entry: Entry, input: Option<SmallInput>) -> Option<NextList> {
        let mut encoded = Vec::new();
        entry.encode(&mut encoded);
        let folder = input.as_ref().and_then(|input| input.folder.clone());
        let is_new = |folder: &&Arc<Dir>| !self.folders.iter().any(|other| Arc::ptr_eq(other, folder));
        let is_full = LIST_HEAD_BYTES + self.message_bytes + encoded.len() > MAX_MESSAGE_BYTES
            || self.content_bytes + entry.content_bytes() > LIST_BYTES
            || self.folders.len() == LIST_FOLDERS && folder.as_ref().filter(is_new).is_some();
        let full = (is_full && !self.entries.is_empty()).then(|| std::mem::take(self));
        self.message_bytes += encoded.len();
        self.content_bytes += entry.content_bytes();
        self.folders.extend(folder.filter(|folder| !self.folders.iter().any(|other| Arc::ptr_eq(other, folder))));
        self.entries.push((entry, input));
        full
    }
}

/// A list whose last statuses have not come.
pub(super) struct OpenList {
    pub(super) files: Vec<ListedFile>,
    pub(super) content_bytes: u64,
    /// The first statuses, when they have come.
    pub(super) statuses: Vec<EntryStatus>,
    /// Entries that are not in the pack, once the pack is read.
    pub(super) void: Option<Vec<u16>>,
}

/// A listed entry, of which the name and the content are needed until its last status has come.
pub(super) struct ListedFile {
    pub(super) path: Vec<u8>,
    /// `None` for a folder or link.
    pub(super) identity: Option<VersionId>,
    pub(super) size_bytes: u64,
    pub(super) input: Option<SmallInput>,
}

/// The result of an entry.
pub(super) enum Outcome {
    /// The receiver has confirmed this file of this size.
    Sent(u64),
    /// The receiver had this file of this size.
    CompleteBefore(u64),
    Failed(Error, u64),
    /// A file to be offered alone: the receiver holds a part of it, or its status does not report its length.
    Alone(SmallInput, Vec<u8>),
}

/// The lists of a session.
#[derive(Default)]
pub(crate) struct Packs {
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) open: BTreeMap<u32, OpenList>,
    /// Lists whose packs are to be read.
    pub(super) to_read: VecDeque<u32>,
    pub(super) outcomes: Vec<Outcome>,
}

impl State {
    pub(super) fn has_room(&self, content_bytes: u64) -> bool {
        let listed_bytes: u64 = self.open.values().map(|list| list.content_bytes).sum();
        self.open.len() < MAX_LISTS && listed_bytes + content_bytes <= MAX_LISTED_BYTES
    }
}

impl Packs {
    pub(crate) fn wake(&self) {
        // Nobody is between a check and a wait.
        let _state = lock(&self.state);
        self.changed.notify_all();
    }

    pub(super) fn take_outcomes(&self) -> Vec<Outcome> {
        std::mem::take(&mut lock(&self.state).outcomes)
    }

    /// The next list whose pack is to be read: its number, its files, and the first statuses.
    pub(super) fn take_to_read(&self) -> Option<(u32, Vec<(u16, ListedFile)>)> {
        let mut state = lock(&self.state);
        let number = state.to_read.pop_front()?;
        let list = state.open.get_mut(&number)?;
        let wanted = list.statuses.iter().zip(&mut list.files).enumerate();
        let wanted = wanted.filter(|(_, (status, _))| **status == EntryStatus::Wanted);
        Some((number, wanted.map(|(index, (_, file))| (index as u16, file.take())).collect()))
    }

    /// Waits until a pack is to be read or something else has changed, unless the session is over.
    pub(super) fn wait(&self, time: Duration, is_over: impl Fn() -> bool) {
        let state = lock(&self.state);
        if state.to_read.is_empty() && !is_over() {
            drop(self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl ListedFile {
    /// Takes the input, so that the file can be read. The rest is needed for the last status, too.
    fn take(&mut self) -> Self {
        Self { path: self.path.clone(), input: self.input.take(), ..*self }
    }
}
