"""What is raised. The native module takes its exceptions from here."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def install(name: str, place: str) -> str:
    """How to install a distribution, from an index or from a folder of a clone."""
    return f"run pip install '{name}', or in a clone of the Tress repository pip install '{place}'"


class TressError(Exception):
    """What went wrong in Tress. `kind` is a fixed name for it, such as `chunk-damaged`; the text is for people.

    Where the system refused a call, `OSError` is raised as elsewhere in Python.
    """

    kind: str

    def __init__(self, message: str = "", kind: str = "other") -> None:
        super().__init__(message)
        self.kind = kind


class WrongKey(TressError):
    """No identity opens the container, or the passphrase is wrong."""


class Damaged(TressError):
    """The container is damaged, truncated, forged, or none at all."""


class InvalidTag(Damaged):
    """A message is not what was encrypted under this key and nonce. `indices` has the places of those in a batch.

    Where PyCA's `cryptography` is loaded when it is raised, it is `cryptography.exceptions.InvalidTag` as well.
    """

    indices: list[int]

    def __init__(
        self, message: str = "authentication failed", kind: str = "cipher-authentication", indices: Iterable[int] = ()
    ) -> None:
        super().__init__(message, kind)
        self.indices = list(indices)
        # Programs that come from there catch theirs.
        theirs = getattr(sys.modules.get("cryptography.exceptions"), "InvalidTag", None)
        if theirs is not None and not isinstance(self, theirs):
            InvalidTag.__bases__ = (Damaged, theirs)


class InvalidSignature(TressError):
    """The signature is not one of this message under this key."""


class Usage(TressError, ValueError):
    """Keys, names or parameters that are of no use in themselves."""


class NeedMore(TressError, ValueError):
    """The first bytes of a container that were given are not all that are needed."""


class OutputExists(TressError, FileExistsError):
    """The output exists already, and `force` was not given."""

    # OSError takes all arguments for its own.
    def __init__(self, message: str = "output exists already", kind: str = "output-exists") -> None:
        super().__init__(message, kind)
