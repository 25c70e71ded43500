//! Tests of the receiver's folder: resumed files, refused offers, failing disks.
#![allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is meant")]

use std::fs;
use std::ops::Range;
use std::path::Path;

use super::*;
use crate::receive::folders::open_base;
use crate::receive::quota::Quotas;
use crate::wire::message::{Entry, EntryKind};
use tress_container::sys::Os;
use tress_container::testing::faulty::{Fault, Faulty};

static OS: Os = Os;
const IDENTITY: VersionId = [5; 32];
/// Plaintext bytes of a batch of 32 chunks.
const BATCH: u64 = 32 * 16_384;
const SEALED_BATCH: usize = 32 * 16_400;

struct StoreFolder {
    root: tempfile::TempDir,
}

impl StoreFolder {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> SenderStore {
        self.open(&OS).unwrap()
    }

    fn open(&self, system: &'static dyn System) -> io::Result<SenderStore> {
        let (base, journals) = (open_base(&OS, self.root.path()).unwrap(), OpenJournals::default());
        SenderStore::open(system, &base, "sender", &journals, |_| Ok(None))
    }

    fn with_quota(&self, system: &'static dyn System, quotas: &Quotas) -> io::Result<SenderStore> {
        let (base, journals) = (open_base(&OS, self.root.path()).unwrap(), OpenJournals::default());
        SenderStore::open(system, &base, "sender", &journals, |root| quotas.of(&[1; 32], root))
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join("sender").join(name)
    }

    /// The endings of the files of unfinished transfers.
    fn state(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(STATE_FOLDER))
            .unwrap()
            .filter_map(|entry| Some(entry.unwrap().file_name().into_string().unwrap().split_once('.')?.1.to_string()))
            .collect();
        names.sort();
        names
    }
}

impl SenderStore {
    /// Makes a folder, as an entry of a list does.
    pub(super) fn folder(&self, path: &[u8]) -> Result<(), Denied> {
        let entry = Entry { kind: EntryKind::Folder, metadata: Metadata::default(), path: path.to_vec() };
        self.list(&[entry]).unwrap().0.remove(0).map(drop)
    }
}

fn part(offered: Result<Offered, Denied>) -> Box<PartFile> {
    match offered {
        Ok(Offered::PartFile(part)) => part,
        Ok(Offered::Complete) => panic!("complete"),
        Err(denied) => panic!("{denied:?}"),
    }
}

fn reason(offered: Result<Offered, Denied>) -> Refusal {
    match offered {
        Err(denied) => denied.reason,
        Ok(_) => panic!("taken"),
    }
}

/// The batch with this number of a file of this size. All of its bytes are the number.
fn batch(number: u64, size: u64) -> Batch {
    let mut batch = Batch::new(LAYOUT, 32);
    let chunks = number * 32..(number * 32 + 32).min(size / 16_384 + 1);
    batch.hold(chunks.start, batch_sealed_bytes(size, &chunks).unwrap(), chunks.end == LAYOUT.chunks(size));
    batch.sealed_mut().fill(number as u8);
    batch
}

fn write(part: &PartFile, numbers: Range<u64>, size: u64) {
    for number in numbers {
        part.write(&batch(number, size)).unwrap();
    }
}

#[test]
fn only_what_was_synced_is_held() {
    let folder = StoreFolder::new();
    let size = 4 * BATCH + 9;
    let first = part(folder.store().offer(b"a/b", &IDENTITY, Some(size), false));
    write(&first, 0..2, size);
    first.sync().unwrap();
    write(&first, 2..4, size);
    assert!(!folder.path("a/b").exists());
    drop(first);
    let second = part(folder.store().offer(b"a/b", &IDENTITY, Some(size), false));
    assert_eq!(second.synced(), [0..64]);
    assert!(!second.is_whole(size));
    write(&second, 2..5, size);
    assert!(second.is_whole(size) && !second.is_whole(size - 1));
    second.complete().unwrap();
    // Windows does not rename an open file.
    drop(second);
    let expected: Vec<u8> = (0..size).map(|offset| (offset / BATCH) as u8).collect();
    assert!(fs::read(folder.path("a/b")).unwrap() == expected);
    assert_eq!(folder.state(), [""; 0]);
    // The same version is complete; another version is refused.
    assert!(matches!(folder.store().offer(b"a/b", &IDENTITY, Some(size), false), Ok(Offered::Complete)));
    assert_eq!(reason(folder.store().offer(b"a/b", &[6; 32], Some(size), false)), Refusal::Exists);
    for other in [size - 1, size + 1] {
        assert_eq!(reason(folder.store().offer(b"a/b", &IDENTITY, Some(other), false)), Refusal::Exists);
    }
    // A file that was changed at the receiver is no longer that version.
    fs::write(folder.path("a/b"), b"changed").unwrap();
    assert_eq!(reason(folder.store().offer(b"a/b", &IDENTITY, Some(size), false)), Refusal::Exists);
    assert_eq!(reason(folder.store().offer(b"a/b", &IDENTITY, Some(size), true)), Refusal::Exists);
    // Nobody writes into this pipe.
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, FileType, mknodat};
        fs::remove_file(folder.path("a/b")).unwrap();
        mknodat(CWD, folder.path("a/b"), FileType::Fifo, 0o600.into(), 0).unwrap();
        assert_eq!(reason(folder.store().offer(b"a/b", &IDENTITY, Some(size), false)), Refusal::Exists);
    }
}

#[test]
fn another_version_needs_restart() {
    let folder = StoreFolder::new();
    let size = 2 * BATCH;
    let first = part(folder.store().offer(b"a", &IDENTITY, Some(size), false));
    // No other session can take the file while it is open.
    assert_eq!(reason(folder.store().offer(b"a", &IDENTITY, Some(size), false)), Refusal::TooMany);
    write(&first, 0..1, size);
    first.sync().unwrap();
    drop(first);
    assert_eq!(reason(folder.store().offer(b"a", &[6; 32], Some(size), false)), Refusal::OtherVersion);
    assert_eq!(reason(folder.store().offer(b"a", &IDENTITY, Some(size + 1), false)), Refusal::OtherVersion);
    let anew = part(folder.store().offer(b"a", &[6; 32], Some(size), true));
    assert_eq!(anew.synced(), []);
    anew.discard();
    drop(anew);
    assert!(folder.state().is_empty());
}

#[test]
fn a_journal_that_promises_more_than_the_file_has() {
    let folder = StoreFolder::new();
    let size = 3 * BATCH;
    let first = part(folder.store().offer(b"a", &IDENTITY, Some(size), false));
    write(&first, 0..3, size);
    first.sync().unwrap();
    drop(first);
    let state = folder.path(STATE_FOLDER);
    let data = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
    let data = data.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "part")).unwrap();
    fs::File::options().write(true).open(data).unwrap().set_len(BATCH).unwrap();
    assert_eq!(part(folder.store().offer(b"a", &IDENTITY, Some(size), false)).synced(), []);
}

#[test]
fn scattered_chunks_have_a_bound() {
    let folder = StoreFolder::new();
    for size in [Some(1 << 40), None] {
        let part = part(folder.store().offer(b"a", &IDENTITY, size, true));
        let one = |chunk| part.admits(chunk, SEALED_BATCH / 32);
        for piece in 0..MAX_PIECES as u64 - 1 {
            part.held().written.insert(2 * piece..2 * piece + 1);
        }
        assert!(one(1 << 20));
        part.held().written.insert(1 << 20..(1 << 20) + 1);
        // No new range; but existing ranges may be repeated, grow, and close gaps.
        assert!(!one((1 << 20) + 2) && !one((1 << 20) - 2));
        assert!(one(1 << 20) && one((1 << 20) + 1) && one((1 << 20) - 1) && one(1) && one(2));
        part.held().written.insert(1..2);
        assert!(one((1 << 20) + 2));
    }
}

/// A journal that has become long is replaced by a short one, and a later session reads all of it.
#[test]
#[cfg_attr(windows, ignore = "Wine replaces no file that is open")]
fn a_long_journal_is_shortened() {
    let folder = StoreFolder::new();
    let size = 5 * BATCH + 9;
    let store = folder.store();
    let first = part(store.offer(b"a", &IDENTITY, Some(size), false));
    let mut bytes = Vec::new();
    for (number, is_long) in [(0, false), (2, true), (1, false), (4, false)] {
        if is_long {
            // As after days. What the records would be is a hole.
            first.journal.lock().unwrap().as_mut().unwrap().bytes = journal::MAX_BYTES / 2;
        }
        write(&first, number..number + 1, size);
        first.sync().unwrap();
        bytes.push(first.journal.lock().unwrap().as_ref().unwrap().bytes);
    }
    // The header, and three records at most.
    assert!(bytes.iter().all(|bytes| *bytes < 256), "{bytes:?}");
    drop((first, store));
    assert_eq!(folder.state(), ["journal", "part"]);
    assert_eq!(part(folder.store().offer(b"a", &IDENTITY, Some(size), false)).synced(), [0..96, 128..160]);
}

/// Folders on different disks.
#[cfg(unix)]
#[derive(Default)]
struct TwoDisks(AtomicU64);

#[cfg(unix)]
impl System for TwoDisks {
    fn status_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Status> {
        let status = OS.status_in(parent, name)?;
        Ok(Status { identity: Some((self.0.fetch_add(1, Ordering::Relaxed), 0)), ..status })
    }
}

#[cfg(unix)]
#[test]
fn a_file_for_another_disk_is_refused_before_its_data() {
    let folder = StoreFolder::new();
    let system = Box::leak(Box::<TwoDisks>::default());
    let offered = folder.open(system).unwrap().offer(b"a/b", &IDENTITY, Some(BATCH), false);
    assert_eq!(reason(offered), Refusal::Name);
    assert!(folder.state().is_empty());
}

/// Holes that are named again cost nothing, and the limit counts ranges after they are joined.
#[test]
fn holes_are_recorded_once() {
    let folder = StoreFolder::new();
    let part = part(folder.store().offer(b"a", &IDENTITY, Some(1 << 40), false));
    let bytes = || part.journal.lock().unwrap().as_ref().unwrap().bytes;
    assert!(part.leave_holes(&[0..3, 5..6]).unwrap());
    part.sync().unwrap();
    let recorded_bytes = bytes();
    assert!(part.leave_holes(&[0..3, 5..6]).unwrap() && part.unsynced().is_none());
    part.sync().unwrap();
    assert_eq!((bytes(), part.synced()), (recorded_bytes, vec![0..3, 5..6]));
    for piece in 3..MAX_PIECES as u64 + 1 {
        part.held().written.insert(2 * piece + 1..2 * piece + 2);
    }
    let taken =
        [(6..7, true), (9..10, true), (1 << 20..(1 << 20) + 1, true), (4..5, true), (1 << 26..(1 << 26) + 1, false)];
    assert_eq!(
        taken.clone().map(|(range, _)| part.leave_holes(&[range]).unwrap()),
        taken.map(|(_, is_taken)| is_taken)
    );
}

#[test]
fn a_name_that_somebody_takes_meanwhile_stays_theirs() {
    let folder = StoreFolder::new();
    let part = part(folder.store().offer(b"a", &IDENTITY, Some(5), false));
    write(&part, 0..1, 5);
    fs::write(folder.path("a"), b"theirs").unwrap();
    assert_eq!(part.complete().unwrap_err().reason, Refusal::Exists);
    assert_eq!(fs::read(folder.path("a")).unwrap(), b"theirs");
}

#[test]
fn streams_have_one_end_and_nothing_to_resume() {
    let folder = StoreFolder::new();
    let stream = part(folder.store().offer(b"s", &IDENTITY, None, false));
    // Chunk numbers whose offset would not fit in 64 bits, and the first one beyond any payload.
    for chunk in [u64::MAX, u64::MAX / 16_384, LAYOUT.max_chunks()] {
        assert!(!stream.admits(chunk, SEALED_BATCH) && !stream.admits(chunk, 17));
    }
    assert!(
        stream.admits(LAYOUT.max_chunks() - 32, SEALED_BATCH) && !stream.admits(LAYOUT.max_chunks() - 31, SEALED_BATCH)
    );
    assert!(stream.admits(7, SEALED_BATCH) && stream.admits(0, 21) && stream.admits(7, 16_400));
    stream.write(&batch(1, BATCH + 10)).unwrap();
    // No second end, and no chunk beyond the end.
    assert!(stream.admits(0, SEALED_BATCH) && stream.admits(32, 26) && stream.admits(31, 16_400 + 26));
    assert!(!stream.admits(0, 21) && !stream.admits(32, 25) && !stream.admits(32, 16_400));
    assert!(!stream.admits(33, 26) && !stream.admits(64, SEALED_BATCH) && !stream.admits(1, SEALED_BATCH));
    assert!(stream.contradicts(BATCH) && !stream.contradicts(BATCH + 10));
    assert!(!stream.is_whole(BATCH + 10));
    stream.write(&batch(0, BATCH + 10)).unwrap();
    assert!(stream.is_whole(BATCH + 10));
    stream.sync().unwrap();
    drop(stream);
    assert_eq!(part(folder.store().offer(b"s", &IDENTITY, None, false)).synced(), []);
    // Two connections deliver different ends, and both were admitted before either was written.
    let stream = part(folder.store().offer(b"t", &IDENTITY, None, false));
    assert!(stream.admits(0, 21) && stream.admits(32, 26));
    stream.write(&batch(1, BATCH + 10)).unwrap();
    assert_eq!(stream.write(&batch(0, 5)).unwrap_err().reason, Refusal::Protocol);
    assert!(stream.contradicts(5) && !stream.contradicts(BATCH + 10));
}

#[test]
fn a_quota_holds_for_files_folders_and_streams() {
    let folder = StoreFolder::new();
    // Room for three batches and sixteen entries.
    let quotas = Quotas::new(Some(3 * BATCH + 16 * 4096));
    let store = || folder.with_quota(&OS, &quotas).unwrap();
    assert_eq!(reason(store().offer(b"a", &IDENTITY, Some(4 * BATCH), false)), Refusal::Quota);
    assert!(folder.state().is_empty());
    let first = part(store().offer(b"a", &IDENTITY, Some(2 * BATCH), false));
    // The first file counts in full before it is written. A second session of the sender has the same quota.
    // By hand: with its entry that leaves a batch and fifteen entries; the second file needs one byte more.
    let other = store();
    assert_eq!(reason(other.offer(b"b", &IDENTITY, Some(BATCH + 14 * 4096 + 1), false)), Refusal::Quota);
    write(&first, 0..1, 2 * BATCH);
    first.sync().unwrap();
    drop(first);
    // After its session it counts only what is on disk: one batch.
    let stream = part(other.offer(b"s", &IDENTITY, None, false));
    stream.write(&batch(0, 3 * BATCH)).unwrap();
    stream.write(&batch(1, 3 * BATCH)).unwrap();
    assert_eq!(stream.write(&batch(2, 3 * BATCH)).unwrap_err().reason, Refusal::Quota);
    assert_eq!(reason(other.offer(b"a", &IDENTITY, Some(2 * BATCH), false)), Refusal::Quota);
    stream.discard();
    // A batch in transit when the file was discarded is still written, but does not count afterwards.
    stream.write(&batch(1, 2 * BATCH)).unwrap();
    let late = part(other.offer(b"l", &IDENTITY, Some(BATCH), false));
    late.discard();
    late.write(&batch(0, BATCH)).unwrap();
    drop((stream, late));
    // The refused file kept its synced chunks.
    let again = part(other.offer(b"a", &IDENTITY, Some(2 * BATCH), false));
    assert_eq!(again.synced(), [0..32]);
    write(&again, 1..3, 2 * BATCH);
    again.complete().unwrap();
    drop(again);
    for name in [&b"f"[..], b"f/g", b"f/g/h"] {
        other.folder(name).unwrap();
    }
    let rest = (0..).take_while(|number| other.folder(format!("more-{number}").as_bytes()).is_ok()).count();
    assert_eq!(rest as u64, BATCH / 4096 + 16 - 4);
    // A new receiver counts the same bytes.
    drop(other);
    let used = 3 * BATCH + 16 * 4096;
    let quotas = Quotas::new(Some(used));
    let store = folder.with_quota(&OS, &quotas).unwrap();
    assert_eq!(store.usage.as_ref().unwrap().used_bytes(), used);
    assert_eq!(store.folder(b"one-more").unwrap_err().reason, Refusal::Quota);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let folder = StoreFolder::new();
    let store = folder.store();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("new"), folder.path("dangling")).unwrap();
    assert_eq!(reason(store.offer(b"link/a", &IDENTITY, Some(1), false)), Refusal::Exists);
    assert_eq!(reason(store.offer(b"dangling", &IDENTITY, Some(1), false)), Refusal::Exists);
    assert_eq!(store.folder(b"link/a").unwrap_err().reason, Refusal::Exists);
    fs::remove_dir_all(folder.path(STATE_FOLDER)).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path(STATE_FOLDER)).unwrap();
    assert!(folder.open(&OS).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_disk_that_fails_at_any_write_or_sync() {
    let size = 2 * BATCH + 1;
    let expected: Vec<u8> = (0..size).map(|offset| (offset / BATCH) as u8).collect();
    let mut named = 0;
    for fails in 0.. {
        let folder = StoreFolder::new();
        let system = Faulty::leak(fails, Fault::Error(io::ErrorKind::StorageFull));
        let run = || -> Result<(), Denied> {
            let store = folder.open(system)?;
            let Offered::PartFile(mut part) = store.offer(b"a", &IDENTITY, Some(size), false)? else {
                panic!("complete")
            };
            part.metadata.mode = Some(0o444);
            for number in 0..3 {
                part.write(&batch(number, size))?;
                part.sync()?;
            }
            part.complete().map(drop)
        };
        let outcome = run();
        if !system.has_failed() {
            assert!(outcome.is_ok() && (30..150).contains(&fails), "{fails}");
            assert!(cfg!(windows) || mode(&folder.path("a")) == Some(0o444));
            break;
        }
        match &outcome {
            Ok(()) => assert!(folder.path("a").exists(), "{fails}"),
            Err(denied) => assert_eq!(denied.reason, Refusal::NoSpace, "{fails}"),
        }
        // The file may have its name while the folder is not synced: then it is complete, and the receiver knows that.
        if folder.path("a").exists() {
            named += 1;
            assert!(fs::read(folder.path("a")).unwrap() == expected, "{fails}");
            assert!(
                matches!(folder.store().offer(b"a", &IDENTITY, Some(size), false), Ok(Offered::Complete)),
                "{fails}"
            );
            continue;
        }
        // With free space, the next session resumes, and the chunks that it holds are correct. It may write, although the file may not be
        // written in the end.
        let left = mode(&folder.path(STATE_FOLDER).join(stem(b"a") + ".part"));
        assert!(left.is_none_or(|mode| mode & 0o600 == 0o600), "{fails}: {left:?}");
        let part = part(folder.store().offer(b"a", &IDENTITY, Some(size), false));
        let held: Vec<u64> = part.synced().into_iter().flatten().collect();
        for number in (0..3).filter(|number| !held.contains(&(number * 32))) {
            write(&part, number..number + 1, size);
        }
        part.complete().unwrap();
        assert!(fs::read(folder.path("a")).unwrap() == expected, "{fails}");
    }
    // Faults after the rename: mode, three syncs, and the removal of the part's journal.
    assert_eq!(named, 5);
}

/// Permission bits of a file; on Windows those that a file of the receiver has.
fn mode(path: &Path) -> Option<u32> {
    #[cfg(unix)]
    return fs::metadata(path).ok().map(|found| std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777);
    #[cfg(not(unix))]
    path.exists().then_some(0o600)
}

/// Whichever call the system refuses, an incomplete file keeps its chunks. Version 0.3.0 left some that their owner may not write.
#[test]
fn a_part_that_cannot_be_opened_keeps_its_chunks() {
    for fails in 0.. {
        let folder = StoreFolder::new();
        let offer = |store: SenderStore| store.offer(b"a", &IDENTITY, Some(2 * BATCH), false);
        let first = part(offer(folder.store()));
        write(&first, 0..1, 2 * BATCH);
        first.sync().unwrap();
        drop(first);
        let system = Faulty::leak(fails, Fault::Error(io::ErrorKind::PermissionDenied));
        if let Ok(store) = folder.open(system)
            && let Ok(Offered::PartFile(part)) = offer(store)
        {
            assert_eq!(part.synced(), [0..32], "{fails}");
        }
        assert_eq!(part(offer(folder.store())).synced(), [0..32], "{fails}");
        if !system.has_failed() {
            break;
        }
    }
}

#[cfg(unix)]
#[test]
fn the_folder_for_everything_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
    fs::create_dir(path("a")).unwrap();
    fs::set_permissions(path("a"), fs::Permissions::from_mode(0o751)).unwrap();
    for _ in 0..2 {
        open_base(&OS, &path("a/b/c")).unwrap();
        assert_eq!([mode("a"), mode("a/b"), mode("a/b/c")], [0o751, 0o700, 0o700]);
    }
    fs::write(path("file"), "").unwrap();
    for (bad, kind) in [("file", io::ErrorKind::NotADirectory), ("file/x", io::ErrorKind::NotADirectory)] {
        assert_eq!(open_base(&OS, &path(bad)).unwrap_err().kind, ErrorKind::Io(kind), "{bad}");
    }
    assert!(open_base(&OS, Path::new("")).is_err());
}

/// Another user has made the sender's folder or the state folder in it, or the folder is writable for others.
#[cfg(unix)]
#[test]
fn planted_folders_are_refused() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("SKIPPED: folders of other users, which only root can make");
    }
    for (planted, mode, owner, is_good) in [
        ("", 0o755, None, true),
        ("", 0o775, None, true),
        ("", 0o777, None, false),
        ("", 0o755, Some(12_345), false),
        (STATE_FOLDER, 0o700, None, true),
        (STATE_FOLDER, 0o755, None, true),
        (STATE_FOLDER, 0o777, None, false),
        (STATE_FOLDER, 0o775, None, false),
        (STATE_FOLDER, 0o700, Some(12_345), false),
        ("a", 0o755, None, true),
        ("a", 0o777, None, false),
        ("a", 0o700, Some(12_345), false),
    ] {
        if owner.is_some() && !is_root {
            continue;
        }
        let folder = StoreFolder::new();
        folder.store().folder(b"a/b").unwrap();
        fs::set_permissions(folder.path(planted), fs::Permissions::from_mode(mode)).unwrap();
        chown(folder.path(planted), owner, owner).unwrap();
        match folder.open(&OS) {
            Ok(store) => {
                let denied = store.offer(b"a/b/c", &IDENTITY, Some(1), false).err().map(|denied| denied.reason);
                assert_eq!(denied, (!is_good).then_some(Refusal::Exists), "{planted} {mode:o} {owner:?}");
                assert!(is_good || planted == "a" && store.offer(b"c", &IDENTITY, Some(1), false).is_ok());
            }
            Err(error) => {
                assert!(!is_good && error.kind() == io::ErrorKind::PermissionDenied, "{planted} {mode:o}: {error}");
            }
        }
    }
}

/// Another user has made the folder for everything, or one above it, in a folder that everybody shares; or a link there.
#[cfg(unix)]
#[test]
fn a_planted_base_is_refused() {
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};
    if !rustix::process::geteuid().is_root() {
        return println!("SKIPPED: folders of other users, which only root can make");
    }
    let good = [("shared/a/rx", "home"), ("shared/link", "home"), ("home/rx", "home"), ("home/new/rx", "home")];
    let bad = [("shared/a/rx", "shared/a/rx"), ("shared/a/rx", "shared/a"), ("shared/a/new/rx", "shared/a")];
    let more = [("home/rx", "home/rx"), ("shared/link", "shared/link"), ("shared/link/new", "shared/link")];
    for (number, (path, planted)) in good.into_iter().chain(bad).chain(more).enumerate() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("shared/a/rx")).unwrap();
        fs::create_dir_all(at("home/rx")).unwrap();
        symlink("a/rx", at("shared/link")).unwrap();
        fs::set_permissions(at("shared"), fs::Permissions::from_mode(0o1777)).unwrap();
        lchown(at(planted), Some(12_345), None).unwrap();
        let kind = open_base(&OS, &at(path)).err().map(|error| error.kind);
        let refused = ErrorKind::Io(io::ErrorKind::PermissionDenied);
        assert_eq!(kind, (number >= good.len()).then_some(refused), "{path} {planted}");
    }
}

/// Another process replaces the incomplete file.
#[cfg(unix)]
#[test]
fn a_replaced_part_gets_no_name() {
    let folder = StoreFolder::new();
    let part = part(folder.store().offer(b"a", &IDENTITY, Some(BATCH), false));
    write(&part, 0..2, BATCH);
    let state = folder.path(STATE_FOLDER);
    fs::write(folder.path("theirs"), b"theirs").unwrap();
    fs::rename(folder.path("theirs"), state.join(part.state_name("part"))).unwrap();
    assert_eq!(part.complete().unwrap_err().reason, Refusal::Io);
    assert!(!folder.path("a").exists());
}

/// A killed session, or a user who takes files away, leaves files in the state folder. Nobody is refused because of them, and the next
/// session removes them.
#[test]
fn leftovers_neither_refuse_nor_stay() {
    const NEW: VersionId = [6; 32];
    // Sends a file that is taken away. The receiver is killed before it removes the journal.
    let taken = |folder: &StoreFolder, size: u64, identity| {
        let store = folder.store();
        let arriving = part(store.offer(b"d/a", &identity, Some(size), false));
        assert_eq!(arriving.synced(), []);
        write(&arriving, 0..size / BATCH + 1, size);
        arriving.sync().unwrap();
        let journal = folder.path(STATE_FOLDER).join(arriving.state_name("journal"));
        let kept = fs::read(&journal).unwrap();
        arriving.complete().unwrap();
        drop(arriving);
        fs::write(&journal, &kept).unwrap();
        assert!(folder.store().root.exists("d/a"));
        assert_eq!(folder.state(), [""; 0]);
        fs::remove_file(folder.path("d/a")).unwrap();
        (store, journal)
    };
    for size in [0, 9, BATCH + 9] {
        // The next version in the next session; then in this one, with the journal, also after one that made no more than the data's file.
        let folder = StoreFolder::new();
        let (store, journal) = taken(&folder, size, IDENTITY);
        drop(folder.store());
        assert_eq!(folder.state(), [""; 0]);
        for has_part in [false, true] {
            let content = [journal::header(&IDENTITY, size), journal::record(&IDENTITY, &(0..1)).into()].concat();
            fs::write(&journal, content).unwrap();
            if has_part {
                fs::write(journal.with_extension("part"), "").unwrap();
            }
            part(store.offer(b"d/a", &NEW, Some(size), false)).discard();
        }
        taken(&folder, size + 1, NEW);
    }
    // Running sessions keep their files. Of those that were killed, what can be resumed stays.
    let folder = StoreFolder::new();
    let store = folder.store();
    let stream = part(store.offer(b"stream", &IDENTITY, None, false));
    let file = part(store.offer(b"file", &IDENTITY, Some(2 * BATCH), false));
    write(&file, 0..1, 2 * BATCH);
    file.sync().unwrap();
    drop(folder.store());
    assert_eq!(folder.state(), ["journal", "part", "part"]);
    drop((stream, file));
    fs::write(folder.path(STATE_FOLDER).join("00.new"), "").unwrap();
    drop(folder.store());
    assert_eq!(folder.state(), ["journal", "part"]);
    assert_eq!(part(store.offer(b"file", &IDENTITY, Some(2 * BATCH), false)).synced(), [0..32]);
}

/// Sessions end at random moments, next to one that stays open. The counted bytes are never fewer than those on disk. When all
/// sessions have ended, they are equal.
#[test]
#[cfg_attr(windows, ignore = "Wine lists a removed file until it is closed")]
fn a_quota_counts_what_is_there() {
    use crate::receive::quota::used_bytes;
    let mut random = fastrand::Rng::with_seed(7);
    let mut random = |below: u64| random.u64(..below);
    for round in 0..20 {
        let folder = StoreFolder::new();
        let most = 4 * BATCH;
        let quotas = Quotas::new(Some(most));
        let store = folder.with_quota(&OS, &quotas).unwrap();
        let usage = store.usage.clone().unwrap();
        let mut slow = Some(part(store.offer(b"slow", &IDENTITY, Some(BATCH / 2), false)));
        let is_bounded = || {
            let there = used_bytes(&store.root).unwrap();
            assert!(there <= usage.used_bytes() && usage.used_bytes() <= most, "{round}: {there}");
            there
        };
        for _ in 0..60 {
            let path = format!("{}{}", ["", "a/", "a/b/"][random(3) as usize], random(8));
            let size = [1000, 16_384, BATCH + 5, 2 * BATCH][random(4) as usize];
            let (known, restart) = ((random(3) > 0).then_some(size), random(4) == 0);
            let identity = [random(2) as u8; 32];
            let Ok(Offered::PartFile(part)) = store.offer(path.as_bytes(), &identity, known, restart) else {
                is_bounded();
                continue;
            };
            let batches = size / BATCH + 1;
            // Random batches, some of them twice, and random syncs.
            for _ in 0..random(2 * batches + 1) {
                let _ = part.write(&batch(random(batches), size));
                is_bounded();
                if random(2) == 0 {
                    part.sync().unwrap();
                    is_bounded();
                }
            }
            match random(4) {
                0 if part.is_whole(size) => drop(part.complete().unwrap()),
                1 => {
                    part.discard();
                    let _ = part.write(&batch(0, size));
                }
                // The session ends early.
                _ => {}
            }
            is_bounded();
        }
        drop(slow.take());
        assert_eq!(usage.used_bytes(), is_bounded(), "{round}");
    }
}

/// Whichever call fails, what is on the disk counts, and nothing else, except for parts of which the system does not say the length.
#[test]
#[cfg_attr(windows, ignore = "Wine lists a removed file until it is closed")]
fn a_quota_counts_nothing_that_failed() {
    use crate::receive::packs::ArrivingPack;
    use crate::receive::quota::used_bytes;
    use crate::wire::message::EntryStatus;
    let entry = |kind, path: &[u8]| Entry { kind, metadata: Metadata::default(), path: path.to_vec() };
    let file = |path: &[u8]| entry(EntryKind::File { size_bytes: 5, identity: IDENTITY }, path);
    let entries = [file(b"file"), file(b"other"), entry(EntryKind::Link { target: b"file".to_vec() }, b"link")];
    let (mut counted_too_much, mut counted_too_little) = (0, 0);
    for fails in 0.. {
        let folder = StoreFolder::new();
        let system = Faulty::leak(fails, Fault::Error(io::ErrorKind::StorageFull));
        if let Ok(store) = folder.with_quota(system, &Quotas::new(Some(1 << 30))) {
            drop(store.offer(b"a", &IDENTITY, Some(BATCH), false));
            if let Ok(Offered::PartFile(stream)) = store.offer(b"stream", &IDENTITY, None, false)
                && stream.write(&batch(0, 5)).and_then(|()| stream.complete().map(drop)).is_err()
            {
                stream.discard();
            }
            if let Ok((statuses, reservation)) = store.list(&entries) {
                let statuses = statuses.into_iter().map(|status| status.unwrap_or(EntryStatus::Complete));
                let pack = ArrivingPack::new(1, entries.iter().cloned().zip(statuses).collect(), reservation);
                pack.end(vec![]);
                let _ = store.commit(&[Arc::new(pack)]);
            }
            let (counted, there) = (store.usage.as_ref().unwrap().used_bytes(), used_bytes(&store.root).unwrap());
            counted_too_much += u64::from(counted > there);
            // The target of the link counts only at the next receiver.
            counted_too_little += u64::from(counted + 4 < there);
        }
        if !system.has_failed() {
            break;
        }
    }
    assert_eq!((counted_too_much, counted_too_little), (1, 2));
}
