"""Folders as handles, so that a name is looked up where it was found and no symbolic link is followed on the way.

A path is looked up anew with every call: whoever may write to one of its folders can put a link there between two calls.
Where the system has no such calls (Windows), paths are used after all, and a link is refused that is there at that moment.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import BadName

HANDLES = (
    os.scandir in os.supports_fd and {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd
)
FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | FLAGS | getattr(os, "O_DIRECTORY", 0)
_SHARED = stat.S_ISVTX | stat.S_IWOTH
"""A folder in which everybody may make names, and nobody may take those of others away."""


class LinkInPath(BadName):
    """A folder in the path of an object is a symbolic link."""


def close(fd: int) -> None:
    """Closes it. What was to be kept was synced before, and an error here changes nothing."""
    with suppress(OSError):
        os.close(fd)


class Folder:
    """An open folder. Its methods take the name of an entry, without any `/`, and follow no link."""

    def __init__(self, path: str, fd: int | None = None):
        if HANDLES and fd is None:
            fd = os.open(path, _FOLDER)
        self.fd = fd
        self.path = path

    def _of(self, name: str) -> str:
        return name if self.fd is not None else os.path.join(self.path, name)

    def open(self, name: str, flags: int) -> int:
        """A file's descriptor; a new file gets what the umask leaves of mode 0666."""
        return os.open(self._of(name), flags | FLAGS | NO_LINKS, 0o666, dir_fd=self.fd)

    def stat(self, name: str) -> os.stat_result:
        """Of the entry itself, also where it is a link."""
        return os.stat(self._of(name), dir_fd=self.fd, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Removes the entry, which is no folder."""
        os.unlink(self._of(name), dir_fd=self.fd)

    def replace(self, name: str, new: str) -> None:
        """Renames the entry to `new`, in place of what is there."""
        os.replace(self._of(name), self._of(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def link(self, name: str, new: str) -> None:
        """Gives a file a second name. Raises `FileExistsError`, and what systems raise that have no hard links."""
        os.link(self._of(name), self._of(new), src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)

    def scan(self) -> os._ScandirIterator[str]:
        """Its entries."""
        return os.scandir(self.path if self.fd is None else self.fd)

    def enter(self, name: str, make: bool = False) -> Folder:
        """A folder in it. With `make` it is made where it is missing, and refused where a stranger planted it.

        Raises `LinkInPath`.
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
            # Which of the two a link causes differs between systems.
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and stat.S_ISLNK(self.stat(name).st_mode):
                raise LinkInPath("a folder in its path is a symbolic link") from None
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
        """Makes its names durable, where folders can be synced."""
        if self.fd is not None:
            os.fsync(self.fd)

    def close(self) -> None:
        """Closes it; a second time does nothing."""
        if self.fd is not None and self.fd >= 0:
            close(self.fd)
            self.fd = -1


class Root:
    """A folder that is opened anew by every call, and has to stay the same: a file system may be unmounted meanwhile."""

    def __init__(self, path: str):
        self.path = path
        self._first: tuple[int, int] | None = None

    def open(self) -> Folder:
        """The folder itself. Links in its own path are the caller's, and are followed."""
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
        """The folder that has the entry `name`, a checked name with `/` between its parts, and the name's last part."""
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
