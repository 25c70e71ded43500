//! The output of a command: a file that gets its name only when everything is written and synced, or a stream.
//!
//! First [`CheckedSink::check`] finds out the type of the sink and rejects an invalid one, before any work. Then [`CheckedSink::create`]
//! makes the temporary file, and [`NewFile::commit`] gives it its name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, IoSlice, Seek};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::control::Control;
use crate::source::{OpenSource, POLL_INTERVAL};
use crate::sys::{Attributed, Kind, Readers, Readiness, Status, System, is_unsupported, may_adopt, refuse_planted};
use crate::workers::lock;
use crate::{Error, ErrorKind};
use tress_terminal::descriptor;
use tress_terminal::place::is_below;

/// The number of symlinks that Linux follows in one name.
const MAX_SYMLINKS: usize = 40;

/// Where a command writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sink {
    /// Standard output, as a stream. A terminal accepts text only.
    Stdout,
    /// A path that appears only when the output is complete. If it exists and is neither a regular file nor a folder (a device, a FIFO),
    /// the output is streamed into it. So it is into an open descriptor, for a name such as `/dev/stdout` or `/dev/fd/3`.
    Path {
        /// The path. A symlink is followed, unless another user may have planted it in a folder that everybody may write to.
        path: PathBuf,
        /// Replaces an existing file. The new file gets the permissions of a file of the same user; to root, also the owner and permissions
        /// of another user's file in a folder that only root can write to. Otherwise only its owner may read the new file.
        force: bool,
    },
}

impl Sink {
    /// The path to name in messages.
    #[doc(hidden)]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Sink::Stdout => None,
            Sink::Path { path, .. } => Some(path),
        }
    }
}

/// A sink after the checks.
pub enum CheckedSink<'a> {
    /// An open stream that is written in order.
    Stream(StreamOutput<'a>),
    /// A name in a folder.
    Name(OutputName<'a>),
}

/// A name to write to, with symlinks resolved.
pub struct OutputName<'a> {
    system: &'a dyn System,
    /// The user's name for it, for messages.
    shown: PathBuf,
    pub path: PathBuf,
    /// The path, which another current folder does not change.
    place: PathBuf,
    pub force: bool,
    /// Whether a folder has this name.
    pub is_folder: bool,
    /// Whether nothing had this name before.
    is_new: bool,
    /// The file whose mode and owner the new one gets.
    pub adopts: Option<Status>,
    /// The only file that the new one may replace.
    pub replaces: Option<Box<Status>>,
    /// The mode that the new file gets, if not that of `readers`.
    mode: Option<u32>,
    readers: Readers,
}

impl<'a> CheckedSink<'a> {
    /// Finds out the type of the sink. Rejects an output that is the input, one that exists (without `force`), and one in a folder that
    /// does not exist.
    pub fn check(system: &'a dyn System, sink: &Sink, input: Option<&OpenSource<'_>>) -> Result<Self, Error> {
        let shown = sink.path().unwrap_or(Path::new("standard output")).to_path_buf();
        let named = |error: io::Error| Error::from(error).at(&shown);
        let (path, force) = match sink {
            Sink::Stdout => (PathBuf::from("/dev/stdout"), false),
            Sink::Path { path, force } => (resolve(system, path).map_err(named)?, *force),
        };
        let descriptor = if *sink == Sink::Stdout { Some(1) } else { descriptor::number(&path) };
        if let Some(number) = descriptor {
            let file = system.descriptor(number, Readiness::Writable).map_err(named)?;
            let status = system.status(&file).map_err(named)?;
            refuse_input(&status, input).map_err(|error| error.at(&shown))?;
            let is_pipe = status.kind == Kind::Stream;
            return Ok(Self::Stream(StreamOutput::new(system, file, shown, is_pipe)));
        }
        let folder = folder_of(&path);
        let (mut is_folder, mut replaced) = (false, None);
        match system.status_of(&path) {
            Ok(status) if status.kind == Kind::Stream => {
                let folder = system.status_of(&folder).map_err(named)?;
                refuse_planted(&status, &folder).map_err(named)?;
                let file = system.open_existing(&path).map_err(named)?;
                // Another process may have put a file there in the meantime; it must not be overwritten.
                if system.status(&file).map_err(named)?.kind != Kind::Stream {
                    return Err(Error::new(ErrorKind::OutputExists).at(shown));
                }
                return Ok(Self::Stream(StreamOutput::new(system, file, shown, true)));
            }
            Ok(status) => {
                refuse_input(&status, input).map_err(|error| error.at(&shown))?;
                if status.identity.is_none()
                    && let Some(input) = input
                    && let Ok(input_path) = system.canonical(input.name())
                    && input_path == system.canonical(&path).map_err(named)?
                {
                    return Err(Error::new(ErrorKind::OutputIsInput).at(shown));
                }
                is_folder = status.kind == Kind::Folder;
                // A file cannot take a folder's name, with or without `force`. A tree can, and checks `force` itself.
                if !force && !is_folder {
                    return Err(Error::new(ErrorKind::OutputExists).at(shown));
                }
                replaced = Some(status);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(named(error)),
        }
        if path.file_name().is_none() && !is_folder {
            return Err(Error::new(ErrorKind::Io(io::ErrorKind::InvalidInput)).at(shown));
        }
        let folder_status = match system.status_of(&folder) {
            Ok(status) if status.kind == Kind::Folder => status,
            Ok(_) => return Err(Error::from(io::Error::from(io::ErrorKind::NotADirectory)).at(folder)),
            Err(error) => return Err(Error::from(error).at(folder)),
        };
        // A user who may not read the old file must not read the new one either, from its first byte on.
        let readers = if replaced.is_some() { Readers::Owner } else { Readers::Umask };
        let adopts = replaced.filter(|old| may_adopt(old, &folder_status)).map(|old| {
            without_list(old, system.open(&path).and_then(|file| system.attributes(Attributed::File(&file))))
        });
        let is_new = replaced.is_none();
        let place = anchored(&path);
        let (replaces, mode) = (None, None);
        Ok(Self::Name(OutputName {
            system,
            shown,
            path,
            place,
            force,
            is_folder,
            is_new,
            adopts,
            replaces,
            mode,
            readers,
        }))
    }

    /// Makes the temporary file for a name; a stream is open already.
    pub fn create(self) -> Result<OpenSink<'a>, Error> {
        match self {
            Self::Stream(stream) => Ok(OpenSink::Stream(stream)),
            Self::Name(name) => Ok(OpenSink::File(name.create()?)),
        }
    }
}

impl OutputName<'_> {
    /// The folder of the name.
    pub(crate) fn folder(&self) -> PathBuf {
        folder_of(&self.path)
    }

    /// Whether nothing had this name before.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Gives the new file this mode when it is complete. Until then only its owner may read it.
    pub(crate) fn set_mode(&mut self, mode: u32) {
        (self.mode, self.readers) = (Some(mode), Readers::Owner);
    }
}

/// A relative path from the folder that is the current one now: a program may change it before the end of the work.
pub(crate) fn anchored(path: &Path) -> PathBuf {
    match std::env::current_dir() {
        Ok(folder) if path.is_relative() && folder.metadata().is_ok() => folder.join(path),
        _ => path.to_path_buf(),
    }
}

/// The mode of a file with these attributes: of the group's rights, which are those of an access list's mask, at most its own (an entry is
/// tag, permissions and number, `linux/posix_acl_xattr.h`).
pub(crate) fn mode_of_group(mode: u32, attributes: &[(OsString, Vec<u8>)]) -> u32 {
    const GROUP: [u8; 2] = 4_u16.to_le_bytes();
    let list = attributes.iter().find(|(name, _)| name == "system.posix_acl_access");
    let entries = list.and_then(|(_, list)| list.get(4..)).map_or(&[][..], |entries| entries.as_chunks::<8>().0);
    let group = entries.iter().find(|entry| entry.starts_with(&GROUP));
    group.map_or(mode, |entry| mode & (!0o070 | u32::from(entry[2] & 7) << 3))
}

/// The status of a file with these attributes, without its access list, which a new file does not get.
pub(crate) fn without_list(mut status: Status, attributes: io::Result<Vec<(OsString, Vec<u8>)>>) -> Status {
    if let Some((mode, ..)) = &mut status.owner {
        *mode = match attributes {
            Ok(attributes) => mode_of_group(*mode, &attributes),
            Err(_) => *mode & !0o070,
        };
    }
    status
}

/// The folder that contains a path.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn refuse_input(status: &Status, input: Option<&OpenSource<'_>>) -> Result<(), Error> {
    let Some(input) = input else { return Ok(()) };
    let is_input =
        status.kind == Kind::Regular && status.identity.is_some() && status.identity == input.status().identity;
    if is_input { Err(Error::new(ErrorKind::OutputIsInput)) } else { Ok(()) }
}

/// Resolves symlinks in the last component of the path, even if the target does not exist yet. The name of a descriptor is not resolved:
/// where it is a link, the link's text need not be a path.
fn resolve(system: &dyn System, path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_SYMLINKS {
        if descriptor::number(&path).is_some() || descriptor::is_of_process(&path) {
            return Ok(path);
        }
        match system.read_link(&path)? {
            None => return Ok(path),
            Some(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
        }
    }
    // The meaning of ELOOP; the library's kind for it is not stable yet.
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many symlinks"))
}

/// An open output.
pub enum OpenSink<'a> {
    Stream(StreamOutput<'a>),
    File(NewFile<'a>),
}

impl OpenSink<'_> {
    /// Writes all of `buffers`: to a file at `offset`, to a stream at its position.
    pub fn write_all(&self, buffers: &mut [IoSlice<'_>], offset: u64, control: &Control) -> Result<(), Error> {
        match self {
            Self::Stream(stream) => stream.write_all(buffers, control),
            Self::File(file) => file.write_all_at(buffers, offset),
        }
    }

    /// Gives a file its name, unless the run was cancelled at the last moment. Finishes a stream.
    pub fn commit(self, control: &Control) -> Result<(), Error> {
        match self {
            Self::Stream(stream) => stream.finish(),
            Self::File(_) if control.is_cancelled() => Err(Error::new(ErrorKind::Interrupted)),
            Self::File(file) => file.commit(),
        }
    }
}

/// An output that is written in order: standard output, a FIFO, a device.
pub struct StreamOutput<'a> {
    system: &'a dyn System,
    file: File,
    name: PathBuf,
    /// Whether writing may block without limit, as to a pipe.
    may_block: bool,
    is_terminal: bool,
    /// The start of the character in which the text for a terminal ends so far; `None` before its first whole character.
    cut: Mutex<Option<Vec<u8>>>,
}

impl<'a> StreamOutput<'a> {
    fn new(system: &'a dyn System, file: File, name: PathBuf, may_block: bool) -> Self {
        let is_terminal = may_block && system.is_terminal(&file);
        Self { system, file, name, may_block, is_terminal, cut: Mutex::default() }
    }

    /// Returns an error for a terminal, because containers are never written to one.
    pub fn refuse_terminal(&self) -> Result<(), Error> {
        if self.is_terminal { Err(Error::new(ErrorKind::BinaryToTerminal).at(&self.name)) } else { Ok(()) }
    }

    /// Syncs a disk. Closes a copy of the handle of a file, which reports what [`System::close`] does.
    fn finish(&self) -> Result<(), Error> {
        #[cfg(unix)]
        let is_disk = |found: std::fs::Metadata| std::os::unix::fs::FileTypeExt::is_block_device(&found.file_type());
        #[cfg(not(unix))]
        let is_disk = |_| false;
        let done = match self.file.try_clone() {
            _ if self.file.metadata().is_ok_and(is_disk) => self.system.sync(&self.file),
            Ok(copy) if !self.may_block => self.system.close(copy),
            _ => Ok(()),
        };
        done.map_err(|error| Error::from(error).at(&self.name))
    }

    /// Whether it goes into a file below this folder.
    pub fn is_in(&self, folder: &Path) -> bool {
        let path = if self.name.is_absolute() { &*self.name } else { Path::new("/dev/stdout") };
        let canonical = |path| self.system.canonical(path).ok();
        !self.may_block
            && canonical(folder).is_some_and(|folder| canonical(path).is_some_and(|path| is_below(&path, &folder)))
    }

    /// Writes all of `buffers`. Waiting for a reader ends soon after a cancellation. A terminal accepts only text; of buffers that hold
    /// anything else, nothing is written.
    pub fn write_all(&self, mut buffers: &mut [IoSlice<'_>], control: &Control) -> Result<(), Error> {
        if self.is_terminal && !self.is_text(buffers) {
            return self.refuse_terminal();
        }
        IoSlice::advance_slices(&mut buffers, 0);
        while !buffers.is_empty() {
            if control.is_cancelled() {
                return Err(Error::new(ErrorKind::Interrupted));
            }
            let result = if self.may_block {
                match self.system.wait(&self.file, Readiness::Writable, POLL_INTERVAL) {
                    Ok(true) => self.system.write_ready(&self.file, buffers),
                    Ok(false) => continue,
                    Err(error) => Err(error),
                }
            } else {
                self.system.write(&self.file, buffers)
            };
            match result {
                Ok(0) => return Err(Error::from(io::Error::from(io::ErrorKind::WriteZero)).at(&self.name)),
                Ok(bytes) => IoSlice::advance_slices(&mut buffers, bytes),
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(error) => return Err(Error::from(error).at(&self.name)),
            }
        }
        Ok(())
    }

    /// Whether this continues text for a terminal: UTF-8 (all of it may be cut at both ends) without controls that move the cursor.
    fn is_text(&self, buffers: &[IoSlice<'_>]) -> bool {
        let mut cut = lock(&self.cut);
        buffers.iter().all(|bytes| {
            let is_start = cut.is_none();
            let rest = bytes.iter().take(3).take_while(|&&byte| is_start && byte & 0xC0 == 0x80).count();
            let mut text = [cut.as_deref().unwrap_or_default(), &bytes[rest..]].concat();
            let whole = match std::str::from_utf8(&text) {
                Ok(text) => text.len(),
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                Err(_) => return false,
            };
            if !text.is_empty() {
                *cut = Some(text.split_off(whole));
            }
            String::from_utf8(text).is_ok_and(|text| !text.chars().any(moves_cursor))
        })
    }
}

fn moves_cursor(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x0c')
}

/// A file without a name, or with a temporary one.
pub struct NewFile<'a> {
    name: OutputName<'a>,
    file: File,
    /// The temporary name, while there is one.
    temporary: Option<PathBuf>,
    anonymous: bool,
}

impl<'a> OutputName<'a> {
    /// A new name for a file that only its owner may read. No link is followed, and an existing file or link is not replaced.
    pub fn private(system: &'a dyn System, path: &Path) -> Self {
        Self {
            system,
            shown: path.to_path_buf(),
            path: path.to_path_buf(),
            place: anchored(path),
            force: false,
            is_folder: false,
            is_new: true,
            adopts: None,
            replaces: None,
            mode: None,
            readers: Readers::Owner,
        }
    }

    /// Makes the temporary file in the folder of the name.
    pub fn create(mut self) -> Result<NewFile<'a>, Error> {
        let shown_folder = self.folder();
        self.path = std::mem::take(&mut self.place);
        if self.is_folder {
            return Err(Error::from(io::Error::from(io::ErrorKind::IsADirectory)).at(self.shown));
        }
        // `new/` and `new/.` name folders only. The system would refuse them at the end of the work.
        let ends_in_name = |name: &OsStr| self.path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes());
        if !self.path.file_name().is_some_and(ends_in_name)
            && let Err(error) = self.system.status_of(&self.path)
        {
            return Err(Error::from(error).at(self.shown));
        }
        match self.system.create_anonymous(&self.folder(), self.readers) {
            Ok(file) => return Ok(NewFile { name: self, file, temporary: None, anonymous: true }),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(error) => return Err(Error::from(error).at(shown_folder)),
        }
        match self.create_named() {
            Ok((file, temporary)) => Ok(NewFile { name: self, file, temporary: Some(temporary), anonymous: false }),
            Err(error) => Err(Error::from(error).at(shown_folder)),
        }
    }

    /// A file with a random name in the same folder.
    fn create_named(&self) -> io::Result<(File, PathBuf)> {
        loop {
            let temporary = self.random_name();
            match self.system.create_new(&temporary, self.readers) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|file| (file, temporary)),
            }
        }
    }

    /// A random name in the same folder. The file is created exclusively, so guessing the name gains nothing.
    fn random_name(&self) -> PathBuf {
        let random = std::hash::RandomState::new().build_hasher().finish();
        self.folder().join(format!(".tress-{random:016x}.tmp"))
    }
}

impl NewFile<'_> {
    /// The handle, for calls on two files.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes all of `buffers` at `offset`.
    pub fn write_all_at(&self, mut buffers: &mut [IoSlice<'_>], mut offset: u64) -> Result<(), Error> {
        IoSlice::advance_slices(&mut buffers, 0);
        while !buffers.is_empty() {
            match self.name.system.write_at(&self.file, buffers, offset) {
                Ok(0) => return Err(self.named(io::ErrorKind::WriteZero.into())),
                Ok(bytes) => {
                    offset += bytes as u64;
                    IoSlice::advance_slices(&mut buffers, bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.named(error)),
            }
        }
        Ok(())
    }

    /// Sets the length of the file. Parts that were not written are holes.
    pub fn set_length(&self, bytes: u64) -> Result<(), Error> {
        self.name.system.set_length(&self.file, bytes).map_err(|error| self.named(error))
    }

    /// Syncs the file, gives it its name and syncs the folder. After an error there is no new file under the name; only if an old file was
    /// replaced and syncing the folder failed, the new file stays.
    pub fn commit(mut self) -> Result<(), Error> {
        let system = self.name.system;
        self.complete().map_err(|error| self.named(error))?;
        self.publish().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::new(ErrorKind::OutputExists).at(&self.name.shown),
            _ => self.named(error),
        })?;
        system.sync_folder(&self.name.folder()).map_err(|error| {
            if self.name.is_new {
                let _ = system.unlink(&self.name.path);
            }
            self.named(error)
        })
    }

    /// Gives the file its mode and owner, and syncs it.
    fn complete(&self) -> io::Result<()> {
        if let Some(old) = &self.name.adopts {
            self.name.system.adopt(&self.file, old)?;
        }
        if let Some(mode) = self.name.mode {
            self.name.system.set_mode(&self.file, mode)?;
        }
        self.name.system.sync(&self.file)
    }

    fn publish(&mut self) -> io::Result<()> {
        let system = self.name.system;
        if self.anonymous {
            // A link never replaces, so with `force` the file gets a temporary name first.
            let name = if self.name.force { self.name.random_name() } else { self.name.path.clone() };
            match system.link(&self.file, &name) {
                Ok(()) if !self.name.force => return Ok(()),
                Ok(()) => self.temporary = Some(name),
                Err(error) if is_unsupported(&error) => self.copy_to_named()?,
                Err(error) => return Err(error),
            }
        }
        let Some(temporary) = &self.temporary else { return Ok(()) };
        if let Some(old) = &self.name.replaces {
            match system.status_of(&self.name.path) {
                Ok(found) if found == **old => {}
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => return Err(Error::new(ErrorKind::InputChanged).into()),
            }
        }
        if self.name.force {
            system.rename(temporary, &self.name.path)?;
        } else {
            system.rename_new(temporary, &self.name.path)?;
        }
        self.temporary = None;
        Ok(())
    }

    /// Copies an anonymous file that the system refuses to name.
    fn copy_to_named(&mut self) -> io::Result<()> {
        let (file, temporary) = self.name.create_named()?;
        self.temporary = Some(temporary);
        let mut anonymous = std::mem::replace(&mut self.file, file);
        anonymous.rewind()?;
        while self.name.system.copy(&anonymous, &self.file, u64::MAX)? > 0 {}
        self.complete()
    }

    fn named(&self, error: io::Error) -> Error {
        Error::from(error).at(&self.name.shown)
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = self.name.system.unlink(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Os;

    #[cfg(unix)]
    #[test]
    fn a_terminal_gets_no_controls_in_pieces() {
        struct Screen;
        impl System for Screen {
            fn is_terminal(&self, _: &File) -> bool {
                true
            }
        }
        let cases: [(&[&[u8]], bool); 12] = [
            (&[b"a\t", b"b\n"], true),
            (&[b"a\xC3", b"\xBCb"], true),
            (&[b"\xE2", b"\x82", b"", b"\xAC"], true),
            (&[b"a\xF0\x9F", b"\x98\x80"], true),
            // A range may begin and end inside of a character.
            (&[b"\x82\xACa", b"b\xE2\x82"], true),
            (&[b"", b"\x82", b"\xAC", b"a"], true),
            (&[b"a\x1B"], false),
            // U+009B begins a command, as ESC [ does.
            (&[b"a\xC2\x9B"], false),
            (&[b"a\xC2", b"\x9B1mb"], false),
            (&[b"a\xC2", b"", b"\x9B1mb"], false),
            (&[b"a", b"\x9B1mb"], false),
            (&[b"a\xC2", b"b"], false),
        ];
        for (pieces, is_text) in cases {
            // In one call, and in one for each piece.
            for size in [pieces.len(), 1] {
                let (_reader, writer) = io::pipe().unwrap();
                let file = File::from(std::os::fd::OwnedFd::from(writer));
                let stream = StreamOutput::new(&Screen, file, PathBuf::new(), true);
                let written = pieces.chunks(size).try_for_each(|pieces| {
                    let mut buffers: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
                    stream.write_all(&mut buffers, &Control::new())
                });
                let expected = if is_text { Ok(()) } else { Err(ErrorKind::BinaryToTerminal) };
                assert_eq!(written.map_err(|error| error.kind), expected, "{pieces:?}");
            }
        }
    }

    #[test]
    fn a_file_with_the_name_of_a_folder_is_refused_before_the_work() {
        let root = tempfile::tempdir().unwrap();
        for name in ["new/", "new//", "new/.", "new/./"] {
            let path = root.path().join(name);
            let sink = Sink::Path { path: path.clone(), force: false };
            let outputs = [
                CheckedSink::check(&Os, &sink, None).and_then(CheckedSink::create).map(drop),
                OutputName::private(&Os, &path).create().map(drop),
            ];
            for output in outputs {
                let error = output.unwrap_err();
                assert_eq!(
                    (error.kind, error.path),
                    (ErrorKind::Io(io::ErrorKind::NotFound), Some(path.clone())),
                    "{name}"
                );
            }
        }
    }
}
