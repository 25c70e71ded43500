"""The driver: shards to workers, never more at once than a window, and what comes back into a summary."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from secrets import token_hex

from . import manifest
from .errors import DatasetError, Failure
from .index import Index
from .listing import containers, expected, rewraps, transfers, wanted
from .names import CONTROL, Item, Part
from .pool import Pool
from .progress import Counter, Progress, Reporter
from .shards import Grouping, Shard, Work, group
from .stores import Replace, Store
from .summary import Summary
from .worker import Plan, Result, describe, forget, run_own_shard, run_shard

DEATHS = 2
"""So many workers may die over one shard; then it is split, or its only object is listed as failed."""
SPLITS = 32
"""So many shards are split in a run. Where more die, it is not for single objects."""


@dataclass
class Settings:
    """What a run needs beyond its plan."""

    part: Part | None = None
    force: bool = False
    dry_run: bool = False
    grouping: Grouping = field(default_factory=Grouping)
    progress: Callable[[Progress], None] | None = None
    warn: Callable[[str], None] | None = None
    failed_path: str | None = None
    """Where the list of failed objects goes; beside the manifest, or for `verify` to a temporary file, where not given."""
    to_manifest: bool = True
    """Whether `verify` compares with the manifest."""


def new_run() -> str:
    """A name that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{token_hex(4)}"


def perform(plan: Plan, settings: Settings, pool: Callable[[], Pool]) -> Summary:
    """Carries out a run. Failures of objects are in the summary; `DatasetError` and errors of the store end it."""
    source = None if plan.source is None else plan.opener(plan.source, plan.source_options.values)
    target = plan.opener(plan.target, plan.target_options.values)
    for store in (source, target):
        if store is not None:
            store.retry = plan.retry
    summary = Summary(plan.verb, plan.run, dry_run=settings.dry_run)
    failed = FailedList(summary)
    index = Index()
    counter: Counter | None = None
    try:
        _look(plan, settings, source, target, index)
        if settings.warn is not None:
            for line in index.bad_lines:
                settings.warn(f"{target.shown}: {line}; the object is processed again")
        summary.bad_lines = index.bad_count
        if settings.progress is not None and not settings.dry_run:
            counter = Counter(lambda end: _count(plan, settings.part, end))
        reporter = Reporter(settings.progress, summary, counter)

        def skip() -> None:
            summary.skipped += 1
            reporter.tick()

        works = _works(plan, settings, source, target, index, skip, failed.add)
        if settings.dry_run:
            for work in works:
                summary.objects += 1
                summary.bytes += work.size
        else:
            _drive(plan, settings, works, pool, summary, failed, reporter)
            reporter.tick(last=True)
            if summary.unbound and settings.warn is not None:
                settings.warn(
                    f"{(source or target).shown}: {summary.unbound} containers of an earlier version of Tress do not say "
                    "which object they are for; whether two were exchanged has not been checked"
                )
        summary.seconds = reporter.seconds
        summary.rate_bytes_per_s = summary.bytes / summary.seconds if summary.seconds > 0 else 0.0
    finally:
        if counter is not None:
            counter.close()
        index.close()
        forget(plan.run)
        if not settings.dry_run:
            failed.keep(target if plan.journals else None, plan, settings.failed_path)
    if plan.journals and not settings.dry_run:
        try:
            manifest.join(target, plan.verb, plan.run, plan.retry)
        except Exception as error:  # All lines are there all the same, in more objects.
            if settings.warn is not None:
                settings.warn(f"{target.shown}: the parts of the manifest could not be merged: {describe(error, plan)}")
    return summary


def _look(plan: Plan, settings: Settings, source: Store | None, target: Store, index: Index) -> None:
    """What earlier runs did, and what is there."""
    part = settings.part
    mine = wanted(part, plan.verb)

    if plan.journals and not settings.dry_run:
        # Whoever may not write finds out now, and not with every object.
        name = f"{CONTROL}/probe-{plan.run}"
        _patiently(plan, target.prepare)
        _patiently(plan, lambda: target.put(name, b""))
        _patiently(plan, lambda: target.remove(name))
    index.load(target, mine, plan.retry)
    if plan.verb == "verify":
        if source is not None:
            index.note_expected(expected(source, part))
        elif settings.to_manifest and not index.empty():
            index.expect_done()
    if plan.verb == "verify" or (plan.verb != "rewrap" and not index.empty()):
        index.note_present(item for item in target.items() if mine(item.name))


def _patiently(plan: Plan, work: Callable[[], None]) -> None:
    """What the driver itself asks of a store, as often as an object is tried."""
    plan.retry.call(lambda _: work(), threading.Event())


def _works(
    plan: Plan,
    settings: Settings,
    source: Store | None,
    target: Store,
    index: Index,
    skip: Callable[[], None],
    tell: Callable[[Failure], None],
) -> Iterator[Work]:
    """What there is to do; what can be told without doing anything is told."""
    if plan.verb in ("encrypt", "decrypt"):
        assert source is not None, "these commands have a source"
        return transfers(plan.verb, source, index, settings.part, settings.force, skip, tell)
    found = containers(index, target, settings.part, tell)
    if plan.verb == "rewrap":
        return rewraps(found, None if settings.force else plan.recipients, skip)
    return _to_verify(settings, source, index, found, tell)


def _to_verify(
    settings: Settings, source: Store | None, index: Index, found: Iterator[Work], tell: Callable[[Failure], None]
) -> Iterator[Work]:
    """All containers, but those that cannot be compared with what they should be; and what is missing."""
    against = source is not None or (settings.to_manifest and not index.empty())
    for work in found:
        if against and index.expected(work.target) is None:
            what = "the source has none of this name" if source is not None else "the manifest does not have it"
            tell(Failure(work.target, "extra", what, 0))
        else:
            yield work if settings.to_manifest else work._replace(line=None)
    for name in index.missing():
        tell(Failure(name, "missing", "not in the target", 0))


def _drive(
    plan: Plan,
    settings: Settings,
    works: Iterator[Work],
    pool: Callable[[], Pool],
    summary: Summary,
    failed: FailedList,
    reporter: Reporter,
) -> None:
    """Submits shards while there are any, and takes their results."""
    # A run with nothing to do starts no process.
    first = next(works, None)
    if first is None:
        return
    running = pool()
    shards = group(chain([first], works), settings.grouping, running.workers)
    pending: dict[Future[Result], Shard] = {}
    graves = Graves(plan, failed)
    waiting: list[Shard] = []
    error: BaseException | None = None
    ended = False
    try:
        while True:
            while len(pending) < running.window and (waiting or not ended):
                # A piece runs while nothing else does, so that whoever dies, dies of it.
                if any(shard.is_piece for shard in pending.values()):
                    break
                if waiting:
                    if waiting[-1].is_piece and pending:
                        break
                    shard = waiting.pop()
                else:
                    try:
                        following = next(shards, None)
                    except Exception as listing:  # What is running is finished; then this ends the run.
                        error, following = listing, None
                    if following is None:
                        ended = True
                        break
                    shard = following
                try:
                    pending[running.submit(run_own_shard if running.own else run_shard, plan, shard)] = shard
                except BrokenExecutor:
                    waiting.append(shard)
                    if not pending and not running.rebuild():
                        raise
                    break
            if not pending:
                if ended and not waiting:
                    break
                continue
            done, _ = wait(pending, timeout=0.25, return_when=FIRST_COMPLETED)
            broken = False
            for future in done:
                shard = pending.pop(future)
                try:
                    _take(future.result(), summary, failed)
                except Exception as death:
                    broken = broken or isinstance(death, BrokenExecutor)
                    waiting += graves.bury(shard, death)
            if broken:
                # All others of this pool end the same way.
                for future, shard in pending.items():
                    try:
                        _take(future.result(), summary, failed)
                    except Exception as death:
                        waiting += graves.bury(shard, death)
                pending.clear()
                if waiting and not running.rebuild():
                    raise DatasetError("the executor is broken; run the same call again to continue")
            reporter.tick()
    except BaseException:
        running.stop()
        # Those that run already end soon; others of theirs may run on another machine, for which nobody waits long.
        wait([future for future in pending if not future.cancel()], timeout=30)
        raise
    finally:
        running.close()
    if error is not None:
        raise error


def _take(result: Result, summary: Summary, failed: FailedList) -> None:
    summary.objects += result.objects
    summary.bytes += result.bytes
    summary.retried += result.retried
    summary.unbound += result.unbound
    for failure in result.failures:
        failed.add(failure)


class Graves:
    """Shards whose workers died, or could not begin."""

    def __init__(self, plan: Plan, failed: FailedList):
        self._plan = plan
        self._failed = failed
        self._deaths: dict[str, int] = {}
        self._splits = 0

    def bury(self, shard: Shard, death: BaseException) -> list[Shard]:
        """What is to be tried instead: the same once more; then pieces, where it was a process that died; then nothing."""
        deaths = self._deaths.pop(shard.label, 0) + 1
        # Workers die together. A piece had one to itself.
        if deaths < DEATHS and not shard.is_piece:
            self._deaths[shard.label] = deaths
            return [shard]
        if isinstance(death, BrokenExecutor) and len(shard.works) > 1 and self._splits < SPLITS:
            self._splits += 1
            return shard.split()
        for work in shard.works:
            self._failed.add(
                Failure(work.name, "worker", f"its worker process failed: {describe(death, self._plan)}", DEATHS)
            )
        return []


def _count(plan: Plan, part: Part | None, end: object) -> tuple[int, int]:
    """Objects and bytes of the listing that the run works through."""
    url, options = (
        (plan.source, plan.source_options) if plan.journals and plan.source else (plan.target, plan.target_options)
    )
    store = plan.opener(url, options.values)
    mine = wanted(part, "encrypt" if plan.verb == "encrypt" else "verify")
    objects = size = 0
    for item in store.items():
        if getattr(end, "is_set", lambda: False)():
            break
        if isinstance(item, Item) and mine(item.name):
            objects += 1
            size += item.size
    store.close()
    return objects, size


class FailedList:
    """All failures of a run, in memory only as far as the summary keeps them."""

    def __init__(self, summary: Summary):
        self._summary = summary
        self._file = tempfile.SpooledTemporaryFile(max_size=4 << 20)  # lives as long as the run

    def add(self, failure: Failure) -> None:
        """One more."""
        self._summary.fail(failure)
        self._file.write(json.dumps(failure._asdict()).encode() + b"\n")

    def keep(self, target: Store | None, plan: Plan, path: str | None) -> None:
        """Writes the list to a path, or beside the manifest, or in a temporary file if it cannot be written there."""
        if self._summary.failed == 0:
            self._file.close()
            return
        if path is not None:
            with open(path, "wb") as out:
                self._copy(out.write)
            self._summary.failed_list = path
        elif target is None or not self._beside(plan, target, f"{CONTROL}/failed-{plan.verb}-{plan.run}.jsonl"):
            with tempfile.NamedTemporaryFile(prefix="tress-dataset-failed-", suffix=".jsonl", delete=False) as file:
                self._copy(file.write)
            self._summary.failed_list = file.name
        self._file.close()

    def _beside(self, plan: Plan, target: Store, name: str) -> bool:
        def write() -> None:
            with target.write(name, self._file.tell(), {}, Replace.ALWAYS) as writing:
                self._copy(writing.write)
                writing.commit()

        try:
            _patiently(plan, write)
        except Exception:  # whatever keeps the target from being written
            return False
        self._summary.failed_list = f"{target.shown.rstrip('/')}/{name}"
        return True

    def _copy(self, write: Callable[[bytes], object]) -> None:
        self._file.seek(0)
        while piece := self._file.read(1 << 20):
            write(piece)


def with_concurrency(plan: Plan, asked: int | None, slow: bool) -> Plan:
    """How many objects each worker has at once, where nobody says."""
    if asked is not None:
        return replace(plan, concurrency=asked)
    if slow:
        return replace(plan, concurrency=1)
    urls = [url for url in (plan.source, plan.target) if url]
    schemes = {url.partition("://")[0] if "://" in url else "file" for url in urls}
    if schemes <= {"file", "local", "memory"}:
        return replace(plan, concurrency=2)
    return replace(plan, concurrency=4 if schemes & {"sftp", "ssh"} else 16)
