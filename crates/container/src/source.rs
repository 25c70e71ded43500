//! The input of a command: its type, how it is read, and whether it changed in the meantime.
//!
//! A regular file is read at offsets, by several workers at the same time. Everything else is a stream, read in order.

use std::fs::File;
use std::io::{self, IoSliceMut, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::control::Control;
use crate::sys::{Kind, Readiness, Status, System};
use crate::{Error, ErrorKind};
use tress_terminal::place::is_below;

/// Interval at which a wait for a pipe checks the cancel flag.
pub const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Where a command reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input, of any type. A regular file is read from its current position.
    Stdin,
    /// A file, FIFO or device, or a folder when encrypting. The name of an open descriptor, such as `/dev/fd/3`, is read like standard
    /// input.
    Path(PathBuf),
}

/// The name of standard input in messages.
const STDIN: &str = "standard input";

impl Source {
    /// The path to name in messages.
    #[doc(hidden)]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::Stdin => None,
            Source::Path(path) => Some(path),
        }
    }

    /// The number of the open descriptor that this is, if it is one.
    pub(crate) fn descriptor(&self) -> Option<u32> {
        self.path().map_or(Some(0), tress_terminal::descriptor::number)
    }
}

/// An open input.
pub struct OpenSource<'a> {
    system: &'a dyn System,
    file: File,
    name: PathBuf,
    /// Status when the input was opened, before the first read.
    status: Status,
    /// Offset at which the data begins: standard input may be a file of which another process has read a part.
    start: u64,
    /// Whether the data begin at the position of a descriptor, which others may continue to read.
    from_position: bool,
    /// Length of the file, if it can be read at offsets.
    seekable: Option<u64>,
    /// Whether nobody needs more of the data.
    stopped: AtomicBool,
}

/// Length of an open file in bytes; `None` if it is no regular file, or if its status does not report the length. A file in /proc has size
/// 0 whatever it holds, one in /sys has 4,096 whatever it holds, and file systems in user space may report anything.
fn length(system: &dyn System, file: &File, status: &Status) -> io::Result<Option<u64>> {
    if status.kind != Kind::Regular || status.size_bytes == 0 {
        return Ok(None);
    }
    // A file that ends where it says has one byte before its end and none after it.
    let mut end = [0; 2];
    let ends = system.read_at(file, &mut [IoSliceMut::new(&mut end)], status.size_bytes - 1);
    // If the status is another one by now, the file changed, which the reader reports. So it does for an error.
    let is_wrong = matches!(ends, Ok(0 | 2)) && system.status(file)? == *status;
    Ok((!is_wrong).then_some(status.size_bytes))
}

impl<'a> OpenSource<'a> {
    /// Opens a source that is not a folder.
    pub fn open(system: &'a dyn System, source: &Source) -> Result<Self, Error> {
        let name = source.path().unwrap_or(Path::new(STDIN));
        let descriptor = source.descriptor();
        let file = match descriptor {
            Some(number) => system.descriptor(number, Readiness::Readable),
            None => system.open(name),
        };
        file.and_then(|file| Self::of(system, file, name.into(), descriptor.is_some()))
            .map_err(|error| Error::from(error).at(name))
    }

    /// An open file. With `from_position`, the data of a regular file begin at the position of the handle.
    pub fn of(system: &'a dyn System, file: File, name: PathBuf, from_position: bool) -> io::Result<Self> {
        let status = system.status(&file)?;
        let start = match status.kind {
            Kind::Folder => return Err(io::ErrorKind::IsADirectory.into()),
            Kind::Regular if from_position => system.position(&file)?,
            _ => 0,
        };
        let seekable = length(system, &file, &status)?;
        let stopped = AtomicBool::new(false);
        Ok(Self { system, file, name, status, start, from_position, seekable, stopped })
    }

    /// Length of the input in bytes, if it can be read at offsets. A file whose status does not report its length is read as a stream.
    pub fn seekable_bytes(&self) -> Option<u64> {
        self.seekable.map(|bytes| bytes.saturating_sub(self.start))
    }

    /// Status of the input when it was opened.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The handle, for calls on two files.
    pub fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn system(&self) -> &'a dyn System {
        self.system
    }

    /// Whether the data are in this folder, perhaps as a file that is standard input.
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
        let canonical = |path: &Path| self.system.canonical(path).ok();
        let paths = [Some(&*self.name), (self.name == Path::new(STDIN)).then_some(Path::new("/dev/stdin"))];
        let mut files = paths.into_iter().flatten().filter_map(canonical);
        canonical(folder).is_some_and(|folder| files.any(|file| is_below(&file, &folder)))
    }

    /// The name for messages.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Names the input in an error. If the run was cancelled, returns `Interrupted` instead.
    pub fn failure(&self, error: impl Into<Error>, control: &Control) -> Error {
        if control.is_cancelled() {
            return Error::new(ErrorKind::Interrupted);
        }
        error.into().at(&self.name)
    }

    /// Fills all of `buffers` from `offset` after the beginning of the data. `InputChanged` if the file ends before that.
    pub fn read_exact_at(&self, mut buffers: &mut [IoSliceMut<'_>], offset: u64) -> Result<(), Error> {
        let mut offset = self.start + offset;
        IoSliceMut::advance_slices(&mut buffers, 0);
        while !buffers.is_empty() {
            match self.system.read_at(&self.file, buffers, offset) {
                Ok(0) => return Err(Error::new(ErrorKind::InputChanged).at(&self.name)),
                Ok(bytes) => {
                    offset += bytes as u64;
                    IoSliceMut::advance_slices(&mut buffers, bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::from(error).at(&self.name)),
            }
        }
        Ok(())
    }

    /// A reader from the beginning of the data.
    pub fn reader<'b>(&'b self, control: &'b Control) -> SourceReader<'b> {
        SourceReader { input: self, control, offset: 0 }
    }

    /// A reader from `offset` on, for an input that has offsets.
    pub fn reader_at<'b>(&'b self, control: &'b Control, offset: u64) -> SourceReader<'b> {
        SourceReader { input: self, control, offset }
    }

    /// Ends all readers, also one that waits for a pipe, with the error of a pipe whose other end is closed.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns `InputChanged` if a regular file has changed since it was opened. The next reader of its descriptor finds the end.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        if self.status.kind != Kind::Regular {
            return Ok(());
        }
        match self.system.status(&self.file) {
            Ok(status) if status == self.status => {
                if self.from_position {
                    let _ = (&self.file).seek(SeekFrom::Start(self.status.size_bytes));
                }
                Ok(())
            }
            Ok(_) => Err(Error::new(ErrorKind::InputChanged).at(&self.name)),
            Err(error) => Err(Error::from(error).at(&self.name)),
        }
    }
}

/// Reads an input in order. Waiting for a pipe ends soon after a cancellation, or when nobody needs more, with an error.
pub struct SourceReader<'a> {
    input: &'a OpenSource<'a>,
    control: &'a Control,
    offset: u64,
}

impl Read for SourceReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(buffer)])
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let OpenSource { system, file, start, stopped, .. } = self.input;
        loop {
            // Not `io::ErrorKind::Interrupted`, after which callers would try again.
            if self.control.is_cancelled() {
                return Err(io::Error::other(Error::new(ErrorKind::Interrupted)));
            }
            if stopped.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let result = if self.input.seekable_bytes().is_some() {
                system.read_at(file, buffers, start + self.offset)
            } else {
                match system.wait(file, Readiness::Readable, POLL_INTERVAL) {
                    Ok(true) => system.read(file, buffers),
                    Ok(false) => continue,
                    Err(error) => Err(error),
                }
            };
            match result {
                Ok(bytes) => {
                    self.offset += bytes as u64;
                    return Ok(bytes);
                }
                // Another process made the pipe non-blocking.
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
