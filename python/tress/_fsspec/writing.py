"""New files: containers that appear in their store when they are complete."""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.local import LocalFileSystem

from .._files import ContainerWriter, _write_all
from .._tress import Encryptor

# Stores that complete nothing at the end of an upload: a file gets another name first.
_RENAMING = {"memory", "sftp", "ssh", "sshfs", "smb", "ftp", "hdfs", "webhdfs", "arrow_hdfs", "dir"}

# Size in bytes up to which a member of an archive is in memory until it is complete.
_SPOOLED = 1 << 20

# File systems of pyarrow that rename.
_ARROW_RENAMING = {"local", "hdfs", "subtree"}

# Stores whose connection serves one thread.
ONE_THREAD = {"sftp", "ssh"}


def protocol(fs: Any) -> str:
    """Returns the first name of a file system's protocol."""
    return str(fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0])


def check_new(fs: Any, path: str) -> None:
    """Raises `FileExistsError` if a store has a file. Its `exists` would take any error for no file."""
    with suppress(FileNotFoundError):
        fs.info(path)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


class Writer(ContainerWriter):
    """A new file. In a transaction of fsspec it appears when that ends."""

    def __init__(self, fs: Any, path: str, is_new: bool, autocommit: bool) -> None:
        """Creates a file of a `TressFileSystem`."""
        self._fs, self.path, self._autocommit = fs, path, autocommit
        fs.invalidate_cache(path)
        encryptor = Encryptor(fs.keys.recipients(), threads=0, **fs.keys.written)
        if isinstance(fs.fs, LocalFileSystem):
            super().__init__(path, encryptor, force=not is_new)
        else:
            upload = _Upload(fs.fs, path, is_new)
            super().__init__(upload, encryptor)
            self._output, self._name = upload, path

    def _complete(self) -> None:
        if self._autocommit:
            super()._complete()
            self._fs.invalidate_cache(self.path)
        else:
            self._output.write(self._rest)

    def commit(self) -> None:
        """Makes the file appear. The end of a transaction calls this."""
        with self._alone():
            self._check()
            if not self._is_settled:
                if self._in_block:
                    self.__exit__(None, None, None)
                self.close()
                self._rest, self._autocommit = b"", True
                self._complete()


class Over:
    """Text or compression over a new file, which ends with them. An exception in their `with` block discards it.

    If nobody closes them, the file is discarded, too: the collection of a text wrapper closes what is below.
    """

    def __init__(self, over: Any, below: Writer, mode: str) -> None:
        """Passes calls on to `over`, which writes to `below`. By `mode`, pandas tells text from bytes."""
        # Until the end of its block, `close` of the file does not complete it.
        self._over, self._below, self.mode, self._is_ended = over, below.__enter__(), mode, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._over, name)

    def __iter__(self) -> Iterator[Any]:
        """Is there because pandas recognises files by it."""
        return iter(self._over)

    def close(self) -> None:
        """Writes what is left, and completes the file. If that fails, discards it."""
        try:
            self._over.close()
        except BaseException:
            self._below.discard()
            raise
        if not self._is_ended:  # In a transaction, each end of the block writes the last bytes.
            self._is_ended = True
            self._below.__exit__(None, None, None)

    def __enter__(self) -> Over:
        """Begins a `with` block, whose end completes or discards the file."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Completes the file, or discards it if the block raised an exception."""
        if kind is None:
            self.close()
            return
        try:
            with suppress(Exception):
                self._over.close()
        finally:
            self._below.discard()


class _Upload:
    """A new object of a store, which appears in `commit`."""

    def __init__(self, fs: Any, path: str, is_new: bool) -> None:
        self._fs, self._path, self._is_new, self._temporary = fs, path, is_new, ""
        is_own = type(fs)._open is not AbstractFileSystem._open
        is_zip, is_arrow = protocol(fs) == "zip", isinstance(fs, ArrowFSWrapper)
        writes = is_own or type(fs).open is not AbstractFileSystem.open  # That of fsspec itself writes nothing.
        if not writes or (is_zip and "r" in fs.mode):
            raise io.UnsupportedOperation(f"{path}: its store cannot write files")
        # A member of a ZIP file cannot be removed, and blocks the archive while it is open. Object stores of pyarrow
        # complete a file after an exception, too, and rename by a copy.
        self._is_whole = is_zip or (is_arrow and fs.fs.type_name not in _ARROW_RENAMING)
        if self._is_whole:
            self._file: Any = tempfile.SpooledTemporaryFile(_SPOOLED)
        elif is_arrow or protocol(fs) in _RENAMING:
            folder, slash, _ = path.rpartition("/")
            self._temporary = f"{folder}{slash}.tress-{os.urandom(8).hex()}"
            self._file = fs.open(self._temporary, "wb")
        else:  # Not `open`, which adds the file to a transaction. File systems over others may have only that.
            self._file = (fs._open if is_own else fs.open)(path, "wb", autocommit=False)

    def write(self, data: bytes) -> None:
        _write_all(self._file, data)

    def commit(self) -> None:
        if self._is_new:  # Another program may have created it meanwhile.
            check_new(self._fs, self._path)
        if self._is_whole:
            self._file.seek(0)
            with self._fs._open(self._path, "wb") as member:
                shutil.copyfileobj(self._file, member)
        self._file.close()
        if not self._temporary:
            if not getattr(self._file, "autocommit", True):
                self._file.commit()
        elif type(self._fs).mv is not AbstractFileSystem.mv:
            self._fs.mv(self._temporary, self._path)
        else:  # That `mv` takes * and [ in names as patterns.
            self._fs.cp_file(self._temporary, self._path)
            self._fs.rm_file(self._temporary)

    def discard(self) -> None:
        with suppress(Exception):  # The connection may have failed.
            if self._temporary:
                self._file.close()
                self._fs.rm_file(self._temporary)
            else:
                getattr(self._file, "discard", self._file.close)()
                self._file.closed = True  # Its end would be another attempt to close it.

    def leave(self) -> None:
        with suppress(AttributeError):  # The parent has the connection, and this process must not upload its copy.
            self._file.closed = True
        with suppress(Exception), open(os.devnull, "wb") as nothing:  # Nor write what a local file has in its buffer.
            os.dup2(nothing.fileno(), self._file.fileno())
