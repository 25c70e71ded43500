"""File objects: containers as files to read and write, and streams between objects with `read` and `write`."""

from __future__ import annotations

import errno
import io
import operator
import os
import pathlib
import re
import stat
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from types import TracebackType
from typing import Any, Protocol, Self, cast

from ._errors import OutputExists, Usage
from ._raw import BUFFERED, RawFile, noted
from ._tress import CobblestoneKey, Decryptor, Encryptor, Reader
from ._types import Buffer, Identities, Recipients

__all__ = ["ContainerFile", "ContainerReader", "ContainerWriter", "create", "decrypt_stream", "encrypt_stream", "open"]

# Number of bytes per call of read().
_PIECE = 1 << 20


class Readable(Protocol):
    """Anything with `read`."""

    def read(self, size: int, /) -> Buffer | None:
        """Returns up to `size` bytes, and no bytes at the end."""


class Writable(Protocol):
    """Anything with `write`."""

    def write(self, data: bytes, /) -> object:
        """Writes bytes; may return how many it wrote."""


class ContainerReader(RawFile):
    """The plaintext of a container, with random access. Made by `tress.open`."""

    def __init__(self, source: Any, identities: Identities, *, threads: int = 0) -> None:
        """Opens a path, or a file object with `read` and `seek`, which stays open when this is closed."""
        several: list[Any] = _several(identities)
        self._reader = Reader(source, several, threads=threads)
        self._name = _name(source)
        by_path = not hasattr(source, "read") and not any(isinstance(one, str) for one in several)
        # For pickle: the paths, for a process with another current folder.
        self._arguments = (_absolute(source), [_absolute(one) for one in several], threads) if by_path else None

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Supports `pickle` if the container and the identities were given by paths, which are opened again."""
        return self._reduced(ContainerReader, self)

    def _reduced(self, opens: Callable[..., Any], file: io.IOBase) -> tuple[Any, ...]:
        if self._arguments is None:
            raise TypeError("cannot pickle: give the container as a path, and identities as paths or by KeyPair.load")
        return _opened_again, (opens, self._arguments, file.tell())

    @property
    def name(self) -> str:
        """The path, or the name of the file object."""
        return self._name

    @property
    def size(self) -> int:
        """Length of the plaintext in bytes."""
        return self._reader.size

    @property
    def content_name(self) -> str | None:
        """The name in the container, or `None`. It comes from whoever made the container, and contains no path."""
        return self._reader.name

    @property
    def content_type(self) -> str:
        """`file`, or `tree` for a tar stream (see `decrypt`)."""
        return self._reader.content_type

    def readable(self) -> bool:
        """Returns `True`."""
        return True

    def seekable(self) -> bool:
        """Returns `True`."""
        return True

    @noted
    def readinto(self, buffer: Buffer, /) -> int:
        """Reads verified bytes into a buffer and returns their number; 0 at the end."""
        return self._reader.readinto(buffer)

    def read_ranges(self, ranges: Iterable[tuple[int, int]], /) -> list[bytes]:
        """Reads ranges `(start, end)` of the plaintext, half-open and in any order. The position stays.

        Each chunk is read and decrypted once, and chunks of different ranges side by side in lanes.
        """
        self._check()
        return self._reader.read_ranges(ranges)

    @noted
    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Sets the position, as `io.IOBase.seek`, and returns it."""
        return self._reader.seek(offset, whence)

    @noted
    def tell(self) -> int:
        """Returns the position."""
        return self._reader.tell()

    def close(self) -> None:
        """Closes the reader and wipes its keys and cached plaintext."""
        if not self.closed and hasattr(self, "_reader"):
            self._reader.close()
        super().close()


def open(
    file: Any, identities: Any, *, threads: int = 0, format: str | None = None, context: Buffer = b""
) -> ContainerFile:
    """Opens the plaintext of a container as a seekable binary file, for `pandas`, `zipfile`, `pyarrow`.

    `file` is a path, or a file object with `read` and `seek`, which stays open. This verifies the last chunk, and so
    the length of the plaintext. Every other chunk is verified before its bytes are returned.

    With the `format` `cobblestone-128` or `cobblestone-256`, `identities` is a key as bytes, for files with this
    `context`: short for a `CobblestoneKey`.
    """
    if format is not None or context:
        identities = CobblestoneKey(identities, context, format=format)
    opened = ContainerFile(ContainerReader(file, identities, threads=threads), 128 * 1024)
    BUFFERED.add(opened)
    return opened


class ContainerFile(io.BufferedReader):
    """The result of `tress.open`."""

    def read_ranges(self, ranges: Iterable[tuple[int, int]], /) -> list[bytes]:
        """Reads ranges `(start, end)` of the plaintext, as `ContainerReader.read_ranges`."""
        return cast(ContainerReader, self.raw).read_ranges(ranges)

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        raw = cast(ContainerReader, self.raw)
        return raw._reduced(open, self)


def _opened_again(opens: Callable[..., Any], arguments: tuple[Any, Any, int], position: int) -> Any:
    """Restores an open container for `pickle`."""
    source, identities, threads = arguments
    file = opens(source, identities, threads=threads)
    file.seek(position)
    return file


def _several(identities: Any) -> list[Any]:
    is_one = isinstance(identities, str | bytes | bytearray) or not isinstance(identities, Iterable)
    return [identities] if is_one else list(identities)


def _absolute(path: Any) -> Any:
    """Returns a path that does not depend on the current folder. Returns other objects as they are."""
    return pathlib.Path(os.path.abspath(os.fsdecode(path))) if isinstance(path, str | bytes | os.PathLike) else path


class ContainerWriter(io.BufferedIOBase):
    """A file object that encrypts into a container. Made by `tress.create`.

    The container is complete only after `close`, which the end of a `with` block calls. If an exception ends the block,
    `write` raises an exception, or the object is never closed (which gives a `ResourceWarning`), the container is
    discarded: no file appears under the path, and a file object is left with a truncated container.

    In a `with` block, `close` takes effect only at the end of the block. So an `io.TextIOWrapper` around this object,
    which closes it after an exception, does not complete the container. Outside a `with` block it does.

    It belongs to the process that created it. In a child of a fork, `write` and `close` raise `Usage`.
    """

    # Number of forks between the first process of the program and this one.
    _forks = 0

    def __init__(self, target: Any, encryptor: Encryptor, *, force: bool = False) -> None:
        """Writes the output of `encryptor` to a path or a file object."""
        self._encryptor = encryptor
        self._written = 0
        self._rest = b""
        # _in_block: the end of a with block completes or discards the container. _is_settled: one of the two was done.
        # _has_failed: bytes are missing, because write() raised an exception.
        self._in_block = self._is_settled = self._has_failed = False
        # One thread at a time. _is_writing: a call of the same thread comes from within write().
        self._lock, self._is_writing = threading.RLock(), False
        self._forks_before = self._forks
        self._name = _name(target)
        self._output: _Output = _Object(target) if hasattr(target, "write") else _Path(os.fsdecode(target), force)

    @property
    def name(self) -> str:
        """The path, or the name of the file object."""
        return self._name

    def writable(self) -> bool:
        """Returns `True`."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Encrypts all of `data` and returns its length in bytes."""
        with self._alone():
            if self.closed:
                raise ValueError("I/O operation on closed file")
            self._check_caller()
            self._check()
            with memoryview(data) as view:
                if not view.c_contiguous:
                    raise BufferError("the buffer is not contiguous")
                try:
                    self._is_writing = True
                    self._output.write(self._encryptor.update(view))
                    self._written += view.nbytes
                except BaseException:
                    self._has_failed = True
                    self._settle()
                    raise
                finally:
                    self._is_writing = False
                return view.nbytes

    def tell(self) -> int:
        """Returns the number of plaintext bytes so far."""
        return self._written

    def close(self) -> None:
        """Completes the container (in a `with` block, at its end). If that fails, discards it."""
        with self._alone():
            if self.closed and not self._has_failed:
                return
            self._check_caller()
            if self._in_block and self._has_failed:
                super().close()  # Called by a wrapper after the exception of write(), which must reach the caller.
                return
            try:
                self._check()
                self._rest = self._encryptor.finalize()
                if not self._in_block:
                    self._complete()
            except BaseException:
                super().close()
                self._settle()
                raise
            super().close()

    def _is_inherited(self) -> bool:
        """Returns whether this process is a child of a fork after the creation."""
        return self._forks != self._forks_before

    def _alone(self) -> AbstractContextManager[object]:
        """Returns the lock. In a child of a fork, a thread of the parent may hold it."""
        return nullcontext() if self._is_inherited() else self._lock

    def _check(self) -> None:
        if self._is_inherited():
            raise Usage("the file belongs to another process, which was forked", "usage")
        if self._has_failed:
            raise Usage("the container was discarded, because an earlier write() failed", "usage")

    def _check_caller(self) -> None:
        if self._is_writing and not self._is_inherited():
            raise Usage("write() of this file is running: a signal handler or its target called the file", "usage")

    def _complete(self) -> None:
        """Writes the last bytes, without which the container is truncated, and makes the file appear under its path."""
        self._output.write(self._rest)
        self._output.commit()
        self._is_settled = True

    def discard(self) -> None:
        """Discards the container."""
        with self._alone():
            super().close()
            self._settle()
            self._has_failed = False  # The caller knows.

    def _settle(self) -> None:
        if not self._is_settled:
            self._is_settled = True
            if self._is_inherited():
                self._output.leave()
            else:
                self._output.discard()

    def __enter__(self) -> Self:
        """Begins a `with` block, whose end completes or discards the container."""
        entered = super().__enter__()
        self._in_block = True
        return entered

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Completes the container, or discards it if the block raised an exception."""
        with self._alone():
            self._in_block = False
            if kind is not None:
                self.discard()
            elif not self.closed or self._has_failed:
                self.close()
            elif not self._is_settled:
                try:
                    self._check()
                    self._complete()
                except BaseException:
                    self.discard()
                    raise

    def __del__(self) -> None:
        """Discards the container if it was never closed: it may be incomplete."""
        if not hasattr(self, "_output"):
            return
        try:
            if not self._is_settled and not self._is_inherited():
                message = f"{self._name}: discarded, because close() was not called"
                warnings.warn(message, ResourceWarning, stacklevel=2, source=self)
        finally:  # A warning may be an exception.
            self.discard()


def _count_fork() -> None:
    ContainerWriter._forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def create(
    file: Any,
    recipients: Recipients,
    *,
    aead: str | None = None,
    threads: int = 1,
    name: str | None = None,
    force: bool = False,
    format: str = "tress",
) -> ContainerWriter:
    """Returns a file object that encrypts what is written to it into a container.

    `file` is a path, or a file object with `write`, which stays open. A path appears only when the container is
    complete.
    """
    encryptor = Encryptor(recipients, aead=aead, threads=threads, name=name, format=format)
    return ContainerWriter(file, encryptor, force=force)


def encrypt_stream(
    reader: Readable,
    writer: Writable,
    recipients: Recipients,
    *,
    aead: str | None = None,
    threads: int = 0,
    name: str | None = None,
    format: str = "tress",
) -> int:
    """Encrypts all bytes of `reader` into a container, and returns the number of bytes written."""
    _check(reader, writer)
    encryptor = Encryptor(recipients, aead=aead, threads=threads, name=name, format=format)
    return _copy(reader, writer, encryptor)


def decrypt_stream(reader: Readable, writer: Writable, identities: Identities, *, threads: int = 0) -> int:
    """Verifies and decrypts the container of `reader`, and returns the number of bytes written.

    All written bytes are verified, but they are the complete plaintext only if this returns without an exception.
    """
    _check(reader, writer)
    return _copy(reader, writer, Decryptor(identities, threads=threads))


def _check(reader: object, writer: object) -> None:
    for file, method in ((reader, "read"), (writer, "write")):
        if not hasattr(file, method):
            raise TypeError(f"expected a file object with {method}(), not {type(file).__name__}")


def _copy(reader: Readable, writer: Writable, through: Encryptor | Decryptor) -> int:
    written = 0
    read = _piecewise(reader)
    while True:
        piece = read()
        if not piece:
            break
        written += _write_all(writer, through.update(piece))
    return written + _write_all(writer, through.finalize())


def _piecewise(reader: Readable) -> Callable[[], Buffer]:
    """Returns a function that reads the next piece. It reuses one buffer if the object has `readinto`."""
    readinto = getattr(reader, "readinto", None)
    if readinto is None:

        def read() -> Buffer:
            piece = reader.read(_PIECE)
            if piece is None:
                raise BlockingIOError("the source is non-blocking and has no data yet")
            if isinstance(piece, str):
                raise TypeError("read() must return bytes, not str")
            return piece

        return read
    buffer = memoryview(bytearray(_PIECE))

    def read_into() -> Buffer:
        count = readinto(buffer)
        if count is None:
            raise BlockingIOError("the source is non-blocking and has no data yet")
        if not 0 <= count <= len(buffer):
            raise ValueError("readinto() returned more bytes than requested")
        return buffer[:count]

    return read_into


def _write_all(writer: Writable, data: bytes) -> int:
    """Writes all of `data`: `write` of a raw file may write only a part."""
    rest = memoryview(data)
    count = writer.write(data) if data else 0
    if count is None and not _may_refuse(writer):
        return len(data)
    rest = rest[_count(count or 0, len(rest)) :]
    while rest:
        count = writer.write(rest)  # type: ignore[arg-type]
        if not count:
            raise BlockingIOError("the target is non-blocking and accepts no data yet")
        rest = rest[_count(count, len(rest)) :]
    return len(data)


def _count(count: Any, given: int) -> int:
    """Checks a result of `write`."""
    if not hasattr(count, "__index__") or not 0 <= count <= given:
        raise ValueError("write() must return the number of bytes that it wrote")
    return operator.index(count)


def _may_refuse(writer: object) -> bool:
    """Returns whether `None` from `write` means that nothing was written, as in non-blocking raw files.

    `write` of some other objects returns nothing.
    """
    if isinstance(writer, io.RawIOBase):
        return True
    try:
        return not os.get_blocking(writer.fileno())  # type: ignore[attr-defined]
    except (AttributeError, OSError, TypeError, ValueError):
        return False


def _name(file: Any) -> str:
    """Returns the name of a path or file object."""
    name = getattr(file, "name", None) if hasattr(file, "read") or hasattr(file, "write") else os.fspath(file)
    return os.fsdecode(name) if isinstance(name, str | bytes) else "<container>"


class _Output(Protocol):
    """The destination of a container."""

    def write(self, data: bytes) -> None: ...

    def commit(self) -> None: ...

    def discard(self) -> None: ...

    def leave(self) -> None:
        """Closes what this process has of it, in a child of a fork. The parent continues."""


class _Object:
    """A file object of the caller."""

    def __init__(self, file: Writable) -> None:
        self._file = file

    def write(self, data: bytes) -> None:
        _write_all(self._file, data)

    def commit(self) -> None:
        flush = getattr(self._file, "flush", None)
        if flush is not None:
            flush()

    def discard(self) -> None:
        pass

    def leave(self) -> None:
        pass


class _Path:
    """A path that appears when everything is written and synchronised to disk.

    A device, a FIFO and an open descriptor (`/dev/stdout`, `/dev/fd/3`) are written into.
    """

    def __init__(self, path: str, force: bool) -> None:
        self._shown, self._force = path, force
        self._temporary: str | None = None
        self._path, self._old = _resolve(path)
        descriptor = _descriptor(self._path)
        if descriptor is not None:
            self._file = io.FileIO(os.dup(descriptor), "w")
            return
        if self._old is not None and not stat.S_ISREG(self._old.st_mode) and not stat.S_ISDIR(self._old.st_mode):
            self._file = io.FileIO(self._path, "w")
            return
        if self._old is not None and (not force or stat.S_ISDIR(self._old.st_mode)):
            raise _exists(path)
        temporary = os.path.join(os.path.dirname(self._path), f".tress-{os.urandom(8).hex()}")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        # A user who may not read the old file must not read the new one either.
        mode = 0o666 if self._old is None else 0o600
        try:
            self._file = io.FileIO(os.open(temporary, flags, mode), "w")
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error
        self._temporary = temporary

    def write(self, data: bytes) -> None:
        _write_all(self._file, data)

    def commit(self) -> None:
        if self._temporary is None:
            if self._old is not None and stat.S_ISBLK(self._old.st_mode):
                os.fsync(self._file.fileno())
            self._file.close()
            return
        self._adopt()
        _sync(self._file.fileno())
        self._file.close()
        if self._force:
            os.replace(self._temporary, self._path)
        else:
            self._rename_new()
        try:
            _sync_folder(os.path.dirname(self._path))
        except OSError:
            if self._old is None:
                os.unlink(self._path)
            raise

    def _adopt(self) -> None:
        """Gives the file the mode and owner of the replaced one, unless another user may have planted that one."""
        old = self._old
        if old is None or not hasattr(os, "geteuid"):
            return
        folder, user = os.stat(os.path.dirname(self._path)), os.geteuid()
        if old.st_uid != user and (user != 0 or folder.st_uid != 0 or folder.st_mode & 0o022):
            return
        mode = old.st_mode & 0o777
        if _LIST in _attributes(self._path):
            mode &= ~0o070  # Those of the list's mask, not of the group.
        try:
            os.fchown(self._file.fileno(), old.st_uid, old.st_gid)
        except OSError:
            # The file's group is another one, so it gets at most the rights of others.
            mode &= ~0o070 | (mode & 0o007) << 3
        if _LIST in _attributes(self._file.fileno()):  # From the folder. The group's bits would be its mask.
            os.removexattr(self._file.fileno(), _LIST)
        try:
            os.fchmod(self._file.fileno(), mode)
        except OSError as error:
            _tolerate(error)

    def _rename_new(self) -> None:
        """Renames without replacing: a hard link never replaces a file. Some file systems have no hard links."""
        assert self._temporary is not None
        try:
            os.link(self._temporary, self._path)
        except FileExistsError:
            raise _exists(self._shown) from None
        except OSError:
            if os.path.lexists(self._path):
                raise _exists(self._shown) from None
            os.rename(self._temporary, self._path)
        else:
            os.unlink(self._temporary)

    def discard(self) -> None:
        try:
            self._file.close()
        finally:
            if self._temporary is not None:
                with suppress(FileNotFoundError):
                    os.unlink(self._temporary)

    def leave(self) -> None:
        self._file.close()


def _attributes(file: str | int) -> list[str]:
    """Returns the names of a file's extended attributes, where the system has them."""
    try:
        return os.listxattr(file)
    except (AttributeError, OSError):
        return []


def _descriptor(path: str) -> int | None:
    """Returns the number of the open descriptor that a path names. Opening such a path makes another handle."""
    if path in _STANDARD:
        return _STANDARD.index(path)
    found = re.fullmatch(rf"/(?:dev|proc/(?:self|thread-self|{os.getpid()}))/fd/([0-9]{{1,9}})", path)
    return int(found[1]) if found and os.name == "posix" else None


def _resolve(path: str) -> tuple[str, os.stat_result | None]:
    """Returns the path, which another working folder does not change, of what a new file replaces, and its status.

    Links are followed, except those that another user may have planted in a folder that everybody may write to, and
    names of descriptors.
    """
    shown = path
    if not os.path.isabs(path):
        path = os.path.join(os.getcwd(), path)
    for _ in range(40):
        if _descriptor(path) is not None:
            return path, None
        if re.fullmatch(r"/proc/[0-9]+/(task/[0-9]+/)?fd/[0-9]+", path):  # The text of that link need not be a path.
            return path, os.stat(path)
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return path, None
        except OSError as error:
            raise OSError(error.errno, error.strerror, shown) from error
        if not stat.S_ISLNK(status.st_mode):
            return path, status
        folder = os.stat(os.path.dirname(path))
        if folder.st_mode & 0o1002 == 0o1002 and status.st_uid not in (folder.st_uid, os.geteuid()):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), shown)
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), shown)


def _exists(path: str) -> OutputExists:
    return OutputExists(f"{path}: output exists already")


def _tolerate(error: OSError) -> None:
    """Raises an error of the disk again. What a file system cannot do is no reason to discard a complete file."""
    if error.errno not in _UNSUPPORTED:
        raise error


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        _tolerate(error)


def _sync_folder(folder: str) -> None:
    """Synchronises a folder, so that the new name is on disk. Windows does not support this."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        _tolerate(error)
        return
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


_LIST = "system.posix_acl_access"
_STANDARD = ["/dev/stdin", "/dev/stdout", "/dev/stderr"]

# Errors of calls that a file system does not support, or that this user may not make.
_UNSUPPORTED = [
    getattr(errno, name, None)
    for name in "EINVAL ENOSYS ENOTSUP EOPNOTSUPP EBADF ENOTTY EISDIR EACCES EPERM".split()
]
