//! `store`: writes bytes from memory to a sink.

use std::io::IoSlice;
use std::path::Path;

use super::{Control, Sink};
use crate::sink::{CheckedSink, OpenSink, OutputName};
use crate::sys::{Os, System};
use crate::{Error, ErrorKind};
use tress_terminal::descriptor;

/// Writes `bytes` with the rules for the output of every command: a file gets its name when everything is written and synced, an
/// existing file is replaced only with `force`, a device is written into, and a terminal accepts text only.
///
/// # Errors
/// Every failure of writing.
pub fn store(bytes: &[u8], sink: &Sink, control: &Control) -> Result<(), Error> {
    store_on(&Os, bytes, sink, control)
}

pub(crate) fn store_on(system: &dyn System, bytes: &[u8], sink: &Sink, control: &Control) -> Result<(), Error> {
    let output = CheckedSink::check(system, sink, None)?.create()?;
    output.write_all(&mut [IoSlice::new(bytes)], 0, control)?;
    output.commit(control)
}

/// Writes a secret into a new file that only its owner may read, from the first byte on. The file gets its name when everything is
/// written and synced. An existing file or link of that name, even a dangling link, is an error.
///
/// # Errors
/// `OutputExists`, and every failure of writing. Then no new file remains.
pub fn store_private(bytes: &[u8], path: &Path, control: &Control) -> Result<(), Error> {
    store_private_on(&Os, bytes, path, control)
}

pub(crate) fn store_private_on(system: &dyn System, bytes: &[u8], path: &Path, control: &Control) -> Result<(), Error> {
    if descriptor::number(path).is_some() {
        return store_on(system, bytes, &Sink::Path { path: path.to_path_buf(), force: false }, control);
    }
    if path.file_name().is_none() {
        return Err(Error::new(ErrorKind::Io(std::io::ErrorKind::InvalidInput)).at(path));
    }
    // Checked before the work, and again by the system when the file gets its name.
    let is_link = system.read_link(path).map_err(|error| Error::from(error).at(path))?.is_some();
    let is_there = match system.status_of(path) {
        Ok(_) => true,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(_) if is_link => true,
        Err(error) => return Err(Error::from(error).at(path)),
    };
    if is_link || is_there {
        return Err(Error::new(ErrorKind::OutputExists).at(path));
    }
    // If the folder does not exist, the error names the path that was asked for.
    let named = |mut error: Error| {
        error.path = Some(path.to_path_buf());
        error
    };
    let file = OutputName::private(system, path).create().map_err(named)?;
    file.write_all_at(&mut [IoSlice::new(bytes)], 0)?;
    OpenSink::File(file).commit(control)
}
