//! An input of a sender, open.
//!
//! A file of a folder is opened below the handle of that folder, so that a link that takes a folder's place meanwhile leads
//! nowhere, and without waiting for a FIFO that takes the file's.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};

use tress_container::commands::{Control, Source};
use tress_container::source::OpenSource;
use tress_container::sys::{Kind, Status, System};
use tress_container::{Error, ErrorKind};

pub(crate) enum Opened {
    /// Read in order, also where it leads to a file.
    Stdin(OpenSource<'static>),
    Named(OpenSource<'static>),
    Below(Below),
}

/// A regular file of a folder.
pub(crate) struct Below {
    system: &'static dyn System,
    file: File,
    path: PathBuf,
    status: Status,
}

impl Opened {
    pub(crate) fn open(system: &'static dyn System, source: &Source) -> Result<Self, Error> {
        let input = OpenSource::open(system, source)?;
        Ok(if *source == Source::Stdin { Self::Stdin(input) } else { Self::Named(input) })
    }

    /// `path` is for messages.
    pub(crate) fn below(system: &'static dyn System, folder: &Dir, name: &OsStr, path: PathBuf) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
        let opened = || -> io::Result<_> {
            let file = folder.open_with(name, &options)?.into_std();
            let status = system.status(&file)?;
            Ok((file, status))
        };
        match opened() {
            Ok((file, status)) if status.kind == Kind::Regular => Ok(Self::Below(Below { system, file, path, status })),
            // What was listed as a file is something else now.
            Err(error) if folder.symlink_metadata(name).is_ok_and(|found| found.is_file()) => {
                Err(Error::from(error).at(path))
            }
            _ => Err(Error::new(ErrorKind::InputChanged).at(path)),
        }
    }

    /// For messages.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Stdin(input) | Self::Named(input) => input.name(),
            Self::Below(file) => &file.path,
        }
    }

    /// What the system said at the open.
    pub(crate) fn status(&self) -> &Status {
        match self {
            Self::Stdin(input) | Self::Named(input) => input.status(),
            Self::Below(file) => &file.status,
        }
    }

    /// Bytes in all, if they can be read in any order. Files in /proc have size 0 whatever they hold.
    pub(crate) fn seekable_bytes(&self) -> Option<u64> {
        match self {
            Self::Stdin(_) => None,
            Self::Named(input) => input.seekable_bytes(),
            Self::Below(file) => Some(file.status.size_bytes).filter(|&bytes| bytes > 0),
        }
    }

    /// Fills all of `buffers`. `InputChanged` if the file ends before.
    pub(crate) fn read_exact_at(&self, mut buffers: &mut [IoSliceMut<'_>], mut offset: u64) -> Result<(), Error> {
        let file = match self {
            Self::Stdin(input) | Self::Named(input) => return input.read_exact_at(buffers, offset),
            Self::Below(file) => file,
        };
        IoSliceMut::advance_slices(&mut buffers, 0);
        while !buffers.is_empty() {
            match file.read_at(buffers, offset) {
                Ok(0) => return Err(Error::new(ErrorKind::InputChanged).at(&file.path)),
                Ok(bytes) => {
                    offset += bytes as u64;
                    IoSliceMut::advance_slices(&mut buffers, bytes);
                }
                Err(error) => return Err(Error::from(error).at(&file.path)),
            }
        }
        Ok(())
    }

    /// Reads on, in order. A wait for a stream ends soon after a cancellation.
    pub(crate) fn read(&self, control: &Control, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self {
            Self::Stdin(input) | Self::Named(input) => {
                io::Read::read_vectored(&mut input.reader_at(control, offset), buffers)
            }
            Self::Below(_) if control.is_cancelled() => Err(io::Error::other(Error::new(ErrorKind::Interrupted))),
            Self::Below(file) => file.read_at(buffers, offset),
        }
    }

    /// `InputChanged` if a regular file is not what it was at the open.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match self {
            Self::Stdin(input) | Self::Named(input) => input.check_unchanged(),
            Self::Below(file) => match file.system.status(&file.file) {
                Ok(status) if status == file.status => Ok(()),
                Ok(_) => Err(Error::new(ErrorKind::InputChanged).at(&file.path)),
                Err(error) => Err(Error::from(error).at(&file.path)),
            },
        }
    }
}

impl Below {
    fn read_at(&self, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        loop {
            match self.system.read_at(&self.file, buffers, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}
