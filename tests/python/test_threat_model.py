"""docs/threat-model.md names tests; each of them exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`((?:crates|tests)/[\w./-]+\.(?:rs|py))(?:: (\w+))?`")


def test_every_named_test_exists():
    text = (ROOT / "docs/threat-model.md").read_text()
    named = NAMED.findall(text)
    assert len(named) > 30
    for path, function in named:
        source = (ROOT / path).read_text()
        assert not function or re.search(rf"\b(?:fn|def) {function}\b", source), f"{path}: {function}"
