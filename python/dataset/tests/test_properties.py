"""Property tests of the parsers: they refuse or accept any line, and an accepted line survives a round trip."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tress_dataset import Retry
from tress_dataset.errors import BadName
from tress_dataset.index import Index
from tress_dataset.manifest import BadLine, BegunLine, DoneLine, ForeignLine, Identity, _line, lines, parse
from tress_dataset.names import Item, check, decoded, encoded

settings.register_profile("tress", max_examples=100, deadline=None, derandomize=True, database=None)
settings.load_profile("tress")


def is_name(name: str) -> bool:
    try:
        check(name)
    except BadName:
        return False
    return True


counts = st.integers(0, (1 << 63) - 1)
texts = st.binary(max_size=40).map(decoded)
names = texts.filter(is_name)
words = st.binary(max_size=10).map(lambda some: some.hex())
identities = st.builds(Identity, counts, texts)
done = st.builds(DoneLine, names, words, st.none() | identities, identities, words, counts, st.none() | words)
parsed = st.one_of(done, st.builds(BegunLine, st.lists(names).map(tuple)), st.builds(ForeignLine, names))
surrogates = st.sampled_from(["\ud800", "\udc7f", "\udc80", "\udfff", "a\ud83d"])
latin = st.binary(max_size=5).map(lambda some: some.decode("latin-1"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | latin | surrogates,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(latin, inner, max_size=3),
)


class Store:
    """A store with one object of a manifest, which is read in pieces."""

    def __init__(self, pieces: list[bytes]):
        self.pieces = pieces

    def get(self, _: str) -> Iterator[bytes]:
        yield from self.pieces

    def control(self) -> list[str]:
        return [".tress-dataset/encrypt-20260101T000000-a.jsonl"]


def load(pieces: list[bytes]) -> Index:
    index = Index()
    index.load(Store(pieces), lambda _: True, Retry())  # type: ignore[arg-type]
    return index


@given(parsed)
def test_lines_come_back(line: DoneLine | BegunLine | ForeignLine) -> None:
    text = line.encode()
    assert text.count(b"\n") == 1 and text.isascii() and parse(text[:-1]) == line


@given(st.lists(st.binary(max_size=30) | st.just(b"\n")))
def test_lines_do_not_depend_on_pieces(pieces: list[bytes]) -> None:
    expected = b"".join(pieces).split(b"\n")
    assert list(lines(Store(pieces), "")) == (expected if expected[-1] else expected[:-1])  # type: ignore[arg-type]


@given(st.lists(st.binary(max_size=60)))
def test_any_bytes_are_refused_or_taken(pieces: list[bytes]) -> None:
    load(pieces).close()


@given(
    done,
    st.sampled_from(["v", "state", "verb", "name", "source", "target", "seal", "plain_bytes", "recipients"]),
    values,
)
def test_any_value_with_a_right_check_sum_is_refused_or_taken(line: DoneLine, field: str, value: Any) -> None:
    lying = json.loads(line.encode())
    del lying["crc"]
    text = _line(lying | {field: value})
    index = load([text])
    try:
        taken = parse(text[:-1])
    except BadLine:
        assert index.bad_count == 1
    else:
        assert index.bad_count == 0 and (not isinstance(taken, DoneLine) or index.line(taken.name) == taken)
    index.close()


@given(values)
def test_any_json_with_a_right_check_sum_is_refused_or_taken(value: Any) -> None:
    load(
        [_line({"v": 1, "state": "begun", "names": value}), _line({"v": 1, "state": "foreign", "name": value})]
    ).close()


@given(st.lists(parsed))
def test_the_index_holds_what_lines_say(given: list[DoneLine | BegunLine | ForeignLine]) -> None:
    finished: dict[str, DoneLine] = {}
    begun: set[str] = set()
    for line in given:
        if isinstance(line, BegunLine):
            begun.update(line.names)
            for name in line.names:
                finished.pop(name, None)
        elif isinstance(line, ForeignLine):
            begun.discard(line.name)
        else:
            finished[line.name] = line
    index = load([line.encode() for line in given])
    everything = finished.keys() | begun | {line.name for line in given if not isinstance(line, BegunLine)}
    assert {name: index.line(name) for name in everything if index.line(name)} == finished
    assert {name for name in everything if index.begun(name)} == begun
    index.close()


@given(st.dictionaries(names, st.tuples(counts, texts)), st.dictionaries(names, st.tuples(counts, texts)))
def test_what_is_missing_and_extra(present: dict[str, Any], wanted: dict[str, Any]) -> None:
    index = Index()
    index.note_present(Item(name, *rest) for name, rest in present.items())
    index.note_expected(Item(name, *rest) for name, rest in wanted.items())
    assert set(index.missing()) == wanted.keys() - present.keys()
    assert set(index.extra()) == present.keys() - wanted.keys()
    assert {item.name: (item.size, item.token) for item in index.items()} == present
    index.close()


@given(st.binary())
def test_names_have_the_bytes_that_they_came_from(name: bytes) -> None:
    assert encoded(decoded(name)) == name
