//! The members of a container that holds a folder, read one by one, for `tress.open_tree`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tress_container::streaming::ReadAt;
use tress_container::tree::{self, Member, MemberData};
use tress_container::{Error, ErrorKind};
use tress_lanes::fork::ForkMutex;

use crate::memory::OutputBuffer;
use crate::reader::{CLOSED, ContainerSource, closed, lock};
use crate::{arguments, errors, keys};

/// Most bytes that one call reads, so that signals are noticed between calls.
const PIECE_BYTES: usize = 1 << 20;

/// The container of a folder. Any number of threads may read.
#[pyclass(frozen, module = "tress._tress")]
// The lock is held only to find the tree.
pub(crate) struct Tree(ForkMutex<Option<Arc<tree::Tree<TreeSource>>>>);

/// The data of a file in a tree.
#[pyclass(frozen, module = "tress._tress")]
pub(crate) struct MemberReader {
    tree: Py<Tree>,
    member: Member,
    data: MemberData,
}

/// A source with offsets. Reads of a file share no position, so that threads and forked processes do not disturb each other.
enum TreeSource {
    File(File),
    Object(ForkMutex<ContainerSource>),
}

#[pymethods]
impl Tree {
    /// Opens a path, or a file object with `read` and `seek`.
    #[new]
    #[pyo3(signature = (source, identities, *, threads = 0))]
    fn new(
        source: &Bound<'_, PyAny>,
        identities: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<Self> {
        let identities = keys::identities(identities)?;
        let open = |source| {
            let source = match source {
                ContainerSource::File { file: Some(file), .. } => TreeSource::File(file.into()),
                object => TreeSource::Object(ForkMutex::new(object)),
            };
            tree::Tree::open(source, &identities, threads.into())
        };
        ContainerSource::open(source, open).map(|tree| Self(ForkMutex::new(Some(Arc::new(tree)))))
    }

    /// Whether the container has an index. Without one, opening reads the headers of all members.
    #[getter]
    fn has_index(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |tree| Ok(tree.has_index()))
    }

    /// Returns the members of a part of the index, from 0; no members behind the last part.
    fn part<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.with(py, |tree| tree.part(number))?.iter().map(|member| row(member).into_pyobject(py)).collect()
    }

    /// Returns the number of files and hard links.
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |tree| tree.members().try_fold(0, |count, member| Ok(count + usize::from(is_file(&member?)))))
    }

    /// Returns the member with this path, or `None`.
    fn find<'py>(&self, py: Python<'py>, path: &[u8]) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.with(py, |tree| tree.find(path))?.map(|member| row(&member).into_pyobject(py)).transpose()
    }

    /// Returns a reader of the file or hard link with this path, or `None`.
    fn open(slf: &Bound<'_, Self>, path: &[u8]) -> PyResult<Option<MemberReader>> {
        let found = slf.get().with(slf.py(), |tree| {
            let found = tree.find(path)?.filter(is_file);
            found.map(|member| Ok((tree.data(&member).map_err(|error| at(error, &member))?, member))).transpose()
        })?;
        Ok(found.map(|(data, member)| MemberReader { tree: slf.clone().unbind(), member, data }))
    }

    /// Closes the tree and its readers, and wipes its keys when the calls of other threads have ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| closed(lock(&self.0).map(|mut tree| drop(tree.take()))))
            .map_err(|error| errors::container(py, error))
    }
}

#[pymethods]
impl MemberReader {
    /// Length of the file in bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.data.size_bytes()
    }

    /// Reads verified bytes at an offset into a buffer, and returns their number; 0 at the end.
    fn readinto(&self, buffer: &Bound<'_, PyAny>, offset: u64) -> PyResult<usize> {
        let mut output = OutputBuffer::of(buffer)?;
        let mut wanted = output.bytes().min(PIECE_BYTES);
        let bytes = output.as_mut_slice();
        self.tree.get().with(buffer.py(), |tree| {
            loop {
                match tree.read_at(&self.data, &mut bytes[..wanted], offset) {
                    // The bytes before a damaged chunk are read.
                    Err(error) if wanted > 1 && matches!(error.kind, ErrorKind::ChunkDamaged { .. }) => wanted /= 2,
                    read => return read.map_err(|error| at(error, &self.member)),
                }
            }
        })
    }
}

impl Tree {
    /// Calls a function with the tree, without the interpreter lock, which the source may need.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&tree::Tree<TreeSource>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            let tree = lock(&self.0)?.clone();
            tree.map(|tree| call(&tree)).transpose()
        });
        result.map_err(|error| errors::container(py, error))?.ok_or_else(|| PyValueError::new_err(CLOSED))
    }
}

impl ReadAt for TreeSource {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read_at(buffer, offset),
            Self::Object(source) => {
                let mut source = lock(source)?;
                source.seek(SeekFrom::Start(offset))?;
                source.read(buffer)
            }
        }
    }

    fn size_bytes(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.size_bytes(),
            Self::Object(source) => lock(source)?.seek(SeekFrom::End(0)),
        }
    }
}

fn is_file(member: &Member) -> bool {
    matches!(member.flag, b'0' | b'1')
}

/// Names the member in an error about the container's content.
fn at(error: Error, member: &Member) -> Error {
    if matches!(error.kind, ErrorKind::Io(_)) { error } else { error.at_entry(member.shown_path()) }
}

/// Name and type flag, mode, size, time in nanoseconds, numbers and names of the owners, target, whether it changed.
type Row<'py> = (&'py [u8], u8, u32, u64, i128, u32, u32, &'py [u8], &'py [u8], &'py [u8], bool);

fn row(member: &Member) -> Row<'_> {
    let (seconds, nanoseconds) = member.modified;
    let time_ns = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    let ([uid, gid], [user, group]) = (member.owner_ids, &*member.owner_names);
    let Member { path, flag, mode, size_bytes, target, is_changed, .. } = member;
    (path, *flag, *mode, *size_bytes, time_ns, uid, gid, user, group, target, *is_changed)
}
