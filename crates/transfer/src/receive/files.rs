//! The journal of a sender's complete files: which version of an input each of them is, so that none is sent twice.
//!
//! `.tress/files` is a header and records. A record is appended and synced before its file gets its name. Each record carries a check, so
//! that what a power cut tears or a disk damages is passed over. A file without a record is refused as existing when it is offered again.
//! Records of removed files stay until the journal has doubled its length; then a new session copies the others, and the newest, whose
//! files may be about to get their names.
//!
//! Several sessions, also of several receivers, may use a journal at the same time: each call holds a lock on the file, and first reads
//! what the others have appended.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, IoSlice, IoSliceMut};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest, Sha256};

use crate::receive::owner;
use crate::wire::message::VersionId;
use crate::wire::names::{STATE_FOLDER, path_of};
use tress_container::sys::{Kind, Opening, Os, Readers, Status, System};
use tress_container::tree::names::MAX_PATH_BYTES;
use tress_container::workers::lock;

/// Name of the journal in the state folder.
pub(crate) const FILES: &str = "files";
/// Name of its copy until that is complete.
const COPY: &str = "files.new";
const MAGIC: &[u8; 16] = b"tress files 1  \n";
const CHECK_BYTES: usize = 8;
/// The magic, the length after the last copy, and the check.
pub(crate) const HEADER_BYTES: usize = MAGIC.len() + 8 + CHECK_BYTES;
/// Length of a record in bytes, without the name: of the name its length, whether it is reported, the check, identity, size, time, inode.
pub(crate) const RECORD_BYTES: usize = 2 + 1 + CHECK_BYTES + 32 + 8 + 16 + 8;
/// Offset of the byte that says whether the file was reported. The check does not cover it, because it changes.
pub(crate) const REPORTED_AT: usize = 2;
const CHECK_AT: usize = REPORTED_AT + 1;
const MAX_RECORD_BYTES: usize = RECORD_BYTES + MAX_PATH_BYTES;
/// The journal is read and copied in blocks of this length: it may be larger than the memory.
const BLOCK_BYTES: usize = 1 << 18;
/// The journal is not copied before this number of bytes was appended, and the copy has the last records of this length.
const COPY_BYTES: u64 = 1 << 20;

/// A record of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileRecord<'a> {
    pub(crate) is_reported: bool,
    pub(crate) identity: VersionId,
    pub(crate) size_bytes: u64,
    pub(crate) modified_ns: i128,
    pub(crate) inode: u64,
    pub(crate) name: &'a [u8],
}

impl<'a> FileRecord<'a> {
    pub(crate) fn new(name: &'a [u8], identity: &VersionId, status: &Status) -> Self {
        let inode = status.identity.map_or(0, |(_, inode)| inode);
        let (size_bytes, modified_ns) = (status.size_bytes, status.modified_ns);
        Self { is_reported: false, identity: *identity, size_bytes, modified_ns, inode, name }
    }

    /// Whether this is a record of the file with this status.
    pub(crate) fn is_of(&self, status: &Status) -> bool {
        *self == Self { is_reported: self.is_reported, ..Self::new(self.name, &self.identity, status) }
    }

    /// Size, time and inode, as in a record.
    pub(crate) fn numbers(&self) -> Vec<u8> {
        [&self.size_bytes.to_be_bytes()[..], &self.modified_ns.to_be_bytes(), &self.inode.to_be_bytes()].concat()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(RECORD_BYTES + self.name.len());
        bytes.extend((self.name.len() as u16).to_be_bytes());
        bytes.extend([u8::from(self.is_reported)]);
        bytes.extend([0; CHECK_BYTES]);
        bytes.extend(self.identity);
        bytes.extend(self.numbers());
        bytes.extend(self.name);
        let check = check(&bytes);
        bytes[CHECK_AT..CHECK_AT + CHECK_BYTES].copy_from_slice(&check);
        bytes
    }

    /// Parses the record at the beginning of these bytes. `None` if it is not complete or not valid.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let name_bytes = usize::from(u16::from_be_bytes(*bytes.first_chunk()?));
        let record = bytes.get(..RECORD_BYTES + name_bytes)?;
        let mut rest = &record[CHECK_AT + CHECK_BYTES..];
        let mut field = |length: usize| rest.split_off(..length);
        let parsed = Self {
            is_reported: record[REPORTED_AT] != 0,
            identity: field(32)?.try_into().ok()?,
            size_bytes: u64::from_be_bytes(field(8)?.try_into().ok()?),
            modified_ns: i128::from_be_bytes(field(16)?.try_into().ok()?),
            inode: u64::from_be_bytes(field(8)?.try_into().ok()?),
            name: rest,
        };
        let is_valid = (1..=MAX_PATH_BYTES).contains(&name_bytes) && record[CHECK_AT..].starts_with(&check(record));
        is_valid.then_some(parsed)
    }

    /// The path of the file, if it is still there, unchanged.
    pub(crate) fn path_if_there(&self, system: &dyn System, root: &Dir) -> Option<PathBuf> {
        let path = path_of(self.name)?;
        let folder = system.open_below(root, path.parent()?).ok()?;
        let status = system.status_in(&folder, path.file_name()?).ok()?;
        (status.kind == Kind::Regular && self.is_of(&status)).then_some(path)
    }

    pub(crate) fn bytes(&self) -> u64 {
        (RECORD_BYTES + self.name.len()) as u64
    }
}

/// The check of a record: a hash of all but the check itself and the byte that may change.
fn check(record: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = Sha256::new().chain_update(&record[..REPORTED_AT]).chain_update(&record[CHECK_AT + CHECK_BYTES..]);
    let hash = hash.finalize();
    std::array::from_fn(|i| hash[i])
}

/// The check in a record.
fn check_of(record: &[u8]) -> [u8; CHECK_BYTES] {
    *record[CHECK_AT..].first_chunk().unwrap_or(&[0; CHECK_BYTES])
}

fn header(copied_bytes: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let (body, check) = header.split_at_mut(HEADER_BYTES - CHECK_BYTES);
    body[..MAGIC.len()].copy_from_slice(MAGIC);
    body[MAGIC.len()..].copy_from_slice(&copied_bytes.to_be_bytes());
    check.copy_from_slice(&Sha256::digest(&*body)[..CHECK_BYTES]);
    header
}

/// Where a record is, and its check: proves that a receipt is about that record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordPlace {
    pub(crate) offset: u64,
    pub(crate) check: [u8; CHECK_BYTES],
}

impl RecordPlace {
    /// Whether a record's first bytes are those of this place's record.
    pub(crate) fn is_of(&self, record: &[u8]) -> bool {
        check_of(record) == self.check
    }
}

/// Whether a received file has been reported: a byte in the file's record. A receiver that is killed before it reports a file can report it
/// when it starts again. A program that needs no such record ignores it.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// Closed with its session: lines that wait for a reader hold no descriptor.
    journal: Weak<File>,
    place: RecordPlace,
    /// The receiver's folder and the sender's name in it, to open the journal again.
    base: Arc<Dir>,
    sender: Arc<str>,
}

/// A record in an open journal.
pub(crate) type Recorded = (Arc<File>, RecordPlace);

impl Receipt {
    pub(crate) fn new((journal, place): &Recorded, base: &Arc<Dir>, sender: &str) -> Self {
        Self { journal: Arc::downgrade(journal), place: *place, base: base.clone(), sender: sender.into() }
    }

    /// Calls `report` unless the file has been reported, and records its success.
    ///
    /// # Errors
    /// The error of `report`. If the record cannot be changed, the file is reported again later.
    pub fn report<E>(&self, report: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let open = || Some(Arc::new(open_files(&self.base, &self.sender).ok()?.1));
        let journal = self.journal.upgrade().or_else(open);
        let mut record = [0; RECORD_BYTES];
        let is_there = |journal: &Arc<File>| {
            read_at(&Os, journal, &mut record, self.place.offset).is_ok() && self.place.is_of(&record)
        };
        let journal = journal.filter(is_there);
        if journal.is_none() || record[REPORTED_AT] == 0 {
            report()?;
            if let Some(journal) = journal {
                let _ = write_all_at(&Os, &journal, &[1], self.place.offset + REPORTED_AT as u64);
            }
        }
        Ok(())
    }
}

/// Opens a sender's folder and the journal in it.
pub(crate) fn open_files(base: &Dir, sender: &str) -> io::Result<(Dir, File)> {
    let root = Os.open_folder_in(base, sender.as_ref())?;
    owner::check(&root, "folder", owner::OTHERS_WRITE)?;
    let state = Os.open_folder_in(&root, STATE_FOLDER.as_ref())?;
    owner::check(&state, STATE_FOLDER, owner::GROUP_OR_OTHERS)?;
    // A folder without a journal gets none.
    let journal = state.open_with(FILES, OpenOptions::new().read(true).write(true))?.into_std();
    Ok((root, journal))
}

/// Calls `each` with all valid records of a journal behind this offset, in order. Returns the offset behind the last one. Bytes that are no
/// valid record are passed one by one: damage hides none of the records behind it.
pub(crate) fn read_records(
    system: &dyn System,
    file: &File,
    mut offset: u64,
    each: &mut dyn FnMut(RecordPlace, FileRecord<'_>),
) -> io::Result<u64> {
    let (mut block, mut filled, mut end) = (vec![0; BLOCK_BYTES], 0, offset);
    loop {
        let count = read_at(system, file, &mut block[filled..], offset + filled as u64)?;
        filled += count;
        // Until the end of the file, a record may not be complete.
        let least = if count == 0 { 1 } else { MAX_RECORD_BYTES };
        let mut done = 0;
        while filled - done >= least {
            let Some(record) = FileRecord::parse(&block[done..filled]) else {
                done += 1;
                continue;
            };
            each(RecordPlace { offset: offset + done as u64, check: check_of(&block[done..]) }, record);
            done += record.bytes() as usize;
            end = offset + done as u64;
        }
        block.copy_within(done..filled, 0);
        (offset, filled) = (offset + done as u64, filled - done);
        if count == 0 {
            return Ok(end);
        }
    }
}

pub(crate) fn read_at(system: &dyn System, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match system.read_at(file, &mut [IoSliceMut::new(buffer)], offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Writes all of these bytes at an offset.
pub(crate) fn write_all_at(system: &dyn System, file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match system.write_at(file, &[IoSlice::new(bytes)], offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => (bytes, offset) = (&bytes[count..], offset + count as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The journals that sessions use, by the identity of their folder: the sessions of one sender share one and its index.
#[derive(Default)]
pub(crate) struct OpenJournals(Mutex<HashMap<(u64, u64), Weak<SharedJournal>>>);

type SharedJournal = Mutex<FileJournal>;

impl OpenJournals {
    /// Opens the journal in a state folder, which it makes if it is missing. Copies it if most records may be those of removed files.
    pub(crate) fn open(&self, system: &'static dyn System, root: &Dir, state: &Dir) -> io::Result<Arc<SharedJournal>> {
        let mut journal = Arc::new(Mutex::new(FileJournal::new(system, state)?));
        // While a journal is open, no other folder gets the identity of its folder.
        if let Some(identity) = system.status_in(state, ".".as_ref())?.identity {
            let mut journals = lock(&self.0);
            journals.retain(|_, journal| journal.strong_count() > 0);
            match journals.get(&identity).and_then(Weak::upgrade) {
                Some(shared) => journal = shared,
                None => drop(journals.insert(identity, Arc::downgrade(&journal))),
            }
        }
        // Reading may take long: only other sessions of this sender wait for it.
        lock(&journal).begin(root)?;
        Ok(journal)
    }
}

/// A hash of a name, under a key of this process. Names may share one: their records have the names.
type NameHash = u64;

/// An open journal.
pub(crate) struct FileJournal {
    system: &'static dyn System,
    state: Dir,
    file: Arc<File>,
    /// Offset behind the last valid record.
    end: u64,
    /// Length after the last copy.
    copied_bytes: u64,
    /// Offset of the last record of each name.
    offsets: HashMap<NameHash, u64>,
    /// Offsets of earlier records of some names. If two sessions receive one file, only one of them gives it its name.
    older: HashMap<NameHash, Vec<u64>>,
    hasher: RandomState,
}

impl FileJournal {
    fn new(system: &'static dyn System, state: &Dir) -> io::Result<Self> {
        let file = Arc::new(system.open_in(state, FILES.as_ref(), Opening::Make)?);
        let (state, offsets, older) = (state.try_clone()?, HashMap::new(), HashMap::new());
        let hasher = RandomState::new();
        Ok(Self { system, state, file, end: 0, copied_bytes: 0, offsets, older, hasher })
    }

    /// Reads the journal, and copies it if it has doubled.
    fn begin(&mut self, root: &Dir) -> io::Result<()> {
        self.locked(|journal| match journal.end > 2 * journal.copied_bytes + COPY_BYTES {
            true => journal.copy_those_left(root),
            false => Ok(()),
        })
    }

    /// Holds the lock during a call, before which the records of others are read.
    pub(crate) fn locked<T>(&mut self, run: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        let result = self.lock_newest().and_then(|()| self.read_new()).and_then(|()| run(self));
        let _ = self.file.unlock();
        result
    }

    /// Locks the file that has the journal's name. After an error the lock may be held.
    fn lock_newest(&mut self) -> io::Result<()> {
        loop {
            // Without support for locks, two receivers must not serve one sender.
            let _ = self.file.lock();
            let named = self.system.open_in(&self.state, FILES.as_ref(), Opening::Make)?;
            if self.system.status(&named)?.identity == self.system.status(&self.file)?.identity {
                return Ok(());
            }
            // Another session has copied it.
            self.reopen(named);
        }
    }

    fn reopen(&mut self, file: File) {
        // A sync may keep the old file open, and other sessions wait for its lock before they see the copy.
        let _ = self.file.unlock();
        (self.file, self.end) = (Arc::new(file), 0);
        self.offsets.clear();
        self.older.clear();
    }

    /// Reads the records that were appended since the last call, and cuts off what is not valid.
    fn read_new(&mut self) -> io::Result<()> {
        let length_bytes = self.system.status(&self.file)?.size_bytes;
        if self.end == 0 {
            let mut first = [0; HEADER_BYTES];
            let filled = read_at(self.system, &self.file, &mut first, 0)?;
            self.copied_bytes =
                first.get(MAGIC.len()..).and_then(|rest| rest.first_chunk()).copied().map_or(0, u64::from_be_bytes);
            if filled < HEADER_BYTES || first != header(self.copied_bytes) {
                self.write_header()?;
            }
            self.end = HEADER_BYTES as u64;
        }
        if length_bytes > self.end {
            let (system, file, end) = (self.system, self.file.clone(), self.end);
            let note = &mut |place: RecordPlace, record: FileRecord<'_>| self.note(record.name, place.offset);
            let read = read_records(system, &file, end, note);
            if read.is_err() {
                // The next call would note the records before the error twice.
                self.end = 0;
                self.offsets.clear();
                self.older.clear();
            }
            self.end = read?;
        }
        if length_bytes > self.end { self.system.set_length(&self.file, self.end) } else { Ok(()) }
    }

    /// Writes the header of a new journal, or of one whose header is damaged.
    fn write_header(&mut self) -> io::Result<()> {
        self.copied_bytes = 0;
        write_all_at(self.system, &self.file, &header(0), 0)?;
        self.system.sync(&self.file)?;
        self.system.sync_folder_in(&self.state)
    }

    /// Appends records. The caller syncs them, by the returned handle, and not under the lock: a sync may take long.
    pub(crate) fn append(&mut self, records: &[FileRecord<'_>]) -> io::Result<(Vec<Recorded>, Arc<File>)> {
        let (mut bytes, mut offsets) = (Vec::new(), Vec::with_capacity(records.len()));
        for record in records {
            offsets.push(self.end + bytes.len() as u64);
            bytes.extend(record.encode());
        }
        // After a failure the next records overwrite these.
        write_all_at(self.system, &self.file, &bytes, self.end)?;
        let recorded = offsets.iter().map(|&offset| {
            let record = &bytes[(offset - self.end) as usize..];
            (self.file.clone(), RecordPlace { offset, check: check_of(record) })
        });
        let recorded = recorded.collect();
        self.end += bytes.len() as u64;
        records.iter().zip(offsets).for_each(|(record, offset)| self.note(record.name, offset));
        Ok((recorded, self.file.clone()))
    }

    fn note(&mut self, name: &[u8], offset: u64) {
        let hash = self.hasher.hash_one(name);
        if let Some(older) = self.offsets.insert(hash, offset) {
            self.older.entry(hash).or_default().push(older);
        }
    }

    /// Whether there is such a record of this name.
    pub(crate) fn has(&self, name: &[u8], is_this: impl Fn(&FileRecord<'_>) -> bool) -> io::Result<bool> {
        let hash = self.hasher.hash_one(name);
        for &offset in self.offsets.get(&hash).into_iter().chain(self.older.get(&hash).into_iter().flatten()) {
            if FileRecord::parse(&self.record_bytes(offset)?).is_some_and(|found| found.name == name && is_this(&found))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The bytes of the record at this offset, and others behind it.
    fn record_bytes(&self, offset: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; MAX_RECORD_BYTES];
        let mut filled = 0;
        while FileRecord::parse(&bytes[..filled]).is_none() {
            match read_at(self.system, &self.file, &mut bytes[filled..], offset + filled as u64)? {
                0 => break,
                count => filled += count,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Copies the records of files that are still there, and the newest ones, and replaces the journal with the copy.
    fn copy_those_left(&mut self, root: &Dir) -> io::Result<()> {
        self.system.remove_in(&self.state, COPY.as_ref())?;
        let copy = self.system.open_in(&self.state, COPY.as_ref(), Opening::New(Readers::Owner))?;
        let (mut block, mut end) = (Vec::new(), HEADER_BYTES as u64);
        let mut write_block = |block: &mut Vec<u8>| -> io::Result<u64> {
            write_all_at(self.system, &copy, block, end)?;
            end += block.len() as u64;
            block.clear();
            Ok(end)
        };
        let mut offsets: Vec<u64> = self.offsets.values().chain(self.older.values().flatten()).copied().collect();
        offsets.sort_unstable();
        for offset in offsets {
            let record = self.record_bytes(offset)?;
            let Some(record) = FileRecord::parse(&record) else { continue };
            if offset + COPY_BYTES > self.end || record.path_if_there(self.system, root).is_some() {
                block.extend(record.encode());
            }
            if block.len() >= BLOCK_BYTES {
                write_block(&mut block)?;
            }
        }
        let length_bytes = write_block(&mut block)?;
        write_all_at(self.system, &copy, &header(length_bytes), 0)?;
        self.system.sync(&copy)?;
        drop(copy);
        if self.system.rename_in(&self.state, COPY.as_ref(), FILES.as_ref()).is_err() {
            // Some systems do not replace a file that is open. Without its copy the journal only is longer.
            let _ = self.system.remove_in(&self.state, COPY.as_ref());
            return Ok(());
        }
        self.system.sync_folder_in(&self.state)?;
        let file = self.system.open_in(&self.state, FILES.as_ref(), Opening::Make)?;
        let _ = file.lock();
        self.reopen(file);
        self.read_new()
    }
}

#[cfg(test)]
#[path = "files_test.rs"]
mod tests;
