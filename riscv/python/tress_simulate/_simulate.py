"""One run of the program `tress-simulate`."""

from __future__ import annotations

import importlib.metadata
import json
import operator
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._lifeline import ends_with_executor, lifeline

AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
"""The path of a file."""

_NAME = "tress-simulate.exe" if os.name == "nt" else "tress-simulate"
_PRESETS = {"fe310", "e31", "raptor"}
_MAX = {"issue": 64, "harts": 64, "limit": 2**64 - 1}


class SimulationError(RuntimeError):
    """The program or the machine file cannot be simulated, or the run did not reach its end."""


def simulate(
    program: AnyPath,
    *,
    machine: AnyPath | None = "fe310",
    issue: int | None = None,
    harts: int | None = None,
    unlimited: bool = False,
    limit: int | None = None,
    console: Callable[[bytes], object] | None = None,
    _begun: Callable[[subprocess.Popen[bytes]], object] | None = None,
) -> dict[str, Any]:
    """Runs a RISC-V program (an ELF file) on a simulated machine, and returns what `tress-simulate --json` prints.

    `machine` is `fe310`, `e31`, `raptor`, a TOML file, or `None` for a machine without timing: every instruction takes
    one cycle there, so its `cycles` do not measure time. `issue` and `harts` override the machine's values. With
    `unlimited`, only data flow limits the speed. `limit` ends the run with an error after that number of instructions;
    without it, a program that never ends runs until Ctrl-C. `console` is called with the program's output, and at the
    end with what it printed to standard error. An exit code other than 0 is not an error: it is in the result.

    Raises `OSError` if a file cannot be read, `ValueError` for invalid arguments, and `SimulationError`.
    """
    options = ["--unlimited"] if unlimited else []
    for name, number in {"issue": issue, "harts": harts, "limit": limit}.items():
        if number is not None:
            if not 1 <= operator.index(number) <= _MAX[name]:
                raise ValueError(f"{name} must be 1 to {_MAX[name]}, not {number}")
            options.append(f"--{name}={operator.index(number)}")
    path = os.fsdecode(program)
    open(path, "rb").close()
    if machine is not None:
        name = os.fsdecode(machine)
        if name not in _PRESETS:
            open(name, "rb").close()
        options.append(f"--machine={name}")
    with tempfile.TemporaryDirectory(prefix="tress-simulate-") as folder:
        report, errors = Path(folder, "report"), Path(folder, "errors")
        command = [_find(), f"--json={report}", *options, "--", path]
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "bufsize": 0}
        with (
            open(errors, "wb") as stderr,
            lifeline(Path(folder, "lifeline")) as environment,
            subprocess.Popen(command, stderr=stderr, env=environment, **pipes) as process,
            ends_with_executor(process),
        ):
            assert process.stdout is not None
            try:
                if _begun is not None:
                    _begun(process)
                while printed := process.stdout.read(1 << 16):
                    if console is not None:
                        console(printed)
                process.wait()
            finally:
                process.kill()
        text = errors.read_text(encoding="utf-8", errors="replace")
        # What the program printed to standard error comes first.
        own, is_failure, why = text.rpartition("tress-simulate: error: ")
        if report.exists() and not is_failure:
            own = text
        if console is not None and own:
            console(own.encode())
        if report.exists():
            result: dict[str, Any] = json.loads(report.read_bytes())
            return result
        kind = ValueError if process.returncode == 2 else SimulationError
        raise kind(why.strip() or f"exit status {process.returncode}")


def _find() -> str:
    """The path of the program: in this distribution, in the folder of scripts, or in PATH."""
    try:
        files = importlib.metadata.distribution("tress-simulate").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    places = [Path(str(file.locate())) for file in files if file.name == _NAME]
    places.append(Path(sysconfig.get_path("scripts"), _NAME))
    found = next((str(place.resolve()) for place in places if place.is_file()), None) or shutil.which(_NAME)
    if found is None:
        how = "in a clone of Tress run pip install ./riscv/python"
        raise SimulationError(f"the program tress-simulate is not installed: {how}")
    return found
