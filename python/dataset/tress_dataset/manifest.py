"""The manifest: what was done, in JSON lines beside the objects.

A line is one object (`done`) or the names that a worker is about to write (`begun`), with a check sum of itself. Each
shard of a run writes an object of its own, `.tress-dataset/VERB-RUN-NUMBER.jsonl`, and a run that ends joins its own
into `VERB-RUN.jsonl`. Runs sort by their names, and later lines win.

A line is a claim. Whoever uses one compares it with the objects that are there; a damaged one counts as none.
"""

from __future__ import annotations

import binascii
import json
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .names import CONTROL, check, encoded
from .retry import Retry
from .stores import Replace, Store

VERSION = 1
LONGEST = 4 << 20
"""Bytes of a line, at most. Ours are shorter; one from elsewhere may be as long as its writer likes."""
TOO_LONG = b"too long"
"""What a longer line is read as."""
_BEGUN_BYTES = 1 << 20
"""Names of one `begun` line, at most, as they are written."""
_MARK = b',"crc":"'
_encode = json.JSONEncoder(separators=(",", ":")).encode


PIECE = "_"
"""In the label of a piece of a shard. Sorts behind the point at which the name of an object ends."""


class Identity(NamedTuple):
    """What says whether an object is still the same."""

    size: int
    token: str


class Line(NamedTuple):
    """One object of a target that is done."""

    name: str
    """In the target."""
    verb: str
    source: Identity | None
    """What it was made from; None where no run saw that."""
    target: Identity
    seal: str
    """Which payload the container holds, or held: `seal.py`."""
    plain_bytes: int
    recipients: str | None = None
    """Which recipients, as `Keys.recipients_id` says."""

    def encode(self) -> bytes:
        """As a line of the manifest."""
        return _line(
            {
                "v": VERSION,
                "state": "done",
                "verb": self.verb,
                "name": self.name,
                "source": self.source,
                "target": self.target,
                "seal": self.seal,
                "plain_bytes": self.plain_bytes,
                "recipients": self.recipients,
            }
        )


class Begun(NamedTuple):
    """Names that a worker set out to write: objects there may be its work."""

    names: tuple[str, ...]

    def encode(self) -> bytes:
        """As a line of the manifest."""
        return _line({"v": VERSION, "state": "begun", "names": self.names})


class BadLine(ValueError):
    """A line that is damaged, or says what cannot be."""


class Foreign(NamedTuple):
    """A name that was begun, where an object turned out to be that no run wrote."""

    name: str

    def encode(self) -> bytes:
        """As a line of the manifest."""
        return _line({"v": VERSION, "state": "foreign", "name": self.name})


def _line(value: dict[str, Any]) -> bytes:
    # ASCII: also names that are no UTF-8, and those with line ends, stay on one line and come back as they were.
    body = _encode(value).encode()
    return body[:-1] + _MARK + b'%08x"}\n' % binascii.crc32(body)


def parse(line: bytes) -> Line | Begun | Foreign:
    """The inverse of `encode`. Raises `BadLine`."""
    if line == TOO_LONG:
        raise BadLine(f"longer than {LONGEST >> 20} MiB")
    at = line.rfind(_MARK)
    body = line[:at] + b"}"
    if at < 0 or line[at + len(_MARK) :] != b'%08x"}' % binascii.crc32(body):
        raise BadLine("wrong checksum")
    try:
        value = json.loads(body)
        if value["v"] != VERSION:
            raise BadLine("unknown version")
        if value["state"] == "begun":
            return Begun(tuple(check(_text(name)) for name in value["names"]))
        if value["state"] == "foreign":
            return Foreign(check(_text(value["name"])))
        if value["state"] != "done":
            raise BadLine("unknown state")
        source = value["source"]
        return Line(
            check(_text(value["name"])),
            _word(value["verb"]),
            None if source is None else _identity(source),
            _identity(value["target"]),
            _word(value["seal"]),
            _count(value["plain_bytes"]),
            None if value["recipients"] is None else _word(value["recipients"]),
        )
    except BadLine:
        raise
    except Exception as error:  # Anything may stand there.
        raise BadLine(f"not a manifest line: {type(error).__name__}") from None


def _text(value: Any) -> str:
    """A name or token, which has the bytes of some file name."""
    if not isinstance(value, str):
        raise BadLine("a field is not text")
    encoded(value)  # Half a pair of surrogates has no bytes.
    return value


def _word(value: Any) -> str:
    if not _text(value).isascii():
        raise BadLine("a field is not ASCII")
    return str(value)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
        raise BadLine("a field is not a count")
    return value


def _identity(value: Any) -> Identity:
    size, token = value
    return Identity(_count(size), _text(token))


class Journal:
    """The lines of one shard, as its worker writes them. Calls may come from several threads.

    Stores that cannot append get the whole object again: at the start, every `EVERY_S` seconds, and at the end.
    """

    EVERY_S = 20.0
    LINES = 32
    """Lines that are appended together, if they come within `LINES_S` seconds."""
    LINES_S = 0.1

    def __init__(self, store: Store, verb: str, run: str, shard: str, retry: Retry, stopped: threading.Event):
        self.name = self._named(verb, run, shard)
        self._store = store
        self._retry = retry
        self._stopped = stopped
        self._lock = threading.Lock()
        self._kept: list[bytes] = []
        self._pending: list[bytes] = []
        self._written = 0.0
        self._flushed = 0.0
        self._appends = True
        self.earlier: list[Line | Begun | Foreign] = []
        """What workers that died wrote of the same objects."""
        for whole in _wholes(shard):
            self._read(self._named(verb, run, whole))
        own = self._read(self.name)
        if own is not None:
            self._kept += own
            # The last line may have no end.
            self._store.append(self.name, b"\n")

    @staticmethod
    def _named(verb: str, run: str, shard: str) -> str:
        return f"{CONTROL}/{verb}-{run}-{shard}.jsonl"

    def _read(self, name: str) -> list[bytes] | None:
        """Adds to what is known; the good lines, or None where there is no such object."""
        try:
            found = self._retry.call(lambda _: list(lines(self._store, name)), self._stopped)
        except FileNotFoundError:
            return None
        good = []
        for text in found:
            try:
                self.earlier.append(parse(text))
            except BadLine:
                continue
            good.append(text + b"\n")
        return good

    def begin(self, names: Iterable[str]) -> None:
        """Before anything is written: these names are ours."""
        self._add(b"".join(Begun(some).encode() for some in _runs_of(names)), now=True)

    def done(self, line: Line) -> None:
        """The object is complete in the target."""
        self._add(line.encode(), now=False)

    def foreign(self, name: str) -> None:
        """The name is not ours after all."""
        self._add(Foreign(name).encode(), now=False)

    def end(self) -> None:
        """Nothing follows."""
        with self._lock:
            if self._pending:
                self._flush()
            if not self._appends:
                self._put()

    def _add(self, line: bytes, now: bool) -> None:
        with self._lock:
            self._pending.append(line)
            if now or len(self._pending) >= self.LINES or time.monotonic() - self._flushed > self.LINES_S:
                self._flush(now)

    def _flush(self, now: bool = False) -> None:
        """What a kill loses of these is begun, and is done again."""
        found, self._pending = self._pending, []
        self._flushed = time.monotonic()
        if self._appends and self._store.append(self.name, b"".join(found)):
            return
        self._appends = False
        self._kept += found
        if now or time.monotonic() - self._written > self.EVERY_S:
            self._put()

    def _put(self) -> None:
        # Also when the run is to stop: what is done is not forgotten.
        self._retry.call(lambda _: self._store.put(self.name, b"".join(self._kept)), threading.Event())
        self._written = time.monotonic()


def _runs_of(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The names in their order, in runs that are short enough for a line; one run where there are none."""
    held: list[str] = []
    size = 0
    for name in names:
        bytes_of_it = len(_encode(name)) + 1
        if held and size + bytes_of_it > _BEGUN_BYTES:
            yield tuple(held)
            held, size = [], 0
        held.append(name)
        size += bytes_of_it
    yield tuple(held)


def _wholes(shard: str) -> list[str]:
    """The labels of the shards that this one was split from, the first one first."""
    parts = shard.split(PIECE)
    return [PIECE.join(parts[:count]) for count in range(1, len(parts))]


def lines(store: Store, name: str) -> Iterator[bytes]:
    """The lines of one object, without their ends; also one that was not ended. One above `LONGEST` is `TOO_LONG`."""
    held: list[bytes] = []
    size = 0
    for piece in store.get(name):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join([*held, end]) if size + len(end) <= LONGEST else TOO_LONG
            held.clear()
            size = 0
        size += len(rest)
        if size <= LONGEST:
            held.append(rest)
        else:
            held.clear()
    if size:
        yield b"".join(held) if size <= LONGEST else TOO_LONG


def runs(store: Store) -> list[str]:
    """The manifest's objects, of earlier runs first."""

    def order(name: str) -> tuple[str, str]:
        _, _, run = name.rpartition("/")[2].partition("-")
        return run, name

    found = [name for name in store.control() if name.endswith(".jsonl") and not name.startswith(f"{CONTROL}/failed-")]
    return sorted(found, key=order)


def join(store: Store, verb: str, run: str, retry: Retry) -> None:
    """Puts the objects of this run's shards into one. Interrupted anywhere, no line is lost."""
    never = threading.Event()
    prefix = f"{CONTROL}/{verb}-{run}-"
    parts = [name for name in retry.call(lambda _: store.control(), never) if name.startswith(prefix)]
    if len(parts) < 2:
        return
    with store.write(f"{CONTROL}/{verb}-{run}.jsonl", 0, {}, Replace.ALWAYS) as out:
        for name in parts:
            found = retry.call(lambda _, name=name: list(lines(store, name)), never)  # type: ignore[misc]
            out.write(b"".join(line + b"\n" for line in found if line))
        out.commit()
    for name in parts:
        retry.call(lambda _, name=name: store.remove(name), never)  # type: ignore[misc]
