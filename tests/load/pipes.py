#!/usr/bin/env python3
"""Sends 200 GB through `tress encrypt | tress decrypt`: the output equals the input, and memory does not grow.

    tests/load/pipes.py [--gigabytes 200] [--tress PROGRAM] [--threads N] [--aead NAME]

Every block of 512 bytes begins with its number, followed by random bytes. So the first difference shows which block was
lost, doubled, moved or changed, and is printed. No file is written. The program prints a table, and exits with status 1
after any error.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from pathlib import Path
from typing import IO

BLOCK = 512
"""Every block of this size has a number, so that a lost or moved block is found. Nothing moves data in smaller units."""

PIECE = 16 << 20
"""Bytes that are made, written and compared at a time."""

WARM_BYTES = 10**9
"""Bytes after which the buffers of all threads have been used."""

GROWN_KB = 4096
"""Most growth of memory after that, for rarely touched pages. Keeping a batch of each gigabyte would need more."""

PEAK_KB = 32 << 10
"""Limit for a process with two threads, which uses a third of it."""

THREAD_KB = 4 << 10
"""Additional limit for each further thread."""

SILENCE_S = 300
"""Time without output after which the pipe counts as hung."""

F_SETPIPE_SZ = 1031
PIPE_BYTES = 1 << 20


class Stream:
    """Reproducible bytes for a seed, in pieces."""

    def __init__(self, seed: int):
        self.piece = bytearray(random.Random(seed).randbytes(PIECE))
        self.blocks = memoryview(self.piece).cast("Q")[:: BLOCK // 8]
        self.number = 0

    def next(self) -> bytearray:
        """The next piece, valid until the next call."""
        self.blocks[:] = memoryview(array("Q", range(self.number, self.number + PIECE // BLOCK)))
        self.number += PIECE // BLOCK
        return self.piece


class Soak:
    """One run."""

    def __init__(self, tress: str, keys: Path, total: int, threads: int, aead: str):
        identity = str(keys / "identity")
        subprocess.run([tress, "keygen", "-o", identity], check=True, capture_output=True)
        public = [tress, "keygen", "--public", identity]
        recipient = subprocess.run(public, check=True, capture_output=True, text=True).stdout.split()[0]
        workers = ["--threads", str(threads)]
        encrypt = [tress, "encrypt", "-r", recipient, "--aead", aead, *workers]
        decrypt = [tress, "decrypt", "-i", identity, *workers]
        self.total, self.peak_kb = total, PEAK_KB + max(threads - 2, 0) * THREAD_KB
        self.seed = random.randrange(1 << 32)
        self.done = 0
        self.wrong: list[str] = []
        self.over = threading.Event()
        self.started = time.monotonic()
        pipe = subprocess.PIPE
        # Separate process groups, so that child processes end with them.
        self.first = subprocess.Popen(encrypt, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True)
        assert self.first.stdin is not None and self.first.stdout is not None
        self.last = subprocess.Popen(
            decrypt, stdin=self.first.stdout, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
        )
        for end in [self.first.stdin, self.first.stdout, self.last.stdout]:
            assert end is not None
            fcntl.fcntl(end, F_SETPIPE_SZ, PIPE_BYTES)
        # Only the second process may hold this end: so each process notices when the other ends.
        self.first.stdout.close()
        self.processes = {"encrypt": self.first, "decrypt": self.last}
        self.warm: dict[str, int] = {}
        self.memory: dict[str, dict[str, int]] = {name: {} for name in self.processes}

    def run(self) -> None:
        """Runs both processes, and checks the result."""
        threads = [threading.Thread(target=task, daemon=True) for task in [self.write, self.watch]]
        for thread in threads:
            thread.start()
        self.read()
        # After an error neither process may wait for the other.
        if self.wrong:
            self.kill()
        self.over.set()
        for thread in threads:
            thread.join(60)
        for name, process in self.processes.items():
            assert process.stderr is not None
            said = process.stderr.read().decode(errors="replace").strip()
            if process.wait(60) != 0 and not (self.wrong and process.returncode < 0):
                self.wrong.append(f"{name} ended with {process.returncode}: {said[-500:]}")

    def kill(self) -> None:
        """Kills both processes."""
        for process in self.processes.values():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def write(self) -> None:
        """Writes the input."""
        pipe = self.first.stdin
        assert pipe is not None
        stream = Stream(self.seed)
        left = self.total
        try:
            while left > 0:
                piece = memoryview(stream.next())[: min(PIECE, left)]
                left -= len(piece)
                while piece:
                    piece = piece[os.write(pipe.fileno(), piece) :]
        except BrokenPipeError:
            if self.wrong:
                return
            self.wrong.append(f"encrypt stopped reading {left} bytes before the end")
        pipe.close()

    def read(self) -> None:
        """Reads the output and compares it."""
        pipe = self.last.stdout
        assert pipe is not None
        stream = Stream(self.seed)
        piece = bytearray(PIECE)
        while self.done < self.total:
            wanted = min(PIECE, self.total - self.done)
            got = fill(pipe, memoryview(piece)[:wanted])
            expected = stream.next()
            if got < PIECE:
                piece, expected = piece[:got], expected[:got]
            if piece != expected:
                self.wrong.append(difference(self.done, piece, expected))
                return
            self.done += got
            if got < wanted:
                self.wrong.append(f"only {self.done} of {self.total} bytes came out")
                return
        if pipe.read(1):
            self.wrong.append("more came out than went in")

    def watch(self) -> None:
        """Records the memory of both processes, and checks that data moves."""
        moved, before = time.monotonic(), 0
        while not self.over.wait(0.2):
            for name, process in self.processes.items():
                now = look(process.pid)
                if "rss" not in now:
                    continue  # The process has ended.
                now["peak"] = max(now["peak"], now["rss"])
                if self.done >= min(WARM_BYTES, self.total // 2):
                    self.warm.setdefault(name, now["peak"])
                self.memory[name] = now
            if self.done > before:
                moved, before = time.monotonic(), self.done
            elif time.monotonic() - moved > SILENCE_S:
                self.wrong.append(f"nothing came out for {SILENCE_S} s")
                self.kill()
                return
            if sys.stderr.isatty():
                rate = self.done / 1e9 / (time.monotonic() - self.started)
                print(f"\r{self.done / 1e9:.1f} GB, {rate:.2f} GB/s ", end="", file=sys.stderr, flush=True)

    def table(self) -> None:
        """Prints rates and memory."""
        seconds = time.monotonic() - self.started
        if sys.stderr.isatty():
            print(file=sys.stderr)
        print(f"seed {self.seed}: {self.done / 1e9:.3f} GB in {seconds:.0f} s, {self.done / 1e9 / seconds:.2f} GB/s")
        print(f"{'':10}{'first GB':>10}{'most':>10}{'at the end':>12}{'threads':>9}{'handles':>9}")
        for name, now in self.memory.items():
            warm = self.warm.get(name)
            if warm is None:
                if not self.wrong:
                    self.wrong.append(f"the memory of {name} was not seen")
                continue
            kilobytes = f"{name:10}{warm:>7} kB{now['peak']:>7} kB{now['rss']:>9} kB"
            print(f"{kilobytes}{now['threads']:>9}{now['handles']:>9}")
            if now["peak"] > warm + GROWN_KB:
                self.wrong.append(f"{name} grew from {warm} kB to {now['peak']} kB")
            if now["peak"] > self.peak_kb:
                self.wrong.append(f"{name} took {now['peak']} kB, where {self.peak_kb} are allowed")


def fill(pipe: IO[bytes], into: memoryview) -> int:
    """Reads until the buffer is full or the pipe ends. Returns the number of bytes."""
    got = 0
    while got < len(into):
        read = os.readv(pipe.fileno(), [into[got:]])
        if read == 0:
            break
        got += read
    return got


def look(process: int) -> dict[str, int]:
    """Memory of a process; empty if it has ended."""
    try:
        folder = Path(f"/proc/{process}")
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        return {
            "rss": int(status["VmRSS"].split()[0]),
            "peak": int(status["VmHWM"].split()[0]),
            "threads": int(status["Threads"]),
            "handles": len(list((folder / "fd").iterdir())),
        }
    except (OSError, KeyError):
        return {}


def difference(before: int, got: bytearray, expected: bytearray) -> str:
    """Describes the first difference of two pieces."""
    at = next(at for at, (a, b) in enumerate(zip(got, expected, strict=True)) if a != b)
    block = at - at % BLOCK
    number, wanted = (int.from_bytes(piece[block : block + 8], sys.byteorder) for piece in [got, expected])
    return f"byte {before + at} is another: in block {wanted}, where block {number} seems to be"


def main() -> None:
    """Arguments, a run, a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=200)
    parser.add_argument("--tress", default="target/release/tress")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each command")
    parser.add_argument("--aead", default="aes-128-ccm")
    given = parser.parse_args()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="tress-pipes-", dir=memory) as folder:
        total = round(given.gigabytes * 1e9)
        soak = Soak(os.path.abspath(given.tress), Path(folder), total, given.threads, given.aead)
        try:
            soak.run()
        finally:
            soak.kill()
    soak.table()
    for wrong in soak.wrong:
        print(f"wrong: {wrong}")
    if soak.wrong:
        sys.exit(f"tests/load/pipes.py: {len(soak.wrong)} things went wrong")


if __name__ == "__main__":
    main()
