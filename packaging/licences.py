#!/usr/bin/env python3
"""The third-party crates in a program, with their licences.

    packaging/licences.py copyright PACKAGE     prints the copyright file of the Debian package
    packaging/licences.py texts PACKAGE         prints the full text of every licence and notice of the linked crates

The list of crates comes from cargo, the texts from the crates' packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


@dataclass(frozen=True, order=True)
class Work:
    """A third-party crate that is linked into the program."""

    name: str
    version: str
    terms: str
    authors: tuple[str, ...]
    folder: Path

    def texts(self) -> Iterator[str]:
        """The licences and notices in the crate's package."""
        for path in sorted(self.folder.rglob("*")):
            is_near = len(path.relative_to(self.folder).parts) <= 2
            if is_near and path.is_file() and path.name.upper().startswith(NAMES) and path.suffix not in (".rs", ".html"):
                yield path.read_text(errors="replace").replace("\r\n", "\n").strip("\n")


def cargo(*arguments: str) -> str:
    """Runs cargo in the workspace, and returns its output."""
    line = ["cargo", *arguments, "--locked"]
    return subprocess.run(line, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def works(package: str) -> list[Work]:
    """The crates that are linked in, without those that only run in the compiler."""
    # Name the package: a build of the workspace would have other features.
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
        sys.exit(f"packaging/licences.py: no licence is named for {', '.join(without)}")
    return sorted(found)


def print_texts(package: str) -> None:
    """Prints every text once, after the names of the crates that contain it."""
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
    """Prints the copyright file in Debian's machine-readable format."""
    by_terms: dict[str, list[str]] = defaultdict(list)
    for work in works(package):
        by_terms[work.terms].append(f"{work.name} {work.version}")
    mit = (ROOT / "LICENSE-MIT").read_text()
    holder = next(line for line in mit.splitlines() if line.startswith("Copyright")).removeprefix("Copyright (c) ")
    print("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    repository = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
    print(f"Upstream-Name: tress\nSource: {repository}")
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
