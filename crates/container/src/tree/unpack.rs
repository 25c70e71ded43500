//! Unpacks a tar stream into a folder.
use super::entry::{EntryKind, TreeEntry};
use super::read::{ArchiveReader, damaged, shown};
use super::target::UnpackTarget;
use super::{BUFFER_BYTES, OPEN_FOLDERS, check_cancelled, names};
use crate::sys::{FileTime, Opening, Os, Readers, System};
use crate::{Control, Error, ErrorKind};
use cap_std::fs::Dir;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSlice, Read};
use std::path::{Path, PathBuf};

/// Reads a tar stream from `input` to its end, and makes the folder `target` from it.
///
/// `input` must return only verified bytes; an [`Error`] inside of its `io::Error` is returned unchanged. With `force` an existing folder
/// is replaced as a whole, after the new one is complete. After an error neither `target` nor the temporary folder next to it exists.
///
/// # Errors
/// `OutputExists`; `TreeDamaged`, `TreePath`, `TreeLink`, `TreeSpecialFile` and `TreeDuplicate` for invalid entries, with the entry's path
/// inside the tree; `Interrupted` when `control` is cancelled; every failure of reading and writing.
pub fn unpack(input: &mut dyn Read, target: &Path, force: bool, control: &Control) -> Result<(), Error> {
    unpack_on(&Os, input, target, force, control)
}

pub(crate) fn unpack_on(
    system: &dyn System,
    input: &mut dyn Read,
    target: &Path,
    force: bool,
    control: &Control,
) -> Result<(), Error> {
    let target_folder = UnpackTarget::create(system, target, force)?;
    let at_target = |error: io::Error| Error::from(error).at(target);
    let parent = target_folder.parent();
    let top = system.open_folder_in(parent, target_folder.temporary()).map_err(at_target)?;
    let buffer = vec![0; BUFFER_BYTES];
    let mut unpacker =
        Unpacker { system, top, root_attributes: None, has_entries: false, open: Vec::new(), control, buffer };
    let mut reader = ArchiveReader::new(input);
    while let Some(entry) = reader.next_entry()? {
        check_cancelled(control)?;
        unpacker.unpack(&entry, &mut reader).map_err(|error| match error.kind {
            ErrorKind::Interrupted => error,
            _ if reader.has_input_failed() => error,
            _ => error.at_entry(shown(&entry.path)),
        })?;
    }
    unpacker.leave_to(0)?;
    let root_attributes = unpacker.root_attributes;
    // Windows does not rename a folder that is open.
    drop(unpacker);
    if let Some((mode, modified)) = root_attributes {
        set_attributes(system, parent, target_folder.temporary(), mode, modified).map_err(at_target)?;
    }
    system.sync_all(parent).map_err(at_target)?;
    check_cancelled(control)?;
    target_folder.install()
}

struct Unpacker<'a> {
    system: &'a dyn System,
    top: Dir,
    root_attributes: Option<(u32, FileTime)>,
    /// Whether the stream has entries besides the root's.
    has_entries: bool,
    /// The open folders below the root, up to the folder of the last entry.
    open: Vec<UnpackFolder>,
    control: &'a Control,
    buffer: Vec<u8>,
}

/// A folder that may still receive entries. Its mode and time are set when it is left: a read-only folder could not be filled, and
/// filling changes the time.
struct UnpackFolder {
    name: OsString,
    /// `None` while too many others are open.
    handle: Option<Dir>,
    mode: u32,
    modified: FileTime,
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
        match &entry.kind {
            EntryKind::Folder => self.unpack_folder(name, entry),
            EntryKind::File { .. } => self.unpack_file(name, entry, reader),
            EntryKind::Link { target } => self.unpack_link(name, target, entry.modified),
        }
    }

    fn unpack_root(&mut self, entry: &TreeEntry) -> Result<(), Error> {
        if entry.kind != EntryKind::Folder {
            return Err(ErrorKind::TreePath.into());
        }
        if self.has_entries && self.root_attributes.is_none() {
            return Err(damaged("folder after what it holds"));
        }
        match self.root_attributes.replace((entry.mode, entry.modified)) {
            Some(_) => Err(ErrorKind::TreeDuplicate.into()),
            None => Ok(()),
        }
    }

    fn unpack_folder(&mut self, name: &OsStr, entry: &TreeEntry) -> Result<(), Error> {
        let system = self.system;
        let parent = self.current()?;
        system.create_folder_in(parent, name, Readers::Owner).map_err(creation_error)?;
        let handle = system.open_folder_in(parent, name)?;
        let name = name.to_owned();
        self.open.push(UnpackFolder { name, handle: Some(handle), mode: entry.mode, modified: entry.modified });
        if let Some(outer) = self.open.len().checked_sub(OPEN_FOLDERS + 1) {
            self.open[outer].handle = None;
        }
        Ok(())
    }

    fn unpack_file(&mut self, name: &OsStr, entry: &TreeEntry, reader: &mut ArchiveReader<'_>) -> Result<(), Error> {
        let system = self.system;
        let file = system.open_in(self.current()?, name, Opening::New(Readers::Owner)).map_err(creation_error)?;
        loop {
            check_cancelled(self.control)?;
            match reader.read_data(&mut self.buffer)? {
                0 => break,
                count => write_all(system, &file, &self.buffer[..count])?,
            }
        }
        system.set_mode(&file, entry.mode)?;
        // Linux syncs all of them at the end.
        if !cfg!(target_os = "linux") {
            system.sync(&file)?;
        }
        drop(file);
        Ok(system.set_modified(self.current()?, name, entry.modified)?)
    }

    /// Makes the link immediately. No later entry can pass through it: an entry's folders are those that are open, and each was made as a
    /// folder.
    fn unpack_link(&mut self, name: &OsStr, target: &[u8], modified: FileTime) -> Result<(), Error> {
        if !names::link_stays_inside(self.open.len(), target, names::Rules::HERE) {
            return Err(ErrorKind::TreeLink.into());
        }
        let target = to_os(target)?;
        let system = self.system;
        let folder = self.current()?;
        system.create_link_in(folder, name, target).map_err(creation_error)?;
        Ok(system.set_modified(folder, name, modified)?)
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
            let Some(UnpackFolder { name, handle, mode, modified }) = self.open.pop() else { break };
            drop(handle);
            let system = self.system;
            set_attributes(system, self.current()?, &name, mode, modified)
                .map_err(|error| Error::from(error).at_entry(self.path().join(&name)))?;
        }
        Ok(())
    }

    /// The innermost open folder.
    fn current(&mut self) -> Result<&Dir, Error> {
        let path = match self.open.last() {
            Some(UnpackFolder { handle: None, .. }) => self.path(),
            _ => PathBuf::new(),
        };
        match self.open.last_mut() {
            None => Ok(&self.top),
            Some(UnpackFolder { handle: Some(handle), .. }) => Ok(handle),
            // Every component of this path was made here as a folder.
            Some(UnpackFolder { handle, .. }) => Ok(handle.insert(self.system.open_below(&self.top, &path)?)),
        }
    }

    /// The innermost open folder's path inside the tree.
    fn path(&self) -> PathBuf {
        self.open.iter().map(|folder| &folder.name).collect()
    }
}

fn set_attributes(system: &dyn System, parent: &Dir, name: &OsStr, mode: u32, modified: FileTime) -> io::Result<()> {
    system.set_modified(parent, name, modified)?;
    system.set_folder_mode(parent, name, mode)
}

fn write_all(system: &dyn System, file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match system.write(file, &[IoSlice::new(bytes)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
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
