"""Groups objects into tasks by number and size.

The first groups are small, so that all workers start immediately. Later ones grow up to the limits, because a worker is
idle for a moment between two groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .manifest import PIECE, DoneLine
from .stores import Replace


class WorkItem(NamedTuple):
    """One object to process."""

    name: str
    """Name in the store that is read, for `verify` and `rewrap` that of the container."""
    size: int
    token: str
    target: str
    """Name in the store that is written."""
    replace: Replace
    """Which existing object may be replaced."""
    line: DoneLine | None = None
    """Line of the manifest about the target."""


@dataclass(frozen=True)
class Grouping:
    """Limits of a group. An object of `bytes` or more is in a separate group."""

    objects: int = 8192
    bytes: int = 256 << 20
    first: int = 32
    """Number of objects in the first groups."""

    def __post_init__(self) -> None:
        if self.objects < 1 or self.bytes < 1 or self.first < 1:
            raise ValueError("a shard must have at least one object and one byte")


class Shard(NamedTuple):
    """A group of objects that one task processes."""

    label: str
    """Labels sort by time. The label of a piece is that of the original shard with a number."""
    works: tuple[WorkItem, ...]

    @property
    def is_piece(self) -> bool:
        """Whether it was split from a shard that crashed its workers."""
        return PIECE in self.label

    def split(self) -> list[Shard]:
        """Splits the objects into up to `PIECES` shards."""
        size = -(-len(self.works) // PIECES)
        starts = range(0, len(self.works), size)
        return [
            Shard(f"{self.label}{PIECE}{number}", self.works[start : start + size])
            for number, start in enumerate(starts)
        ]


PIECES = 10


def group(works: Iterable[WorkItem], limits: Grouping, workers: int = 1) -> Iterator[Shard]:
    """Yields shards when they are full. Holds the objects of one shard in memory.

    After the first groups, a shard has at most one eighth of the mean number of objects per worker so far. So the run
    does not wait long for the worker with the last shard.
    """
    held: list[WorkItem] = []
    size = given = number = 0

    def shard(works: list[WorkItem]) -> Shard:
        nonlocal number, given
        number += 1
        given += len(works)
        return Shard(f"{number - 1:06}", tuple(works))

    def most() -> int:
        return min(limits.objects, max(limits.first, given // (8 * workers)))

    for work in works:
        if work.size >= limits.bytes:
            yield shard([work])
            continue
        if held and size + work.size > limits.bytes:
            yield shard(held)
            held, size = [], 0
        held.append(work)
        size += work.size
        if len(held) >= most():
            yield shard(held)
            held, size = [], 0
    if held:
        yield shard(held)
