"""One run: what the program prints, errors, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tress_simulate import SimulationError, _simulate, simulate

ROOT = Path(__file__).resolve().parents[3]
IMAGES = ROOT / "riscv" / "firmware" / "images"
SHORT = IMAGES / "secrets.elf"


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"machine": None}, []),
        ({"machine": "raptor", "issue": 2}, ["--machine", "raptor", "--issue", "2"]),
        ({"machine": "raptor", "unlimited": True, "harts": 1}, ["--machine", "raptor", "--unlimited", "--harts", "1"]),
    ],
)
def test_results_are_the_programs(options: dict[str, Any], arguments: list[str]) -> None:
    done = subprocess.run([_simulate._find(), "--json", *arguments, str(SHORT)], capture_output=True)
    assert simulate(SHORT, **options) == json.loads(done.stdout)


def test_failures(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    (tmp_path / "machine.toml").write_text("name = 3")
    cases: list[tuple[type[Exception], Any, dict[str, Any]]] = [
        (FileNotFoundError, tmp_path / "missing", {}),
        (FileNotFoundError, os.fsencode(tmp_path / "missing"), {}),
        (FileNotFoundError, SHORT, {"machine": tmp_path / "missing.toml"}),
        (SimulationError, tmp_path / "text", {}),
        (SimulationError, SHORT, {"machine": None, "limit": 10}),
        (TypeError, None, {}),
        (TypeError, ["x"], {}),
        (TypeError, SHORT, {"limit": 1.5}),
        (FileNotFoundError, SHORT, {"machine": "no-such-machine"}),
        (SimulationError, SHORT, {"machine": tmp_path / "machine.toml"}),
        *((ValueError, SHORT, {name: n}) for name in ("issue", "harts", "limit") for n in (-1, 0, 1 << 70)),
    ]
    for error, program, options in cases:
        with pytest.raises(error):
            simulate(program, **options)


def test_a_program_that_prints_and_fails_is_no_error(tmp_path: Path) -> None:
    printed: list[bytes] = []
    report = simulate(endless(tmp_path, FAILS), machine=None, console=printed.append)
    assert (report["exit_code"], b"".join(printed)) == (3, b"h")


def test_errors_of_the_console_end_the_run() -> None:
    def fails(text: bytes) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        simulate(IMAGES / "kernels-ram.elf", machine=None, console=fails)


# A letter to the UART, then semihosting's SYS_EXIT_EXTENDED (a0) with the block after the code (a1): exit with code 3.
FAILS = struct.pack("<4I", 0x13, 0x10000637, 0x06800693, 0x00D60023)
FAILS += struct.pack("<8I", 0x597, 0x02058593, 0x02000513, 0x01F01013, 0x00100073, 0x40705013, 0x6F, 0)
FAILS += struct.pack("<QQ", 0x20026, 3)


def endless(folder: Path, code: bytes = struct.pack("<I", 0x6F)) -> Path:
    """An executable for RV64 of one instruction, a jump to itself, or of other code."""
    header = struct.pack(
        "<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, 243, 1, 1 << 31, 64, 0, 0, 64, 56, 1, 64, 0, 0
    )
    segment = struct.pack("<IIQQQQQQ", 1, 7, 120, 1 << 31, 1 << 31, len(code), len(code), 4)
    (folder / "program.elf").write_bytes(header + segment + code)
    return folder / "program.elf"


INTERRUPTED = """
import os, signal, subprocess, sys, threading, tress_simulate
begun = threading.Event()

def interrupt():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
# A sweep starts programs in threads.
start = subprocess.Popen.__init__
def started(*given, **named):
    start(*given, **named)
    if sys.argv[1] == "sweep":
        begun.set()
subprocess.Popen.__init__ = started
try:
    if sys.argv[1] == "sweep":
        tress_simulate.sweep(sys.argv[2], machines="raptor")
    else:
        tress_simulate.simulate(sys.argv[2], machine=None, console=lambda _: begun.set())
except KeyboardInterrupt:
    print("interrupted")
"""


def test_the_example_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/explanation/simulator.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    names["widths"](SHORT)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize("call", ["simulate", "sweep"])
def test_ctrl_c_ends_a_run(call: str, tmp_path: Path) -> None:
    # Prints a letter, then jumps to itself.
    program = endless(tmp_path, FAILS[:16] + struct.pack("<I", 0x6F))
    command = [sys.executable, "-c", INTERRUPTED, call, str(program)]
    # Returns when all pipes are closed, so when no simulation runs any more.
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "interrupted\n", done.stderr


ORPHANED = """
import os, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
from tress_simulate import _simulate, simulate

def begun(process):
    print(process.pid, flush=True)

def run(program):
    simulate(program, machine=None, _begun=begun)

if __name__ == "__main__":
    if sys.argv[1] == "alone":
        run(sys.argv[2])
    else:
        import multiprocessing
        context = multiprocessing.get_context(sys.argv[1])
        ProcessPoolExecutor(1, mp_context=context).submit(run, sys.argv[2]).result()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found otherwise there")
@pytest.mark.parametrize("how", ["alone", "spawn", "forkserver", "fork"])
def test_the_program_ends_with_a_process_that_is_killed(how: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(ORPHANED)
    command = [sys.executable, str(tmp_path / "script.py"), how, str(endless(tmp_path))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    while _lives(pid):
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    """Whether the process exists and is no zombie, which a container without an init may keep."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
