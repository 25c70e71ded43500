//! The receiver loses power at every moment of a transfer. A file has its final name only if it is complete and its record is in the
//! journal. From every other state of the disk, the next session completes the correct file.
#![allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is meant")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::*;
use crate::receive::folders::open_base;
use crate::receive::packs::ArrivingPack;
use crate::wire::message::{Entry, EntryKind, EntryStatus};
use crate::wire::names::path_of;
use tress_container::sys::Os;
use tress_container::testing::disk::{Disk, Event, Node};
use tress_container::testing::recording::Recording;

static OS: Os = Os;
/// Five chunks and nine bytes.
const SIZE: u64 = 5 * 16_384 + 9;
const NAME: &[u8] = b"a/b";

/// A version of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version(u8);

impl Version {
    fn identity(self) -> VersionId {
        [self.0; 32]
    }

    /// A chunk that differs from other chunks and other versions.
    fn chunk(self, number: u64) -> Batch {
        let mut batch = Batch::new(LAYOUT, 32);
        let chunks = number..number + 1;
        batch.hold(number, batch_sealed_bytes(SIZE, &chunks).unwrap(), chunks.end == LAYOUT.chunks(SIZE));
        batch.sealed_mut().fill(self.0 * 16 + number as u8);
        batch
    }

    fn content(self) -> Vec<u8> {
        (0..SIZE).map(|offset| self.0 * 16 + (offset / 16_384) as u8).collect()
    }

    fn write(self, part: &PartFile, chunks: std::ops::Range<u64>) {
        chunks.for_each(|number| part.write(&self.chunk(number)).unwrap());
    }
}

fn store(system: &'static dyn System, base: &Path) -> SenderStore {
    let (base, journals) = (open_base(system, base).unwrap(), OpenJournals::default());
    SenderStore::open(system, &base, "sender", &journals, |_| Ok(None)).unwrap()
}

fn part(store: &SenderStore, version: Version, restart: bool) -> Box<PartFile> {
    match store.offer(NAME, &version.identity(), Some(SIZE), restart) {
        Ok(Offered::PartFile(part)) => part,
        Ok(Offered::Complete) => panic!("complete"),
        Err(denied) => panic!("{denied:?}"),
    }
}

/// Makes a folder with the state of the disk after a loss of power.
fn restore(tree: &BTreeMap<PathBuf, Node>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, node) in tree {
        let path = folder.path().join(path);
        match node {
            Node::Folder => fs::create_dir_all(&path).unwrap(),
            Node::File(content) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, content).unwrap();
            }
            Node::Link(_) => panic!("a link at a receiver"),
        }
    }
    folder
}

/// The sender offers this version again: it ends with the correct file, or is refused if `must_be_taken` is false.
fn comes_again(tree: &BTreeMap<PathBuf, Node>, version: Version, must_be_taken: bool) {
    let folder = restore(tree);
    let store = store(&OS, folder.path());
    match store.offer(NAME, &version.identity(), Some(SIZE), false) {
        Ok(Offered::PartFile(part)) => {
            let held: Vec<u64> = part.synced().into_iter().flatten().collect();
            (0..6).filter(|chunk| !held.contains(chunk)).for_each(|chunk| version.write(&part, chunk..chunk + 1));
            assert!(part.is_whole(SIZE));
            part.complete().unwrap();
            assert!(fs::read(folder.path().join("sender/a/b")).unwrap() == version.content(), "{held:?}");
        }
        Ok(Offered::Complete) => panic!("there is no file"),
        Err(denied) => assert!(!must_be_taken && denied.reason == Refusal::OtherVersion, "{denied:?}"),
    }
}

/// Checks every state of the disk that a loss of power during `run` may leave. The last of `versions` is the one that is sent.
fn lose_power(versions: &[Version], run: impl Fn(&'static dyn System, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    let system: &'static Recording = Box::leak(Box::new(Recording::new(true)));
    run(system, folder.path());
    let events = system.events();
    let base = fs::metadata(folder.path()).unwrap().ino();
    let last = *versions.last().unwrap();
    let journal = Path::new("sender/.tress/files");
    let status = OS.status_of(&folder.path().join("sender/a/b")).unwrap();
    let record = FileRecord::new(NAME, &last.identity(), &status).encode();
    let has_record = |node: Option<&Node>| match node {
        Some(Node::File(bytes)) => bytes.ends_with(&record),
        _ => false,
    };

    let (mut disks, mut complete, mut resumed) = (0, 0, 0);
    let mut known = BTreeSet::new();
    Disk::default().lose_power(&events, |moment, state| {
        disks += 1;
        let tree = state.below(base);
        let label = format!("moment {moment} of {}", events.len());
        match tree.get(Path::new("sender/a/b")) {
            Some(Node::File(content)) => {
                complete += 1;
                assert!(*content == last.content(), "{label}: a wrong file has the name");
                // Without it, the sender, which got no confirmation, would be refused.
                assert!(has_record(tree.get(journal)), "{label}: nobody knows whose it is");
            }
            Some(_) => panic!("{label}: no file"),
            None => {
                assert!(moment < events.len(), "the file was confirmed");
                if known.insert(tree.clone()) {
                    resumed += 1;
                    versions.iter().for_each(|version| comes_again(&tree, *version, versions.len() == 1));
                }
            }
        }
    });
    println!(
        "{} events, {disks} disks after a loss of power: {complete} with the file, {resumed} gone on with",
        events.len()
    );
    assert!(disks > 90 && complete >= 5 && resumed > 20, "{disks} {complete} {resumed}");
}

#[test]
fn files_that_arrive() {
    let version = Version(1);
    lose_power(&[version], |system, base| {
        let part = part(&store(system, base), version, false);
        version.write(&part, 0..2);
        part.sync().unwrap();
        version.write(&part, 4..6);
        version.write(&part, 2..4);
        part.sync().unwrap();
        part.complete().unwrap();
    });
}

#[test]
fn files_that_are_resumed() {
    let version = Version(1);
    lose_power(&[version], |system, base| {
        let first = part(&store(system, base), version, false);
        version.write(&first, 0..3);
        first.sync().unwrap();
        version.write(&first, 5..6);
        drop(first);
        let second = part(&store(system, base), version, false);
        assert_eq!(second.synced(), [0..3]);
        version.write(&second, 3..6);
        second.complete().unwrap();
    });
}

#[test]
fn files_whose_journal_is_shortened() {
    let version = Version(1);
    lose_power(&[version], |system, base| {
        let part = part(&store(system, base), version, false);
        for chunks in [0..1, 2..4] {
            version.write(&part, chunks);
            part.sync().unwrap();
        }
        let held = part.held().synced.clone();
        part.shorten(part.journal.lock().unwrap().as_mut().unwrap(), &held).unwrap();
        version.write(&part, 4..6);
        part.sync().unwrap();
        version.write(&part, 1..2);
        part.complete().unwrap();
    });
}

#[test]
fn another_version_that_begins_anew() {
    let (old, new) = (Version(1), Version(2));
    lose_power(&[old, new], |system, base| {
        let first = part(&store(system, base), old, false);
        old.write(&first, 0..5);
        first.sync().unwrap();
        drop(first);
        let second = part(&store(system, base), new, true);
        new.write(&second, 0..2);
        second.sync().unwrap();
        new.write(&second, 2..6);
        second.complete().unwrap();
    });
}

/// Few files are synced one by one, many together. At every moment a file with a name is whole and has a record.
#[test]
fn packs_that_arrive() {
    const BYTES: u64 = 100;
    for count in [3_u8, 12] {
        let folder = tempfile::tempdir().unwrap();
        let system: &'static Recording = Box::leak(Box::new(Recording::new(true)));
        let store = self::store(system, folder.path());
        let entry = |number: u8| Entry {
            kind: EntryKind::File { size_bytes: BYTES, identity: [number; 32] },
            metadata: Metadata::default(),
            path: format!("{}/{number}", number % 2).into_bytes(),
        };
        let entries: Vec<Entry> = (0..count).map(entry).collect();
        let statuses = store.list(&entries).unwrap().0.into_iter().map(Result::unwrap);
        let pack = ArrivingPack::new(1, entries.iter().cloned().zip(statuses).collect(), None);
        let mut batch = Batch::new(LAYOUT, 32);
        batch.hold(0, u64::from(count) as usize * BYTES as usize + 16, true);
        batch.plain_mut().iter_mut().flat_map(|slice| slice.iter_mut()).enumerate().for_each(|(at, byte)| {
            *byte = (at as u64 / BYTES) as u8;
        });
        pack.write(&batch);
        assert!(!pack.is_whole() && pack.end(vec![]) && pack.is_whole() && !pack.end(vec![]));
        assert!(store.commit(&[Arc::new(pack)]).unwrap()[0].iter().all(|(_, kept)| matches!(kept, Ok(Some(_)))));
        let events = system.events();
        let base = fs::metadata(folder.path()).unwrap().ino();
        let record = |entry: &Entry| {
            let status = OS.status_of(&folder.path().join("sender").join(path_of(&entry.path).unwrap())).unwrap();
            let EntryKind::File { identity, .. } = &entry.kind else { panic!("a file") };
            FileRecord::new(&entry.path, identity, &status).encode()
        };
        let records: Vec<Vec<u8>> = entries.iter().map(record).collect();
        let (mut known, mut named) = (BTreeSet::new(), 0);
        Disk::default().lose_power(&events, |moment, state| {
            let tree = state.below(base);
            if !known.insert(tree.clone()) {
                return;
            }
            let restored = restore(&tree);
            let again = self::store(&OS, restored.path());
            for (number, (entry, record)) in entries.iter().zip(&records).enumerate() {
                match tree.get(&Path::new("sender").join(path_of(&entry.path).unwrap())) {
                    Some(Node::File(content)) => {
                        named += 1;
                        assert_eq!(*content, [number as u8; BYTES as usize], "{moment}");
                        let Some(Node::File(journal)) = tree.get(Path::new("sender/.tress/files")) else {
                            panic!("{moment}: no journal")
                        };
                        assert!(journal.windows(record.len()).any(|bytes| bytes == record), "{moment}");
                    }
                    Some(other) => panic!("{other:?}"),
                    None => {
                        assert!(moment < events.len(), "{number} was confirmed");
                        let status = again.list(std::slice::from_ref(entry)).unwrap().0.remove(0).unwrap();
                        assert_eq!(status, EntryStatus::Wanted, "{moment}");
                    }
                }
            }
        });
        println!("{} events, {} disks, {named} files with names", events.len(), known.len());
        assert!(known.len() > 50 && named > 20);
    }
}

/// The files of many packs are in many folders, and each pack has a thread that writes its files.
#[cfg(target_os = "linux")]
#[test]
fn packs_hold_few_descriptors() {
    use crate::receive::admission::SESSION_DESCRIPTORS;
    use std::sync::atomic::AtomicUsize;
    use tress_container::sys::Call;

    /// Counts the open descriptors below a folder before each call.
    struct Counting(PathBuf, AtomicUsize);
    impl System for Counting {
        fn before(&self, _: Call<'_>) -> io::Result<usize> {
            let open = fs::read_dir("/proc/self/fd")?.flatten();
            let is_below = |path: PathBuf| path.starts_with(&self.0);
            let count = open.filter(|open| fs::read_link(open.path()).is_ok_and(is_below)).count();
            self.1.fetch_max(count, Ordering::Relaxed);
            Ok(usize::MAX)
        }
    }
    if !Path::new("/proc/self/fd").exists() {
        return println!("SKIPPED: no /proc");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let system: &'static Counting = Box::leak(Box::new(Counting(path, AtomicUsize::new(0))));
    let store = store(system, folder.path());
    let pack = |number: u32| {
        let entry = |folder| Entry {
            kind: EntryKind::File { size_bytes: 0, identity: [1; 32] },
            metadata: Metadata::default(),
            path: format!("{folder}/{number}").into_bytes(),
        };
        Arc::new(ArrivingPack::new(number, (0..4).map(|folder| (entry(folder), EntryStatus::Wanted)).collect(), None))
    };
    let results = store.commit(&(0..12).map(pack).collect::<Vec<_>>()).unwrap();
    assert!(results.iter().flatten().all(|(_, kept)| matches!(kept, Ok(Some(_)))));
    let most = system.1.load(Ordering::Relaxed);
    // The socket, an arriving file, and folders that the other thread of the session looks at.
    assert!((6..=SESSION_DESCRIPTORS - 1 - 4 - 4).contains(&most), "{most}");
}

/// A session that made a folder may have ended before the folder's name was synced.
#[test]
fn folders_of_earlier_sessions_are_synced() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("sender/a")).unwrap();
    let system: &'static Recording = Box::leak(Box::new(Recording::new(true)));
    let store = store(system, folder.path());
    let version = Version(1);
    let part = part(&store, version, false);
    version.write(&part, 0..6);
    part.complete().unwrap();
    drop(part);
    let events = system.events();
    for path in ["", "sender", "sender/a"] {
        let number = fs::metadata(folder.path().join(path)).unwrap().ino().to_string();
        assert!(events.contains(&Event::SyncFolder { folder: number.into() }), "{path:?}");
    }
    // The folder is synced only once.
    store.folder(b"a").unwrap();
    assert_eq!(system.events(), []);
}
