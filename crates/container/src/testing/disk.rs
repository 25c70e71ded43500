//! Models the states of a disk after a loss of power, under the guarantees listed in `recording.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Number of a file or folder in the file system.
pub type Inode = u64;

/// A change of the disk, or a sync. Paths are names in folders; for a folder with a handle, its number is the first component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Write {
        file: Inode,
        offset: u64,
        bytes: Vec<u8>,
    },
    /// The file was truncated, or extended with zeros.
    Length {
        file: Inode,
        bytes: u64,
    },
    Sync {
        file: Inode,
    },
    /// Everything before this is durable.
    SyncAll,
    /// A new file. Its number may be that of a file that was removed.
    New {
        file: Inode,
        path: PathBuf,
    },
    /// A name for a file that had none.
    Link {
        file: Inode,
        path: PathBuf,
    },
    /// A new folder.
    Folder {
        folder: Inode,
        path: PathBuf,
    },
    Symlink {
        link: Inode,
        path: PathBuf,
        target: Vec<u8>,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Exchange {
        one: PathBuf,
        other: PathBuf,
    },
    Unlink {
        path: PathBuf,
    },
    SyncFolder {
        folder: PathBuf,
    },
}

/// A file, folder or link below a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    File(Vec<u8>),
    Folder,
    Link(Vec<u8>),
}

/// One state in which the disk may be after a loss of power.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiskState {
    names: BTreeMap<PathBuf, Inode>,
    nodes: BTreeMap<Inode, Node>,
}

/// A change of names, and the folders that must be synced before it is durable.
type NameChange = (Event, BTreeSet<PathBuf>);

/// The possible contents of a disk.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    /// The durable state.
    certain: DiskState,
    /// Later writes, each of which may or may not be on the disk.
    writes: Vec<Event>,
    changes: Vec<NameChange>,
    /// Our own numbers for files whose inode number is used a second time.
    renumbered_files: BTreeMap<Inode, Inode>,
    files: BTreeSet<Inode>,
    renumbered_count: Inode,
}

impl Disk {
    /// Adds a file that has existed for long.
    pub fn with(mut self, path: &Path) -> Self {
        let number = std::fs::metadata(path).unwrap().ino();
        self.certain.names.insert(path.into(), number);
        self.certain.nodes.insert(number, Node::File(std::fs::read(path).unwrap()));
        self
    }

    /// Adds a folder that has existed for long, with everything in it. Folders have handles.
    pub fn with_folder(mut self, path: &Path) -> Self {
        let number = |path: &Path| std::fs::symlink_metadata(path).unwrap().ino();
        let mut waiting = vec![path.to_path_buf()];
        while let Some(path) = waiting.pop() {
            let key = Path::new(&number(path.parent().unwrap()).to_string()).join(path.file_name().unwrap());
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let node = if metadata.is_dir() {
                waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                Node::Folder
            } else if metadata.is_symlink() {
                Node::Link(std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            } else {
                Node::File(std::fs::read(&path).unwrap())
            };
            self.certain.names.insert(key, metadata.ino());
            self.certain.nodes.insert(metadata.ino(), node);
        }
        self
    }

    fn apply(&mut self, event: &Event) {
        let event = &self.renumbered(event);
        match event {
            Event::Write { .. } | Event::Length { .. } => self.writes.push(event.clone()),
            Event::Sync { file } => {
                let certain = &mut self.certain;
                self.writes.retain(|write| {
                    let is_synced = written(write) == *file;
                    if is_synced {
                        certain.write(write);
                    }
                    !is_synced
                });
            }
            Event::SyncAll => {
                std::mem::take(&mut self.writes).iter().for_each(|write| self.certain.write(write));
                std::mem::take(&mut self.changes).iter().for_each(|(change, _)| self.certain.change(change));
            }
            Event::SyncFolder { folder } => {
                let certain = &mut self.certain;
                self.changes.retain_mut(|(change, folders)| {
                    folders.remove(folder);
                    if folders.is_empty() {
                        certain.change(change);
                    }
                    !folders.is_empty()
                });
            }
            change => {
                // The content of a new file or folder does not depend on its name.
                self.certain.create(change);
                let folders = paths(change).into_iter().filter_map(|path| path.parent().map(Path::to_path_buf));
                self.changes.push((change.clone(), folders.collect()));
            }
        }
    }

    fn renumbered(&mut self, event: &Event) -> Event {
        let mut event = event.clone();
        if let Event::Folder { folder: number, .. } | Event::Symlink { link: number, .. } = &event
            && !self.files.insert(*number)
        {
            // The names in a folder contain its number, so the earlier file gets another number.
            self.renumbered_count += 1;
            self.renumber(*number, (1 << 62) + self.renumbered_count);
        }
        if let Event::New { file, .. } = &event
            && !self.files.insert(*file)
        {
            // Far from the numbers that file systems use.
            self.renumbered_count += 1;
            self.renumbered_files.insert(*file, (1 << 62) + self.renumbered_count);
        }
        if let Event::New { file, .. }
        | Event::Link { file, .. }
        | Event::Write { file, .. }
        | Event::Length { file, .. }
        | Event::Sync { file } = &mut event
        {
            *file = self.renumbered_files.get(file).copied().unwrap_or(*file);
        }
        event
    }

    fn renumber(&mut self, old: Inode, new: Inode) {
        self.renumbered_files.remove(&old);
        self.certain.names.values_mut().filter(|inode| **inode == old).for_each(|inode| *inode = new);
        if let Some(node) = self.certain.nodes.remove(&old) {
            self.certain.nodes.insert(new, node);
        }
        for event in self.writes.iter_mut().chain(self.changes.iter_mut().map(|(change, _)| change)) {
            if let Event::New { file, .. }
            | Event::Link { file, .. }
            | Event::Write { file, .. }
            | Event::Length { file, .. } = event
                && *file == old
            {
                *file = new;
            }
        }
    }

    /// Every possible state of the disk if the power fails now, without duplicates.
    fn states(&self) -> BTreeSet<DiskState> {
        let mut states = BTreeSet::new();
        for changes in subsets(self.changes.len()) {
            let mut named = self.certain.clone();
            changes.iter().for_each(|&change| named.change(&self.changes[change].0));
            let is_named = |write: &&Event| named.names.values().any(|file| *file == written(write));
            let writes: Vec<&Event> = self.writes.iter().filter(is_named).collect();
            for some in subsets(writes.len()) {
                let mut state = named.clone();
                some.iter().for_each(|&write| state.write(writes[write]));
                state.remove_unnamed();
                states.insert(state);
            }
        }
        states
    }

    /// Calls a function with every state of the disk, for a loss of power at every moment of these events.
    pub fn lose_power(mut self, events: &[Event], mut each: impl FnMut(usize, DiskState)) {
        for moment in 0..=events.len() {
            self.states().into_iter().for_each(|state| each(moment, state));
            if let Some(event) = events.get(moment) {
                self.apply(event);
            }
        }
    }
}

impl DiskState {
    /// The content of the file with this name.
    pub fn file(&self, path: &Path) -> Option<&[u8]> {
        match self.nodes.get(self.names.get(path)?) {
            Some(Node::File(content)) => Some(content),
            _ => None,
        }
    }

    /// The number of the file with this name.
    pub fn inode(&self, path: &Path) -> Option<Inode> {
        self.names.get(path).copied()
    }

    /// Everything below a folder, by its path relative to the folder.
    pub fn below(&self, folder: Inode) -> BTreeMap<PathBuf, Node> {
        let mut found = BTreeMap::new();
        let parent = folder.to_string();
        for (path, inode) in self.names.iter().filter(|(path, _)| path.parent() == Some(Path::new(&parent))) {
            let name = PathBuf::from(path.file_name().unwrap());
            let node = self.nodes[inode].clone();
            if node == Node::Folder {
                found.extend(self.below(*inode).into_iter().map(|(path, node)| (name.join(path), node)));
            }
            found.insert(name, node);
        }
        found
    }

    fn create(&mut self, event: &Event) {
        let (inode, node) = match event {
            Event::New { file, .. } | Event::Link { file, .. } => (file, Node::File(Vec::new())),
            Event::Folder { folder, .. } => (folder, Node::Folder),
            Event::Symlink { link, target, .. } => (link, Node::Link(target.clone())),
            _ => return,
        };
        self.nodes.entry(*inode).or_insert(node);
    }

    /// Applies a change of names. Does nothing if the old name depends on a lost change.
    fn change(&mut self, change: &Event) {
        match change {
            Event::New { file: inode, path }
            | Event::Link { file: inode, path }
            | Event::Folder { folder: inode, path }
            | Event::Symlink { link: inode, path, .. } => {
                self.names.insert(path.clone(), *inode);
            }
            Event::Rename { from, to } => {
                if let Some(inode) = self.names.remove(from) {
                    self.names.insert(to.clone(), inode);
                }
            }
            Event::Exchange { one, other } => {
                if let (Some(&first), Some(&second)) = (self.names.get(one), self.names.get(other)) {
                    self.names.insert(one.clone(), second);
                    self.names.insert(other.clone(), first);
                }
            }
            Event::Unlink { path } => {
                self.names.remove(path);
            }
            _ => {}
        }
    }

    fn write(&mut self, write: &Event) {
        let Node::File(content) = self.nodes.entry(written(write)).or_insert(Node::File(Vec::new())) else { return };
        match write {
            Event::Write { offset, bytes, .. } => {
                let offset = *offset as usize;
                content.resize(content.len().max(offset + bytes.len()), 0);
                content[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            Event::Length { bytes, .. } => content.resize(*bytes as usize, 0),
            _ => {}
        }
    }

    /// Removes files without a name, so that equivalent states are equal.
    fn remove_unnamed(&mut self) {
        let named: BTreeSet<Inode> = self.names.values().copied().collect();
        self.nodes.retain(|inode, _| named.contains(inode));
    }
}

/// The file that was written; 0 for an event that is not a write.
fn written(write: &Event) -> Inode {
    match write {
        Event::Write { file, .. } | Event::Length { file, .. } => *file,
        _ => 0,
    }
}

/// The names that a change affects.
fn paths(change: &Event) -> Vec<&PathBuf> {
    match change {
        Event::New { path, .. }
        | Event::Link { path, .. }
        | Event::Folder { path, .. }
        | Event::Symlink { path, .. }
        | Event::Unlink { path } => vec![path],
        Event::Rename { from, to } => vec![from, to],
        Event::Exchange { one, other } => vec![one, other],
        _ => Vec::new(),
    }
}

/// All subsets of `count` things. For more than five: the empty set, all sets of one, all sets without one, and all prefixes.
fn subsets(count: usize) -> Vec<Vec<usize>> {
    let all = 0..count;
    if count <= 5 {
        return (0..1_u32 << count).map(|set| all.clone().filter(|thing| set >> thing & 1 == 1).collect()).collect();
    }
    let mut some = vec![vec![]];
    some.extend(all.clone().map(|one| vec![one]));
    some.extend(all.clone().map(|one| all.clone().filter(|other| *other != one).collect()));
    some.extend(all.map(|end| (0..=end).collect()));
    some
}
