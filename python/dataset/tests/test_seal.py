"""Manifests with MACs: what a store does to objects and manifest is noticed, except that it goes back as a whole."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tress
import tress_dataset as dataset
from conftest import KeyFixture
from dataset_support import make_tree, read_tree
from tress_dataset import DatasetError, Retry, Secret, UsageError, manifest
from tress_dataset.manifest import DoneLine, lines, parse
from tress_dataset.names import name_digest
from tress_dataset.seal import ManifestKey
from tress_dataset.stores.local import LocalStore

KEY, OTHER = Secret(bytes(range(32))), Secret(bytes(32))
HOW: dict[str, Any] = {"check": False, "retry": Retry(attempts=2, first=0.001, longest=0.001)}


@pytest.fixture
def how() -> Any:
    with ThreadPoolExecutor(2) as executor:
        yield {"executor": executor, "manifest_key": KEY, **HOW}


class Sealed:
    """A target with two runs: the second has a changed object and a new one."""

    def __init__(self, folder: Path, keys: KeyFixture, how: dict[str, Any]) -> None:
        self.folder, self.recipient = folder / "sealed", keys.recipient
        make_tree(folder / "plain", {"a": 10, "b": 20, "c/d": 5 << 20})
        assert dataset.encrypt(folder / "plain", self.folder, keys.recipient, **how).ok
        self.before = folder / "before"
        shutil.copytree(self.folder, self.before)
        make_tree(folder / "plain", {"a": 11, "new": 30}, seed=2)
        assert dataset.encrypt(folder / "plain", self.folder, keys.recipient, **how).objects == 2
        self.first, self.second = sorted((self.folder / ".tress-dataset").iterdir())

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.tress"

    def forge(self, name: str, size: int = 6) -> None:
        """Encrypts other data to the same recipient, under the name of an object."""
        self.path(name).write_bytes(tress.encrypt(bytes(size), self.recipient, name=name_digest(name)))

    def swap(self, one: str, other: str) -> None:
        data = self.path(one).read_bytes()
        self.path(one).write_bytes(self.path(other).read_bytes())
        self.path(other).write_bytes(data)

    def roll_back(self, name: str) -> bytes:
        """Restores the older container of an object, and returns its line, which had a valid MAC."""
        shutil.copy2(self.before / f"{name}.tress", self.path(name))
        return next(line for line in self.first.read_bytes().splitlines(True) if f'"{name}.tress"'.encode() in line)

    def cut(self, file: Path, word: bytes) -> None:
        file.write_bytes(b"".join(line for line in file.read_bytes().splitlines(True) if word not in line))

    def drop(self, file: Path, name: str) -> None:
        """Drops an object and its line."""
        self.path(name).unlink()
        self.cut(file, f'"{name}.tress"'.encode())

    def unseal(self, file: Path) -> None:
        """Makes the file of a run look like that of a killed one, without an object of it."""
        self.drop(file, "new")
        file.rename(file.with_name(f"{file.stem}-000000.jsonl"))

    def go_back(self) -> None:
        self.second.unlink()
        self.path("new").unlink()
        self.roll_back("a")

    def replay(self, name: str) -> None:
        killed = "encrypt-20990101T000000.000000-00000000-000000.jsonl"
        line = self.roll_back(name)
        self.first.with_name(killed).write_bytes(line)


# What a store does; the kinds of failures of verify and decrypt, or their error.
ATTACKS: dict[str, tuple[Callable[[Sealed], object], dict[str, str] | type[DatasetError]]] = {
    "nothing": (lambda it: None, {}),
    "exchanges two objects": (lambda it: it.swap("a", "b"), {"a.tress": "moved", "b.tress": "moved"}),
    "replaces an object": (lambda it: it.forge("b"), {"b.tress": "differs"}),
    "replaces a large object": (lambda it: it.forge("c/d", 5 << 20), {"c/d.tress": "differs"}),
    "returns an older object": (lambda it: it.roll_back("a"), {"a.tress": "differs"}),
    "returns an older object and its line": (lambda it: it.replay("a"), DatasetError),
    "drops an object": (lambda it: it.path("c/d").unlink(), {"c/d.tress": "missing"}),
    "renames an object": (lambda it: it.path("b").rename(it.path("e")), {"b.tress": "missing", "e.tress": "extra"}),
    "adds an object": (lambda it: it.forge("e"), {"e.tress": "extra"}),
    "drops an object and its line": (lambda it: it.drop(it.first, "b"), DatasetError),
    "drops an object of the last run and its line": (lambda it: it.drop(it.second, "new"), DatasetError),
    "drops the seal": (lambda it: it.cut(it.second, b'"sealed"'), DatasetError),
    "exchanges two runs": (lambda it: it.first.replace(it.second), DatasetError),
    "drops an earlier run": (lambda it: it.first.unlink(), DatasetError),
    "drops an object, its line, and the seal": (lambda it: it.unseal(it.second), DatasetError),
    "drops the manifest": (lambda it: shutil.rmtree(it.first.parent), DatasetError),
    "drops the last run, but not its objects": (
        lambda it: it.second.unlink(),
        {"a.tress": "differs", "new.tress": "extra"},
    ),
    "goes back as a whole": (lambda it: it.go_back(), {}),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks(attack: str, tmp_path: Path, keys: KeyFixture, how: dict[str, Any]) -> None:
    does, expected = ATTACKS[attack]
    does(Sealed(tmp_path, keys, how))
    sealed, back = tmp_path / "sealed", tmp_path / "back"
    calls: list[Callable[[], dataset.Summary]] = [
        lambda: dataset.verify(sealed, keys.identity, **how),
        lambda: dataset.decrypt(sealed, back, keys.identity, **how),
    ]
    for call in calls:
        if not isinstance(expected, dict):
            with pytest.raises(expected):
                call()
        else:
            assert {failure.name: failure.kind for failure in call().failures} == expected
    wrong = {name.removesuffix(".tress") for name in expected} if isinstance(expected, dict) else set()
    assert not wrong & read_tree(back).keys() and (back.exists() or not isinstance(expected, dict))


def test_runs_after_one_another(tmp_path: Path, keys: KeyFixture, how: dict[str, Any]) -> None:
    """Parts, another recipient, a run that was killed before its seal, and one that finds nothing to do."""
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    made = make_tree(plain, {str(number): number for number in range(40)})
    for part in ("1/2", "2/2"):
        dataset.encrypt(plain, sealed, keys.recipient, part=part, **how)
    make_tree(plain, {"late": 1})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest, "join", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            dataset.encrypt(plain, sealed, keys.recipient, **how)
    with pytest.raises(DatasetError):
        dataset.verify(sealed, keys.identity, **how)
    for objects in (0, 0):
        done = dataset.encrypt(plain, sealed, keys.recipient, **how)
        assert (done.objects, done.skipped, done.ok) == (objects, 41, True)
        assert dataset.verify(sealed, keys.identity, **how).objects == 41
    assert len(list((sealed / ".tress-dataset").iterdir())) == 4
    assert dataset.rewrap(sealed, keys.identity, keys.other_recipient, **how).objects == 41
    assert dataset.verify(sealed, keys.other_identity, **how).objects == 41
    back = tmp_path / "back"
    for count in (10, 0):
        done = dataset.decrypt(sealed, back, keys.other_identity, include="1*", exclude=["11"], **how)
        assert (done.objects, done.ok) == (count, True)
    assert read_tree(back).keys() == {"1", "10", *map(str, range(12, 20))} and read_tree(back).items() <= made.items()


def test_a_swap_before_rewrap_is_noticed_after(tmp_path: Path, keys: KeyFixture, how: dict[str, Any]) -> None:
    it = Sealed(tmp_path, keys, how)
    os.utime(it.path("a"), (1, 1))  # As a copy.
    it.forge("b")
    it.forge("e")
    found = dataset.rewrap(it.folder, keys.identity, keys.recipient, force=True, **how)
    assert {failure.name: failure.kind for failure in found.failures} == {"e.tress": "extra"}
    found = dataset.verify(it.folder, keys.identity, **how)
    assert {failure.name: failure.kind for failure in found.failures} == {"b.tress": "differs", "e.tress": "extra"}


@pytest.mark.parametrize("lost", [True, False])
def test_the_store_changes_lines_before_they_are_sealed(
    lost: bool, tmp_path: Path, keys: KeyFixture, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    join = manifest.join

    def changed(store: LocalStore, verb: str, name: str, *rest: Any) -> None:
        for file in store.control():
            found = list(lines(store, file))
            done = next(line for line in found if b'"b.tress"' in line and b'"done"' in line)
            forged = DoneLine(*parse(done))._replace(name="e.tress").encode()
            store.put(file, b"\n".join(line for line in found if line != done or not lost) + b"\n" + forged)
        join(store, verb, name, *rest)

    monkeypatch.setattr(manifest, "join", changed)
    make_tree(tmp_path / "plain", {"a": 10, "b": 20})
    if lost:
        with pytest.raises(DatasetError):
            dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, **how)
    else:
        assert dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, **how).ok
        assert b"e.tress" not in next((tmp_path / "sealed/.tress-dataset").iterdir()).read_bytes()


def test_wrong_use(tmp_path: Path, keys: KeyFixture, how: dict[str, Any]) -> None:
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    make_tree(plain, {"a": 10})
    without = {name: value for name, value in how.items() if name != "manifest_key"}
    dataset.encrypt(plain, tmp_path / "open", keys.recipient, **without)
    dataset.encrypt(plain, sealed, keys.recipient, **how)
    for target, more, error in (
        (sealed, without, UsageError),
        (sealed, {**how, "manifest_key": OTHER}, DatasetError),
        (tmp_path / "open", how, DatasetError),
    ):
        with pytest.raises(error):
            dataset.encrypt(plain, target, keys.recipient, **more)
        with pytest.raises(error):
            dataset.rewrap(target, keys.identity, keys.recipient, **more)
    with pytest.raises(UsageError):
        dataset.verify(sealed, keys.identity, against=plain, **how)
    with pytest.raises(UsageError):
        dataset.verify(sealed, keys.identity, **{**how, "manifest_key": Secret("text")})
    with pytest.raises(TypeError):
        dataset.verify(sealed, keys.identity, **{**how, "manifest_key": os.urandom(32)})
    assert dataset.verify(sealed, keys.identity, **without).ok
    key = ManifestKey(KEY)
    assert pickle.loads(pickle.dumps(key)).of_run("a").of(b"x") == key.of_run("a").of(b"x") != key.of_run("b").of(b"x")
