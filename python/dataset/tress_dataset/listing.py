"""The work of a run: compares listings with the manifest, one object at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from .errors import BadName, Failure
from .index import Index
from .manifest import Identity
from .names import Item, Part, UnreadableEntry, check, container_name, plain_name
from .shards import WorkItem
from .stores import Replace, Store

ReportFailure = Callable[[Failure], None]


def wanted(part: Part | None, verb: str) -> Callable[[str], bool]:
    """Returns a predicate: whether a name of the target belongs to this run's part of all names."""
    if part is None:
        return lambda name: True
    containers = verb != "decrypt"

    def holds(name: str) -> bool:
        try:
            return part.holds(plain_name(name) if containers else name)
        except BadName:
            return part.holds(name)

    return holds


def transfers(
    verb: str,
    source: Store,
    longest: int | None,
    index: Index,
    part: Part | None,
    force: bool,
    skip: Callable[[], None],
    report: ReportFailure,
) -> Iterator[WorkItem]:
    """Yields the work of `encrypt` and `decrypt`: objects that the target lacks, or has from another version."""
    for item in _objects(source, report, part):
        name = item.name
        try:
            if verb == "encrypt":
                plain, target = name, container_name(name, longest)
            else:
                target = plain = plain_name(name)
        except BadName as error:
            report(Failure(name, error.kind, str(error), 0))
            continue
        if part is not None and not part.holds(plain):
            continue
        line = index.line(target)
        if line is not None and not force and line.verb in (verb, "rewrap"):
            same = line.source == Identity(item.size, item.token)
            if same and index.present(target) == line.target:
                skip()
                continue
        mine = line is not None or index.begun(target)
        replace = Replace.ALWAYS if force or line is not None else Replace.OURS if mine else Replace.NEVER
        yield WorkItem(name, item.size, item.token, target, replace)


def containers(index: Index, target: Store, part: Part | None, report: ReportFailure) -> Iterator[WorkItem]:
    """Yields the work of `rewrap` and `verify`: all containers of a target, with their lines of the manifest."""
    for item in _objects(target, report, part):
        try:
            name = plain_name(item.name)
        except BadName as error:
            report(Failure(item.name, error.kind, str(error), 0))
            continue
        if part is not None and not part.holds(name):
            continue
        yield WorkItem(item.name, item.size, item.token, item.name, Replace.ALWAYS, index.line(item.name))


def rewraps(works: Iterator[WorkItem], recipients: str | None, skip: Callable[[], None]) -> Iterator[WorkItem]:
    """Yields the containers that lack these recipients. Skips those with a matching line that names the recipients."""
    for work in works:
        line = work.line
        known = line is not None and line.target == Identity(work.size, work.token)
        if known and recipients is not None and line is not None and line.recipients == recipients:
            skip()
        else:
            yield work


def expected(source: Store, part: Part | None, longest: int | None) -> Iterator[Item]:
    """Yields the objects that `encrypt` makes from a source."""
    for item in source.listing():
        if isinstance(item, Item) and (part is None or part.holds(item.name)):
            with suppress(BadName):
                yield item._replace(name=container_name(item.name, longest))


def _objects(store: Store, report: ReportFailure, part: Part | None) -> Iterator[Item]:
    """Yields the valid objects of a listing. Reports other entries if they belong to this part."""
    for entry in store.listing():
        if isinstance(entry, UnreadableEntry):
            if part is None or part.holds(entry.name):
                report(Failure(entry.name, entry.kind, entry.why, 0))
            continue
        try:
            check(entry.name)
        except BadName as error:
            if part is None or part.holds(entry.name):
                report(Failure(entry.name, error.kind, str(error), 0))
            continue
        yield entry
