//! Packs a folder, or several files and folders, into a tar stream with an index.
use super::ahead::{Ahead, Blocks, Found, Look, Looker, Name, OpenedFile, Rest, change_of, read_at};
use super::entry::{EntryKind, Owner, TreeEntry};
use super::exclude::Exclude;
use super::index::{IndexWriter, Member};
use super::metadata::{self, FileIdentity};
use super::read::MAX_OWNER_BYTES;
use super::{BUFFER_BYTES, OPEN_FOLDERS, attributes, check_cancelled, names, sparse, write};
use crate::sys::{Attributed, Os, System};
use crate::{Control, Error, ErrorKind};
use cap_std::fs::{Dir, Metadata};
use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most bytes of the attributes of one entry.
const MAX_ATTRIBUTE_BYTES: usize = 1000 << 10;

/// Called with every error after which a run continues.
pub type OnError<'s> = &'s mut dyn FnMut(&Error);

/// Which entries a tree gets.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PackOptions {
    /// Continues after an entry that cannot be read, and after one that changes while it is read. Otherwise both are errors.
    pub go_on: bool,
    /// Stores FIFOs and devices. Sockets are never stored.
    pub special: bool,
    /// Leaves out the other special files on purpose: reported, and not counted.
    pub skip_special: bool,
    /// Leaves out extended attributes and access lists.
    pub without_attributes: bool,
    /// Does not enter folders of other file systems. They are stored empty.
    pub one_file_system: bool,
    /// Leaves out what one of these patterns matches, without a report: see [`Exclude`](super::Exclude).
    pub exclude: Vec<String>,
}

/// Numbers of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packed {
    /// Entries of the tree.
    pub entries: u64,
    /// Entries that are not in the tree although nobody asked for that.
    pub left_out: u64,
    /// Files that changed, or could not be read to their end. They have the length that they had when they were opened. Also entries
    /// without their attributes, which could not be read.
    pub changed: u64,
}

/// The input of a packer.
#[derive(Clone, Copy)]
pub(crate) enum Inputs<'a> {
    Folder(&'a Path),
    /// Entries of the top, which itself has no entry.
    Several(&'a [PathBuf]),
}

/// Writes the folder `root` to `out`, as a tar stream with an index. Every problem is an error.
///
/// If `root` is a symbolic link it is followed; links inside the tree are not. Memory holds one folder's names for each level of depth, and
/// the index.
///
/// # Errors
/// Every failure of reading and writing; `TreeSpecialFile` for a socket, FIFO or device; `TreePath` for a name that a tree cannot hold;
/// `InputChanged` for a file or folder that changed in the meantime; `Interrupted` when `control` is cancelled. They name the file.
pub fn pack(root: &Path, out: &mut dyn Write, control: &Control) -> Result<(), Error> {
    pack_with(root, out, &PackOptions::default(), control, &mut |_| {}).map(drop)
}

/// Like [`pack`], with options.
///
/// # Errors
/// The errors of [`pack`]. With `go_on`, those about files go to `on_error`, and only those of `out` and of the root end the run.
pub fn pack_with(
    root: &Path,
    out: &mut dyn Write,
    options: &PackOptions,
    control: &Control,
    on_error: OnError<'_>,
) -> Result<Packed, Error> {
    pack_on(&Os, Inputs::Folder(root), out, options, 0, control, on_error)
}

pub(crate) fn pack_on(
    system: &dyn System,
    inputs: Inputs<'_>,
    out: &mut dyn Write,
    options: &PackOptions,
    threads: usize,
    control: &Control,
    on_error: OnError<'_>,
) -> Result<Packed, Error> {
    let exclude = Exclude::parse(&options.exclude)?;
    let (goes_on, has_attributes) = (options.go_on, !options.without_attributes);
    let held = AtomicUsize::new(0);
    let looker = Looker { system, control, goes_on, has_attributes, held: &held };
    std::thread::scope(|scope| {
        let mut packer = Packer {
            system,
            root: PathBuf::new(),
            top: None,
            path: PathBuf::new(),
            open: Vec::new(),
            out: Counting { out, bytes: 0 },
            options,
            exclude,
            control,
            looker,
            ahead: Ahead::start(looker, threads, scope),
            buffer: vec![0; BUFFER_BYTES],
            on_error,
            index: IndexWriter::default(),
            links: HashMap::new(),
            owner_names: HashMap::new(),
            packed: Packed::default(),
        };
        match inputs {
            Inputs::Folder(root) => packer.pack_root(root)?,
            Inputs::Several(paths) => packer.pack_several(paths)?,
        }
        packer.finish()
    })
}

/// The output, with the number of bytes that it got.
struct Counting<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

struct Packer<'a, 's> {
    system: &'a dyn System,
    /// Path of the top for messages.
    root: PathBuf,
    top: Option<Dir>,
    /// Path of the innermost open folder, relative to the root.
    path: PathBuf,
    /// The open folders, from the root to the current one.
    open: Vec<PackFolder>,
    out: Counting<'a>,
    options: &'a PackOptions,
    exclude: Exclude,
    control: &'a Control,
    looker: Looker<'a>,
    ahead: Ahead<'a>,
    buffer: Vec<u8>,
    on_error: OnError<'s>,
    index: IndexWriter,
    /// Paths of the files with several names, and which version each is: another file may get the number of a removed one.
    links: HashMap<(u64, u64), (Vec<u8>, FileIdentity)>,
    /// Names by number and whether it is a group's.
    owner_names: HashMap<(u32, bool), Vec<u8>>,
    packed: Packed,
}

struct PackFolder {
    /// `None` while too many others are open.
    handle: Option<Arc<Dir>>,
    /// `None` for the folder of an input, of which nothing else is packed.
    identity: Option<FileIdentity>,
    /// Names that nobody has looked at; the next one is the last.
    names: Vec<Name>,
    blocks: Blocks,
    /// Entries that come before those of the blocks.
    looks: VecDeque<Look>,
}

impl PackFolder {
    fn new(handle: Dir, identity: Option<FileIdentity>, names: Vec<Name>) -> Self {
        let handle = Some(Arc::new(handle));
        Self { handle, identity, names, blocks: Blocks::new(), looks: VecDeque::new() }
    }
}

impl Packer<'_, '_> {
    fn pack_root(&mut self, root: &Path) -> Result<(), Error> {
        let at_root = |error: io::Error| Error::from(error).at(root);
        let top = self.system.open_folder(root).map_err(at_root)?;
        let metadata = self.system.folder_metadata(&top).map_err(at_root)?;
        let handle = self.system.open_below(&top, Path::new("")).map_err(at_root)?;
        self.root = root.into();
        self.top = Some(top);
        self.enter(handle, &metadata)?;
        self.walk()
    }

    fn pack_several(&mut self, paths: &[PathBuf]) -> Result<(), Error> {
        let mut named = Vec::new();
        for path in paths {
            let at_path = |error: io::Error| Error::from(error).at(path);
            let full = match path.file_name() {
                Some(_) => path.clone(),
                None => self.system.canonical(path).map_err(at_path)?,
            };
            let name = full.file_name().ok_or_else(|| Error::new(ErrorKind::TreePath).at(path))?.to_owned();
            named.push((name, full));
        }
        named.sort_unstable_by(|(one, _), (other, _)| one.as_encoded_bytes().cmp(other.as_encoded_bytes()));
        if let Some(pair) = named.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::new(ErrorKind::Usage).with_detail("two inputs have one name").at(&pair[1].1));
        }
        for (name, path) in named {
            let parent = path.parent().unwrap_or(Path::new(""));
            let opened = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let at_path = |error: io::Error| Error::from(error).at(&path);
            let top = self.system.open_folder(opened).map_err(at_path)?;
            // A wrong name on the command line is an error in any case.
            let found = self.system.metadata_in(&top, &name).map_err(at_path)?;
            // `link/` and `link/.` are the folder, of which the name is somewhere else.
            if found.is_symlink() && !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) {
                let detail = "a link among several inputs is stored as a link: name its target";
                return Err(Error::new(ErrorKind::Usage).with_detail(detail).at(&path));
            }
            let handle = self.system.open_below(&top, Path::new("")).map_err(at_path)?;
            self.root = parent.into();
            self.top = Some(top);
            self.open.push(PackFolder::new(handle, None, vec![Name { name, is_file: false }]));
            self.walk()?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Packed, Error> {
        debug_assert_eq!(self.looker.held.load(Ordering::Relaxed), 0);
        write::write_end(&mut self.out)?;
        self.packed.entries = self.index.entries();
        let index = self.index.finish(self.out.bytes);
        self.out.write_all(&index)?;
        Ok(self.packed)
    }

    fn walk(&mut self) -> Result<(), Error> {
        while !self.open.is_empty() {
            check_cancelled(self.control)?;
            match self.next_look()? {
                Some(look) => self.pack_entry(look)?,
                None => self.leave()?,
            }
        }
        Ok(())
    }

    /// The next entry of the current folder.
    fn next_look(&mut self) -> Result<Option<Look>, Error> {
        let folder = self.open.last().expect("a folder is open while the walk lasts");
        if folder.looks.is_empty()
            && !folder.names.is_empty()
            && let Err(error) = self.reopen()
        {
            self.leave_out(error)?;
            self.open.last_mut().expect("is open").names.clear();
        }
        let Some(PackFolder { handle, names, blocks, looks, .. }) = self.open.last_mut() else { return Ok(None) };
        if looks.is_empty() && (!names.is_empty() || !blocks.is_empty()) {
            looks.extend(self.ahead.next(handle.as_ref(), names, blocks));
        }
        Ok(looks.pop_front().inspect(|look| self.looker.let_go(look)))
    }

    /// Reports an entry that is not in the tree. Returns the error if it ends the run.
    fn leave_out(&mut self, error: Error) -> Result<(), Error> {
        self.packed.left_out += 1;
        self.go_on_after(error)
    }

    fn go_on_after(&mut self, error: Error) -> Result<(), Error> {
        if !self.options.go_on || error.kind == ErrorKind::Interrupted {
            return Err(error);
        }
        (self.on_error)(&error);
        Ok(())
    }

    fn pack_entry(&mut self, look: Look) -> Result<(), Error> {
        let Look { name, metadata, file } = look;
        let path = self.path.join(&name);
        let shown = self.root.join(&path);
        let metadata = metadata.map_err(|error| match error.kind() {
            // The name was listed a moment ago: if it is gone, the tree has changed.
            io::ErrorKind::NotFound if !self.options.go_on => ErrorKind::InputChanged.into(),
            _ => Error::from(error),
        });
        let (stored, metadata) = match metadata.and_then(|metadata| Ok((self.stored_path(&path)?, metadata))) {
            Ok(found) => found,
            Err(error) => return self.leave_out(error.at(shown)),
        };
        if metadata.is_file() {
            return self.pack_file(&name, stored, &shown, &metadata, file);
        }
        if let Err(error) = self.reopen() {
            return self.leave_out(error.at(shown));
        }
        if metadata.is_dir() {
            return match self.open_folder(&name, &metadata) {
                Ok((handle, opened)) => {
                    self.path = path;
                    self.enter(handle, &opened)
                }
                Err(error) => self.leave_out(error.at(shown)),
            };
        }
        let kind = if metadata.is_symlink() {
            match self.link(&name) {
                Ok(kind) => kind,
                Err(error) => return self.leave_out(error.at(shown)),
            }
        } else {
            match metadata::special(&metadata).filter(|_| self.options.special) {
                Some(kind) => kind,
                None => return self.leave_out_special(&metadata, shown),
            }
        };
        let place = self.out.bytes;
        let found = self.looker.attributes(Attributed::In(self.current(), &name));
        let attributes = self.attributes(found, &shown)?;
        let entry = self.entry(stored, kind, &metadata, attributes);
        self.write_header(&entry)?;
        self.index.push(Member::of(&entry, place, false));
        Ok(())
    }

    fn leave_out_special(&mut self, metadata: &Metadata, shown: PathBuf) -> Result<(), Error> {
        let what = if metadata::special(metadata).is_some() { "FIFO or device" } else { "socket" };
        let error = Error::new(ErrorKind::TreeSpecialFile).at(shown).with_detail(what);
        if !self.options.skip_special {
            return self.leave_out(error);
        }
        (self.on_error)(&error);
        Ok(())
    }

    fn open_folder(&self, name: &OsStr, seen: &Metadata) -> Result<(Dir, Metadata), Error> {
        let handle = self.system.open_folder_in(self.current(), name)?;
        let opened = self.system.folder_metadata(&handle)?;
        match self.looker.is_unchanged(&FileIdentity::of(&opened), &FileIdentity::of(seen)) {
            true => Ok((handle, opened)),
            false => Err(ErrorKind::InputChanged.into()),
        }
    }

    fn link(&self, name: &OsStr) -> Result<EntryKind, Error> {
        let target = self.system.read_link_in(self.current(), name)?;
        let target = link_target(&target).filter(|target| (1..=names::MAX_PATH_BYTES).contains(&target.len()));
        Ok(EntryKind::Link { target: target.ok_or(ErrorKind::TreePath)? })
    }

    fn pack_file(
        &mut self,
        name: &OsStr,
        path: Vec<u8>,
        shown: &Path,
        seen: &Metadata,
        opened: Option<Result<OpenedFile, Error>>,
    ) -> Result<(), Error> {
        let place = self.out.bytes;
        if let Some(Err(error)) = opened {
            return self.leave_out(error.at(shown));
        }
        if let Some((target, version)) = metadata::shared_inode(seen).and_then(|inode| self.links.get(&inode))
            && *version == FileIdentity::of(seen)
        {
            let kind = EntryKind::HardLink { target: target.clone() };
            let entry = self.entry(path, kind, seen, Vec::new());
            self.write_header(&entry)?;
            self.index.push(Member::of(&entry, place, false));
            return Ok(());
        }
        let opened = match opened {
            Some(opened) => opened,
            None => self.reopen().and_then(|()| {
                let folder = self.open.last().and_then(|folder| folder.handle.as_ref()).expect("reopened before use");
                self.looker.open(folder, name, seen, &mut self.buffer)
            }),
        };
        let OpenedFile { metadata, size_bytes, segments, start, attributes, rest } = match opened {
            Ok(opened) => opened,
            Err(error) => return self.leave_out(error.at(shown)),
        };
        let changed = self.packed.changed;
        let attributes = self.attributes(attributes, shown)?;
        let entry = self.entry(path, EntryKind::File { size_bytes, segments }, &metadata, attributes);
        self.write_header(&entry)?;
        let problem = match rest {
            Rest::Read(problem) => {
                self.out.write_all(&start)?;
                write::write_padding(&mut self.out, size_bytes)?;
                problem
            }
            Rest::File(file) => {
                let problem = self.copy_data(&file, &entry, &start)?;
                problem.or_else(|| change_of(self.system, &file, &metadata))
            }
        };
        let is_changed = problem.is_some();
        if let Some(error) = problem {
            // Once, also if it lacks its attributes.
            self.packed.changed = changed + 1;
            self.go_on_after(error.at(shown))?;
        }
        self.index.push(Member::of(&entry, place, is_changed));
        if let Some(inode) = metadata::shared_inode(&metadata) {
            self.links.insert(inode, (entry.path, FileIdentity::of(&metadata)));
        }
        Ok(())
    }

    /// Writes a file's data, of which `start` has been read. Missing data become zeros; then it returns the reason.
    fn copy_data(&mut self, file: &File, entry: &TreeEntry, start: &[u8]) -> Result<Option<Error>, Error> {
        let EntryKind::File { size_bytes, segments } = &entry.kind else { return Ok(None) };
        let whole = 0..*size_bytes;
        let segments: &[Range<u64>] = segments.as_deref().unwrap_or(slice::from_ref(&whole));
        let kept = start.len().min(usize::try_from(*size_bytes).unwrap_or(usize::MAX));
        self.out.write_all(&start[..kept])?;
        let mut problem = None;
        for segment in segments {
            let mut at = segment.start.max(kept as u64);
            while at < segment.end {
                check_cancelled(self.control)?;
                let most = (segment.end - at).min(BUFFER_BYTES as u64);
                let count = match &problem {
                    Some(_) => 0,
                    None => self.read_at(file, most, at).unwrap_or_else(|error| {
                        problem = Some(error.into());
                        0
                    }),
                };
                if count == 0 {
                    problem.get_or_insert(ErrorKind::InputChanged.into());
                    self.buffer[..most as usize].fill(0);
                }
                let count = if count == 0 { most as usize } else { count };
                self.out.write_all(&self.buffer[..count])?;
                at += count as u64;
            }
        }
        write::write_padding(&mut self.out, sparse::data_bytes(segments))?;
        // One more read than the size requires must find the end, also where the status does not report the length.
        if problem.is_none() && start.len() as u64 != *size_bytes {
            problem = match self.read_at(file, 1, *size_bytes) {
                Ok(0) => None,
                Ok(_) => Some(ErrorKind::InputChanged.into()),
                Err(error) => Some(error.into()),
            };
        }
        Ok(problem)
    }

    /// Reads at most `most` bytes into the buffer. Returns 0 at the end of the file.
    fn read_at(&mut self, file: &File, most: u64, at: u64) -> io::Result<usize> {
        read_at(self.system, file, &mut self.buffer[..most as usize], at)
    }

    /// The records of an entry's attributes; none after an error.
    fn attributes(&mut self, found: io::Result<Found>, shown: &Path) -> Result<Vec<attributes::Record>, Error> {
        let records = found.map_err(Error::from).and_then(|found| {
            let records = found.iter().filter_map(|(name, value)| attributes::to_record(name, value));
            let mut records: Vec<_> = records.collect();
            records.sort_unstable();
            let bytes: usize = records.iter().map(|(key, value)| key.len() + value.len() + 20).sum();
            if bytes > MAX_ATTRIBUTE_BYTES { Err(ErrorKind::MessageTooLong.into()) } else { Ok(records) }
        });
        records.or_else(|error| {
            self.packed.changed += 1;
            self.go_on_after(error.at(shown).with_detail("its attributes"))?;
            Ok(Vec::new())
        })
    }

    fn entry(
        &mut self,
        path: Vec<u8>,
        kind: EntryKind,
        metadata: &Metadata,
        attributes: Vec<attributes::Record>,
    ) -> TreeEntry {
        let ids = metadata::owner_ids(metadata);
        let system = self.system;
        let mut name = |id, is_group| {
            // Readers refuse a longer name. The number is stored in any case.
            let known = || system.owner_name(id, is_group).filter(|name| name.len() <= MAX_OWNER_BYTES);
            let find = || known().unwrap_or_default().into_bytes();
            self.owner_names.entry((id, is_group)).or_insert_with(find).clone()
        };
        let owner = Owner { ids, names: [name(ids[0], false), name(ids[1], true)] };
        let (mode, modified) = (metadata::mode(metadata), metadata::modified(metadata));
        TreeEntry { path, kind, mode, modified, owner, attributes }
    }

    /// Packs the folder at `self.path` itself, and lists its contents.
    fn enter(&mut self, handle: Dir, metadata: &Metadata) -> Result<(), Error> {
        let shown = self.shown();
        let mut stored = match self.open.is_empty() {
            true => b".".to_vec(),
            false => self.stored_path(&self.path)?,
        };
        stored.push(b'/');
        let (place, changed) = (self.out.bytes, self.packed.changed);
        let found = self.looker.attributes(Attributed::In(&handle, OsStr::new(".")));
        let attributes = self.attributes(found, &shown)?;
        let entry = self.entry(stored, EntryKind::Folder, metadata, attributes);
        self.write_header(&entry)?;
        self.index.push(Member::of(&entry, place, false));
        // Folders in /sys, too, get their times when somebody asks for their attributes.
        let metadata = &self.system.folder_metadata(&handle).map_err(|error| Error::from(error).at(&shown))?;
        let mut names = Vec::new();
        if !self.is_other_file_system(metadata)? {
            match self.system.list(&handle) {
                Ok(listed) => names = listed,
                Err(error) if self.open.is_empty() => return Err(Error::from(error).at(shown)),
                // It is in the tree without its contents, and counted once, also if it lacks its attributes.
                Err(error) => {
                    self.packed.changed = changed;
                    self.leave_out(Error::from(error).at(shown))?;
                }
            }
        }
        names.retain(|(name, _)| !self.exclude.matches(&self.path, name));
        names.sort_unstable_by(|(one, _), (other, _)| other.as_encoded_bytes().cmp(one.as_encoded_bytes()));
        let names = names.into_iter().map(|(name, kind)| Name { name, is_file: kind.is_file() }).collect();
        self.open.push(PackFolder::new(handle, Some(FileIdentity::of(metadata)), names));
        if let Some(outer) = self.open.len().checked_sub(OPEN_FOLDERS + 1) {
            self.open[outer].handle = None;
        }
        Ok(())
    }

    /// Whether a folder is where another file system is mounted, and these are not wanted.
    fn is_other_file_system(&self, metadata: &Metadata) -> Result<bool, Error> {
        let Some(outer) = self.open.last().filter(|_| self.options.one_file_system) else { return Ok(false) };
        let Some(handle) = outer.handle.as_ref().filter(|_| outer.identity.is_some()) else { return Ok(false) };
        let outer = self.system.folder_metadata(handle).map_err(|error| Error::from(error).at(self.shown()))?;
        Ok(metadata::device(&outer) != metadata::device(metadata))
    }

    /// Leaves the current folder, which must not have changed since it was listed if changes are errors.
    fn leave(&mut self) -> Result<(), Error> {
        if !self.options.go_on && self.open.last().is_some_and(|folder| folder.identity.is_some()) {
            let shown = self.shown();
            self.reopen().map_err(|error| error.at(&shown))?;
            let metadata =
                self.system.folder_metadata(self.current()).map_err(|error| Error::from(error).at(&shown))?;
            if self.open.last().is_some_and(|left| left.identity != Some(FileIdentity::of(&metadata))) {
                return Err(Error::new(ErrorKind::InputChanged).at(&shown));
            }
        }
        self.open.pop();
        self.path.pop();
        Ok(())
    }

    /// Makes sure that the current folder's handle is open.
    fn reopen(&mut self) -> Result<(), Error> {
        let shown = self.shown();
        let folder = self.open.last().expect("a folder is open while the walk lasts");
        if folder.handle.is_none() {
            let top = self.top.as_ref().expect("was opened first");
            let handle = self.system.open_below(top, &self.path).map_err(|error| Error::from(error).at(&shown))?;
            let metadata = self.system.folder_metadata(&handle).map_err(|error| Error::from(error).at(&shown))?;
            // The path may have changed: a link may have replaced one of its folders.
            let now = FileIdentity::of(&metadata);
            if folder.identity.as_ref().is_none_or(|before| !self.looker.is_unchanged(&now, before)) {
                return Err(Error::new(ErrorKind::InputChanged).at(&shown));
            }
            self.open.last_mut().expect("is open").handle = Some(Arc::new(handle));
        }
        Ok(())
    }

    /// Path of the current folder, for messages.
    fn shown(&self) -> PathBuf {
        match self.path.as_os_str().is_empty() {
            true => self.root.clone(),
            false => self.root.join(&self.path),
        }
    }

    fn current(&self) -> &Dir {
        self.open.last().and_then(|folder| folder.handle.as_ref()).expect("reopened before use")
    }

    fn write_header(&mut self, entry: &TreeEntry) -> Result<(), Error> {
        write::write_header(&mut self.out, entry).map_err(Error::from)
    }

    /// A path as the tree stores it.
    fn stored_path(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let names: Option<Vec<&[u8]>> = path.iter().map(names::to_bytes).collect();
        let stored = names.map(|names| names.join(&b'/'));
        // A slash is appended to a folder's path.
        let stored = stored.filter(|stored| stored.len() < names::MAX_PATH_BYTES);
        stored
            .filter(|stored| names::is_path(stored, names::Rules::HERE))
            .ok_or_else(|| Error::new(ErrorKind::TreePath).at(self.root.join(path)))
    }
}

/// A link's target as the tree stores it, with `/` between names.
fn link_target(target: &Path) -> Option<Vec<u8>> {
    let bytes = names::to_bytes(target.as_os_str())?;
    match cfg!(windows) {
        true => Some(bytes.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect()),
        false => Some(bytes.to_vec()),
    }
}
