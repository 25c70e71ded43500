"""Folders, with real containers: round trips, resuming, changes, damage, names, refusals."""

from __future__ import annotations

import errno
import os
import random
import resource
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import pytest
import tress_dataset as dataset
from conftest import KeyFixture
from dataset_support import Plain, leftovers, make_tree, read_tree
from tress_dataset import Grouping, Incomplete, Retry, UsageError
from tress_dataset.errors import Exists
from tress_dataset.names import Item, name_digest
from tress_dataset.stores import Replace, open_store
from tress_dataset.stores.files import FilesStore
from tress_dataset.stores.folders import Folder
from tress_dataset.stores.local import LocalStore

QUICK = Retry(attempts=3, first=0.01, longest=0.02)
ODD_NAMES = [
    "a b/ü ñ",
    "100%",
    "%2e%2e",
    "line\nend",
    "-rf",
    "q?x=1#y",
    "*",
    "tab\t",
    "deep/" * 20 + "x",
    ".hidden",
    "x.tress",
    "ß",
    "ẞ",
]
LENGTHS = [0, 1, 16383, 16384, 16385, 65536, (4 << 20) - 1, 4 << 20, (4 << 20) + 1]


@pytest.fixture
def threads() -> Any:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def test_round_trip(tmp_path: Path, keys: KeyFixture) -> None:
    """Unusual names and important lengths, in processes. The independent reader opens samples."""
    made = make_tree(
        tmp_path / "plain", {name: 10 + n for n, name in enumerate(ODD_NAMES)} | {f"n/{n}": n for n in LENGTHS}
    )
    encrypted = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, workers=2)
    assert (encrypted.objects, encrypted.bytes) == (
        len(made),
        sum(LENGTHS) + sum(10 + n for n in range(len(ODD_NAMES))),
    )
    sealed = read_tree(tmp_path / "sealed")
    assert sorted(sealed) == sorted(name + ".tress" for name in made)
    for name in random.Random(1).sample(sorted(made), 8):
        assert keys.read(sealed[name + ".tress"]) == made[name]
    assert dataset.verify(tmp_path / "sealed", keys.identity, workers=2).objects == len(made)
    assert dataset.verify(tmp_path / "sealed", keys.identity, against=tmp_path / "plain", workers=2).objects == len(
        made
    )
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, workers=2)
    assert read_tree(tmp_path / "back") == made
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("limits", [Grouping(1, 1, 1), Grouping(3, 1000, 2), Grouping()])
@pytest.mark.parametrize("concurrency", [1, 5])
def test_same_bytes_however_it_is_cut(
    tmp_path: Path, keys: KeyFixture, threads: Any, limits: Grouping, concurrency: int
) -> None:
    made = make_tree(tmp_path / "plain", {f"{n % 3}/{n}": n * 100 for n in range(23)})
    how: dict[str, Any] = {"executor": threads, "grouping": limits, "concurrency": concurrency}
    for part in ("1/3", "2/3", "3/3"):
        dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, part=part, **how)
    assert sorted(read_tree(tmp_path / "sealed")) == sorted(name + ".tress" for name in made)
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, **how)
    assert read_tree(tmp_path / "back") == made


def test_a_second_run_does_what_is_missing_or_changed(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    made = make_tree(tmp_path / "plain", {f"{n}": 100 for n in range(10)})
    first = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    assert first.objects == 10
    again = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    assert (again.objects, again.skipped) == (0, 10)
    (tmp_path / "plain" / "7").chmod(0o600)
    for ignore_ctime, objects in ((True, 0), (False, 1)):
        touched = dataset.encrypt(
            tmp_path / "plain", tmp_path / "sealed", keys.recipient, ignore_ctime=ignore_ctime, dry_run=True
        )
        assert touched.objects == objects
    make_tree(tmp_path / "plain", {"new": 5, "3": 100}, seed=2)
    (tmp_path / "sealed" / "4.tress").unlink()
    (tmp_path / "sealed" / "5.tress").write_bytes(b"overwritten")
    assert (
        dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads, dry_run=True).objects
        == 5
    )
    third = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    assert (third.objects, third.skipped) == (5, 6)
    made = read_tree(tmp_path / "plain")
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, executor=threads)
    assert read_tree(tmp_path / "back") == made
    forced = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads, force=True)
    assert (forced.objects, forced.skipped) == (11, 0)


def test_nothing_to_do(tmp_path: Path, keys: KeyFixture) -> None:
    (tmp_path / "plain").mkdir()
    assert dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient).objects == 0
    assert dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity).objects == 0
    assert dataset.verify(tmp_path / "sealed", keys.identity).objects == 0
    with pytest.raises(FileNotFoundError):
        dataset.encrypt(tmp_path / "nowhere", tmp_path / "sealed", keys.recipient)


def test_what_was_there_stays(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    """Without force, no run replaces an object that no run wrote."""
    made = make_tree(tmp_path / "plain", {"a": 10, "b": 20})
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "a.tress").write_bytes(b"precious")
    for _ in range(3):
        with pytest.raises(Incomplete) as caught:
            dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
        summary = caught.value.summary
        assert [(failure.name, failure.kind) for failure in summary.failures] == [("a", "exists")]
        assert summary.failed_list is not None and '"a"' in Path(summary.failed_list).read_text()
        assert (tmp_path / "sealed" / "a.tress").read_bytes() == b"precious"
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads, force=True)
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, executor=threads)
    assert read_tree(tmp_path / "back") == made


def test_what_appears_meanwhile_stays(tmp_path: Path) -> None:
    """An object that appears between the listing and the commit is kept."""
    store = LocalStore(str(tmp_path))
    with store.write("a", 3, {}, Replace.NEVER) as out, pytest.raises(Exists):
        out.write(b"new")
        (tmp_path / "a").write_bytes(b"precious")
        out.commit()
    assert (tmp_path / "a").read_bytes() == b"precious" and not leftovers(tmp_path)


class Asked:
    """A lock that says when a thread asks for it."""

    def __init__(self) -> None:
        self.lock, self.asked = threading.Lock(), threading.Semaphore(0)

    def __enter__(self) -> None:
        self.asked.release()
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def test_shards_in_threads_share_a_failed_sync(tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them syncs the folders of both."""
    store, settling = LocalStore(str(tmp_path)), Asked()
    monkeypatch.setattr(store, "_settling", settling)
    for name in ("a/x", "b/x"):
        with store.write(name, 1, {}, Replace.NEVER) as out:
            out.write(b"1")
            out.commit()

    def fail(_: Folder) -> None:
        settling.asked.acquire()
        settling.asked.acquire()
        raise OSError(errno.EIO, "the disk")

    monkeypatch.setattr(Folder, "sync", fail)
    errors = [one.exception() for one in [threads.submit(store.settle) for _ in range(2)]]
    monkeypatch.undo()
    with pytest.raises(OSError, match="the disk"):
        store.settle()
    assert [type(error) for error in errors] == [OSError] * 2


def test_damage_is_found_and_named(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    make_tree(tmp_path / "plain", {f"{n}": 40000 for n in range(6)})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    flipped = bytearray((tmp_path / "sealed" / "0.tress").read_bytes())
    flipped[-20000] ^= 1
    (tmp_path / "sealed" / "0.tress").write_bytes(flipped)
    (tmp_path / "sealed" / "1.tress").write_bytes((tmp_path / "sealed" / "1.tress").read_bytes()[:-16400])
    (tmp_path / "sealed" / "2.tress").write_bytes((tmp_path / "sealed" / "3.tress").read_bytes())
    (tmp_path / "sealed" / "4.tress").unlink()
    (tmp_path / "sealed" / "extra.tress").write_bytes((tmp_path / "sealed" / "3.tress").read_bytes())
    (tmp_path / "sealed" / "none").write_bytes(b"")
    with pytest.raises(Incomplete) as caught:
        dataset.verify(tmp_path / "sealed", keys.identity, executor=threads)
    found = {failure.name.removesuffix(".tress"): failure.kind for failure in caught.value.summary.failures}
    assert sorted(found) == ["0", "1", "2", "4", "extra", "none"]
    assert (found["2"], found["4"], found["extra"], found["none"]) == ("moved", "missing", "extra", "name")
    assert caught.value.summary.objects == 2
    with pytest.raises(Incomplete) as caught:
        dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, executor=threads)
    assert caught.value.summary.kinds["moved"] == 2
    assert sorted(read_tree(tmp_path / "back")) == ["3", "5"]
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("length", [10, 5 << 20])
def test_exchanged_objects_are_found(tmp_path: Path, keys: KeyFixture, threads: Any, length: int) -> None:
    """Exchanged objects are found, also without the manifest. `accept_moved` accepts them."""
    made = make_tree(tmp_path / "plain", {"a": length, "in/a": length})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    one, other, between = (tmp_path / "sealed" / name for name in ("a.tress", "in/a.tress", "between"))
    one.rename(between)
    other.rename(one)
    between.rename(other)
    how: dict[str, Any] = {"executor": threads, "check": False}
    assert dataset.verify(tmp_path / "sealed", keys.identity, **how).kinds == {"moved": 2}
    assert dataset.verify(tmp_path / "sealed", keys.identity, against=None, **how).kinds == {"moved": 2}
    assert dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, **how).kinds == {"moved": 2}
    assert read_tree(tmp_path / "back") == {}
    accepted = dataset.verify(tmp_path / "sealed", keys.identity, against=None, accept_moved=True, **how)
    assert (accepted.objects, accepted.unbound) == (2, 0)
    assert dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, accept_moved=True, **how).ok
    assert read_tree(tmp_path / "back") == {"a": made["in/a"], "in/a": made["a"]}


def test_rewrapped_objects_keep_their_place(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    make_tree(tmp_path / "plain", {"a": 10, "b": 10})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    dataset.rewrap(tmp_path / "sealed", keys.identity, keys.other_recipient, executor=threads)
    (tmp_path / "sealed" / "a.tress").rename(tmp_path / "sealed" / "b.tress")
    found = dataset.verify(tmp_path / "sealed", keys.other_identity, against=None, executor=threads, check=False)
    assert [(failure.name, failure.kind) for failure in found.failures] == [("b.tress", "moved")]


def test_verify_against_the_source(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    make_tree(tmp_path / "plain", {"a": 10, "b": 20, "c": 5})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    make_tree(tmp_path / "plain", {"b": 20, "new": 1}, seed=9)
    (tmp_path / "plain" / "c").unlink()
    with pytest.raises(Incomplete) as caught:
        dataset.verify(tmp_path / "sealed", keys.identity, against=tmp_path / "plain", executor=threads)
    found = {failure.name: failure.kind for failure in caught.value.summary.failures}
    assert found == {"b.tress": "differs", "new.tress": "missing", "c.tress": "extra"}


def test_wrong_key(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    make_tree(tmp_path / "plain", {"a": 10, "b": 5 << 20})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    with pytest.raises(Incomplete) as caught:
        dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.other_identity, executor=threads)
    assert caught.value.summary.failed == 2 and caught.value.summary.retried == 0
    assert read_tree(tmp_path / "back") == {} and not leftovers(tmp_path)


@pytest.mark.parametrize("cut", ["flipped", "torn", "rubbish", "gone", "empty"])
def test_a_damaged_manifest_costs_only_work(tmp_path: Path, keys: KeyFixture, threads: Any, cut: str) -> None:
    made = make_tree(tmp_path / "plain", {f"{n}": 10 for n in range(5)})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    (manifest,) = (tmp_path / "sealed" / ".tress-dataset").iterdir()
    lines = manifest.read_bytes().splitlines(keepends=True)
    if cut == "flipped":
        lines[-1] = lines[-1].replace(b'"done"', b'"dome"')
    elif cut == "torn":
        lines[-1] = lines[-1][:50]
    elif cut == "rubbish":
        lines[-1] = b"\xff\x00{[\n"
    elif cut == "empty":
        lines = []
    manifest.write_bytes(b"".join(lines))
    if cut == "gone":
        manifest.unlink()
    told: list[str] = []
    if cut in ("gone", "empty"):
        # Without a manifest it is unknown whether a run wrote these containers.
        with pytest.raises(Incomplete):
            dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
        again = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads, force=True)
        assert again.objects == 5
    else:
        again = dataset.encrypt(
            tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads, warn=told.append
        )
        assert (again.objects, again.skipped, again.bad_lines, len(told)) == (1, 4, 1, 1)
        assert manifest.name in told[0]
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, executor=threads)
    assert read_tree(tmp_path / "back") == made


class Meddling(Plain):
    """Changes a file while it is encrypted."""

    def __init__(self, path: Path):
        self.path = path
        self.times = 0

    def seal(self, name: str) -> Any:
        outer = self

        class Push:
            def update(self, data: Any) -> bytes:
                outer.times += 1
                with open(outer.path, "ab") as file:
                    file.write(b"more")
                return bytes(data)

            def finalize(self) -> bytes:
                return b""

        return Push()


def test_an_object_that_changes_while_it_is_read(tmp_path: Path, threads: Any) -> None:
    """It fails after some attempts without an output. The other objects are done."""
    make_tree(tmp_path / "plain", {"steady": 10, "restless": 9 << 20})
    meddling = Meddling(tmp_path / "plain" / "restless")
    with pytest.raises(Incomplete) as caught:
        dataset.encrypt(
            tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, retry=QUICK, _codec=meddling
        )
    (failure,) = caught.value.summary.failures
    assert (failure.name, failure.kind, failure.attempts) == ("restless", "changed", 3)
    assert caught.value.summary.retried == 2 and meddling.times > 3
    assert sorted(read_tree(tmp_path / "sealed")) == ["steady.tress"] and not leftovers(tmp_path)
    after = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, _codec=Plain())
    assert (after.objects, after.skipped) == (1, 1)


@pytest.mark.parametrize("how", ["longer", "replaced", "removed", "shorter", "same size and times"])
def test_changes_that_are_noticed(tmp_path: Path, how: str) -> None:
    from tress_dataset.errors import Changed

    make_tree(tmp_path, {"x": 9 << 20})
    store = LocalStore(str(tmp_path))
    path = tmp_path / "x"
    before = path.stat()
    with store.read(store.stat("x")) as reading, pytest.raises(Changed):
        blocks = reading.blocks()
        next(blocks)
        if how == "longer":
            with open(path, "ab") as file:
                file.write(b"x")
        elif how == "replaced":
            (tmp_path / "y").write_bytes(path.read_bytes())
            os.utime(tmp_path / "y", ns=(before.st_atime_ns, before.st_mtime_ns))
            os.replace(tmp_path / "y", path)
        elif how == "removed":
            path.unlink()
        elif how == "shorter":
            os.truncate(path, 5 << 20)
        else:
            while path.stat().st_ctime_ns == before.st_ctime_ns:  # The clock of the file system ticks coarsely.
                with open(path, "r+b") as file:
                    file.write(b"zz")
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        for _ in blocks:
            pass
        reading.unchanged()


def test_escapes(tmp_path: Path, threads: Any) -> None:
    """A link in the target that leads out of it is not followed."""
    make_tree(tmp_path / "plain", {"a/b": 10, "a/deep/d": 10, "c": 5})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Incomplete) as caught:
        dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, _codec=Plain())
    found = sorted((failure.name, failure.kind) for failure in caught.value.summary.failures)
    assert found == [("a/b", "name"), ("a/deep/d", "name")]
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert sorted(read_tree(tmp_path / "sealed")) == ["c.tress"]


def test_links_and_special_files_are_reported(tmp_path: Path, threads: Any) -> None:
    make_tree(tmp_path / "plain", {"a": 10})
    (tmp_path / "plain" / "link").symlink_to("a")
    os.mkfifo(tmp_path / "plain" / "pipe")
    with pytest.raises(Incomplete) as caught:
        dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, _codec=Plain())
    assert {failure.name: failure.kind for failure in caught.value.summary.failures} == {
        "link": "special",
        "pipe": "special",
    }
    assert caught.value.summary.objects == 1


def test_a_part_of_a_dead_run_is_taken_over(tmp_path: Path, threads: Any) -> None:
    from tress_dataset.names import temporary_name

    make_tree(tmp_path / "plain", {"a": 10})
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / temporary_name("a.tress")).write_bytes(b"half an object, longer than the whole one")
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, _codec=Plain())
    assert read_tree(tmp_path / "sealed")["a.tress"] == bytes(255 - b for b in (tmp_path / "plain" / "a").read_bytes())
    assert not leftovers(tmp_path)


def test_a_part_that_is_an_object_too(tmp_path: Path, threads: Any) -> None:
    """After a crash between the hard link and the removal of the temporary name, the object is not written to."""
    from tress_dataset.names import temporary_name

    make_tree(tmp_path / "plain", {"a": 10})
    (tmp_path / "sealed").mkdir()
    (tmp_path / "kept").write_bytes(b"complete")
    os.link(tmp_path / "kept", tmp_path / "sealed" / temporary_name("a.tress"))
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, _codec=Plain(), retry=QUICK)
    assert (tmp_path / "kept").read_bytes() == b"complete" and not leftovers(tmp_path)


def test_two_runs_at_once(tmp_path: Path, keys: KeyFixture) -> None:
    """Each object comes from one of the two runs, and is complete."""
    made = make_tree(tmp_path / "plain", {f"{n}": 50000 for n in range(60)})
    summaries = []

    def run() -> None:
        with ThreadPoolExecutor(2) as executor:
            summaries.append(
                dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=executor, check=False)
            )

    both = [threading.Thread(target=run) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert all(kind in ("exists", "busy") for summary in summaries for kind in summary.kinds)
    with ThreadPoolExecutor(2) as executor:
        dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, executor=executor)
    assert read_tree(tmp_path / "back") == made and not leftovers(tmp_path)


def test_a_run_that_is_stopped_stops_no_other(tmp_path: Path) -> None:
    """The second run waits for its object while it is being stopped. The first one continues in that time."""
    make_tree(tmp_path / "plain", {f"{n}": 100 for n in range(50)})
    is_stopping, has_ended = threading.Event(), threading.Event()

    class Waiting(Plain):
        def __init__(self, event: threading.Event) -> None:
            super().__init__()
            self.event = event

        def seal_whole(self, data: Any, name: str) -> bytes:
            self.event.wait()
            return super().seal_whole(data, name)

    def fail(*_: object) -> None:
        is_stopping.set()
        raise ZeroDivisionError

    def run(target: str, event: threading.Event, **options: Any) -> Any:
        with ThreadPoolExecutor(1) as executor:
            plain, sealed = tmp_path / "plain", tmp_path / target
            return dataset.encrypt(plain, sealed, "age1x", executor=executor, _codec=Waiting(event), **options)

    with ThreadPoolExecutor(2) as runs:
        first = runs.submit(run, "one", is_stopping, check=False)
        second = runs.submit(run, "two", has_ended, progress=fail)
        try:
            assert first.result().failed == 0
        finally:
            is_stopping.set()
            has_ended.set()
        with pytest.raises(ZeroDivisionError):
            second.result()


def test_the_source_vanishes(tmp_path: Path, threads: Any) -> None:
    import shutil

    make_tree(tmp_path / "plain", {f"{n:03}/x": 10 for n in range(200)})

    class Vanishing(Plain):
        def seal_whole(self, data: Any, name: str) -> bytes:
            shutil.rmtree(tmp_path / "plain", ignore_errors=True)
            return super().seal_whole(data, name)

    summary = dataset.encrypt(
        tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, _codec=Vanishing(), retry=QUICK, check=False
    )
    assert summary.failed > 0 and set(summary.kinds) <= {"vanished", "changed"}
    assert not leftovers(tmp_path)


def test_the_target_vanishes(tmp_path: Path, threads: Any) -> None:
    """The target is not created again after its file system was unmounted. The next run processes everything."""
    made = make_tree(tmp_path / "plain", {f"{n:03}": 10 for n in range(100)})

    class Vanishing(Plain):
        done = False

        def seal_whole(self, data: Any, name: str) -> bytes:
            if name == name_digest("050") and not Vanishing.done:
                Vanishing.done = True
                os.rename(tmp_path / "sealed", tmp_path / "unmounted")  # In one step, as by unmounting.
            return super().seal_whole(data, name)

    try:
        summary = dataset.encrypt(
            tmp_path / "plain",
            tmp_path / "sealed",
            "age1x",
            executor=threads,
            _codec=Vanishing(),
            retry=QUICK,
            check=False,
        )
        assert not summary.ok
    except OSError:
        pass
    assert not (tmp_path / "sealed").exists()
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, _codec=Plain())
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", "x", executor=threads, _codec=Plain())
    assert read_tree(tmp_path / "back") == made


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.exists("/bin/mount"), reason="root can write everywhere")
def test_a_target_that_cannot_be_written(tmp_path: Path) -> None:
    """On a full or read-only file system every object is reported, and nothing is left behind."""
    make_tree(tmp_path / "plain", {f"{n}": 300_000 for n in range(8)})
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from concurrent.futures import ThreadPoolExecutor
from dataset_support import Plain
import tress_dataset as dataset
with ThreadPoolExecutor(2) as executor:
    how = dict(executor=executor, _codec=Plain(), check=False, concurrency=2)
    s = dataset.encrypt({str(tmp_path / "plain")!r}, "/mnt", "age1x", **how)
print(s.objects, s.failed, sorted(s.kinds), s.failed_list)
"""
    (tmp_path / "script.py").write_text(script)
    mount = f"mount -t tmpfs -o size=1m none /mnt && {sys.executable} {tmp_path}/script.py; ls -A /mnt | grep -c part"
    full = subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, text=True)
    if "Operation not permitted" in full.stderr or "unshare" in full.stderr:
        pytest.skip("no namespaces here: a full disk has not been tested")
    done, failed, rest = full.stdout.split(" ", 2)
    # One of the two that are written together may have left no space for the other.
    assert int(done) + int(failed) == 8 and int(done) in (2, 3) and "['space']" in rest, full
    assert full.stdout.splitlines()[-1] == "0", "something half-written was left"
    mount = f"mount -t tmpfs -o ro none /mnt && {sys.executable} {tmp_path}/script.py"
    read_only = subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, text=True)
    assert read_only.returncode != 0 and "Read-only file system" in read_only.stderr


def test_memory_is_bounded(tmp_path: Path, keys: KeyFixture) -> None:
    """Encrypts an object of 192 MiB in a process with little memory."""
    path = tmp_path / "plain" / "big"
    path.parent.mkdir()
    with open(path, "wb") as file:
        block = random.Random(1).randbytes(1 << 20)
        for _ in range(192):
            file.write(block)
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import tress_dataset as dataset
with ThreadPoolExecutor(1) as executor:
    dataset.encrypt({str(tmp_path / "plain")!r}, {str(tmp_path / "sealed")!r}, {keys.recipient!r}, executor=executor)
    dataset.decrypt({str(tmp_path / "sealed")!r}, {str(tmp_path / "back")!r}, {keys.identity!r}, executor=executor)
# Not ru_maxrss, which starts with the value of the parent.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""
    used = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(used.stdout) * 1024 < 150 << 20
    assert (tmp_path / "back" / "big").read_bytes() == path.read_bytes()


def test_wrong_use(tmp_path: Path, keys: KeyFixture) -> None:
    make_tree(tmp_path / "plain", {"a": 1})
    (tmp_path / "link").symlink_to("plain")
    wrong: list[Any] = [
        lambda: dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", []),
        lambda: dataset.encrypt(tmp_path / "plain", tmp_path / "plain", keys.recipient),
        lambda: dataset.encrypt(tmp_path / "plain", tmp_path / "plain" / "sealed", keys.recipient),
        lambda: dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, workers=0),
        lambda: dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, concurrency=0),
        lambda: dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, aead="aes-128-gcm"),
        lambda: dataset.encrypt("memory://a", "memory://b", keys.recipient),
        lambda: dataset.encrypt(tmp_path / "plain", "", keys.recipient),
        lambda: dataset.encrypt(tmp_path / "plain", tmp_path / "link" / "sealed", keys.recipient),
        lambda: dataset.encrypt(tmp_path / "link", tmp_path / "plain" / "sealed", keys.recipient),
        lambda: dataset.encrypt(tmp_path / "plain", "s3:/bucket/sealed", keys.recipient),
        lambda: dataset.encrypt("gs:/bucket/plain", tmp_path / "sealed", keys.recipient),
        lambda: dataset.decrypt(tmp_path / "plain", tmp_path / "x", []),
        lambda: dataset.verify(tmp_path / "plain", None),
        lambda: dataset.rewrap(tmp_path / "plain", keys.identity, []),
    ]
    for call in wrong:
        with pytest.raises(UsageError):
            call()
    with pytest.raises(TypeError):
        dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, nosuch=1)
    assert sorted(os.listdir(tmp_path)) == ["link", "plain"] and os.listdir(tmp_path / "plain") == ["a"]


def test_keys_in_wrong_places(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    """Paths as text, recipients as identities, and identities as recipients give errors that do not repeat them."""
    make_tree(tmp_path / "plain", {"a": 1})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    for wrong in ("key.txt", keys.recipient):
        with pytest.raises(Incomplete) as caught:
            dataset.decrypt(tmp_path / "sealed", tmp_path / "back", wrong, executor=threads)
        assert caught.value.summary.kinds == {"bad-identity": 1}
    for no_recipient in ("key.txt", keys.identity, Path("key.txt"), b"0123456789abcdef"):
        with pytest.raises(UsageError) as refused:
            dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", no_recipient, executor=threads)
        assert "SECRET" not in str(refused.value) and "0123" not in str(refused.value)
    assert not leftovers(tmp_path)


def test_other_recipients_are_no_change(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    """Existing containers stay. A new recipient can open new ones; `rewrap` changes the others."""
    make_tree(tmp_path / "plain", {"a": 1})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    make_tree(tmp_path / "plain", {"b": 1}, seed=2)
    again = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.other_recipient, executor=threads)
    assert (again.objects, again.skipped) == (1, 1)
    with pytest.raises(Incomplete) as caught:
        dataset.verify(tmp_path / "sealed", keys.other_identity, executor=threads)
    assert [failure.name for failure in caught.value.summary.failures] == ["a.tress"]


def test_a_folder_of_nothing_has_no_failures(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    """The summary counts no object. A comparison with the source reports missing objects."""
    make_tree(tmp_path / "plain", {"a": 1})
    (tmp_path / "sealed").mkdir()
    assert dataset.verify(tmp_path / "sealed", keys.identity, executor=threads).objects == 0
    with pytest.raises(Incomplete) as caught:
        dataset.verify(tmp_path / "sealed", keys.identity, against=tmp_path / "plain", executor=threads)
    assert caught.value.summary.kinds == {"missing": 1}


def test_rewrap(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    made = make_tree(tmp_path / "plain", {"a": 10, "b/c": 100_000, "empty": 0})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads)
    first = dataset.rewrap(tmp_path / "sealed", keys.identity, keys.other_recipient, executor=threads)
    assert first.objects == 3
    again = dataset.rewrap(tmp_path / "sealed", keys.identity, keys.other_recipient, executor=threads)
    assert (again.objects, again.skipped) == (0, 3)
    assert dataset.verify(tmp_path / "sealed", keys.other_identity, executor=threads).objects == 3
    with pytest.raises(Incomplete):
        dataset.verify(tmp_path / "sealed", keys.identity, executor=threads)
    # Objects that were rewrapped are not encrypted again.
    assert dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=threads).skipped == 3
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.other_identity, executor=threads)
    assert read_tree(tmp_path / "back") == made
    # Entries are tag, rights and number: owner rw, user 1000 r, group none, mask r, others none (acl(5)).
    entries = [(1, 6, -1), (2, 4, 1000), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        for file, name in [("sealed/a.tress", "access"), ("sealed", "default")]:
            os.setxattr(tmp_path / file, f"system.posix_acl_{name}", acl)
    except (AttributeError, OSError):
        return  # This system has no such lists.
    dataset.rewrap(tmp_path / "sealed", keys.other_identity, keys.recipient, executor=threads)
    # Neither list gives rights to the new file, the old one's group has none.
    assert (tmp_path / "sealed/a.tress").stat().st_mode & 0o777 == 0o600


def test_memory_store(keys: KeyFixture, threads: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FilesStore with fsspec's memory file system."""
    made = make_tree(tmp_path / "plain", {"a": 10, "b/c d": 100_000, "e": 5 << 20})
    dataset.encrypt(tmp_path / "plain", "memory://sealed", keys.recipient, executor=threads)
    assert dataset.encrypt(tmp_path / "plain", "memory://sealed", keys.recipient, executor=threads).skipped == 3
    assert dataset.verify("memory://sealed", keys.identity, executor=threads).objects == 3
    # A container that is replaced after its header was read does not get that header.
    there, start = fsspec.filesystem("memory").store, FilesStore.read_start

    def replaced(store: FilesStore, item: Item, count: int) -> bytes:
        found = start(store, item, count)
        if item.name == "a.tress":
            store.fs.pipe_file(store.path(item.name), b"of another program")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(FilesStore, "read_start", replaced)
        summary = dataset.rewrap(
            "memory://sealed", keys.identity, keys.other_recipient, executor=threads, check=False, retry=Retry(1)
        )
    assert summary.kinds == {"changed": 1} and there["/sealed/a.tress"].getvalue() == b"of another program"
    dataset.encrypt(tmp_path / "plain", "memory://sealed", keys.recipient, executor=threads, force=True)
    dataset.rewrap("memory://sealed", keys.identity, keys.other_recipient, executor=threads)
    dataset.decrypt("memory://sealed", tmp_path / "back", keys.other_identity, executor=threads)
    assert read_tree(tmp_path / "back") == made


def test_open_files_are_closed(tmp_path: Path, threads: Any) -> None:
    make_tree(tmp_path / "plain", {f"{n}": 10 for n in range(300)})
    before = len(os.listdir("/proc/self/fd"))
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=threads, _codec=Plain())
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 0


def test_a_missing_dependency_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for missing, url, extra in (
        ("s3fs", "s3://bucket/x", "s3"),
        ("fsspec", "sftp://host/x", "sftp"),
        ("fsspec", "memory://x", "fsspec"),
    ):
        with monkeypatch.context() as patch:
            for store in ("s3", "files"):
                patch.delitem(sys.modules, f"tress_dataset.stores.{store}", raising=False)
            patch.setitem(sys.modules, missing, None)
            with pytest.raises(UsageError) as caught:
                open_store(url, {})
        assert f"pip install . './python/dataset[{extra}]'" in str(caught.value)
