"""How far a run is, on a terminal or for a caller."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from .summary import Summary, size


@dataclass(frozen=True)
class Progress:
    """A moment of a run."""

    objects: int
    bytes: int
    skipped: int
    failed: int
    seconds: float
    all_objects: int | None
    """How many there are to be done, skipped ones included, once that has been counted."""
    all_bytes: int | None
    """Of all these, in the store that is read."""

    @property
    def rate_bytes_per_s(self) -> float:
        """Since the start."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds, by the objects and at the pace so far; None while nobody knows."""
        done = self.objects + self.failed
        if self.all_objects is None or done == 0 or self.seconds <= 0:
            return None
        left = max(0, self.all_objects - done - self.skipped)
        by_objects = left * self.seconds / done
        if self.all_bytes and self.bytes and not self.skipped:
            return max(0.0, self.all_bytes - self.bytes) * self.seconds / self.bytes
        return by_objects

    def line(self) -> str:
        """For people."""
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
    """Counts what a listing has, beside the run, so that the time left can be told."""

    def __init__(self, count: Callable[[threading.Event], tuple[int, int]]):
        self.total: tuple[int, int] | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(count,), daemon=True)
        self._thread.start()

    def _work(self, count: Callable[[threading.Event], tuple[int, int]]) -> None:
        try:
            self.total = count(self._end)
        except Exception:  # the run's own listing tells what is wrong
            self.total = None

    def close(self) -> None:
        """Ends it."""
        self._end.set()
        self._thread.join(timeout=10)


class Reporter:
    """Tells somebody, no more than a few times a second."""

    def __init__(self, tell: Callable[[Progress], None] | None, summary: Summary, counter: Counter | None):
        self._tell = tell
        self._summary = summary
        self._counter = counter
        self._started = time.monotonic()
        self._last = 0.0

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._started

    def tick(self, last: bool = False) -> None:
        """Perhaps tells."""
        now = time.monotonic()
        if self._tell is None or (not last and now - self._last < 0.2):
            return
        self._last = now
        total = self._counter.total if self._counter is not None else None
        summary = self._summary
        self._tell(
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
    """One line that is written over."""

    def __init__(self, out: TextIO | None = None):
        self._out = out or sys.stderr
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        text = progress.line()
        self._out.write("\r" + text + " " * (self._width - len(text)))
        self._out.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Leaves the line empty."""
        if self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()
            self._width = 0
