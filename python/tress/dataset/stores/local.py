"""Folders of this machine, or mounted on it.

An object is written under a temporary name in its own folder, synced, and renamed. The temporary name belongs to the
object, and is locked while somebody writes it: what a killed run left is taken over by the next one, and never piles
up.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..codec import Codec
from ..errors import BadName, Busy, Changed, Exists, named
from ..names import CONTROL, Item, Odd, check, ignored, part_name
from . import BLOCK, PIECE, Reading, Replace, Store, Writing

try:
    import fcntl
except ImportError:  # Windows: a part that is there is somebody's until it is removed.
    fcntl = None  # type: ignore[assignment]

_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def describe(name: str, status: os.stat_result) -> Item:
    """Size, times and inode: what changes when somebody writes the file or puts another in its place."""
    return Item(name, status.st_size, f"{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}")


def _write_all(write: Callable[[memoryview], int], data: Any) -> None:
    """As often as it takes."""
    view = memoryview(data)
    while len(view):
        view = view[write(view) :]


def _close(fd: int) -> None:
    """Lets go of it: what was to be kept has been synced before, and an error here changes nothing."""
    with contextlib.suppress(OSError):
        os.close(fd)


class LocalStore(Store):
    """A folder."""

    local = True

    def __init__(self, url: str):
        path = url.partition("://")[2] if "://" in url else url
        self.shown = url
        self.root = os.path.abspath(path)
        self._prefix = self.root.rstrip(os.sep) + os.sep
        self._folders: set[str] = set()
        self._touched: set[str] = set()
        self._remains: list[str] = []
        self._lock = threading.Lock()

    def prepare(self) -> None:
        os.makedirs(self.root, exist_ok=True)

    def path(self, name: str) -> str:
        """Where the object is. Raises `BadName`."""
        check(name)
        if os.sep == "\\" and any(c in name for c in '\\:*?"<>|'):
            raise BadName("the name has a character that this system does not allow")
        return self._prefix + name

    def items(self) -> Iterator[Item | Odd]:
        stack = [("", os.scandir(self.root))]
        while stack:
            prefix, entries = stack[-1]
            try:
                entry = next(entries)
            except StopIteration:
                entries.close()
                stack.pop()
                continue
            name = prefix + entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if name != CONTROL:
                        stack.append((name + "/", os.scandir(entry.path)))
                    continue
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # Removed meanwhile.
            except OSError as error:
                yield Odd(name, "denied" if isinstance(error, PermissionError) else "io", str(error.strerror))
                continue
            if stat.S_ISREG(status.st_mode):
                if not ignored(name):
                    yield describe(name, status)
            else:
                yield Odd(name, "special", "a symbolic link" if stat.S_ISLNK(status.st_mode) else "no regular file")

    def stat(self, name: str) -> Item:
        return describe(name, os.stat(self.path(name), follow_symlinks=False))

    def occupied(self, name: str) -> bool:
        return os.path.lexists(self.path(name))

    def read(self, item: Item) -> Reading:
        return _LocalReading(self.path(item.name), item.name)

    def read_start(self, item: Item, count: int) -> bytes:
        with open(self.path(item.name), "rb") as file:
            return file.read(count)

    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        return _LocalWriting(self, name, size, replace)

    def rewrap(self, item: Item, codec: Codec) -> Item:
        path = self.path(item.name)
        with self.read(item):  # No symbolic link, and there.
            codec.rewrap_file(path)
        return self.stat(item.name)

    def folder(self, path: str) -> None:
        """Makes the folder of a file, below the root and nowhere else; no symbolic link leads out."""
        parent = os.path.dirname(path)
        if parent in self._folders:
            return
        with self._lock:
            # The root itself is not made: it may be gone because a file system was unmounted.
            made = self.root
            root = os.path.realpath(self.root, strict=True)
            for part in parent[len(self.root) :].split(os.sep):
                if part:
                    made = os.path.join(made, part)
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(made)
                    if os.path.islink(made) and not os.path.realpath(made).startswith(root.rstrip(os.sep) + os.sep):
                        raise BadName("a folder in its path is a symbolic link out of the target")
            self._folders.add(parent)

    def forget(self, path: str) -> None:
        """The file's folder is not there after all."""
        with self._lock:
            self._folders.discard(os.path.dirname(path))

    def touched(self, path: str) -> None:
        """A name was made in the file's folder."""
        self._touched.add(os.path.dirname(path))

    def remains(self, part: str) -> None:
        """This name is to be removed later."""
        self._remains.append(part)

    def put(self, name: str, data: bytes) -> None:
        with _LocalWriting(self, name, len(data), Replace.ALWAYS) as out:
            out.write(data)
            out.commit()

    def append(self, name: str, data: bytes) -> bool:
        path = self.path(name)
        self.folder(path)
        with open(path, "ab", buffering=0) as file:
            _write_all(file.write, data)
        return True

    def get(self, name: str) -> Iterator[bytes]:
        with open(self.path(name), "rb") as file:
            while piece := file.read(1 << 20):
                yield piece

    def control(self) -> list[str]:
        try:
            with os.scandir(os.path.join(self.root, CONTROL)) as entries:
                return sorted(f"{CONTROL}/{entry.name}" for entry in entries if entry.is_file(follow_symlinks=False))
        except FileNotFoundError:
            return []

    def remove(self, name: str) -> None:
        try:
            os.unlink(self.path(name))
        except FileNotFoundError:
            pass

    def settle(self) -> None:
        if os.name != "posix":
            return  # Neither has links of ours, nor folders that can be synced.
        with self._lock:
            touched, self._touched = self._touched, set()
            remains, self._remains = self._remains, []
        for part in remains:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
        for folder in touched:
            try:
                fd = os.open(folder, os.O_RDONLY | _FLAGS)
            except FileNotFoundError:
                continue
            try:
                os.fsync(fd)
            finally:
                _close(fd)


class _LocalReading(Reading):
    def __init__(self, path: str, name: str):
        self._path = path
        self._fd = os.open(path, os.O_RDONLY | _FLAGS | _NO_LINKS)
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise Changed("no longer a regular file")
        self.item = describe(name, status)

    def blocks(self) -> Iterator[Any]:
        left = self.item.size
        # One buffer for all: new memory for each would take as long as the encryption.
        buffer = memoryview(bytearray(min(left, PIECE)))
        with open(self._fd, "rb", buffering=0, closefd=False) as file:
            while left > 0:
                count = file.readinto(buffer[:left])
                if not count:
                    raise Changed("truncated while it was read")
                left -= count
                yield buffer[:count]

    def whole(self) -> bytes:
        pieces = []
        left = self.item.size
        while left > 0:
            pieces.append(os.read(self._fd, left))
            if not pieces[-1]:
                raise Changed("truncated while it was read")
            left -= len(pieces[-1])
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def unchanged(self) -> None:
        name = self.item.name
        if describe(name, os.fstat(self._fd)) != self.item:
            raise Changed("modified while it was read")
        try:
            if describe(name, os.stat(self._path, follow_symlinks=False)) != self.item:
                raise Changed("replaced while it was read")
        except FileNotFoundError:
            raise Changed("removed while it was read") from None

    def close(self) -> None:
        if self._fd >= 0:
            _close(self._fd)
            self._fd = -1


class _LocalWriting(Writing):
    def __init__(self, store: LocalStore, name: str, size: int, replace: Replace):
        self._store = store
        self._name = name
        self._path = store.path(name)
        self._part = store.path(part_name(name))
        self._replace = replace
        self._fd = -1
        # For small ones the last step finds out soon enough.
        if not replace and size > BLOCK and os.path.lexists(self._path):
            raise Exists("exists already, and no earlier run wrote it; force replaces it")
        store.folder(self._path)
        try:
            self._open()
        except FileNotFoundError:
            store.forget(self._path)
            store.folder(self._path)
            self._open()

    def _open(self) -> None:
        """The part, ours alone: a new one, or what a dead process left."""
        flags = os.O_WRONLY | os.O_CREAT | _FLAGS | getattr(os, "O_NOFOLLOW", 0)
        if fcntl is None:
            self._fd = os.open(self._part, flags | os.O_EXCL, 0o666)
            return
        try:
            fd, found = os.open(self._part, flags | os.O_EXCL, 0o666), False
        except FileExistsError:
            fd, found = os.open(self._part, flags, 0o666), True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it may have renamed or removed it between our two calls.
            status = os.fstat(fd)
            if status.st_ino != os.stat(self._part, follow_symlinks=False).st_ino:
                raise BlockingIOError
            if status.st_nlink > 1:
                # A run died between naming the part and removing it: the same file is a finished object.
                os.unlink(self._part)
                raise BlockingIOError
            if found:
                os.ftruncate(fd, 0)
        except (BlockingIOError, FileNotFoundError):
            _close(fd)
            raise Busy("another process is writing it") from None
        except BaseException:
            if not found:
                with contextlib.suppress(OSError):
                    os.unlink(self._part)
            _close(fd)
            raise
        self._fd = fd

    def write(self, data: Any) -> None:
        _write_all(lambda view: os.write(self._fd, view), data)

    def commit(self) -> Item:
        os.fsync(self._fd)
        if self._replace:
            os.replace(self._part, self._path)
        else:
            self._name_new()
        self._store.touched(self._path)
        try:
            return describe(self._name, os.fstat(self._fd))
        except OSError as error:
            raise named(error) from None
        finally:
            self._close()

    def _name_new(self) -> None:
        """Names the part without replacing anything, also if somebody else does so at this moment."""
        try:
            os.link(self._part, self._path, follow_symlinks=False)
        except FileExistsError:
            raise Exists("exists already, and no earlier run wrote it; force replaces it") from None
        except (OSError, NotImplementedError):  # No hard links here.
            if os.path.lexists(self._path):
                raise Exists("exists already, and no earlier run wrote it; force replaces it") from None
            os.replace(self._part, self._path)
        else:
            # The object is there; a second name that stays does it no harm.
            try:
                os.unlink(self._part)
            except OSError:
                self._store.remains(self._part)

    def discard(self) -> None:
        if self._fd < 0:
            return
        # Removed while it is still locked, so that nobody takes it over in between.
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._part)
        finally:
            self._close()

    def _close(self) -> None:
        _close(self._fd)
        self._fd = -1
