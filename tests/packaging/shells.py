#!/usr/bin/env python3
"""Completions in the shells: each shell loads its script and completes typed words.

    STAGED=target/packages/staged tests/packaging/shells.py        a folder that packaging/stage made
"""

from __future__ import annotations

import os
import pty
import select
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

STAGED = Path(os.environ["STAGED"]).resolve()
BASH = STAGED / "share/bash-completion/completions/tress"
ZSH = STAGED / "share/zsh/site-functions/_tress"
FISH = STAGED / "share/fish/vendor_completions.d/tress.fish"
# Only ends a hang.
TIMEOUT_S = 600


class Shell:
    """An interactive shell on a separate terminal."""

    def __init__(self, line: list[str], home: str) -> None:
        """Starts the shell."""
        pid, self.terminal = pty.fork()
        if pid == 0:
            variables = {"HOME": home, "TERM": "dumb", "PATH": f"{STAGED}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PS1": "$ "}
            os.execvpe(line[0], line, variables)
        self.pid = pid
        self.seen = ""

    def type(self, text: str, until: str) -> str:
        """Types text, and reads until `until` appears. Returns the output."""
        os.write(self.terminal, text.encode())
        self.seen, end = "", time.monotonic() + TIMEOUT_S
        while until not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{until!r} did not come: {self.seen!r}")
            self.seen += os.read(self.terminal, 4096).decode(errors="replace")
        return self.seen

    def end(self) -> None:
        """Ends the shell."""
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


class Completion(unittest.TestCase):
    """Completions by the Tab key."""

    def shell(self, *line: str) -> Shell:
        """An interactive shell that ends with the test."""
        holder = tempfile.TemporaryDirectory(prefix="tress-shell-")
        self.addCleanup(holder.cleanup)
        shell = Shell(list(line), holder.name)
        self.addCleanup(shell.end)
        return shell

    def test_syntax(self) -> None:
        """Each shell reads its script without complaint."""
        for shell, script in (("bash", BASH), ("zsh", ZSH), ("fish", FISH)):
            with self.subTest(shell=shell):
                done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bash(self) -> None:
        """Commands, options of a command, values of an option."""
        shell = self.shell("bash", "--norc", "--noprofile", "-i")
        shell.type(f"source {BASH} && echo loa''ded\n", "loaded")
        shell.type("tress enc\t", "encrypt ")
        shell.type("--ae\t", "aead ")
        # Two values begin alike: bash completes their common part.
        shell.type("aes-1\t", "28-ccm")

    def test_zsh(self) -> None:
        """The same in zsh, which finds the script in fpath."""
        shell = self.shell("zsh", "-f", "-i")
        shell.type(f"fpath=({ZSH.parent} $fpath); autoload -Uz compinit; compinit -u -D; echo loa''ded\n", "loaded")
        shell.type("tress enc\t", "encrypt ")
        shell.type("--ae\t", "aead")

    def test_fish(self) -> None:
        """fish prints the completions that it would offer."""
        script = f"source {FISH}; complete -C 'tress enc'; complete -C 'tress encrypt --ae'"
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=False)
        offered = [line.split("\t")[0] for line in done.stdout.splitlines()]
        self.assertEqual((offered, done.stderr), (["encrypt", "--aead"], ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
