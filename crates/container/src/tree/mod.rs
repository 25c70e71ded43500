//! Converts a folder to a tar stream and back: the content of a container of type `tree` (`docs/reference/formats/container.md`, "Trees").
//!
//! **Packing** walks a folder depth first, in the order of its names' bytes, and writes one POSIX (pax) tar stream: the root as `./`, then
//! every folder before its contents, and behind its end mark an index of all entries. It stores what tar stores: names (bytes), types,
//! modes, owners, modification times in nanoseconds, targets of links, hard links, extended attributes, access lists and the holes of
//! sparse files. It does not store access times. The same tree packs to the same bytes. An entry that cannot be read, or changes while it
//! is read, is an error, or is counted and left out ([`PackOptions::go_on`]).
//!
//! **Unpacking** trusts nothing in the stream. It fills a temporary folder next to the target, and renames it when the stream was read to
//! its end. Each entry must follow its folder directly, depth first, so that memory holds the open folders, with the names that were left
//! out of them, and the folders that even their owner cannot enter, and not the tree. So every call takes one name, relative to the handle
//! of a folder made here, which no link can redirect, and nothing is ever written through a link, whenever links are made. Modes are set as
//! stored, whatever the umask; Windows ignores them. What could harm is left out and counted unless it is asked for
//! ([`UnpackOptions::preserve`]).
//!
//! Rejected are: absolute names, `..`, NUL, paths longer than 4095 bytes, a name that occurs twice (also if the file system ignores
//! case), an entry below a link, hard links to anything but an earlier file, every other type of entry, and an archive that ends early. Of
//! a tree of version 1 also everything that 0.2 rejected.
//!
//! **Members** are found by the index ([`Tree`]), which is only a hint: what it says is checked in the stream.
//!
//! All paths go through `cap-std`: nothing outside of the two roots can be reached, even while another process changes them. On unix the
//! number of open files is bounded: about 35 folders and one file.

mod ahead;
mod attributes;
mod blocks;
mod entry;
mod exclude;
mod index;
mod members;
mod metadata;
#[doc(hidden)]
pub mod names;
mod pack;
mod pax;
mod properties;
mod read;
mod remove;
mod sparse;
mod target;
mod unpack;
mod write;

#[doc(hidden)]
pub use blocks::shown as shown_path;

pub use exclude::Exclude;
pub use index::Member;
pub(crate) use members::SparseWrite;
pub use members::{MemberData, Tree};
pub(crate) use pack::{Inputs, pack_on};
pub use pack::{OnError, PackOptions, Packed, pack, pack_with};
pub use properties::{LeftOut, LeftOutKind, UnpackOptions};
pub(crate) use read::copy_stream;
pub use unpack::unpack;
pub(crate) use unpack::unpack_on;

use crate::{Control, Error, ErrorKind};
use std::path::Path;

/// Number of folders kept open along the path to the current one. In deeper trees the outer ones are opened again on the way back.
const OPEN_FOLDERS: usize = 32;

/// Bytes moved between two checks of the cancel flag.
const BUFFER_BYTES: usize = 256 * 1024;

/// A path as trees store it; `None` if it is not Unicode and this system's names are not bytes.
pub(crate) fn path_bytes(path: &Path) -> Option<Vec<u8>> {
    names::to_bytes(path.as_os_str()).map(<[u8]>::to_vec)
}

pub(crate) fn check_cancelled(control: &Control) -> Result<(), Error> {
    match control.is_cancelled() {
        true => Err(Error::new(ErrorKind::Interrupted)),
        false => Ok(()),
    }
}
