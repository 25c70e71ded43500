"""Reads a dataset of an earlier build (crates/cli/tests/fixtures/README.md): manifest, containers, summary."""

from __future__ import annotations

import binascii
import json
import shutil
from pathlib import Path

import pyrage
import pytest
import tress
import tress_dataset as dataset
from dataset_support import ROOT, read_tree
from tress_dataset import Incomplete

FIXTURES = ROOT / "crates" / "cli" / "tests" / "fixtures"
IDENTITY = FIXTURES / "keys" / "me.key"
PLAIN = {"a": 0, "in/b": 100, "naïve name": 16_500}


def numbers(count: int) -> bytes:
    return b"".join(b"%015d\n" % line for line in range(count // 16 + 1))[:count]


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """A copy of the dataset. The tests here cover every file of it."""
    shutil.copytree(FIXTURES / "dataset", tmp_path / "sealed")
    assert sorted(read_tree(tmp_path / "sealed")) == sorted(f"{name}.tress" for name in PLAIN)
    assert len(list((tmp_path / "sealed" / ".tress-dataset").iterdir())) == 1
    return tmp_path / "sealed"


def test_an_old_dataset_is_verified_and_decrypted(sealed: Path, tmp_path: Path) -> None:
    warnings: list[str] = []
    found = dataset.verify(sealed, IDENTITY, workers=1, warn=warnings.append)
    assert (found.objects, found.failed, found.bad_lines) == (3, 0, 0)
    # These containers do not record the names of their objects.
    assert (found.unbound, len(warnings)) == (3, 1)
    dataset.decrypt(sealed, tmp_path / "back", IDENTITY, workers=1)
    assert read_tree(tmp_path / "back") == {name: numbers(count) for name, count in PLAIN.items()}


def test_its_manifest_says_what_is_missing_and_what_was_replaced(sealed: Path) -> None:
    (sealed / "a.tress").unlink()
    shutil.copy(FIXTURES / "containers" / "x25519.tress", sealed / "in" / "b.tress")
    with pytest.raises(Incomplete) as caught:
        dataset.verify(sealed, IDENTITY, workers=1)
    assert sorted((failure.name, failure.kind) for failure in caught.value.summary.failures) == [
        ("a.tress", "missing"),
        ("in/b.tress", "differs"),
    ]


def test_an_old_dataset_is_continued(sealed: Path, tmp_path: Path) -> None:
    """A second run does nothing, and a third one processes a new file. The manifest gets the copy's inodes."""
    plain = tmp_path / "plain"
    (plain / "in").mkdir(parents=True)
    for name, count in PLAIN.items():
        (plain / name).write_bytes(numbers(count))

    def identity(path: Path) -> list[int | str]:
        status = path.stat()
        return [status.st_size, f"{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}"]

    (manifest,) = (sealed / ".tress-dataset").iterdir()
    lines = []
    for line in manifest.read_bytes().splitlines():
        body, _, check = line.rpartition(b',"crc":"')
        assert check == b'%08x"}' % binascii.crc32(body + b"}")
        value = json.loads(body + b"}")
        if value["state"] == "done":
            value["source"] = identity(plain / value["name"].removesuffix(".tress"))
            value["target"] = identity(sealed / value["name"])
        body = json.dumps(value, separators=(",", ":")).encode()
        lines.append(body[:-1] + b',"crc":"%08x"}\n' % binascii.crc32(body))
    manifest.write_bytes(b"".join(lines))

    recipient = next(line for line in (FIXTURES / "keys" / "recipients.txt").read_text().split() if line[:4] == "age1")
    again = dataset.encrypt(plain, sealed, recipient, workers=1)
    assert (again.objects, again.skipped, again.failed) == (0, 3, 0)
    (plain / "new").write_bytes(b"new")
    assert dataset.encrypt(plain, sealed, recipient, workers=1).objects == 1
    assert dataset.verify(sealed, IDENTITY, workers=1).objects == 4


def test_age_files_are_decrypted_verified_and_rewrapped(tmp_path: Path) -> None:
    """Of pyrage: with one suffix or the other, small and of several blocks, as text."""
    theirs, new = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
    plain = {"small": b"small", "in/long": numbers(9_000_000), "text": b"text", "ours": b"ours"}
    sealed = tmp_path / "sealed"
    (sealed / "in").mkdir(parents=True)
    for name, suffix in [("small", ".age"), ("in/long", ".tress"), ("text", ".age")]:
        made = pyrage.encrypt(plain[name], [theirs.to_public()], armored=name == "text")
        if name == "text":
            made = b" \n" * 20 + made
        (sealed / f"{name}{suffix}").write_bytes(made)
    (sealed / "ours.tress").write_bytes(tress.encrypt(b"ours", str(theirs.to_public())))
    for round, key in enumerate([theirs, new]):
        dataset.decrypt(sealed, tmp_path / f"back-{round}", str(key), workers=1)
        assert read_tree(tmp_path / f"back-{round}") == plain
        found = dataset.verify(sealed, str(key), against=None, workers=1)
        assert (found.objects, found.failed, found.unbound) == (len(plain), 0, len(plain))
        assert dataset.verify(sealed, str(key), against=tmp_path / f"back-{round}", workers=1).objects == len(plain)
        if key is theirs:
            (sealed / "text.age").unlink()
            del plain["text"]
            dataset.rewrap(sealed, str(theirs), str(new.to_public()), workers=1)
    assert pyrage.decrypt((sealed / "in" / "long.tress").read_bytes(), [new]) == plain["in/long"]
    # Of two containers for one name, no run replaces what came from the other.
    (sealed / "ours.age").write_bytes(pyrage.encrypt(b"other", [new.to_public()]))
    for _ in range(2):
        found = dataset.decrypt(sealed, tmp_path / "back-1", str(new), workers=1, check=False)
        assert found.kinds == {"exists": 1} and read_tree(tmp_path / "back-1") == plain


def test_a_summary_has_the_old_keys(sealed: Path) -> None:
    kept = json.loads((FIXTURES / "dataset.json").read_text())
    now = dataset.verify(sealed, IDENTITY, workers=1).as_dict()
    kinds = {key: type(value) for key, value in kept.items() if value is not None}
    assert not kept.keys() - now.keys()
    assert {key: type(now[key]) for key in kinds} == kinds
