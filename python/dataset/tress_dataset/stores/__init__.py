"""Stores of objects. A store reads and writes whole objects by their names, which are relative to its root.

`local.py` implements folders, `s3.py` S3, `files.py` all other file systems of fsspec. Several threads may use a store
at the same time.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import IntEnum
from types import TracebackType
from typing import Any, Self

from ..codec import Codec
from ..errors import Changed, UsageError, WrongSize
from ..names import Item, UnreadableEntry
from ..retry import Retry

BLOCK = 4 << 20
"""Objects up to this size in bytes are processed whole; larger ones in blocks of this size."""

PIECE = 512 << 10
"""Block size in bytes for local files: small enough to stay in a cache from reading to writing."""

HEAD = 128 << 10
"""Number of bytes to read for a header: more than any header has."""


class Replace(IntEnum):
    """Which existing object of the same name a new object may replace."""

    NEVER = 0
    OURS = 1
    """Only an object that an earlier run began to write."""
    ALWAYS = 2


class Reading(ABC):
    """An object that is being read, in the version that was opened."""

    item: Item
    about: Mapping[str, str] = {}
    """Metadata, if the store has any: `content-type` and the metadata given to `Store.write`."""

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """Yields the bytes of the object, in buffers of at most some MiB. A buffer is valid until the next one."""

    def whole(self) -> bytes:
        """Returns all bytes of the object."""
        return b"".join([bytes(block) for block in self.blocks()])

    @abstractmethod
    def unchanged(self) -> None:
        """Raises `Changed` if the bytes that were read do not come from one version of the object."""

    def close(self) -> None:  # noqa: B027  # Most stores have nothing to close.
        """Closes the object."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Writing(ABC):
    """An object that is being written. It appears complete in `commit`, or never."""

    @abstractmethod
    def write(self, data: Any) -> None:
        """Writes the next bytes."""

    @abstractmethod
    def commit(self) -> Item:
        """Makes the object appear. Raises `Exists` if it must not replace an existing object."""

    @abstractmethod
    def discard(self) -> None:
        """Removes what was written. Does nothing after `commit`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()


class Store(ABC):
    """A folder, a bucket, or a folder of a server."""

    shown: str
    """Address without secrets."""
    local = False
    retry = Retry()
    """Attempts for a page of a listing."""
    shared = True
    """Whether other processes see the same objects."""
    longest: int | None = None
    """Longest part of a name between two slashes, in `names.units`, if the store has such a limit."""

    @property
    def location(self) -> str:
        """The same for all addresses of a folder as far as possible, to compare two stores."""
        return self.shown.rstrip("/")

    @abstractmethod
    def prepare(self) -> None:
        """Creates the root if the store needs one. Called once per run, for targets."""

    @abstractmethod
    def items(self) -> Iterator[Item | UnreadableEntry]:
        """Yields all objects lazily, in any order, except those that `names.ignored` excludes.

        Raises `OSError` if the store does not exist, or is no folder.
        """

    def listing(self) -> Iterator[Item | UnreadableEntry]:
        """Yields what `items` yields. An error gets an attribute `place` with the address of this store."""
        try:
            yield from self.items()
        except Exception as error:
            error.place = self.shown  # type: ignore[attr-defined]
            raise

    @abstractmethod
    def stat(self, name: str) -> Item:
        """Describes an object. Raises `FileNotFoundError`."""

    def occupied(self, name: str) -> bool:
        """Returns whether an object has this name, for stores that cannot tell later whether a run wrote it."""
        return False

    @abstractmethod
    def read(self, item: Item) -> Reading:
        """Opens an object. `item` comes from a listing, and may be out of date."""

    @abstractmethod
    def read_start(self, item: Item, count: int) -> bytes:
        """Returns the first `count` bytes, or all bytes if there are fewer."""

    @abstractmethod
    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        """Begins a new object of about `size` bytes, with metadata such as `content-type` if the store supports it."""

    def rewrap(self, item: Item, codec: Codec) -> tuple[Item, Item]:
        """Replaces the header of a container, not its payload. Returns the old container and the new one."""
        item = self.stat(item.name)
        old, head = codec.new_head(self.read_start(item, HEAD))
        size = item.size - old + len(head)
        with self.read(item) as reading, self.write(item.name, size, {}, Replace.ALWAYS) as out:
            if reading.item != item:  # The header is that of another version.
                raise Changed("modified while it was read")
            out.write(head)
            skip = old
            count = 0
            for block in reading.blocks():
                count += len(block)
                if skip < len(block):
                    out.write(memoryview(block)[skip:])
                skip = max(0, skip - len(block))
            reading.unchanged()
            if count != reading.item.size or skip:
                raise WrongSize("its length changed while it was read")
            return item, self.committed(out, item.name, head, size)

    def committed(self, out: Writing, name: str, head: bytes, size: int) -> Item:
        """Commits a container, also if only the answer of the store is lost: a random header shows whose it is."""
        try:
            return out.commit()
        except Exception:  # exceptions of a store may have any type
            with suppress(Exception):
                there = self.stat(name)
                if there.size == size and self.read_start(there, len(head)) == head:
                    return there
            raise

    @abstractmethod
    def put(self, name: str, data: bytes) -> None:
        """Writes a small object of this package, such as a part of the manifest, and replaces an existing one."""

    def append(self, name: str, data: bytes) -> bool:
        """Appends to a small object of this package. Returns False if the store cannot append."""
        return False

    @abstractmethod
    def get(self, name: str) -> Iterator[bytes]:
        """Yields the bytes of an object of this package in pieces."""

    @abstractmethod
    def control(self) -> list[str]:
        """Returns the names of all objects in the folder of manifests."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Removes an object of this package. Does nothing if it does not exist."""

    def settle(self) -> None:  # noqa: B027
        """Makes new names durable, if the store needs a separate step for that."""

    def close(self) -> None:  # noqa: B027
        """Closes connections."""


_LINK = re.compile(r"::(?=[A-Za-z][\w+.-]*(?:::|:/|\Z))")
"""Matches the separator in a chain of URLs such as `simplecache::sftp://host/folder`, but not in a password."""
_HALF_A_URL = re.compile(r"[A-Za-z][\w+.-]+:/(?!/)")
"""Matches a mistyped URL such as `s3:/bucket`, which would become a local folder. A single letter is a drive."""
_IN_TEXT = re.compile(r"[A-Za-z][\w+.-]+:/[^\s'\"<>]+")


def without_secrets(url: str) -> str:
    """Returns a URL, or a chain of URLs, without user information, query and fragment. Paths stay as they are."""
    return "::".join(map(_without_secrets, _LINK.split(url)))


def _without_secrets(url: str) -> str:
    found = re.match(r"([A-Za-z][\w+.-]+:/+)([^/?#]*)(.*)", url, re.DOTALL)
    if found is None:
        return url
    scheme, host, rest = found.groups()
    # A password may have any of the separators. Only a port follows a colon elsewhere.
    if "@" not in host and re.search(r":(?!\d*\Z)", host.rpartition("]")[2]) and "@" in rest:
        host, rest = "", re.sub(r".*@", "", rest, flags=re.DOTALL)
    return scheme + host.rpartition("@")[2] + re.sub(r"[?#].*", "", rest, flags=re.DOTALL)


def text_without_secrets(text: str, *urls: str | None) -> str:
    """Returns a message in which these URLs, and all other ones, have no secrets."""
    for url in filter(None, urls):
        text = text.replace(url, without_secrets(url))
    return _IN_TEXT.sub(lambda found: without_secrets(found[0]), text)


_EXTRAS = {"s3": "s3", "s3a": "s3", "sftp": "sftp", "ssh": "sftp"}
"""The extra of this distribution that installs the dependencies of a scheme."""


def open_store(url: str, options: Mapping[str, Any]) -> Store:
    """Returns the store of a URL or path. Raises `UsageError` if no store supports the URL."""
    scheme = url.partition("://")[0] if "://" in url else "file"
    if not url:
        raise UsageError("source or target is empty")
    if _HALF_A_URL.match(url):
        raise UsageError(
            f"{without_secrets(url)}: a URL has // after its scheme; for a local folder of this name put ./ before it"
        )
    if "::" not in url and scheme in ("file", "local"):
        from .local import LocalStore

        return LocalStore(url)
    try:
        if "::" not in url and scheme in ("s3", "s3a"):
            from .s3 import S3Store

            return S3Store(url, options)
        from .files import FilesStore

        return FilesStore(url, options)
    except ImportError as error:
        extra = _EXTRAS.get(scheme, "fsspec" if error.name == "fsspec" else None)
        hint = "" if extra is None else f"; in a clone of Tress run pip install . './python/dataset[{extra}]'"
        raise UsageError(f"{without_secrets(url)}: {text_without_secrets(str(error), url)}{hint}") from error
