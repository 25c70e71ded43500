"""tress.open_tree: single files of a container that holds a folder, compared with the folder, tarfile and tress_tree.py."""

import io
import os
import pickle
import random
import stat
import tarfile
from concurrent.futures import ThreadPoolExecutor

import pytest
import tress

import tree_cases
import tress_reader
import tress_tree
from test_tree import KEY, container, folder_of_everything

RAW, PAIR = tress.RawKey(KEY), tress.KeyPair.generate()
TYPES = {"-": "file", "d": "folder", "l": "link", "p": "fifo", "c": "character device"}


def opened(sealed, identity=RAW):
    return tress.open_tree(io.BytesIO(sealed), identity)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A container of 3,001 files by the package's own writer, and their contents in its order."""
    folder, rng = tmp_path_factory.mktemp("many"), random.Random(1)
    contents = {f"{number}-{'Größe' * (number % 20)}": rng.randbytes(number % 999) for number in range(3000)}
    contents |= {"7": rng.randbytes(700_000)}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    tress.encrypt_file(folder, folder.with_suffix(".tress"), RAW)
    return folder.with_suffix(".tress"), dict(sorted(contents.items()))


def test_a_tree_is_what_tarfile_and_the_folder_have(tmp_path):
    folder_of_everything(tmp_path)
    sealed, rng = container(tress_tree.write(list(tress_tree.pack(tmp_path))), 2), random.Random(2)
    with tarfile.open(fileobj=io.BytesIO(tress.decrypt(sealed, RAW))) as tar, opened(sealed) as tree:
        rows = tar.getmembers()
        assert [member.name for member in tree.members()] == [row.name.removeprefix(".") for row in rows]
        files = {row.name: tar.extractfile(row).read() for row in rows if row.isreg() or row.islnk()}
        assert list(tree) == list(files) and len(tree) == len(files) > 10
        for row, member in zip(rows, tree.members(), strict=True):
            status = os.lstat(os.path.join(tmp_path, member.name))
            kind = "hard link" if row.islnk() else TYPES[stat.filemode(status.st_mode)[0]]
            size, time_ns = status.st_size if row.isreg() else 0, status.st_mtime_ns
            assert member[:5] == (member.name, kind, stat.S_IMODE(status.st_mode), size, time_ns)
            assert member.mtime == pytest.approx(status.st_mtime)
            assert member[5:] == (row.uid, row.gid, row.uname, row.gname, row.linkname, False)
            assert tree.info(member.name) == member and (member.name in tree) == (member.name in files)
        for name, content in files.items():
            file, expected = tree[name], io.BytesIO(content)
            assert (file.name, file.raw.size, file.read()) == (name, len(content), content)
            for length in [0, 1, 9, 30_000, -1] * 5:
                where = rng.choice([(rng.randrange(len(content) + 10), 0), (-rng.randrange(len(content) + 1), 2)])
                assert file.seek(*where) == expected.seek(*where)
                assert file.read(length) == expected.read(length) and file.tell() == expected.tell()
        for name in ["", "empty", "link", "no such", "./a", "a/", "\ud800", "\0", b"a", 5]:
            assert name not in tree and tree.get(name) is None


@pytest.mark.parametrize("of", [str, open, lambda path: io.BytesIO(path.read_bytes())], ids=["path", "file", "memory"])
def test_threads_and_a_forked_process(many, of):
    path, contents = many
    tree = tress.open_tree(open(path, "rb") if of is open else of(path), RAW)
    assert list(tree) == list(contents) and len(tree) == 3001
    names = [*list(contents)[::29], "7"]
    wrong = lambda _: sum(tree[name].read() != contents[name] for name in names)  # noqa: E731
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(wrong, range(6))) == [0] * 6
    # A file object shares its position with a child.
    child = os.fork() if of is not open else None
    if child == 0:
        try:
            os._exit(wrong(0))
        finally:
            os._exit(1)
    assert wrong(0) == 0 and (child is None or os.waitpid(child, 0)[1] == 0)


def test_closed_trees_and_pickles(many):
    tree = tress.open_tree(many[0], RAW)
    file, other, names = tree["7"], tree["7"].raw, iter(tree)
    pickles = [lambda one=one: pickle.dumps(one) for one in (tree, file, other)]
    closed = [lambda: tree["7"], lambda: "7" in tree, lambda: len(tree), lambda: iter(tree), lambda: list(names), tree.members]
    closed += [lambda: tree.info("7"), lambda: tree.has_index, tree.__enter__, file.read, other.read, other.readall, other.tell]
    for error, calls in [(TypeError, pickles), (ValueError, closed)]:
        for call in calls:
            pytest.raises(error, call)
        other.close()
        tree.close()


def test_damage_is_found_where_it_is_read(many):
    sealed, contents, content = bytearray(many[0].read_bytes()), many[1], many[1]["7"]
    chunk = ((start := tress.decrypt(sealed, RAW).index(content)) + 300_000) // tress_reader.CHUNK
    payload = len(sealed) - len(tress_reader.read_frame(bytes(sealed))[2])
    sealed[payload + 56 + chunk * tress_reader.SEALED_CHUNK] ^= 1
    tree, good = opened(sealed), chunk * tress_reader.CHUNK - start
    for size in [1000, good]:
        file = tree["7"]
        assert b"".join(file.read(size) for _ in range(good // size)) == content[: good // size * size]
        pytest.raises(tress.Damaged, file.read).match("^7: ")
        file.seek(good + tress_reader.CHUNK)
        assert file.read() == content[good + tress_reader.CHUNK :]
    assert [name for name in contents if name != "7" and tree[name].read() != contents[name]] == []


CASES = [(name, container(plain, 2), RAW, refusal and tress.Damaged) for name, plain, refusal in tree_cases.INDEXES]
CASES += [(f"a lie: {name}", container(plain, 2), RAW, tress.Damaged) for name, plain, _ in tree_cases.MEMBERS] + [
    ("file", tress.encrypt(b"", RAW), RAW, tress.Usage),
    ("age file", tress.encrypt(b"", PAIR.recipient, format="age"), PAIR, tress.Usage),
    ("wrong key", container(tree_cases.PLAIN, 2), PAIR, tress.WrongKey),
    ("no index", container(tress_tree.write(tree_cases.TREE[:3], 1), 1), RAW, None),
]


@pytest.mark.parametrize(("name", "sealed", "identity", "error"), CASES, ids=[case[0] for case in CASES])
def test_indexes_and_errors(name, sealed, identity, error):
    if error is None:
        tree = opened(sealed, identity)
        assert any(one.changed for one in tree.members()) == (name == "file that changed") and tree.has_index == (name != "no index")
    else:
        pytest.raises(error, lambda: [file.read() for file in opened(sealed, identity).values()])
        assert not name.startswith("a lie") or opened(sealed).get("d-", io.BytesIO(b"2" * 600)).read() == b"2" * 600
