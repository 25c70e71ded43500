"""File objects: containers that are read, written and copied through anything with `read` or `write`."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self, cast

from ._errors import OutputExists
from ._tress import Decryptor, Encryptor, Reader
from ._types import Buffer, Identities, Recipients

__all__ = ["ContainerReader", "ContainerWriter", "create", "decrypt_stream", "encrypt_stream", "open"]

# Bytes that are asked for at once.
_PIECE = 1 << 20


class Readable(Protocol):
    """Anything that is read."""

    def read(self, size: int, /) -> Buffer | None:
        """Up to `size` bytes; none at the end."""


class Writable(Protocol):
    """Anything that is written."""

    def write(self, data: bytes, /) -> object:
        """Takes bytes; may return how many of them."""


class ContainerReader(io.RawIOBase):
    """The plaintext of a container, at any place. Made by `tress.open`."""

    def __init__(self, source: Any, identities: Identities, *, threads: int = 0) -> None:
        """Opens a path, or a file object with `read` and `seek`, which stays open when this is closed."""
        self._reader = Reader(source, identities, threads=threads)
        self._name = _name(source)

    @property
    def name(self) -> str:
        """The path, or what the file object that is read is called."""
        return self._name

    @property
    def size(self) -> int:
        """Bytes of plaintext."""
        return self._reader.size

    @property
    def content_name(self) -> str | None:
        """The name that the container keeps."""
        return self._reader.name

    @property
    def content_type(self) -> str:
        """`file`, or `tree` for a folder, which is read as a tar archive."""
        return self._reader.content_type

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Reads verified bytes into a buffer and returns how many; 0 at the end."""
        self._check()
        return self._reader.readinto(buffer)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Goes to a place and returns it."""
        self._check()
        return self._reader.seek(offset, whence)

    def tell(self) -> int:
        """The place."""
        self._check()
        return self._reader.tell()

    def close(self) -> None:
        """Forgets the keys and what was read."""
        if not self.closed and hasattr(self, "_reader"):
            self._reader.close()
        super().close()

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")


def open(file: Any, identities: Identities, *, threads: int = 0) -> io.BufferedReader:
    """The plaintext of a container, as a file that reads and seeks: for `pandas`, `zipfile`, `pyarrow`.

    `file` is a path, or a file object with `read` and `seek`, which stays open. The last chunk, and with it the
    length, is verified at once, every other before its bytes are returned.
    """
    return io.BufferedReader(ContainerReader(file, identities, threads=threads), 128 * 1024)


class ContainerWriter(io.BufferedIOBase):
    """A container that is written. Made by `tress.create`.

    It is complete only after `close`, which the end of a `with` block calls. A block that an exception ends, and an
    object that is never closed (which is a `ResourceWarning`), leave nothing behind under a path, and in a file object
    what nobody can open. That holds also where something in the block closes this, as an `io.TextIOWrapper` does when
    its own block ends by an exception; without a `with` for this itself, such a close completes the container.
    """

    def __init__(self, target: Any, encryptor: Encryptor, *, force: bool = False) -> None:
        """Writes what `encryptor` makes to a path or a file object."""
        self._encryptor = encryptor
        self._written = 0
        self._rest = b""
        # Whether the end of a block decides what becomes of it, and whether that was decided.
        self._in_block = self._is_settled = False
        self._name = _name(target)
        self._output: _Output = _Object(target) if hasattr(target, "write") else _Path(os.fsdecode(target), force)

    @property
    def name(self) -> str:
        """The path, or what the file object that is written is called."""
        return self._name

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Takes all of `data`."""
        if self.closed:
            raise ValueError("I/O operation on closed file")
        with memoryview(data) as view:
            self._output.write(self._encryptor.update(view))
            self._written += view.nbytes
            return view.nbytes

    def tell(self) -> int:
        """Bytes of plaintext so far."""
        return self._written

    def close(self) -> None:
        """Completes the container, in a `with` block at its end; where that fails, discards it."""
        if self.closed:
            return
        try:
            self._rest = self._encryptor.finalize()
            if not self._in_block:
                self._complete()
        except BaseException:
            self.discard()
            raise
        super().close()

    def _complete(self) -> None:
        """Writes the last bytes, without which nobody can open it, and lets it appear."""
        self._output.write(self._rest)
        self._output.commit()
        self._is_settled = True

    def discard(self) -> None:
        """Gives the container up."""
        super().close()
        if hasattr(self, "_output") and not self._is_settled:
            self._is_settled = True
            self._output.discard()

    def __enter__(self) -> Self:
        """From here on the end of the block completes it, and nothing before."""
        entered = super().__enter__()
        self._in_block = True
        return entered

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Completes the container, or gives it up where the block raised an exception."""
        self._in_block = False
        if kind is not None:
            self.discard()
        elif not self.closed:
            self.close()
        elif not self._is_settled:
            try:
                self._complete()
            except BaseException:
                self.discard()
                raise

    def __del__(self) -> None:
        """Who never closed it did not mean it to be complete."""
        if hasattr(self, "_output") and not self._is_settled:
            warnings.warn(
                f"{self._name}: discarded, because close() was not called", ResourceWarning, stacklevel=2, source=self
            )
        self.discard()


def create(
    file: Any,
    recipients: Recipients,
    *,
    aead: str = "aes-128-ccm",
    threads: int = 1,
    name: str | None = None,
    force: bool = False,
) -> ContainerWriter:
    """A file object whose bytes become a container.

    `file` is a path, which appears only when the container is complete, or a file object with `write`, which stays
    open.
    """
    return ContainerWriter(file, Encryptor(recipients, aead=aead, threads=threads, name=name), force=force)


def encrypt_stream(
    reader: Readable,
    writer: Writable,
    recipients: Recipients,
    *,
    aead: str = "aes-128-ccm",
    threads: int = 0,
    name: str | None = None,
) -> int:
    """Encrypts all that `reader` gives into a container; returns how many bytes were written."""
    _check(reader, writer)
    encryptor = Encryptor(recipients, aead=aead, threads=threads, name=name)
    return _copy(reader, writer, encryptor)


def decrypt_stream(reader: Readable, writer: Writable, identities: Identities, *, threads: int = 0) -> int:
    """Verifies and decrypts the container that `reader` gives; returns how many bytes were written.

    What is written is verified, but only after the return is it known to be all.
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
    """A call that reads the next piece, into one buffer where the object can."""
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
    """Raw files may take less than all."""
    taken = writer.write(data) if data else len(data)
    if isinstance(taken, int) and taken < len(data):
        rest = memoryview(data)[taken:]
        while rest:
            count = cast("int | None", writer.write(rest))  # type: ignore[arg-type]
            if not count:
                raise BlockingIOError("the target is non-blocking and accepts no data yet")
            rest = rest[count:]
    return len(data)


def _name(file: Any) -> str:
    """What a file is called."""
    name = getattr(file, "name", None) if hasattr(file, "read") or hasattr(file, "write") else os.fspath(file)
    return os.fsdecode(name) if isinstance(name, str | bytes) else "<container>"


class _Output(Protocol):
    """Where a container goes."""

    def write(self, data: bytes) -> None: ...

    def commit(self) -> None: ...

    def discard(self) -> None: ...


class _Object:
    """A file object of somebody else."""

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


class _Path:
    """A name that appears when all is written and on the disk."""

    def __init__(self, path: str, force: bool) -> None:
        self._path, self._force = path, force
        if not force and os.path.lexists(path):
            raise _exists(path)
        self._temporary = os.path.join(os.path.dirname(path), f".tress-{os.urandom(8).hex()}")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self._file = io.FileIO(os.open(self._temporary, flags, 0o666), "w")

    def write(self, data: bytes) -> None:
        _write_all(self._file, data)

    def commit(self) -> None:
        os.fsync(self._file.fileno())
        self._file.close()
        if self._force:
            os.replace(self._temporary, self._path)
        else:
            self._rename_new()
        _sync_folder(os.path.dirname(self._path) or ".")

    def _rename_new(self) -> None:
        """A link, unlike a rename, never takes the place of what is there; not every file system has links."""
        try:
            os.link(self._temporary, self._path)
        except FileExistsError:
            raise _exists(self._path) from None
        except OSError:
            if os.path.lexists(self._path):
                raise _exists(self._path) from None
            os.rename(self._temporary, self._path)
        else:
            os.unlink(self._temporary)

    def discard(self) -> None:
        self._file.close()
        try:
            os.unlink(self._temporary)
        except FileNotFoundError:
            pass


def _exists(path: str) -> OutputExists:
    return OutputExists(f"{path}: output exists already")


def _sync_folder(folder: str) -> None:
    """So that the name is on the disk, where the system has that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
