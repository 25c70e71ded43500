"""Progress of a run, for a terminal or a caller's function."""

from __future__ import annotations

import math
import os
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

    def line(self, columns: int = 79) -> str:
        """Returns the progress as a line of at most this many columns, in the form of the command `tress`."""
        done = self.objects + self.skipped
        fields = [f"{done} objects", size(self.bytes), f"{size(self.rate_bytes_per_s)}/s"]
        if self.failed:
            fields.append(f"{self.failed} failed")
        if self.left_s is not None:
            fields.append(f"{_duration(self.left_s)} left")
        if self.all_objects:
            share = min(1.0, (done + self.failed) / self.all_objects)
            fields[0] = f"{done} of {self.all_objects} objects"
            fields.insert(0, f"{int(100 * share):3} %")
            inside = min(_BAR, columns - len(_GAP.join(["", *fields]))) - 2
            if inside >= _LEAST_BAR:
                full = int(share * inside)
                fields.insert(0, f"[{('=' * full + '>')[:inside]:{inside}}]")
        line = fields[0][:columns]
        for field in fields[1:]:
            if len(line) + len(_GAP) + len(field) > columns:
                break
            line += _GAP + field
        return line


_GAP = "  "
_BAR, _LEAST_BAR = 52, 10


def _duration(seconds: float) -> str:
    minutes, second = divmod(math.ceil(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return f"{days} d {hour} h"
    if hours:
        return f"{hours} h {minute} min"
    return f"{minute} min {second} s" if minutes else f"{second} s"


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
        """Shows progress."""
        text = progress.line(self._columns())
        self._write("\r" + text + " " * (self._width - len(text)))
        self._width = len(text)

    def _columns(self) -> int:
        """Columns of the terminal without the last one, after which a line may wrap."""
        try:
            columns = os.get_terminal_size(self._out.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return columns - 1 if columns > 0 else 79

    def _write(self, text: str) -> None:
        with suppress(OSError):  # A terminal that was closed does not end the run.
            self._out.write(text)
            self._out.flush()

    def clear(self) -> None:
        """Clears the line."""
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0
