"""Local and mounted folders.

An object is written to a temporary file in its folder, synced, and renamed. The temporary name depends only on the
object's name, and the file is locked while it is written. So the next run removes the file of a killed run, and such
files do not accumulate. Everything below the root is opened by folder handles, without following links (`folders.py`).
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any

from ..codec import Codec
from ..errors import BadName, Busy, Changed, Exists, TemporaryNameTaken, WrongSize, mark_appeared
from ..names import CONTROL, Item, UnreadableEntry, check, ignored, temporary_name
from . import BLOCK, HEAD, PIECE, Reading, Replace, Store, Writing
from .folders import Folder, LinkInPath, Root, close

try:
    import fcntl
except ImportError:  # Windows has no such locks: an existing temporary file blocks the object until it is removed.
    fcntl = None  # type: ignore[assignment]


_NO_END = "it has no end: the system has no data of it yet"
_UNUSABLE = {errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR, errno.EACCES, errno.EPERM}
"""Errors of opening a link, a pipe, a folder, or a file of another user for writing."""


def describe(name: str, status: os.stat_result) -> Item:
    """Describes a file by size, times and inode, which change when the file is written or replaced."""
    return Item(name, status.st_size, f"{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}")


def _entries(folder: Folder) -> Iterator[os.DirEntry[str]]:
    """Iterates over the entries of an open folder. Closes the folder if they cannot be read."""
    try:
        return folder.scan()
    except BaseException:
        folder.close()
        raise


def _write_all(write: Callable[[memoryview], int], data: Any) -> None:
    """Calls `write` until all data is written."""
    view = memoryview(data)
    while len(view):
        view = view[write(view) :]


class LocalStore(Store):
    """A local or mounted folder."""

    local = True
    longest = 255

    def __init__(self, url: str):
        path = url.partition("://")[2] if "://" in url else url
        self.shown = url
        self.root = os.path.abspath(path)
        self._handles = Root(self.root)
        self._touched: set[str] = set()
        self._leftovers: list[str] = []
        self._lock = threading.Lock()
        # One thread at a time: its folders may have objects of the shards of others.
        self._settling = threading.Lock()
        self._unsynced: tuple[Any, ...] | None = None

    def prepare(self) -> None:
        os.makedirs(self.root, exist_ok=True)

    def path(self, name: str) -> str:
        """Returns the path of an object, for messages only: calls use folder handles. Raises `BadName`."""
        check(name)
        if os.sep == "\\" and any(c in name for c in '\\:*?"<>|'):
            raise BadName("the name has a character that this system does not allow")
        return os.path.join(self.root, name)

    def around(self, name: str, make: bool = False) -> AbstractContextManager[tuple[Folder, str]]:
        """Opens the folder of an object. Returns it with the last part of the object's name.

        With `make`, creates missing folders, except the root. Raises `BadName`, also if one of the folders is a link.
        """
        self.path(name)
        return self._handles.around(name, make)

    def items(self) -> Iterator[Item | UnreadableEntry]:
        folder = self._handles.open()
        stack = [("", folder, _entries(folder))]
        try:
            while stack:
                prefix, folder, entries = stack[-1]
                entry = next(entries, None)
                if entry is None:
                    folder.close()
                    stack.pop()
                    continue
                name = prefix + entry.name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if name != CONTROL:
                            inner = folder.enter(entry.name)
                            stack.append((name + "/", inner, _entries(inner)))
                        continue
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # Removed during the listing.
                except LinkInPath:
                    yield UnreadableEntry(name, "special", "a symbolic link")
                    continue
                except OSError as error:
                    yield UnreadableEntry(
                        name, "denied" if isinstance(error, PermissionError) else "io", str(error.strerror)
                    )
                    continue
                if stat.S_ISREG(status.st_mode):
                    if not ignored(name):
                        yield describe(name, status)
                else:
                    yield UnreadableEntry(
                        name, "special", "a symbolic link" if stat.S_ISLNK(status.st_mode) else "no regular file"
                    )
        finally:
            for _, folder, _ in stack:
                folder.close()

    def stat(self, name: str) -> Item:
        with self.around(name) as (folder, last):
            return describe(name, folder.stat(last))

    def occupied(self, name: str) -> bool:
        try:
            with self.around(name) as (folder, last):
                folder.stat(last)
        except (OSError, BadName):  # Writing the object reports the problem.
            return False
        return True

    def read(self, item: Item) -> Reading:
        return _LocalReading(self, item.name)

    def read_start(self, item: Item, count: int) -> bytes:
        with _LocalReading(self, item.name) as reading:
            return reading.start(count)

    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        return _LocalWriting(self, name, size, replace)

    def rewrap(self, item: Item, codec: Codec) -> tuple[Item, Item]:
        """Replaces the header. The file system copies the payload, possibly by sharing blocks. Keeps permissions."""
        with _LocalReading(self, item.name) as reading:
            old, head = codec.new_head(reading.start(HEAD))
            size = reading.item.size
            with _LocalWriting(self, item.name, size - old + len(head), Replace.ALWAYS) as out:
                out.write(head)
                reading.copy_to(out, old)
                out.adopt(reading.status, reading._fd)
                reading.unchanged()
                return reading.item, out.commit()

    def mark_touched(self, name: str) -> None:
        """Records that a name was created in the object's folder."""
        with self._lock:
            self._touched.add(name.rpartition("/")[0])

    def remove_later(self, part: str) -> None:
        """Records a temporary file to remove later."""
        with self._lock:
            self._leftovers.append(part)

    def put(self, name: str, data: bytes) -> None:
        with _LocalWriting(self, name, len(data), Replace.ALWAYS) as out:
            out.write(data)
            out.commit()

    def append(self, name: str, data: bytes) -> bool:
        with self.around(name, make=True) as (folder, last):
            fd = folder.open(last, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            _write_all(lambda view: os.write(fd, view), data)
        finally:
            close(fd)
        return True

    def get(self, name: str) -> Iterator[bytes]:
        with self.around(name) as (folder, last):
            fd = folder.open(last, os.O_RDONLY)
        with open(fd, "rb") as file:
            while piece := file.read(1 << 20):
                yield piece

    def control(self) -> list[str]:
        try:
            with self._handles.around(CONTROL + "/") as (folder, _), folder.scan() as entries:
                return sorted(f"{CONTROL}/{entry.name}" for entry in entries if entry.is_file(follow_symlinks=False))
        except FileNotFoundError:
            return []

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError), self.around(name) as (folder, last):
            folder.unlink(last)

    def settle(self) -> None:
        if os.name != "posix":
            return  # Such systems have no leftover hard links, and cannot sync folders.
        with self._settling:
            if self._unsynced is not None:  # Another sync may succeed without effect.
                raise OSError(*self._unsynced)
            with self._lock:
                leftovers, self._leftovers = self._leftovers, []
            for part in leftovers:
                self.remove(part)
            with self._lock:
                touched, self._touched = self._touched, set()
            done: set[str] = set()
            try:
                for name in touched:
                    with suppress(FileNotFoundError), self._handles.around(f"{name}/" if name else "") as (folder, _):
                        self._sync(folder)
                    done.add(name)
            finally:
                with self._lock:
                    self._touched |= touched - done

    def _sync(self, folder: Folder) -> None:
        try:
            folder.sync()
        except OSError as error:
            self._unsynced = error.args
            raise


class _LocalReading(Reading):
    def __init__(self, store: LocalStore, name: str):
        self._store = store
        self._fd = -1
        try:
            with store.around(name) as (folder, last):
                self._fd = folder.open(last, os.O_RDONLY)
        except LinkInPath as error:
            raise Changed(str(error)) from None  # The listing found a folder.
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise Changed("no longer a regular file") from None
            raise
        self.status = os.fstat(self._fd)
        if not stat.S_ISREG(self.status.st_mode):
            self.close()
            raise Changed("no longer a regular file")
        self.item = describe(name, self.status)

    def blocks(self) -> Iterator[Any]:
        left = self.item.size + 1  # One more byte shows that the file is longer than the system says.
        # Reuses one buffer: allocating a new one per block would take as long as the encryption.
        buffer = memoryview(bytearray(min(left, PIECE)))
        with open(self._fd, "rb", buffering=0, closefd=False) as file:
            while left > 0 and (count := file.readinto(buffer[:left])) != 0:
                if count is None:
                    raise WrongSize(_NO_END)
                left -= count
                yield buffer[:count]

    def start(self, count: int) -> bytes:
        """Returns the first bytes, up to `count`."""
        pieces = []
        try:
            while count > 0 and (piece := os.read(self._fd, count)):
                pieces.append(piece)
                count -= len(piece)
        except BlockingIOError:
            raise WrongSize(_NO_END) from None
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def whole(self) -> bytes:
        return self.start(self.item.size + 1)

    def copy_to(self, out: _LocalWriting, start: int) -> None:
        """Copies all bytes from offset `start` to `out`."""
        offset = start
        count = 1
        while count and offset < self.item.size:
            try:
                count = os.copy_file_range(self._fd, out.fd, self.item.size - offset, offset)
            except (AttributeError, OSError):  # Not supported by the system, or between these two files.
                os.lseek(self._fd, offset, os.SEEK_SET)
                piece = os.read(self._fd, min(PIECE, self.item.size - offset))
                out.write(piece)
                count = len(piece)
            offset += count
        if offset != self.item.size:
            raise WrongSize("its length changed while it was read")

    def unchanged(self) -> None:
        name = self.item.name
        if describe(name, os.fstat(self._fd)) != self.item:
            raise Changed("modified while it was read")
        try:
            if self._store.stat(name) != self.item:
                raise Changed("replaced while it was read")
        except FileNotFoundError:
            raise Changed("removed while it was read") from None
        except LinkInPath as error:
            raise Changed(str(error)) from None

    def close(self) -> None:
        if self._fd >= 0:
            close(self._fd)
            self._fd = -1


class _LocalWriting(Writing):
    def __init__(self, store: LocalStore, name: str, size: int, replace: Replace):
        self._store = store
        self._name = name
        self._temporary_name = temporary_name(name)
        self._temporary = self._temporary_name.rpartition("/")[2]
        self._replace = replace
        self.fd = -1
        self._within = ExitStack()
        with ExitStack() as within:
            self._folder, self._last = within.enter_context(store.around(name, make=True))
            # For small objects the check in `commit` is early enough.
            if not replace and size > BLOCK:
                self._raise_if_there()
            self.fd = self._open()
            self._within = within.pop_all()

    def _open(self) -> int:
        """Creates and locks the temporary file. An existing file is never written to: it may belong to anybody."""
        try:
            fd = self._new()
        except FileExistsError:
            if fcntl is None:
                raise
            self._take_away()
            try:
                fd = self._new()
            except FileExistsError:
                raise Busy("another process is writing it") from None
        if fcntl is None:
            return fd
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Before the lock, another process may have removed the file as a leftover.
            if not self._entry_is(self._temporary, os.fstat(fd)):
                raise BlockingIOError
        except BlockingIOError:
            close(fd)
            raise Busy("another process is writing it") from None
        except BaseException:
            with suppress(OSError):
                self._folder.unlink(self._temporary)
            close(fd)
            raise
        return fd

    def _new(self) -> int:
        return self._folder.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def _take_away(self) -> None:
        """Removes the temporary file of a dead process."""
        try:
            # Opened for writing, because some network file systems lock only such files.
            fd = self._folder.open(self._temporary, os.O_WRONLY)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno not in _UNUSABLE:
                raise
            raise self._name_taken() from None
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise self._name_taken()
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._entry_is(self._temporary, status):
                raise BlockingIOError
            self._folder.unlink(self._temporary)
        except BlockingIOError:
            raise Busy("another process is writing it") from None
        except PermissionError:
            raise self._name_taken() from None
        finally:
            close(fd)

    def _name_taken(self) -> TemporaryNameTaken:
        return TemporaryNameTaken(
            f"its temporary name {self._temporary_name} is taken by a file that cannot be removed, or by no file"
        )

    def _raise_if_there(self) -> None:
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(self._folder.stat(self._last).st_mode):
                raise Exists(f"a folder of the target has its name, {self._last}")
            raise Exists

    def _entry_is(self, name: str, status: os.stat_result) -> bool:
        """Returns whether the entry with this name is this file."""
        try:
            found = self._folder.stat(name)
        except FileNotFoundError:
            return False
        return (found.st_dev, found.st_ino) == (status.st_dev, status.st_ino)

    def write(self, data: Any) -> None:
        _write_all(lambda view: os.write(self.fd, view), data)

    def adopt(self, status: os.stat_result, replaced: int) -> None:
        """Takes over the permissions of the replaced file, which is open, and as root its owner."""
        if os.name == "posix":
            if os.geteuid() == 0:
                os.fchown(self.fd, status.st_uid, status.st_gid)
            mode = stat.S_IMODE(status.st_mode)
            if _has_list(replaced):
                mode &= ~0o070  # Those of the list's mask, not of the group.
            if _has_list(self.fd):  # From the folder. The group's bits would be its mask.
                os.removexattr(self.fd, _LIST)
            os.fchmod(self.fd, mode)

    def commit(self) -> Item:
        os.fsync(self.fd)
        try:
            os.close(os.dup(self.fd))  # A file system of a server may only now say that it has stored nothing.
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
        status = os.fstat(self.fd)
        if fcntl is not None and not self._entry_is(self._temporary, status):
            raise Changed(f"its temporary file {self._temporary_name} was replaced while it was written")
        if self._replace:
            try:
                self._folder.replace(self._temporary, self._last)
            except IsADirectoryError:
                self._raise_if_there()
                raise
        else:
            self._name_new()
        self._store.mark_touched(self._name)
        try:
            return describe(self._name, os.fstat(self.fd))
        except OSError as error:
            raise mark_appeared(error) from None
        finally:
            self._close()

    def _name_new(self) -> None:
        """Renames the temporary file without replacing an object, even one that appears at the same time."""
        try:
            self._folder.link(self._temporary, self._last)
        except (OSError, NotImplementedError) as error:
            self._raise_if_there()
            if isinstance(error, FileExistsError):
                raise Exists from None
            # The file system has no hard links.
            self._folder.replace(self._temporary, self._last)
        else:
            # The object is complete; a remaining second name does no harm.
            try:
                self._folder.unlink(self._temporary)
            except OSError:
                self._store.remove_later(self._temporary_name)

    def discard(self) -> None:
        if self.fd < 0:
            return
        # Removed while it is locked, so that no other process takes it over in between.
        try:
            with suppress(FileNotFoundError):
                if self._is_ours():
                    self._folder.unlink(self._temporary)
        finally:
            self._close()

    def _is_ours(self) -> bool:
        """Returns whether the temporary name is still this file. True if that cannot be checked."""
        try:
            return fcntl is None or self._entry_is(self._temporary, os.fstat(self.fd))
        except OSError:
            return True

    def _close(self) -> None:
        close(self.fd)
        self.fd = -1
        self._within.close()


_LIST = "system.posix_acl_access"


def _has_list(fd: int) -> bool:
    """Returns whether a file has an access list, where the system has them."""
    try:
        return _LIST in os.listxattr(fd)
    except (AttributeError, OSError):
        return False
