"""The summary of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from .errors import Failure

SHOWN = 20
"""Number of failures in a summary; the list of failed objects has all."""
SLOWEST = 10
"""Number of the slowest objects in a summary."""


class SlowObject(NamedTuple):
    """An object that took long."""

    seconds: float
    """Time from the first attempt to the end, in seconds."""
    name: str
    bytes: int
    """Length of the plaintext in bytes; 0 if `rewrap` does not know it."""


@dataclass
class Summary:
    """Counts of one run. `failures` has the first failures; `failed_list` is the path of the complete list."""

    verb: str
    run: str
    objects: int = 0
    """Objects that this run processed."""
    bytes: int = 0
    """Plaintext bytes of these objects."""
    skipped: int = 0
    """Objects that an earlier run processed and that have not changed."""
    retried: int = 0
    """Attempts after the first one of each object."""
    failed: int = 0
    bad_lines: int = 0
    """Damaged lines of manifests; their objects were processed again."""
    unbound: int = 0
    """Containers that do not record the name of their object, so exchanges are not detected."""
    seconds: float = 0.0
    rate_bytes_per_s: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    """Number of failures of each kind."""
    failures: list[Failure] = field(default_factory=list)
    slowest: list[SlowObject] = field(default_factory=list)
    """The slowest objects that did not fail, up to ten, the slowest first."""
    failed_list: str | None = None
    dry_run: bool = False

    def fail(self, failure: Failure) -> None:
        """Adds a failure."""
        self.failed += 1
        self.kinds[failure.kind] = self.kinds.get(failure.kind, 0) + 1
        if len(self.failures) < SHOWN:
            self.failures.append(failure)

    def add_slow(self, objects: list[SlowObject]) -> None:
        """Adds the slowest objects of a shard."""
        self.slowest = sorted(self.slowest + objects, reverse=True)[:SLOWEST]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return self.failed == 0

    def sentence(self) -> str:
        """Returns the summary as one line of text."""
        count = f"{self.objects} object{'' if self.objects == 1 else 's'}"
        text = f"{count}, {size(self.bytes)}, {self.skipped} skipped, {self.retried} retried, {self.failed} failed"
        if self.dry_run:
            return f"{self.verb}: dry run, would process {text}"
        return f"{self.verb}: {text}, {self.seconds:.1f} s, {size(self.rate_bytes_per_s)}/s"

    def table(self) -> list[str]:
        """Returns the lines of a table of the slowest objects that took a tenth of a second or more."""
        slow = [one for one in self.slowest if one.seconds >= 0.1]
        rows = [f"{one.seconds:9.1f} s {size(one.bytes):>10}  {printable(one.name)}" for one in slow]
        return [f"{self.verb}: the slowest objects:", *rows] if rows else []

    def as_dict(self) -> dict[str, Any]:
        """Returns the summary for JSON."""
        lists = {name: [one._asdict() for one in getattr(self, name)] for name in ("failures", "slowest")}
        return asdict(self) | lists | {"ok": self.ok}


def printable(name: str) -> str:
    """Returns a name in one line of printable characters."""
    return name if name.isprintable() else ascii(name)[1:-1]


def size(count: float) -> str:
    """Formats a number of bytes, such as `1.5 MiB`."""
    unit = "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024:
            break
        count /= 1024
        unit = larger
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
