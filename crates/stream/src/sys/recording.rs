//! A [`System`] that keeps in order what changes a disk, for tests: with it, [`Disk`] knows what may be there after the power
//! failed at any moment.
//!
//! A disk promises little. What was written to a file is there for certain once the file was synced, and until then any
//! part of it may be there, in any order, or none. A name is there for certain once its folder was synced; until then it may be
//! there or not, whatever of the file it names is there. Renaming is one step. That is less than journaling file systems
//! promise, so who holds to it is safe on all of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Os, Readiness, Status, System};

/// A file, by its number in the file system.
pub(crate) type Inode = u64;

/// What changed, or was made certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Write {
        file: Inode,
        offset: u64,
        bytes: Vec<u8>,
    },
    Sync {
        file: Inode,
    },
    /// A new name.
    Link {
        file: Inode,
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Unlink {
        path: PathBuf,
    },
    SyncFolder {
        folder: PathBuf,
    },
}

/// Passes all calls on, and remembers those that change something.
#[derive(Default)]
pub(crate) struct Recording {
    os: Os,
    events: Mutex<Vec<Event>>,
    has_no_anonymous: bool,
}

impl Recording {
    pub(crate) fn new(has_anonymous: bool) -> Self {
        Self { has_no_anonymous: !has_anonymous, ..Self::default() }
    }

    pub(crate) fn events(self) -> Vec<Event> {
        self.events.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    fn add_write(&self, file: &File, offset: u64, buffers: &[IoSlice<'_>], written: usize) -> io::Result<()> {
        let mut bytes = buffers.iter().flat_map(|buffer| buffer.iter().copied()).collect::<Vec<_>>();
        bytes.truncate(written);
        self.add(Event::Write { file: inode(file)?, offset, bytes });
        Ok(())
    }
}

fn inode(file: &File) -> io::Result<Inode> {
    Ok(file.metadata()?.ino())
}

/// What a disk may hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    /// Names that are certain.
    names: BTreeMap<PathBuf, Inode>,
    /// Content that is certain.
    content: BTreeMap<Inode, Vec<u8>>,
    /// What came since, and may be there or not.
    writes: Vec<(Inode, u64, Vec<u8>)>,
    changes: Vec<Event>,
}

impl Disk {
    /// A file that has been there for long.
    pub(crate) fn with(mut self, path: &Path) -> Self {
        let file = File::open(path).unwrap();
        let number = inode(&file).unwrap();
        self.names.insert(path.into(), number);
        self.content.insert(number, std::fs::read(path).unwrap());
        self
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Write { file, offset, bytes } => self.writes.push((*file, *offset, bytes.clone())),
            Event::Sync { file } => {
                for (number, offset, bytes) in std::mem::take(&mut self.writes) {
                    if number == *file {
                        put(self.content.entry(number).or_default(), offset, &bytes);
                    } else {
                        self.writes.push((number, offset, bytes));
                    }
                }
            }
            // Of one folder, in these tests.
            Event::SyncFolder { .. } => {
                for change in std::mem::take(&mut self.changes) {
                    rename(&mut self.names, &change);
                }
            }
            change => self.changes.push(change.clone()),
        }
    }

    /// What may lie under a name, if the power fails now: every content that is possible, and `None` for no file.
    pub(crate) fn possible(&self, path: &Path) -> Vec<Option<Vec<u8>>> {
        let mut all = Vec::new();
        for changes in subsets(self.changes.len()) {
            let mut names = self.names.clone();
            for change in changes {
                rename(&mut names, &self.changes[change]);
            }
            let Some(file) = names.get(path) else {
                all.push(None);
                continue;
            };
            let writes: Vec<_> = self.writes.iter().filter(|(number, ..)| number == file).collect();
            for some in subsets(writes.len()) {
                let mut content = self.content.get(file).cloned().unwrap_or_default();
                for write in some {
                    let (_, offset, bytes) = writes[write];
                    put(&mut content, *offset, bytes);
                }
                all.push(Some(content));
            }
        }
        all
    }
}

/// A name that a lost change should have made cannot be renamed.
fn rename(names: &mut BTreeMap<PathBuf, Inode>, change: &Event) {
    match change {
        Event::Link { file, path } => {
            names.insert(path.clone(), *file);
        }
        Event::Rename { from, to } => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        Event::Unlink { path } => {
            names.remove(path);
        }
        _ => {}
    }
}

fn put(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let offset = offset as usize;
    content.resize(content.len().max(offset + bytes.len()), 0);
    content[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// All subsets of so many things; of more than six: none, all, each alone, each missing, and those from the first on.
fn subsets(count: usize) -> Vec<Vec<usize>> {
    let all = 0..count;
    if count <= 6 {
        return (0..1_u32 << count).map(|set| all.clone().filter(|thing| set >> thing & 1 == 1).collect()).collect();
    }
    let mut some = vec![vec![]];
    some.extend(all.clone().map(|one| vec![one]));
    some.extend(all.clone().map(|one| all.clone().filter(|other| *other != one).collect()));
    some.extend(all.map(|end| (0..=end).collect()));
    some
}

impl System for Recording {
    fn stdin(&self) -> io::Result<File> {
        self.os.stdin()
    }

    fn stdout(&self) -> io::Result<File> {
        self.os.stdout()
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.os.open(path)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        self.os.open_existing(path)
    }

    fn create_anonymous(&self, folder: &Path) -> io::Result<File> {
        if self.has_no_anonymous { Err(io::ErrorKind::Unsupported.into()) } else { self.os.create_anonymous(folder) }
    }

    fn create_new(&self, path: &Path) -> io::Result<File> {
        let file = self.os.create_new(path)?;
        self.add(Event::Link { file: inode(&file)?, path: path.into() });
        Ok(file)
    }

    fn link(&self, file: &File, path: &Path) -> io::Result<()> {
        self.os.link(file, path)?;
        self.add(Event::Link { file: inode(file)?, path: path.into() });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.os.rename(from, to)?;
        self.add(Event::Rename { from: from.into(), to: to.into() });
        Ok(())
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.os.rename_new(from, to)?;
        self.add(Event::Rename { from: from.into(), to: to.into() });
        Ok(())
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.os.unlink(path)?;
        self.add(Event::Unlink { path: path.into() });
        Ok(())
    }

    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.os.read_link(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.os.canonical(path)
    }

    fn status_of(&self, path: &Path) -> io::Result<Status> {
        self.os.status_of(path)
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        self.os.status(file)
    }

    fn adopt(&self, file: &File, old: &Status) -> io::Result<()> {
        self.os.adopt(file, old)
    }

    fn position(&self, file: &File) -> io::Result<u64> {
        self.os.position(file)
    }

    fn is_terminal(&self, file: &File) -> bool {
        self.os.is_terminal(file)
    }

    fn wait(&self, file: &File, readiness: Readiness, timeout: Duration) -> io::Result<bool> {
        self.os.wait(file, readiness, timeout)
    }

    fn read(&self, file: &File, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.os.read(file, buffers)
    }

    fn read_at(&self, file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        self.os.read_at(file, buffers, offset)
    }

    fn write(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        let offset = self.os.position(file)?;
        let written = self.os.write(file, buffers)?;
        self.add_write(file, offset, buffers, written)?;
        Ok(written)
    }

    fn write_ready(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        // Of pipes only, which no disk holds.
        self.os.write_ready(file, buffers)
    }

    fn write_at(&self, file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let written = self.os.write_at(file, buffers, offset)?;
        self.add_write(file, offset, buffers, written)?;
        Ok(written)
    }

    fn copy(&self, from: &File, to: &File, bytes: u64) -> io::Result<u64> {
        let (source, target) = (self.os.position(from)?, self.os.position(to)?);
        let copied = self.os.copy(from, to, bytes)?;
        let mut content = vec![0; copied as usize];
        from.read_exact_at(&mut content, source)?;
        self.add_write(to, target, &[IoSlice::new(&content)], content.len())?;
        Ok(copied)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.os.sync(file)?;
        self.add(Event::Sync { file: inode(file)? });
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.os.sync_folder(folder)?;
        self.add(Event::SyncFolder { folder: folder.into() });
        Ok(())
    }
}
