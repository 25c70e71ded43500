"""Raw files below buffered ones. A child of a fork may find one in the middle of a read of another thread."""

from __future__ import annotations

import io
import os
import threading
import weakref
from contextlib import suppress

from ._errors import Usage


class RawFile(io.RawIOBase):
    """A raw file that knows whether a thread reads."""

    # _thread: the thread that reads, or 0. _is_lost: a thread read during the fork that made this process.
    _thread, _is_lost = 0, False

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if self._is_lost:
            raise Usage("another thread used this object when the process was forked", "usage")


# Open files, with a RawFile each.
BUFFERED: weakref.WeakSet[io.BufferedReader] = weakref.WeakSet()


def _start_process() -> None:
    for file in list(BUFFERED):
        with suppress(ValueError):  # It is detached.
            if isinstance(file.raw, RawFile) and file.raw._thread not in (0, threading.get_ident()):
                file.raw._is_lost = True
                io.BufferedReader.__init__(file, file.raw)  # Makes a new lock: that thread has the old one.


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_process)
