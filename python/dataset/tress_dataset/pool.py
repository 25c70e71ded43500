"""Runs shards in the caller's executor, or in a pool of processes that is restarted when a process crashes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from . import worker
from .errors import DatasetError, UsageError


class Pool:
    """Runs tasks. At most `window` tasks should be pending at a time."""

    def __init__(self, executor: Executor | None, workers: int | None):
        if workers is not None and workers < 1:
            raise UsageError("the number of workers must be at least 1")
        self._given = executor
        self._own: ProcessPoolExecutor | None = None
        self._thread: ThreadPoolExecutor | None = None
        self.workers = workers or (os.cpu_count() or 1 if executor is None else _workers_of(executor))
        # Twice the number of workers, so that no worker waits for its next shard.
        self.window = 2 * self.workers
        if isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor):
            self.window = self.workers + 2
        if executor is None:
            try:
                self._make()
            except (
                OSError,
                ImportError,
            ) as error:  # No semaphores: some containers have no /dev/shm, or a read-only one.
                if self.workers > 1:
                    raise DatasetError(
                        f"multiprocessing has no semaphores here (/dev/shm): {error}; "
                        "one worker needs none (--workers 1)"
                    ) from error
                self._given = self._thread = ThreadPoolExecutor(1)

    @property
    def own(self) -> bool:
        """Whether the pool starts the processes itself."""
        return self._own is not None

    def _make(self) -> None:
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        context = multiprocessing.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload([worker.__name__])
        # The fork server keeps the umask and the environment that it started with.
        mask = os.umask(0o077)
        os.umask(mask)
        self._own = ProcessPoolExecutor(self.workers, context, worker.begin_process, (mask, dict(os.environ)))

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submits a task, as `Executor.submit`."""
        executor = self._given or self._own
        assert executor is not None
        with _importable_main():
            return executor.submit(task, *arguments)

    def rebuild(self) -> bool:
        """Starts new processes after a crash. Returns False if the executor is the caller's."""
        if self._own is None:
            return False
        self._own.shutdown(wait=True, cancel_futures=True)
        self._make()
        return True

    def pids(self) -> list[int]:
        """Returns the ids of the pool's processes."""
        processes = getattr(self._own, "_processes", None) or {}
        return list(processes)

    def stop(self, event: threading.Event, pending: Iterable[Future[Any]]) -> None:
        """Asks the workers of a run, which has this event, to stop soon. Starts none of these tasks that waits."""
        if self._own is None:
            event.set()
            # Running tasks of this machine end soon. Tasks on other machines may not, so the wait has a limit.
            wait([future for future in pending if not future.cancel()], timeout=30)
            return
        pids = self.pids()
        # The pool itself cancels them: its thread ends with an error if a worker dies while others have cancelled
        # tasks, and a worker that has no handler yet dies.
        self._own.shutdown(wait=False, cancel_futures=True)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def close(self) -> None:
        """Ends the pool's processes. The caller's executor stays usable."""
        if self._own is not None:
            self._own.shutdown(wait=True, cancel_futures=True)
            return
        if self._thread is not None:
            self._thread.shutdown()


@contextmanager
def _importable_main() -> Iterator[None]:
    """Hides the name of a script that is no file, as in `python - <<EOF`: new processes would try to import it."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if file is None or os.path.exists(file):
        yield
        return
    del main.__file__
    try:
        yield
    finally:
        main.__file__ = file


def _workers_of(executor: Executor) -> int:
    """Returns the number of tasks that an executor runs at the same time, or an estimate."""
    count = getattr(executor, "_max_workers", None)
    if isinstance(count, int):
        return count
    client = getattr(executor, "_client", None)
    if client is not None:
        try:
            return max(1, int(sum(client.nthreads().values())))
        except Exception:  # only an estimate
            return 16
    return 16
