"""Objects grouped into tasks: by count and by bytes, never a task for each object.

The first groups are small, so that all workers have something to do at once; later ones grow up to the limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .manifest import Line
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

    objects: int = 512
    bytes: int = 256 << 20
    first: int = 32
    """Objects of the first groups; each group may have a half more than the one before."""

    def __post_init__(self) -> None:
        if self.objects < 1 or self.bytes < 1 or self.first < 1:
            raise ValueError("a group has at least one object and one byte")


class Shard(NamedTuple):
    """One task."""

    number: int
    works: tuple[Work, ...]


def group(works: Iterable[Work], limits: Grouping, first_number: int = 0) -> Iterator[Shard]:
    """Shards as they fill up; holds no more than one."""
    held: list[Work] = []
    size = 0
    number = first_number
    most = float(min(limits.first, limits.objects))

    def shard() -> Shard:
        nonlocal held, size, number, most
        full = Shard(number, tuple(held))
        held, size = [], 0
        number += 1
        most = min(limits.objects, most * 1.5)
        return full

    for work in works:
        if work.size >= limits.bytes:
            yield Shard(number, (work,))
            number += 1
            continue
        if held and size + work.size > limits.bytes:
            yield shard()
        held.append(work)
        size += work.size
        if len(held) >= int(most):
            yield shard()
    if held:
        yield shard()
