"""MACs of a manifest, under the key of `--manifest-key`.

Each line that a run writes has an HMAC-SHA-256 of the run and the line, so no line can be changed or taken to another
run. The last line of a run that has ended, its seal, has the digest of the file, so no line can be left out. Before
it, lines name the sealed files of earlier runs with their digests, so none of these can be left out either. What a
killed run has left is not sealed: the next run over all objects copies its lines.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import DatasetError
from .keys import Secret

_PURPOSE = b"tress-dataset manifest"


class ManifestKey:
    """The key of a manifest. `repr` does not show it."""

    def __init__(self, secret: Secret):
        self._secret = secret
        # The same raw key may also open containers.
        self._key = hmac.digest(secret.raw(), _PURPOSE, "sha256")

    def __reduce__(self) -> tuple[type[ManifestKey], tuple[Secret]]:
        return ManifestKey, (self._secret,)

    def of_run(self, label: str) -> RunMac:
        """Returns the MAC of the lines of a run."""
        return RunMac(self._key, label)


class RunMac:
    """The MAC of the lines of one run, whose files have the label `VERB-RUN`."""

    def __init__(self, key: bytes, label: str):
        self._key = key
        self._start = label.encode() + b"\n"

    def of(self, line: bytes) -> bytes:
        """Returns the MAC of a line in hexadecimal."""
        return hmac.digest(self._key, self._start + line, "sha256").hex().encode()

    def matches(self, line: bytes, mac: bytes) -> bool:
        """Returns whether the line has this MAC, in a time that does not depend on where two MACs differ."""
        return hmac.compare_digest(self.of(line), mac)


@dataclass
class Seals:
    """The files of a manifest that MACs cover, as a run has found them."""

    key: ManifestKey
    files: dict[str, str] = field(default_factory=dict)
    """Sealed files, with their digests."""
    open_parts: list[str] = field(default_factory=list)
    """Files of runs that have not ended, and whose lines no sealed file has taken over."""
    _seen: dict[str, str | None] = field(default_factory=dict)
    """Files that seals name: with their digests, or None if their lines were taken over."""

    def saw(self, file: str, digest: str | None) -> None:
        """Records what a sealed file says of an earlier one."""
        self._seen[file] = digest

    def finish(self, parts: Iterable[tuple[str, str]]) -> None:
        """Checks that no sealed file is missing. `parts` are the other files, with the joined file of their run."""
        for file, digest in self._seen.items():
            if digest is not None and self.files.get(file) != digest:
                raise DatasetError(f"{file}: missing, or changed, though a later run of this manifest names it")
        self.open_parts = [file for file, joined in parts if file not in self._seen and joined not in self.files]

    def require_ended(self) -> None:
        """Raises an error if objects may be missing in the manifest without being noticed."""
        if self.open_parts:
            raise DatasetError(
                f"{self.open_parts[0]}: its run has not ended, so that lines may be missing; "
                "first run encrypt or rewrap again, over all objects"
            )
        if not self.files:
            raise DatasetError("there is no manifest with MACs: it was removed, or written without a manifest key")


class FileDigest:
    """The digest of the lines of a file, with their ends."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, lines: bytes) -> None:
        """Adds lines."""
        self._hash.update(lines)

    def value(self) -> str:
        """Returns the digest of the lines so far, in hexadecimal."""
        return self._hash.hexdigest()
