"""The manifest: JSON lines next to the objects that record what was done.

A line describes one finished object (`done`) or the names that a worker is about to write (`begun`), and has a
checksum. Each shard of a run writes a separate object, `.tress-dataset/VERB-RUN-NUMBER.jsonl`. At its end a run joins
them to `VERB-RUN.jsonl`. Runs sort by their names, and later lines win.

Lines are not trusted: readers compare them with the existing objects, and ignore damaged lines.
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
"""Longest line in bytes that is read. This package writes shorter ones."""
TOO_LONG = b"too long"
"""Takes the place of a longer line."""
_BEGUN_BYTES = 1 << 20
"""Largest encoded size in bytes of the names in one `begun` line."""
_MARK = b',"crc":"'
_encode = json.JSONEncoder(separators=(",", ":")).encode


PIECE = "_"
"""Separator in the label of a piece of a shard. It sorts after the `.` of `.jsonl`, so that lines of a piece win."""


class Identity(NamedTuple):
    """Identifies a version of an object."""

    size: int
    token: str


class DoneLine(NamedTuple):
    """A finished object of a target."""

    name: str
    """Name in the target."""
    verb: str
    source: Identity | None
    """The source object; None if no run has seen it."""
    target: Identity
    payload_id: str
    """Identifier of the container's payload (see `payload_id.py`). For `decrypt`, of the container that was decrypted."""
    plain_bytes: int
    recipients: str | None = None
    """Result of `RunKeys.recipients_id`."""

    def encode(self) -> bytes:
        """Returns a line of the manifest."""
        return _line(
            {
                "v": VERSION,
                "state": "done",
                "verb": self.verb,
                "name": self.name,
                "source": self.source,
                "target": self.target,
                "seal": self.payload_id,
                "plain_bytes": self.plain_bytes,
                "recipients": self.recipients,
            }
        )


class BegunLine(NamedTuple):
    """Names that a worker began to write. Objects with these names may come from it."""

    names: tuple[str, ...]

    def encode(self) -> bytes:
        """Returns a line of the manifest."""
        return _line({"v": VERSION, "state": "begun", "names": self.names})


class BadLine(ValueError):
    """A line is damaged, or has impossible values."""


class ForeignLine(NamedTuple):
    """A begun name with an existing object that no run wrote. Revokes the `begun` line."""

    name: str

    def encode(self) -> bytes:
        """Returns a line of the manifest."""
        return _line({"v": VERSION, "state": "foreign", "name": self.name})


def _line(value: dict[str, Any]) -> bytes:
    # JSON in ASCII: a name with line ends, or one that is not valid UTF-8, stays on one line and is restored exactly.
    body = _encode(value).encode()
    return body[:-1] + _MARK + b'%08x"}\n' % binascii.crc32(body)


def parse(line: bytes) -> DoneLine | BegunLine | ForeignLine:
    """Parses a line of the manifest. Raises `BadLine`."""
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
            return BegunLine(tuple(check(_text(name)) for name in value["names"]))
        if value["state"] == "foreign":
            return ForeignLine(check(_text(value["name"])))
        if value["state"] != "done":
            raise BadLine("unknown state")
        source = value["source"]
        return DoneLine(
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
    except Exception as error:  # The line may contain any JSON value.
        raise BadLine(f"not a manifest line: {type(error).__name__}") from None


def _text(value: Any) -> str:
    """Checks a name or token, which must be encodable as bytes."""
    if not isinstance(value, str):
        raise BadLine("a field is not text")
    encoded(value)  # Raises an exception for a lone surrogate.
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
    """Writes the lines of one shard. Several threads may call it.

    A store that cannot append gets the whole object again: at the start, every `EVERY_S` seconds, and at the end.
    """

    EVERY_S = 20.0
    LINES = 32
    """Number of lines that are appended together, unless `LINES_S` seconds have passed."""
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
        self.earlier: list[DoneLine | BegunLine | ForeignLine] = []
        """Lines that crashed workers wrote about the same objects."""
        for whole in _ancestor_labels(shard):
            self._read(self._named(verb, run, whole))
        own = self._read(self.name)
        if own is not None:
            self._kept += own
            # The last line may be incomplete.
            self._store.append(self.name, b"\n")

    @staticmethod
    def _named(verb: str, run: str, shard: str) -> str:
        return f"{CONTROL}/{verb}-{run}-{shard}.jsonl"

    def _read(self, name: str) -> list[bytes] | None:
        """Adds the lines of an object to `earlier`. Returns the valid lines, or None if the object does not exist."""
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
        """Records the names that this worker is about to write. Call it before writing anything."""
        self._add(b"".join(BegunLine(some).encode() for some in _runs_of(names)), now=True)

    def done(self, line: DoneLine) -> None:
        """Records an object that is complete in the target."""
        self._add(line.encode(), now=False)

    def foreign(self, name: str) -> None:
        """Records that an object which no run wrote has this name."""
        self._add(ForeignLine(name).encode(), now=False)

    def end(self) -> None:
        """Writes all lines. No other call may follow."""
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
        """Writes pending lines. If the process is killed before, their objects stay `begun` and are processed again."""
        found, self._pending = self._pending, []
        self._flushed = time.monotonic()
        if self._appends and self._store.append(self.name, b"".join(found)):
            return
        self._appends = False
        self._kept += found
        if now or time.monotonic() - self._written > self.EVERY_S:
            self._put()

    def _put(self) -> None:
        # Retries even if the run was stopped, so that finished objects are recorded.
        self._retry.call(lambda _: self._store.put(self.name, b"".join(self._kept)), threading.Event())
        self._written = time.monotonic()


def _runs_of(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Splits names into tuples that fit into a line, in order. Yields one empty tuple if there are no names."""
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


def _ancestor_labels(shard: str) -> list[str]:
    """Returns the labels of the shards that this one was split from, the oldest first."""
    parts = shard.split(PIECE)
    return [PIECE.join(parts[:count]) for count in range(1, len(parts))]


def lines(store: Store, name: str) -> Iterator[bytes]:
    """Yields the lines of one object without their line ends, including an incomplete last line.

    A line longer than `LONGEST` gives `TOO_LONG`.
    """
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
    """Returns the names of the manifest's objects, earlier runs first."""

    def order(name: str) -> tuple[str, str]:
        _, _, run = name.rpartition("/")[2].partition("-")
        return run, name

    found = [name for name in store.control() if name.endswith(".jsonl") and not name.startswith(f"{CONTROL}/failed-")]
    return sorted(found, key=order)


def join(store: Store, verb: str, run: str, retry: Retry) -> None:
    """Joins the objects of this run's shards into one. An interruption loses no line."""
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
