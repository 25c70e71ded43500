"""Names of objects: relative, with `/` between parts, the same in every store.

Names from a listing are untrusted. A name becomes a path only after `check`.
"""

from __future__ import annotations

import hashlib
import re
import sys
from fnmatch import fnmatchcase
from secrets import token_hex
from typing import NamedTuple

from .errors import BadName

SUFFIX = ".tress"
"""Suffix of the name of a container."""

AGE = ".age"
"""Suffix of the name of an age file, which is read like a container."""

LONG = ".tress-long"
"""Suffix of a folder with the beginning of a name that is too long for SUFFIX."""
_HEAD = 150
"""Number of characters in the name of such a folder, in units of `Store.longest`."""

CONTROL = ".tress-dataset"
"""Folder of the manifests in a target. Its objects are not data."""

# Matches an empty part, `.`, `..` or NUL. One search is fast, and every name is checked several times.
_SUSPECT = re.compile(r"(?:\A|/)\.{0,2}(?:/|\Z)|\0")
_NAME_DIGEST = re.compile(r"sha256-[0-9a-f]{64}")
_PART = re.compile(r"\.[0-9a-f]{32}\.tress-part")


class Item(NamedTuple):
    """An object of a listing."""

    name: str
    size: int
    """Size in bytes."""
    token: str
    """Changes with the object: its entity tag, or its times and inode."""


class UnreadableEntry(NamedTuple):
    """An entry of a listing that cannot be read as an object, with the reason."""

    name: str
    kind: str
    why: str


def check(name: str) -> str:
    """Returns the name if it stays below every folder that it is joined to.

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
    """Returns whether the name belongs to this package: a manifest, or a temporary file of a killed run."""
    first, _, _ = name.partition("/")
    return first == CONTROL or _PART.fullmatch(name.rpartition("/")[2]) is not None


def temporary_name(name: str) -> str:
    """Returns the temporary name of an object, in the same folder. It is the same in each run, so none accumulate."""
    folder, slash, _ = name.rpartition("/")
    digest = hashlib.blake2b(encoded(name), digest_size=16).hexdigest()
    return f"{folder}{slash}.{digest}.tress-part"


def random_name(name: str) -> str:
    """Returns an unpredictable temporary name of an object. It begins with `random_prefix`."""
    return f"{random_prefix(name)}{token_hex(8)}.tress-part"


def random_prefix(name: str) -> str:
    """Returns the beginning of all random temporary names of an object."""
    return temporary_name(name)[: -len(".tress-part") - 16]


def encoded(name: str) -> bytes:
    """Encodes a name as bytes. A file name that is not valid UTF-8 is preserved."""
    return name.encode("utf-8", "surrogateescape")


def decoded(name: bytes) -> str:
    """Decodes bytes of `encoded`."""
    return name.decode("utf-8", "surrogateescape")


def container_name(name: str, longest: int | None) -> str:
    """Returns the name of an object's container, for a store whose parts of names have at most `longest` units.

    A longer last part becomes a folder with its beginning, `BEGINNING.tress-long`, and a file with its rest. Raises
    `BadName` if `plain_name` would not return the object's name.
    """
    folder, slash, last = name.rpartition("/")
    container = name + SUFFIX
    if longest is not None and units(last + SUFFIX) > longest:
        head = last[:_HEAD]
        while units(head) > _HEAD:
            head = head[:-1]
        container = f"{folder}{slash}{head}{LONG}/{last[len(head) :]}{SUFFIX}"
    if plain_name(container) != name:
        raise BadName(f"its folder ends in {LONG}, which stands for the beginning of a long name")
    return container


def units(text: str) -> int:
    """Returns the length of a file name as the system counts it: UTF-16 on Windows and macOS, else bytes."""
    return (
        len(text.encode("utf-16-le", "surrogatepass")) // 2
        if sys.platform in ("win32", "darwin")
        else len(encoded(text))
    )


def plain_name(container: str) -> str:
    """Returns the name of a container's plaintext. Raises `BadName` if the suffix is missing."""
    last = container.rpartition("/")[2]
    if last.endswith(AGE) and last != AGE:
        return container.removesuffix(AGE)
    if not last.endswith(SUFFIX) or last == SUFFIX:
        raise BadName(f"the name of a container ends in {SUFFIX} or {AGE}")
    name = container[: -len(SUFFIX)]
    outer, _, last = name.rpartition("/")
    head = outer.rpartition("/")[2].removesuffix(LONG)
    # Other folders may end in LONG, too. The longest character has four bytes.
    if outer.endswith(LONG) and len(encoded(head)) > _HEAD - 4 and len(encoded(head + last + SUFFIX)) > 255:
        return outer.removesuffix(LONG) + last
    return name


def encrypted_name(container: str, longest: int | None) -> str:
    """Returns the name of the container that `encrypt` would make of the object in this one, whatever its format."""
    try:
        return container_name(plain_name(container), longest)
    except BadName:
        return container


def name_digest(name: str) -> str:
    """Returns the name to store in a container: a digest of the relative path. It binds the container to its object."""
    return "sha256-" + hashlib.sha256(encoded(name)).hexdigest()


def is_name_digest(kept: str | None) -> bool:
    """Returns whether a container has such a name. Earlier versions stored the last part of the path, or no name."""
    return kept is not None and _NAME_DIGEST.fullmatch(kept) is not None


class Part(NamedTuple):
    """A part of all names, selected by their hash: part `number`, counted from 1, of `parts`."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """Parses a text such as `3/100`. Raises `ValueError`."""
        number, slash, count = text.partition("/")
        if not (slash and number.isascii() and number.isdigit() and count.isascii() and count.isdigit()):
            raise ValueError(f"{text!r} is not a shard, as in 3/100")
        part = cls(int(number), int(count))
        if not 1 <= part.number <= part.parts:
            raise ValueError(f"{text!r}: the first number must be from 1 to the second")
        return part

    def holds(self, name: str) -> bool:
        """Returns whether a plaintext's name is in this part. The result is the same on every machine."""
        digest = hashlib.blake2b(encoded(name), digest_size=8, person=b"tress-shard").digest()
        return int.from_bytes(digest, "big") % self.parts == self.number - 1


class Selection(NamedTuple):
    """The objects of a run, by the names of their plaintexts."""

    part: Part | None = None
    include: tuple[str, ...] = ()
    """Patterns, one of which must match the whole name; all names without patterns. `*` also matches `/`."""
    exclude: tuple[str, ...] = ()
    """Patterns that must not match."""

    def holds(self, name: str) -> bool:
        """Returns whether a name is selected."""
        return (
            (self.part is None or self.part.holds(name))
            and (not self.include or any(fnmatchcase(name, pattern) for pattern in self.include))
            and not any(fnmatchcase(name, pattern) for pattern in self.exclude)
        )
