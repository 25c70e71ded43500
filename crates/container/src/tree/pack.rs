//! Packs a folder into a tar stream.
use super::entry::{EntryKind, TreeEntry};
use super::metadata::{self, FileIdentity};
use super::{BUFFER_BYTES, OPEN_FOLDERS, check_cancelled, names, write};
use crate::sys::{Opening, Os, System};
use crate::{Control, Error, ErrorKind};
use cap_std::fs::{Dir, Metadata};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{IoSliceMut, Write};
use std::path::{Path, PathBuf};
use tress_terminal::shown;

/// Number of names, besides the first, in the error about entries that a tree cannot hold.
const MAX_LISTED_NAMES: usize = 9;

/// Most bytes that the status of a file reports whose length is another, without having changed: a page, as files in /sys report.
const SMALL_BYTES: u64 = 64 << 10;

/// Most bytes of such a file, which memory holds. Those in /proc that have more, such as /proc/kcore, are no files to keep.
const MAX_WRONG_BYTES: u64 = 64 << 20;

/// Called for every link and special file that is left out, with the error that it would have caused.
pub type Skipped<'s> = &'s mut dyn FnMut(&Error);

/// Writes the folder `root` to `out` as a tar stream.
///
/// If `root` is a symbolic link it is followed; links inside the tree are not. Memory holds one folder's names for each level of depth.
///
/// Every failure of reading and writing; `TreeSpecialFile` for entries that are neither files, folders nor links; `TreeLink` for a link
/// that may point out of the tree; `TreePath` for a name that a tree cannot hold; `InputChanged` for a file or folder that changed in the
/// meantime; `Interrupted` when `control` is cancelled. Errors about a file name it. One error covers all special files and links: it names
/// the first, and lists others.
pub fn pack(root: &Path, out: &mut dyn Write, control: &Control) -> Result<(), Error> {
    pack_with(root, out, control, None)
}

/// Like [`pack`], but leaves out links that may point out of the tree and special files if `skipped` is given, and reports them to it.
///
/// # Errors
/// The errors of [`pack`].
pub fn pack_with(
    root: &Path,
    out: &mut dyn Write,
    control: &Control,
    skipped: Option<Skipped<'_>>,
) -> Result<(), Error> {
    pack_on(&Os, root, out, control, skipped)
}

pub(crate) fn pack_on(
    system: &dyn System,
    root: &Path,
    out: &mut dyn Write,
    control: &Control,
    skipped: Option<Skipped<'_>>,
) -> Result<(), Error> {
    let at_root = |error: std::io::Error| Error::from(error).at(root);
    let top = system.open_folder(root).map_err(at_root)?;
    let metadata = system.folder_metadata(&top).map_err(at_root)?;
    let handle = system.open_below(&top, Path::new("")).map_err(at_root)?;
    let buffer = vec![0; BUFFER_BYTES];
    let mut packer = Packer {
        system,
        root,
        top,
        path: PathBuf::new(),
        open: Vec::new(),
        out,
        control,
        buffer,
        skipped,
        refused: None,
    };
    packer.enter(handle, &metadata)?;
    let walked = packer.walk();
    match (walked, packer.refused.take()) {
        (Err(error), refused) if refused.is_none() || error.kind == ErrorKind::Interrupted => return Err(error),
        (_, Some(refused)) => return Err(refused.into_error()),
        _ => {}
    }
    write::write_end(packer.out).map_err(Error::from)
}

struct Packer<'a, 's> {
    system: &'a dyn System,
    /// Path for messages.
    root: &'a Path,
    top: Dir,
    /// Path of the innermost open folder, relative to the root.
    path: PathBuf,
    /// The open folders, from the root to the current one.
    open: Vec<PackFolder>,
    out: &'a mut dyn Write,
    control: &'a Control,
    buffer: Vec<u8>,
    skipped: Option<Skipped<'s>>,
    /// Set after the first entry that a tree cannot hold. From then on, the walk only looks for more of them and writes nothing.
    refused: Option<RefusedEntries>,
}

/// Entries that a tree cannot hold.
struct RefusedEntries {
    first: Error,
    others: Vec<PathBuf>,
    more: u64,
}

impl RefusedEntries {
    fn into_error(self) -> Error {
        let mut names: Vec<_> = self.others.iter().map(shown::given).collect();
        if self.more > 0 {
            names.push(format!("{} more", self.more));
        }
        match names.is_empty() {
            true => self.first,
            false => self.first.with_other_names(&names.join(", ")),
        }
    }
}

struct PackFolder {
    /// `None` while too many others are open.
    handle: Option<Dir>,
    identity: FileIdentity,
    /// Names not yet packed; the next one is the last.
    names: Vec<OsString>,
}

impl Packer<'_, '_> {
    fn walk(&mut self) -> Result<(), Error> {
        while let Some(folder) = self.open.last_mut() {
            check_cancelled(self.control)?;
            match folder.names.pop() {
                Some(name) => self.pack_entry(&name)?,
                None => self.leave()?,
            }
        }
        Ok(())
    }

    fn pack_entry(&mut self, name: &OsStr) -> Result<(), Error> {
        let path = self.path.join(name);
        let shown = self.shown(&path);
        let failed = |error: std::io::Error| Error::from(error).at(&shown);
        self.reopen()?;
        let parent = self.current();
        // The name was listed a moment ago: if it is gone, the tree has changed.
        let metadata = self.system.metadata_in(parent, name).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => changed(&shown),
            _ => failed(error),
        })?;
        if metadata.is_dir() {
            let handle = self.system.open_folder_in(parent, name).map_err(failed)?;
            let opened = self.system.folder_metadata(&handle).map_err(failed)?;
            if FileIdentity::of(&opened) != FileIdentity::of(&metadata) {
                return Err(changed(&shown));
            }
            self.path = path;
            self.enter(handle, &opened)
        } else if metadata.is_symlink() {
            let target = self.system.read_link_in(parent, name).map_err(failed)?;
            let target = link_target(&target).ok_or_else(|| Error::new(ErrorKind::TreePath).at(&shown))?;
            if !names::link_stays_inside(self.open.len() - 1, &target, names::Rules::HERE) {
                let detail = format!("to {}", shown::foreign(super::read::shown(&target)));
                return self.refuse(Error::new(ErrorKind::TreeLink).with_detail(detail), shown);
            }
            let path = self.stored_path(&path)?;
            self.write_header(&entry(path, EntryKind::Link { target }, &metadata))
        } else if metadata.is_file() {
            self.pack_file(name, &path, &shown, &metadata)
        } else {
            let error = Error::new(ErrorKind::TreeSpecialFile).with_detail("not a file, folder or symbolic link");
            self.refuse(error, shown)
        }
    }

    /// Skips an entry that a tree cannot hold, or remembers it for the error.
    fn refuse(&mut self, error: Error, path: PathBuf) -> Result<(), Error> {
        match (&mut self.skipped, &mut self.refused) {
            (Some(skipped), _) => skipped(&error.at(path)),
            (None, None) => self.refused = Some(RefusedEntries { first: error.at(path), others: Vec::new(), more: 0 }),
            (None, Some(refused)) if refused.others.len() < MAX_LISTED_NAMES => refused.others.push(path),
            (None, Some(refused)) => refused.more += 1,
        }
        Ok(())
    }

    fn pack_file(&mut self, name: &OsStr, path: &Path, shown: &Path, seen: &Metadata) -> Result<(), Error> {
        if self.refused.is_some() {
            return Ok(());
        }
        let failed = |error: std::io::Error| Error::from(error).at(shown);
        let file = self.system.open_in(self.current(), name, Opening::Read).map_err(failed)?;
        let metadata = self.system.file_metadata(&file).map_err(failed)?;
        let identity = FileIdentity::of(&metadata);
        if identity != FileIdentity::of(seen) || !metadata.is_file() {
            return Err(changed(shown));
        }
        let path = self.stored_path(path)?;
        // The status of a file in /proc or /sys does not report its length: a small file is read before the header states the length.
        let reported_bytes = metadata.len();
        let mut start = Vec::new();
        let mut is_read = false;
        while reported_bytes <= SMALL_BYTES && !is_read && start.len() as u64 <= MAX_WRONG_BYTES {
            check_cancelled(self.control)?;
            let count = self.read(&file).map_err(failed)?;
            start.extend_from_slice(&self.buffer[..count]);
            is_read = count == 0;
        }
        let size_bytes = if is_read { start.len() as u64 } else { reported_bytes };
        if size_bytes != reported_bytes
            && FileIdentity::of(&self.system.file_metadata(&file).map_err(failed)?) != identity
        {
            return Err(changed(shown));
        }
        self.write_header(&entry(path, EntryKind::File { size_bytes }, &metadata))?;

        self.out.write_all(&start)?;
        // One more read than the size requires must find the end.
        let mut left_bytes = size_bytes.checked_sub(start.len() as u64).ok_or_else(|| changed(shown))?;
        while !is_read {
            check_cancelled(self.control)?;
            let count = self.read(&file).map_err(failed)?;
            is_read = count == 0;
            left_bytes = left_bytes.checked_sub(count as u64).ok_or_else(|| changed(shown))?;
            self.out.write_all(&self.buffer[..count])?;
        }
        if left_bytes > 0 {
            return Err(changed(shown));
        }
        if FileIdentity::of(&self.system.file_metadata(&file).map_err(failed)?) != identity {
            return Err(changed(shown));
        }
        write::write_padding(self.out, size_bytes).map_err(Error::from)
    }

    /// Reads the next bytes of a file into the buffer. Returns 0 at its end.
    fn read(&mut self, file: &File) -> std::io::Result<usize> {
        loop {
            match self.system.read(file, &mut [IoSliceMut::new(&mut self.buffer)]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    /// Packs the folder at `self.path` itself, and lists its contents.
    fn enter(&mut self, handle: Dir, metadata: &Metadata) -> Result<(), Error> {
        let shown = self.shown(&self.path);
        let mut stored = match self.open.is_empty() {
            true => b".".to_vec(),
            false => self.stored_path(&self.path)?,
        };
        stored.push(b'/');
        self.write_header(&entry(stored, EntryKind::Folder, metadata))?;
        let listed = self.system.list(&handle).map_err(|error| Error::from(error).at(&shown))?;
        let mut names: Vec<OsString> = listed.into_iter().map(|(name, _)| name).collect();
        names.sort_unstable_by(|one, other| other.as_encoded_bytes().cmp(one.as_encoded_bytes()));
        self.open.push(PackFolder { handle: Some(handle), identity: FileIdentity::of(metadata), names });
        if let Some(outer) = self.open.len().checked_sub(OPEN_FOLDERS + 1) {
            self.open[outer].handle = None;
        }
        Ok(())
    }

    /// Leaves the current folder, which must not have changed since it was listed.
    fn leave(&mut self) -> Result<(), Error> {
        self.reopen()?;
        let shown = self.shown(&self.path);
        let metadata = self.system.folder_metadata(self.current()).map_err(|error| Error::from(error).at(&shown))?;
        let left = self.open.pop();
        if left.is_none_or(|left| left.identity != FileIdentity::of(&metadata)) {
            return Err(changed(&shown));
        }
        self.path.pop();
        Ok(())
    }

    /// Makes sure that the current folder's handle is open.
    fn reopen(&mut self) -> Result<(), Error> {
        let shown = self.shown(&self.path);
        let folder = self.open.last_mut().expect("a folder is open while the walk lasts");
        if folder.handle.is_none() {
            let handle =
                self.system.open_below(&self.top, &self.path).map_err(|error| Error::from(error).at(&shown))?;
            let metadata = self.system.folder_metadata(&handle).map_err(|error| Error::from(error).at(&shown))?;
            // The path may have changed: a link may have replaced one of its folders.
            if FileIdentity::of(&metadata) != folder.identity {
                return Err(changed(&shown));
            }
            folder.handle = Some(handle);
        }
        Ok(())
    }

    /// A path inside the tree, for messages.
    fn shown(&self, path: &Path) -> PathBuf {
        match path.as_os_str().is_empty() {
            true => self.root.to_path_buf(),
            false => self.root.join(path),
        }
    }

    fn current(&self) -> &Dir {
        self.open.last().and_then(|folder| folder.handle.as_ref()).expect("reopened before use")
    }

    fn write_header(&mut self, entry: &TreeEntry) -> Result<(), Error> {
        if self.refused.is_some() {
            return Ok(());
        }
        write::write_header(self.out, entry).map_err(Error::from)
    }

    /// A path as the tree stores it.
    fn stored_path(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let names: Option<Vec<&[u8]>> = path.iter().map(names::to_bytes).collect();
        let stored = names.map(|names| names.join(&b'/'));
        // A slash is appended to a folder's path.
        let stored = stored.filter(|stored| stored.len() < names::MAX_PATH_BYTES);
        stored
            .filter(|stored| names::split(stored, names::Rules::HERE).is_some())
            .ok_or_else(|| Error::new(ErrorKind::TreePath).at(self.shown(path)))
    }
}

fn entry(path: Vec<u8>, kind: EntryKind, metadata: &Metadata) -> TreeEntry {
    TreeEntry { path, kind, mode: metadata::mode(metadata), modified: metadata::modified(metadata) }
}

fn changed(path: &Path) -> Error {
    Error::new(ErrorKind::InputChanged).at(path)
}

/// A link's target as the tree stores it, with `/` between names.
fn link_target(target: &Path) -> Option<Vec<u8>> {
    let bytes = names::to_bytes(target.as_os_str())?;
    match cfg!(windows) {
        true => Some(bytes.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect()),
        false => Some(bytes.to_vec()),
    }
}
