"""What a run did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .errors import Failure

SHOWN = 20
"""Failures kept in memory; the list of failed objects has all."""


@dataclass
class Summary:
    """Counts of one run. `failures` holds the first of them, `failed_list` says where all are."""

    verb: str
    run: str
    objects: int = 0
    """Done in this run."""
    bytes: int = 0
    """Of plaintext, in these."""
    skipped: int = 0
    """Done by an earlier run, and still in place."""
    retried: int = 0
    """Attempts beyond the first ones."""
    failed: int = 0
    bad_lines: int = 0
    """Lines of manifests that were damaged; their objects were done again."""
    unbound: int = 0
    """Containers of earlier versions, which do not say which object they are for: exchanged ones go unnoticed."""
    seconds: float = 0.0
    rate_bytes_per_s: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    """How many failures of each kind."""
    failures: list[Failure] = field(default_factory=list)
    failed_list: str | None = None
    dry_run: bool = False

    def fail(self, failure: Failure) -> None:
        """Counts one more."""
        self.failed += 1
        self.kinds[failure.kind] = self.kinds.get(failure.kind, 0) + 1
        if len(self.failures) < SHOWN:
            self.failures.append(failure)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return self.failed == 0

    def sentence(self) -> str:
        """One line for people."""
        count = f"{self.objects} object{'' if self.objects == 1 else 's'}"
        text = f"{count}, {size(self.bytes)}, {self.skipped} skipped, {self.retried} retried, {self.failed} failed"
        if self.dry_run:
            return f"{self.verb}: dry run, would process {text}"
        return f"{self.verb}: {text}, {self.seconds:.1f} s, {size(self.rate_bytes_per_s)}/s"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"failures": [f._asdict() for f in self.failures], "ok": self.ok}


def size(count: float) -> str:
    """Bytes for people: `1.5 MiB`."""
    unit = "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024:
            break
        count /= 1024
        unit = larger
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
