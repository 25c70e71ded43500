"""Errors of single objects and of runs.

The failure of an object never stops a run: it becomes a :class:`Failure` in the summary and in the list of failed
objects. A run with failures raises :class:`Incomplete` at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .summary import Summary


class DatasetError(Exception):
    """The run failed as a whole."""


class UsageError(DatasetError, ValueError):
    """The arguments are wrong; nothing was done."""


class Incomplete(DatasetError):
    """Some objects failed, as `summary` shows. All other objects are done."""

    def __init__(self, summary: Summary):
        super().__init__(summary.sentence())
        self.summary = summary

    def __reduce__(self) -> tuple[type[Incomplete], tuple[Summary]]:
        return Incomplete, (self.summary,)


class ObjectError(Exception):
    """Base class of errors of one object. `kind` is a fixed word for programs."""

    kind = "failed"


class BadName(ObjectError):
    """The name must not become a path below the target."""

    kind = "name"


class Changed(ObjectError):
    """The object changed while it was read."""

    kind = "changed"


class WrongSize(Changed):
    """The number of bytes differs from the size that the store reports. A second attempt shows whether it is a lie."""


class Exists(ObjectError):
    """The target has an object with this name that no run wrote, or a folder."""

    kind = "exists"

    def __init__(self, text: str = "exists already, and no earlier run wrote it; --force (force=True) replaces it"):
        super().__init__(text)


class Twins(ObjectError):
    """A second container has the same plaintext's name: NAME.tress and NAME.age."""

    kind = "exists"

    def __init__(self) -> None:
        super().__init__("NAME.tress and NAME.age are both decrypted to NAME")


class Busy(ObjectError):
    """Another process is writing the same object."""

    kind = "busy"


class TemporaryNameTaken(ObjectError):
    """Another user's file, or something else than a file, has the temporary name of the object."""

    kind = "denied"


class Differs(ObjectError):
    """The object differs from the manifest or from the source."""

    kind = "differs"


class Moved(ObjectError):
    """The container was made for an object with another name."""

    kind = "moved"


class Stopped(ObjectError):
    """The run was stopped before the object was done."""

    kind = "stopped"


def mark_appeared(error: Exception) -> Exception:
    """Marks an error that occurred after the object had appeared: the existing object belongs to this run."""
    error.appeared = True  # type: ignore[attr-defined]
    return error


def has_appeared(error: BaseException) -> bool:
    """Returns whether an error is marked."""
    return getattr(error, "appeared", False) is True


class Failure(NamedTuple):
    """The failure of one object."""

    name: str
    """Name relative to the source; for `verify` and `rewrap`, relative to the target."""
    kind: str
    """Fixed word, such as `denied`, `vanished`, `changed`, `exists`, `damaged`, `missing`, `extra` or `differs`."""
    message: str
    attempts: int
