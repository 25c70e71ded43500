"""The summary of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .errors import Failure

SHOWN = 20
"""Number of failures in a summary; the list of failed objects has all."""


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
    """Containers of earlier versions that do not record the name of their object, so exchanges are not detected."""
    seconds: float = 0.0
    rate_bytes_per_s: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    """Number of failures of each kind."""
    failures: list[Failure] = field(default_factory=list)
    failed_list: str | None = None
    dry_run: bool = False

    def fail(self, failure: Failure) -> None:
        """Adds a failure."""
        self.failed += 1
        self.kinds[failure.kind] = self.kinds.get(failure.kind, 0) + 1
        if len(self.failures) < SHOWN:
            self.failures.append(failure)

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

    def as_dict(self) -> dict[str, Any]:
        """Returns the summary for JSON."""
        return asdict(self) | {"failures": [f._asdict() for f in self.failures], "ok": self.ok}


def size(count: float) -> str:
    """Formats a number of bytes, such as `1.5 MiB`."""
    unit = "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024:
            break
        count /= 1024
        unit = larger
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
