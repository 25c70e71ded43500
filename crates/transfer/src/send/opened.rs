//! An open input of a sender.
//!
//! A file of a folder is opened relative to the handle of that folder, so that a link which replaces the folder later is not
//! followed. The open does not block, so that a FIFO which replaces the file is not waited for.

use std::ffi::OsStr;
use std::io::{self, IoSliceMut};
use std::ops::Deref;
use std::path::PathBuf;

use cap_std::fs::Dir;

use tress_container::commands::{Control, Source};
use tress_container::source::OpenSource;
use tress_container::sys::{Kind, Opening, Os, System};
use tress_container::{Error, ErrorKind};

pub(crate) struct OpenInput {
    input: OpenSource<'static>,
    /// Standard input is read in order, even if it is a file.
    pub(crate) is_stdin: bool,
}

impl Deref for OpenInput {
    type Target = OpenSource<'static>;

    fn deref(&self) -> &Self::Target {
        &self.input
    }
}

impl OpenInput {
    pub(crate) fn open(system: &'static dyn System, source: &Source) -> Result<Self, Error> {
        Ok(Self { input: OpenSource::open(system, source)?, is_stdin: *source == Source::Stdin })
    }

    /// Opens a file in a folder. `path` is for messages.
    pub(crate) fn in_folder(
        system: &'static dyn System,
        folder: &Dir,
        name: &OsStr,
        path: PathBuf,
    ) -> Result<Self, Error> {
        let opened = system.open_in(folder, name, Opening::Read);
        match opened.and_then(|file| OpenSource::of(system, file, path.clone(), false)) {
            Ok(input) if input.status().kind == Kind::Regular => Ok(Self { input, is_stdin: false }),
            // The entry is still a file: report the error. Otherwise it was replaced after the listing.
            Err(error) if Os.metadata_in(folder, name).is_ok_and(|found| found.is_file()) => {
                Err(Error::from(error).at(path))
            }
            _ => Err(Error::new(ErrorKind::InputChanged).at(path)),
        }
    }

    /// Size in bytes, if the input can be read in any order.
    pub(crate) fn seekable_bytes(&self) -> Option<u64> {
        self.input.seekable_bytes().filter(|_| !self.is_stdin)
    }

    /// Reads at `offset`; a stream is read in order. A wait for a stream ends soon after a cancellation.
    pub(crate) fn read(&self, control: &Control, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        io::Read::read_vectored(&mut self.input.reader_at(control, offset), buffers)
    }
}
