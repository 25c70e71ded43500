"""The command of the distribution `tress-cli`, for what has to be measured in processes of its own.

Functions import what they need: to import all of it takes longer than all the rest of `tress`.
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
    """Where the command `tress` is: in the distribution `tress-cli`, in the folder of scripts, or in PATH."""
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
        raise TressError("the command tress is not installed; " + install("tress-cli", "./crates/cli"), "no-command")
    return pathlib.Path(found)


def main() -> int:
    """`python -m tress`: the command, in place of this process where the system has that."""
    import subprocess

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
    import json
    import subprocess

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


def frame(result: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """Results as a table of `pandas`: the rows of a record of `bench`, one row for any other result, or one for each
    of several.

    What is nested has a column with dots, such as `against.openssl.ratio`.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tress.frame needs pandas; " + install("tress[frame]", ".[frame]")) from error
    rows: Any = [result] if isinstance(result, Mapping) else list(result)
    if isinstance(result, Mapping) and isinstance(result.get("rows"), list):
        rows = result["rows"]
    return pandas.json_normalize(rows)
