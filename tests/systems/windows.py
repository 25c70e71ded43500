#!/usr/bin/env python3
"""What only Windows has: device names, names that differ by case, colons, Ctrl-C, line ends.

    TRESS="wine target/…/tress.exe" INTERRUPT=target/…/interrupt.exe tests/systems/windows.py

Wine stands in for Windows. What it does not have (permissions, drives of other file systems) is not tested.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import time
import unittest
from pathlib import Path

from commands import System, SystemTest, plaintext

TRESS = System.of("TRESS")
HERE = System.of("HERE")
INTERRUPT = str(Path(os.environ["INTERRUPT"]).resolve())


class Windows(SystemTest):
    """The command as a user of Windows meets it."""

    recipient: str

    def setUp(self) -> None:
        """Makes an identity."""
        super().setUp()
        self.recipient, _ = self.key(TRESS, "me.key")

    def test_line_ends(self) -> None:
        """Files of keys as an editor of Windows writes them."""
        identity = self.path("me.key").read_bytes()
        self.path("crlf.key").write_bytes(identity.replace(b"\n", b"\r\n"))
        self.path("recipients").write_bytes(f"# me\r\n{self.recipient}\r\n".encode())
        sealed = self.ok(TRESS, "encrypt", "-R", "recipients", stdin=b"text").stdout
        self.assertEqual(self.ok(TRESS, "decrypt", "-i", "crlf.key", stdin=sealed).stdout, b"text")
        # Not a line more: results are bytes, whatever the system thinks of ends of lines.
        self.assertNotIn(b"\r", self.ok(TRESS, "keygen", "--public", "me.key").stdout)

    def test_devices(self) -> None:
        """NUL takes everything and is never replaced; a device is no name for a folder of files."""
        self.path("in").write_bytes(plaintext(300_000))
        before = self.names()
        self.ok(TRESS, "encrypt", "-r", self.recipient, "-o", "NUL", "in")
        self.ok(TRESS, "encrypt", "-r", self.recipient, "-o", "NUL", "--force", "in")
        self.assertEqual(self.names(), before)

    def test_trees_that_mean_harm(self) -> None:
        """Names that Windows would take for others are refused before anything is there."""
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
            # As it stands; Debian 12's Python knows no argument for that.
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
        """What lies below a folder."""
        root = self.path(name)
        return [(path.relative_to(root).as_posix(), path.read_bytes() if path.is_file() else None)
                for path in root.rglob("*")]

    def ok_remove(self, name: str) -> None:
        """Removes a folder with all that it holds."""
        subprocess.run(["rm", "-r", name], cwd=self.folder, check=True)

    def test_ctrl_c(self) -> None:
        """A run that is stopped leaves nothing, and ends as Windows ends what is stopped."""
        before = self.names()
        program = TRESS.line[-1]
        start = time.monotonic()
        line = ["wine", INTERRUPT, "3000", program, "encrypt", "-r", self.recipient, "-o", "out"]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.split()[-1], b"c000013a")
        self.assertIn(b"tress: error: ", done.stderr)
        self.assertEqual(self.names(), before)
        self.assertLess(time.monotonic() - start, 30)

    def test_what_is_not_there(self) -> None:
        """Options that need another system say so, and measuring says what it lacks."""
        self.refused(2, TRESS, "encrypt", "--passphrase-fd", "3", "-o", "out", "me.key")
        self.refused(2, TRESS, "bench", "--quick", "encrypt-file")


if __name__ == "__main__":
    unittest.main(verbosity=2)
