"""Lets the program `tress-simulate` end with this process, even if that is killed (crates/terminal/src/lifeline.rs)."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

_running: set[subprocess.Popen[bytes]] = set()
_watching = 0
"""The process in which a thread watches the parent of this worker: a fork has the variable and no thread."""


@contextlib.contextmanager
def lifeline(path: Path) -> Iterator[dict[str, str]]:
    """Holds a lock on a new file, and yields the environment of a program that ends when the lock is released."""
    with open(path, "wb") as file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield os.environ | {"TRESS_LIFELINE": str(path)}


@contextlib.contextmanager
def ends_with_executor(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """In a worker of an executor, kills the program when the executor's process ends: the worker may not notice."""
    global _watching
    parent = multiprocessing.parent_process()
    if parent is not None and _watching != os.getpid():
        _watching = os.getpid()
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    _running.add(process)
    try:
        yield
    finally:
        _running.discard(process)


def _watch(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    for process in list(_running):
        process.kill()
