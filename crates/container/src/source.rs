//! The input of a command: its type, how it is read, and whether it changed in the meantime.
//!
//! A regular file is read at offsets, by several workers at the same time. Everything else is a stream, read in order.

use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::commands::{Control, Source};
use crate::sys::{Kind, Readiness, Status, System};
use crate::{Error, ErrorKind};

/// Interval at which a wait for a pipe checks the cancel flag.
pub const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// An open input.
pub struct OpenSource<'a> {
    system: &'a dyn System,
    file: File,
    name: PathBuf,
    /// Status when the input was opened, before the first read.
    status: Status,
    /// Offset at which the data begins: standard input may be a file of which another process has read a part.
    start: u64,
}

impl<'a> OpenSource<'a> {
    /// Opens a source that is not a folder.
    pub fn open(system: &'a dyn System, source: &Source) -> Result<Self, Error> {
        let name = source.path().unwrap_or(Path::new("standard input")).to_path_buf();
        let opened = || -> io::Result<_> {
            let file = match source {
                Source::Stdin => system.stdin()?,
                Source::Path(path) => system.open(path)?,
            };
            let status = system.status(&file)?;
            if status.kind == Kind::Folder {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            let start = match source {
                Source::Stdin if status.kind == Kind::Regular => system.position(&file)?,
                _ => 0,
            };
            Ok((file, status, start))
        };
        match opened() {
            Ok((file, status, start)) => Ok(Self { system, file, name, status, start }),
            Err(error) => Err(Error::from(error).at(name)),
        }
    }

    /// Length of the input in bytes, if it can be read at offsets. A file of size 0 is read as a stream, because files in /proc have size 0
    /// whatever they hold.
    pub fn seekable_bytes(&self) -> Option<u64> {
        (self.status.kind == Kind::Regular && self.status.size_bytes > 0)
            .then(|| self.status.size_bytes.saturating_sub(self.start))
    }

    /// Status of the input when it was opened.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The handle, for calls on two files.
    pub fn file(&self) -> &File {
        &self.file
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

    /// Returns `InputChanged` if a regular file has changed since it was opened.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        if self.status.kind != Kind::Regular {
            return Ok(());
        }
        match self.system.status(&self.file) {
            Ok(status) if status == self.status => Ok(()),
            Ok(_) => Err(Error::new(ErrorKind::InputChanged).at(&self.name)),
            Err(error) => Err(Error::from(error).at(&self.name)),
        }
    }
}

/// Reads an input in order. Waiting for a pipe ends soon after a cancellation, with an error.
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
        let OpenSource { system, file, start, .. } = self.input;
        loop {
            // Not `io::ErrorKind::Interrupted`, after which callers would try again.
            if self.control.is_cancelled() {
                return Err(io::Error::other(Error::new(ErrorKind::Interrupted)));
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
