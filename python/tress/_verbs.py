"""Encryption of files and folders, with the same code as the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import _tress
from ._types import Identities, Path, Recipients

__all__ = ["Report", "decrypt_file", "encrypt_file", "rewrap_file"]

Progress = Callable[[int, int | None], object]
"""A function that is called with the number of bytes processed so far, and the total number or `None` if it is
unknown. It is called at the start, after a millisecond, then less and less often down to twenty times a second, and at
the end."""


class Report(NamedTuple):
    """Statistics of a call."""

    bytes_in: int
    """Bytes read."""
    bytes_out: int
    """Bytes written."""
    chunks: int
    """Chunks encrypted or verified."""
    elapsed_s: float
    """Duration in seconds."""


def encrypt_file(
    source: Path,
    target: Path,
    recipients: Recipients,
    *,
    aead: str | None = None,
    threads: int = 0,
    name: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
    format: str = "tress",
    armor: bool = False,
) -> Report:
    """Encrypts a file or folder into the container `target`, which appears only when it is complete.

    The container stores `name`, or the name of the source. `force` replaces an existing target. Ctrl-C and an exception
    of `progress` cancel the encryption, and its output is removed; after the last call of `progress` it stays.

    `format="age"` writes an age file, with `armor` as text, and a `CobblestoneKey` a Cobblestone file. These hold no
    folder and no name, and have no choice of AEAD: `name` and `aead` raise `Usage`.
    """
    options: dict[str, Any] = {"aead": aead, "threads": threads, "name": name, "force": force, "progress": progress}
    return Report(*_tress.encrypt_file(source, target, recipients, **options, format=format, armor=armor))


def decrypt_file(
    source: Path,
    target: Path,
    identities: Identities,
    *,
    range: tuple[int, int | None] | None = None,
    threads: int = 0,
    force: bool = False,
    progress: Progress | None = None,
    format: str | None = None,
) -> Report:
    """Decrypts a container into the file or folder `target`, which appears only when everything is verified.

    `range` is a half-open range of plaintext bytes, `(start, end)`; an `end` of `None` is the end of the plaintext. A
    file that is not in `format` raises `Damaged`; without it, the format is recognised.
    """
    options: dict[str, Any] = {"range": range, "threads": threads, "force": force, "progress": progress}
    return Report(*_tress.decrypt_file(source, target, identities, **options, format=format))


def rewrap_file(path: Path, identities: Identities, recipients: Recipients) -> Report:
    """Replaces the recipients of a container, without touching its payload.

    This does not revoke access: a former recipient may have kept the payload key.
    """
    return Report(*_tress.rewrap_file(path, identities, recipients))


def _public_key(pem: str) -> _tress.PublicKey:
    """Restores a public key for `pickle`."""
    return _tress.PublicKey.from_pem(pem)
