"""Runs one shard in a worker, several objects at a time. Memory use: some MiB for each of these objects."""

from __future__ import annotations

import heapq
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from typing import Any
from weakref import WeakValueDictionary

from .codec import Codec
from .errors import Exists, Failure, ObjectError, Stopped, has_appeared
from .manifest import BegunLine, DoneLine, ForeignLine, Journal
from .retry import Retry, kind
from .seal import ManifestKey, RunMac
from .shards import Shard, WorkItem
from .stores import Replace, Store, open_store, text_without_secrets
from .summary import SLOWEST, SlowObject
from .transfer import ShardContext, transfer

STOP = threading.Event()
"""Set when this process of a pool should stop soon."""


class StoreOptions:
    """Arguments of a store. They may contain credentials, so `repr` shows only their names."""

    def __init__(self, values: Mapping[str, Any] | None = None):
        self.values = dict(values or {})

    def __repr__(self) -> str:
        return f"StoreOptions({', '.join(sorted(self.values))})"


@dataclass(frozen=True)
class RunPlan:
    """The parameters of a run that every task needs."""

    verb: str
    run: str
    source: str | None = field(repr=False)
    target: str = field(repr=False)
    source_options: StoreOptions
    target_options: StoreOptions
    codec: Codec = field(repr=False)
    recipients: str | None
    """Result of `RunKeys.recipients_id`."""
    concurrency: int
    """Number of objects that a worker processes at the same time."""
    retry: Retry
    accept_moved: bool = False
    opener: Callable[[str, Mapping[str, Any]], Store] = open_store
    manifest_key: ManifestKey | None = field(default=None, repr=False)
    """The key of the manifest next to the containers."""

    @property
    def mac(self) -> RunMac | None:
        """The MAC of the lines that this run writes. What `decrypt` writes is no manifest of containers."""
        if self.manifest_key is None or self.verb == "decrypt":
            return None
        return self.manifest_key.of_run(f"{self.verb}-{self.run}")

    @property
    def journals(self) -> bool:
        """Whether the run writes objects, and lines of the manifest."""
        return self.verb != "verify"


@dataclass
class ShardResult:
    """Result of a shard."""

    objects: int = 0
    bytes: int = 0
    retried: int = 0
    unbound: int = 0
    """Number of containers that do not record the name of their object: no tress-dataset of today made them."""
    failures: list[Failure] = field(default_factory=list)
    slowest: list[SlowObject] = field(default_factory=list)
    """A heap of the slowest objects."""
    seconds: float = 0.0


_stops: WeakValueDictionary[str, threading.Event] = WeakValueDictionary()
_opened: dict[str, tuple[int, Store | None, Store]] = {}
_opening = threading.Lock()
_busy = threading.Lock()
"""Held while a process of the pool runs a shard."""


def _stores(plan: RunPlan) -> tuple[Store | None, Store]:
    """Returns the stores of a run, which are opened once in a process."""
    with _opening:
        found = _opened.get(plan.run)
        if found is None or found[0] != os.getpid():
            _opened.clear()
            source = None if plan.source is None else plan.opener(plan.source, plan.source_options.values)
            found = _opened[plan.run] = (os.getpid(), source, plan.opener(plan.target, plan.target_options.values))
        return found[1], found[2]


def stop_of(run: str) -> threading.Event:
    """Returns what is set when a run in the caller's executor should stop soon, the same while somebody has it."""
    with _opening:
        return _stops.setdefault(run, threading.Event())


def forget(run: str) -> None:
    """Drops the stores of a run, in a process that continues."""
    with _opening:
        _opened.pop(run, None)


def begin_process(mask: int, environment: dict[str, str]) -> None:
    """Initialises a process of the pool. It ignores Ctrl-C and the like; the parent stops it by SIGTERM."""
    os.umask(mask)
    os.environ.clear()
    os.environ.update(environment)
    for name in ("SIGINT", "SIGHUP", "SIGQUIT"):  # A terminal sends them to all processes.
        signal.signal(getattr(signal, name, signal.SIGINT), signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: STOP.set())
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """Ends this process when its parent has ended. A process that waits for work would not notice."""
    parent.join()
    STOP.set()
    with _busy:
        os._exit(1)


def run_own_shard(plan: RunPlan, shard: Shard) -> ShardResult:
    """Calls `run_shard` in a process of the pool."""
    with _busy:
        return run_shard(plan, shard, STOP)


def run_shard(plan: RunPlan, shard: Shard, stop: threading.Event | None = None) -> ShardResult:
    """Processes all objects of a shard. Raises an exception only if it cannot process any object."""
    started = time.monotonic()
    stop = stop or stop_of(plan.run)
    source, target = _stores(plan)
    has_macs = plan.manifest_key is not None
    context = ShardContext(
        plan.verb, plan.run, source, target, plan.codec, plan.recipients, stop, plan.accept_moved, has_macs
    )
    journal = Journal(target, plan.verb, plan.run, shard.label, plan.retry, stop, plan.mac) if plan.journals else None
    result = ShardResult()
    works = list(shard.works)
    if journal is not None:
        if journal.earlier:
            works = _remaining_work(target, journal, works, result)
        if plan.verb != "rewrap":
            journal.begin([w.target for w in works if w.replace is Replace.NEVER and not target.occupied(w.target)])
    _WorkerThreads(plan, context, journal, works, result).work()
    try:
        target.settle()
    except (OSError, ObjectError) as error:
        _unsettled(plan, shard, journal, result, error)
    if journal is not None:
        journal.end()
    result.unbound = len(set(context.unbound))
    result.seconds = time.monotonic() - started
    return result


def _unsettled(plan: RunPlan, shard: Shard, journal: Journal | None, result: ShardResult, error: Exception) -> None:
    """Reports all objects as failed: they exist, but a power loss may remove them. The next run writes them again."""
    failed = {failure.name for failure in result.failures}
    if journal is not None:
        # Only objects of this run: an object that existed before does not belong to it.
        journal.begin([work.target for work in shard.works if work.name not in failed])
    why = f"its folder could not be synced to disk: {describe(error, plan)}"
    result.failures += [Failure(work.name, "io", why, 1) for work in shard.works if work.name not in failed]
    result.objects = result.bytes = 0


def _remaining_work(target: Store, journal: Journal, works: list[WorkItem], result: ShardResult) -> list[WorkItem]:
    """Returns the work that a crashed worker has left. Objects that it began may be replaced."""
    begun: set[str] = set()
    done: dict[str, DoneLine] = {}
    for line in journal.earlier:
        if isinstance(line, BegunLine):
            begun.update(line.names)
            for name in line.names:
                done.pop(name, None)
        elif isinstance(line, ForeignLine):
            begun.discard(line.name)
        elif isinstance(line, DoneLine):
            done[line.name] = line
    left = []
    for work in works:
        finished = done.get(work.target)
        if finished is not None and _is_current(target, finished):
            result.objects += 1
            result.bytes += finished.plain_bytes
        elif work.target in begun:
            left.append(work._replace(replace=max(work.replace, Replace.OURS)))
        else:
            left.append(work)
    return left


def _is_current(target: Store, line: DoneLine) -> bool:
    try:
        item = target.stat(line.name)
    except Exception:  # the object is processed again, which reports the error
        return False
    return (item.size, item.token) == tuple(line.target)


class _WorkerThreads:
    """Threads that process objects, each one at a time."""

    def __init__(
        self, plan: RunPlan, context: ShardContext, journal: Journal | None, works: list[WorkItem], result: ShardResult
    ):
        self.plan = plan
        self.context = context
        self.journal = journal
        self.rest = iter(works)
        self.count = len(works)
        self.result = result
        self.lock = threading.Lock()

    def work(self) -> None:
        """Processes all objects."""
        threads = [threading.Thread(target=self.take) for _ in range(min(self.plan.concurrency, self.count) - 1)]
        for thread in threads:
            thread.start()
        self.take()
        for thread in threads:
            thread.join()

    def take(self) -> None:
        """Processes objects in one thread until none is left."""
        while True:
            with self.lock:
                work = next(self.rest, None)
            if work is None:
                return
            try:
                self.one(work)
            except BaseException as error:  # every object is either done or reported
                self.fail(work, error)

    def one(self, work: WorkItem) -> None:
        """Processes one object, with several attempts."""

        def again(error: BaseException) -> None:
            nonlocal work
            if has_appeared(error):
                work = work._replace(replace=max(work.replace, Replace.OURS))
            with self.lock:
                self.result.retried += 1

        started = time.monotonic()
        line = self.plan.retry.call(lambda attempt: transfer(self.context, work, attempt), self.context.stopped, again)
        if self.journal is not None:
            self.journal.done(line)
        slow = SlowObject(time.monotonic() - started, work.name, line.plain_bytes)
        with self.lock:
            if len(self.result.slowest) < SLOWEST:
                heapq.heappush(self.result.slowest, slow)
            else:
                heapq.heappushpop(self.result.slowest, slow)
            self.result.objects += 1
            self.result.bytes += line.plain_bytes

    def fail(self, work: WorkItem, error: BaseException) -> None:
        """Records the failure of an object."""
        if isinstance(error, Exists) and self.journal is not None:
            with suppress(Exception):  # The line stays for the next call.
                self.journal.foreign(work.target)
        attempts = getattr(error, "attempts", 1)
        failure = Failure(work.name, kind(error), describe(error, self.plan), attempts)
        with self.lock:
            self.result.failures.append(failure)
        if not isinstance(error, Exception):
            self.context.stopped.set()


def describe(error: BaseException, plan: RunPlan) -> str:
    """Returns the error in one line, without secrets of an address."""
    if isinstance(error, Stopped):
        return str(error)
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror
    return text_without_secrets(text, plan.source, plan.target)[:500]
