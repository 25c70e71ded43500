//! What a disk may hold when the power fails, by the promises of `recording.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file or folder, by its number in the file system.
pub type Inode = u64;

/// What changed, or was made certain. Paths are names in folders; where a folder has a handle, its number stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Write {
        file: Inode,
        offset: u64,
        bytes: Vec<u8>,
    },
    /// Cut, or grown by zeros.
    Length {
        file: Inode,
        bytes: u64,
    },
    Sync {
        file: Inode,
    },
    /// Everything so far is certain.
    SyncAll,
    /// A new file. Its number may have been that of one that is gone.
    New {
        file: Inode,
        path: PathBuf,
    },
    /// A new name of a file that had none.
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

/// What is below a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    File(Vec<u8>),
    Folder,
    Link(Vec<u8>),
}

/// One of the states that a disk may be found in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    names: BTreeMap<PathBuf, Inode>,
    nodes: BTreeMap<Inode, Node>,
}

/// A change of names, and the folders that have to be synced until it is certain.
type Change = (Event, BTreeSet<PathBuf>);

/// What a disk may hold.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    /// What is certain.
    certain: State,
    /// What came since, and may be there or not.
    writes: Vec<Event>,
    changes: Vec<Change>,
    /// Numbers of ours for files whose number comes the second time.
    again: BTreeMap<Inode, Inode>,
    files: BTreeSet<Inode>,
    reused: Inode,
}

impl Disk {
    /// A file that has been there for long.
    pub fn with(mut self, path: &Path) -> Self {
        let number = std::fs::metadata(path).unwrap().ino();
        self.certain.names.insert(path.into(), number);
        self.certain.nodes.insert(number, Node::File(std::fs::read(path).unwrap()));
        self
    }

    /// A folder that has been there for long, with all that it holds; folders have handles.
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

    pub fn apply(&mut self, event: &Event) {
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
                // What is in a new file or folder does not depend on its name.
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
            // Names in a folder have its number, so that it is the file before that gets another one.
            self.reused += 1;
            self.renumber(*number, (1 << 62) + self.reused);
        }
        if let Event::New { file, .. } = &event
            && !self.files.insert(*file)
        {
            // Far from what file systems use.
            self.reused += 1;
            self.again.insert(*file, (1 << 62) + self.reused);
        }
        if let Event::New { file, .. }
        | Event::Link { file, .. }
        | Event::Write { file, .. }
        | Event::Length { file, .. }
        | Event::Sync { file } = &mut event
        {
            *file = self.again.get(file).copied().unwrap_or(*file);
        }
        event
    }

    fn renumber(&mut self, old: Inode, new: Inode) {
        self.again.remove(&old);
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

    /// Every state that the disk may be found in if the power fails now; each once.
    pub fn states(&self) -> BTreeSet<State> {
        let mut states = BTreeSet::new();
        for changes in subsets(self.changes.len()) {
            let mut named = self.certain.clone();
            changes.iter().for_each(|&change| named.change(&self.changes[change].0));
            let is_named = |write: &&Event| named.names.values().any(|file| *file == written(write));
            let writes: Vec<&Event> = self.writes.iter().filter(is_named).collect();
            for some in subsets(writes.len()) {
                let mut state = named.clone();
                some.iter().for_each(|&write| state.write(writes[write]));
                state.forget_the_nameless();
                states.insert(state);
            }
        }
        states
    }

    /// What may lie under a name, if the power fails now: every content that is possible, and `None` for no file.
    pub fn possible(&self, path: &Path) -> Vec<Option<Vec<u8>>> {
        self.states().iter().map(|state| state.file(path).map(<[u8]>::to_vec)).collect()
    }
}

impl State {
    fn file(&self, path: &Path) -> Option<&[u8]> {
        match self.nodes.get(self.names.get(path)?) {
            Some(Node::File(content)) => Some(content),
            _ => None,
        }
    }

    /// What has this name.
    pub fn inode(&self, path: &Path) -> Option<Inode> {
        self.names.get(path).copied()
    }

    /// Everything below a folder, by its path from there.
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

    /// A name that a lost change should have made cannot be renamed.
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

    /// So that states that look the same are the same.
    fn forget_the_nameless(&mut self) {
        let named: BTreeSet<Inode> = self.names.values().copied().collect();
        self.nodes.retain(|inode, _| named.contains(inode));
    }
}

/// The file that a write is of; 0 for what is none.
fn written(write: &Event) -> Inode {
    match write {
        Event::Write { file, .. } | Event::Length { file, .. } => *file,
        _ => 0,
    }
}

/// The names that a change is about.
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

/// All subsets of so many things; of more than five: none, all, each alone, each missing, and those from the first on.
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
