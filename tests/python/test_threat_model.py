"""Every test that the threat model, misuse and side-channels pages name exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# `file: function`, and more functions of that file behind it.
NAMED = re.compile(r"`((?:crates|lab|python|riscv|tests)/[\w./-]+(?:\.(?:rs|py|pyi|c)|/tests/run))(?:: (\w+))?`((?:, `\w+`)*)")
DEFINED = {".c": r"^(?:static )?\w+ \*?{}\("}


@pytest.mark.parametrize(("page", "least"), [("threat-model", 30), ("misuse", 70), ("side-channels", 5)])
def test_every_named_test_exists(page: str, least: int) -> None:
    text = (ROOT / f"docs/explanation/{page}.md").read_text()
    named = [(path, name) for path, first, more in NAMED.findall(text) for name in [first, *re.findall(r"\w+", more)]]
    assert len(named) > least
    for path, function in named:
        source = (ROOT / path).read_text()
        defined = DEFINED.get(Path(path).suffix, r"\b(?:fn|def) {}\b").format(function)
        assert not function or re.search(defined, source, re.MULTILINE), f"{path}: {function}"
