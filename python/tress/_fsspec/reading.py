"""The plaintext of an object: its bytes from the store, verified blocks that handles share, and the handles."""

from __future__ import annotations

import bisect
import errno
import io
import os
import pathlib
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, TypeVar, cast

from .._errors import TressError
from .._raw import BUFFERED
from .._tree import MemberFile
from .._tress import Reader
from .writing import ONE_THREAD, protocol

K = TypeVar("K")
T = TypeVar("T")

# Unit of the cache, in bytes: a chunk of a container. A longer chunk of another format is a multiple of it.
BLOCK = 16 * 1024
# Number of blocks that an object keeps. Longer reads are not cached: the native reader reads ahead.
_KEPT = 256
# Size in bytes of the buffer of a handle, and of the longest chunk of any format.
_BUFFER, _CHUNK = 128 * 1024, 64 * 1024
# Objects up to this size in bytes are fetched by one request, and most bytes that a request in sequence fetches.
_WHOLE, FETCH = 256 * 1024, 8 << 20
# From this size in bytes on, the next request of a sequence runs while the bytes before are decrypted.
_EAGER = 1 << 20
# Number of bytes of several ranges that are read together, if none of them is longer.
_GROUP = 32 << 20

# What stores say of the version of an object: the first tag, or without a tag all marks.
_TAGS = ("ETag", "etag", "e_tag", "generation", "version_id", "md5Hash", "content_md5")
_MARKS = ("mtime", "ino", "LastModified", "last_modified", "updated", "modified", "created")

Version = tuple[Any, ...]


def version(info: dict[str, Any]) -> Version | None:
    """Returns what distinguishes the versions of an object, if its store says anything of them."""
    marks = [info[tag] for tag in _TAGS if info.get(tag) is not None][:1]
    marks = marks or [info[mark] for mark in _MARKS if info.get(mark) is not None]
    # A listing may have times as numbers where the description of a single object has dates.
    times = [mark.timestamp() if isinstance(mark, datetime) else mark for mark in marks]
    return (info.get("size"), *times) if times else None


def keep(known: MutableMapping[K, T], key: K, value: T, most: int) -> None:
    """Keeps a value as the newest one. The oldest values give way if there are more than `most`."""
    known.pop(key, None)
    known[key] = value
    while len(known) > most:
        known.pop(next(iter(known)), None)


def source(fs: Any, path: str, size: int | None) -> Any:
    """Returns an encrypted file of a store for the native readers: the path of a local file, or a file object."""
    if getattr(fs, "local_file", False):  # So has simplecache, for its copies.
        with fs.open(path, "rb") as file:
            return pathlib.Path(file.name)
    if size is None:
        raise io.UnsupportedOperation(f"{path}: its store does not report its size")
    return _Source(fs, path, size)


def runs(ranges: Iterable[tuple[int, int]], gap: int) -> list[tuple[int, int]]:
    """Joins sorted ranges that are at most `gap` bytes apart."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


class _Ahead(threading.Thread):
    """A request for a range that is probably read next. What fails here is requested again by the read itself."""

    def __init__(self, fs: Any, path: str, first: int, end: int) -> None:
        super().__init__(name="tress-ahead", daemon=True)
        self._request, self.first, self.end = (fs, path), first, end
        self.data: bytes | None = None
        self.start()

    def run(self) -> None:
        fs, path = self._request
        with suppress(Exception):
            self.data = fs.cat_file(path, start=self.first, end=self.end)


class _Source:
    """The bytes of an object. A read that continues the one before fetches more than it returns."""

    def __init__(self, fs: Any, path: str, size: int) -> None:
        self._fs, self._path, self._size = fs, path, size
        self._position = self._start = self._ahead = 0
        self._data = memoryview(b"")
        self._next: _Ahead | None = None
        self._is_eager = protocol(fs) not in ONE_THREAD
        # No read ahead continues past this offset.
        self.limit = size
        # What `fetch` has fetched, with the offsets.
        self._starts: list[int] = []
        self._pieces: list[bytes] = []

    def fetch(self, ranges: list[tuple[int, int]], gap: int) -> None:
        """Fetches sorted ranges for the next reads, all at the same time. Those with small gaps are one request."""
        if self._size <= _WHOLE:
            return
        joined = runs(ranges, gap)
        starts, ends = [start for start, _ in joined], [end for _, end in joined]
        pieces = self._fs.cat_ranges([self._path] * len(joined), starts, ends, on_error="raise")
        for piece, (start, end) in zip(pieces, joined, strict=True):
            if isinstance(piece, Exception):
                raise piece
            self._check(piece, end - start)
        self._starts, self._pieces = starts, pieces

    def _check(self, data: bytes, most: int, before: int = 0) -> None:
        if not before < len(data) <= most:
            raise OSError(errno.EIO, "the store returned another number of bytes than requested", self._path)

    def forget(self) -> None:
        """Forgets what `fetch` has fetched, and a request that is still running."""
        self._starts, self._pieces, self._next = [], [], None

    def _fetched(self, start: int) -> bool:
        """Takes the piece with this offset that `fetch` has fetched."""
        number = bisect.bisect(self._starts, start) - 1
        if number < 0 or start >= self._starts[number] + len(self._pieces[number]):
            return False
        self._start, self._data = self._starts[number], memoryview(self._pieces[number])
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = offset + (0, self._position, self._size)[whence]
        return self._position

    def read(self, count: int) -> memoryview:
        start, fetched = self._position, self._start + len(self._data)
        count = max(min(count, self._size - start), 0)
        if count and not self._start <= start < fetched and not self._fetched(start):
            self._ahead = min(2 * max(self._ahead, count), FETCH) if start == fetched else 0
            end = max(start + count, min(start + self._ahead, self.limit))
            first, end = (0, self._size) if self._size <= _WHOLE else (start, end)
            data, end = self._request(first, end)
            self._check(data, end - first, start - first)
            self._start, self._data = first, memoryview(data)
            last = min(end + min(2 * self._ahead, FETCH), self.limit)
            if self._is_eager and self._ahead >= _EAGER and end < last:
                self._next = _Ahead(self._fs, self._path, end, last)
        piece = self._data[start - self._start :][:count]
        self._position += len(piece)
        fetched = self._start + len(self._data)
        if self._position == fetched and self._size > _WHOLE:
            self._start, self._data = fetched, memoryview(b"")
        return piece

    def _request(self, first: int, end: int) -> tuple[bytes, int]:
        """Returns the bytes of a range and its end, which is another one if it has been requested ahead."""
        ahead, self._next = self._next, None
        if ahead is not None and ahead.first == first:
            ahead.join()
            if ahead.data is not None:
                return ahead.data, ahead.end
        return self._fs.cat_file(self._path, start=first, end=end), end


class Plain:
    """The plaintext of an object in one version, which all its handles share, with a cache of verified blocks."""

    def __init__(self, fs: Any, path: str, info: dict[str, Any]) -> None:
        """Opens an object of a `TressFileSystem`, and verifies its last chunk, and so its size."""
        self._fs, self._path, self._sealed_size, self.version = fs, path, info.get("size"), version(info)
        self._identities = fs.keys.identities()
        self.start_process()
        OF_PROCESS[id(self)] = self
        self.size: int = self._named(lambda: self._open().size)

    def start_process(self) -> None:
        """Begins without an open file: a fork must not share its position, and no lock."""
        self._lock = threading.Lock()
        # Changes of the number of open handles that wait for the lock.
        self._changes: deque[int] = deque()
        self._blocks: dict[int, memoryview] = {}
        self._reader: Reader | None = None
        # Number of open handles.
        self._handles = 0

    def use(self, handles: int) -> None:
        """Adds a number of open handles, which may be negative. Without one, a local file is closed until it is read.

        Its keys and blocks stay. A deleted file takes space as long as it is open. This does not wait: the collection
        of a handle that nobody closed may call it anywhere, also in a thread for which a reading one waits.
        """
        self._changes.append(handles)
        self._change()

    def _change(self) -> None:
        # Whoever has the lock calls this when it has released it.
        while self._changes and (lock := self._lock).acquire(blocking=False):
            try:
                while self._changes:
                    self._handles += self._changes.popleft()
                if self._handles < 1 and self._reader is not None:
                    if isinstance(self._source, _Source):
                        self._source.forget()
                    else:
                        self._reader.release()
            finally:
                lock.release()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Holds the lock."""
        try:
            with self._lock:
                yield
        finally:
            self._change()

    def readinto(self, view: memoryview, position: int, wanted: int) -> int:
        """Reads verified bytes and returns their number; 0 at the end. A caller wants the bytes up to `wanted`.

        A view of up to a block is filled from the cache, into which the wanted blocks are read together.
        """
        if position >= self.size:
            return 0
        if len(view) > BLOCK:
            with self._alone():
                return self._named(lambda: self._read(view, position, wanted))
        number, within = divmod(position, BLOCK)
        part = self._block(number, wanted)[within : within + len(view)]
        view[: len(part)] = part
        return len(part)

    def part(self, start: int, size: int) -> bytes:
        """Returns up to `size` bytes, which is at most a block, from the cache."""
        end = min(start + size, self.size)
        if start >= end:
            return b""
        number, within = divmod(start, BLOCK)
        part = self._block(number, end)[within : within + end - start].tobytes()
        return part if len(part) == end - start else part + self._block(number + 1, end)[: end - start - len(part)]

    def read_ranges(self, ranges: list[tuple[int, int]], gap: int) -> list[bytes]:
        """Reads ranges, which are half-open and sorted. Those with small gaps are one request to the store."""
        found: list[bytes] = []
        while len(found) < len(ranges):
            several, size = [], 0
            for start, end in ranges[len(found) :]:
                several.append((start, max(start, end)))
                size += end - start
                if size >= _GROUP:
                    break
            with self._alone():
                found += self._named(lambda several=several: self._read_ranges(several, gap))  # type: ignore[misc]
        return found

    def _read_ranges(self, ranges: list[tuple[int, int]], gap: int) -> list[bytes]:
        reader, source = self._open(), self._source
        if not isinstance(source, _Source):
            return reader.read_ranges(ranges)
        source.fetch(reader.sealed_ranges(ranges), gap)
        try:
            return reader.read_ranges(ranges)
        finally:
            source.forget()

    def _block(self, number: int, wanted: int) -> memoryview:
        """Returns a verified block."""
        block = self._blocks.get(number)
        if block is None:
            with self._alone():
                block = self._blocks.get(number)
                if block is None:
                    block = self._named(lambda: self._load(number, wanted))
                keep(self._blocks, number, block, _KEPT)
        return block

    def _open(self) -> Reader:
        if self._reader is None:
            if hasattr(self, "size") and version(self._fs.fs.info(self._path)) != self.version:
                raise OSError(errno.ESTALE, "changed while it was read", self._path)
            self._source = source(self._fs.fs, self._path, self._sealed_size)
            self._reader = Reader(self._source, self._identities, threads=0)
        return self._reader

    def _read(self, view: memoryview | bytearray, position: int, wanted: int) -> int:
        reader = self._open()
        if isinstance(self._source, _Source) and self._sealed_size is not None:
            # The rest of the plaintext is not longer than the rest of the encrypted file.
            self._source.limit = min(self._sealed_size - (self.size - wanted) + _CHUNK, self._sealed_size)
        reader.seek(position)
        return reader.readinto(view)

    def _load(self, number: int, wanted: int) -> memoryview:
        """Returns a block, and keeps those behind it unless they are damaged."""
        start, blocks = number * BLOCK, min(max(-(-wanted // BLOCK) - number, 1), _BUFFER // BLOCK)
        if blocks == 1:
            buffer = bytearray(min(BLOCK, self.size - start))
            if self._read(buffer, start, wanted) == len(buffer):
                return memoryview(buffer)
        data, done = memoryview(bytearray(min(blocks * BLOCK, self.size - start))), 0
        while done < min(BLOCK, len(data)):
            done += self._read(data[done:], start + done, min(wanted, self.size)) or _shorter()
        for place in range(BLOCK, done if done == len(data) else done - done % BLOCK, BLOCK):
            keep(self._blocks, number + place // BLOCK, memoryview(bytes(data[place : place + BLOCK])), _KEPT)
        return memoryview(bytes(data[:BLOCK]))

    def _named(self, call: Callable[[], T]) -> T:
        try:
            return named(self._fs, self._path, self.version, call)
        except BaseException:
            self._reader = None  # The next read does not get the same bytes from its buffer.
            raise


def named(fs: Any, path: str, version: Version | None, call: Callable[[], T]) -> T:
    """Names the object in errors of a call. If its version is another one by now, that is the error."""
    try:
        return call()
    except (TressError, OSError) as error:
        now = fs.version_now(path)
        if version is not None and now not in (version, None):
            raise OSError(errno.ESTALE, "changed while it was read", path) from error
        if isinstance(error, TressError) and path not in str(error):
            raise type(error)(f"{path}: {error}", error.kind) from error
        if isinstance(error, OSError) and error.filename is None:
            if error.errno is not None:
                error.filename = path
            elif type(error).__module__ == "builtins":  # Without a number, the name would replace the text.
                raise type(error)(f"{path}: {error}") from error
        raise


class _Handle:
    """The reads of one handle. Those that are not in sequence take what the caller wants, others read ahead."""

    def __init__(self, plain: Plain) -> None:
        self._plain, self.size = plain, plain.size
        # The range that a caller has requested.
        self.started = self.wanted = 0
        # _run: the number of reads, each of which has begun at the end of the one before.
        self._end = self._run = 0

    def part(self, start: int, size: int) -> bytes:
        part = self._plain.part(start, size)
        self._end, self._run = start + len(part), 0
        return part

    def readinto(self, buffer: Any, offset: int) -> int:
        # The parts of a long range are one read.
        if self.wanted - self.started <= _BUFFER or not self.started < offset < self.wanted:
            self._run = self._run + 1 if offset == self._end else 0
        with memoryview(buffer).cast("B") as view:
            if self._run < 2:
                most = BLOCK if len(view) <= _BUFFER else len(view)
                wanted = min(max(self.wanted, offset + 1), self.size)
                count = self._plain.readinto(view[:most], offset, wanted)
            else:
                count = self._plain.readinto(view, offset, self.size)
        self._end = offset + count
        return count


class TressFile(io.BufferedReader):
    """The plaintext of a file. Its pickle has the file system, the path and the position."""

    def __init__(self, raw: Plain | MemberFile, fs: Any, path: str) -> None:
        """Reads from the beginning."""
        self._handle = _Handle(raw) if isinstance(raw, Plain) else None
        file = raw if isinstance(raw, MemberFile) else MemberFile(cast(Any, self._handle), path)
        super().__init__(file, min(max(file.size, 1), _BUFFER))
        BUFFERED.add(self)
        self._plain = raw if isinstance(raw, Plain) else None
        if self._plain is not None:
            self._plain.use(1)
        self.fs, self.path, self.size = fs, path, file.size
        # The end of the last read.
        self._next = 0
        self.start_process()
        OF_PROCESS[id(self)] = self

    def start_process(self) -> None:
        """Begins without a lock, which another thread may have had at a fork."""
        self._lock = threading.RLock()

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads `size` bytes, or all that are left. Threads that share the handle read one after the other."""
        with self._lock:
            return self._read(size)

    def _read(self, size: int | None) -> bytes:
        place = self.tell()
        handle = self._handle
        if handle is not None and size is not None and 0 < size <= BLOCK and place != self._next:
            # A short read elsewhere needs no buffer.
            data = handle.part(place, size)
            self._next = place + len(data)
            self.seek(self._next)
            return data
        data = self._read_on(place, max(self.size - place, 0) if size is None or size < 0 else size)
        self._next = place + len(data)
        return data

    def close(self) -> None:
        """Closes the handle. The last one closes the file."""
        plain, self._plain = getattr(self, "_plain", None), None
        super().close()
        if plain is not None:
            plain.use(-1)

    def _read_on(self, place: int, size: int) -> bytes:
        if self._handle is None:
            return super().read(size)
        self._handle.started, self._handle.wanted = place, place + size
        if size <= _BUFFER or getattr(self.fs.fs, "local_file", False):
            return super().read(size)
        # BufferedReader.read splits a range, and its end would look like a read in sequence, which fetches ahead.
        data, done = bytearray(max(min(size, self.size - place), 0)), 0
        with memoryview(data) as view:
            while done < len(data):
                done += self.readinto(view[done:]) or _shorter()
        return bytes(data)

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Supports `pickle`: the other process opens the file again."""
        return _opened_again, (self.fs, self.path, self.tell())


def _shorter() -> int:
    raise OSError(errno.ESTALE, "the file became shorter while it was read")


def _opened_again(fs: Any, path: str, position: int) -> Any:
    file = fs.open(path)
    file.seek(position)
    return file


# What a fork must not share.
OF_PROCESS: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def _start_process() -> None:
    for one in list(OF_PROCESS.values()):
        one.start_process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_process)
