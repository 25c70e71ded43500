#!/usr/bin/env python3
"""Whose work a program holds, and under which terms.

    packaging/licences.py copyright PACKAGE     the copyright file of the Debian package
    packaging/licences.py texts PACKAGE         every licence and notice of the crates that are compiled in, in full

Which crates these are, cargo says; the texts are those that they ship.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


@dataclass(frozen=True, order=True)
class Work:
    """Something of others that is part of the command."""

    name: str
    version: str
    terms: str
    authors: tuple[str, ...]
    folder: Path

    def texts(self) -> Iterator[str]:
        """What it ships of licences and notices."""
        for path in sorted(self.folder.rglob("*")):
            is_near = len(path.relative_to(self.folder).parts) <= 2
            if is_near and path.is_file() and path.name.upper().startswith(NAMES) and path.suffix not in (".rs", ".html"):
                yield path.read_text(errors="replace").replace("\r\n", "\n").strip("\n")


def cargo(*arguments: str) -> str:
    """What cargo says of the workspace."""
    line = ["cargo", *arguments, "--locked"]
    return subprocess.run(line, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def works(package: str) -> list[Work]:
    """The crates that are compiled in, not those that only run in the compiler."""
    # Nothing is left to the features of a workspace.
    tree = cargo("tree", "-p", package, "--no-default-features", "-e", "normal,no-proc-macro", "--prefix", "none",
                 "--format", "{p}")
    wanted = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    found = []
    for each in json.loads(cargo("metadata", "--format-version", "1"))["packages"]:
        is_ours = each["source"] is None
        if not is_ours and (each["name"], "v" + each["version"]) in wanted:
            terms = " ".join((each["license"] or "").replace("/", " OR ").split())
            folder = Path(each["manifest_path"]).parent
            found.append(Work(each["name"], each["version"], terms, tuple(each["authors"]), folder))
    without = [work.name for work in found if not work.terms]
    if without:
        sys.exit(f"packaging/licences.py: no terms are told of {', '.join(without)}")
    return sorted(found)


def print_texts(package: str) -> None:
    """Every text once, under the works that ship it."""
    holders: dict[str, list[str]] = defaultdict(list)
    bare = []
    for work in works(package):
        texts = list(work.texts())
        for text in texts:
            holders[text].append(f"{work.name} {work.version}")
        if not texts:
            bare.append(work)
    print(f"The program {package} holds these works of others.")
    for text, names in sorted(holders.items(), key=lambda item: item[1]):
        print(f"\n{'=' * 78}\n{', '.join(dict.fromkeys(names))}\n{'-' * 78}\n{text}")
    print(f"\n{'=' * 78}\nThese ship no text of their licence; it is one of those above, or that of tress itself.\n{'-' * 78}")
    for work in bare:
        print(f"{work.name} {work.version}: {work.terms}; {', '.join(work.authors) or 'its authors are not told'}")


def print_copyright(package: str) -> None:
    """The copyright file, as Debian has machines read it."""
    by_terms: dict[str, list[str]] = defaultdict(list)
    for work in works(package):
        by_terms[work.terms].append(f"{work.name} {work.version}")
    mit = (ROOT / "LICENSE-MIT").read_text()
    holder = next(line for line in mit.splitlines() if line.startswith("Copyright")).removeprefix("Copyright (c) ")
    print("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    print("Upstream-Name: tress\nSource: https://github.com/tress-crypto/tress")
    print("Comment:\n The command is linked from these works of others as well. Their notices and the")
    print(" texts of their licences are in third-party.txt.gz beside this file.")
    for terms, names in sorted(by_terms.items()):
        print(f" .\n {terms}:")
        print("\n".join(f"  {name}" for name in names))
    print(f"\nFiles: *\nCopyright: {holder}\nLicense: MIT or Apache-2.0")
    body = mit.split("\n\n", 2)[2]
    print("\nLicense: MIT\n" + "\n".join(f" {line}" if line else " ." for line in body.rstrip().splitlines()))
    print("\nLicense: Apache-2.0\n On Debian systems the text of the Apache License 2.0 is in\n"
          " /usr/share/common-licenses/Apache-2.0.")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["copyright", package]:
            print_copyright(package)
        case ["texts", package]:
            print_texts(package)
        case _:
            sys.exit(__doc__)
