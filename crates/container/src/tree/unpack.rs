//! Unpacks a tar stream into a folder.
use super::blocks::{damaged, shown};
use super::entry::{EntryKind, TreeEntry};
use super::properties::{LeftOut, LeftOutKind, Properties, UnpackOptions};
use super::read::ArchiveReader;
use super::target::UnpackTarget;
use super::{BUFFER_BYTES, OPEN_FOLDERS, check_cancelled, names};
use crate::format::Version;
use crate::sys::{Opening, Os, Readers, Special, System, is_in_user_space, is_unsupported};
use crate::{Control, Error, ErrorKind};
use cap_std::fs::Dir;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSlice, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::slice;

/// Reads a tar stream from `input` to its end, and makes the folder `target` from it. Returns what was left out.
///
/// `input` must return only verified bytes; an [`Error`] inside of its `io::Error` is returned unchanged. After an error neither `target`
/// nor the temporary folder next to it exists.
///
/// # Errors
/// `OutputExists`; `TreeDamaged`, `TreePath`, `TreeLink`, `TreeSpecialFile` and `TreeDuplicate` for invalid entries, with the entry's path
/// inside the tree; `Interrupted` when `control` is cancelled; every failure of reading and writing.
pub fn unpack(
    input: &mut dyn Read,
    target: &Path,
    options: UnpackOptions,
    control: &Control,
) -> Result<Vec<LeftOut>, Error> {
    unpack_on(&Os, input, target, options, control)
}

pub(crate) fn unpack_on(
    system: &dyn System,
    input: &mut dyn Read,
    target: &Path,
    options: UnpackOptions,
    control: &Control,
) -> Result<Vec<LeftOut>, Error> {
    let target_folder = UnpackTarget::create(system, target, options.force)?;
    let at_target = |error: io::Error| Error::from(error).at(target);
    let parent = target_folder.parent();
    let top = system.open_folder_in(parent, target_folder.temporary()).map_err(at_target)?;
    let buffer = vec![0; BUFFER_BYTES];
    let properties = Properties::new(system, options);
    properties.clear_lists(parent, target_folder.temporary()).map_err(at_target)?;
    let (open, missing, deferred) = (Vec::new(), HashSet::new(), Vec::new());
    let mut unpacker =
        Unpacker { system, top, properties, root: None, has_entries: false, open, missing, deferred, control, buffer };
    let mut reader = ArchiveReader::new(input, options.version);
    while let Some(entry) = reader.next_entry()? {
        check_cancelled(control)?;
        unpacker.unpack(&entry, &mut reader).map_err(|error| match error.kind {
            ErrorKind::Interrupted => error,
            _ if reader.has_input_failed() => error,
            _ => error.at_entry(shown(&entry.path)),
        })?;
    }
    // The index, which whoever reads everything does not need.
    io::copy(reader.input(), &mut io::sink())?;
    unpacker.leave_to(0)?;
    // Windows does not rename a folder that is open.
    let Unpacker { top, mut properties, root, deferred, .. } = unpacker;
    // The innermost come first: nothing is reached through a folder that has its mode.
    for (path, entry) in deferred {
        let (folder, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
        let folder = system.open_below(&top, folder).map_err(at_target)?;
        properties.apply(&folder, name, None, &entry).map_err(|error| error.at_entry(path.clone()))?;
    }
    drop(top);
    if let Some(root) = root {
        properties.apply(parent, target_folder.temporary(), None, &root).map_err(|error| error.at(target))?;
    }
    system.sync_all(parent).map_err(at_target)?;
    check_cancelled(control)?;
    target_folder.install()?;
    Ok(properties.into_left_out())
}

struct Unpacker<'a> {
    system: &'a dyn System,
    top: Dir,
    properties: Properties<'a>,
    root: Option<TreeEntry>,
    /// Whether the stream has entries besides the root's.
    has_entries: bool,
    /// The open folders below the root, up to the folder of the last entry.
    open: Vec<UnpackFolder>,
    /// Names at the top that were left out.
    missing: HashSet<OsString>,
    /// Folders that even their owner cannot enter. They may hold the target of a hard link, and get their modes at the end.
    deferred: Vec<(PathBuf, TreeEntry)>,
    control: &'a Control,
    buffer: Vec<u8>,
}

/// A folder that may still receive entries. Its mode and time are set when it is left: a read-only folder could not be filled, and
/// filling changes the time.
struct UnpackFolder {
    name: OsString,
    /// `None` while too many others are open.
    handle: Option<Dir>,
    entry: TreeEntry,
    /// Names in it that were left out.
    missing: HashSet<OsString>,
}

impl Unpacker<'_> {
    fn unpack(&mut self, entry: &TreeEntry, reader: &mut ArchiveReader<'_>) -> Result<(), Error> {
        let Some(path) = names::split(&entry.path, names::Rules::HERE) else {
            return Err(ErrorKind::TreePath.into());
        };
        let Some((name, parents)) = path.split_last() else {
            return self.unpack_root(entry);
        };
        // Old archives mark folders only by the trailing slash.
        if entry.path.ends_with(b"/") && entry.kind != EntryKind::Folder {
            return Err(ErrorKind::TreePath.into());
        }
        self.has_entries = true;
        self.enter(parents)?;
        let name = to_os(name)?;
        if self.missing().contains(name) {
            return Err(ErrorKind::TreeDuplicate.into());
        }
        match &entry.kind {
            EntryKind::Folder => self.unpack_folder(name, entry),
            EntryKind::File { size_bytes, segments } => {
                let file = self.unpack_file(name, *size_bytes, segments.as_deref(), reader)?;
                self.apply(name, Some(&file), entry)?;
                // Linux syncs all of them at the end.
                if !cfg!(target_os = "linux") || is_in_user_space(&file) {
                    self.system.sync(&file)?;
                }
                Ok(self.system.close(file)?)
            }
            EntryKind::Link { target } => self.unpack_link(name, target, entry),
            EntryKind::HardLink { target } => self.unpack_hard_link(name, target, entry),
            EntryKind::Fifo => self.unpack_special(name, Special::Fifo, entry),
            &EntryKind::Device { is_block, numbers } => {
                self.unpack_special(name, Special::Device { is_block, numbers }, entry)
            }
        }
    }

    fn unpack_root(&mut self, entry: &TreeEntry) -> Result<(), Error> {
        if entry.kind != EntryKind::Folder {
            return Err(ErrorKind::TreePath.into());
        }
        if self.has_entries && self.root.is_none() {
            return Err(damaged("folder after what it holds"));
        }
        match self.root.replace(entry.clone()) {
            Some(_) => Err(ErrorKind::TreeDuplicate.into()),
            None => Ok(()),
        }
    }

    fn unpack_folder(&mut self, name: &OsStr, entry: &TreeEntry) -> Result<(), Error> {
        let system = self.system;
        let parent = self.current()?;
        system.create_folder_in(parent, name, Readers::Owner).map_err(creation_error)?;
        let handle = system.open_folder_in(parent, name)?;
        let (name, handle, missing) = (name.to_owned(), Some(handle), HashSet::new());
        self.open.push(UnpackFolder { name, handle, entry: entry.clone(), missing });
        if let Some(outer) = self.open.len().checked_sub(OPEN_FOLDERS + 1) {
            self.open[outer].handle = None;
        }
        Ok(())
    }

    fn unpack_file(
        &mut self,
        name: &OsStr,
        size_bytes: u64,
        segments: Option<&[Range<u64>]>,
        reader: &mut ArchiveReader<'_>,
    ) -> Result<File, Error> {
        let system = self.system;
        let file = system.open_in(self.current()?, name, Opening::New(Readers::Owner)).map_err(creation_error)?;
        let whole = 0..size_bytes;
        for segment in segments.unwrap_or(slice::from_ref(&whole)) {
            let mut at = segment.start;
            while at < segment.end {
                check_cancelled(self.control)?;
                let most = (segment.end - at).min(BUFFER_BYTES as u64) as usize;
                let count = reader.read_data(&mut self.buffer[..most])?;
                write_all_at(system, &file, &self.buffer[..count], at)?;
                at += count as u64;
            }
        }
        if segments.is_some() {
            system.set_length(&file, size_bytes)?;
        }
        Ok(file)
    }

    /// Makes the link immediately. No later entry can pass through it: an entry's folders are those that are open, and each was made as a
    /// folder.
    fn unpack_link(&mut self, name: &OsStr, target: &[u8], entry: &TreeEntry) -> Result<(), Error> {
        if !names::link_stays_inside(self.open.len(), target, names::Rules::HERE) {
            let is_target = !target.is_empty() && target.len() <= names::MAX_PATH_BYTES && !target.contains(&0);
            if self.properties.options.version == Version::V1 || !is_target {
                return Err(ErrorKind::TreeLink.into());
            }
            if !self.properties.options.preserve {
                self.leave_out(LeftOutKind::Links, name, entry);
                return Ok(());
            }
        }
        let target = to_os(target)?;
        let system = self.system;
        system.create_link_in(self.current()?, name, target).map_err(creation_error)?;
        self.apply(name, None, entry)
    }

    /// Links to a file that was made here before. The target's folders are opened one by one, and none of them is a link.
    fn unpack_hard_link(&mut self, name: &OsStr, target: &[u8], entry: &TreeEntry) -> Result<(), Error> {
        let wrong = || Error::new(ErrorKind::TreeLink).with_detail("hard link to something that is no earlier file");
        let path = names::split(target, names::Rules::HERE).filter(|path| path.join(&b'/') == target);
        let path = path.ok_or_else(wrong)?;
        let (file, folders) = path.split_last().ok_or_else(wrong)?;
        let missing = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => wrong(),
            _ => error.into(),
        };
        let system = self.system;
        let mut folder = system.open_below(&self.top, Path::new(""))?;
        for name in folders {
            folder = system.open_folder_in(&folder, to_os(name)?).map_err(missing)?;
        }
        let file = to_os(file)?;
        if !system.metadata_in(&folder, file).map_err(missing)?.is_file() {
            return Err(wrong());
        }
        match system.link_in(&folder, file, self.current()?, name) {
            Err(error) if error.kind() == io::ErrorKind::TooManyLinks => {
                self.leave_out(LeftOutKind::HardLinks, name, entry);
                Ok(())
            }
            linked => linked.map_err(creation_error),
        }
    }

    fn unpack_special(&mut self, name: &OsStr, special: Special, entry: &TreeEntry) -> Result<(), Error> {
        let system = self.system;
        if self.properties.options.preserve {
            match system.create_special_in(self.current()?, name, special) {
                Ok(()) => return self.apply(name, None, entry),
                Err(error) if is_unsupported(&error) || error.kind() == io::ErrorKind::Unsupported => {}
                Err(error) => return Err(creation_error(error)),
            }
        }
        self.leave_out(LeftOutKind::SpecialFiles, name, entry);
        Ok(())
    }

    fn leave_out(&mut self, kind: LeftOutKind, name: &OsStr, entry: &TreeEntry) {
        self.missing().insert(name.to_owned());
        self.properties.leave_out(kind, entry);
    }

    /// Names in the current folder that were left out.
    fn missing(&mut self) -> &mut HashSet<OsString> {
        self.open.last_mut().map_or(&mut self.missing, |folder| &mut folder.missing)
    }

    /// Gives an entry of the current folder its properties.
    fn apply(&mut self, name: &OsStr, file: Option<&File>, entry: &TreeEntry) -> Result<(), Error> {
        let folder = current(self.system, &self.top, &mut self.open)?;
        self.properties.apply(folder, name, file, entry)
    }

    /// Leaves folders until the innermost open one has these names. No folder is entered twice.
    fn enter(&mut self, parents: &[&[u8]]) -> Result<(), Error> {
        let same = |(folder, name): &(&UnpackFolder, &&[u8])| names::to_os(name) == Some(&*folder.name);
        let shared = self.open.iter().zip(parents).take_while(same).count();
        self.leave_to(shared)?;
        let Some(missing) = parents.get(shared) else {
            return Ok(());
        };
        let system = self.system;
        match system.metadata_in(self.current()?, to_os(missing)?) {
            Ok(metadata) if metadata.is_symlink() => {
                Err(Error::new(ErrorKind::TreeLink).with_detail("entry is below a link"))
            }
            _ => Err(damaged("entry does not follow its folder")),
        }
    }

    /// Leaves the innermost folders until `depth` folders are open.
    fn leave_to(&mut self, depth: usize) -> Result<(), Error> {
        while self.open.len() > depth {
            let Some(UnpackFolder { name, handle, entry, .. }) = self.open.pop() else { break };
            drop(handle);
            if entry.mode & 0o500 != 0o500 {
                self.deferred.push((self.path().join(&name), entry));
                continue;
            }
            self.apply(&name, None, &entry).map_err(|error| error.at_entry(self.path().join(&name)))?;
        }
        Ok(())
    }

    /// The innermost open folder.
    fn current(&mut self) -> Result<&Dir, Error> {
        current(self.system, &self.top, &mut self.open)
    }

    /// The innermost open folder's path inside the tree.
    fn path(&self) -> PathBuf {
        self.open.iter().map(|folder| &folder.name).collect()
    }
}

/// The innermost open folder, or the top.
fn current<'f>(system: &dyn System, top: &'f Dir, open: &'f mut [UnpackFolder]) -> Result<&'f Dir, Error> {
    let path: PathBuf = match open.last() {
        Some(UnpackFolder { handle: None, .. }) => open.iter().map(|folder| &folder.name).collect(),
        _ => PathBuf::new(),
    };
    match open.last_mut() {
        None => Ok(top),
        Some(UnpackFolder { handle: Some(handle), .. }) => Ok(handle),
        // Every component of this path was made here as a folder.
        Some(UnpackFolder { handle, .. }) => Ok(handle.insert(system.open_below(top, &path)?)),
    }
}

fn write_all_at(system: &dyn System, file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match system.write_at(file, &[IoSlice::new(bytes)], at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn to_os(name: &[u8]) -> Result<&OsStr, Error> {
    names::to_os(name).ok_or_else(|| ErrorKind::TreePath.into())
}

/// Every name is created and none is replaced, so a name that is taken occurred twice, possibly in another case.
fn creation_error(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => ErrorKind::TreeDuplicate.into(),
        _ => error.into(),
    }
}
