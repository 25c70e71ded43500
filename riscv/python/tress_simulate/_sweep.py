"""One program on many simulated machines, on any executor.

A point is one machine with one issue width and one number of harts. A point that fails does not stop the others. With
`out`, points are written to a file as they finish, and a second call simulates only the missing ones.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import itertools
import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from subprocess import Popen
from typing import Any

from ._simulate import _PRESETS, AnyPath, simulate


class Sweep(list[dict[str, Any]]):
    """The simulated points, in the order of the parameters. Each has its parameters and the result of `simulate`."""

    def __init__(self, points: Iterable[dict[str, Any]], failed: Sequence[dict[str, Any]]):
        """Creates the result of a sweep from the simulated and the failed points."""
        super().__init__(points)
        self.failed = list(failed)
        """Parameters of the points that failed, with `error`."""

    def frame(self) -> Any:
        """A pandas frame, one row a point, with the number of harts and without lists. Needs pandas."""
        import pandas

        def flat(point: dict[str, Any]) -> dict[str, Any]:
            harts = point["harts"]
            one = {key: value for key, value in point.items() if not isinstance(value, list | dict)}
            return one | {"harts": len(harts) if isinstance(harts, list) else harts}

        return pandas.DataFrame(map(flat, self))


def sweep(
    program: AnyPath,
    machines: AnyPath | Sequence[AnyPath],
    *,
    issue: int | Sequence[int | None] | None = None,
    harts: int | Sequence[int | None] | None = None,
    limit: int | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    out: AnyPath | None = None,
) -> Sweep:
    """Simulates `program` with every combination of `machines`, `issue` and `harts`.

    `machines` are presets or TOML files, `issue` and `harts` as for `simulate`, each one or several. `executor` is any
    of `concurrent.futures`. Without one, `workers` simulations run in parallel on this machine, by default one for
    each core. `out` is a file of JSON lines. A point fails after `limit` instructions; without it, a program that never
    ends occupies its worker forever. A point whose `exit_code` is not 0 does not count as failed, so check it.

    Raises `OSError` if the program cannot be read, or `out` cannot be written.
    """
    digest = hashlib.sha256(Path(os.fsdecode(program)).read_bytes()).hexdigest()
    points = []
    named = [machines] if isinstance(machines, str | bytes | os.PathLike) else machines
    for machine, width, count in itertools.product(named, _as_sequence(issue), _as_sequence(harts)):
        points.append({"machine": os.fsdecode(machine), "issue": width, "harts": count})
    keys = [_key(digest, point) for point in points]
    known = _read(out) if out is not None else {}
    rows: dict[str, dict[str, Any]] = {key: known[key] for key in keys if key in known}
    failed: dict[str, dict[str, Any]] = {}
    open_points = {key: point for key, point in zip(keys, points, strict=True) if key not in rows}
    one = partial(_simulate, os.fsdecode(program), limit)
    if open_points and executor is not None:
        _run(executor, one, open_points, rows, failed, out)
    elif open_points:
        processes = _Processes()
        with ThreadPoolExecutor(workers or os.cpu_count()) as threads:
            try:
                _run(threads, partial(one, begun=processes.begun), open_points, rows, failed, out)
            except BaseException:
                processes.end()
                raise
    # A result has the name in a machine's file, which several files may share.
    done = (points[n] | rows[key] | {"machine": points[n]["machine"]} for n, key in enumerate(keys) if key in rows)
    left = (failed[key] | {"machine": points[n]["machine"]} for n, key in enumerate(keys) if key in failed)
    return Sweep(done, list(left))


def _as_sequence(given: int | Sequence[int | None] | None) -> Sequence[int | None]:
    return given if isinstance(given, Sequence) else [given]


def _key(program: str, point: dict[str, Any]) -> str:
    """The key of a point: of the version, and of the contents of the program and the machine file, not their names."""
    machine = point["machine"]
    is_file = machine not in _PRESETS and Path(machine).is_file()
    content = hashlib.sha256(Path(machine).read_bytes()).hexdigest() if is_file else machine
    return json.dumps([_version(), program, content, point["issue"], point["harts"]])


def _version() -> str:
    try:
        return importlib.metadata.version("tress-simulate")
    except importlib.metadata.PackageNotFoundError:
        return ""  # the program is one in PATH


def _read(out: AnyPath) -> dict[str, dict[str, Any]]:
    """The results in a file. A damaged line is ignored, so its point is simulated again."""
    found: dict[str, dict[str, Any]] = {}
    try:
        lines = Path(os.fsdecode(out)).read_bytes().splitlines()
    except FileNotFoundError:
        return found
    for line in lines:
        try:
            value = json.loads(line)
            key, result = value["key"], value["result"]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(key, str) and isinstance(result, dict):
            found[key] = result
    return found


def _run(
    executor: Executor,
    one: Callable[[dict[str, Any]], dict[str, Any]],
    points: dict[str, dict[str, Any]],
    rows: dict[str, dict[str, Any]],
    failed: dict[str, dict[str, Any]],
    out: AnyPath | None,
) -> None:
    """Submits all points together: there are not many, and each takes long."""
    pending: dict[Future[dict[str, Any]], str] = {}
    for key, point in points.items():
        try:
            pending[executor.submit(one, point)] = key
        except Exception as error:  # the executor broke
            failed[key] = point | {"error": f"{type(error).__name__}: {error}"}
    try:
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                key = pending.pop(future)
                try:
                    rows[key] = future.result()
                except Exception as error:  # any error only fails this point
                    failed[key] = points[key] | {"error": f"{type(error).__name__}: {error}"}
                else:
                    if out is not None:
                        _append(out, key, points[key], rows[key])
    except BaseException:
        for future in pending:
            future.cancel()
        raise


def _append(out: AnyPath, key: str, point: dict[str, Any], result: dict[str, Any]) -> None:
    """Appends a line. If the file ends with an incomplete line, completes that with a newline first."""
    with open(out, "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps({"key": key, "point": point, "result": result}).encode() + b"\n")


def _simulate(
    program: str, limit: int | None, point: dict[str, Any], begun: Callable[[Popen[bytes]], None] | None = None
) -> dict[str, Any]:
    """Simulates a point in a worker."""
    return simulate(
        program, machine=point["machine"], issue=point["issue"], harts=point["harts"], limit=limit, _begun=begun
    )


class _Processes:
    """The processes that the threads have started. They are killed when the sweep is interrupted."""

    def __init__(self) -> None:
        self._begun: list[Popen[bytes]] = []
        self._is_over = False

    def begun(self, process: Popen[bytes]) -> None:
        self._begun.append(process)
        if self._is_over:
            process.kill()

    def end(self) -> None:
        self._is_over = True
        for process in self._begun:
            process.kill()
