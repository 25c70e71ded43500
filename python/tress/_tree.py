"""The members of a container that holds a folder, as a mapping from names to files."""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Self

from . import _tress
from ._raw import BUFFERED, RawFile, noted
from ._types import Buffer, Identities

__all__ = ["MemberFile", "Tree", "TreeMember", "open_tree"]

# Names of the types, by tar's flags.
_TYPES = dict(zip(b"0123456", "file,hard link,link,character device,block device,folder,fifo".split(","), strict=True))
# The types that are keys.
_FILES = ("file", "hard link")
# Size in bytes of the buffer of a file that has more.
_BUFFER = 128 * 1024


class TreeMember(NamedTuple):
    """A member of a tree, as the index says. All of it comes from whoever made the container."""

    name: str
    """Path below the folder, with `/` between names, as `os.fsdecode` gives it. Empty for the folder itself."""
    type: str
    """`file`, `hard link`, `link`, `character device`, `block device`, `folder` or `fifo`."""
    mode: int
    """Permission bits, up to 0o7777."""
    size: int
    """Length of a file in bytes, with its holes; 0 for all other types."""
    mtime_ns: int
    """Modification time in nanoseconds since 1970."""
    uid: int
    """Number of the owner."""
    gid: int
    """Number of the group."""
    user: str
    """Name of the owner, or empty."""
    group: str
    """Name of the group, or empty."""
    target: str
    """Target of a link; of a hard link, the name of the file in the tree."""
    changed: bool
    """Whether the file changed, or could not be read to its end, while it was encrypted."""

    @property
    def mtime(self) -> float:
        """Modification time in seconds since 1970."""
        return self.mtime_ns / 1e9


class MemberFile(RawFile):
    """A file of a tree, with random access: the `raw` of the files that a `Tree` opens."""

    def __init__(self, reader: _tress.MemberReader, name: str) -> None:
        """Reads from the beginning of a file."""
        self._reader = reader
        self._name = name
        self._position = 0

    @property
    def name(self) -> str:
        """The name in the tree."""
        return self._name

    @property
    def size(self) -> int:
        """Length of the file in bytes."""
        return self._reader.size

    def readable(self) -> bool:
        """Returns `True`."""
        return True

    def seekable(self) -> bool:
        """Returns `True`."""
        return True

    @noted
    def readinto(self, buffer: Buffer, /) -> int:
        """Reads verified bytes into a buffer and returns their number, up to 1 MiB; 0 at the end."""
        count = self._reader.readinto(buffer, min(self._position, self.size))
        self._position += count
        return count

    def readall(self) -> bytes:
        """Reads to the end."""
        self._check()
        data = bytearray(max(self.size - self._position, 0))
        with memoryview(data) as view:
            done = 0
            while done < len(data):
                done += self.readinto(view[done:])
        return bytes(data)

    @noted
    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Sets the position, as `io.IOBase.seek`, and returns it."""
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError("whence must be 0, 1 or 2")
        position = (0, self._position, self.size)[whence] + offset
        if position < 0:
            raise ValueError("negative seek position")
        self._position = position
        return position

    @noted
    def tell(self) -> int:
        """Returns the position."""
        return self._position

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuses `pickle` and `copy`."""
        raise TypeError("cannot pickle a file of a tree")


class Tree(Mapping[str, io.BufferedReader]):
    """The files and hard links of a container that holds a folder, by name. Made by `open_tree`.

    A name has `/` between its parts, and bytes that are not UTF-8 as `os.fsdecode` gives them. The order is that of the
    archive: depth first, sorted by the bytes of the names. Every access gives a new file at its beginning, which holds
    the tree open, and is independent of other files and threads.

    Two trees are equal only if they are the same object.
    """

    def __init__(self, source: Any, identities: Identities, *, threads: int = 0) -> None:
        """Opens a path, or a file object with `read` and `seek`, which stays open when this is closed."""
        self._tree = _tress.Tree(source, identities, threads=threads)

    @property
    def has_index(self) -> bool:
        """Whether the container has an index. Without one (0.2), opening reads the headers of all members."""
        return self._tree.has_index

    def members(self) -> Iterator[TreeMember]:
        """Iterates over all members, folders and links too, in the order of the archive. Reads the index in parts."""
        parts = itertools.chain([self._tree.part(0)], map(self._tree.part, itertools.count(1)))
        return map(_member, itertools.chain.from_iterable(itertools.takewhile(bool, parts)))

    def info(self, name: str) -> TreeMember:
        """Returns the member with this name; raises `KeyError` if no member has it."""
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def close(self) -> None:
        """Closes the tree and wipes its keys, when the reads of other threads have ended.

        All further calls raise `ValueError`, also those of files of the tree, but for bytes that are in their buffers.
        """
        self._tree.close()

    def __getitem__(self, name: str) -> io.BufferedReader:
        """Opens a file or hard link; raises `KeyError` for anything else.

        A file with damaged chunks raises `Damaged`, here or when they are read, and so does one that the index
        describes wrongly. Other files stay readable.
        """
        reader = self._tree.open(_path(name))
        if reader is None:
            raise KeyError(name)
        file: io.BufferedReader = io.BufferedReader(MemberFile(reader, name), min(max(reader.size, 1), _BUFFER))
        BUFFERED.add(file)
        return file

    def __contains__(self, name: object) -> bool:
        """Returns whether there is a file or hard link with this name."""
        found = self._find(name)
        return found is not None and found.type in _FILES

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names of files and hard links, in the order of the archive."""
        return (member.name for member in self.members() if member.type in _FILES)

    def __len__(self) -> int:
        """Returns the number of files and hard links. Reads the whole index."""
        return self._tree.count()

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __enter__(self) -> Self:
        """Returns the tree, which the end of the `with` block closes."""
        # A closed tree raises ValueError.
        _ = self.has_index
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the tree."""
        self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuses `pickle` and `copy`."""
        raise TypeError("cannot pickle an open tree")

    def _find(self, name: object) -> TreeMember | None:
        found = self._tree.find(_path(name))
        return None if found is None else _member(found)


def open_tree(source: Any, identities: Identities, *, threads: int = 0) -> Tree:
    """Opens a container that holds a folder, whose files are then read one by one, without decrypting the others.

    `source` is a path, or a file object with `read` and `seek`, which stays open. `threads` is the number of threads
    for reading ahead; 0 means one on each core. A read of a file runs on the thread of its caller.

    The index only says where a member should be: its name, type and size are checked there, and its bytes are verified
    before they are returned.

    A container that holds no folder raises `Usage`, and a malformed index `Damaged`.
    """
    return Tree(source, identities, threads=threads)


def _path(name: object) -> bytes:
    """Returns the bytes of a name. If no member can have it, NUL, which no name contains."""
    try:
        return os.fsencode(name) if isinstance(name, str) else b"\0"
    except UnicodeEncodeError:
        return b"\0"


def _member(row: _tress._MemberRow) -> TreeMember:
    path, flag, mode, size, mtime_ns, uid, gid, user, group, target, changed = row
    name, user_name, group_name, link = map(os.fsdecode, (path, user, group, target))
    return TreeMember(name, _TYPES[flag], mode, size, mtime_ns, uid, gid, user_name, group_name, link, changed)
