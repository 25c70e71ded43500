"""Objects grouped into tasks: by count and by bytes, never a task for each object.

The first groups are small, so that all workers have something to do at once; later ones grow up to the limits, since a
worker is idle for a moment between two of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .manifest import PIECE, Line
from .stores import Replace


class Work(NamedTuple):
    """One object that has to be done."""

    name: str
    """In the store that is read."""
    size: int
    token: str
    target: str
    """In the store that is written; the same as `name` where there is but one."""
    replace: Replace
    """Which object there may be replaced."""
    line: Line | None = None
    """What the manifest says of the target."""


@dataclass(frozen=True)
class Grouping:
    """Limits of a group. An object of more than `bytes` is alone."""

    objects: int = 8192
    bytes: int = 256 << 20
    first: int = 32
    """Objects of the first groups."""

    def __post_init__(self) -> None:
        if self.objects < 1 or self.bytes < 1 or self.first < 1:
            raise ValueError("a shard must have at least one object and one byte")


class Shard(NamedTuple):
    """One task."""

    label: str
    """Sorts by time. That of a piece is its whole's, and a number."""
    works: tuple[Work, ...]

    @property
    def is_piece(self) -> bool:
        """Whether it was split from one that killed its workers."""
        return PIECE in self.label

    def split(self) -> list[Shard]:
        """The same objects in some ten shards."""
        size = -(-len(self.works) // PIECES)
        starts = range(0, len(self.works), size)
        return [
            Shard(f"{self.label}{PIECE}{number}", self.works[start : start + size])
            for number, start in enumerate(starts)
        ]


PIECES = 10


def group(works: Iterable[Work], limits: Grouping, workers: int = 1) -> Iterator[Shard]:
    """Shards as they fill up; holds no more than one.

    None has more objects than an eighth of what each worker has had on average: a worker that has the last shard is not
    waited for long.
    """
    held: list[Work] = []
    size = given = number = 0

    def shard(works: list[Work]) -> Shard:
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
