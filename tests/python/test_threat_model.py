"""Every row of the threat model and of misuse has its tests in the file beside the page, and every test that is named exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/explanation"
NAMED = re.compile(r"((?:crates|docs|fuzz|lab|python|riscv|tests)/[\w./-]+(?:\.(?:rs|pyi?|c|md)|/tests/run))(?:: (\w+))?")
DEFINED = {".c": r"^(?:static )?\w+ \*?{}\("}


@pytest.mark.parametrize("page", ["threat-model", "misuse"])
def test_every_row_has_tests(page: str) -> None:
    """In the order of the page. An indented line names a test, or says why there is none."""
    rows = re.findall(r"^\| (.+?) \|", (DOCS / f"{page}.md").read_text(), re.MULTILINE)
    tested = re.findall(r"^([^\s#].*)\n(?:    \S.*\n)+", (DOCS / f"{page}-tests.txt").read_text(), re.MULTILINE)
    assert tested == [row for row in rows if row not in {"attack", "event", "mistake"}]


@pytest.mark.parametrize(
    ("file", "least"),
    [("threat-model-tests.txt", 100), ("misuse-tests.txt", 70), ("threat-model.md", 2), ("side-channels.md", 5)],
)
def test_every_named_test_exists(file: str, least: int) -> None:
    named = NAMED.findall((DOCS / file).read_text())
    assert len(named) > least
    for path, function in named:
        source = (ROOT / path).read_text()
        defined = DEFINED.get(Path(path).suffix, r"\b(?:fn|def) {}\b").format(function)
        assert not function or re.search(defined, source, re.MULTILINE), f"{path}: {function}"
