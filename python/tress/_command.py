"""The command that comes with the package, for what has to be measured in processes of its own."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _tress
from ._errors import TressError, Usage, install_extra
from ._types import Path

if TYPE_CHECKING:
    import pandas

__all__ = ["bench", "command", "frame", "main", "simulate"]

_NAME = "tress.exe" if os.name == "nt" else "tress"


def command() -> pathlib.Path:
    """Where the command `tress` is that was installed with this package."""
    try:
        files = importlib.metadata.distribution("tress").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == _NAME and (path := pathlib.Path(str(file.locate()))).is_file():
            return path.resolve()
    beside = pathlib.Path(sysconfig.get_path("scripts")) / _NAME
    found = str(beside) if beside.is_file() else shutil.which(_NAME)
    if found is None:
        raise TressError("the tress command is not installed with this package", "no-command")
    return pathlib.Path(found)


def main() -> int:
    """`python -m tress`: the command, in place of this process where the system has that."""
    path = str(command())
    arguments = [path, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(path, arguments)
    return subprocess.run(arguments, check=False).returncode


def bench(filter: str | None = None, *, quick: bool = True, against: Sequence[str] = ()) -> dict[str, Any]:
    """Measures the rows whose names the regular expression `filter` finds, and returns the record.

    It runs `tress bench --json`, since some rows are measured in processes of their own. `against` names other
    libraries to measure in turn, such as `openssl`.
    """
    arguments = [str(command()), "bench", "--json"]
    arguments += ["--quick"] if quick else []
    arguments += ["--against", ",".join(against)] if against else []
    arguments += ["--", filter] if filter is not None else []
    done = subprocess.run(arguments, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        text = done.stderr.decode(errors="replace").strip()
        if done.returncode == 2:
            raise Usage(text, "bench")
        raise TressError(text, "bench")
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def simulate(
    program: Path,
    *,
    machine: Path | None = "fe310",
    issue: int | None = None,
    harts: int | None = None,
    unlimited: bool = False,
    limit: int | None = None,
    console: Callable[[bytes], object] | None = None,
) -> dict[str, Any]:
    """Runs a RISC-V program (an ELF file) on a simulated machine, and returns what `tress simulate --json` prints.

    `machine` is `fe310`, `e31`, `raptor`, a TOML file, or `None` for a machine that just runs: every instruction
    takes a cycle there, so its `cycles` say nothing of time. `issue` and `harts` replace what it says; `unlimited`
    leaves nothing but the flow of data; `limit` ends the run, with an error, after so many instructions, and without
    it a program that never ends runs until Ctrl-C. `console` is called with what the program prints. An exit code
    other than 0 is no error here: it is in the result.
    """
    report: dict[str, Any] = json.loads(
        _tress.simulate(
            program,
            machine=machine,
            issue=issue,
            harts=harts,
            unlimited=unlimited,
            limit=limit,
            console=console,
        )
    )
    return report


def frame(result: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """Results as a table of `pandas`: the rows of a record of `bench`, one row for any other result, or one for each
    of several.

    What is nested has a column with dots, such as `against.openssl.ratio`.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tress.frame needs pandas: " + install_extra("frame")) from error
    rows: Any = [result] if isinstance(result, Mapping) else list(result)
    if isinstance(result, Mapping) and isinstance(result.get("rows"), list):
        rows = result["rows"]
    return pandas.json_normalize(rows)
