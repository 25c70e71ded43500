//! The receiver's files on disk: one folder for each sender, and in it a folder for incomplete files.
//!
//! ```text
//! DIR/SENDER/a/b                  a complete file
//! DIR/SENDER/.tress/HASH.part     plaintext of an incomplete file, with holes
//! DIR/SENDER/.tress/HASH.journal  its version, and which chunks are verified and synced
//! DIR/SENDER/.tress/files         the versions of all complete files, so that none is sent twice (`files.rs`)
//! ```
//!
//! All names are relative to handles of these folders (`cap-std`), no link is followed, and the call that gives a file its final
//! name never replaces another file.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, IoSlice};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cap_std::fs::Dir;

use crate::receive::files::{FileJournal, FileRecord, OpenJournals, Recorded, write_all_at};
use crate::receive::folders::make_folder;
use crate::receive::journal::{self, Journal, read, stem};
use crate::receive::leftovers::{Scratch, adopt_done_records, parts, remove_leftovers};
use crate::receive::owner;
use crate::receive::quota::{ENTRY_BYTES, Reservation, Usage};
use crate::wire::batch::{batch_chunks, batch_sealed_bytes, plain_bytes, plain_bytes_of};
use crate::wire::message::{Metadata, VersionId, is_same_version};
use crate::wire::names::{STATE_FOLDER, components};
use crate::wire::ranges::Ranges;
use tress_container::format::LAYOUT;
use tress_container::pipeline::Batch;
use tress_container::sys::{Kind, Opening, Readers, Status, System};
use tress_container::tree::names::to_os;
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind, Refusal};

/// Most ranges of received chunks of one file. Each data connection leaves a few gaps; only a hostile sender leaves
/// more, and every range costs memory.
const MAX_PIECES: usize = 1 << 16;

/// Most folders that a session remembers as synced.
const MAX_KNOWN_FOLDERS: usize = 4096;

/// Why an offer was refused. `error` is the cause; it is not sent to the peer.
#[derive(Debug)]
pub(crate) struct Denied {
    pub(crate) reason: Refusal,
    pub(crate) error: Option<Error>,
}

impl Denied {
    pub(super) fn name(reason: &'static str) -> Self {
        let error = Error::new(ErrorKind::Declined(Refusal::Name)).with_detail(reason);
        Self { reason: Refusal::Name, error: Some(error) }
    }

    /// For an error of a file's folder: one that cannot take the file is no fault of the disk, and others may take theirs.
    pub(super) fn of_folder(error: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let kind = error.kind();
        let denied = Self::from(error);
        match kind {
            Kind::CrossesDevices | Kind::PermissionDenied | Kind::ReadOnlyFilesystem | Kind::NotFound => {
                Self { reason: Refusal::Name, ..denied }
            }
            _ => denied,
        }
    }
}

impl From<Refusal> for Denied {
    fn from(reason: Refusal) -> Self {
        Self { reason, error: None }
    }
}

impl From<io::Error> for Denied {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let reason = match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Refusal::NoSpace,
            Kind::AlreadyExists => Refusal::Exists,
            Kind::InvalidFilename | Kind::NotADirectory | Kind::IsADirectory => Refusal::Name,
            _ => Refusal::Io,
        };
        Self { reason, error: Some(error.into()) }
    }
}

/// One sender's folder.
pub(crate) struct SenderStore {
    pub(super) system: &'static dyn System,
    pub(super) root: Dir,
    pub(super) state: Dir,
    pub(super) files: Arc<Mutex<FileJournal>>,
    /// `None` if there is no quota.
    pub(super) usage: Option<Arc<Usage>>,
    pub(super) scratch: Mutex<Option<Scratch>>,
    /// Stems of the files of which earlier sessions have left a part.
    pub(super) unfinished: HashSet<String>,
    /// Folders whose names are synced. A folder of an earlier session may not be: that session may have ended before the sync.
    known: Mutex<HashSet<Vec<u8>>>,
}

/// The result of an accepted offer.
pub(crate) enum Offered {
    /// This version of the file is already complete.
    Complete,
    PartFile(Box<PartFile>),
}

/// An arriving file.
pub(crate) struct PartFile {
    system: &'static dyn System,
    /// The folder of the final name.
    folder: Dir,
    name: std::ffi::OsString,
    /// The sender's name for the file.
    path: Vec<u8>,
    /// Path relative to the sender's folder, for messages.
    pub(crate) shown: PathBuf,
    state: Dir,
    files: Arc<Mutex<FileJournal>>,
    stem: String,
    file: File,
    identity: VersionId,
    /// The version of the last offer, which may have another time of change.
    offered: VersionId,
    /// `None` for a stream, which cannot be resumed.
    pub(crate) size_bytes: Option<u64>,
    /// What the file gets with its name.
    pub(crate) metadata: Metadata,
    journal: Mutex<Option<OpenJournal>>,
    held: Mutex<Held>,
    /// A sync has failed. It is unknown which unsynced writes reached the disk: the system may have dropped them, and reports that only
    /// once.
    has_sync_failed: AtomicBool,
    /// `None` if there is no quota.
    reservation: Option<Reservation>,
    /// Bytes that the file counts when its session ends; [`u64::MAX`] for as many as are in the state folder.
    counts_bytes: AtomicU64,
}

struct OpenJournal {
    file: File,
    bytes: u64,
}

#[derive(Default)]
struct Held {
    /// Verified and written.
    written: Ranges,
    /// Chunks of `written` that are not synced.
    fresh: Ranges,
    /// When the first chunk of `fresh` was written.
    fresh_since: Option<Instant>,
    /// Verified, synced, and recorded in the journal.
    synced: Ranges,
    /// Size of a stream whose last chunk has arrived and is written or about to be.
    end: Option<u64>,
}

impl SenderStore {
    /// Opens the sender's folder below `base`, which it makes if it is missing. `usage` returns the sender's quota.
    pub(crate) fn open(
        system: &'static dyn System,
        base: &Dir,
        sender: &str,
        journals: &OpenJournals,
        usage: impl FnOnce(&Dir) -> io::Result<Option<Arc<Usage>>>,
    ) -> io::Result<Self> {
        // The name is public: other users that may write to `base` may have made the folder.
        let (root, _) = make_folder(system, base, OsStr::new(sender), Readers::Umask, true)?;
        owner::check(&root, "folder", owner::OTHERS_WRITE)?;
        // Incomplete files are readable by the owner only.
        let (state, _) = make_folder(system, &root, OsStr::new(STATE_FOLDER), Readers::Owner, true)?;
        let shown = format!("its folder {STATE_FOLDER}");
        owner::check(&state, &shown, owner::GROUP_OR_OTHERS_WRITE)?;
        system.set_folder_mode(&state, ".".as_ref(), 0o700)?;
        owner::check(&state, &shown, owner::GROUP_OR_OTHERS)?;
        let files = journals.open(system, &root, &state)?;
        // Without this only the disk is fuller.
        lock(&files).locked(|_| {
            let _ = remove_leftovers(system, &state);
            Ok(())
        })?;
        adopt_done_records(system, &root, &state, &mut lock(&files))?;
        let unfinished = parts(&state)?;
        let usage = usage(&root)?;
        let (scratch, known) = (Mutex::default(), Mutex::default());
        Ok(Self { system, root, state, files, usage, scratch, unfinished, known })
    }

    /// Opens a folder, which it makes with its missing parents if it is missing.
    pub(super) fn descend(&self, names: &[&[u8]]) -> Result<Dir, Denied> {
        let mut folder = self.root.try_clone()?;
        for (depth, name) in names.iter().enumerate() {
            let path = names[..=depth].join(&b'/');
            let name = to_os(name).ok_or(Refusal::Name)?;
            let counted = match &self.usage {
                Some(usage) if !self.system.exists_in(&folder, name).map_err(Denied::of_folder)? => {
                    usage.add(ENTRY_BYTES)?;
                    Some(usage)
                }
                _ => None,
            };
            let is_known = lock(&self.known).contains(&path);
            let made = make_folder(self.system, &folder, name, Readers::Umask, !is_known);
            if let Some(usage) = counted {
                // Another session made the folder first, or the call failed.
                let is_made = made.as_ref().map_or_else(|_| folder.exists(name), |(_, is_new)| *is_new);
                if !is_made {
                    usage.give_back(ENTRY_BYTES);
                }
            }
            folder = made.map_err(Denied::of_folder)?.0;
            // Like the sender's folder: a file in a folder of another user is that user's, too.
            owner::check(&folder, "a folder of this path", owner::OTHERS_WRITE)
                .map_err(|error| Denied { reason: Refusal::Exists, error: Some(error.into()) })?;
            let mut known = lock(&self.known);
            if known.len() >= MAX_KNOWN_FOLDERS {
                known.clear();
            }
            known.insert(path);
        }
        Ok(folder)
    }

    /// Accepts a file: from its start, or from where an earlier session left the same version.
    pub(crate) fn offer(
        &self,
        path: &[u8],
        identity: &VersionId,
        size_bytes: Option<u64>,
        restart: bool,
    ) -> Result<Offered, Denied> {
        let names = components(path).map_err(Denied::name)?;
        if size_bytes.is_some_and(|bytes| LAYOUT.checked_chunks(bytes).is_err()) {
            return Err(Refusal::NoSpace.into());
        }
        let (name, parents) = names.split_last().ok_or(Refusal::Name)?;
        let folder = self.descend(parents)?;
        let name = to_os(name).ok_or(Refusal::Name)?.to_owned();
        if self.system.exists_in(&folder, &name).map_err(Denied::of_folder)? {
            let is_done = |files: &mut FileJournal| self.is_done_in(files, &folder, &name, path, identity, size_bytes);
            if !lock(&self.files).locked(is_done)? {
                return Err(Refusal::Exists.into());
            }
            self.system.sync_folder_in(&folder)?;
            return Ok(Offered::Complete);
        }
        let device = |folder: &Dir| -> io::Result<_> {
            Ok(self.system.status_in(folder, ".".as_ref())?.identity.map(|(device, _)| device))
        };
        // The complete file could not be moved there.
        if cfg!(unix) && device(&folder)? != device(&self.state)? {
            return Err(Denied::of_folder(io::ErrorKind::CrossesDevices.into()));
        }
        let shown = names.iter().filter_map(|name| to_os(name)).collect();
        let (stem, state) = (stem(path), self.state.try_clone()?);
        let (file, old_bytes) = self.open_part(format!("{stem}.part").as_ref())?;
        let reservation = self.usage.as_ref().map(|usage| usage.file(old_bytes));
        let all_bytes = size_bytes.unwrap_or(0).saturating_add(ENTRY_BYTES);
        let reserved = reservation.as_ref().map_or(Ok(()), |reservation| reservation.grow_to(all_bytes));
        // From here on, whatever fails, the part counts what it leaves on the disk.
        let mut part = PartFile {
            system: self.system,
            folder,
            name,
            path: path.to_vec(),
            shown,
            state,
            files: self.files.clone(),
            stem,
            file,
            identity: *identity,
            offered: *identity,
            size_bytes,
            metadata: Metadata::default(),
            journal: Mutex::new(None),
            held: Mutex::default(),
            has_sync_failed: AtomicBool::new(false),
            reservation,
            counts_bytes: AtomicU64::new(u64::MAX),
        };
        let journal = self.system.open_in(&self.state, part.state_name("journal").as_ref(), Opening::Make)?;
        let old = journal::parse(&read(self.system, &journal, journal::MAX_BYTES)?);
        let has_chunks = old.as_ref().map_or(Ok(false), |old| part.has_chunks_of(old))?;
        let old = old.filter(|_| has_chunks && !restart);
        if old
            .as_ref()
            .is_some_and(|old| !is_same_version(identity, &old.identity) || Some(old.size_bytes) != size_bytes)
        {
            return Err(Refusal::OtherVersion.into());
        }
        if let Err(reason) = reserved {
            if old.is_none() {
                part.discard();
            }
            return Err(reason.into());
        }
        // Its records are checked by the identity that it began with.
        part.identity = old.as_ref().map_or(part.identity, |old| old.identity);
        part.begin(journal, old)?;
        Ok(Offered::PartFile(Box::new(part)))
    }

    /// Opens or makes the data of an incomplete file. Until it is closed, or the process ends for any reason, no other session changes the
    /// files of this transfer. Returns also the bytes that count for it already.
    fn open_part(&self, name: &OsStr) -> Result<(File, u64), Denied> {
        let open = || self.system.open_in(&self.state, name, Opening::Make);
        let is_new = !self.system.exists_in(&self.state, name)?;
        let file = match open() {
            // Up to version 0.3.0, a session that was killed at the end of the file had given it its mode.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.system.set_mode_in(&self.state, name, 0o600)?;
                open()?
            }
            opened => opened?,
        };
        // Without support for locks, a second receiver cannot be detected.
        let is_locked = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        let status = self.system.status(&file)?;
        // Another session may have removed the file between the two calls.
        if is_locked || check_inode(&self.state, name, &status).is_err() {
            return Err(Refusal::TooMany.into());
        }
        Ok((file, if is_new { 0 } else { status.size_bytes.saturating_add(ENTRY_BYTES) }))
    }

    /// Whether the file under the final name was received from this version, and has not changed since.
    pub(super) fn is_done_in(
        &self,
        files: &FileJournal,
        folder: &Dir,
        name: &OsStr,
        path: &[u8],
        identity: &VersionId,
        size_bytes: Option<u64>,
    ) -> io::Result<bool> {
        let status = self.system.status_in(folder, name)?;
        let is_this = |record: &FileRecord<'_>| is_same_version(identity, &record.identity) && record.is_of(&status);
        let is_this_size = size_bytes.is_none_or(|bytes| bytes == status.size_bytes);
        Ok(status.kind == Kind::Regular && is_this_size && files.has(path, is_this)?)
    }
}

impl PartFile {
    /// Whether the file is long enough for the chunks of an old journal. A journal that has outlived its file has none.
    fn has_chunks_of(&self, old: &Journal) -> io::Result<bool> {
        let needed = plain_bytes(old.size_bytes, old.held.end());
        Ok(needed > 0 && self.system.status(&self.file)?.size_bytes >= needed)
    }

    fn begin(&mut self, journal: File, old: Option<Journal>) -> Result<(), Denied> {
        let Some(size_bytes) = self.size_bytes else {
            self.system.set_length(&self.file, 0)?;
            drop(journal);
            self.system.remove_in(&self.state, self.state_name("journal").as_ref())?;
            return Ok(());
        };
        let mut open = OpenJournal { file: journal, bytes: 0 };
        match old {
            Some(old) => {
                self.system.set_length(&open.file, old.good_bytes)?;
                open.bytes = old.good_bytes;
                *self.held.get_mut().unwrap_or_else(PoisonError::into_inner) =
                    Held { written: old.held.clone(), synced: old.held, ..Held::default() };
            }
            None => {
                self.system.set_length(&open.file, 0)?;
                self.system.set_length(&self.file, 0)?;
                open.append(self.system, &journal::header(&self.identity, size_bytes))?;
            }
        }
        self.system.sync(&open.file)?;
        self.system.sync_folder_in(&self.state)?;
        self.journal = Mutex::new(Some(open));
        Ok(())
    }

    /// Name of a file in the state folder, for this transfer.
    pub(crate) fn state_name(&self, ending: &str) -> String {
        format!("{}.{ending}", self.stem)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The synced chunks, for example of an earlier session.
    pub(crate) fn synced(&self) -> Vec<std::ops::Range<u64>> {
        self.held().synced.iter().collect()
    }

    pub(crate) fn synced_chunks(&self) -> u64 {
        self.held().synced.count()
    }

    /// Plaintext bytes of the written chunks.
    pub(crate) fn written_bytes(&self) -> u64 {
        plain_bytes_of(self.size_bytes, &self.held().written)
    }

    /// Whether an offer is of this version.
    pub(crate) fn is_version(&self, identity: &VersionId, size_bytes: Option<u64>) -> bool {
        is_same_version(identity, &self.identity) && self.size_bytes == size_bytes
    }

    /// Whether a batch that begins with this chunk and has this length belongs to the file.
    pub(crate) fn admits(&self, first_chunk: u64, sealed_bytes: usize) -> bool {
        self.fits(&self.held(), first_chunk, sealed_bytes)
    }

    fn fits(&self, held: &Held, first_chunk: u64, sealed_bytes: usize) -> bool {
        let Some((count, has_last)) = batch_chunks(sealed_bytes) else { return false };
        // No payload has chunks beyond this number, and their offsets could overflow.
        let Some(end) = first_chunk.checked_add(count).filter(|&end| end <= LAYOUT.max_chunks()) else { return false };
        if held.written.pieces() >= MAX_PIECES && !held.written.meets(&(first_chunk..end)) {
            return false;
        }
        if let Some(size_bytes) = self.size_bytes {
            return batch_sealed_bytes(size_bytes, &(first_chunk..end)) == Some(sealed_bytes);
        }
        match held.end {
            // The last chunk must be beyond all others.
            None => !has_last || held.written.end() < end,
            Some(size) => batch_sealed_bytes(size, &(first_chunk..end)) == Some(sealed_bytes),
        }
    }

    /// Writes a verified batch. A batch whose chunks are all written already is ignored.
    pub(crate) fn write(&self, batch: &Batch) -> Result<(), Denied> {
        let chunks = batch.first_chunk..batch.first_chunk + batch.chunks();
        {
            let mut held = self.held();
            if held.written.covers(&chunks) {
                return Ok(());
            }
            // Since this batch was admitted, another connection may have delivered the end of the stream. A stream has only one end.
            if !self.fits(&held, batch.first_chunk, batch.sealed_bytes()) {
                return Err(Refusal::Protocol.into());
            }
            if self.size_bytes.is_none() && batch.ends() {
                held.end = Some(batch.plain_offset() + batch.plain_bytes());
            }
        }
        if let Some(reservation) = &self.reservation {
            reservation.grow_to((batch.plain_offset() + batch.plain_bytes()).saturating_add(ENTRY_BYTES))?;
        }
        let (mut offset, mut slices) = batch.plain_within(batch.chunks(), &(0..u64::MAX));
        let mut buffers = &mut slices[..];
        IoSlice::advance_slices(&mut buffers, 0);
        while !buffers.is_empty() {
            match self.system.write_at(&self.file, buffers, offset) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(bytes) => {
                    offset += bytes as u64;
                    IoSlice::advance_slices(&mut buffers, bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut held = self.held();
        held.written.insert(chunks.clone());
        held.fresh.insert(chunks);
        held.fresh_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Notes that these chunks are zeros, which take no space. Returns `false` if they are not in the file, or too many.
    pub(crate) fn leave_holes(&self, chunks: &[Range<u64>]) -> io::Result<bool> {
        let Some(size_bytes) = self.size_bytes else { return Ok(false) };
        let is_within = chunks.last().is_none_or(|last| last.end <= LAYOUT.chunks(size_bytes));
        let mut written = self.held().written.clone();
        chunks.iter().for_each(|range| written.insert(range.clone()));
        if !is_within || written.pieces() > MAX_PIECES {
            return Ok(false);
        }
        // The journal says that the file has these chunks. Another connection may be writing, but nothing beyond this length.
        self.system.set_length(&self.file, size_bytes)?;
        let mut held = self.held();
        for range in chunks {
            // No record for holes that were written or named before.
            if !held.written.covers(range) {
                held.written.insert(range.clone());
                held.fresh.insert(range.clone());
                held.fresh_since.get_or_insert_with(Instant::now);
            }
        }
        Ok(true)
    }

    /// Unsynced plaintext bytes, in whole chunks, and the time of the first unsynced write.
    pub(crate) fn unsynced(&self) -> Option<(u64, Instant)> {
        let held = self.held();
        held.fresh_since.map(|since| (LAYOUT.plain_offset(held.fresh.count()), since))
    }

    /// Whether the file has this size and all of its chunks are written.
    pub(crate) fn is_whole(&self, size_bytes: u64) -> bool {
        let held = self.held();
        let agrees = match self.size_bytes {
            Some(known) => known == size_bytes,
            None => held.end == Some(size_bytes),
        };
        let all = LAYOUT.chunks(size_bytes);
        agrees && held.written.count() == all && held.written.end() == all
    }

    /// Whether this size differs from the offered size, or from the end of a stream that has arrived.
    pub(crate) fn contradicts(&self, size_bytes: u64) -> bool {
        match self.size_bytes {
            Some(known) => known != size_bytes,
            None => self.held().end.is_some_and(|size| size != size_bytes),
        }
    }

    /// Syncs all chunks written before the call, and then records them in the journal.
    pub(crate) fn sync(&self) -> Result<(), Denied> {
        let (fresh, since) = {
            let mut held = self.held();
            (std::mem::take(&mut held.fresh), held.fresh_since.take())
        };
        if since.is_none() {
            return Ok(());
        }
        match self.sync_and_record(&fresh) {
            Ok(()) => {
                let mut held = self.held();
                fresh.iter().for_each(|range| held.synced.insert(range));
                Ok(())
            }
            Err(error) => {
                let mut held = self.held();
                fresh.iter().for_each(|range| held.fresh.insert(range));
                held.fresh_since = since;
                Err(error.into())
            }
        }
    }

    /// Syncs the file. After one failure all later calls fail: the next session writes the unrecorded chunks again.
    fn sync_data(&self) -> io::Result<()> {
        if self.has_sync_failed.load(Ordering::Acquire) {
            return Err(io::Error::other("an earlier sync failed"));
        }
        self.system.sync(&self.file).inspect_err(|_| self.has_sync_failed.store(true, Ordering::Release))
    }

    fn sync_and_record(&self, fresh: &Ranges) -> io::Result<()> {
        self.sync_data()?;
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = &mut *journal {
            let records: Vec<u8> = fresh.iter().flat_map(|range| journal::record(&self.identity, &range)).collect();
            journal.append(self.system, &records)?;
            self.system.sync(&journal.file)?;
            if journal.bytes > journal::MAX_BYTES / 2 {
                let mut held = self.held().synced.clone();
                fresh.iter().for_each(|range| held.insert(range));
                self.shorten(journal, &held)?;
            }
        }
        Ok(())
    }

    /// Replaces the journal by one that lists these chunks, in fewer records.
    fn shorten(&self, journal: &mut OpenJournal, held: &Ranges) -> io::Result<()> {
        let (copy, name) = (self.state_name("new"), self.state_name("journal"));
        let replace = || {
            self.system.remove_in(&self.state, copy.as_ref())?;
            let file = self.system.open_in(&self.state, copy.as_ref(), Opening::Make)?;
            let mut short = OpenJournal { file, bytes: 0 };
            let mut bytes = journal::header(&self.identity, self.size_bytes.unwrap_or_default());
            held.iter().for_each(|range| bytes.extend(journal::record(&self.identity, &range)));
            short.append(self.system, &bytes)?;
            self.system.sync(&short.file)?;
            self.system.rename_in(&self.state, copy.as_ref(), name.as_ref()).map(|()| short)
        };
        if let Ok(short) = replace() {
            *journal = short;
            return self.system.sync_folder_in(&self.state);
        }
        // The journal only stays longer. The disk may be full, and some systems do not replace a file that is open.
        let _ = self.system.remove_in(&self.state, copy.as_ref());
        Ok(())
    }

    /// Gives the file its final name. When this returns, file and name are synced.
    pub(crate) fn complete(&self) -> Result<Recorded, Denied> {
        let system = self.system;
        let part = self.state_name("part");
        let mode = self.metadata.mode.map(u32::from);
        // An incomplete file stays writable for its owner: if a later step fails, the next session continues it.
        mode.map_or(Ok(()), |mode| system.set_mode(&self.file, mode | 0o600))?;
        if let Some(time) = self.metadata.modified {
            system.set_modified(&self.state, part.as_ref(), time)?;
        }
        // Also syncs the writes of an earlier session, and the length.
        self.sync_data()?;
        let status = system.status(&self.file)?;
        // The record comes before the name: otherwise, after a crash, the sender's next offer would be refused as `Exists`.
        let record = FileRecord::new(&self.path, &self.offered, &status);
        let (mut recorded, journal) = lock(&self.files).locked(|files| files.append(&[record]))?;
        system.sync(&journal)?;
        check_inode(&self.state, part.as_ref(), &status)?;
        let moved = system.move_in(&self.state, part.as_ref(), &self.folder, &self.name);
        moved.map_err(Denied::of_folder)?;
        self.counts_bytes.store(status.size_bytes.saturating_add(ENTRY_BYTES), Ordering::Relaxed);
        check_inode(&self.folder, &self.name, &status)?;
        if let Some(mode) = mode.filter(|mode| mode & 0o600 != 0o600) {
            system.set_mode(&self.file, mode)?;
            self.sync_data()?;
        }
        system.sync_folder_in(&self.folder)?;
        system.sync_folder_in(&self.state)?;
        // The file is complete; the next session removes a journal that is left over.
        let _ = system.remove_in(&self.state, self.state_name("journal").as_ref());
        Ok(recorded.remove(0))
    }

    /// Whether the file has its final name.
    pub(crate) fn has_name(&self) -> bool {
        self.counts_bytes.load(Ordering::Relaxed) != u64::MAX
    }

    /// Keeps what a later session can continue, and removes the rest.
    pub(crate) fn leave(&self) -> Result<(), Denied> {
        if self.size_bytes.is_some() {
            return self.sync();
        }
        self.discard();
        Ok(())
    }

    /// Removes the incomplete file and its journal.
    pub(crate) fn discard(&self) {
        let _ = self.system.remove_in(&self.state, self.state_name("journal").as_ref());
        if self.system.remove_in(&self.state, self.state_name("part").as_ref()).is_ok() {
            // A complete file counts: it has its name, and is not removed.
            let _ = self.counts_bytes.compare_exchange(u64::MAX, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        self.settle();
    }

    /// Counts what the file leaves on the disk. If that is unknown, the count stays as it is.
    fn settle(&self) {
        let left = match self.counts_bytes.load(Ordering::Relaxed) {
            u64::MAX => self.system.status(&self.file).ok().map(|status| status.size_bytes.saturating_add(ENTRY_BYTES)),
            bytes => Some(bytes),
        };
        if let (Some(reservation), Some(bytes)) = (&self.reservation, left) {
            reservation.settle(bytes);
        }
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        self.settle();
    }
}

impl OpenJournal {
    fn append(&mut self, system: &dyn System, bytes: &[u8]) -> io::Result<()> {
        write_all_at(system, &self.file, bytes, self.bytes)?;
        // Only after all bytes are written: after a failure, the next record overwrites the torn one.
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

/// Returns an error unless this name refers to the file with this status. Without inodes (Windows) it checks nothing.
fn check_inode(folder: &Dir, name: &OsStr, file: &Status) -> io::Result<()> {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        let found = tress_container::sys::Os.metadata_in(folder, name)?;
        if file.identity != Some((found.dev(), found.ino())) {
            return Err(io::Error::other("another process replaced the incomplete file"));
        }
    }
    let _ = (folder, name, file);
    Ok(())
}

#[cfg(test)]
#[path = "store_test.rs"]
mod tests;

#[cfg(all(test, unix))]
#[path = "store_power_test.rs"]
mod power_tests;
