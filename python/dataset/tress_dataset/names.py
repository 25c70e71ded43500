"""Names of objects: relative, with `/` between parts, the same in every store.

A listing is input from outside. A name becomes a path only after `check`.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from .errors import BadName

SUFFIX = ".tress"
"""What a container's name has more than that of its plaintext."""

CONTROL = ".tress-dataset"
"""The folder of manifests at a target. Its objects are nobody's data."""

# An empty part, `.` or `..`, or NUL. Most names have none, and this is asked several times for each.
_SUSPECT = re.compile(r"(?:\A|/)\.{0,2}(?:/|\Z)|\0")
_BOUND = re.compile(r"sha256-[0-9a-f]{64}")
_PART = re.compile(r"\.[0-9a-f]{32}\.tress-part")


class Item(NamedTuple):
    """One object as its store describes it."""

    name: str
    size: int
    """Bytes."""
    token: str
    """Differs when the object does: its entity tag, or its times and inode."""


class Odd(NamedTuple):
    """Something a listing met that cannot be read as an object."""

    name: str
    kind: str
    why: str


def check(name: str) -> str:
    """The name, if it stays below any folder that it is joined to.

    Raises `BadName` for absolute names, empty parts, `.`, `..` and NUL.
    """
    if not _SUSPECT.search(name):
        return name
    if not name:
        raise BadName("the name is empty")
    if "\0" in name:
        raise BadName("the name has a NUL character")
    for part in name.split("/"):
        if part == "":
            raise BadName("the name is absolute, or a part of it is empty")
        if part in (".", ".."):
            raise BadName(f"the name has the part {part!r}")
    return name


def ignored(name: str) -> bool:
    """Whether the name is of our own making: manifests, and what a killed run left of an object."""
    first, _, _ = name.partition("/")
    return first == CONTROL or _PART.fullmatch(name.rpartition("/")[2]) is not None


def part_name(name: str) -> str:
    """The temporary name of an object: in the same folder, the same for each run, so that none pile up."""
    folder, slash, _ = name.rpartition("/")
    digest = hashlib.blake2b(encoded(name), digest_size=16).hexdigest()
    return f"{folder}{slash}.{digest}.tress-part"


def encoded(name: str) -> bytes:
    """The name as bytes; file names that are no UTF-8 survive."""
    return name.encode("utf-8", "surrogateescape")


def decoded(name: bytes) -> str:
    """The inverse of `encoded`."""
    return name.decode("utf-8", "surrogateescape")


def plain_name(container: str) -> str:
    """The name of a container's plaintext. Raises `BadName` where the suffix is missing."""
    if not container.endswith(SUFFIX) or container.rpartition("/")[2] == SUFFIX:
        raise BadName(f"the name of a container ends in {SUFFIX}")
    return container[: -len(SUFFIX)]


def bound(name: str) -> str:
    """What a container keeps as its name, so that it cannot stand for another object: a digest of the relative path."""
    return "sha256-" + hashlib.sha256(encoded(name)).hexdigest()


def is_bound(kept: str | None) -> bool:
    """Whether a container keeps such a name; those of earlier versions have the last part of the path, or none."""
    return kept is not None and _BOUND.fullmatch(kept) is not None


class Part(NamedTuple):
    """A part of all names, chosen by their hash: `number` of `parts`, from 1."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """`3/100`. Raises `ValueError`."""
        number, slash, count = text.partition("/")
        if not (slash and number.isascii() and number.isdigit() and count.isascii() and count.isdigit()):
            raise ValueError(f"{text!r} is not a shard, as in 3/100")
        part = cls(int(number), int(count))
        if not 1 <= part.number <= part.parts:
            raise ValueError(f"{text!r}: the first number must be from 1 to the second")
        return part

    def holds(self, name: str) -> bool:
        """Whether the plaintext's name is in this part. The same on every machine."""
        digest = hashlib.blake2b(encoded(name), digest_size=8, person=b"tress-shard").digest()
        return int.from_bytes(digest, "big") % self.parts == self.number - 1
