//! An open input of a sender.
//!
//! A file of a folder is opened relative to the handle of that folder, so that a link which replaces the folder later is not
//! followed. The open does not block, so that a FIFO which replaces the file is not waited for.

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

pub(crate) enum OpenInput {
    /// Read in order, even if it is a file.
    Stdin(OpenSource<'static>),
    Named(OpenSource<'static>),
    InFolder(FolderFile),
}

/// A regular file in a folder.
pub(crate) struct FolderFile {
    system: &'static dyn System,
    file: File,
    path: PathBuf,
    status: Status,
}

impl OpenInput {
    pub(crate) fn open(system: &'static dyn System, source: &Source) -> Result<Self, Error> {
        let input = OpenSource::open(system, source)?;
        Ok(if *source == Source::Stdin { Self::Stdin(input) } else { Self::Named(input) })
    }

    /// Opens a file in a folder. `path` is for messages.
    pub(crate) fn in_folder(
        system: &'static dyn System,
        folder: &Dir,
        name: &OsStr,
        path: PathBuf,
    ) -> Result<Self, Error> {
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
            Ok((file, status)) if status.kind == Kind::Regular => {
                Ok(Self::InFolder(FolderFile { system, file, path, status }))
            }
            // The entry is still a file: report the error. Otherwise it was replaced after the listing.
            Err(error) if folder.symlink_metadata(name).is_ok_and(|found| found.is_file()) => {
                Err(Error::from(error).at(path))
            }
            _ => Err(Error::new(ErrorKind::InputChanged).at(path)),
        }
    }

    /// The path, for messages.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Stdin(input) | Self::Named(input) => input.name(),
            Self::InFolder(file) => &file.path,
        }
    }

    /// The status at the time of the open.
    pub(crate) fn status(&self) -> &Status {
        match self {
            Self::Stdin(input) | Self::Named(input) => input.status(),
            Self::InFolder(file) => &file.status,
        }
    }

    /// Size in bytes, if the input can be read in any order. `None` for size 0: files in /proc have this size whatever they hold.
    pub(crate) fn seekable_bytes(&self) -> Option<u64> {
        match self {
            Self::Stdin(_) => None,
            Self::Named(input) => input.seekable_bytes(),
            Self::InFolder(file) => Some(file.status.size_bytes).filter(|&bytes| bytes > 0),
        }
    }

    /// Fills all of `buffers`. `InputChanged` if the file is too short.
    pub(crate) fn read_exact_at(&self, mut buffers: &mut [IoSliceMut<'_>], mut offset: u64) -> Result<(), Error> {
        let file = match self {
            Self::Stdin(input) | Self::Named(input) => return input.read_exact_at(buffers, offset),
            Self::InFolder(file) => file,
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

    /// Reads at `offset`; a stream is read in order. A wait for a stream ends soon after a cancellation.
    pub(crate) fn read(&self, control: &Control, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self {
            Self::Stdin(input) | Self::Named(input) => {
                io::Read::read_vectored(&mut input.reader_at(control, offset), buffers)
            }
            Self::InFolder(_) if control.is_cancelled() => Err(io::Error::other(Error::new(ErrorKind::Interrupted))),
            Self::InFolder(file) => file.read_at(buffers, offset),
        }
    }

    /// Returns `InputChanged` if the status of a regular file differs from that at the open.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match self {
            Self::Stdin(input) | Self::Named(input) => input.check_unchanged(),
            Self::InFolder(file) => match file.system.status(&file.file) {
                Ok(status) if status == file.status => Ok(()),
                Ok(_) => Err(Error::new(ErrorKind::InputChanged).at(&file.path)),
                Err(error) => Err(Error::from(error).at(&file.path)),
            },
        }
    }
}

impl FolderFile {
    fn read_at(&self, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        loop {
            match self.system.read_at(&self.file, buffers, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}
