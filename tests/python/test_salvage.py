"""Damaged and cut containers of folders: `--salvage` gives out exactly the files of which no byte and no header is lost."""

import io
import random
import subprocess
import tarfile

import pytest

# Offset of the first chunk of a container whose header has 4096 bytes, and bytes of a chunk (docs/reference/formats/container.md).
CHUNKS, PLAIN, SEALED = 4096 + 56, 16384, 16400


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of 300 files, its container, and the plaintext range of each file with its headers."""
    path = tmp_path_factory.mktemp("salvage")
    (path / "key").write_bytes(bytes(range(16)))
    rng = random.Random(1)
    for number in range(300):
        file = path / "in" / f"d{number % 7}" / f"f{number:03}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(rng.randbytes(rng.choice([0, 10, 5000, 60000])))
        if number % 10 == 0:
            file.with_name(f"g{number:03}").hardlink_to(file)
    return path, packed(path)


def packed(path):
    """Makes the container, and returns the ranges of the plaintext that each entry needs, and whether it is a file."""
    tress(path, "encrypt", "-o", "good", "in")
    plaintext = tress(path, "decrypt", "good").stdout
    ranges = {}
    for member in tarfile.open(fileobj=io.BytesIO(plaintext)):
        # A hard link is whole if its file is.
        places = [(member.offset, member.offset_data + -(-member.size // 512) * 512 * (not member.islnk()))]
        ranges[member.name] = places + (ranges[member.linkname][0] if member.islnk() else []), member.isfile() or member.islnk()
    return ranges


def tress(path, command, *arguments, status=0):
    import os

    program = os.environ["TRESS"]
    done = subprocess.run([program, command, "--key-file", "key", *arguments], cwd=path, capture_output=True)
    assert done.returncode == status, done.stderr
    return done


@pytest.mark.parametrize("index", ["whole", "damaged"])
@pytest.mark.parametrize("seed", range(3))
def test_bits_that_flip(folder, seed, index):
    path, ranges = folder
    sealed, rng = bytearray((path / "good").read_bytes()), random.Random(seed)
    places = [rng.randrange(CHUNKS, len(sealed)) for _ in range(20)] + [len(sealed) - 60] * (index == "damaged")
    for place in places:
        sealed[place] ^= 1 << rng.randrange(8)
    check(path, ranges, sealed, {(place - CHUNKS) // SEALED for place in places})


@pytest.mark.parametrize("cut", [CHUNKS + 100 * SEALED, CHUNKS + 100 * SEALED + 5, CHUNKS + 77 * SEALED + 9000])
def test_containers_that_were_cut(folder, cut):
    path, ranges = folder
    sealed = (path / "good").read_bytes()
    for command in [["decrypt", "-f", "-o", "out"], ["inspect"]]:
        (path / "bad").write_bytes(sealed[:cut])
        assert b"truncated" in tress(path, command[0], *command[1:], "bad", status=1).stderr
    check(path, ranges, sealed[:cut], set(range((cut - CHUNKS) // SEALED, len(sealed))))
    listed = tress(path, "list", "bad", status=3).stdout.decode().split()
    assert listed[1:] == [name.removesuffix("/") for name in ranges if name != "."][: len(listed) - 1]


def test_an_archive_in_a_file_whose_header_is_lost(tmp_path):
    """Its entries do not appear, and the files behind it do."""
    (tmp_path / "key").write_bytes(bytes(range(16)))
    (tmp_path / "in").mkdir()
    for name, size in [("a", 20000), ("c", 30000), ("d", 5)]:
        (tmp_path / "in" / name).write_bytes(name.encode() * size)
    with tarfile.open(tmp_path / "in" / "b.tar", "w") as inner:
        for name in ["zzz-one", "zzz-two", "zzz-three"]:
            inner.add(tmp_path / "in" / "a", name)
    ranges = packed(tmp_path)
    sealed, lost = bytearray((tmp_path / "good").read_bytes()), ranges["b.tar"][0][0][0] // PLAIN
    for place in [CHUNKS + lost * SEALED, len(sealed) - 60]:
        sealed[place] ^= 1
    check(tmp_path, ranges, sealed, {lost, (len(sealed) - 60 - CHUNKS) // SEALED})


def check(path, ranges, sealed, lost):
    (path / "bad").write_bytes(sealed)
    tress(path, "decrypt", "--salvage", "-f", "-o", "out", "bad", status=3)
    whole = {
        name
        for name, (places, is_file) in ranges.items()
        if is_file and not any(chunk in lost for start, end in places for chunk in range(start // PLAIN, (end - 1) // PLAIN + 1))
    }
    found = {str(file.relative_to(path / "out")) for file in (path / "out").rglob("*") if file.is_file()}
    assert found == whole
    for name in found:
        assert (path / "out" / name).read_bytes() == (path / "in" / name).read_bytes()


def test_what_cannot_be_salvaged(folder):
    path, _ = folder
    sealed = (path / "good").read_bytes()
    (path / "bad").write_bytes(sealed[:CHUNKS])
    assert b"no file of it is whole" in tress(path, "decrypt", "--salvage", "-o", "new", "bad", status=1).stderr
    tress(path, "encrypt", "-f", "-o", "file", "key")
    tress(path, "decrypt", "--salvage", "-o", "new", "file", status=2)
    assert not (path / "new").exists()
