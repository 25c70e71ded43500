"""docs/threat-model.md, docs/misuse.md and docs/side-channels.md name tests; each of them exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`((?:crates|tests)/[\w./-]+\.(?:rs|py))(?:: (\w+))?`")


@pytest.mark.parametrize(("page", "least"), [("threat-model", 30), ("misuse", 30), ("side-channels", 5)])
def test_every_named_test_exists(page: str, least: int) -> None:
    text = (ROOT / f"docs/{page}.md").read_text()
    named = NAMED.findall(text)
    assert len(named) > least
    for path, function in named:
        source = (ROOT / path).read_text()
        assert not function or re.search(rf"\b(?:fn|def) {function}\b", source), f"{path}: {function}"
