"""Shared parts of the tests of other systems: the command line of a system's command, and a folder for both systems."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import unittest
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CHUNK_BYTES = 16384
# Time for a build without optimisation in an emulator, on a busy machine.
TIMEOUT_S = 300


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.stdout.decode()


@dataclass(frozen=True)
class System:
    """The command of one system: `target/debug/tress`, `wine target/tress.exe`, `qemu-riscv64 -L / target/tress`."""

    name: str
    line: tuple[str, ...]

    @staticmethod
    def of(variable: str) -> System:
        """The system that an environment variable names. Its paths may be relative to the current folder."""
        words = shlex.split(os.environ[variable])
        line = tuple(os.path.abspath(word) if os.sep in word and os.path.exists(word) else word for word in words)
        return System(variable, line)

    @property
    def is_windows(self) -> bool:
        """Whether the system is Windows."""
        return self.line[-1].endswith(".exe")

    def start(self, arguments: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
        """Starts the command in a folder."""
        pipe = subprocess.PIPE
        return subprocess.Popen([*self.line, *arguments], cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe)

    def run(self, arguments: Sequence[str], folder: Path, stdin: bytes = b"") -> Outcome:
        """Runs the command in a folder."""
        done = subprocess.run(
            [*self.line, *arguments], cwd=folder, input=stdin, capture_output=True, timeout=TIMEOUT_S, check=False
        )
        return Outcome(done.returncode, done.stdout, done.stderr.decode())


def plaintext(length: int) -> bytes:
    """Pseudorandom bytes, so that all chunks differ."""
    state, words = 0x9E3779B97F4A7C15, bytearray()
    while len(words) < length:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        words += (state >> 8).to_bytes(7, "little")
    return bytes(words[:length])


class SystemTest(unittest.TestCase):
    """A test with a new folder that both systems can access."""

    folder: Path

    def setUp(self) -> None:
        """Makes the folder."""
        holder = tempfile.TemporaryDirectory(prefix="tress-systems-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def path(self, name: str) -> Path:
        """A name in the folder."""
        return self.folder / name

    def names(self) -> list[str]:
        """All names below the folder."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))

    def ok(self, system: System, *arguments: str, stdin: bytes = b"") -> Outcome:
        """Runs a command that has to succeed."""
        done = system.run(arguments, self.folder, stdin)
        self.assertEqual(done.status, 0, f"{system.name} {arguments}: {done.stderr}")
        return done

    def refused(self, status: int, system: System, *arguments: str, stdin: bytes = b"") -> Outcome:
        """Runs a command that has to fail with this exit status and an error message, and leave no files."""
        before = self.names()
        done = system.run(arguments, self.folder, stdin)
        self.assertEqual(done.status, status, f"{system.name} {arguments}: {done.stderr}")
        self.assertRegex(done.stderr, r"(?m)^tress: error: ")
        self.assertNotIn("panicked", done.stderr)
        self.assertEqual(self.names(), before, f"{system.name} {arguments}")
        return done

    def key(self, system: System, name: str) -> tuple[str, str]:
        """Makes an identity. Returns its recipient and its address."""
        self.ok(system, "keygen", "-o", name)
        recipient, address = self.ok(system, "keygen", "--public", name).text.split()
        return recipient, address

    def same_files(self, one: Path, other: Path) -> None:
        """Compares two folders: names and content of files."""
        self.assertEqual(list(entries(one)), list(entries(other)))

    @contextmanager
    def receiver(self, system: System, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
        """A listening receiver and its address."""
        process = system.start(["receive", "--listen", "127.0.0.1:0", *arguments], self.folder)
        try:
            assert process.stderr is not None
            heard = b""
            while not heard.startswith(b"tress: listening on "):
                heard = process.stderr.readline()
                self.assertTrue(heard, "the receiver ended")
            yield process, heard.split()[-1].decode()
        finally:
            process.kill()
            process.communicate()


def entries(root: Path) -> Iterator[tuple[str, bytes | None]]:
    """The sorted names below a folder, each with the content of its file."""
    for path in sorted(root.rglob("*")):
        yield path.relative_to(root).as_posix(), path.read_bytes() if path.is_file() else None
