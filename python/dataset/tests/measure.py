"""Compares the run time of datasets with other programs. Not a test: run it on an idle machine with a release build.

    measure.py small      10,000 objects of 64 KiB, compared with one age process per file, run by xargs -P2
    measure.py large      20 objects of 256 MiB, compared with `tress encrypt` of the same files, one after the other

The two programs alternate. Prints each round and the median of the ratios. Options: `--tress PROGRAM`,
`--folder FOLDER` (in memory), `--rounds N`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import tress
import tress_dataset as dataset


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def fill(folder: Path, count: int, size: int) -> None:
    for number in range(count):
        path = folder / f"{number % 100:02}" / f"{number:05}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))


def compare(
    name: str, rounds: int, ours: Callable[[Path], object], theirs: Callable[[Path], object], folder: Path
) -> None:
    ratios = []
    for number in range(rounds):
        times = []
        for which in (ours, theirs) if number % 2 == 0 else (theirs, ours):
            shutil.rmtree(folder / "out", ignore_errors=True)
            times.append((which is ours, timed(lambda which=which: which(folder / "out"))))  # type: ignore[misc]
        mine = next(seconds for is_ours, seconds in times if is_ours)
        other = next(seconds for is_ours, seconds in times if not is_ours)
        ratios.append(other / mine)
        print(
            f"{name} round {number + 1}: dataset {mine:.2f} s, other {other:.2f} s, ratio {other / mine:.2f}",
            flush=True,
        )
    print(f"{name}: median ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def small(given: argparse.Namespace, key: tress.KeyPair) -> None:
    source = given.folder / "source"
    fill(source, given.objects or 10_000, 64 << 10)
    script = f'mkdir -p "$1"; cd {source}; find . -type d -exec mkdir -p "$1"/{{}} \\;; '
    script += f'find . -type f -print0 | xargs -0 -P2 -I{{}} age -r {key.recipient} -o "$1"/{{}}.age {{}}'
    compare(
        "small",
        given.rounds,
        lambda out: dataset.encrypt(source, out, key.recipient, workers=2),
        lambda out: subprocess.run(["sh", "-c", script, "sh", str(out)], check=True),
        given.folder,
    )


def large(given: argparse.Namespace, key: tress.KeyPair) -> None:
    source = given.folder / "source"
    fill(source, given.objects or 20, 256 << 20)

    def command(out: Path) -> None:
        out.mkdir()
        for path in sorted(source.rglob("*")):
            if path.is_file():
                run = [given.tress, "encrypt", "-r", key.recipient, "-o", str(out / path.name), str(path)]
                subprocess.run(run, check=True)

    compare(
        "large", given.rounds, lambda out: dataset.encrypt(source, out, key.recipient, workers=2), command, given.folder
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("small", "large"))
    parser.add_argument("--tress", default="target/release/tress")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm/tress-measure"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--objects", type=int)
    given = parser.parse_args()
    given.folder.mkdir()
    try:
        (small if given.what == "small" else large)(given, tress.KeyPair.generate())
    finally:
        shutil.rmtree(given.folder)


if __name__ == "__main__":
    main()
