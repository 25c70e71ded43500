//! Lists and packs at the receiver's disk. All files of the packs that are complete at a time are written to a folder of the session below
//! the state folder, synced together, recorded in the journal, and renamed; then their folders are synced once each.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use cap_std::fs::Dir;

use crate::receive::files::{FileJournal, FileRecord, Recorded, write_all_at};
use crate::receive::folders::make_folder;
use crate::receive::journal::stem;
use crate::receive::leftovers::{LOCK, SCRATCH, Scratch, remove_scratch};
use crate::receive::packs::ArrivingPack;
use crate::receive::quota::{ENTRY_BYTES, Reservation};
use crate::receive::store::{Denied, SenderStore};
use crate::wire::message::{Entry, EntryKind, EntryStatus, Metadata, VersionId};
use crate::wire::names::{components, link_stays_inside};
use tress_container::Refusal;
use tress_container::format::fill_random;
use tress_container::sys::{Opening, Readers, Status, System};
use tress_container::threads::start;
use tress_container::tree::names::to_os;
use tress_container::workers::lock;

/// Up to this number of files are synced one by one.
const FEW_FILES: usize = 8;
/// Threads that write packs.
const THREADS: usize = 8;

/// The folder that was opened last.
type Parent = Option<(Vec<u8>, Arc<Dir>)>;

/// A file that is written to the scratch folder.
struct StagedFile {
    name: OsString,
    pack: usize,
    index: usize,
    path: Vec<u8>,
    identity: VersionId,
    status: Status,
}

/// The status of a listed entry.
pub(crate) type Listed = Result<EntryStatus, Denied>;

/// The record of a file that got its name, `None` if it was there, or why it did not get its name.
pub(crate) type Kept = Result<Option<Recorded>, Denied>;

impl SenderStore {
    /// Looks at the entries of a list: makes folders and links, and says which files are wanted.
    pub(crate) fn list(&self, entries: &[Entry]) -> io::Result<(Vec<Listed>, Option<Reservation>)> {
        let reservation = self.usage.as_ref().map(|usage| usage.file(0));
        let (mut parent, mut reserved_bytes, mut unsynced) = (None, 0, Folders::default());
        let statuses = lock(&self.files).locked(|files| {
            let listed = entries.iter().map(|entry| {
                let status = self.entry(entry, files, &mut parent, &mut unsynced)?;
                if let Some(reservation) = reservation.as_ref().filter(|_| status == EntryStatus::Wanted) {
                    let bytes = entry.content_bytes().saturating_add(ENTRY_BYTES);
                    reservation.grow_to(reserved_bytes + bytes)?;
                    reserved_bytes += bytes;
                }
                Ok(status)
            });
            Ok(listed.collect())
        })?;
        // A complete file may have its name while the name is not synced.
        unsynced.sync(self.system).inspect_err(|_| reservation.iter().for_each(|reserved| reserved.settle(0)))?;
        Ok((statuses, reservation))
    }

    fn entry(
        &self,
        entry: &Entry,
        files: &FileJournal,
        parent: &mut Parent,
        unsynced: &mut Folders,
    ) -> Result<EntryStatus, Denied> {
        let names = components(&entry.path).map_err(Denied::name)?;
        let Some((name, parents)) = names.split_last() else { return Err(Refusal::Name.into()) };
        match &entry.kind {
            EntryKind::Folder => {
                let folder = self.descend(&names)?;
                self.set_folder_metadata(&folder, &entry.metadata)?;
                Ok(EntryStatus::Complete)
            }
            EntryKind::File { size_bytes, identity } => {
                let folder = self.parent(parents, parent)?;
                let name = to_os(name).ok_or(Refusal::Name)?;
                if !self.system.exists_in(&folder, name)? {
                    let is_unfinished = !self.unfinished.is_empty() && self.unfinished.contains(&stem(&entry.path));
                    return Ok(if is_unfinished { EntryStatus::Unfinished } else { EntryStatus::Wanted });
                }
                if !self.is_done_in(files, &folder, name, &entry.path, identity, Some(*size_bytes))? {
                    return Err(Refusal::Exists.into());
                }
                unsynced.add(self.system, &folder)?;
                Ok(EntryStatus::Complete)
            }
            EntryKind::Link { target } => {
                if !link_stays_inside(parents.len(), target) {
                    return Err(Denied::name("the link leads out of the sender's folder"));
                }
                // An error if one of these is a link.
                let folder = self.parent(parents, parent)?;
                self.link(&folder, to_os(name).ok_or(Refusal::Name)?, target, &entry.metadata)?;
                unsynced.add(self.system, &folder)?;
                Ok(EntryStatus::Complete)
            }
        }
    }

    /// Opens the folder with these names, unless it was the last one that was opened.
    fn parent(&self, names: &[&[u8]], last: &mut Parent) -> Result<Arc<Dir>, Denied> {
        let path = names.join(&b'/');
        if let Some((of, folder)) = last
            && *of == path
        {
            return Ok(folder.clone());
        }
        let folder = Arc::new(self.descend(names)?);
        *last = Some((path, folder.clone()));
        Ok(folder)
    }

    /// The folder of a file, and its name there.
    fn place<'p>(&self, path: &'p [u8], last: &mut Parent) -> Result<(Arc<Dir>, &'p OsStr), Denied> {
        let names = components(path).map_err(Denied::name)?;
        let Some((name, parents)) = names.split_last() else { return Err(Refusal::Name.into()) };
        Ok((self.parent(parents, last)?, to_os(name).ok_or(Refusal::Name)?))
    }

    fn link(&self, folder: &Dir, name: &OsStr, target: &[u8], metadata: &Metadata) -> Result<(), Denied> {
        let target = to_os(target).ok_or(Refusal::Name)?;
        if self.system.exists_in(folder, name)? {
            let is_same = self.system.read_link_in(folder, name).is_ok_and(|found| found == target);
            return if is_same { Ok(()) } else { Err(Refusal::Exists.into()) };
        }
        let usage = self.usage.as_ref();
        usage.map_or(Ok(()), |usage| usage.add(ENTRY_BYTES))?;
        let made = self.system.create_link_in(folder, name, target);
        made.inspect_err(|_| usage.into_iter().for_each(|usage| usage.give_back(ENTRY_BYTES)))?;
        metadata.modified.map_or(Ok(()), |time| self.system.set_modified(folder, name, time))?;
        Ok(())
    }

    /// The receiver's user keeps all rights, and others get none to change the folder: both would refuse the next files in it.
    fn set_folder_metadata(&self, folder: &Dir, metadata: &Metadata) -> io::Result<()> {
        if let Some(mode) = metadata.mode {
            self.system.set_folder_mode(folder, ".".as_ref(), u32::from(mode | 0o700) & !0o002)?;
        }
        metadata.modified.map_or(Ok(()), |time| self.system.set_modified(folder, ".".as_ref(), time))
    }

    /// Gives the files of complete packs their names. When this returns, files and names are synced. The result has, for each pack, what
    /// has become of its files, by their numbers in the list.
    pub(crate) fn commit(&self, packs: &[Arc<ArrivingPack>]) -> Result<Vec<Vec<(usize, Kept)>>, Denied> {
        let mut scratch = lock(&self.scratch);
        if scratch.is_none() {
            *scratch = Some(self.make_scratch()?);
        }
        let Some(scratch) = scratch.as_ref() else { return Err(Refusal::Io.into()) };
        let count: usize = packs.iter().map(|pack| pack.wanted()).sum();
        let syncs_all = count > FEW_FILES && reports_sync_errors();
        // The names of a pack's files are numbers, and two packs share none.
        let firsts = packs.iter().scan(0, |first, pack| Some(std::mem::replace(first, *first + pack.entries.len())));
        let firsts: Vec<usize> = firsts.collect();
        let stage = |number: usize| -> io::Result<Vec<StagedFile>> {
            let mut staged = Vec::new();
            packs[number].each_file(|index, entry, content| {
                let EntryKind::File { identity, .. } = entry.kind else { return Ok(()) };
                let name = OsString::from((firsts[number] + index).to_string());
                let status = self.stage(&scratch.folder, &name, entry, content, syncs_all)?;
                staged.push(StagedFile { name, pack: number, index, path: entry.path.clone(), identity, status });
                Ok::<(), io::Error>(())
            })?;
            Ok(staged)
        };
        let staged: Vec<StagedFile> = in_parallel(packs.len(), stage)?.into_iter().flatten().collect();
        let mut folders = Folders { syncs_all, ..Folders::default() };
        let kept = self.name_staged(&scratch.folder, packs, &staged, &mut folders)?;
        folders.add(self.system, &scratch.folder)?;
        folders.sync(self.system)?;
        let mut results: Vec<Vec<(usize, Kept)>> = packs.iter().map(|_| Vec::new()).collect();
        for (file, kept) in staged.iter().zip(kept) {
            results[file.pack].push((file.index, kept));
        }
        Ok(results)
    }

    /// Writes a file to the scratch folder, and syncs it unless one sync will have all contents and their records.
    fn stage(&self, scratch: &Dir, name: &OsStr, entry: &Entry, content: &[u8], syncs_all: bool) -> io::Result<Status> {
        let make = || self.system.open_in(scratch, name, Opening::New(Readers::Umask));
        let file = match make() {
            // An earlier file that did not get its name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.system.remove_in(scratch, name)?;
                make()?
            }
            made => made?,
        };
        write_all_at(self.system, &file, content, 0)?;
        if let Some(mode) = entry.metadata.mode {
            self.system.set_mode(&file, mode.into())?;
        }
        if let Some(time) = entry.metadata.modified {
            self.system.set_modified(scratch, name, time)?;
        }
        if !syncs_all {
            self.system.sync(&file)?;
        }
        self.system.status(&file)
    }

    /// Records the files whose names are free, and renames them. A renamed file counts for the quota, also if a later one fails.
    fn name_staged(
        &self,
        scratch: &Dir,
        packs: &[Arc<ArrivingPack>],
        staged: &[StagedFile],
        folders: &mut Folders,
    ) -> io::Result<Vec<Kept>> {
        let (mut parent, mut paths) = (None, HashSet::new());
        let mut is_free = |file: &StagedFile| -> Result<bool, Denied> {
            let (folder, name) = self.place(&file.path, &mut parent)?;
            // One run may send two files under one name.
            if !paths.insert(file.path.clone()) {
                return Err(Refusal::Exists.into());
            }
            if !self.system.exists_in(&folder, name)? {
                return Ok(true);
            }
            // Another session may have received the same version since the list.
            let is_done =
                |files: &mut FileJournal| self.is_done_in(files, &folder, name, &file.path, &file.identity, None);
            if lock(&self.files).locked(is_done)? { Ok(false) } else { Err(Refusal::Exists.into()) }
        };
        let free: Vec<_> = staged.iter().map(&mut is_free).collect();
        let named = staged.iter().zip(&free).filter(|(_, is_free)| matches!(is_free, Ok(true)));
        let records: Vec<_> =
            named.map(|(file, _)| FileRecord::new(&file.path, &file.identity, &file.status)).collect();
        // The records come before the names: otherwise, after a crash, the sender's next offer would be refused as `Exists`.
        let (recorded, journal) = lock(&self.files).locked(|files| files.append(&records))?;
        match folders.syncs_all {
            // Contents and records.
            true => self.system.sync_all(scratch)?,
            false => self.system.sync(&journal)?,
        }
        let mut recorded = recorded.into_iter();
        let mut kept = Vec::with_capacity(staged.len());
        for (file, is_free) in staged.iter().zip(free) {
            kept.push(match is_free {
                Ok(true) => {
                    let recorded = recorded.next();
                    // Opened again: the folders of all packs together are more descriptors than a session may hold.
                    let moved = self.place(&file.path, &mut parent).and_then(|(folder, name)| {
                        match self.system.move_in(scratch, &file.name, &folder, name) {
                            Ok(()) => Ok(folder),
                            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Refusal::Exists.into()),
                            Err(error) => Err(Denied::of_folder(error)),
                        }
                    });
                    if let Ok(folder) = &moved {
                        packs[file.pack].keep(file.status.size_bytes.saturating_add(ENTRY_BYTES));
                        // An error is about the names of files before this one.
                        folders.add(self.system, folder)?;
                    }
                    moved.map(|_| recorded)
                }
                Ok(false) => Ok(None),
                Err(denied) => Err(denied),
            });
        }
        Ok(kept)
    }

    /// Makes the session's folder for packs. No other session tidies at the same time: that needs the lock of the journal.
    fn make_scratch(&self) -> io::Result<Scratch> {
        let mut random = [0; 8];
        fill_random(&mut random).map_err(io::Error::other)?;
        let name = format!("{SCRATCH}{:016x}", u64::from_ne_bytes(random));
        lock(&self.files).locked(|_| {
            let (folder, _) = make_folder(self.system, &self.state, name.as_ref(), Readers::Owner, false)?;
            let file = self.system.open_in(&folder, LOCK.as_ref(), Opening::Make)?;
            let _ = file.try_lock();
            Ok(Scratch { name, folder: Arc::new(folder), lock: file })
        })
    }
}

impl Drop for SenderStore {
    fn drop(&mut self) {
        if let Some(Scratch { name, folder, lock: file }) = lock(&self.scratch).take() {
            // Windows removes no open file.
            drop(file);
            let _ = remove_scratch(self.system, &self.state, name.as_ref(), folder);
        }
    }
}

/// Folders whose names are to be synced: together, or each one when the next one comes.
#[derive(Default)]
struct Folders {
    syncs_all: bool,
    last: Option<Arc<Dir>>,
}

impl Folders {
    fn add(&mut self, system: &dyn System, folder: &Arc<Dir>) -> io::Result<()> {
        if self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, folder)) {
            return Ok(());
        }
        if !self.syncs_all {
            self.sync(system)?;
        }
        self.last = Some(folder.clone());
        Ok(())
    }

    fn sync(&mut self, system: &dyn System) -> io::Result<()> {
        match self.last.take() {
            Some(last) if self.syncs_all => system.sync_all(&last),
            Some(last) => system.sync_folder_in(&last),
            None => Ok(()),
        }
    }
}

/// Does the jobs below `count` on several threads, or on fewer if the system refuses some. Returns the results in order, or an error of
/// one.
fn in_parallel<T: Send>(count: usize, job: impl Fn(usize) -> io::Result<T> + Sync) -> io::Result<Vec<T>> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    let work = || -> io::Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            let result = job(number)?;
            lock(&results).push((number, result));
        }
    };
    thread::scope(|scope| {
        let helpers: Vec<_> = (1..THREADS.min(count)).flat_map(|_| start(scope, work)).collect();
        let done = work();
        let join =
            |helper: ScopedJoinHandle<'_, io::Result<()>>| helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        helpers.into_iter().map(join).fold(done, Result::and)
    })?;
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Whether the system says when a sync of a whole file system has failed: Linux 5.8 and later do.
fn reports_sync_errors() -> bool {
    #[cfg(target_os = "linux")]
    {
        let release = rustix::system::uname();
        let release = release.release().to_string_lossy();
        let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
        (numbers.next(), numbers.next()) >= (Some(5), Some(8))
    }
    #[cfg(not(target_os = "linux"))]
    false
}
