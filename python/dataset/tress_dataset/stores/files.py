"""All other file systems of fsspec: SFTP, memory, SMB, HDFS, and object stores with a separate package.

If the file system can rename, an object is written under a temporary name and renamed. Otherwise the upload of the
store is completed only after everything was written (`autocommit=False` of fsspec).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import fsspec

from ..errors import Changed, Exists, UsageError
from ..names import CONTROL, Item, UnreadableEntry, check, ignored, temporary_name
from . import BLOCK, Reading, Replace, Store, Writing, without_secrets

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
_TOKENS += ("updated", "created")
# Two threads must not use one connection of paramiko at the same time.
_ONE_THREAD = {"sftp", "ssh"}


class FilesStore(Store):
    """A folder that fsspec opens."""

    def __init__(self, url: str, options: Mapping[str, Any]):
        self._url = url
        self._options = dict(options)
        self.shown = without_secrets(url)
        self._scheme = url.partition("://")[0] if "::" not in url else ""
        if self._scheme in _ONE_THREAD:
            from .known_hosts import policy

            self._options.setdefault("host_key_policy", policy())
        self.shared = self._scheme != "memory"
        self._of_thread = threading.local()
        self._made: set[str] = set()
        self._one: Any = None
        if self._scheme not in _ONE_THREAD:
            self._one = self._open()
        self._renames = self._scheme in RENAMING

    def _open(self) -> tuple[Any, str]:
        try:
            fs, root = fsspec.core.url_to_fs(
                self._url, skip_instance_cache=self._scheme in _ONE_THREAD, **self._options
            )
        except ValueError as error:
            raise UsageError(f"{self.shown}: {error}") from error
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

    def path(self, name: str) -> str:
        """Returns the path of an object. Raises `BadName`."""
        return f"{self._pair()[1]}/{check(name)}"

    def prepare(self) -> None:
        fs, root = self._pair()
        if root:
            fs.makedirs(root, exist_ok=True)

    def _describe(self, name: str, info: Mapping[str, Any]) -> Item:
        # A listing may have times as numbers while `info` of a single file returns a date.
        found = (info[key] for key in _TOKENS if info.get(key) is not None)
        token = "-".join(str(value.timestamp() if isinstance(value, datetime) else value) for value in found)
        return Item(name, int(info["size"]), token)

    def items(self) -> Iterator[Item | UnreadableEntry]:
        fs, root = self._pair()
        fs.invalidate_cache()
        stack = [root]
        while stack:
            folder = stack.pop()
            for info in fs.ls(folder, detail=True):
                path = str(info["name"])
                if path.rstrip("/") == folder or not path.startswith(root + "/"):
                    continue
                name = path[len(root) + 1 :]
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
        return bool(self.fs.exists(self.path(name)))

    def read(self, item: Item) -> Reading:
        return _FilesReading(self, self.stat(item.name))

    def read_start(self, item: Item, count: int) -> bytes:
        with self.fs.open(self.path(item.name), "rb") as file:
            data: bytes = file.read(count)
            return data

    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        path = self.path(name)
        if not replace and self.fs.exists(path):
            raise Exists("exists already, and no earlier run wrote it; force replaces it")
        return _FilesWriting(self, name)

    def folder(self, path: str) -> None:
        """Creates the folder of a file."""
        parent = path.rpartition("/")[0]
        if parent and parent not in self._made:
            self.fs.makedirs(parent, exist_ok=True)
            self._made.add(parent)

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
        return sorted(str(info["name"])[len(root) + 1 :] for info in found if info["type"] == "file")

    def remove(self, name: str) -> None:
        try:
            self.fs.rm_file(self.path(name))
        except (FileNotFoundError, NotImplementedError):
            pass


class _FilesReading(Reading):
    def __init__(self, store: FilesStore, item: Item):
        self._store = store
        self.item = item
        self._file = store.fs.open(store.path(item.name), "rb")
        prefetch = getattr(self._file, "prefetch", None)
        if prefetch is not None and item.size > 0:
            prefetch(item.size)

    def blocks(self) -> Iterator[Any]:
        left = self.item.size
        while left > 0:
            block = self._file.read(min(left, BLOCK))
            if not block:
                raise Changed("truncated while it was read")
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
        self._temporary = store.path(temporary_name(name)) if self._renames else self._path
        self._done = False
        self._file: Any = None
        store.folder(self._path)
        more = {} if self._renames else {"autocommit": False}
        self._file = store.fs.open(self._temporary, "wb", **more)

    def write(self, data: Any) -> None:
        self._file.write(data)

    def commit(self) -> Item:
        self._file.close()
        if self._renames:
            self._store.fs.mv(self._temporary, self._path)
        else:
            self._file.commit()
        self._done = True
        return self._store.stat(self._name)

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
                self._file.discard()
        except Exception:  # the connection may have failed; the next run overwrites the same temporary file
            self._store.renew()
