"""Untrusted manifests: arbitrary bytes, long lines, false lines. Only an error of the store ends a run."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tress_dataset import Retry
from tress_dataset.index import Index
from tress_dataset.manifest import LONGEST, TOO_LONG, BadLine, BegunLine, DoneLine, Identity, Journal, lines, parse
from tress_dataset.stores.local import LocalStore

LINE = DoneLine("a.tress", "encrypt", Identity(5, "s"), Identity(9000, "t"), "0" * 64, 5, None)


class Pieces:
    """A store whose manifest is read in pieces of a given length."""

    def __init__(self, data: bytes, length: int):
        self.data = data
        self.length = length

    def get(self, _: str) -> Iterator[bytes]:
        for start in range(0, len(self.data), self.length):
            yield self.data[start : start + self.length]


@pytest.mark.parametrize("length", [1, 7, 1 << 20])
def test_lines_however_they_come(length: int) -> None:
    for data in (b"", b"\n", b"a", b"a\n", b"a\n\nb", b"\na\nbcd\n" * 5, LINE.encode() * 3):
        expected = data.split(b"\n")
        found = list(lines(Pieces(data, length), ""))  # type: ignore[arg-type]
        assert found == (expected if expected[-1] else expected[:-1])


def test_a_long_line_costs_little() -> None:
    """Reading a long line needs little memory, and time that grows linearly."""

    class Endless:
        def get(self, name: str) -> Iterator[bytes]:
            yield b"first\n"
            for _ in range(150):
                yield bytes(1 << 20)
            yield b"\nlast"

    tracemalloc.start()
    found = list(lines(Endless(), ""))  # type: ignore[arg-type]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [b"first", TOO_LONG, b"last"] and most < 3 * LONGEST
    with pytest.raises(BadLine):
        parse(TOO_LONG)


def test_many_bad_lines_cost_little(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.put(".tress-dataset/encrypt-20260101T000000-a.jsonl", b"x\n" * 100_000)
    index = Index()
    index.load(store, lambda name: True, Retry())
    assert (index.bad_count, len(index.bad_lines)) == (100_000, 20)
    index.close()


def test_names_that_are_begun_fit_into_lines(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    names = [f"{number:04}" + "\udcff" * 900 for number in range(1000)]
    journal = Journal(store, "encrypt", "20260101T000000-a", "000000", Retry(), threading.Event())
    journal.begin(names)
    journal.end()
    found = [parse(line) for line in lines(store, journal.name)]
    assert len(found) > 1 and [name for line in found if isinstance(line, BegunLine) for name in line.names] == names


@pytest.mark.parametrize("field", ["name", "verb", "payload_id", "recipients", "token"])
def test_half_a_pair_of_surrogates_is_refused(field: str) -> None:
    """A lone surrogate cannot be encoded, so it would fail in the index and end the run."""
    values: dict[str, Any] = {"target": Identity(1, "\ud800")} if field == "token" else {field: "\ud800"}
    line = LINE._replace(**values)
    with pytest.raises(BadLine):
        parse(line.encode()[:-1])
