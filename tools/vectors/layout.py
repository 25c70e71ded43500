#!/usr/bin/env python3
"""How the files of vectors/ are laid out: one test, or one row of figures, a line.

    tools/vectors/layout.py FILE...    lays these files out anew; no value changes
"""

import json
import pathlib
import sys


def has_rows(value):
    """Whether a list of objects is somewhere inside."""
    if isinstance(value, dict):
        return any(has_rows(part) for part in value.values())
    return isinstance(value, list) and any(isinstance(part, dict) or has_rows(part) for part in value)


def text(value, indent):
    """JSON text: an object or a list that holds rows has them on lines of their own, everything else is on one line."""
    if indent and not has_rows(value):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        brackets, parts = "[]", [text(part, indent + 1) for part in value]
    else:
        brackets, parts = "{}", []
        for key, part in value.items():
            member = f"{json.dumps(key)}: {text(part, indent + 1)}"
            # The members of a group that are no rows share a line.
            if indent and parts and not has_rows(part):
                parts[-1] += ", " + member
            else:
                parts.append(member)
    lines = "\n" + " " * (indent + 1)
    return brackets[0] + lines + f",{lines}".join(parts) + "\n" + " " * indent + brackets[1]


def dumps(document):
    """The text of a file."""
    return text(document, 0) + "\n"


if __name__ == "__main__":
    for path in map(pathlib.Path, sys.argv[1:]):
        old = path.read_text()
        new = dumps(json.loads(old))
        assert json.loads(new) == json.loads(old)
        path.write_text(new)
