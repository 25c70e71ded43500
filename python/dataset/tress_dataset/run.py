"""The driver: submits shards to workers, a bounded number at a time, and adds their results to a summary."""

from __future__ import annotations

import json
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from secrets import token_hex

from . import manifest
from .errors import DatasetError, Failure, UsageError
from .index import Index
from .listing import NOT_IN_MANIFEST, containers, expected, report_missing, rewraps, transfers, wanted
from .names import CONTROL, Item, Selection, encrypted_name
from .pool import Pool
from .progress import Counter, Progress, Reporter
from .shards import Grouping, Shard, WorkItem, group
from .stores import Replace, Store
from .summary import Summary
from .worker import RunPlan, ShardResult, describe, forget, run_own_shard, run_shard, stop_of

MAX_WORKER_CRASHES = 2
"""A shard may crash this many workers. Then it is split, or its only object is listed as failed."""
MAX_SPLITS = 32
"""Number of shards that a run may split. If more crash, single objects are not the cause."""


@dataclass
class RunSettings:
    """Settings of a run that workers do not need."""

    selection: Selection = field(default_factory=Selection)
    force: bool = False
    ignore_ctime: bool = False
    dry_run: bool | Callable[[str, int], object] = False
    """Whether to write nothing; or a function that takes the name and size in bytes of each object to process."""
    grouping: Grouping = field(default_factory=Grouping)
    progress: Callable[[Progress], None] | None = None
    warn: Callable[[str], None] | None = None
    failed_path: str | None = None
    """Path of the list of failed objects. Default: next to the manifest; for `verify`, a temporary file."""
    to_manifest: bool = True
    """Whether `verify` compares with the manifest."""


def new_run() -> str:
    """Returns a new name of a run. Names sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{token_hex(4)}"


def perform(plan: RunPlan, settings: RunSettings, pool: Callable[[], Pool]) -> Summary:
    """Performs a run. The summary lists failures of objects; `DatasetError` and errors of the store end the run."""
    if settings.failed_path is not None:
        refuse_foreign(settings.failed_path)
    source = None if plan.source is None else plan.opener(plan.source, plan.source_options.values)
    target = plan.opener(plan.target, plan.target_options.values)
    for store in (source, target):
        if store is not None:
            store.retry = plan.retry
    summary = Summary(plan.verb, plan.run, dry_run=bool(settings.dry_run))
    failed = FailedList(summary)
    index, record = Index(), Index()
    counter: Counter | None = None
    complete = False
    try:
        if plan.verb == "decrypt" and plan.manifest_key is not None:
            assert source is not None, "decrypt has a source"
            _load_record(plan, settings, source, record)
        _load_state(plan, settings, source, target, index)
        if settings.warn is not None:
            for line in index.bad_lines:
                settings.warn(f"{target.shown}: {line}; the object is processed again")
        summary.bad_lines = index.bad_count
        if settings.progress is not None and not settings.dry_run:
            counter = Counter(lambda end: _count(plan, settings.selection, end))
        reporter = Reporter(settings.progress, summary, counter)

        def skip() -> None:
            summary.skipped += 1
            reporter.tick()

        sealed = None if record.seals is None else record
        works = _works(plan, settings, source, target, index, sealed, skip, failed.add)
        if settings.dry_run:
            for work in works:
                summary.objects += 1
                summary.bytes += work.size
                if callable(settings.dry_run):
                    settings.dry_run(work.name, work.size)
        else:
            _run_shards(plan, settings, works, pool, summary, failed, reporter)
            reporter.tick(last=True)
            if summary.unbound and settings.warn is not None:
                settings.warn(
                    f"{(source or target).shown}: {summary.unbound} containers do not say which object they are "
                    "for (tress encrypt, pandas or an earlier version made them): whether two were exchanged has not "
                    "been checked"
                )
        summary.seconds = reporter.seconds
        summary.rate_bytes_per_s = summary.bytes / summary.seconds if summary.seconds > 0 else 0.0
        complete = True
    finally:
        if counter is not None:
            counter.close()
        index.close()
        record.close()
        forget(plan.run)
        if not settings.dry_run:
            failed.keep(target if plan.journals else None, plan, settings.failed_path, complete)
    if plan.journals and not settings.dry_run:
        try:
            sealing = None
            if index.seals is not None:
                sealing = manifest.Sealing(index.seals, summary.objects, settings.selection == Selection())
            manifest.join(target, plan.verb, plan.run, plan.retry, sealing)
        except Exception as error:  # No line is lost: they stay in separate objects.
            if index.seals is not None:
                raise
            if settings.warn is not None:
                settings.warn(f"{target.shown}: the parts of the manifest could not be merged: {describe(error, plan)}")
    return summary


def _load_record(plan: RunPlan, settings: RunSettings, source: Store, record: Index) -> None:
    """Loads the manifest of the containers that `decrypt` reads, and which of them exist."""
    mine = wanted(settings.selection, "verify")
    record.load(source, mine, plan.retry, plan.manifest_key)
    assert record.seals is not None, "there is a key"
    record.seals.require_ended()
    record.expect_done()
    record.note_present(item for item in source.items() if mine(item.name))


def _load_state(plan: RunPlan, settings: RunSettings, source: Store | None, target: Store, index: Index) -> None:
    """Loads the state of the target into the index: what earlier runs did, and which objects exist."""
    mine = wanted(settings.selection, plan.verb)
    if plan.journals and not settings.dry_run:
        # Reports a target without write permission now, instead of for every object.
        name = f"{CONTROL}/probe-{plan.run}"
        if plan.verb == "rewrap":
            next(target.listing(), None)  # Raises an error for a target that does not exist.
        else:
            _with_retries(plan, target.prepare)
        _with_retries(plan, lambda: target.put(name, b""))
        _with_retries(plan, lambda: target.remove(name))
    index.load(target, mine, plan.retry, None if plan.verb == "decrypt" else plan.manifest_key)
    if plan.journals and index.has_macs and index.seals is None:
        raise UsageError(f"the manifest in {target.shown} has MACs: give its manifest key")
    if plan.verb == "verify":
        if index.seals is not None:
            index.seals.require_ended()
        if source is not None:
            index.note_expected(expected(source, settings.selection, target.longest))
        elif settings.to_manifest and not index.empty():
            index.expect_done()
    if plan.verb == "verify" or (plan.verb != "rewrap" and not index.empty()):
        present = (item for item in target.items() if mine(item.name))
        if plan.verb == "verify" and source is not None:
            present = (item._replace(name=encrypted_name(item.name, target.longest)) for item in present)
        index.note_present(present)


def _with_retries(plan: RunPlan, work: Callable[[], None]) -> None:
    """Runs a request of the driver, with the same number of attempts as for an object."""
    plan.retry.call(lambda _: work(), threading.Event())


def _works(
    plan: RunPlan,
    settings: RunSettings,
    source: Store | None,
    target: Store,
    index: Index,
    record: Index | None,
    skip: Callable[[], None],
    report: Callable[[Failure], None],
) -> Iterator[WorkItem]:
    """Yields the work of a run. Reports failures that are known without processing an object."""
    if plan.verb in ("encrypt", "decrypt"):
        assert source is not None, "these commands have a source"
        return transfers(
            plan.verb,
            source,
            target.longest,
            index,
            settings.selection,
            settings.force,
            settings.ignore_ctime,
            skip,
            report,
            record,
        )
    found = containers(index, target, settings.selection, report)
    if plan.verb == "rewrap":
        if index.seals is not None:
            found = _known(found, report)
        return rewraps(found, None if settings.force else plan.recipients, skip)
    return _verify_work(settings, source, target, index, found, report)


def _known(works: Iterator[WorkItem], report: Callable[[Failure], None]) -> Iterator[WorkItem]:
    """Yields the containers that the manifest has. Reports others."""
    for work in works:
        if work.line is None:
            report(Failure(work.name, "extra", NOT_IN_MANIFEST, 0))
        else:
            yield work


def _verify_work(
    settings: RunSettings,
    source: Store | None,
    target: Store,
    index: Index,
    found: Iterator[WorkItem],
    report: Callable[[Failure], None],
) -> Iterator[WorkItem]:
    """Yields the containers to verify. Reports extra and missing ones."""
    against = source is not None or (settings.to_manifest and not index.empty())
    for work in found:
        name = work.target if source is None else encrypted_name(work.target, target.longest)
        if against and index.expected(name) is None:
            what = "the source has none of this name" if source is not None else NOT_IN_MANIFEST
            report(Failure(work.target, "extra", what, 0))
        else:
            yield work if settings.to_manifest else work._replace(line=None)
    report_missing(index, "target", report)


def _run_shards(
    plan: RunPlan,
    settings: RunSettings,
    works: Iterator[WorkItem],
    pool: Callable[[], Pool],
    summary: Summary,
    failed: FailedList,
    reporter: Reporter,
) -> None:
    """Submits all shards, and adds up their results."""
    # A run without work starts no process.
    first = next(works, None)
    if first is None:
        return
    running, stop = pool(), stop_of(plan.run)
    shards = group(chain([first], works), settings.grouping, running.workers)
    pending: dict[Future[ShardResult], Shard] = {}
    crashed = CrashedShards(plan, failed)
    waiting: list[Shard] = []
    error: BaseException | None = None
    ended = False
    try:
        while True:
            while len(pending) < running.window and (waiting or not ended):
                # A piece of a split shard runs alone, so that a crash is due to its objects.
                if any(shard.is_piece for shard in pending.values()):
                    break
                if waiting:
                    if waiting[-1].is_piece and pending:
                        break
                    shard = waiting.pop()
                else:
                    try:
                        following = next(shards, None)
                    except Exception as listing:  # Raised after all running shards have finished.
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
                    _add_result(future.result(), summary, failed)
                except Exception as crash:
                    broken = broken or isinstance(crash, BrokenExecutor)
                    waiting += crashed.after_crash(shard, crash)
            if broken:
                # All other tasks of this pool fail as well.
                for future, shard in pending.items():
                    try:
                        _add_result(future.result(), summary, failed)
                    except Exception as crash:
                        waiting += crashed.after_crash(shard, crash)
                pending.clear()
                if waiting and not running.rebuild():
                    raise DatasetError("the executor is broken; run the same call again to continue")
            reporter.tick()
    except BaseException:
        running.stop(stop, pending)
        raise
    finally:
        running.close()
    if error is not None:
        raise error


def _add_result(result: ShardResult, summary: Summary, failed: FailedList) -> None:
    summary.objects += result.objects
    summary.bytes += result.bytes
    summary.retried += result.retried
    summary.unbound += result.unbound
    summary.add_slow(result.slowest)
    for failure in result.failures:
        failed.add(failure)


class CrashedShards:
    """Counts crashes of the workers of each shard, and decides what to try next."""

    def __init__(self, plan: RunPlan, failed: FailedList):
        self._plan = plan
        self._failed = failed
        self._crashes: dict[str, int] = {}
        self._splits = 0

    def after_crash(self, shard: Shard, crash: BaseException) -> list[Shard]:
        """Returns the shards to try instead: first the same one, then its pieces if a process crashed, then none."""
        crashes = self._crashes.pop(shard.label, 0) + 1
        # A crash ends all workers of a pool, so the cause may be another shard. A piece had the pool to itself.
        if crashes < MAX_WORKER_CRASHES and not shard.is_piece:
            self._crashes[shard.label] = crashes
            return [shard]
        if isinstance(crash, BrokenExecutor) and len(shard.works) > 1 and self._splits < MAX_SPLITS:
            self._splits += 1
            return shard.split()
        for work in shard.works:
            self._failed.add(
                Failure(
                    work.name, "worker", f"its worker process failed: {describe(crash, self._plan)}", MAX_WORKER_CRASHES
                )
            )
        return []


def _count(plan: RunPlan, selection: Selection, end: object) -> tuple[int, int]:
    """Returns the number of objects, and their total size in bytes, of the listing that the run processes."""
    url, options = (
        (plan.source, plan.source_options) if plan.journals and plan.source else (plan.target, plan.target_options)
    )
    store = plan.opener(url, options.values)
    mine = wanted(selection, "encrypt" if plan.verb == "encrypt" else "verify")
    objects = size = 0
    for item in store.items():
        if getattr(end, "is_set", lambda: False)():
            break
        if isinstance(item, Item) and mine(item.name):
            objects += 1
            size += item.size
    store.close()
    return objects, size


def refuse_foreign(path: str) -> None:
    """Raises `UsageError` if this is a file that is not empty and not the list of an earlier run."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return  # a device or a pipe; for a folder, writing fails
        with open(path, "rb") as file:
            line = file.readline(1 << 20)
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise UsageError(f"{path}: its folder does not exist") from None
        return
    try:
        ours = not line or list(json.loads(line)) == list(Failure._fields)
    except (ValueError, TypeError):
        ours = False
    if not ours:
        raise UsageError(f"{path}: exists, and is not a list of failed objects")


class FailedList:
    """All failures of a run, in a temporary file. The summary keeps only the first ones in memory."""

    def __init__(self, summary: Summary):
        self._summary = summary
        self._file = tempfile.SpooledTemporaryFile(max_size=4 << 20)  # lives as long as the run

    def add(self, failure: Failure) -> None:
        """Adds a failure."""
        self._summary.fail(failure)
        self._file.write(json.dumps(failure._asdict()).encode() + b"\n")

    def keep(self, target: Store | None, plan: RunPlan, path: str | None, complete: bool) -> None:
        """Writes the list to a path, or next to the manifest, or to a temporary file if that fails.

        Without failures, an earlier list at the path becomes empty, if the run is complete.
        """
        with self._file:
            if self._summary.failed == 0:
                if complete and path is not None and os.path.isfile(path):
                    self._at(path)
                return
            beside = f"{CONTROL}/failed-{plan.verb}-{plan.run}.jsonl"
            if path is not None and self._at(path):
                self._summary.failed_list = path
            elif path is not None or target is None or not self._beside(plan, target, beside):
                with tempfile.NamedTemporaryFile(prefix="tress-dataset-failed-", suffix=".jsonl", delete=False) as file:
                    self._copy(file.write)
                self._summary.failed_list = file.name

    def _at(self, path: str) -> bool:
        try:
            with open(path, "wb") as out:
                self._copy(out.write)
        except OSError:
            return False
        return True

    def _beside(self, plan: RunPlan, target: Store, name: str) -> bool:
        def write() -> None:
            with target.write(name, self._file.tell(), {}, Replace.ALWAYS) as writing:
                self._copy(writing.write)
                writing.commit()

        try:
            _with_retries(plan, write)
        except Exception:  # for whatever reason the target cannot be written
            return False
        self._summary.failed_list = f"{target.shown.rstrip('/')}/{name}"
        return True

    def _copy(self, write: Callable[[bytes], object]) -> None:
        self._file.seek(0)
        while piece := self._file.read(1 << 20):
            write(piece)


def with_concurrency(plan: RunPlan, asked: int | None, slow: bool) -> RunPlan:
    """Sets the number of objects that each worker processes at the same time: `asked`, or a default for the stores."""
    if asked is not None:
        return replace(plan, concurrency=asked)
    if slow:
        return replace(plan, concurrency=1)
    urls = [url for url in (plan.source, plan.target) if url]
    schemes = {url.partition("://")[0] if "://" in url else "file" for url in urls}
    if schemes <= {"file", "local", "memory"}:
        return replace(plan, concurrency=2)
    return replace(plan, concurrency=4 if schemes & {"sftp", "ssh"} else 16)
