"""Progress of a run, for a terminal or a caller's function."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

from .summary import Summary, size


@dataclass(frozen=True)
class Progress:
    """Progress of a run at one moment."""

    objects: int
    bytes: int
    skipped: int
    failed: int
    seconds: float
    all_objects: int | None
    """Total number of objects, including skipped ones; `None` until they were counted."""
    all_bytes: int | None
    """Total size of all objects in the store that is read, in bytes; `None` until they were counted."""

    @property
    def rate_bytes_per_s(self) -> float:
        """Mean rate since the start."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Estimated remaining time in seconds, from the rate so far; `None` while it is unknown."""
        done = self.objects + self.failed
        if self.all_objects is None or done == 0 or self.seconds <= 0:
            return None
        left = max(0, self.all_objects - done - self.skipped)
        by_objects = left * self.seconds / done
        if self.all_bytes and self.bytes and not self.skipped:
            return max(0.0, self.all_bytes - self.bytes) * self.seconds / self.bytes
        return by_objects

    def line(self) -> str:
        """Returns the progress as text."""
        total = "" if self.all_objects is None else f" of {self.all_objects}"
        text = f"{self.objects + self.skipped}{total} objects, {size(self.bytes)}, {size(self.rate_bytes_per_s)}/s"
        if self.failed:
            text += f", {self.failed} failed"
        left = self.left_s
        return text if left is None else f"{text}, {_clock(left)} left"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds + 0.5), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


class Counter:
    """Counts the objects of a listing in a thread, for the estimate of the remaining time."""

    def __init__(self, count: Callable[[threading.Event], tuple[int, int]]):
        self.total: tuple[int, int] | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(count,), daemon=True)
        self._thread.start()

    def _work(self, count: Callable[[threading.Event], tuple[int, int]]) -> None:
        try:
            self.total = count(self._end)
        except Exception:  # the listing of the run reports the error
            self.total = None

    def close(self) -> None:
        """Stops counting."""
        self._end.set()
        self._thread.join(timeout=10)


class Reporter:
    """Reports progress to a function, at most five times a second."""

    def __init__(self, report: Callable[[Progress], None] | None, summary: Summary, counter: Counter | None):
        self._report = report
        self._summary = summary
        self._counter = counter
        self._started = time.monotonic()
        self._last = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def tick(self, last: bool = False) -> None:
        """Reports progress if the last report is old enough, or if this is the last one."""
        now = time.monotonic()
        if self._report is None or (not last and now - self._last < 0.2):
            return
        self._last = now
        total = self._counter.total if self._counter is not None else None
        summary = self._summary
        self._report(
            Progress(
                summary.objects,
                summary.bytes,
                summary.skipped,
                summary.failed,
                now - self._started,
                None if total is None else total[0],
                None if total is None else total[1],
            )
        )


class Terminal:
    """Shows progress in one line of a terminal."""

    def __init__(self, out: TextIO | None = None):
        self._out = out or sys.stderr
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        text = progress.line()
        self._write("\r" + text + " " * (self._width - len(text)))
        self._width = len(text)

    def _write(self, text: str) -> None:
        with suppress(OSError):  # A terminal that was closed does not end the run.
            self._out.write(text)
            self._out.flush()

    def clear(self) -> None:
        """Clears the line."""
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0
