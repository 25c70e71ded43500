//! A folder as a tar stream, and back: what a container whose content type is `tree` holds.
//!
//! **Packing** walks a folder in the order of its names' bytes, depth first, and writes one POSIX (pax) tar stream: the
//! root as `./`, then every folder before what it holds. Kept are names (bytes), kinds, the nine permission bits, times
//! of modification in nanoseconds, and the targets of symbolic links. Not kept: owners (always 0), access times, extended
//! attributes, setuid, setgid and sticky bits, the holes of sparse files, and hard links, whose names become files of their own.
//! The same tree packs to the same bytes. A file or folder that changes meanwhile fails the run, and so does anything that
//! unpacking would refuse: special files, and links that may lead out of the tree.
//!
//! **Unpacking** believes nothing. It fills a temporary folder beside the target and renames it when the stream has been
//! read to its end. Each entry must follow its folder directly, depth first, so that memory grows with the depth of the tree
//! and not with its size, and so that every call takes one name relative to the handle of a folder made here, which no link
//! can redirect. Permissions are set as stored, whatever the umask; Windows ignores them.
//!
//! Refused: absolute names, `..`, NUL, paths beyond 4095 bytes, a name twice (also when the file system folds case), an entry
//! below a link, links whose target is absolute or leaves the tree or has `..` after a name, hard links, devices, FIFOs, sparse
//! files, every other kind of entry, an archive that ends early or is followed by anything but zeros.
//!
//! Every path goes through `cap-std`: nothing outside the two roots can be reached, even while another process changes them.
//! On unix all open files are bounded: some 35 folders and one file.

pub(crate) mod calls;
mod entry;
#[doc(hidden)]
pub mod names;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "not every system can do all of it"))]
pub(crate) mod noted;
mod pack;
mod pax;
mod platform;
mod read;
mod remove;
mod target;
mod time;
mod unpack;
mod write;

#[cfg(test)]
mod faults_test;

pub use pack::{Skipped, pack, pack_with};
pub use unpack::unpack;

use crate::{Control, Error, ErrorKind};

/// Folders kept open along the path to the current one; deeper trees have outer ones opened again on the way back.
const OPEN_FOLDERS: usize = 32;

/// Bytes moved between two looks at the cancel flag.
const BUFFER_BYTES: usize = 256 * 1024;

fn check_cancelled(control: &Control) -> Result<(), Error> {
    match control.is_cancelled() {
        true => Err(Error::new(ErrorKind::Interrupted)),
        false => Ok(()),
    }
}
