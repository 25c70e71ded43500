#!/usr/bin/env python3
"""The Debian package: lintian, its contents, installation and removal, and the installed program.

    DEB=target/packages/tress_….deb tests/packaging/package.py

The package is installed in a folder with a separate package database, so that nothing is installed on this machine.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEB = Path(os.environ["DEB"]).resolve()
NAME = DEB.name.partition("_")[0]


def run(*line: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs a program that has to succeed, and captures its output."""
    done = subprocess.run([str(word) for word in line], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise AssertionError(f"{line[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    assert isinstance(done, subprocess.CompletedProcess)
    return done


def in_force(root: Path) -> set[str]:
    """Every installed file, except those of the package manager."""
    paths = (path for path in root.rglob("*") if not path.is_dir())
    return {name for path in paths if not (name := path.relative_to(root).as_posix()).startswith("var/")}


class Package(unittest.TestCase):
    """An installed package."""

    root: Path

    def setUp(self) -> None:
        """Makes an empty system and installs the package."""
        holder = tempfile.TemporaryDirectory(prefix="tress-package-")
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name)
        database = self.root / "var/lib/dpkg"
        for folder in ("info", "updates", "triggers"):
            (database / folder).mkdir(parents=True)
        for file in ("status", "available"):
            (database / file).touch()
        self.dpkg("--force-depends", "--install", str(DEB))

    def dpkg(self, *arguments: str) -> None:
        """Runs the package manager of that system."""
        run("dpkg", f"--root={self.root}", "--force-not-root", "--force-bad-path", "--log=/dev/null", *arguments)

    def test_lintian(self) -> None:
        """lintian reports no errors and no warnings. Each override has a reason."""
        run("lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", DEB)

    def test_comes_and_goes(self) -> None:
        """Every installed file belongs to the package, and removal leaves nothing."""
        listed = {name.lstrip("/") for name in (self.root / f"var/lib/dpkg/info/{NAME}.list").read_text().split("\n")}
        self.assertLessEqual(in_force(self.root), listed)
        self.dpkg("--purge", NAME)
        self.assertEqual(in_force(self.root), set())

    def test_the_command_works(self) -> None:
        """The installed program makes a key, encrypts a file and decrypts it."""
        tress = self.root / "usr/bin" / NAME
        version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
        assert version is not None
        self.assertEqual(run(tress, "--version").stdout.split(), [NAME, version[1]])
        if NAME != "tress":
            return
        work = self.root / "var/work"
        work.mkdir()
        run(tress, "keygen", "-o", "key", cwd=work)
        recipient = run(tress, "keygen", "--public", "key", cwd=work).stdout.split()[0]
        (work / "in").write_bytes(bytes(range(256)) * 1000)
        run(tress, "encrypt", "-r", recipient, "-o", "sealed", "in", cwd=work)
        run(tress, "decrypt", "-i", "key", "-o", "out", "sealed", cwd=work)
        self.assertEqual((work / "out").read_bytes(), (work / "in").read_bytes())

    def test_its_dependencies_are_named(self) -> None:
        """Every library that the program loads is in a package that it depends on."""
        depends = run("dpkg-deb", "--field", DEB, "Depends").stdout
        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", self.root / "usr/bin" / NAME).stdout)
        self.assertTrue(needed)
        triplet = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").stdout.strip()
        for library in needed:
            # Libraries for cross compilers have the same names.
            owner = run("dpkg", "-S", f"*/{triplet}/{library}").stdout.split(":")[0]
            self.assertIn(owner, depends, library)

    def test_manual_pages(self) -> None:
        """There is a page for each command, and groff and mandoc report no relevant problem."""
        pages = sorted((self.root / "usr/share/man/man1").iterdir())
        help_text = run(self.root / "usr/bin" / NAME, "--help").stdout
        commands = re.findall(r"^  ([a-z]+)  ", help_text, re.MULTILINE)
        self.assertGreater(len(commands), {"tress": 10, "tress-lab": 2}.get(NAME, -1))
        # Separate programs install their own pages, under the names of the commands.
        others = {"tress": {"bench", "study", "report", "simulate"}}.get(NAME, set())
        for command in set(commands) - others:
            self.assertIn(f"tress-{command}.1.gz", [page.name for page in pages])
        self.assertFalse({f"tress-{command}.1.gz" for command in others} & {page.name for page in pages})
        for page in pages:
            with self.subTest(page=page.name):
                # man warns about a locale that the system lacks.
                environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"}
                shown = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page, env=environment)
                self.assertEqual(shown.stderr, "")
                text = gzip.decompress(page.read_bytes())
                # Pages have no date, and the library that writes them decides how options and values are separated.
                said = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=text, capture_output=True, check=False)
                known = ("missing date", "skipping paragraph macro")
                lines = [line for line in said.stdout.decode().splitlines() if not any(each in line for each in known)]
                self.assertEqual(lines, [])

    def test_every_crate_is_named(self) -> None:
        """The copyright file names the licences of all linked crates, and the full texts are included."""
        documents = self.root / "usr/share/doc" / NAME
        short = (documents / "copyright").read_text()
        full = gzip.decompress((documents / "third-party.txt.gz").read_bytes()).decode()
        tree = run("cargo", "tree", "--locked", "-p", NAME, "--no-default-features", "-e", "normal,no-proc-macro",
                   "--prefix", "none", "--format", "{p}", cwd=ROOT).stdout
        crates = {tuple(line.split()[:2]) for line in tree.splitlines() if line and "(/" not in line}
        self.assertGreater(len(crates), 20)
        for name, version in crates:
            self.assertIn(f"{name} {version[1:]}\n", short)
            self.assertIn(f"{name} {version[1:]}", full)

    def test_nothing_of_this_machine_is_in_it(self) -> None:
        """The program contains neither the build folder nor the user's home."""
        if "debug" in os.environ.get("PROFILE", ""):
            self.skipTest("a debug build names its source files")
        held = (self.root / "usr/bin" / NAME).read_bytes()
        for path in {str(ROOT), str(Path.home()) + "/", "/.cargo/"}:
            self.assertFalse(path.encode() in held, path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
