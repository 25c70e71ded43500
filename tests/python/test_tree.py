"""Trees between two implementations: tress, and tress_tree.py, which was written from the page.

    TRESS=target/release/tress target/venv/bin/python -m pytest -q tests/python/test_tree.py

Tests both directions, and tables of trees that both must accept or both must refuse (tree_cases.py). With CI set, a missing
TRESS is a failure.
"""

import dataclasses
import os
import random
import re
import signal
import struct
import subprocess
import sys

import pytest

import age_by_hand as age
import tree_cases
import tress_reader
import tress_tree as tree

KEY = bytes(range(128, 160))
AT = 1_769_860_800 * tree.NANOSECONDS
LEFT_OUT = 3
SPECIAL = ("chardev", "blockdev", "fifo")


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
        assert done.returncode in (0, 1, LEFT_OUT), done.stderr
        return done

    return run


def container(plaintext, version):
    seal = lambda content: age.seal(content, [age.raw_key(KEY)], os.urandom)  # noqa: E731
    return tress_reader.encrypt(plaintext, seal, kind=b"tree", version=version)


def is_left_out(entry):
    """Whether an entry of version 2 is not unpacked without --preserve."""
    return entry.kind in SPECIAL or entry.kind == "link" and tree.leads_out(entry.target, len(entry.names) - 1)


def unpacked(entries, version=2, preserve=False):
    """What a folder holds into which these entries were unpacked: sorted, with the same target in all names of a file.

    Leaves out the modes of links, which are not kept, and the holes, which depend on the file system.
    """
    entries = list(entries)
    files, paths = {}, {}
    for entry in entries:
        if entry.kind == "file":
            files[entry.path] = entry
        elif entry.kind == "hardlink":
            files[entry.path] = file = files[entry.target]
            paths.setdefault(file.path, [file.path]).append(entry.path)
    for entry in sorted(entries, key=lambda entry: entry.names):
        if not preserve and version == 2 and is_left_out(entry):
            continue
        found = files.get(entry.path, entry)
        fields = {"names": entry.names, "data": found.content, "sparse": None}
        if found.kind == "file":
            fields["target"] = min(paths.get(found.path, [b""]))
        mode = found.mode & (0o7777 if preserve else 0o777 if version == 1 else 0o1777)
        # Without its access list, a file's group has its own rights and not those of the mask.
        if group := re.search(rb"(?:^|,)group::([r-])([w-])([x-])", found.acls.get(b"access", b"") if not preserve else b""):
            mode = mode & ~0o070 | sum((letter != b"-") << 5 - place for place, letter in enumerate(group.groups()))
        fields["mode"] = 0 if entry.kind == "link" else mode
        if not preserve:
            kept = {} if version == 1 else {key: value for key, value in found.attributes.items() if key.startswith(b"user.")}
            fields |= {"owner": tree.Owner(), "acls": {}, "attributes": kept}
        yield dataclasses.replace(found, **fields)


def folder_of_everything(root):
    """Names, modes, times, links and holes at the limits of a header, and what this system and user can make of the rest."""
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
    os.symlink("/no/such", root / "absolute")
    os.symlink("../../outside", root / "empty/out")
    (root / "second").mkdir()
    for first, second in [("a", "second/a"), ("second/a", "third"), ("n" * 255, "second/long")]:
        os.link(root / first, root / second)
    mib = 1 << 20
    for name, segments, size in [("holes", [mib, 3 * mib], 4 * mib), ("all-hole", [], mib), ("to-end", [mib], mib)]:
        with open(root / name, "wb") as file:
            file.truncate(size)
            for offset in segments:
                file.seek(offset)
                file.write(b"x" * 65536)
        os.utime(root / name, ns=(0, AT))
    os.mkfifo(root / "fifo")
    if hasattr(os, "setxattr"):
        attributes = [("all-hole", "user.a%b=c", b"=\0\n"), ("all-hole", "user.a", b""), ("second", "user.d", b"1")]
        for path, name, value in attributes:
            with_support(os.setxattr, root / path, name, value)
        nobody = 2**32 - 1
        rows = [(1, 6, nobody), (2, 4, 1000), (4, 4, nobody), (8, 5, 50), (16, 7, nobody), (32, 0, nobody)]
        acl = b"\2\0\0\0" + b"".join(struct.pack("<HHI", *row) for row in rows)
        with_support(os.setxattr, root / "to-end", "system.posix_acl_access", acl)
        with_support(os.setxattr, root / "second", "system.posix_acl_default", acl)
    if sys.platform == "linux" and os.geteuid() == 0:
        with_support(os.mknod, root / "device", 0o020640, os.makedev(1, 3))
        with_support(os.setxattr, root / "fifo", "trusted.f", b"1")
        for path, uid, gid in [("third", 1, 2), ("second", 2**21, 2**21 - 1), ("all-hole", 2**31, 50), ("link", 3, 4)]:
            os.chown(root / path, uid, gid, follow_symlinks=False)
        os.chmod(root / "third", 0o4755)
    os.chmod(root / "second", 0o3750)
    os.chmod(root / "empty", 0o500)


def with_support(call, *arguments):
    """Makes something that not every file system and container has."""
    try:
        call(*arguments)
    except OSError as error:
        print(f"SKIPPED: {call.__name__} {arguments}: {error}", file=sys.stderr)


def test_the_reader_reads_what_the_writer_writes(tmp_path):
    root = tmp_path / "folder"
    folder_of_everything(root)
    entries = list(tree.pack(root))
    plaintext = tree.write(entries)
    assert tree.check_index(plaintext) == entries
    kinds = {entry.kind for entry in entries}
    assert kinds >= {"file", "folder", "link", "hardlink", "fifo"}
    for entry in entries:
        assert tree.member(plaintext, entry.path) == entry


def test_an_index_of_many_blocks():
    entries = [tree.Entry((), "folder", 0o755, AT)]
    for number in range(3000):
        owner = tree.Owner(number // 100, 7, b"ada", b"")
        entries.append(tree.Entry((b"%09d" % (number * 7919),), "file", 0o644, AT - number**3, owner=owner))
    plaintext = tree.write(entries)
    lines, tar_length = tree.read_index(plaintext)
    assert len(lines) == 3001
    assert len(tree.write_blocks(lines)) > 2
    assert tree.check_index(plaintext) == entries
    assert tree.write_index(lines, tar_length) == plaintext[tar_length:]


def test_a_folder_of_the_command_is_read(tress, tmp_path):
    root = tmp_path / "folder"
    folder_of_everything(root)
    done = tress("encrypt", "--special", "-o", tmp_path / "sealed", root)
    assert done.returncode == 0, done.stderr
    sealed = (tmp_path / "sealed").read_bytes()
    plaintext, kind, name = tress_reader.decrypt(sealed, KEY)
    assert (kind, name) == (b"tree", "folder")
    assert tress_reader.read_first_line(sealed)[0] == 2
    entries = list(tree.pack(root))
    assert tree.check_index(plaintext) == entries
    # The same tree gives the same bytes.
    assert tree.write(entries) == plaintext
    # Without its index, it is a tar stream.
    stream = tress("decrypt", "-o", "-", tmp_path / "sealed").stdout
    assert stream == plaintext[: tree.read_index(plaintext)[1]]
    # All of it, in a folder again.
    done = tress("decrypt", "-o", tmp_path / "plain", tmp_path / "sealed")
    assert done.returncode == LEFT_OUT, done.stderr
    assert list(unpacked(tree.pack(tmp_path / "plain"))) == list(unpacked(entries))
    if os.geteuid() == 0:
        done = tress("decrypt", "--preserve", "-o", tmp_path / "same", tmp_path / "sealed")
        assert done.returncode == 0, done.stderr
        assert list(unpacked(tree.pack(tmp_path / "same"), preserve=True)) == list(unpacked(entries, preserve=True))


def test_several_inputs_have_no_root(tress, tmp_path):
    for name in ["b", "a"]:
        folder_of_everything(tmp_path / name)
    done = tress("encrypt", "--special", "-o", tmp_path / "sealed", tmp_path / "b", tmp_path / "a")
    assert done.returncode == 0, done.stderr
    plaintext, kind, _ = tress_reader.decrypt((tmp_path / "sealed").read_bytes(), KEY)
    assert kind == b"tree"
    expected = []
    for top in [b"a", b"b"]:
        for entry in tree.pack(tmp_path / os.fsdecode(top)):
            target = top + b"/" + entry.target if entry.kind == "hardlink" else entry.target
            expected.append(dataclasses.replace(entry, names=(top, *entry.names), target=target))
    assert tree.check_index(plaintext) == expected


def test_one_file_of_a_tree(tress, tmp_path):
    root = tmp_path / "folder"
    folder_of_everything(root)
    entries = list(tree.pack(root))
    (tmp_path / "sealed").write_bytes(container(tree.write(entries), 2))
    listed = tress("list", tmp_path / "sealed")
    assert listed.returncode == 0, listed.stderr
    # Names that are not plain text are escaped, so they are not compared.
    plain = [entry.path for entry in entries if entry.path and re.fullmatch(rb"[a-z/-]+", entry.path)]
    lines = [line.removesuffix(b"/") for line in listed.stdout.split(b"\n")]
    assert [line for line in lines if line in plain] == plain
    for path in ["a", "second/a", "n" * 255, "holes", "all-hole"]:
        assert tress("decrypt", tmp_path / "sealed", path).stdout == (root / path).read_bytes(), path


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


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_of_the_writer_is_unpacked(tress, tmp_path, seed):
    entries = some_entries(random.Random(seed))
    version = 1 + seed % 2
    files = [entry for entry in entries if entry.kind == "file"]
    if version == 2 and files:
        file = files[seed % len(files)]
        entries.append(dataclasses.replace(file, names=(b"again",), kind="hardlink", data=b"", target=file.path))
    done = tress("decrypt", "-o", tmp_path / "out", "-", data=container(tree.write(entries, version), version))
    assert done.returncode == 0, done.stderr
    assert list(unpacked(tree.pack(tmp_path / "out"), version)) == list(unpacked(entries, version))


def names(cases):
    return [" ".join(f"v{part}" if isinstance(part, int) else part for part in case[:-2]) for case in cases]


@pytest.mark.parametrize(("name", "version", "plaintext", "refusal"), tree_cases.CASES, ids=names(tree_cases.CASES))
def test_the_reader_accepts_or_refuses(name, version, plaintext, refusal):
    if refusal is None:
        tree.read(plaintext, version)
        return
    with pytest.raises(tree.TreeError) as raised:
        tree.read(plaintext, version)
    assert raised.value.kind == refusal


@pytest.mark.parametrize(("name", "version", "plaintext", "refusal"), tree_cases.CASES, ids=names(tree_cases.CASES))
def test_both_accept_or_both_refuse(tress, tmp_path, name, version, plaintext, refusal):
    out = tmp_path / "out"
    done = tress("decrypt", "-o", out, "-", data=container(plaintext, version))
    preserved = tmp_path / "preserved"
    everything = tress("decrypt", "--preserve", "-o", preserved, "-", data=container(plaintext, version))
    if refusal is not None:
        assert done.returncode == everything.returncode == 1, (name, done.stderr, everything.stderr)
        assert [path for path in tmp_path.iterdir() if path.is_dir()] == [], name
        return
    assert everything.returncode == 0 or os.geteuid() != 0, (name, everything.stderr)
    entries = tree.read(plaintext, version)
    left_out = version == 2 and any(map(is_left_out, entries))
    assert done.returncode == (LEFT_OUT if left_out else 0), (name, done.stderr)
    # Without an entry for the root, its mode and time are not defined.
    packed = [entry for entry in tree.pack(out) if entry.names or not all(entry.names for entry in entries)]
    assert list(unpacked(packed, version)) == list(unpacked(entries, version))


@pytest.mark.parametrize(("name", "plaintext", "refusal"), tree_cases.INDEXES, ids=[case[0] for case in tree_cases.INDEXES])
def test_the_reader_of_an_index(name, plaintext, refusal):
    tree.read(plaintext)
    if refusal is None:
        tree.read_index(plaintext)
        return
    with pytest.raises(tree.TreeError) as raised:
        tree.read_index(plaintext)
    assert raised.value.kind == refusal


@pytest.mark.parametrize(("name", "plaintext", "refusal"), tree_cases.INDEXES, ids=[case[0] for case in tree_cases.INDEXES])
def test_the_command_and_an_index(tress, tmp_path, name, plaintext, refusal):
    (tmp_path / "sealed").write_bytes(container(plaintext, 2))
    done = tress("list", tmp_path / "sealed")
    assert done.returncode == (0 if refusal is None else 1), (name, done.stderr)
    # Whoever unpacks everything ignores the index.
    done = tress("decrypt", "-o", tmp_path / "out", tmp_path / "sealed")
    assert done.returncode == 0, (name, done.stderr)


@pytest.mark.parametrize(("name", "plaintext", "path"), tree_cases.MEMBERS, ids=[case[0] for case in tree_cases.MEMBERS])
def test_an_index_that_disagrees_with_a_header(name, plaintext, path):
    tree.read_index(plaintext)
    for use in [lambda: tree.member(plaintext, path), lambda: tree.check_index(plaintext)]:
        with pytest.raises(tree.TreeError) as raised:
            use()
        assert raised.value.kind == "TreeDamaged"


@pytest.mark.parametrize(("name", "plaintext", "path"), tree_cases.MEMBERS, ids=[case[0] for case in tree_cases.MEMBERS])
def test_the_command_and_an_index_that_disagrees(tress, tmp_path, name, plaintext, path):
    (tmp_path / "sealed").write_bytes(container(plaintext, 2))
    assert tress("list", tmp_path / "sealed").returncode == 0, name
    done = tress("decrypt", tmp_path / "sealed", os.fsdecode(path))
    assert (done.returncode, done.stdout) == (1, b""), (name, done.stderr)


def test_owners_by_name_or_by_number(tress, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root sets owners")
    owner = tree.Owner(54321, 54321, *tree.owner_names(1, 1))
    unknown = tree.Owner(54321, 54322, b"no such user", b"")
    entries = [tree.Entry((b"a",), "file", 0o644, AT, owner=owner), tree.Entry((b"b",), "file", 0o644, AT, owner=unknown)]
    (tmp_path / "sealed").write_bytes(container(tree.write(entries), 2))
    for options, first in [([], (1, 1)), (["--numeric-owner"], (54321, 54321))]:
        out = tmp_path / f"out{len(options)}"
        done = tress("decrypt", "--preserve", *options, "-o", out, tmp_path / "sealed")
        assert done.returncode == 0, done.stderr
        found = [(status.st_uid, status.st_gid) for status in (os.stat(out / name) for name in "ab")]
        assert found == [first, (54321, 54322)]


@pytest.mark.parametrize("size", [2**64 - 1, 2**64 - 512, 2**63])
@pytest.mark.parametrize("version", [1, 2])
def test_a_size_beyond_the_end(tress, tmp_path, version, size):
    stream = tree_cases.header(name=b"a", mode=b"0000644\0", uid=b"0\0", gid=b"0\0", mtime=b"0\0", typeflag=b"0", size=tree_cases.binary(size, 12))
    (tmp_path / "sealed").write_bytes(container(stream + bytes(1024), version))
    for arguments in [["-o", "-"], ["-o", tmp_path / "out"], ["--salvage", "-o", tmp_path / "out"]]:
        done = tress("decrypt", *arguments, tmp_path / "sealed")
        # Version 1 gives out its stream as it is.
        assert done.returncode == 1 or (version, arguments[1]) == (1, "-"), (arguments, done.stderr)
        assert b"panicked" not in done.stderr
    assert tress("list", tmp_path / "sealed").returncode in (0, 1)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")
def test_a_lease_is_waited_for(tress, tmp_path):
    """As file servers have them: the holder gives it up when the system asks."""
    import fcntl

    (tmp_path / "in").mkdir()
    (tmp_path / "in/file").write_bytes(b"text")
    asked = []
    with open(tmp_path / "in/file", "rb+") as file:

        def give_up(*_):
            asked.append(fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK))

        before = signal.signal(signal.SIGIO, give_up)
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            done = tress("encrypt", "-o", tmp_path / "box", tmp_path / "in")
        except OSError as error:
            pytest.skip(f"this file system has no leases: {error}")
        finally:
            signal.signal(signal.SIGIO, before)
    assert (done.returncode, asked) == (0, [0]), done.stderr
    assert tress("decrypt", tmp_path / "box", "file").stdout == b"text"
