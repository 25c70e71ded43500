"""All other file systems of fsspec: SFTP, memory, SMB, HDFS, and object stores with a separate package.

If the file system can rename, an object is written under a random temporary name and renamed: other users may write to
the same folder, so the file is created exclusively where the file system can. Otherwise the upload of the store is
completed only after everything was written (`autocommit=False` of fsspec).
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import fsspec
from fsspec.archive import AbstractArchiveFileSystem
from fsspec.spec import AbstractFileSystem

from ..errors import Changed, Exists, UsageError, mark_appeared
from ..names import CONTROL, Item, UnreadableEntry, check, ignored, random_name, random_prefix
from . import BLOCK, Reading, Replace, Store, Writing, text_without_secrets, without_secrets

RENAMING = {"sftp", "ssh", "sshfs", "memory", "smb", "ftp", "hdfs", "webhdfs", "arrow_hdfs", "dir"}
_TOKENS: tuple[str, ...] = (
    "ETag",
    "etag",
    "md5Hash",
    "content_md5",
    "generation",
    "version_id",
    "mtime",
    "modified",
    "LastModified",
    "last_modified",
)
_TOKENS += ("updated", "created", "modify", "modificationTime", "CRC")
_SSH = {"sftp", "ssh"}
# Two threads must not use one connection of paramiko, or the position of one archive, at the same time.
_ONE_THREAD = _SSH | {"tar", "libarchive"}
_EXCLUSIVE = {"smb", "sshfs", "memory"}
"""Schemes whose `open` has the mode `xb`."""


class FilesStore(Store):
    """A folder that fsspec opens."""

    def __init__(self, url: str, options: Mapping[str, Any]):
        self._url = url
        self._options = dict(options)
        self.shown = without_secrets(url)
        self._scheme = url.partition("://")[0] if "::" not in url else ""
        schemes = {link.partition("://")[0] for link in url.split("::")}
        for scheme in schemes & _SSH:
            from .known_hosts import policy

            self._options[scheme] = {"host_key_policy": policy(), **self._options.get(scheme, {})}
        self.shared = self._scheme != "memory"
        self._of_thread = threading.local()
        self._made: set[str] = set()
        self._parts: dict[str, list[str]] = {}
        """Temporary files of earlier runs by folder."""
        self._lost: list[str] = []
        """Temporary files that could not be removed."""
        self._one: Any = None
        self._alone = bool(schemes & _ONE_THREAD)
        if not self._alone:
            self._one = self._open()
        self._renames = self._scheme in RENAMING
        if self._renames and self._scheme != "memory":
            self.longest = 255

    def _open(self) -> tuple[Any, str]:
        try:
            fs, root = fsspec.core.url_to_fs(self._url, skip_instance_cache=self._alone, **self._options)
        except ValueError as error:
            raise UsageError(f"{self.shown}: {text_without_secrets(str(error), self._url)}") from error
        return fs, str(root).rstrip("/")

    @property
    def fs(self) -> Any:
        """The file system, for this thread."""
        return self._pair()[0]

    def _pair(self) -> tuple[Any, str]:
        pair: tuple[Any, str] | None = self._one or getattr(self._of_thread, "pair", None)
        if pair is None:
            pair = self._of_thread.pair = self._open()
        return pair

    def renew(self) -> None:
        """Drops the thread's connection after a failure. The next call opens a new one."""
        if self._one is None:
            self._of_thread.pair = None

    @property
    def location(self) -> str:
        if not self._scheme:
            return super().location
        kind = fsspec.get_filesystem_class(self._scheme)
        server = kind._get_kwargs_from_urls(self._url)
        for secret in ("username", "password"):
            server.pop(secret, None)
        return f"{kind.__name__}{server}/{kind._strip_protocol(self._url).strip('/')}".rstrip("/")

    def path(self, name: str) -> str:
        """Returns the path of an object. Raises `BadName`."""
        fs, root = self._pair()
        path = f"{root}/{check(name)}"
        return path.removeprefix("/") if isinstance(fs, AbstractArchiveFileSystem) else path

    def prepare(self) -> None:
        fs, root = self._pair()
        if root:
            fs.makedirs(root, exist_ok=True)

    def _describe(self, name: str, info: Mapping[str, Any]) -> Item:
        # A listing may have times as numbers while `info` of a single file returns a date.
        found = (info[key] for key in _TOKENS if info.get(key) is not None)
        token = "-".join(str(value.timestamp() if isinstance(value, datetime) else value) for value in found)
        return Item(name, int(info["size"] or 0), token)  # A wrong size is noticed when the object is read.

    def items(self) -> Iterator[Item | UnreadableEntry]:
        fs, root = self._pair()
        fs.invalidate_cache()
        stack = [root]
        while stack:
            folder = stack.pop()
            try:
                found = fs.ls(folder, detail=True)
            except (PermissionError, FileNotFoundError) as error:
                if folder == root:
                    raise
                if isinstance(error, PermissionError):
                    yield UnreadableEntry(_relative(folder, root), "denied", os.strerror(errno.EACCES))
                continue  # Or removed during the listing.
            for info in found:
                path = str(info["name"])
                if path == root and info["type"] == "file":
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), self.shown)
                if path.rstrip("/") == folder or (root and not path.startswith(root + "/")):
                    continue
                name = _relative(path, root)
                if info["type"] == "directory":
                    if name.rstrip("/") != CONTROL:
                        stack.append(path.rstrip("/"))
                elif info["type"] != "file" or info.get("islink"):
                    yield UnreadableEntry(name, "special", "no regular file")
                elif not ignored(name):
                    yield self._describe(name, info)

    def stat(self, name: str) -> Item:
        fs = self.fs
        path = self.path(name)
        fs.invalidate_cache(path.rpartition("/")[0])
        return self._describe(name, fs.info(path))

    def occupied(self, name: str) -> bool:
        try:
            return self.exists(self.path(name))
        except Exception:  # unknown: the run must not replace it later
            return True

    def exists(self, path: str) -> bool:
        """Returns whether a path exists. That of fsspec returns False after any error."""
        try:
            self.fs.info(path)
        except OSError as error:
            if isinstance(error, FileNotFoundError) or error.errno in (errno.ENOENT, errno.ENOTDIR):
                return False
            raise
        return True

    def read(self, item: Item) -> Reading:
        return _FilesReading(self, self.stat(item.name))

    def read_start(self, item: Item, count: int) -> bytes:
        with self.fs.open(self.path(item.name), "rb") as file:
            data: bytes = file.read(count)
            return data

    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        path = self.path(name)
        if not replace and self.exists(path):
            self._raise_if_folder(path)
            raise Exists
        if replace and self._renames:
            self._remove_parts(name)
        return _FilesWriting(self, name)

    def _raise_if_folder(self, path: str) -> None:
        if self.fs.isdir(path):
            raise Exists(f"a folder of the target has its name, {path.rpartition('/')[2]}")

    def _remove_parts(self, name: str) -> None:
        """Removes the temporary files that earlier runs have left of an object that is written again."""
        fs = self.fs
        beginning = self.path(random_prefix(name))
        folder = beginning.rpartition("/")[0]
        if folder not in self._parts:
            fs.invalidate_cache(folder)
            try:
                names = [str(name) for name in fs.ls(folder, detail=False)]
            except FileNotFoundError:
                names = []
            self._parts[folder] = [name for name in names if ignored(name.rpartition("/")[2])]
        for found in self._parts[folder]:
            if found.startswith(beginning):
                with suppress(OSError):  # It may belong to another user.
                    fs.rm_file(found)

    def create(self, path: str) -> Any:
        """Creates a temporary file."""
        fs = self.fs
        # paramiko needs both letters.
        exclusive = (
            "xb" if self._scheme in _EXCLUSIVE else "wxb" if hasattr(fs, "ftp") and self._scheme != "ftp" else ""
        )
        try:
            if exclusive:
                with suppress(ValueError, NotImplementedError):  # A version without this mode.
                    return fs.open(path, exclusive)
            if self.exists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            return fs.open(path, "wb")
        except OSError:
            self.raise_if_below_file(path)
            raise

    def rename(self, old: str, new: str) -> None:
        """Renames a file, and replaces an existing one."""
        fs = self.fs
        try:
            if type(fs).mv is not fsspec.AbstractFileSystem.mv:
                fs.mv(old, new)
            else:  # That `mv` takes `*`, `?` and `[` as patterns.
                self._raise_if_folder(new)
                fs.cp_file(old, new)
                fs.rm_file(old)
        except FileNotFoundError:
            raise Changed("its temporary file was removed while it was written") from None
        except OSError:
            self._raise_if_folder(new)
            raise

    def settle(self) -> None:
        lost, self._lost = self._lost, []
        for path in lost:
            with suppress(Exception):  # as `discard`
                self.fs.rm_file(path)

    def folder(self, path: str) -> None:
        """Creates the folder of a file."""
        parent = path.rpartition("/")[0]
        if parent and parent not in self._made:
            try:
                self.fs.makedirs(parent, exist_ok=True)
            except OSError:
                self.raise_if_below_file(path)
                raise
            self._made.add(parent)

    def raise_if_below_file(self, path: str) -> None:
        """Raises `Exists` if a file has the name of one of the folders of a path."""
        while (path := path.rpartition("/")[0]) and path != self._pair()[1]:
            if self.fs.isfile(path):
                raise Exists(f"a file of the target has the name of its folder {path.rpartition('/')[2]}")

    def put(self, name: str, data: bytes) -> None:
        with _FilesWriting(self, name) as out:
            out.write(data)
            out.commit()

    def get(self, name: str) -> Iterator[bytes]:
        with self.fs.open(self.path(name), "rb") as file:
            while piece := file.read(1 << 20):
                yield piece

    def control(self) -> list[str]:
        fs, root = self._pair()
        fs.invalidate_cache()
        try:
            found = fs.ls(f"{root}/{CONTROL}", detail=True)
        except FileNotFoundError:
            return []
        return sorted(_relative(str(info["name"]), root) for info in found if info["type"] == "file")

    def remove(self, name: str) -> None:
        try:
            self.fs.rm_file(self.path(name))
        except (FileNotFoundError, NotImplementedError):
            pass


def _relative(path: str, root: str) -> str:
    """Returns a path of a listing relative to the root. Paths of an archive do not begin with `/`."""
    return path[len(root) + 1 :] if root else path.removeprefix("/")


class _FilesReading(Reading):
    def __init__(self, store: FilesStore, item: Item):
        self._store = store
        self.item = item
        self._file = store.fs.open(store.path(item.name), "rb")
        prefetch = getattr(self._file, "prefetch", None)
        if prefetch is not None and item.size > 0:
            prefetch(item.size)

    def blocks(self) -> Iterator[Any]:
        left = self.item.size + 1  # One more byte shows that the object is longer.
        while left > 0 and (block := self._file.read(min(left, BLOCK))):
            left -= len(block)
            yield block

    def unchanged(self) -> None:
        try:
            if self._store.stat(self.item.name) != self.item:
                raise Changed("modified while it was read")
        except FileNotFoundError:
            raise Changed("removed while it was read") from None

    def close(self) -> None:
        self._file.close()


class _FilesWriting(Writing):
    def __init__(self, store: FilesStore, name: str):
        self._store = store
        self._name = name
        self._path = store.path(name)
        self._renames = store._renames
        self._temporary = store.path(random_name(name))
        self._done = False
        self._size = 0
        self._file: Any = None
        store.folder(self._path)
        if self._renames:
            self._file = store.create(self._temporary)
        else:
            # `open` would keep the file in a transaction that nobody ends. File systems over others have only that.
            fs = store.fs
            is_own = type(fs)._open is not AbstractFileSystem._open
            self._file = (fs._open if is_own else fs.open)(self._path, "wb", autocommit=False)

    def write(self, data: Any) -> None:
        self._file.write(data)
        self._size += len(data)

    def commit(self) -> Item:
        self._file.close()
        if self._renames:
            self._store.rename(self._temporary, self._path)
        else:
            self._file.commit()
        self._done = True
        try:
            item = self._store.stat(self._name)
            if item.size != self._size:
                raise Changed(f"{self._size} bytes were written, and its store reports {item.size}")
        except Exception as error:  # exceptions of a store may have any type
            raise mark_appeared(error) from None
        return item

    def discard(self) -> None:
        if self._done or self._file is None:
            return
        self._done = True
        self._store._made.discard(self._path.rpartition("/")[0])
        try:
            if self._renames:
                self._file.close()
                self._store.fs.rm_file(self._temporary)
            else:
                getattr(self._file, "discard", self._file.close)()
                self._file.closed = True  # The end of the object would close it, and some stores complete it then.
        except Exception:  # the connection may have failed
            if self._renames:
                self._store._lost.append(self._temporary)
            self._store.renew()
