"""Unit tests without workers: names, groups, payload identifiers, manifest, retries."""

from __future__ import annotations

import errno
import gc
import hashlib
import io
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from dataset_support import make_tree
from fsspec.spec import AbstractFileSystem
from tress_dataset import Grouping, Retry, Secret, UsageError, keys
from tress_dataset.errors import BadName, Changed, Exists, Stopped
from tress_dataset.index import Index
from tress_dataset.manifest import (
    BadLine,
    BegunLine,
    DoneLine,
    ForeignLine,
    Identity,
    Journal,
    join,
    lines,
    parse,
    runs,
)
from tress_dataset.names import (
    Item,
    Part,
    check,
    decoded,
    encoded,
    ignored,
    is_name_digest,
    name_digest,
    plain_name,
    temporary_name,
)
from tress_dataset.payload_id import PayloadIdHasher
from tress_dataset.progress import Progress
from tress_dataset.retry import ErrorClass, classify
from tress_dataset.shards import WorkItem, group
from tress_dataset.stores import Replace, open_store, without_secrets
from tress_dataset.stores.local import LocalStore


@pytest.mark.parametrize("name", ["", "/a", "a//b", "a/", "..", "a/../b", "./a", "a/.", "a\0b", "../../etc/passwd"])
def test_names_that_lead_out_are_refused(name: str) -> None:
    with pytest.raises(BadName):
        check(name)
    with pytest.raises(BadName):
        LocalStore("/nowhere").path(name)


@pytest.mark.parametrize("name", ["a", "a b/ü", "100%", "a\nb", ".hidden", "...", "a/..b", "\udcff"])
def test_other_names_are_taken(name: str) -> None:
    assert check(name) == name
    assert decoded(encoded(name)) == name


def test_names_of_containers() -> None:
    assert plain_name("a/b.tress") == "a/b"
    for name in ("a", ".tress", "a/.tress", "a.tress/b"):
        with pytest.raises(BadName):
            plain_name(name)
    assert ignored(".tress-dataset/x.jsonl") and ignored(temporary_name("a/b")) and not ignored("a/.tress-dataset/x")
    assert temporary_name("a/b").startswith("a/.") and temporary_name("a/b") != temporary_name("a/c")


def test_names_in_containers() -> None:
    # The digest is the output of: printf %s a/b | sha256sum
    assert name_digest("a/b") == "sha256-c14cddc033f64b9dea80ea675cf280a015e672516090a5626781153dc68fea11"
    assert is_name_digest(name_digest("\udcff")) and is_name_digest(name_digest("x" * 4000))
    for older in (None, "", "b", "sha256-", name_digest("a")[:-1], name_digest("a") + "\n", name_digest("a").upper()):
        assert not is_name_digest(older)


def test_parts_are_a_partition() -> None:
    names = [f"folder/{n}" for n in range(3000)]
    counts = [sum(Part(number, 7).holds(name) for name in names) for number in range(1, 8)]
    assert sum(counts) == 3000 and min(counts) > 300
    assert all(sum(Part(number, 7).holds(name) for number in range(1, 8)) == 1 for name in names)
    for text in ("0/3", "4/3", "1/0", "1", "a/b", "-1/3", "1/3/4", "", "1/"):
        with pytest.raises(ValueError):
            Part.parse(text)


def works(sizes: list[int]) -> list[WorkItem]:
    return [WorkItem(str(n), size, "", str(n), Replace.NEVER) for n, size in enumerate(sizes)]


def test_groups() -> None:
    rng = random.Random(3)
    sizes = [rng.choice([0, 1, 50, 99, 100, 101, 1000]) for _ in range(5000)]
    limits = Grouping(objects=40, bytes=100, first=4)
    shards = list(group(works(sizes), limits))
    assert [work for shard in shards for work in sorted(shard.works, key=lambda w: int(w.name))] and [
        int(shard.label) for shard in shards
    ] == list(range(len(shards)))
    assert sorted(int(work.name) for shard in shards for work in shard.works) == list(range(5000))
    for shard in shards:
        total = sum(work.size for work in shard.works)
        assert len(shard.works) <= 40 and (total <= 100 or len(shard.works) == 1)
    counts = [len(shard.works) for shard in group(works([0] * 1000), limits)]
    assert counts[0] == 4 and max(counts) == 40 and counts[:3] == sorted(counts[:3])
    shards = list(group(works([0] * 100_000), Grouping(), workers=2))
    given = 0
    for shard in shards:
        assert len(shard.works) <= max(32, given / 16)
        given += len(shard.works)
    assert given == 100_000 and len(shards) < 110
    assert list(group([], limits)) == []
    with pytest.raises(ValueError):
        Grouping(objects=0)


@pytest.mark.parametrize("count", [2, 9, 10, 11, 40, 4096])
def test_pieces_of_a_group(count: int) -> None:
    (whole,) = group(works([1] * count), Grouping(first=5000))
    pieces = whole.split()
    assert [work for piece in pieces for work in piece.works] == list(whole.works)
    assert 1 < len(pieces) <= 10 and max(len(piece.works) for piece in pieces) < count
    names = [f"{shard.label}.jsonl" for shard in [whole, *pieces, *pieces[-1].split()]]
    assert names == sorted(set(names)), "later lines win"


def container(chunks: list[bytes], age_file: int) -> bytes:
    frame = b"tress/v1 aes-128-ccm\n" + age_file.to_bytes(4, "big") + bytes(age_file)
    return frame + bytes(-len(frame) % 4096) + b"".join(chunks)


@pytest.mark.parametrize("age_file", [200, 4071, 4072, 65536])
@pytest.mark.parametrize("length", [0, 1, 16383, 16384, 16385, 3 * 16384 + 5])
def test_payload_id_is_of_salt_commitment_and_tags(length: int, age_file: int) -> None:
    """Computes the digest from whole chunks, as the page of the format defines it."""
    rng = random.Random(length)
    prefix = rng.randbytes(56)
    sealed = []
    while length >= 16384:
        sealed.append(rng.randbytes(16400))
        length -= 16384
    sealed.append(rng.randbytes(length + 16))
    expected = hashlib.sha256(prefix + b"".join(chunk[-16:] for chunk in sealed)).hexdigest()
    whole = container([prefix, *sealed], age_file)
    for step in (1 << 30, 4096, 997, 16400, 16399, 7):
        hasher = PayloadIdHasher()
        for start in range(0, len(whole), step):
            hasher.update(whole[start : start + step])
        assert hasher.finish() == expected
        assert hasher.plain_bytes == sum(len(chunk) - 16 for chunk in sealed)


def test_payload_id_of_other_data() -> None:
    for data in (b"", b"tress/v1", container([], 100), container([bytes(56 + 15)], 100), b"x" * 21 + b"\xff" * 4):
        hasher = PayloadIdHasher()
        with pytest.raises(ValueError):
            hasher.update(data)
            hasher.finish()


LINE = DoneLine("a\n\udcff.tress", "encrypt", Identity(5, "t"), Identity(9, "u"), "00", 5, None)


def test_lines_come_back() -> None:
    for line in (LINE, LINE._replace(source=None, recipients="ab"), BegunLine(("a", "b\n")), ForeignLine("x")):
        text = line.encode()
        assert text.endswith(b"\n") and text.count(b"\n") == 1
        assert parse(text[:-1]) == line


def test_damaged_lines_are_reported() -> None:
    text = LINE.encode()[:-1]
    for at in range(len(text)):
        damaged = bytearray(text)
        damaged[at] ^= 1
        with pytest.raises(BadLine):
            parse(bytes(damaged))
        with pytest.raises(BadLine):
            parse(text[:at])


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "../x"},
        {"name": 5},
        {"target": [1]},
        {"target": [-1, "t"]},
        {"target": None},
        {"source": "ab"},
        {"plain_bytes": 1.5},
        {"v": 2},
        {"state": "other"},
        {"seal": None},
    ],
)
def test_lying_lines_are_refused(changed: dict[str, object]) -> None:
    """Lines with correct checksums and impossible values are refused."""
    import json

    from tress_dataset.manifest import _line

    value = json.loads(LINE.encode())
    del value["crc"]
    with pytest.raises(BadLine):
        parse(_line(value | changed)[:-1])


def test_index_and_joined_manifest(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    for number in range(3):
        journal = Journal(store, "encrypt", "20260101T000000-a", f"{number:06}", Retry(), threading.Event())
        journal.begin([f"n{number}.tress", f"foreign{number}.tress"])
        journal.done(LINE._replace(name=f"n{number}.tress"))
        journal.foreign(f"foreign{number}.tress")
        journal.end()
    later = Journal(store, "rewrap", "20260102T000000-b", "000000", Retry(), threading.Event())
    later.done(LINE._replace(name="n0.tress", verb="rewrap"))
    later.end()
    with open(tmp_path / runs(store)[0], "ab") as file:
        file.write(b"torn off in the mid")
    for _ in range(2):
        index = Index()
        index.load(store, lambda name: True, Retry())
        assert index.bad_count == 1
        found = index.line("n0.tress")
        assert found is not None and found.verb == "rewrap"
        assert index.begun("n1.tress") and not index.begun("foreign1.tress") and index.line("foreign1.tress") is None
        index.close()
        join(store, "encrypt", "20260101T000000-a", Retry())
    assert [name.rpartition("/")[2] for name in runs(store)] == [
        "encrypt-20260101T000000-a.jsonl",
        "rewrap-20260102T000000-b-000000.jsonl",
    ]
    assert len(list(lines(store, runs(store)[0]))) == 10


class Ending(LocalStore):
    """Another run ends while the first part of a manifest is read."""

    def get(self, name: str) -> Iterator[bytes]:
        ending, self.ending = self.ending, False
        if ending:
            join(self, "encrypt", "20260101T000000-a", Retry())
        return super().get(name)

    ending = True


def test_a_run_ends_while_its_manifest_is_read(tmp_path: Path) -> None:
    store = Ending(str(tmp_path))
    for number in range(3):
        journal = Journal(store, "encrypt", "20260101T000000-a", f"{number:06}", Retry(), threading.Event())
        journal.done(LINE._replace(name=f"n{number}.tress"))
        journal.end()
    store.ending = True
    index = Index()
    index.load(store, lambda name: True, Retry())
    assert not store.ending and all(index.line(f"n{number}.tress") for number in range(3))
    index.close()


class Buffered(AbstractFileSystem):  # type: ignore[misc]
    """A store whose file completes its object when it is closed, as some do whatever `autocommit` is."""

    closed: ClassVar[list[str]] = []

    class File(io.BytesIO):
        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

        closed = False

        def discard(self) -> None:
            pass

        def __del__(self) -> None:
            if not self.closed:
                Buffered.closed.append(self.path)

    def _open(self, path: str, mode: str = "rb", autocommit: bool = True, **_: Any) -> Any:
        return self.File(path)


def test_discarded_files_are_neither_kept_nor_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec.register_implementation("buffered", Buffered, clobber=True)
    store = open_store("buffered://x", {})
    store.write("a", 1, {}, Replace.ALWAYS).discard()
    gc.collect()
    assert not Buffered.closed and not Buffered().transaction.files
    monkeypatch.delattr(Buffered.File, "discard")
    bare: Any = store.write("a", 1, {}, Replace.ALWAYS)
    bare.discard()
    with pytest.raises(ValueError):
        bare._file.getvalue()  # It is closed.


class Answer(Exception):
    """An exception with a response, as botocore's."""

    def __init__(self, code: str, status: int):
        self.response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Answer("SlowDown", 503), ErrorClass.THROTTLED),
        (caused(OSError(errno.EBUSY, "x"), Answer("SlowDown", 503)), ErrorClass.THROTTLED),
        (Answer("TooManyRequests", 429), ErrorClass.THROTTLED),
        (caused(PermissionError("x"), Answer("AccessDenied", 403)), ErrorClass.PERMANENT),
        (caused(OSError(errno.EREMOTEIO, "x"), Answer("InternalError", 500)), ErrorClass.TRANSIENT),
        (caused(FileNotFoundError("x"), Answer("NoSuchUpload", 404)), ErrorClass.TRANSIENT),
        (FileNotFoundError(errno.ENOENT, "x"), ErrorClass.PERMANENT),
        (PermissionError(errno.EACCES, "x"), ErrorClass.PERMANENT),
        (OSError(errno.ENOSPC, "x"), ErrorClass.PERMANENT),
        (OSError(errno.EROFS, "x"), ErrorClass.PERMANENT),
        (OSError(errno.EIO, "x"), ErrorClass.TRANSIENT),
        (ConnectionResetError(), ErrorClass.TRANSIENT),
        (TimeoutError(), ErrorClass.TRANSIENT),
        (Changed("x"), ErrorClass.TRANSIENT),
        (Exists("x"), ErrorClass.PERMANENT),
        (ValueError("x"), ErrorClass.PERMANENT),
        (MemoryError(), ErrorClass.PERMANENT),
    ],
)
def test_error_classes(error: Exception, expected: ErrorClass) -> None:
    assert classify(error) is expected


def test_retries() -> None:
    calls: list[int] = []

    def fails(times: int, error: Exception) -> object:
        def work(attempt: int) -> str:
            calls.append(attempt)
            if len(calls) <= times:
                raise error
            return "done"

        return work

    quick = Retry(attempts=3, throttled=5, first=0.001, longest=0.002)
    stopped = threading.Event()
    assert quick.call(fails(2, ConnectionError()), stopped) == "done"  # type: ignore[arg-type]
    assert calls == [1, 2, 3]
    for times, error, attempts in ((9, ConnectionError(), 3), (9, ValueError(), 1), (9, Answer("SlowDown", 503), 5)):
        calls.clear()
        with pytest.raises(type(error)) as caught:
            quick.call(fails(times, error), stopped)  # type: ignore[arg-type]
        assert len(calls) == attempts and caught.value.attempts == attempts  # type: ignore[attr-defined]
    stopped.set()
    with pytest.raises(Stopped):
        quick.call(fails(0, ValueError()), stopped)  # type: ignore[arg-type]
    pauses = [Retry().pause(n) for n in range(1, 12)]
    assert all(0.125 <= pause <= 20 for pause in pauses) and pauses[0] < 0.26 and pauses[-1] >= 10


def test_secrets_are_not_shown() -> None:
    import pickle

    secret = Secret("correct horse")
    bundle = keys.RunKeys(("age1x",), (secret,), ("AGE-SECRET-KEY-1QQQ",), (Secret(bytes(range(16))),))
    for shown in (repr(bundle), str(bundle), repr(secret), f"{bundle}"):
        assert "horse" not in shown and "SECRET-KEY" not in shown and "\\x0" not in shown
    again = pickle.loads(pickle.dumps(bundle))
    assert again._identities == bundle._identities and again.to[0]._value == "correct horse"
    assert (
        bundle.recipients_id() is None
        and keys.RunKeys(("b", "a")).recipients_id() == keys.RunKeys(("a", "b")).recipients_id()
    )
    with pytest.raises(UsageError) as caught:
        keys.recipients("AGE-SECRET-KEY-1QQQ")
    assert "QQQ" not in str(caught.value)
    for wrong in (b"short", b"", ""):
        with pytest.raises(UsageError):
            Secret(wrong)
    with pytest.raises(UsageError):
        keys.recipients(5)
    assert without_secrets("sftp://me:secret@host/a?key=b") == "sftp://host/a"


def test_time_left() -> None:
    half = Progress(50, 500, 0, 0, 10.0, 100, 1000)
    assert half.left_s == 10.0 and half.rate_bytes_per_s == 50.0
    # The form of the command: crates/terminal/src/progress/line.rs has the same bar.
    assert half.line() == "[========>        ]   50 %  50 of 100 objects  500 bytes  50 bytes/s  10 s left"
    assert half.line(40) == " 50 %  50 of 100 objects  500 bytes"
    assert Progress(1, 5, 0, 2, 4000.0, 9, None).line(60).endswith("1 of 9 objects  5 bytes  0 bytes/s  2 failed")
    assert Progress(3, 500, 0, 0, 10.0, None, None).line() == "3 objects  500 bytes  50 bytes/s"
    assert Progress(0, 0, 0, 0, 1.0, 100, 1000).left_s is None
    assert Progress(5, 0, 0, 0, 1.0, None, None).left_s is None


def test_unsupported_urls() -> None:
    for url in ("", "nosuchscheme://x/y"):
        with pytest.raises(UsageError):
            open_store(url, {})


def test_listing_reports_special_files(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a": 1, "b/c": 2})
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "out").symlink_to("/etc")
    found = list(LocalStore(str(tmp_path)).items())
    assert sorted(item.name for item in found if isinstance(item, Item)) == ["a", "b/c"]
    assert sorted(item.name for item in found if not isinstance(item, Item)) == ["link", "out"]
