"""The manifest: JSON lines next to the objects that record what was done.

A line describes one finished object (`done`) or the names that a worker is about to write (`begun`), and has a
checksum. Each shard of a run writes a separate object, `.tress-dataset/VERB-RUN-NUMBER.jsonl`. At its end a run joins
them to `VERB-RUN.jsonl`. Runs sort by their names, and later lines win.

Lines are not trusted: readers compare them with the existing objects, and ignore damaged lines. With a key, lines have
MACs (`seal.py`).
"""

from __future__ import annotations

import binascii
import json
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from .errors import DatasetError
from .names import CONTROL, check, encoded
from .retry import Retry
from .seal import FileDigest, RunMac, Seals
from .stores import Replace, Store

VERSION = 1
LONGEST = 4 << 20
"""Longest line in bytes that is read. This package writes shorter ones."""
TOO_LONG = b"too long"
"""Takes the place of a longer line."""
_BEGUN_BYTES = 1 << 20
"""Largest encoded size in bytes of the names in one `begun` line."""
_MARK = b',"crc":"'
_MAC_MARK = b',"mac":"'
NO_MAC = "no MAC: written without a manifest key, or cut"
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
    """Identifier of the container's payload (see `payload_id.py`); for `decrypt`, of the container that it read."""
    plain_bytes: int
    recipients: str | None = None
    """Result of `RunKeys.recipients_id`."""

    def encode(self, mac: RunMac | None = None) -> bytes:
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
            },
            mac,
        )


class BegunLine(NamedTuple):
    """Names that a worker began to write. Objects with these names may come from it."""

    names: tuple[str, ...]

    def encode(self, mac: RunMac | None = None) -> bytes:
        """Returns a line of the manifest."""
        return _line({"v": VERSION, "state": "begun", "names": self.names}, mac)


class BadLine(ValueError):
    """A line is damaged, or has impossible values."""


class MissingMac(BadLine):
    """A valid line has no MAC."""


class ForeignLine(NamedTuple):
    """A begun name with an existing object that no run wrote. Revokes the `begun` line."""

    name: str

    def encode(self, mac: RunMac | None = None) -> bytes:
        """Returns a line of the manifest."""
        return _line({"v": VERSION, "state": "foreign", "name": self.name}, mac)


class SeenLine(NamedTuple):
    """A file of an earlier run that this run has read."""

    file: str
    digest: str | None
    """Digest of a sealed file; None if this run has taken over the lines of one that was not."""

    def encode(self, mac: RunMac | None = None) -> bytes:
        """Returns a line of the manifest."""
        return _line({"v": VERSION, "state": "seen", "file": self.file, "digest": self.digest}, mac)


class SealLine(NamedTuple):
    """The end of the file of a run that has ended, with the digest of all lines before it."""

    digest: str

    def encode(self, mac: RunMac | None = None) -> bytes:
        """Returns a line of the manifest."""
        return _line({"v": VERSION, "state": "sealed", "digest": self.digest}, mac)


AnyLine = DoneLine | BegunLine | ForeignLine | SeenLine | SealLine


def _line(value: dict[str, Any], mac: RunMac | None = None) -> bytes:
    # JSON in ASCII: a name with line ends, or one that is not valid UTF-8, stays on one line and is restored exactly.
    body = _encode(value).encode()
    if mac is not None:
        body = body[:-1] + _MAC_MARK + mac.of(body) + b'"}'
    return body[:-1] + _MARK + b'%08x"}\n' % binascii.crc32(body)


def has_mac(line: bytes) -> bool:
    """Returns whether a line has a MAC, which may be of any key."""
    return _MAC_MARK in line


def parse(line: bytes, mac: RunMac | None = None) -> AnyLine:
    """Parses a line of the manifest, and checks its MAC if one is given. Raises `BadLine`."""
    if line == TOO_LONG:
        raise BadLine(f"longer than {LONGEST >> 20} MiB")
    at = line.rfind(_MARK)
    body = line[:at] + b"}"
    if at < 0 or line[at + len(_MARK) :] != b'%08x"}' % binascii.crc32(body):
        raise BadLine("wrong checksum")
    if mac is not None:
        signed, mark, found = body.rpartition(_MAC_MARK)
        if not mark:
            raise MissingMac(NO_MAC)
        if not mac.matches(signed + b"}", found[:-2]):
            raise BadLine("no MAC of this manifest key")
    try:
        value = json.loads(body)
        if value["v"] != VERSION:
            raise BadLine("unknown version")
        if value["state"] == "begun":
            return BegunLine(tuple(check(_text(name)) for name in value["names"]))
        if value["state"] == "foreign":
            return ForeignLine(check(_text(value["name"])))
        if value["state"] == "seen":
            return SeenLine(_word(value["file"]), None if value["digest"] is None else _word(value["digest"]))
        if value["state"] == "sealed":
            return SealLine(_word(value["digest"]))
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

    def __init__(
        self,
        store: Store,
        verb: str,
        run: str,
        shard: str,
        retry: Retry,
        stopped: threading.Event,
        mac: RunMac | None = None,
    ):
        self._mac = mac
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
        self.earlier: list[AnyLine] = []
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
                self.earlier.append(parse(text, self._mac))
            except BadLine:
                continue
            good.append(text + b"\n")
        return good

    def begin(self, names: Iterable[str]) -> None:
        """Records the names that this worker is about to write. Call it before writing anything."""
        self._add(b"".join(BegunLine(some).encode(self._mac) for some in _runs_of(names)), now=True)

    def done(self, line: DoneLine) -> None:
        """Records an object that is complete in the target."""
        self._add(line.encode(self._mac), now=False)

    def foreign(self, name: str) -> None:
        """Records that an object which no run wrote has this name."""
        self._add(ForeignLine(name).encode(self._mac), now=False)

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
        try:
            if self._appends and self._store.append(self.name, b"".join(found)):
                return
        except BaseException:  # The next call writes them, after what may be a part of a line.
            self._pending = [b"\n", *found]
            raise
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


def label_of(name: str) -> tuple[str, bool]:
    """Returns the label `VERB-RUN` of a file of the manifest, and whether the file is of one shard of that run."""
    fields = name.rpartition("/")[2].removesuffix(".jsonl").split("-", 3)
    return "-".join(fields[:3]), len(fields) > 3


def joined_name(label: str) -> str:
    """Returns the name of the file of a run that has ended."""
    return f"{CONTROL}/{label}.jsonl"


def join(store: Store, verb: str, run: str, retry: Retry, sealing: Sealing | None = None) -> None:
    """Joins the objects of this run's shards into one, and seals it. An interruption loses no line."""
    never = threading.Event()
    label = f"{verb}-{run}"
    prefix = f"{CONTROL}/{label}-"
    parts = [name for name in retry.call(lambda _: store.control(), never) if name.startswith(prefix)]
    if not sealing and len(parts) < 2:
        return
    if sealing and sealing.seals.files and not (parts or sealing.taken_over):
        return
    with store.write(joined_name(label), 0, {}, Replace.ALWAYS) as out:
        if sealing is None:
            for name in parts:
                found = retry.call(lambda _, name=name: list(lines(store, name)), never)  # type: ignore[misc]
                out.write(b"".join(line + b"\n" for line in found if line))
        else:
            for piece in _sealed(store, label, parts, sealing, retry):
                out.write(piece)
        out.commit()
    for name in parts:
        retry.call(lambda _, name=name: store.remove(name), never)  # type: ignore[misc]


class Sealing(NamedTuple):
    """How `join` seals the file of a run."""

    seals: Seals
    objects: int
    """Number of objects that the run has finished. So many names have a `done` line, or the store has lost some."""
    whole: bool
    """Whether the run was over all objects. Then it takes over the lines of killed runs."""

    @property
    def taken_over(self) -> list[str]:
        """The files of killed runs."""
        return self.seals.open_parts if self.whole else []


def _sealed(store: Store, label: str, parts: list[str], sealing: Sealing, retry: Retry) -> Iterator[bytes]:
    """Yields the file of a run that has ended, in pieces."""
    key, mac, never = sealing.seals.key, sealing.seals.key.of_run(label), threading.Event()
    digest = FileDigest()
    done: set[int] = set()  # Hashes of names, which need less memory.
    for name in (*sealing.taken_over, *parts):
        read = _Reread(store, name, key.of_run(label_of(name)[0]))
        found = retry.call(read.lines, never)
        if name in parts:
            done.update(hash(line.name) for line in found if isinstance(line, DoneLine))
        piece = b"".join(line.encode(mac) for line in found)
        digest.add(piece)
        yield piece
    if len(done) < sealing.objects:
        raise DatasetError(
            f"the store has lost {sealing.objects - len(done)} lines of the manifest, which is not sealed"
        )
    seen = [SeenLine(*file) for file in sealing.seals.files.items()] + [SeenLine(f, None) for f in sealing.taken_over]
    piece = b"".join(line.encode(mac) for line in seen)
    digest.add(piece)
    yield piece + SealLine(digest.value()).encode(mac)


class _Reread(NamedTuple):
    """Lines that this run, or a killed one, has written."""

    store: Store
    name: str
    mac: RunMac

    def lines(self, _: int) -> list[AnyLine]:
        """Returns the lines whose MAC is right."""
        found = []
        with suppress(FileNotFoundError):  # The other run was not killed, and has ended by now.
            for text in lines(self.store, self.name):
                with suppress(BadLine):
                    found.append(parse(text, self.mac))
        return found
