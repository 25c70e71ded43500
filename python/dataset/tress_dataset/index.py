"""The state of a target by name: what earlier runs did, and which objects exist. It is on disk, so that a run with
millions of objects needs little memory."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from .errors import DatasetError
from .manifest import (
    NO_MAC,
    AnyLine,
    BadLine,
    BegunLine,
    DoneLine,
    ForeignLine,
    Identity,
    MissingMac,
    SealLine,
    SeenLine,
    has_mac,
    joined_name,
    label_of,
    lines,
    parse,
    runs,
)
from .names import Item, UnreadableEntry, decoded, encoded
from .retry import Retry
from .seal import FileDigest, ManifestKey, RunMac, Seals
from .stores import Store

_SCHEMA = """
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -32000;
CREATE TABLE done (name BLOB PRIMARY KEY, verb TEXT, ssize INTEGER, stoken BLOB, tsize INTEGER, ttoken BLOB,
                   payload_id TEXT, plain INTEGER, recipients TEXT) WITHOUT ROWID;
CREATE TABLE begun (name BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE taken (name BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE present (name BLOB PRIMARY KEY, size INTEGER, token BLOB) WITHOUT ROWID;
CREATE TABLE expected (name BLOB PRIMARY KEY, size INTEGER, token BLOB) WITHOUT ROWID;
"""
_BATCH = 5000
_BAD_SHOWN = 20
_ENDS = 20
"""Most times that a manifest with seals is read anew because a run has ended."""


class Index:
    """Tables of one run. One thread may use it."""

    def __init__(self) -> None:
        # An empty name gives a private temporary file.
        self._base = sqlite3.connect("", isolation_level=None)
        self._base.executescript(_SCHEMA)
        self.bad_lines: list[str] = []
        self.bad_count = 0
        self.seals: Seals | None = None
        """The files that MACs cover, if a key was given."""
        self.has_macs = False
        """Whether a line has a MAC."""

    def close(self) -> None:
        """Removes the tables."""
        self._base.close()

    def load(self, store: Store, wanted: Callable[[str], bool], retry: Retry, key: ManifestKey | None = None) -> None:
        """Reads the lines of a target's manifest whose names are wanted.

        With a key, raises `DatasetError` if a line of a run that has ended is missing, or has changed.
        """
        for left in reversed(range(_ENDS)):
            try:
                return self._load_all(store, wanted, retry, key)
            except FileNotFoundError:  # Another run has ended, and joined its parts.
                if not left:
                    raise
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                self._base.executescript("DELETE FROM done; DELETE FROM begun")
                self.bad_lines, self.bad_count = [], 0

    def _load_all(
        self, store: Store, wanted: Callable[[str], bool], retry: Retry, key: ManifestKey | None = None
    ) -> None:
        never = threading.Event()
        self.seals = None if key is None else Seals(key)
        files = retry.call(lambda _: runs(store), never)

        def load(name: str) -> tuple[int, list[str]]:
            return retry.call(lambda _: self._load(store, name, wanted), never)

        known, joined = set(files), set()
        for name in files:
            try:
                count, bad = load(name)
            except FileNotFoundError:  # That run has ended, and joined its parts.
                label, is_part = label_of(name)
                whole = joined_name(label)
                if not is_part:
                    raise
                if whole in known or whole in joined:  # Its file comes behind its parts.
                    continue
                if key is not None:  # Seals need all files as they were.
                    raise
                joined.add(whole)
                count, bad = load(whole)
            self.bad_count += count
            self.bad_lines += bad[: _BAD_SHOWN - len(self.bad_lines)]
        if self.seals is not None:
            self.seals.finish((name, joined_name(label_of(name)[0])) for name in files if label_of(name)[1])

    def _load(self, store: Store, object_name: str, wanted: Callable[[str], bool]) -> tuple[int, list[str]]:
        """Reads one object of the manifest. Returns the number of damaged lines, and descriptions of the first ones.

        It may be called again after a failure.
        """
        count = 0
        bad: list[str] = []
        label, is_part = label_of(object_name)
        key = None if self.seals is None else self.seals.key
        mac = None if key is None else key.of_run(label)
        seal = None if mac is None or is_part else _Seal(object_name, mac)
        if self._base.in_transaction:
            self._base.execute("ROLLBACK")
        self._base.execute("BEGIN")
        for number, text in enumerate(lines(store, object_name), 1):
            if not text:
                continue
            self.has_macs = self.has_macs or has_mac(text)
            if seal is not None:
                seal.add(text)
            try:
                # The seal covers the lines of a run that has ended.
                line = parse(text, mac if seal is None else None)
            except MissingMac as error:
                raise DatasetError(f"{object_name}: {error}") from None
            except BadLine as error:
                count += 1
                if len(bad) < _BAD_SHOWN:
                    bad.append(f"{object_name}: line {number}: {error}")
                continue
            if isinstance(line, SeenLine | SealLine):
                if seal is not None:
                    seal.seen.append(line)
            elif isinstance(line, BegunLine):
                names = [(encoded(name),) for name in line.names if wanted(name)]
                self._base.executemany("INSERT OR IGNORE INTO begun VALUES (?)", names)
                self._base.executemany("DELETE FROM done WHERE name = ?", names)
            elif isinstance(line, ForeignLine):
                self._base.execute("DELETE FROM begun WHERE name = ?", (encoded(line.name),))
            elif wanted(line.name):
                self._add(line)
        if seal is not None and self.seals is not None:
            self.seals.files[object_name] = seal.digest()
            for one in seal.seen:
                if isinstance(one, SeenLine):
                    self.seals.saw(one.file, one.digest)
        self._base.execute("COMMIT")
        return count, bad

    def _add(self, line: DoneLine) -> None:
        source = line.source
        self._base.execute(
            "INSERT OR REPLACE INTO done VALUES (?,?,?,?,?,?,?,?,?)",
            (
                encoded(line.name),
                line.verb,
                None if source is None else source.size,
                None if source is None else encoded(source.token),
                line.target.size,
                encoded(line.target.token),
                line.payload_id,
                line.plain_bytes,
                line.recipients,
            ),
        )

    def line(self, name: str) -> DoneLine | None:
        """Returns the latest line about this name."""
        row = self._base.execute("SELECT * FROM done WHERE name = ?", (encoded(name),)).fetchone()
        if row is None:
            return None
        _, verb, ssize, stoken, tsize, ttoken, payload_id, plain, recipients = row
        source = None if ssize is None else Identity(ssize, decoded(stoken))
        return DoneLine(name, verb, source, Identity(tsize, decoded(ttoken)), payload_id, plain, recipients)

    def begun(self, name: str) -> bool:
        """Returns whether a run began to write this name and did not finish."""
        return self._one("SELECT 1 FROM begun WHERE name = ?", name)

    def take(self, name: str) -> bool:
        """Returns whether this is the first object of the run's listing with this name in the target."""
        return self._base.execute("INSERT OR IGNORE INTO taken VALUES (?)", (encoded(name),)).rowcount == 1

    def empty(self) -> bool:
        """Returns whether there is no line of any run."""
        count = self._base.execute("SELECT (SELECT count(*) FROM done) + (SELECT count(*) FROM begun)").fetchone()
        return bool(count[0] == 0)

    def note_present(self, listing: Iterable[Item | UnreadableEntry]) -> None:
        """Records the objects that the target has."""
        self._note("present", listing)

    def note_expected(self, listing: Iterable[Item | UnreadableEntry]) -> None:
        """Records the objects that the target should have, for `verify`."""
        self._note("expected", listing)

    def expect_done(self) -> None:
        """Records that the target should have the objects of the manifest."""
        self._base.execute("INSERT OR REPLACE INTO expected SELECT name, tsize, ttoken FROM done")

    def _note(self, table: str, listing: Iterable[Item | UnreadableEntry]) -> None:
        batch: list[tuple[bytes, int, bytes]] = []

        def flush() -> None:
            self._base.execute("BEGIN")
            self._base.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?,?,?)", batch)
            self._base.execute("COMMIT")
            batch.clear()

        for item in listing:
            if isinstance(item, Item):
                batch.append((encoded(item.name), item.size, encoded(item.token)))
                if len(batch) >= _BATCH:
                    flush()
        flush()

    def present(self, name: str) -> Identity | None:
        """Returns the identity of the target's object with this name."""
        row = self._base.execute("SELECT size, token FROM present WHERE name = ?", (encoded(name),)).fetchone()
        return None if row is None else Identity(row[0], decoded(row[1]))

    def expected(self, name: str) -> Identity | None:
        """Returns the expected identity of the target's object with this name."""
        row = self._base.execute("SELECT size, token FROM expected WHERE name = ?", (encoded(name),)).fetchone()
        return None if row is None else Identity(row[0], decoded(row[1]))

    def missing(self) -> Iterator[str]:
        """Yields the names that are expected and not present."""
        yield from self._names("SELECT name FROM expected WHERE name NOT IN (SELECT name FROM present)")

    def extra(self) -> Iterator[str]:
        """Yields the names that are present and not expected."""
        yield from self._names("SELECT name FROM present WHERE name NOT IN (SELECT name FROM expected)")

    def items(self) -> Iterator[Item]:
        """Yields the objects that the target has."""
        for name, size, token in self._base.execute("SELECT name, size, token FROM present"):
            yield Item(decoded(name), size, decoded(token))

    def _names(self, query: str) -> Iterator[str]:
        for (name,) in self._base.execute(query):
            yield decoded(name)

    def _one(self, query: str, name: str) -> bool:
        return self._base.execute(query, (encoded(name),)).fetchone() is not None


class _Seal:
    """Checks the seal of one file, which is its last line."""

    def __init__(self, name: str, mac: RunMac) -> None:
        self.seen: list[AnyLine] = []
        self._name = name
        self._mac = mac
        self._last = b""
        self._before = FileDigest()

    def add(self, line: bytes) -> None:
        """Adds the next line."""
        if self._last:
            self._before.add(self._last + b"\n")
        self._last = line

    def digest(self) -> str:
        """Returns the digest of the file. Raises `DatasetError` if the seal is missing, or is not of these lines."""
        why = NO_MAC
        if has_mac(self._last):
            why = "no MAC of this manifest key: the key is wrong, or somebody changed the manifest"
            with suppress(BadLine):
                line = parse(self._last, self._mac)
                if isinstance(line, SealLine) and line.digest == self._before.value():
                    self._before.add(self._last + b"\n")
                    return self._before.value()
                why = "its lines were changed, or some are missing"
        raise DatasetError(f"{self._name}: {why}")
