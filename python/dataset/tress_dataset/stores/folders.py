"""Folder handles: entries are opened relative to an open folder, and no symbolic link is followed.

The system resolves a path again in each call, so a user who may write to one of its folders can insert a link between
two calls. Handles prevent that. On systems without such calls (Windows), paths are used, and only links that exist at
the time of the check are refused.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import BadName, Exists

HANDLES = (
    os.scandir in os.supports_fd and {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd
)
FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | FLAGS | getattr(os, "O_DIRECTORY", 0)
_SHARED = stat.S_ISVTX | stat.S_IWOTH
"""Mode bits of a folder such as /tmp: everybody may create names, and only the owner may remove them."""


class LinkInPath(BadName):
    """A folder in the path of an object is a symbolic link."""


def close(fd: int) -> None:
    """Closes a descriptor. Errors are ignored: data that must be kept was synced, and a copy closed, before."""
    with suppress(OSError):
        os.close(fd)


class Folder:
    """An open folder. Its methods take the name of an entry without `/`, and follow no link."""

    def __init__(self, path: str, fd: int | None = None):
        if HANDLES and fd is None:
            fd = os.open(path, _FOLDER)
        self.fd = fd
        self.path = path

    def _of(self, name: str) -> str:
        return name if self.fd is not None else os.path.join(self.path, name)

    def open(self, name: str, flags: int) -> int:
        """Opens a file and returns its descriptor. A new file gets mode 0666, reduced by the umask."""
        return os.open(self._of(name), flags | FLAGS | NO_LINKS, 0o666, dir_fd=self.fd)

    def stat(self, name: str) -> os.stat_result:
        """Returns the status of the entry itself, also if it is a link."""
        return os.stat(self._of(name), dir_fd=self.fd, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Removes an entry that is not a folder."""
        os.unlink(self._of(name), dir_fd=self.fd)

    def replace(self, name: str, new: str) -> None:
        """Renames the entry to `new`, and replaces an existing entry."""
        os.replace(self._of(name), self._of(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def link(self, name: str, new: str) -> None:
        """Creates a hard link to a file. Raises `FileExistsError`, or another error if hard links are not supported."""
        os.link(self._of(name), self._of(new), src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)

    def scan(self) -> os._ScandirIterator[str]:
        """Iterates over the entries."""
        return os.scandir(self.path if self.fd is None else self.fd)

    def enter(self, name: str, make: bool = False) -> Folder:
        """Opens a folder inside this one. With `make`, creates it if it is missing.

        Raises `LinkInPath` if it is a link. With `make`, raises `BadName` if another user has planted it in a folder
        where everybody may create names, and `Exists` if a file has its name.
        """
        path = os.path.join(self.path, name)
        try:
            try:
                inner = self._enter(name, path)
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(self._of(name), dir_fd=self.fd)
                inner = self._enter(name, path)
        except OSError as error:
            # A link causes either of the two errors, depending on the system.
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and stat.S_ISLNK(self.stat(name).st_mode):
                raise LinkInPath("a folder in its path is a symbolic link") from None
            if make and error.errno == errno.ENOTDIR:
                raise Exists(f"a file of the target has the name of its folder {name}") from None
            raise
        try:
            if make and inner._is_planted_in(self):
                raise BadName(f"{path} belongs to another user, and everybody may make folders there")
        except BaseException:
            inner.close()
            raise
        return inner

    def _enter(self, name: str, path: str) -> Folder:
        if self.fd is not None:
            return Folder(path, os.open(name, _FOLDER | NO_LINKS, dir_fd=self.fd))
        status = os.stat(path, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return Folder(path)

    def _is_planted_in(self, outer: Folder) -> bool:
        if self.fd is None or outer.fd is None:
            return False
        around = os.fstat(outer.fd)
        return around.st_mode & _SHARED == _SHARED and os.fstat(self.fd).st_uid not in (os.geteuid(), around.st_uid)

    def sync(self) -> None:
        """Makes the names in the folder durable, if the system can sync folders."""
        if self.fd is not None:
            os.fsync(self.fd)

    def close(self) -> None:
        """Closes the folder. A second call does nothing."""
        if self.fd is not None and self.fd >= 0:
            close(self.fd)
            self.fd = -1


class Root:
    """The root folder. Each call opens it again and checks that it is the same folder: it may have been unmounted."""

    def __init__(self, path: str):
        self.path = path
        self._first: tuple[int, int] | None = None

    def open(self) -> Folder:
        """Opens the folder. Links in its path come from the caller, and are followed."""
        folder = Folder(self.path)
        if folder.fd is not None:
            status = os.fstat(folder.fd)
            found = (status.st_dev, status.st_ino)
            if self._first is None:
                self._first = found
            if found != self._first:
                folder.close()
                raise FileNotFoundError(errno.ENOENT, "another folder has taken its place", self.path)
        return folder

    @contextmanager
    def around(self, name: str, make: bool = False) -> Iterator[tuple[Folder, str]]:
        """Opens the folder of the entry `name`. Returns it with the last part of the name, which must be checked."""
        *outer, last = name.split("/")
        folder = self.open()
        try:
            for part in outer:
                inner = folder.enter(part, make)
                folder.close()
                folder = inner
            yield folder, last
        finally:
            folder.close()
