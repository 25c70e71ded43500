"""The members of a container that holds a folder, as a file system."""

from __future__ import annotations

import errno
import io
import os
import threading
import warnings
from typing import Any

from fsspec.archive import AbstractArchiveFileSystem
from fsspec.spec import make_instance

from .._tree import MemberFile, Tree, TreeMember
from .files import TressFileSystem
from .reading import OF_PROCESS, TressFile, named, source, version

_TYPES = {"file": "file", "hard link": "file", "folder": "directory"}


class TressTreeFileSystem(AbstractArchiveFileSystem):  # type: ignore[misc]
    """The members of a container that holds a folder: `tress-tree://etc/hosts::s3://bucket/host.tress`. Read only.

    The options are those of `TressFileSystem`.
    """

    protocol = "tress-tree"
    cachable = False  # The container of an open instance may be replaced.

    def __init__(self, fo: str = "", **options: Any) -> None:
        """Reads the container with the path `fo` in another file system."""
        super().__init__()
        self.fo = fo
        self._outer = TressFileSystem(**options)
        self.start_process()
        OF_PROCESS[id(self)] = self

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports `pickle`, as `TressFileSystem`."""
        options = {**self.storage_options, **self._outer.keys.options}
        return make_instance, (type(self), self.storage_args, options)

    def start_process(self) -> None:
        """Begins without an open container."""
        self._lock = threading.Lock()
        self._tree: Tree | None = None

    def _get_dirs(self) -> Tree:
        with self._lock:
            if self._tree is None:
                outer = self._outer
                path, identities = outer._strip_protocol(self.fo), outer.keys.identities()
                info = outer.fs.info(path)

                def opened() -> Tree:
                    tree = Tree(source(outer.fs, path, info.get("size")), identities)
                    self.dir_cache = {member.name: _described(tree, member) for member in tree.members() if member.name}
                    return tree

                self._tree = named(outer, path, version(info), opened)
            return self._tree

    def invalidate_cache(self, path: str | None = None) -> None:
        """Forgets the container, which is then opened again."""
        self.start_process()
        super().invalidate_cache(path)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Describes a member, or the folder itself."""
        self._get_dirs()
        if not self._strip_protocol(path):
            return {"name": "", "type": "directory", "size": 0}
        described: dict[str, Any] = super().info(path, **kwargs)
        return described

    def expand_path(self, path: Any, *args: Any, **kwargs: Any) -> list[str]:
        """Returns the members for `get` and others. Those that are not files are left out, unless `path` names them."""
        given = [path] if isinstance(path, str | os.PathLike) else list(path)
        found, named = super().expand_path(given, *args, **kwargs), set(map(self._strip_protocol, given))
        others = [one for one in found if one not in named and self.dir_cache.get(one, {}).get("type") == "other"]
        if others:
            names = ", ".join(map(repr, others[:5])) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
            warnings.warn(f"{self.fo}: left out, because they are links or special files: {names}", stacklevel=3)
        if len(others) == len(found):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        left_out = set(others)
        return [one for one in found if one not in left_out]

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> TressFile:
        if mode != "rb":
            raise io.UnsupportedOperation(f"{path}: members of a container are read only")
        kind, tree = self.info(path)["type"], self._get_dirs()
        if kind == "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if kind != "file":
            raise _NoFile(f"{path}: a {tree.info(path).type}, not a file")
        raw = tree[path].detach()
        assert isinstance(raw, MemberFile)
        return TressFile(raw, self, path)


class _NoFile(io.UnsupportedOperation, IsADirectoryError):
    """A link or special file. Mappers of fsspec take this kind of error for a missing key."""


def _described(tree: Tree, member: TreeMember) -> dict[str, Any]:
    size: int | None = member.size
    if member.type == "hard link":
        try:
            size = tree.info(member.target).size
        except KeyError:  # A damaged index: opening the link says so.
            size = None
    info = {"name": member.name, "size": size, "type": _TYPES.get(member.type, "other")}
    return info | {"mode": member.mode, "mtime": member.mtime, "uid": member.uid, "gid": member.gid}
