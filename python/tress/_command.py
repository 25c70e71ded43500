"""Calls of the command from the distribution `tress-cli`, and tables of results.

The functions import modules when they are called: importing these modules takes longer than the rest of `tress`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import TressError, Usage, install

if TYPE_CHECKING:
    import pathlib

    import pandas

__all__ = ["bench", "command", "frame", "main"]

_NAME = "tress.exe" if os.name == "nt" else "tress"


def command() -> pathlib.Path:
    """Returns the path of the command `tress`: in the distribution `tress-cli`, the folder of scripts, or PATH."""
    import importlib.metadata
    import pathlib
    import shutil
    import sysconfig

    try:
        files = importlib.metadata.distribution("tress-cli").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    places = [pathlib.Path(str(file.locate())) for file in files if file.name == _NAME]
    places.append(pathlib.Path(sysconfig.get_path("scripts"), _NAME))
    found = next((str(place.resolve()) for place in places if place.is_file()), None) or shutil.which(_NAME)
    if found is None:
        raise TressError("the command tress is not installed; " + install("./crates/cli"), "no-command")
    return pathlib.Path(found)


def main() -> int:
    """Runs the command for `python -m tress`. It replaces this process, except on Windows."""
    import subprocess

    path = str(command())
    arguments = [path, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(path, arguments)
    return subprocess.run(arguments, check=False).returncode


def bench(filter: str | None = None, *, quick: bool = True, against: Sequence[str] = ()) -> dict[str, Any]:
    """Runs the benchmarks whose names match the regular expression `filter`, and returns the record.

    Runs `tress bench --json`, because some benchmarks need separate processes. `against` names other libraries to
    compare with, such as `openssl`; their runs alternate with those of Tress.
    """
    import json
    import subprocess

    arguments = [str(command()), "bench", "--json"]
    arguments += ["--quick"] if quick else []
    names = [against] if isinstance(against, str) else against
    arguments += ["--against", ",".join(names)] if names else []
    arguments += ["--", filter] if filter is not None else []
    done = subprocess.run(arguments, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        text = done.stderr.decode(errors="replace").strip()
        if done.returncode == 2:
            raise Usage(text, "bench")
        raise TressError(text, "bench")
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def frame(result: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """Converts results to a table of `pandas`: the rows of a record of `bench`, or one row for each other result.

    Nested values get columns with dots in their names, such as `against.openssl.ratio`.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tress.frame needs pandas; " + install(".[frame]")) from error
    rows: Any = [result] if isinstance(result, Mapping) else list(result)
    if isinstance(result, Mapping) and isinstance(result.get("rows"), list):
        rows = result["rows"]
    return pandas.json_normalize(rows)
