"""tools/demo and tools/setup, which newcomers run first."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRESS = os.environ["TRESS"]


def demo(program: Path | str, folder: Path) -> subprocess.Popen[str]:
    """Starts tools/demo on 4 MiB, with its files below `folder`, as a process group."""
    return subprocess.Popen(
        [ROOT / "tools/demo", program, "4"],
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def script(path: Path, text: str) -> Path:
    """Writes an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """A folder that the demo has to leave empty."""
    folder = tmp_path / "room"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def test_the_demo_shows_each_step_and_a_chart(room: Path) -> None:
    run = demo(TRESS, room)
    out, err = run.communicate()
    assert run.returncode == 0, err
    shown, following = out.split("\nNext", 1)
    commands = ["keygen", "encrypt", "decrypt -i me.txt -o copy", "decrypt -i me.txt -o piece --range", "rewrap",
                "encrypt --format age", "decrypt -i me.txt -o back", "decrypt -i me.txt -o one", "receive", "send"]
    assert [command for command in commands if f"$ tress {command}" not in shown] == []
    assert sum(line.endswith("#") for line in shown.splitlines()) >= 3
    # The second line has the name of the folder, which may be long.
    assert max(len(line) for line in shown.splitlines()[2:]) <= 80
    assert following.count(f"  {TRESS} ") == 3


# Each of these scripts differs from `tress` in one step.
WRONG = {
    "range": 'case "$*" in *--range*) head -c 1048576 /dev/zero >piece;; *) exec "$TRESS" "$@";; esac',
    "unnoticed damage": 'case "$*" in *"-o copy"*) cp big copy;; *) exec "$TRESS" "$@";; esac',
    "no age file": 'case "$*" in *theirs*) : >back;; *) exec "$TRESS" "$@";; esac',
    "another file": 'case "$*" in *7777*) cp many/7778 one;; *) exec "$TRESS" "$@";; esac',
    "a file does not arrive": '"$TRESS" "$@" && case "$1" in send) rm in/*/many/0000;; esac',
    "no rewrap": 'case "$1" in rewrap) ;; *) exec "$TRESS" "$@";; esac',
    "another status": 'case "$1" in keygen) exit 2;; *) exec "$TRESS" "$@";; esac',
}


@pytest.mark.parametrize("what", WRONG)
def test_the_demo_fails_where_a_step_does(room: Path, tmp_path: Path, what: str) -> None:
    run = demo(script(tmp_path / "tress", f"TRESS='{TRESS}'\n{WRONG[what]}"), room)
    _, err = run.communicate()
    assert run.returncode == 1 and err.splitlines()[-1].startswith("tools/demo: ")


def test_an_interrupted_demo_leaves_nothing(room: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")
    program = script(tmp_path / "tress", f'case "$1" in encrypt) : >"{tmp_path}/ready"; exec sleep 100000;; *) exec "{TRESS}" "$@";; esac')
    run = demo(program, room)
    (tmp_path / "ready").read_bytes()
    os.killpg(run.pid, signal.SIGINT)
    run.communicate()
    assert run.returncode == 130


def test_goals_that_do_not_run_or_that_nobody_reads_fail(tmp_path: Path) -> None:
    script(tmp_path / "make", "exec yes")
    for make, reader in [("/nonexistent", "cat"), (tmp_path / "make", "head -1")]:
        line = f"set -o pipefail; MAKE={make} {ROOT}/tools/goals run a b | {reader}"
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
        run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, env=environment)
        assert run.returncode == 1 and "failed, after" in run.stderr, run.stderr


@pytest.mark.parametrize(
    ("goal", "some"),
    [
        ("demo", "age"),
        ("c", "valgrind"),
        ("test", "chromium fish g++ lintian python3-venv valgrind"),
        ("test-targets", "gcc-riscv64-unknown-elf gcc-s390x-linux-gnu wine"),
    ],
)
def test_setup_names_all_missing_packages_in_one_line(tmp_path: Path, goal: str, some: str) -> None:
    """On a machine with few programs, without root."""
    for program in ["bash", "dirname", "awk", "sort", "xargs", "sed", "echo"]:
        (tmp_path / program).symlink_to(shutil.which(program) or program)
    script(tmp_path / "cargo", "")
    script(tmp_path / "id", "echo 1000")
    run = subprocess.run(
        ["bash", ROOT / "tools/setup", goal], env={"PATH": str(tmp_path)}, stderr=subprocess.PIPE, text=True, check=False
    )
    [line] = [line for line in run.stderr.splitlines() if line.startswith("apt-get install --no-install-recommends ")]
    assert run.returncode == 1 and {"gcc", *some.split()} <= set(line.split())
