"""What can go wrong with one object, and with a run.

Failures of single objects never stop a run: they become a :class:`Failure` in its summary and in its list of failed
objects. A run that has any ends in :class:`Incomplete`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .summary import Summary


class DatasetError(Exception):
    """A run that could not be carried out."""


class UsageError(DatasetError, ValueError):
    """A run that was asked for wrongly: nothing has been done."""


class Incomplete(DatasetError):
    """A run whose summary names objects that failed; everything else is done."""

    def __init__(self, summary: Summary):
        super().__init__(summary.sentence())
        self.summary = summary

    def __reduce__(self) -> tuple[type[Incomplete], tuple[Summary]]:
        return Incomplete, (self.summary,)


class ObjectError(Exception):
    """Base of what this package itself finds wrong with one object. `kind` is a word for programs."""

    kind = "failed"


class BadName(ObjectError):
    """A name that may not become a path below the target."""

    kind = "name"


class Changed(ObjectError):
    """The object changed while it was read."""

    kind = "changed"


class Exists(ObjectError):
    """The target holds an object of this name that no run wrote."""

    kind = "exists"


class Busy(ObjectError):
    """Another process is writing the same object."""

    kind = "busy"


class InTheWay(ObjectError):
    """The temporary name of an object is somebody else's."""

    kind = "denied"


class Differs(ObjectError):
    """The object is not the one that the manifest or the source says."""

    kind = "differs"


class Moved(ObjectError):
    """The container was made for an object of another name."""

    kind = "moved"


class Stopped(ObjectError):
    """The run was told to stop; the object is not done."""

    kind = "stopped"


def named(error: OSError) -> OSError:
    """Marks an error that came after the object had appeared: what is there is this run's."""
    error.named = True  # type: ignore[attr-defined]
    return error


def is_named(error: BaseException) -> bool:
    """Whether it is one."""
    return getattr(error, "named", False) is True


class Failure(NamedTuple):
    """One object that is not as it should be."""

    name: str
    """Relative to the source; for `verify` and `rewrap`, to the folder of containers."""
    kind: str
    """`denied`, `vanished`, `changed`, `exists`, `name`, `damaged`, `missing`, `extra`, `differs`, `worker` and so on."""
    message: str
    attempts: int
