"""Raw files below buffered ones. A child of a fork may find one in the middle of a call by another thread."""

from __future__ import annotations

import io
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ._errors import Usage

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound="RawFile")


class RawFile(io.RawIOBase):
    """A raw file that knows whether a thread uses it."""

    # _thread: the thread in a call, or 0. _is_lost: a thread was in one during the fork that made this process.
    _thread, _is_lost = 0, False

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if self._is_lost:
            raise Usage("another thread used this object when the process was forked", "usage")


def noted(method: Callable[Concatenate[F, P], T]) -> Callable[Concatenate[F, P], T]:
    """Checks the file, and notes the thread during a call: the buffered file has its lock then."""

    @wraps(method)
    def call(self: F, /, *args: P.args, **kwargs: P.kwargs) -> T:
        before = self._thread
        try:
            self._thread = threading.get_ident()
            self._check()
            return method(self, *args, **kwargs)
        finally:
            self._thread = before

    return call


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
