//! `list`: the members of a tree, from its index.

use std::io::{self, IoSliceMut};

use super::{Control, Source};
use crate::keys::Identities;
use crate::source::OpenSource;
use crate::streaming::ReadAt;
use crate::sys::{Kind, Os};
use crate::threads::Threads;
use crate::tree::{Member, Tree, check_cancelled};
use crate::{Error, ErrorKind};

/// How the members were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Whether the container has an index. Otherwise all of it was read.
    pub has_index: bool,
    /// Whether the container is damaged or cut, so that members may be missing.
    pub is_damaged: bool,
}

/// Calls a function with every member of a tree, depth first and sorted by name. A damaged or cut container gives those that can be read.
///
/// # Errors
/// The errors of [`Tree::open`](crate::tree::Tree::open), but for damage; `Usage` for an input that is no regular file; those of `each`;
/// `Interrupted`.
pub fn list(
    source: &Source,
    identities: &Identities,
    control: &Control,
    each: &mut dyn FnMut(&Member) -> io::Result<()>,
) -> Result<Listed, Error> {
    let input = OpenSource::open(&Os, source)?;
    let at_input = |error: Error| error.in_container(input.name());
    let open = || -> Result<Tree<SourceAt<'_>>, Error> {
        let tree = Tree::open_with(SourceAt::new(&input)?, identities, Threads::All, control)?;
        // Damage is found before anything is printed.
        tree.check_index(control)?;
        Ok(tree)
    };
    let (tree, is_damaged) = match open() {
        Err(error) if matches!(error.kind, ErrorKind::Truncated | ErrorKind::ChunkDamaged { .. }) => {
            (Tree::salvage(SourceAt::new(&input)?, identities, Threads::All, control), true)
        }
        tree => (tree, false),
    };
    let tree = tree.map_err(at_input)?;
    for member in tree.members() {
        check_cancelled(control)?;
        each(&member.map_err(at_input)?)?;
    }
    Ok(Listed { has_index: tree.has_index(), is_damaged })
}

/// A regular file, for reading at offsets.
pub(super) struct SourceAt<'a>(&'a OpenSource<'a>, u64);

impl<'a> SourceAt<'a> {
    pub(super) fn new(input: &'a OpenSource<'a>) -> Result<Self, Error> {
        if input.status().kind == Kind::Regular && input.status().size_bytes == 0 {
            return Err(Error::new(ErrorKind::NotAContainer).with_detail("it is empty").at(input.name()));
        }
        let detail = "members are read at their places, which needs a file and not a stream";
        let bytes = input.seekable_bytes();
        bytes
            .map(|bytes| Self(input, bytes))
            .ok_or_else(|| Error::new(ErrorKind::Usage).with_detail(detail).at(input.name()))
    }
}

impl ReadAt for SourceAt<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = buffer.len().min(usize::try_from(self.1.saturating_sub(offset)).unwrap_or(usize::MAX));
        self.0.read_exact_at(&mut [IoSliceMut::new(&mut buffer[..bytes])], offset)?;
        Ok(bytes)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.1)
    }
}
