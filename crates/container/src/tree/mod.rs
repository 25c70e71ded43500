//! Converts a folder to a tar stream and back: the content of a container of type `tree`.
//!
//! **Packing** walks a folder depth first, in the order of its names' bytes, and writes one POSIX (pax) tar stream: the root as `./`, then
//! every folder before its contents. It stores names (bytes), types, the nine permission bits, modification times in nanoseconds, and the
//! targets of symbolic links. It does not store owners (always 0), access times, extended attributes, setuid, setgid and sticky bits, or
//! the holes of sparse files; hard links become separate files. The same tree packs to the same bytes. Packing fails if a file or folder
//! changes while it runs, and for everything that unpacking would reject: special files, and links that may point out of the tree.
//!
//! **Unpacking** trusts nothing in the stream. It fills a temporary folder next to the target, and renames it when the stream was read to
//! its end. Each entry must follow its folder directly, depth first, so that memory grows with the depth of the tree and not with its size.
//! So every call takes one name, relative to the handle of a folder made here, which no link can redirect. Permissions are set as stored,
//! whatever the umask; Windows ignores them.
//!
//! Rejected are: absolute names, `..`, NUL, paths longer than 4095 bytes, a name that occurs twice (also if the file system ignores
//! case), an entry below a link, links whose target is absolute or leaves the tree or has `..` after a name, hard links, devices, FIFOs,
//! sparse files, every other type of entry, and an archive that ends early or is followed by anything but zeros.
//!
//! All paths go through `cap-std`: nothing outside of the two roots can be reached, even while another process changes them. On unix the
//! number of open files is bounded: about 35 folders and one file.

mod entry;
mod metadata;
#[doc(hidden)]
pub mod names;
mod pack;
mod pax;
mod read;
mod remove;
mod target;
mod unpack;
mod write;

#[cfg(test)]
mod faults_test;

#[doc(hidden)]
pub use read::shown as shown_path;

pub(crate) use pack::pack_on;
pub use pack::{Skipped, pack, pack_with};
pub use unpack::unpack;
pub(crate) use unpack::unpack_on;

use crate::{Control, Error, ErrorKind};

/// Number of folders kept open along the path to the current one. In deeper trees the outer ones are opened again on the way back.
const OPEN_FOLDERS: usize = 32;

/// Bytes moved between two checks of the cancel flag.
const BUFFER_BYTES: usize = 256 * 1024;

fn check_cancelled(control: &Control) -> Result<(), Error> {
    match control.is_cancelled() {
        true => Err(Error::new(ErrorKind::Interrupted)),
        false => Ok(()),
    }
}
