"""An identifier in backticks in docs/contributing exists in the code, in the file that its row or its path names."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/contributing").glob("*.md"))
IDENTIFIER = re.compile(r"`((?:\w+::)*\w+)(!?)(?:\([^`]*)?`")
KINDS = {"", ".rs", ".py", ".c", ".h", ".S", ".toml"}


def code() -> dict[str, str]:
    """The text of each tracked file of code, without comments that take a whole line."""
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    paths = {name: ROOT / name for name in names}
    texts = {
        name: path.read_text(errors="replace")
        for name, path in paths.items()
        if path.suffix in KINDS and path.is_file()
    }
    return {name: re.sub(r"^\s*(?://|# ).*$", "", text, flags=re.MULTILINE) for name, text in texts.items()}


CODE = code()
WORDS = {word for text in CODE.values() for word in re.findall(r"\w+", text)}


def files(name: str) -> list[str]:
    """The files whose paths end like this."""
    return [path for path in CODE if f"/{path}".endswith(f"/{name}")]


def module(name: str) -> list[str]:
    """The files of a module or crate."""
    return [path for path in CODE if re.search(rf"/{name}(\.rs|/.*)$", path)]


def has(paths: list[str], word: str) -> bool:
    return any(re.search(rf"\b{word}\b", CODE[path]) for path in paths)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_identifiers_exist(page: Path) -> None:
    missing = []
    for line in re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    ).splitlines():
        # A row begins with the file to edit. Other files in it may have the identifier instead.
        row = [path for name in re.findall(r"`([\w/.-]+\.\w+)`", line) for path in files(name)]
        is_row = line.startswith("| `") and files(line.split("`")[1])
        for name, is_macro in IDENTIFIER.findall(line):
            *path, last = name.split("::")
            if path and path[-1].islower():
                exists = has([file for file in module(path[-1].removeprefix("tress_")) if file.endswith(".rs")], last)
            elif is_row and (is_macro or not last.islower()):
                exists = all(has(row, word) for word in [*path, last])
            else:
                exists = WORDS >= {*path, last}
            if not exists:
                missing.append(name)
    assert missing == []
