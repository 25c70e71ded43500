"""The exceptions of the package. The native module raises them, too."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def install(place: str) -> str:
    """Returns a hint how to install a distribution from a folder of a clone. No index has them yet."""
    return f"in a clone of Tress run pip install '{place}'"


class TressError(Exception):
    """Base class of the errors of Tress. `kind` is a fixed name, such as `chunk-damaged`, for programs to test.

    The message is for people and may change. Errors of the operating system raise `OSError`.
    """

    kind: str

    def __init__(self, message: str = "", kind: str = "other") -> None:
        super().__init__(message)
        self.kind = kind


class WrongKey(TressError):
    """No identity opens the container, or the passphrase is wrong."""


class Damaged(TressError):
    """The input is damaged, truncated, forged, not in a known format, or not in the expected one."""


class InvalidTag(Damaged):
    """A message is forged or damaged, or its key, nonce or associated data is wrong.

    The classes for Cobblestone files raise it for all damage, as PyCA's do.

    For a batch, `indices` lists the indices of all such messages. If PyCA's `cryptography` is imported when the error
    is raised, the error is also a `cryptography.exceptions.InvalidTag`.
    """

    indices: list[int]

    def __init__(
        self, message: str = "authentication failed", kind: str = "cipher-authentication", indices: Iterable[int] = ()
    ) -> None:
        super().__init__(message, kind)
        self.indices = list(indices)
        # Programs that used PyCA before catch its exception.
        pyca_invalid_tag = getattr(sys.modules.get("cryptography.exceptions"), "InvalidTag", None)
        if pyca_invalid_tag is not None and not isinstance(self, pyca_invalid_tag):
            InvalidTag.__bases__ = (Damaged, pyca_invalid_tag)


class InvalidSignature(TressError):
    """The signature is not valid for this message under this key."""


class Usage(TressError, ValueError):
    """A key, a name or a parameter is invalid."""


class NeedMore(TressError, ValueError):
    """More bytes of the beginning of the container are needed."""


class OutputExists(TressError, FileExistsError):
    """The output exists, and `force` is false."""

    # OSError would take all arguments itself.
    def __init__(self, message: str = "output exists already", kind: str = "output-exists") -> None:
        super().__init__(message, kind)
