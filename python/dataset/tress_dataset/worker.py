"""What runs in a worker: one shard, several objects at once. Memory: some MiB for each of these."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from typing import Any

from .codec import Codec
from .errors import Exists, Failure, ObjectError, Stopped, is_named
from .manifest import Begun, Foreign, Journal, Line
from .retry import Retry, kind
from .shards import Shard, Work
from .stores import Replace, Store, open_store, without_secrets
from .transfer import Context, transfer

STOP = threading.Event()
"""Set when this process is to end soon."""


class Options:
    """Arguments for a store, among them credentials: not shown."""

    def __init__(self, values: Mapping[str, Any] | None = None):
        self.values = dict(values or {})

    def __repr__(self) -> str:
        return f"Options({', '.join(sorted(self.values))})"


@dataclass(frozen=True)
class Plan:
    """A run, as each of its tasks needs to know it."""

    verb: str
    run: str
    source: str | None = field(repr=False)
    target: str = field(repr=False)
    source_options: Options
    target_options: Options
    codec: Codec = field(repr=False)
    recipients: str | None
    """As `Keys.recipients_id` has it."""
    concurrency: int
    """Objects at once in a worker."""
    retry: Retry
    accept_moved: bool = False
    opener: Callable[[str, Mapping[str, Any]], Store] = open_store

    @property
    def journals(self) -> bool:
        """Whether the run writes objects, and lines about them."""
        return self.verb != "verify"


@dataclass
class Result:
    """What became of a shard."""

    objects: int = 0
    bytes: int = 0
    retried: int = 0
    unbound: int = 0
    """Containers of earlier versions that do not say which object they are for."""
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0


_opened: dict[str, tuple[int, Store | None, Store]] = {}
_opening = threading.Lock()
_busy = threading.Lock()
"""Held while a process of our own has a shard."""


def _stores(plan: Plan) -> tuple[Store | None, Store]:
    """The run's stores, opened once in a process."""
    with _opening:
        found = _opened.get(plan.run)
        if found is None or found[0] != os.getpid():
            _opened.clear()
            source = None if plan.source is None else plan.opener(plan.source, plan.source_options.values)
            found = _opened[plan.run] = (os.getpid(), source, plan.opener(plan.target, plan.target_options.values))
        return found[1], found[2]


def forget(run: str) -> None:
    """Lets go of the stores, in a process that lives on."""
    with _opening:
        _opened.pop(run, None)


def begin_process() -> None:
    """For processes of our own pool: the parent decides about Ctrl-C, and ends them by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: STOP.set())
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """Ends this process when its parent is dead, which it would not notice while it waits for work."""
    parent.join()
    STOP.set()
    with _busy:
        os._exit(1)


def run_own_shard(plan: Plan, shard: Shard) -> Result:
    """`run_shard` in a process of our own pool."""
    with _busy:
        return run_shard(plan, shard)


def run_shard(plan: Plan, shard: Shard) -> Result:
    """Does all objects of a shard. Raises only what keeps it from doing any."""
    started = time.monotonic()
    source, target = _stores(plan)
    context = Context(plan.verb, plan.run, source, target, plan.codec, plan.recipients, STOP, plan.accept_moved)
    journal = Journal(target, plan.verb, plan.run, shard.label, plan.retry, STOP) if plan.journals else None
    result = Result()
    works = list(shard.works)
    if journal is not None:
        if journal.earlier:
            works = _after_death(target, journal, works, result)
        if plan.verb != "rewrap":
            journal.begin([w.target for w in works if w.replace is Replace.NEVER and not target.occupied(w.target)])
    _Crew(plan, context, journal, works, result).work()
    try:
        target.settle()
    except (OSError, ObjectError) as error:
        _unsettled(plan, shard, journal, result, error)
    if journal is not None:
        journal.end()
    result.unbound = len(set(context.unbound))
    result.seconds = time.monotonic() - started
    return result


def _unsettled(plan: Plan, shard: Shard, journal: Journal | None, result: Result, error: Exception) -> None:
    """All objects are there, but a loss of power may take them away: they are told, and the next run writes them again."""
    failed = {failure.name for failure in result.failures}
    if journal is not None:
        # Only what is ours: an object that was in the way is somebody else's, and stays so.
        journal.begin([work.target for work in shard.works if work.name not in failed])
    why = f"its folder could not be synced to disk: {describe(error, plan)}"
    result.failures += [Failure(work.name, "io", why, 1) for work in shard.works if work.name not in failed]
    result.objects = result.bytes = 0


def _after_death(target: Store, journal: Journal, works: list[Work], result: Result) -> list[Work]:
    """What a worker that died has left to do; what it began is ours to replace."""
    begun: set[str] = set()
    done: dict[str, Line] = {}
    for line in journal.earlier:
        if isinstance(line, Begun):
            begun.update(line.names)
            for name in line.names:
                done.pop(name, None)
        elif isinstance(line, Foreign):
            begun.discard(line.name)
        else:
            done[line.name] = line
    left = []
    for work in works:
        finished = done.get(work.target)
        if finished is not None and _there(target, finished):
            result.objects += 1
            result.bytes += finished.plain_bytes
        elif work.target in begun:
            left.append(work._replace(replace=max(work.replace, Replace.OURS)))
        else:
            left.append(work)
    return left


def _there(target: Store, line: Line) -> bool:
    try:
        item = target.stat(line.name)
    except Exception:  # then it is done again, and that tells
        return False
    return (item.size, item.token) == tuple(line.target)


class _Crew:
    """Threads that take one object after another."""

    def __init__(self, plan: Plan, context: Context, journal: Journal | None, works: list[Work], result: Result):
        self.plan = plan
        self.context = context
        self.journal = journal
        self.rest = iter(works)
        self.count = len(works)
        self.result = result
        self.lock = threading.Lock()

    def work(self) -> None:
        """Until no object is left."""
        threads = [threading.Thread(target=self.take) for _ in range(min(self.plan.concurrency, self.count) - 1)]
        for thread in threads:
            thread.start()
        self.take()
        for thread in threads:
            thread.join()

    def take(self) -> None:
        """One thread's part."""
        while True:
            with self.lock:
                work = next(self.rest, None)
            if work is None:
                return
            try:
                self.one(work)
            except BaseException as error:  # no object is ever lost silently
                self.fail(work, error)

    def one(self, work: Work) -> None:
        """One object, with all its attempts."""

        def again(error: BaseException) -> None:
            nonlocal work
            if is_named(error):
                work = work._replace(replace=max(work.replace, Replace.OURS))
            with self.lock:
                self.result.retried += 1

        line = self.plan.retry.call(lambda attempt: transfer(self.context, work, attempt), STOP, again)
        if self.journal is not None:
            self.journal.done(line)
        with self.lock:
            self.result.objects += 1
            self.result.bytes += line.plain_bytes

    def fail(self, work: Work, error: BaseException) -> None:
        """Remembers why an object is not done."""
        if isinstance(error, Exists) and self.journal is not None:
            self.journal.foreign(work.target)
        attempts = getattr(error, "attempts", 1)
        failure = Failure(work.name, kind(error), describe(error, self.plan), attempts)
        with self.lock:
            self.result.failures.append(failure)
        if not isinstance(error, Exception):
            STOP.set()


def describe(error: BaseException, plan: Plan) -> str:
    """The error in one line, without secrets that an address may hold."""
    if isinstance(error, Stopped):
        return str(error)
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror
    for url in (plan.source, plan.target):
        if url:
            text = text.replace(url, without_secrets(url))
    return text[:500]
