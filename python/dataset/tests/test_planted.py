"""Attacks by other users of the machine: planted files, folders and links where a run reads or writes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tress_dataset as dataset
from dataset_support import Plain, flip, leftovers, make_tree, read_tree
from tress_dataset import Retry, Summary
from tress_dataset.names import Item, UnreadableEntry, name_digest, temporary_name
from tress_dataset.stores.local import LocalStore

QUICK = Retry(attempts=2, first=0.01, longest=0.02)
STRANGER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user: NOT TESTED")


@pytest.fixture
def one() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def encrypt(folder: Path, executor: ThreadPoolExecutor, codec: Any) -> Summary:
    how: dict[str, Any] = {"executor": executor, "retry": QUICK, "check": False, "concurrency": 1, "_codec": codec}
    return dataset.encrypt(folder / "plain", folder / "sealed", "age1x", **how)


def kinds(summary: Summary) -> dict[str, str]:
    return {failure.name: failure.kind for failure in summary.failures}


class Meddling(Plain):
    """Calls a function before it encrypts the n-th object."""

    def __init__(self, at: int, meddle: Callable[[str], None]):
        self.at = at
        self.meddle = meddle
        self.count = 0

    def seal_whole(self, data: Any, name: str) -> bytes:
        self.count += 1
        if self.count == self.at:
            self.meddle(name)
        return super().seal_whole(data, name)


def swap(folder: Path, outside: Path) -> None:
    """Replaces a folder by a symbolic link."""
    folder.rename(folder.with_name(folder.name + " before"))
    folder.symlink_to(outside)


@as_root
@pytest.mark.parametrize("owner", [STRANGER, 0])
@pytest.mark.parametrize("mode", [0o666, 0o600])
def test_a_planted_part_is_never_written_to(tmp_path: Path, one: ThreadPoolExecutor, owner: int, mode: int) -> None:
    """The user who planted the file, or has it open, gets no byte of the object."""
    made = make_tree(tmp_path / "plain", {"a": 10})
    (tmp_path / "sealed").mkdir()
    os.chmod(tmp_path / "sealed", 0o1777)
    part = tmp_path / "sealed" / temporary_name("a.tress")
    part.touch()
    os.chown(part, owner, owner)
    os.chmod(part, mode)
    planted = os.open(part, os.O_RDWR)
    assert encrypt(tmp_path, one, Plain()).ok
    found = (tmp_path / "sealed" / "a.tress").stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode) & 0o022) == (0, 0)
    assert read_tree(tmp_path / "sealed") == {"a.tress": flip(made["a"])} and os.read(planted, 100) == b""
    os.close(planted)


@pytest.mark.parametrize("what", ["link", "dangling link", "pipe", "folder"])
def test_a_part_that_is_no_file_is_an_error(tmp_path: Path, one: ThreadPoolExecutor, what: str) -> None:
    make_tree(tmp_path / "plain", {"a": 10})
    make_tree(tmp_path, {"victim": 10})
    before = (tmp_path / "victim").read_bytes()
    (tmp_path / "sealed").mkdir()
    part = tmp_path / "sealed" / temporary_name("a.tress")
    if what == "pipe":
        os.mkfifo(part)
    elif what == "folder":
        part.mkdir()
    else:
        part.symlink_to(tmp_path / ("victim" if what == "link" else "nowhere"))
    found = encrypt(tmp_path, one, Plain())
    assert kinds(found) == {"a": "denied"} and part.name in found.failures[0].message
    assert (tmp_path / "victim").read_bytes() == before and not (tmp_path / "nowhere").exists()
    assert not (tmp_path / "sealed" / "a.tress").exists()


def test_a_part_that_is_replaced_is_not_named(tmp_path: Path, one: ThreadPoolExecutor) -> None:
    from tress_dataset.errors import Changed
    from tress_dataset.stores import Replace

    part = tmp_path / temporary_name("a")
    with LocalStore(str(tmp_path)).write("a", 3, {}, Replace.ALWAYS) as out, pytest.raises(Changed):
        out.write(b"new")
        part.unlink()
        part.write_bytes(b"planted")
        out.commit()
    assert not (tmp_path / "a").exists() and part.read_bytes() == b"planted"


@as_root
@pytest.mark.parametrize("name", ["in", ".tress-dataset"])
def test_a_planted_folder_is_refused_where_everybody_may_make_one(
    tmp_path: Path, one: ThreadPoolExecutor, name: str
) -> None:
    """The owner of such a folder could exchange objects or forge a manifest."""
    make_tree(tmp_path / "plain", {"in/b": 10})
    planted = tmp_path / "sealed" / name
    planted.mkdir(parents=True)
    os.chown(planted, STRANGER, STRANGER)
    os.chmod(tmp_path / "sealed", 0o1777)
    if name == "in":
        found = encrypt(tmp_path, one, Plain())
        assert kinds(found) == {"in/b": "name"} and str(planted) in found.failures[0].message
    else:
        with pytest.raises(Exception, match="belongs to another user"):
            encrypt(tmp_path, one, Plain())
    assert not list(planted.iterdir())
    # In other folders, the folders of other users may belong to a group that works together.
    os.chmod(tmp_path / "sealed", 0o777)
    assert encrypt(tmp_path, one, Plain()).ok


def test_a_folder_of_the_source_is_swapped_for_a_link_after_it_was_listed(
    tmp_path: Path, one: ThreadPoolExecutor
) -> None:
    made = make_tree(tmp_path / "plain", {f"{folder}/deep/x": 10 for folder in "abc"})
    make_tree(tmp_path / "outside", {"deep/x": 10, "x": 10}, seed=2)
    for depth in ("", "deep"):

        def meddle(_: str, depth: str = depth) -> None:
            for folder in "abc":
                swap(tmp_path / "plain" / folder / depth, tmp_path / "outside" / depth)

        found = encrypt(tmp_path, one, Meddling(1, meddle))
        assert found.objects <= 1 and set(found.kinds) == {"changed"}, depth
        sealed = read_tree(tmp_path / "sealed")
        assert {flip(data) for data in sealed.values()} <= set(made.values())
        for folder in "abc":
            place = tmp_path / "plain" / folder / depth
            place.unlink()
            place.with_name(place.name + " before").rename(place)
    assert encrypt(tmp_path, one, Plain()).ok


def test_a_file_of_the_source_is_swapped_for_a_link(tmp_path: Path, one: ThreadPoolExecutor) -> None:
    make_tree(tmp_path / "plain", {"a": 10, "b": 10})
    make_tree(tmp_path, {"outside": 10}, seed=2)

    def meddle(name: str) -> None:
        swap(tmp_path / "plain" / ("b" if name == name_digest("a") else "a"), tmp_path / "outside")

    found = encrypt(tmp_path, one, Meddling(1, meddle))
    assert (found.objects, found.kinds) == (1, {"changed": 1})
    assert flip((tmp_path / "outside").read_bytes()) not in read_tree(tmp_path / "sealed").values()


def test_a_folder_is_swapped_for_a_link_while_it_is_listed(tmp_path: Path) -> None:
    make_tree(tmp_path / "plain", {f"{number}/x": 10 for number in range(9)})
    make_tree(tmp_path / "outside", {"secret": 10})
    listing = LocalStore(str(tmp_path / "plain")).items()
    first = next(listing)
    for folder in list((tmp_path / "plain").iterdir()):
        if folder.name != first.name[0]:
            swap(folder, tmp_path / "outside")
    rest = list(listing)
    assert len([entry for entry in rest if isinstance(entry, UnreadableEntry) and entry.kind == "special"]) == 8
    assert not [entry for entry in rest if isinstance(entry, Item) and entry.name.endswith("secret")]


@pytest.mark.parametrize("where", ["", "deep"])
def test_a_folder_of_the_target_is_swapped_for_a_link(tmp_path: Path, one: ThreadPoolExecutor, where: str) -> None:
    make_tree(tmp_path / "plain", {"a/deep/x": 10, "a/deep/y": 10})
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    found = encrypt(
        tmp_path, one, Meddling(2, lambda _: swap(tmp_path / "sealed" / "a" / where, tmp_path / "outside" / where))
    )
    # The first object is complete, in the folder that was moved away.
    assert (found.objects, found.kinds) == (0, {"name": 1, "io": 1})
    assert list((tmp_path / "outside" / "deep").iterdir()) == [] and not leftovers(tmp_path)


def test_another_folder_takes_the_place_of_the_root(tmp_path: Path) -> None:
    make_tree(tmp_path / "plain", {"a": 10})
    store = LocalStore(str(tmp_path / "plain"))
    (item,) = store.items()
    assert isinstance(item, Item)
    (tmp_path / "plain").rename(tmp_path / "before")
    make_tree(tmp_path / "plain", {"a": 10}, seed=2)
    with pytest.raises(FileNotFoundError):
        store.read(item)


def test_rewrapping_keeps_permissions(tmp_path: Path, one: ThreadPoolExecutor, keys: Any) -> None:
    make_tree(tmp_path / "plain", {"a": 10, "b": 9 << 20})
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, executor=one)
    for path, mode in (("a.tress", 0o600), ("b.tress", 0o640)):
        (tmp_path / "sealed" / path).chmod(mode)
    dataset.rewrap(tmp_path / "sealed", keys.identity, keys.other_recipient, executor=one)
    assert [stat.S_IMODE((tmp_path / "sealed" / path).stat().st_mode) for path in ("a.tress", "b.tress")] == [
        0o600,
        0o640,
    ]
    assert dataset.verify(tmp_path / "sealed", keys.other_identity, executor=one).objects == 2
