"""Where objects lie. A store knows objects by names relative to its root, and how to read and write them whole.

`local.py` has folders, `s3.py` S3, `files.py` everything else that fsspec opens. All calls may come from several
threads at once.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from enum import IntEnum
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

from ..codec import Codec
from ..errors import Changed, UsageError
from ..names import Item, Odd
from ..retry import Retry

BLOCK = 4 << 20
"""Objects of no more bytes are read, sealed and written whole; of others this much at a time."""

PIECE = 512 << 10
"""The same of files of this machine: what stays in a cache from the reading to the writing, and what an encryptor takes at
a time."""

HEAD = 128 << 10
"""More than any container's header."""


class Replace(IntEnum):
    """Which object of the same name a new one may replace."""

    NEVER = 0
    OURS = 1
    """One that an earlier run began to write, and nothing else."""
    ALWAYS = 2


class Reading(ABC):
    """One object that is being read, as it was when it was opened."""

    item: Item
    about: Mapping[str, str] = {}
    """Metadata, where the store keeps some: `content-type` and what `Store.write` was given."""

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """Its bytes, in buffers of some MiB at most, each of use until the next one."""

    def whole(self) -> bytes:
        """All of its bytes."""
        return b"".join([bytes(block) for block in self.blocks()])

    @abstractmethod
    def unchanged(self) -> None:
        """Raises `Changed` if what was read is not one version of the object."""

    def close(self) -> None:
        """Lets go of it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Writing(ABC):
    """One object that is being written. It appears when `commit` returns, complete, or never."""

    @abstractmethod
    def write(self, data: Any) -> None:
        """The next bytes."""

    @abstractmethod
    def commit(self) -> Item:
        """Makes the object appear. Raises `Exists` if it may not replace one that is there."""

    @abstractmethod
    def discard(self) -> None:
        """Leaves nothing behind. Does nothing after `commit`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()


class Store(ABC):
    """A folder, a bucket, a server's folder."""

    shown: str
    """Its address without secrets."""
    local = False
    retry = Retry()
    """For a page of a listing, which is not begun again."""
    shared = True
    """Whether other processes see the same objects."""

    @abstractmethod
    def prepare(self) -> None:
        """Makes the root where stores have such a thing. Once a run, for targets."""

    @abstractmethod
    def items(self) -> Iterator[Item | Odd]:
        """All objects, in any order, lazily; without what `names.ignored` says."""

    @abstractmethod
    def stat(self, name: str) -> Item:
        """Raises `FileNotFoundError`."""

    def occupied(self, name: str) -> bool:
        """Whether an object that no run wrote is in the way, where that shows only beforehand."""
        return False

    @abstractmethod
    def read(self, item: Item) -> Reading:
        """Opens an object; the listing's description helps, but may be old."""

    @abstractmethod
    def read_start(self, item: Item, count: int) -> bytes:
        """So many first bytes, or all if it has fewer."""

    @abstractmethod
    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        """A new object of about `size` bytes, with metadata where the store keeps some (`content-type` and others)."""

    def rewrap(self, item: Item, codec: Codec) -> Item:
        """The container with a new header before the same payload; the payload is not decrypted."""
        old, head = codec.new_head(self.read_start(item, HEAD))
        with self.read(item) as reading, self.write(item.name, item.size - old + len(head), {}, Replace.ALWAYS) as out:
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
                raise Changed("its length changed while it was read")
            return out.commit()

    @abstractmethod
    def put(self, name: str, data: bytes) -> None:
        """Writes a small object of our own, replacing it."""

    def append(self, name: str, data: bytes) -> bool:
        """Adds to a small object of our own; False where the store cannot."""
        return False

    @abstractmethod
    def get(self, name: str) -> Iterator[bytes]:
        """Pieces of an object of our own."""

    @abstractmethod
    def control(self) -> list[str]:
        """Names of all objects in the folder of manifests."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Removes an object of our own; it may be gone already."""

    def settle(self) -> None:
        """Makes durable what was named, where that is a step of its own."""

    def close(self) -> None:
        """Lets go of connections."""


def without_secrets(url: str) -> str:
    """The URL without user information and query."""
    if "://" not in url:
        return url
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


_HALF_A_URL = re.compile(r"[a-z][a-z0-9+.-]+:/(?!/)")
"""What would become a local folder called `s3:`. A letter alone is a drive."""


_EXTRAS = {"s3": "s3", "s3a": "s3", "sftp": "sftp", "ssh": "sftp"}
"""Extras of this distribution that have what a scheme needs."""


def open_store(url: str, options: Mapping[str, Any]) -> Store:
    """The store behind a URL or path. Raises `UsageError` for URLs that nothing here opens."""
    scheme = url.partition("://")[0] if "://" in url else "file"
    if not url:
        raise UsageError("source or target is empty")
    if _HALF_A_URL.match(url):
        raise UsageError(
            f"{without_secrets(url)}: a URL has // after its scheme; for a local folder of this name use ./{url}"
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
        clone = f"in a clone of the Tress repository pip install . './python/dataset[{extra}]'"
        hint = "" if extra is None else f"; run pip install 'tress-dataset[{extra}]', or {clone}"
        raise UsageError(f"{without_secrets(url)}: {error}{hint}") from error
