"""The work of a run: compares listings with the manifest, one object at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from .errors import BadName, Failure, Twins
from .index import Index
from .manifest import Identity
from .names import Item, Selection, UnreadableEntry, check, container_name, plain_name
from .shards import WorkItem
from .stores import Replace, Store

ReportFailure = Callable[[Failure], None]

NOT_IN_MANIFEST = "the manifest does not have it"


def wanted(selection: Selection, verb: str) -> Callable[[str], bool]:
    """Returns a predicate: whether a name of the target is selected."""
    if selection == Selection():
        return lambda name: True
    containers = verb != "decrypt"

    def holds(name: str) -> bool:
        try:
            return selection.holds(plain_name(name) if containers else name)
        except BadName:
            return selection.holds(name)

    return holds


def _without_ctime(token: str) -> str:
    """A local file's token without the time of its last change; that of another store as it is."""
    return re.sub(r"^(-?\d+)-\d+-(\d+)$", r"\1-\2", token)


def transfers(
    verb: str,
    source: Store,
    longest: int | None,
    index: Index,
    selection: Selection,
    force: bool,
    ignore_ctime: bool,
    skip: Callable[[], None],
    report: ReportFailure,
    record: Index | None = None,
) -> Iterator[WorkItem]:
    """Yields the work of `encrypt` and `decrypt`: objects that the target lacks, or has from another version.

    With the `record` of a source, its manifest, `decrypt` takes only the containers there.
    """
    for item in _objects(source, report, selection):
        name = item.name
        try:
            if verb == "encrypt":
                plain, target = name, container_name(name, longest)
            else:
                target = plain = plain_name(name)
        except BadName as error:
            if selection.holds(name):
                report(Failure(name, error.kind, str(error), 0))
            continue
        if not selection.holds(plain):
            continue
        sealed = None if record is None else record.line(name)
        if record is not None and sealed is None:
            report(Failure(name, "extra", NOT_IN_MANIFEST, 0))
            continue
        line = index.line(target)
        if line is not None and not force and line.verb in (verb, "rewrap"):
            same = line.source == Identity(item.size, item.token)
            if ignore_ctime and line.source is not None and line.source.size == item.size:
                same = same or _without_ctime(line.source.token) == _without_ctime(item.token)
            # A store without tokens does not show whether an object is the same.
            same = same and bool(item.token and line.target.token)
            same = same and (sealed is None or sealed.payload_id == line.payload_id)
            if same and index.present(target) == line.target:
                if verb == "decrypt":
                    index.take(target)
                skip()
                continue
        if verb == "decrypt" and not index.take(target):
            report(Failure(name, Twins.kind, str(Twins()), 0))
            continue
        mine = line is not None or index.begun(target)
        replace = Replace.ALWAYS if force or line is not None else Replace.OURS if mine else Replace.NEVER
        yield WorkItem(name, item.size, item.token, target, replace, sealed)
    if record is not None:
        report_missing(record, "source", report)


def report_missing(index: Index, store: str, report: ReportFailure) -> None:
    """Reports the objects that are expected and not present in a store."""
    for name in index.missing():
        report(Failure(name, "missing", f"not in the {store}", 0))


def containers(index: Index, target: Store, selection: Selection, report: ReportFailure) -> Iterator[WorkItem]:
    """Yields the work of `rewrap` and `verify`: all containers of a target, with their lines of the manifest."""
    for item in _objects(target, report, selection):
        try:
            name = plain_name(item.name)
        except BadName as error:
            if selection.holds(item.name):
                report(Failure(item.name, error.kind, str(error), 0))
            continue
        if not selection.holds(name):
            continue
        yield WorkItem(item.name, item.size, item.token, item.name, Replace.ALWAYS, index.line(item.name))


def rewraps(works: Iterator[WorkItem], recipients: str | None, skip: Callable[[], None]) -> Iterator[WorkItem]:
    """Yields the containers that lack these recipients. Skips those with a matching line that names the recipients."""
    for work in works:
        line = work.line
        known = line is not None and bool(work.token) and line.target == Identity(work.size, work.token)
        if known and recipients is not None and line is not None and line.recipients == recipients:
            skip()
        else:
            yield work


def expected(source: Store, selection: Selection, longest: int | None) -> Iterator[Item]:
    """Yields the objects that `encrypt` makes from a source."""
    for item in source.listing():
        if isinstance(item, Item) and selection.holds(item.name):
            with suppress(BadName):
                yield item._replace(name=container_name(item.name, longest))


def _objects(store: Store, report: ReportFailure, selection: Selection) -> Iterator[Item]:
    """Yields the valid objects of a listing. Reports other entries if they are selected."""
    for entry in store.listing():
        if isinstance(entry, UnreadableEntry):
            if selection.holds(entry.name):
                report(Failure(entry.name, entry.kind, entry.why, 0))
            continue
        try:
            check(entry.name)
        except BadName as error:
            if selection.holds(entry.name):
                report(Failure(entry.name, error.kind, str(error), 0))
            continue
        yield entry
