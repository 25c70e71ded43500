"""Files and folders, by the same code as the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import _tress
from ._types import Identities, Path, Recipients

__all__ = ["Report", "decrypt_file", "encrypt_file", "rewrap_file"]

Progress = Callable[[int, int | None], object]
"""Is called with the bytes done and, where it is known, their number in all: at the start, then after a millisecond and
more and more rarely, about twenty times a second at last, and when all is done."""


class Report(NamedTuple):
    """What was done."""

    bytes_in: int
    """Bytes read."""
    bytes_out: int
    """Bytes written."""
    chunks: int
    """Chunks sealed or verified."""
    elapsed_s: float
    """Seconds from start to end."""


def encrypt_file(
    source: Path,
    target: Path,
    recipients: Recipients,
    *,
    aead: str = "aes-128-ccm",
    threads: int = 0,
    name: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Encrypts a file or folder into the container `target`, which appears only when it is complete.

    The container keeps `name`, or the source's own. `force` replaces an existing target. Ctrl-C, and an exception of
    `progress`, end it and leave nothing behind.
    """
    return Report(
        *_tress.encrypt_file(
            source, target, recipients, aead=aead, threads=threads, name=name, force=force, progress=progress
        )
    )


def decrypt_file(
    source: Path,
    target: Path,
    identities: Identities,
    *,
    range: tuple[int, int | None] | None = None,
    threads: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Decrypts a container into `target`, a file or, where it holds a folder, a folder, which appears only when all is
    verified.

    `range` is a half-open range of bytes; an end of `None` is that of the plaintext.
    """
    return Report(
        *_tress.decrypt_file(source, target, identities, range=range, threads=threads, force=force, progress=progress)
    )


def rewrap_file(path: Path, identities: Identities, recipients: Recipients) -> Report:
    """Makes the container one for `recipients` instead, and leaves its payload alone.

    Who could open it before may have kept its key: this is no revocation.
    """
    return Report(*_tress.rewrap_file(path, identities, recipients))


def _public_key(pem: str) -> _tress.PublicKey:
    """What `pickle` makes a public key of."""
    return _tress.PublicKey.from_pem(pem)
