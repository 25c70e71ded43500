//! The journal of complete files: written records read back, damage costs one record, several sessions share it, copies leave out what is
//! gone, records of version 0.2 are adopted.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::receive::leftovers::adopt_done_records;
use tress_container::sys::Os;

static OS: Os = Os;
const IDENTITY: VersionId = [5; 32];

fn status() -> Status {
    OS.status_of(std::path::Path::new(".")).unwrap()
}

struct JournalFolder {
    root: tempfile::TempDir,
    folder: Dir,
}

impl JournalFolder {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(".tress")).unwrap();
        let folder = Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        Self { root, folder }
    }

    fn open(&self) -> FileJournal {
        self.open_on(&OS).unwrap()
    }

    fn open_on(&self, system: &'static dyn System) -> io::Result<FileJournal> {
        let mut journal = FileJournal::new(system, &self.folder.open_dir(".tress").unwrap())?;
        journal.begin(&self.folder).map(|()| journal)
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.root.path().join(".tress/files")).unwrap()
    }
}

fn append(journal: &mut FileJournal, names: &[&str]) {
    let status = status();
    let records: Vec<_> = names.iter().map(|name| FileRecord::new(name.as_bytes(), &IDENTITY, &status)).collect();
    journal.locked(|journal| journal.append(&records)).unwrap();
}

fn has(journal: &mut FileJournal, name: &str) -> bool {
    let status = status();
    journal.locked(|journal| journal.has(name.as_bytes(), |record| record.is_of(&status))).unwrap()
}

#[test]
fn sessions_share_a_journal() {
    let folder = JournalFolder::new();
    let (mut one, mut other) = (folder.open(), folder.open());
    append(&mut one, &["a", "b"]);
    append(&mut other, &["c"]);
    append(&mut one, &["d"]);
    for journal in [&mut one, &mut other, &mut folder.open()] {
        assert!(["a", "b", "c", "d"].iter().all(|name| has(journal, name)) && !has(journal, "e"));
    }
    assert_eq!(folder.bytes().len(), HEADER_BYTES + 4 * (RECORD_BYTES + 1));
    const { assert!(RECORD_BYTES <= 100) };
    // A record that another session has added does not hide the right one.
    let other_status = Status { size_bytes: 7, ..status() };
    other.locked(|journal| journal.append(&[FileRecord::new(b"a", &IDENTITY, &other_status)])).unwrap();
    assert!(has(&mut one, "a") && has(&mut folder.open(), "a"));
    // In one receiver they share the index, too, unless the folder was removed and made again.
    let journals = OpenJournals::default();
    let open = || journals.open(&OS, &folder.folder, &folder.folder.open_dir(".tress").unwrap()).unwrap();
    let (one, other) = (open(), open());
    assert!(Arc::ptr_eq(&one, &other) && has(&mut lock(&other), "a"));
    // Windows renames no folder in which a file is open.
    if !cfg!(windows) {
        fs::rename(folder.root.path().join(".tress"), folder.root.path().join("old")).unwrap();
        fs::create_dir(folder.root.path().join(".tress")).unwrap();
        assert!(!has(&mut lock(&open()), "a") && has(&mut lock(&one), "a"));
    }
}

/// Whichever call on the disk fails while a doubled journal is opened and copied: the lock, for which other sessions wait without a limit,
/// is free afterwards, and no newest record is lost.
#[test]
#[cfg_attr(windows, ignore = "Wine replaces no file that is open")]
fn a_failed_call_keeps_no_lock_and_loses_no_record() {
    use tress_container::testing::faulty::{Fault, Faulty};
    let (names, long) = doubled();
    for fails in 0.. {
        let folder = JournalFolder::new();
        fs::write(folder.root.path().join(".tress/files"), &long).unwrap();
        let system = Faulty::leak(fails, Fault::Error(io::ErrorKind::StorageFull));
        let journal = folder.open_on(system).map(|mut journal| {
            let _ = journal.locked(|_| Ok(()));
            journal
        });
        fs::File::open(folder.root.path().join(".tress/files")).unwrap().try_lock().unwrap();
        drop(journal);
        assert!(has(&mut folder.open(), names.last().unwrap()), "{fails}");
        assert_eq!(fs::read_dir(folder.root.path().join(".tress")).unwrap().count(), 1, "{fails}");
        if !system.has_failed() {
            assert!(folder.bytes().len() < long.len() && fails > 15, "{fails}");
            break;
        }
    }
}

/// The bytes of a journal that has doubled, and the names in it, which no file has.
fn doubled() -> (Vec<String>, Vec<u8>) {
    let folder = JournalFolder::new();
    // Long ones: few records are soon read again for each call that fails.
    let names: Vec<String> = (0..300).map(|number| format!("{number:04000}")).collect();
    append(&mut folder.open(), &names.iter().map(String::as_str).collect::<Vec<_>>());
    (names, folder.bytes())
}

/// Of all but the last MiB, the copy has the records of files that are there. Other sessions continue with the copy.
#[test]
#[cfg_attr(windows, ignore = "Wine replaces no file that is open")]
fn a_journal_is_copied_when_it_has_doubled() {
    let folder = JournalFolder::new();
    let mut one = folder.open();
    fs::write(folder.root.path().join("there"), "").unwrap();
    let there = OS.status_of(&folder.root.path().join("there")).unwrap();
    let record = FileRecord::new(b"there", &IDENTITY, &there);
    let (_, old) = one.locked(|journal| journal.append(&[record, FileRecord { size_bytes: 9, ..record }])).unwrap();
    let names: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
    append(&mut one, &names.iter().map(String::as_str).collect::<Vec<_>>());
    let long_bytes = folder.bytes().len();
    assert!(long_bytes > COPY_BYTES as usize * 3 / 2);
    // A sync keeps the old file open, for whose lock a session that has not found the copy yet waits.
    let waiting = fs::File::open(folder.root.path().join(".tress/files")).unwrap();
    for journal in [&mut folder.open(), &mut one] {
        let kept = |journal: &mut FileJournal, size_bytes| {
            let is_this = |found: &FileRecord<'_>| *found == FileRecord { size_bytes, ..record };
            journal.locked(|journal| journal.has(b"there", is_this)).unwrap()
        };
        assert_eq!((kept(journal, 0), kept(journal, 9)), (true, false));
        assert_eq!(["7", "19999"].map(|name| has(journal, name)), [false, true]);
    }
    waiting.try_lock().unwrap();
    drop(old);
    assert!((COPY_BYTES as usize..COPY_BYTES as usize + 500).contains(&folder.bytes().len()));
}

#[test]
fn done_records_of_version_0_2_are_adopted() {
    let folder = JournalFolder::new();
    let path = |name: &str| folder.root.path().join(name);
    fs::create_dir(path("d")).unwrap();
    for name in ["d/reported", "new", "changed"] {
        fs::write(path(name), name).unwrap();
        let record = FileRecord::new(&[], &IDENTITY, &OS.status_of(&path(name)).unwrap());
        let shown = if name == "new" { "new" } else { "" };
        let done = [&b"tress done 1\n"[..], &IDENTITY, &record.numbers(), shown.as_bytes()].concat();
        let stem = crate::receive::journal::stem(name.as_bytes());
        fs::write(path(&format!(".tress/{stem}.done")), &done).unwrap();
        fs::write(path(".tress/00000000000000000000000000000000.done"), &done).unwrap();
    }
    fs::write(path("changed"), "another content").unwrap();
    let (mut journal, state) = (folder.open(), folder.folder.open_dir(".tress").unwrap());
    adopt_done_records(&OS, &folder.folder, &state, &mut journal).unwrap();
    assert_eq!(fs::read_dir(path(".tress")).unwrap().count(), 1);
    let mut found = Vec::new();
    let each = &mut |_, record: FileRecord<'_>| {
        let name = std::str::from_utf8(record.name).unwrap();
        assert!(record.is_of(&OS.status_of(&path(name)).unwrap()) && record.identity == IDENTITY);
        found.push((name.to_string(), record.is_reported));
    };
    read_records(&OS, &journal.file, HEADER_BYTES as u64, each).unwrap();
    found.sort();
    assert_eq!(found, [("d/reported".to_string(), true), ("new".to_string(), false)]);
}

proptest! {
    /// A flipped bit costs one record at most, and invents none. Only the byte for reports may change.
    #[test]
    fn damage_costs_one_record(at in 0_usize..HEADER_BYTES + 3 * (RECORD_BYTES + 1), bit in 0..8) {
        let folder = JournalFolder::new();
        append(&mut folder.open(), &["a", "b", "c"]);
        let mut bytes = folder.bytes();
        bytes[at] ^= 1_u8 << bit;
        fs::write(folder.root.path().join(".tress/files"), &bytes).unwrap();
        let journal = &mut folder.open();
        let lost = at.checked_sub(HEADER_BYTES).map(|at| (at / (RECORD_BYTES + 1), at % (RECORD_BYTES + 1)));
        let is_there = |number| lost.is_none_or(|(record, within)| record != number || within == REPORTED_AT);
        prop_assert_eq!(["a", "b", "c"].map(|name| has(journal, name)), [0, 1, 2].map(is_there));
        append(journal, &["d"]);
        prop_assert!(has(&mut folder.open(), "d"));
    }
}
