"""Fault injection: every system call of the folder store fails once, or from some call on.

Existing objects must be complete, and missing ones reported. The modules of the store get replacements for `os` and
`open` that count calls and make one of them fail. A run after the fault completes the work, and another one finds
nothing to do.
"""

from __future__ import annotations

import builtins
import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tress_dataset as dataset
from dataset_support import Plain, flip, leftovers, make_tree, read_tree
from tress_dataset import Summary, transfer
from tress_dataset.index import Index
from tress_dataset.retry import Retry
from tress_dataset.stores import folders, local
from tress_dataset.stores.local import LocalStore

SIZES = {"empty": 0, "one": 1, "folder/small": 700, "folder/deeper/large": 5000}
CALLS = (
    *("open", "fstat", "stat", "read", "write", "fsync", "link", "unlink", "replace", "mkdir", "makedirs"),
    *("scandir", "close"),
)
SHORT = "short"
FAULTS = [(errno.EIO, False), (errno.ENOSPC, False), (SHORT, False), (errno.EIO, True), (SHORT, True)]


class Fault:
    """Makes one call fail, or that call and all later ones."""

    def __init__(self, number: int, what: int | str, forever: bool):
        self.number = number
        self.what = what
        self.forever = forever
        self.calls = 0
        self.hit: list[str] = []
        self.unsynced: list[str] = []
        """Descriptors of folders."""
        self.unsafe: list[str] = []
        """Temporary files that were created and not removed."""

    def now(self, name: str) -> bool:
        """Counts a call, and returns whether it must fail."""
        self.calls += 1
        fails = self.calls >= self.number if self.forever else self.calls == self.number
        if fails:
            self.hit.append(name)
        return fails

    def error(self) -> OSError:
        assert isinstance(self.what, int)
        return OSError(self.what, os.strerror(self.what))


class FaultyOs:
    """Takes the place of `os` in a module, and injects the fault."""

    def __init__(self, fault: Fault):
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            if name == "read" and self._fault.what == SHORT and self._fault.now(name):
                return real(arguments[0], max(1, arguments[1] // 2))
            if name == "write" and self._fault.what == SHORT and self._fault.now(name):
                return real(arguments[0], arguments[1][: max(1, len(arguments[1]) // 2)])
            if self._fault.what != SHORT and self._fault.now(name):
                if name == "close":
                    real(*arguments)  # As on Linux, the descriptor is closed in spite of the error.
                if name == "fsync":
                    path = os.readlink(f"/proc/self/fd/{arguments[0]}")
                    (self._fault.unsynced if os.path.isdir(path) else self._fault.unsafe).append(path)
                raise self._fault.error()
            if name in ("unlink", "link", "replace"):
                folder = named.get("dir_fd", named.get("src_dir_fd"))
                path = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), arguments[0])
                assert name == "unlink" or path not in self._fault.unsafe, "named without a sync"
                if path in self._fault.unsafe:
                    self._fault.unsafe.remove(path)
            return real(*arguments, **named)

        return call


class FaultyFile:
    """An unbuffered file that injects the fault."""

    def __init__(self, fault: Fault, file: Any):
        self._fault = fault
        self._file = file

    def __enter__(self) -> FaultyFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: Any) -> Any:
        if self._fault.now("file.write"):
            if self._fault.what == SHORT:
                return self._file.write(data[: max(1, len(data) // 2)])
            raise self._fault.error()
        return self._file.write(data)

    def readinto(self, buffer: Any) -> Any:
        if self._fault.now("file.readinto"):
            if self._fault.what == SHORT:
                return self._file.readinto(buffer[: max(1, len(buffer) // 2)])
            raise self._fault.error()
        return self._file.readinto(buffer)

    def read(self, *count: int) -> Any:
        if self._fault.what != SHORT and self._fault.now("file.read"):
            raise self._fault.error()
        return self._file.read(*count)


def with_fault(monkeypatch: pytest.MonkeyPatch, fault: Fault, work: Callable[[], Summary]) -> Summary | BaseException:
    """Performs a run with a fault. Returns its summary or its exception."""

    def opened(*arguments: Any, **named: Any) -> FaultyFile:
        if fault.what != SHORT and fault.now("builtins.open"):
            raise fault.error()
        return FaultyFile(fault, builtins.open(*arguments, **named))

    with monkeypatch.context() as patch:
        for module in (local, folders):
            patch.setattr(module, "os", FaultyOs(fault))
        patch.setattr(local, "open", opened, raising=False)
        try:
            return work()
        except (OSError, dataset.DatasetError) as error:
            return error


def same(left: object, right: object) -> bool:
    """Compares two values without pytest's long explanation."""
    return left == right


def every(most: int) -> Iterator[int]:
    """Yields numbers of calls. The test breaks the loop; this fails if it never does."""
    yield from range(1, most)
    pytest.fail("the fault was met each time")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory if there is one: syncing to disk would take two thirds of the time."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def lists_in_a_folder_of_the_test(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of failures go to a folder of the test, because a target with faults may refuse them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("lists")))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, so that an object of some thousand bytes counts as large."""
    for module in (local, transfer):
        monkeypatch.setattr(module, "BLOCK", 1000)
    monkeypatch.setattr(local, "PIECE", 512)


def run(verb: str, source: Path, target: Path) -> Summary:
    how: dict[str, Any] = {"concurrency": 1, "check": False, "_codec": Plain(), "retry": Retry(2, 2, 0.0, 0.0)}
    with ThreadPoolExecutor(1) as executor:
        if verb == "encrypt":
            return dataset.encrypt(source, target, "age1x", executor=executor, **how)
        return dataset.decrypt(source, target, "x", executor=executor, **how)


@pytest.mark.parametrize(("what", "forever"), FAULTS)
@pytest.mark.parametrize("verb", ["encrypt", "decrypt"])
@pytest.mark.usefixtures("small_blocks")
def test_every_call_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, what: int | str, forever: bool
) -> None:
    made = make_tree(tmp_path / "plain", SIZES)
    source = tmp_path / "plain"
    expected = {f"{name}.tress": flip(data) for name, data in made.items()}
    if verb == "decrypt":
        source = tmp_path / "sealed"
        assert run("encrypt", tmp_path / "plain", source).ok
        expected = made
    told = 0
    for number in every(2000):
        fault = Fault(number, what, forever)
        target = tmp_path / f"out-{number}"
        summary = with_fault(monkeypatch, fault, lambda target=target: run(verb, source, target))  # type: ignore[misc]
        if not fault.hit:
            assert isinstance(summary, Summary) and summary.ok and summary.objects == len(expected)
            break
        where = f"{verb}, call {number}, {fault.hit[:3]}: {summary}"
        there = read_tree(target) if target.exists() else {}
        parts = {name for name in there if name.endswith(".tress-part")}
        for name in there.keys() - parts:
            assert same(there[name], expected.get(name)), f"{name}: {where}"
        # A temporary file remains only if its removal failed.
        assert not parts or "unlink" in fault.hit or forever, where
        if isinstance(summary, Summary):
            failed = {failure.name for failure in summary.failures}
            for name in expected.keys() - there.keys():
                original = name.removesuffix(".tress") if verb == "encrypt" else f"{name}.tress"
                # Or one of its folders, which could not be listed.
                assert any(f"{original}/".startswith(f"{one}/") for one in failed), f"{name} is not told: {where}"
            assert summary.objects <= len(there.keys() - parts), where
            # A second attempt would succeed without a word about the loss of the first one.
            assert not fault.unsynced or summary.failed > 0, where
            told += summary.failed > 0
        else:
            told += 1
        if isinstance(summary, Summary) and not forever:  # What is done is in the manifest.
            index = Index()
            index.load(LocalStore(str(target)), lambda _: True, Retry())
            assert sum(index.line(name) is not None for name in expected) >= summary.objects, where
            index.close()
        again = run(verb, source, target)
        assert again.ok, f"{where}, then {again}"
        assert same(read_tree(target), expected), where
        # If nothing can be written any more, the manifest keeps its old lines. A lost object is reported as missing.
        if fault.unsynced and isinstance(summary, Summary) and not forever:
            assert again.objects >= summary.failed, f"what may be lost was not written again: {where}"
        left = [path for path in leftovers(target) if "/.tress-dataset/" not in path]
        assert not left and (not leftovers(target) or "unlink" in fault.hit), where
        last = run(verb, source, target)
        assert (last.ok, last.objects, last.skipped) == (True, 0, len(expected)), f"{where}, then {last}"
    # A disk that fails once is tried again; a full disk is not.
    assert what == SHORT or told > 5


@pytest.mark.usefixtures("small_blocks")
def test_what_was_in_the_way_stays_when_folders_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run writes the objects of this run again, but not an object that existed before."""
    made = make_tree(tmp_path / "plain", SIZES)
    syncs = 0
    for number in every(2000):
        fault = Fault(number, errno.EIO, False)
        target = tmp_path / f"out-{number}"
        target.mkdir()
        (target / "one.tress").write_bytes(b"somebody else's")
        summary = with_fault(monkeypatch, fault, partial(run, "encrypt", tmp_path / "plain", target))
        if not fault.hit:
            break
        syncs += bool(fault.unsynced)
        if fault.unsynced:
            assert isinstance(summary, Summary) and summary.failed == len(made), summary
        again = run("encrypt", tmp_path / "plain", target)
        assert [(failure.name, failure.kind) for failure in again.failures] == [("one", "exists")], fault.hit
        assert (target / "one.tress").read_bytes() == b"somebody else's"
    assert syncs >= 2
