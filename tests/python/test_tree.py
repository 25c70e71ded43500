"""Trees between two implementations: tress, and tress_tree.py, which was written from the page.

    TRESS=target/release/tress target/venv/bin/python -m pytest -q tests/python/test_tree.py

Tests both directions, and a table of streams that both must accept or both must refuse (tree_cases.py). With CI set, a missing
TRESS is a failure.
"""

import os
import random
import subprocess

import pytest

import age_by_hand as age
import tree_cases
import tress_reader
import tress_tree as tree

KEY = bytes(range(128, 160))
AT = 1_769_860_800 * tree.NANOSECONDS


@pytest.fixture
def tress(tmp_path):
    """Runs the command with KEY and returns its status and output."""
    program = os.environ.get("TRESS")
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("set TRESS to the command")
    (tmp_path / "key").write_bytes(KEY)

    def run(verb, *arguments, data=None):
        command = [os.path.abspath(program), verb, "--key-file", tmp_path / "key", *arguments]
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done

    return run


def container(stream):
    return tress_reader.encrypt(stream, lambda content: age.seal(content, [age.raw_key(KEY)], os.urandom), kind=b"tree")


def folder_of_everything(root):
    """Names, modes, times and links at the limits of a header."""
    (root / "empty").mkdir(parents=True)
    for depth in range(1, 8):
        (root / "/".join(["f" * 40] * depth)).mkdir()
    names = [b"a", b"n" * 100, b"n" * 255, b"\xff\xfe", b"l\nl", "Größe".encode(), b"f" * 40 + b"/" + b"\xff" * 101]
    for number, name in enumerate(names):
        path = os.path.join(os.fsencode(root), name)
        with open(path, "wb") as file:
            file.write(bytes(range(256)) * number + b"x" * (number % 3))
        os.chmod(path, [0o644, 0o600, 0o777, 0o000, 0o400, 0o755, 0o4711][number])
        time_ns = [0, 1, -1, -250_000_000, 8**11 * 10**9, 8**11 * 10**9 - 1, AT + 123_456_789][number]
        os.utime(path, ns=(0, time_ns))
    for name, target in [("link", "a"), ("dangling", "no/such"), ("long", "t" * 101), ("empty/up", "../a"), ("dots", "./a//b")]:
        os.symlink(target, root / name)
    os.symlink(b"\xff" * 120, os.fsencode(root / "bytes"))
    os.chmod(root / "empty", 0o500)


def test_a_folder_of_the_command_is_read(tress, tmp_path):
    root = tmp_path / "folder"
    folder_of_everything(root)
    done = tress("encrypt", "-o", tmp_path / "sealed", root)
    assert done.returncode == 0, done.stderr
    plaintext, kind, name = tress_reader.decrypt((tmp_path / "sealed").read_bytes(), KEY)
    assert (kind, name) == (b"tree", "folder")
    entries = list(tree.pack(root))
    assert tree.read(plaintext) == entries
    # The same tree gives the same bytes.
    assert tree.write(entries) == plaintext


def some_entries(rng):
    """A tree of random shape, in a random order of siblings."""

    def name():
        length = rng.choice([1, 3, 50, 99, 100, 101, 200, 255])
        return bytes(rng.choice(b"ab.~\xff\xc3 \n\\=") for _ in range(length)) + b"z" * (length == 1)

    def level(parents, depth):
        for name_ in {name()[:255] for _ in range(rng.randrange(1, 6))} - {b".", b".."}:
            names = (*parents, name_)
            common = {"mode": rng.randrange(0o1000), "time_ns": rng.choice([0, -1, AT, AT + 5, -AT + 7, 2**33 * 10**9 + 1])}
            kind = rng.choice(["file", "link", "folder"])
            if kind == "file":
                yield tree.Entry(names, kind, data=rng.randbytes(rng.choice([0, 1, 511, 512, 513, 20000])), **common)
            elif kind == "link":
                target = b"../" * rng.randrange(len(parents) + 1) + name()
                yield tree.Entry(names, kind, target=target, **common | {"mode": 0o777})
            else:
                yield tree.Entry(names, kind, **common)
                if depth < 4:
                    yield from level(names, depth + 1)

    return [tree.Entry((), "folder", 0o755, AT), *level((), 0)]


def by_names(entries):
    """Sorted entries, without the modes of links, which are not kept."""
    entries = [tree.dataclasses.replace(entry, mode=0) if entry.kind == "link" else entry for entry in entries]
    return sorted(entries, key=lambda entry: entry.names)


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_of_the_writer_is_unpacked(tress, tmp_path, seed):
    entries = some_entries(random.Random(seed))
    done = tress("decrypt", "-o", tmp_path / "out", "-", data=container(tree.write(entries)))
    assert done.returncode == 0, done.stderr
    assert by_names(tree.pack(tmp_path / "out")) == by_names(entries)


@pytest.mark.parametrize(("name", "stream", "refusal"), tree_cases.CASES, ids=[case[0] for case in tree_cases.CASES])
def test_both_accept_or_both_refuse(tress, tmp_path, name, stream, refusal):
    out = tmp_path / "out"
    done = tress("decrypt", "-o", out, "-", data=container(stream))
    assert (done.returncode == 0) == (refusal is None), (name, done.stderr)
    assert out.exists() == (refusal is None), name
    if refusal is not None:
        with pytest.raises(tree.TreeError) as raised:
            tree.read(stream)
        assert raised.value.kind == refusal
        return
    entries = tree.read(stream)
    # Without an entry for the root, its mode and time are not defined.
    packed = [entry for entry in tree.pack(out) if entry.names or not all(entry.names for entry in entries)]
    assert by_names(packed) == by_names(entries)
