#!/usr/bin/env python3
"""Features of Windows: device names, names that differ only in case, colons, Ctrl-C, line ends.

    TRESS="wine target/…/tress.exe" INTERRUPT=target/…/interrupt.exe tests/systems/windows.py

The tests run under Wine. Features that it lacks (permissions, drives with other file systems) are not tested.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import unittest
from pathlib import Path

from commands import TIMEOUT_S, System, SystemTest, plaintext

TRESS = System.of("TRESS")
HERE = System.of("HERE")
INTERRUPT = str(Path(os.environ["INTERRUPT"]).resolve())


class Windows(SystemTest):
    """The command on Windows."""

    recipient: str

    def setUp(self) -> None:
        """Makes an identity."""
        super().setUp()
        self.recipient, _ = self.key(TRESS, "me.key")

    def test_line_ends(self) -> None:
        """Key files with the line ends of a Windows editor."""
        identity = self.path("me.key").read_bytes()
        self.path("crlf.key").write_bytes(identity.replace(b"\n", b"\r\n"))
        self.path("recipients").write_bytes(f"# me\r\n{self.recipient}\r\n".encode())
        sealed = self.ok(TRESS, "encrypt", "-R", "recipients", stdin=b"text").stdout
        self.assertEqual(self.ok(TRESS, "decrypt", "-i", "crlf.key", stdin=sealed).stdout, b"text")
        # Output is written as bytes, without conversion of line ends.
        self.assertNotIn(b"\r", self.ok(TRESS, "keygen", "--public", "me.key").stdout)

    def test_devices(self) -> None:
        """NUL accepts any output and is never replaced. A device name cannot be the name of an unpacked folder."""
        self.path("in").write_bytes(plaintext(300_000))
        before = self.names()
        self.ok(TRESS, "encrypt", "-r", self.recipient, "-o", "NUL", "in")
        self.ok(TRESS, "encrypt", "-r", self.recipient, "-o", "NUL", "--force", "in")
        self.assertEqual(self.names(), before)

    def test_trees_that_mean_harm(self) -> None:
        """Names that Windows would change are refused before anything is written."""
        plain_names = [["a/b", "c.d/e"], ["größe"]]
        harmful = [["a:b"], ["con"], ["Nul.txt"], ["a\\..\\..\\b"], ["C:x"], ["dot."], ["space "], ["one", "ONE"],
                   ["größe", "GRÖSSE", "Größe"], ["folder/x", "FOLDER/X"], ["com1.log"], ["a|b"]]
        for names in plain_names:
            self.open_tree(names, None)
        for names in harmful:
            self.open_tree(names, 1)

    def open_tree(self, names: list[str], status: int | None) -> None:
        """Opens a tree of such names, made on Linux."""
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name in names:
                entry = tarfile.TarInfo(f"tree/{name}")
                entry.size, entry.mode = 3, 0o644
                tar.addfile(entry, io.BytesIO(b"abc"))
        folder = self.path("made")
        folder.mkdir()
        with tarfile.open(fileobj=io.BytesIO(stream.getvalue())) as tar:
            # Extract entries unchanged. The Python of Debian 12 has this attribute, but no argument for it.
            tar.extraction_filter = lambda member, _: member
            tar.extractall(folder)
        self.ok(HERE, "encrypt", "-r", self.recipient, "-o", "sealed", "made/tree")
        self.ok_remove("made")
        with self.subTest(names=names):
            line = ["decrypt", "-i", "me.key", "-o", "out", "sealed"]
            if status is None:
                self.ok(TRESS, *line)
                self.assertEqual(sorted(name for name, held in self.entries_of("out") if held is not None), sorted(names))
                self.ok_remove("out")
            else:
                self.refused(status, TRESS, *line)
        self.path("sealed").unlink()

    def entries_of(self, name: str) -> list[tuple[str, bytes | None]]:
        """The names below a folder."""
        root = self.path(name)
        return [(path.relative_to(root).as_posix(), path.read_bytes() if path.is_file() else None)
                for path in root.rglob("*")]

    def ok_remove(self, name: str) -> None:
        """Removes a folder and its content."""
        subprocess.run(["rm", "-r", name], cwd=self.folder, check=True)

    def test_ctrl_c(self) -> None:
        """An interrupted run leaves no file, and has the exit status of an interrupted Windows program."""
        before = self.names()
        program = TRESS.line[-1]
        line = ["wine", INTERRUPT, program, "encrypt", "-r", self.recipient, "-o", "out"]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.split()[-1], b"c000013a")
        self.assertIn(b"tress: error: ", done.stderr)
        self.assertEqual(self.names(), before)

    def test_what_is_not_there(self) -> None:
        """Options that Windows lacks are refused, and measuring reports what is missing."""
        self.refused(2, TRESS, "encrypt", "--passphrase-fd", "3", "-o", "out", "me.key")
        self.refused(2, TRESS, "bench", "--quick", "encrypt-file")


if __name__ == "__main__":
    unittest.main(verbosity=2)
