"""Streams: piece by piece, file objects, seekable readers, and libraries that use them."""

from __future__ import annotations

import errno
import gzip
import io
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import warnings
import zipfile
from concurrent import futures
from contextlib import suppress
from typing import Any

import numpy as np
import pandas
import pyarrow.parquet
import pyrage
import pytest
import tress
import tress_reader
from conftest import LENGTHS, data


def pushed(through: tress.Encryptor | tress.Decryptor, whole: bytes, piece: int) -> bytes:
    out = [through.update(memoryview(whole)[at : at + piece]) for at in range(0, len(whole), piece)]
    return b"".join([*out, through.finalize()])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("length", LENGTHS)
def test_pieces_of_any_length(key: tress.KeyPair, length: int, threads: int) -> None:
    identity = pyrage.x25519.Identity.from_str(key.identity_file().splitlines()[-1])
    plain = data(length)
    for piece in [999_999, 16384, 10**9] + ([7] if length < 20_000 else []):
        sealed = pushed(tress.Encryptor(key, threads=threads, name="n"), plain, piece)
        assert tress_reader.decrypt(sealed, identity) == (plain, b"file", "n")
        assert pushed(tress.Decryptor(key, threads=threads), sealed, piece) == plain


def test_calls_after_the_end_or_an_error_fail(key: tress.KeyPair) -> None:
    encryptor = tress.Encryptor(key)
    sealed = encryptor.update(b"x") + encryptor.finalize()
    for call in (lambda: encryptor.update(b"x"), lambda: encryptor.update(b""), encryptor.finalize):
        with pytest.raises(tress.Usage):
            call()  # type: ignore[no-untyped-call]
    decryptor = tress.Decryptor(key)
    assert (decryptor.name, decryptor.content_type) == (None, None)
    with pytest.raises(tress.Damaged):
        decryptor.update(bytes(5000))
    with pytest.raises(tress.TressError):
        decryptor.update(sealed)
    with pytest.raises(tress.TressError):
        decryptor.finalize()
    for end in [0, 1, 4096, len(sealed) - 1]:
        with pytest.raises(tress.Damaged):
            pushed(tress.Decryptor(key), sealed[:end], 1000)
    with pytest.raises(tress.WrongKey):
        tress.Decryptor(tress.KeyPair.generate()).update(sealed)
    with pytest.raises(TypeError):
        tress.Encryptor(key).update("text")  # type: ignore[arg-type]


WITHOUT_MEMORY = """
import _testcapi, tress
key = tress.KeyPair.generate()
plain = bytes(600_000)
for failing in range(20):
    encryptor, sealed = tress.Encryptor(key), b""
    _testcapi.set_nomemory(failing, failing + 1)
    try:
        sealed = encryptor.update(plain)
    except MemoryError:
        pass
    finally:
        _testcapi.remove_mem_hooks()
    is_lost = not sealed
    try:
        sealed += encryptor.finalize()
    except tress.Usage:
        assert is_lost
    else:
        assert tress.decrypt(sealed, key) == (b"" if is_lost else plain)
"""


def test_a_stream_without_memory_for_its_output_ends() -> None:
    """One allocation of the interpreter fails. Either the call did nothing, or the stream has ended."""
    pytest.importorskip("_testcapi", reason="this interpreter cannot let allocations fail")
    # In a separate process: threads of a test runner allocate, too.
    subprocess.run([sys.executable, "-c", WITHOUT_MEMORY], check=True)


def test_only_verified_bytes_come_out(key: tress.KeyPair) -> None:
    plain = data(40 * 16384)
    sealed = bytearray(tress.encrypt(plain, key))
    sealed[-16400 * 3] ^= 1
    decryptor, out = tress.Decryptor(key), b""
    with pytest.raises(tress.Damaged) as raised:
        for at in range(0, len(sealed), 50_000):
            out += decryptor.update(sealed[at : at + 50_000])
        out += decryptor.finalize()
    assert raised.value.kind == "chunk-damaged"
    assert plain.startswith(out)


@pytest.mark.parametrize("length", LENGTHS)
def test_streams(key: tress.KeyPair, length: int, tmp_path: pathlib.Path) -> None:
    plain, sealed, back = data(length), io.BytesIO(), io.BytesIO()
    count = tress.encrypt_stream(io.BytesIO(plain), sealed, key, name="n")
    assert count == len(sealed.getvalue())
    sealed.seek(0)
    assert tress.decrypt_stream(sealed, back, key) == length and back.getvalue() == plain
    with gzip.open(tmp_path / "x.gz", "wb") as packed:
        tress.encrypt_stream(io.BytesIO(plain), packed, key, threads=1)
    with gzip.open(tmp_path / "x.gz") as packed, open(tmp_path / "x", "wb", buffering=0) as raw:
        tress.decrypt_stream(packed, raw, key)
    assert (tmp_path / "x").read_bytes() == plain


class Short:
    """A file object that reads and writes at most 1000 bytes per call."""

    def __init__(self, whole: bytes = b"") -> None:
        self.whole, self.at = whole, 0

    def read(self, size: int, /) -> bytes:
        self.at += min(size, 1000)
        return self.whole[self.at - min(size, 1000) : self.at]

    def write(self, piece: bytes, /) -> int:
        self.whole += bytes(piece[:1000])
        return min(1000, len(piece))


def test_short_reads_and_writes(key: tress.KeyPair) -> None:
    target, back = Short(), Short()
    tress.encrypt_stream(Short(data(50_000)), target, key)
    tress.decrypt_stream(Short(target.whole), back, key)
    assert back.whole == data(50_000)


def test_file_objects_that_misbehave(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    sealed = tress.encrypt(data(100_000), key)

    class Raises:
        def read(self, size: int = -1, /) -> bytes:
            raise ZeroDivisionError

        def write(self, piece: bytes, /) -> int:
            raise ZeroDivisionError

        def seek(self, place: int, whence: int = 0, /) -> int:
            raise ZeroDivisionError

    class Text(io.BytesIO):
        def read(self, size: int | None = -1, /) -> str:  # type: ignore[override]
            return "text"

    class TooMuch(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read((size or 0) + 1)

        def readinto(self, buffer: object, /) -> int:
            return 1 << 40

    class Nothing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> None:  # type: ignore[override]
            return None

        def readinto(self, buffer: object, /) -> None:  # type: ignore[override]
            return None

    class ReadText:
        def read(self, size: int, /) -> str:
            return "text"

    for source, expected in [
        (Raises(), ZeroDivisionError),
        (Text(sealed), TypeError),
        (TooMuch(sealed), ValueError),
        (Nothing(sealed), BlockingIOError),
        (io.StringIO("text"), TypeError),
    ]:
        with pytest.raises(expected):
            tress.open(source, key)
    for reader, expected in [
        (Raises(), ZeroDivisionError),
        (TooMuch(sealed), ValueError),
        (Nothing(sealed), BlockingIOError),
        (ReadText(), TypeError),
    ]:
        with pytest.raises(expected):
            tress.encrypt_stream(reader, io.BytesIO(), key)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        tress.encrypt_stream(io.BytesIO(b"x"), Raises(), key)
    with pytest.raises(ValueError):
        closed = io.BytesIO(sealed)
        closed.close()
        tress.open(closed, key)
    with pytest.raises(FileNotFoundError) as missing:
        tress.open(tmp_path / "missing", key)
    assert missing.value.filename == str(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        tress.open(tmp_path, key)
    with pytest.raises(TypeError):
        tress.open(3, key)


@pytest.mark.parametrize("threads", [0, 1])
def test_a_reader_is_a_file(key: tress.KeyPair, tmp_path: pathlib.Path, threads: int) -> None:
    plain = data(1_500_000)
    path = tmp_path / "x.tress"
    path.write_bytes(tress.encrypt(plain, key, name="inner"))
    chance, model = random.Random(1), io.BytesIO(plain)
    for source in (path, str(path), io.BytesIO(path.read_bytes())):
        with tress.open(source, key, threads=threads) as file:
            assert file.readable() and file.seekable() and not file.writable()
            raw = file.raw
            assert isinstance(raw, tress.ContainerReader)
            assert (raw.size, raw.content_name, raw.content_type) == (len(plain), "inner", "file")
            for _ in range(200):
                place, size = chance.randrange(len(plain) + 100), chance.choice([0, 1, 100, 20_000, 300_000])
                whence = chance.choice([0, 1, 2])
                offset = [place, place - model.tell(), place - len(plain)][whence]
                assert file.seek(offset, whence) == model.seek(offset, whence)
                assert file.read(size) == model.read(size)
                assert file.tell() == model.tell()
            file.seek(7)
            for count in (0, 1, 100):
                pairs = [(chance.randrange(len(plain)), chance.randrange(len(plain) + 1)) for _ in range(count)]
                ranges = [(min(pair), max(pair)) for pair in pairs] + [(len(plain),) * 2, (0, len(plain))]
                assert file.read_ranges(iter(ranges)) == [plain[start:end] for start, end in ranges]
            for wrong in ((0, len(plain) + 1), (2, 1), (-1, 1), (0, 1 << 64)):
                with pytest.raises(tress.Usage):
                    file.read_ranges([(0, 1), wrong])
            for wrong_type in (5, [5], [(1, 2, 3)], [("0", "1")]):
                with pytest.raises((TypeError, ValueError)):
                    file.read_ranges(wrong_type)  # type: ignore[arg-type]
            assert file.tell() == 7 and file.seek(0) == 0
            assert file.read() == plain
            with pytest.raises((ValueError, OSError)):
                file.seek(-1)
            with pytest.raises(ValueError):
                raw.seek(0, 7)
        model.seek(0)
        with pytest.raises(ValueError):
            file.read(1)
        with pytest.raises(ValueError):
            raw.readinto(bytearray(1))
        with pytest.raises(ValueError):
            file.read_ranges([(0, 1)])


RANGES_WITHOUT_MEMORY = """
import io, resource
import tress

size, key = 1 << 24, tress.RawKey(bytes(16))
file = tress.open(io.BytesIO(tress.encrypt(bytes(size), key)), key, threads=1)
assert file.read_ranges([(5, 9)]) == [bytes(4)]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 4 * size, resource.RLIM_INFINITY))
try:
    file.read_ranges([(0, size)] * 9)
except MemoryError:
    assert file.read_ranges([(5, 9)]) == [bytes(4)]
    print("no memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ranges_that_do_not_fit_into_memory() -> None:
    done = subprocess.run([sys.executable, "-c", RANGES_WITHOUT_MEMORY], check=True, capture_output=True, text=True)
    assert done.stdout == "no memory\n"


def test_damage_is_found_where_it_is_read(key: tress.KeyPair) -> None:
    plain = data(10 * 16384)
    sealed = bytearray(tress.encrypt(plain, key))
    sealed[4096 + 56 + 5 * 16400] ^= 1
    with tress.open(io.BytesIO(sealed), key, threads=1) as file:
        raw = file.raw
        out = bytearray(16384)
        assert raw.readinto(out) == 16384 and out == plain[:16384]  # type: ignore[arg-type]
        raw.seek(5 * 16384)  # type: ignore[call-arg]
        for _ in range(2):
            with pytest.raises(tress.Damaged) as raised:
                raw.readinto(out)  # type: ignore[arg-type]
            assert raised.value.kind == "chunk-damaged"
            with pytest.raises(tress.Damaged):
                file.read_ranges([(0, 1), (5 * 16384, 5 * 16384 + 1)])
        assert file.read_ranges([(6 * 16384, 10 * 16384), (0, 5)]) == [plain[6 * 16384 :], plain[:5]]
    with pytest.raises(tress.Damaged):
        tress.open(io.BytesIO(sealed[:-5]), key)
    with pytest.raises(BufferError), tress.open(io.BytesIO(tress.encrypt(plain, key)), key) as file:
        file.raw.readinto(bytes(5))  # type: ignore[arg-type]


def test_a_source_that_calls_its_reader_is_refused(key: tress.KeyPair) -> None:
    class Source(io.BytesIO):
        calls: Any = None

        def read(self, size: int | None = -1, /) -> bytes:
            if self.calls is not None:
                self.calls()
            return super().read(size)

    source = Source(tress.encrypt(data(500_000), key))
    file = tress.open(source, key)
    raw: Any = file.raw
    for source.calls in (raw.tell, raw.close, lambda: raw.size, lambda: raw.read(1)):
        with pytest.raises(tress.Usage, match="its own source"):
            raw.readall()
    source.calls = None
    file.seek(0)
    assert file.read() == data(500_000)


@pytest.mark.skipif(os.name != "posix", reason="FIFOs")
def test_a_fifo_without_a_writer_holds_nobody_up(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in (tmp_path / "fifo", "/dev/zero"):
        for opens in (tress.open, tress.open_tree):
            with pytest.raises(tress.Usage, match="not a stream"):
                opens(name, key)
    with pytest.raises(tress.Usage, match="larger than 1 MiB"):
        tress.KeyPair.load("/dev/zero")
    for call in ("tress.decrypt(b'', path)", "tress.inspect(path)"):
        script = f"import pathlib, sys, tress; path = pathlib.Path(sys.argv[1]); print(flush=True); {call}"
        waiting = [sys.executable, "-c", script, str(tmp_path / "fifo")]
        with subprocess.Popen(waiting, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None and child.stdout.readline() == "\n"
            child.send_signal(signal.SIGINT)
            assert "KeyboardInterrupt" in child.communicate()[1]


def test_libraries_read_through_it(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    table = pandas.DataFrame({"n": np.arange(100_000), "x": np.arange(100_000) / 7})
    for write, read in [
        (lambda file: table.to_csv(file, index=False), pandas.read_csv),
        (lambda file: table.to_parquet(file), pandas.read_parquet),
    ]:
        path = tmp_path / "table.tress"
        with tress.create(path, key, force=True, threads=0) as file:
            write(file)  # type: ignore[no-untyped-call]
        with tress.open(path, key) as plain:
            pandas.testing.assert_frame_equal(read(plain), table)  # type: ignore[operator]
    with tress.open(path, key) as plain:
        assert pyarrow.parquet.read_table(plain, columns=["x"]).num_rows == 100_000
    with tress.create(path, key, force=True) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("one", b"1" * 50_000)
        archive.writestr("two", b"2")
    with tress.open(path, key) as plain, zipfile.ZipFile(plain) as archive:
        assert archive.testzip() is None and archive.read("two") == b"2"
    with tress.create(path, key, force=True) as file, io.TextIOWrapper(file, "utf-8") as text:
        text.write("lines\n" * 10_000)
    with tress.open(path, key) as plain:
        assert sum(1 for _ in io.TextIOWrapper(plain, "utf-8")) == 10_000


def test_a_path_appears_only_when_complete(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x"
    with tress.create(path, key) as file:
        assert file.write(memoryview(np.zeros(100, np.int64))) == 800 and file.tell() == 800  # type: ignore[arg-type]
        assert not path.exists()
    assert tress.decrypt(path.read_bytes(), key) == bytes(800)
    assert os.stat(path).st_mode & 0o777 == 0o666 & ~_umask()
    with pytest.raises(FileExistsError) as there:
        tress.create(path, key)
    assert isinstance(there.value, tress.OutputExists)
    path.unlink()
    with pytest.raises(ZeroDivisionError), tress.create(path, key) as file:
        file.write(b"x")
        raise ZeroDivisionError
    file = tress.create(path, key)
    file.write(b"x" * 100_000)
    with pytest.warns(ResourceWarning):
        del file
    file = tress.create(path, key)
    with pytest.raises(ResourceWarning), warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        file.__del__()
    assert os.listdir(tmp_path) == []
    # Another program creates the file first.
    with pytest.raises(FileExistsError), tress.create(path, key) as file:
        path.write_bytes(b"other")
    assert path.read_bytes() == b"other"
    with tress.create(path, key, force=True) as file:
        pass
    with pytest.raises(ValueError):
        file.write(b"")
    assert tress.decrypt(path.read_bytes(), key) == b""
    assert os.listdir(tmp_path) == ["x"]
    with pytest.raises(FileNotFoundError):
        tress.create(tmp_path / "missing" / "x", key)


def test_what_closes_it_inside_a_block_does_not_complete_it(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    """Wrappers such as io.TextIOWrapper close the wrapped file when their block ends, also by an exception."""
    path, target = tmp_path / "x", io.BytesIO()
    for file in (tress.create(path, key), tress.create(target, key)):
        with pytest.raises(ZeroDivisionError), file, io.TextIOWrapper(file, "utf-8") as text:
            text.write("half of it\n" * 100_000)
            raise ZeroDivisionError
    assert os.listdir(tmp_path) == []
    with pytest.raises(tress.Damaged):
        tress.decrypt(target.getvalue(), key)
    target = io.BytesIO()
    for file in (tress.create(target, key), tress.create(path, key)):
        with file:
            file.write(b"all of it")
            file.close()
            assert file.closed and not path.exists()
            with pytest.raises(ValueError):
                file.write(b"more")
    for sealed in (path.read_bytes(), target.getvalue()):
        assert tress.decrypt(sealed, key) == b"all of it"
    # A file that another program creates in the meantime is kept.
    path.unlink()
    with pytest.raises(FileExistsError), tress.create(path, key) as file:
        file.close()
        path.write_bytes(b"other")
    assert path.read_bytes() == b"other" and os.listdir(tmp_path) == ["x"]
    with pytest.raises(ValueError), file:
        pass


class Refusing:
    """Calls a raw file without being one."""

    def __init__(self, file: io.RawIOBase) -> None:
        self.write, self.fileno = file.write, file.fileno


class Swallowing:
    """Keeps everything and returns nothing, as some writers do."""

    def __init__(self) -> None:
        self.kept = b""

    def write(self, data: bytes) -> None:
        self.kept += data


@pytest.mark.parametrize("kind", ["pipe", "socket", "own class", "raw without a descriptor"])
@pytest.mark.parametrize("call", ["encrypt_stream", "decrypt_stream", "create"])
def test_a_raw_file_that_takes_nothing(key: tress.KeyPair, kind: str, call: str) -> None:
    """`io.RawIOBase.write` returns `None` if nothing was written."""

    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: object) -> None:
            return None

    def copy(target: Any) -> None:
        plain = data(20_000)
        if call == "create":
            with tress.create(target, key) as file:
                file.write(plain)
        elif call == "encrypt_stream":
            tress.encrypt_stream(io.BytesIO(plain), target, key)
        else:
            tress.decrypt_stream(io.BytesIO(tress.encrypt(plain, key)), target, key)

    one, other = socket.socketpair()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    other.setblocking(False)
    raw = open(writer, "wb", buffering=0)
    targets = {"pipe": raw, "socket": other.makefile("wb", buffering=0), "own class": Refusing(raw)}
    target: Any = targets.get(kind, Full())
    for piece in (bytes(65536), b"x"):
        while target.write(piece):
            pass
    with pytest.raises(BlockingIOError):
        copy(target)
    taken = Swallowing()
    copy(taken)
    assert taken.kept == data(20_000) if call == "decrypt_stream" else tress.decrypt(taken.kept, key) == data(20_000)
    raw.close()
    os.close(reader)
    one.close()
    other.close()


@pytest.mark.parametrize("rest", [None, -1, 1 << 40, "text", b"", 0.5])
@pytest.mark.parametrize("first", [1, -1, 1 << 40, "text", b"x", 0.5])
def test_a_write_that_returns_a_wrong_number(key: tress.KeyPair, first: Any, rest: Any) -> None:
    """`first` is the result of the first call, `rest` that of all others."""

    class Target:
        calls = 0

        def write(self, _: object) -> Any:
            self.calls += 1
            assert self.calls < 9, "the loop does not end"
            return first if self.calls == 1 else rest

    with pytest.raises((ValueError, BlockingIOError)):
        tress.encrypt_stream(io.BytesIO(data(20_000)), Target(), key)
    with pytest.raises((ValueError, BlockingIOError)), tress.create(Target(), key) as file:
        file.write(data(20_000))


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("is_path", [False, True])
def test_a_failed_write_ends_the_container(
    key: tress.KeyPair, is_path: bool, error: type[BaseException], tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    """Only the first call of `write` fails, as on a disk that another program makes room on."""

    class Target(io.RawIOBase):
        fails = True

        def write(self, piece: Any, /) -> int:
            if self.fails:
                self.fails = False
                raise error
            return len(piece)

    def begin() -> tress.ContainerWriter:
        target: Any = Target()
        file = tress.create(path if is_path else target, key, force=True)
        if is_path:
            file._output._file.close()  # type: ignore[attr-defined]
            file._output._file = target  # type: ignore[attr-defined]
        return file

    path, plain = tmp_path / "x", data(50_000)
    path.write_bytes(b"old")
    file = begin()
    with pytest.raises(error):
        file.write(plain)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["x"]
    for _ in range(2):
        for call in (lambda: file.write(plain), file.close):
            with pytest.raises(ValueError):
                call()
    file.discard()
    with pytest.raises(tress.Usage), begin() as file, pytest.raises(error):
        file.write(plain)
    with pytest.raises(tress.Usage), begin() as file:
        with pytest.raises(error):
            file.write(plain)
        file.close()
    with begin() as file:
        with pytest.raises(error):
            file.write(plain)
        file.discard()
    # The caller sees the exception of a wrapper in the block.
    with pytest.raises(error), begin() as file, io.TextIOWrapper(file, "utf-8") as text:
        text.write("x" * 50_000)
    # What a wrapper keeps is not written later.
    text = io.TextIOWrapper(begin(), "utf-8")
    with pytest.raises(error):
        text.write("x" * 50_000)
        text.flush()
    with pytest.raises(tress.Usage):
        text.close()
    # Arguments that are refused write nothing.
    with tress.create(path, key, force=True) as file:
        with pytest.raises(TypeError):
            file.write("text")  # type: ignore[arg-type]
        with pytest.raises(BufferError):
            file.write(memoryview(b"t-e-x-t")[::2])
        file.write(b"text")
    assert tress.decrypt(path.read_bytes(), key) == b"text" and os.listdir(tmp_path) == ["x"]


def test_a_file_object_stays_open(key: tress.KeyPair) -> None:
    target = io.BytesIO()
    with tress.create(target, key, name="n") as file:
        file.write(b"lanes")
    assert tress.decrypt(target.getvalue(), key) == b"lanes"
    broken = io.BytesIO()
    with pytest.raises(ZeroDivisionError), tress.create(broken, key) as file:
        file.write(b"x" * 10**6)
        raise ZeroDivisionError
    with pytest.raises(tress.Damaged):
        tress.decrypt(broken.getvalue(), key)


def test_a_folder_is_a_tar_archive(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_bytes(data(70_000))
    tress.encrypt_file(tmp_path / "folder", tmp_path / "x", key)
    with tress.open(tmp_path / "x", key) as plain:
        raw = plain.raw
        assert isinstance(raw, tress.ContainerReader) and raw.content_type == "tree"
        with tarfile.open(fileobj=plain) as archive:
            inner = archive.extractfile("a") or archive.extractfile("./a")
            assert inner is not None and inner.read() == data(70_000)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.skipif(os.name != "posix", reason="modes and descriptors of POSIX")
def test_what_force_replaces_keeps_its_mode(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "box.tress"
    cases = [(0o600, os.geteuid(), 0o700, 0o600), (0o640, os.geteuid(), 0o1777, 0o640)]
    if os.geteuid() == 0:
        # Of another user: in root's own folder, and where that user may have planted it.
        cases += [(0o644, 12345, 0o755, 0o644), (0o666, 12345, 0o1777, 0o600), (0o666, 12345, 0o775, 0o600)]
    for mode, user, folder, expected in cases:
        path.write_bytes(b"old")
        path.chmod(mode)
        os.chown(path, user, -1)
        tmp_path.chmod(folder)
        with tress.create(path, key, force=True) as file:
            file.write(b"new")
        found = path.stat()
        assert (found.st_mode & 0o7777, found.st_uid) == (expected, user if mode == expected else os.geteuid())
        with tress.open(path, key) as plain:
            assert plain.read() == b"new"


@pytest.mark.skipif(sys.platform != "linux", reason="attributes of Linux")
def test_the_mask_of_an_access_list_becomes_no_right_of_the_group(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    """Entries are tag, rights and number: owner rw, user 1000 r, group none, mask r, others none (acl(5))."""
    entries = [(1, 6, -1), (2, 4, 1000), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    path, plain = tmp_path / "box", tmp_path / "plain"
    plain.write_bytes(b"new")
    path.write_bytes(tress.encrypt(b"old", key))
    for replace in (
        lambda: tress.create(path, key, force=True).close(),
        lambda: tress.encrypt_file(plain, path, key, force=True),
        lambda: tress.rewrap_file(path, key, key),
    ):
        path.chmod(0o600)
        os.setxattr(path, "system.posix_acl_access", acl)
        assert path.stat().st_mode & 0o777 == 0o640
        replace()
        assert path.stat().st_mode & 0o777 == 0o600 and "system.posix_acl_access" not in os.listxattr(path)
        # Nor does one that new files get from their folder.
        path.chmod(0o640)
        os.setxattr(tmp_path, "system.posix_acl_default", acl)
        replace()
        os.removexattr(tmp_path, "system.posix_acl_default")
        assert path.stat().st_mode & 0o777 == 0o640 and "system.posix_acl_access" not in os.listxattr(path)


@pytest.mark.skipif(os.name != "posix", reason="modes and descriptors of POSIX")
def test_a_path_means_what_it_meant_at_the_call(key: tress.KeyPair, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("sub")
    pathlib.Path("real").write_bytes(b"old")
    os.chmod("real", 0o640)
    os.symlink("real", "link")
    os.symlink("new", "dangling")
    for name in ("plain", "link", "dangling", "given up"):
        with suppress(ZeroDivisionError), tress.create(name, key, force=name == "link") as file:
            file.write(b"text")
            monkeypatch.chdir(tmp_path / "sub")
            if name == "given up":
                raise ZeroDivisionError
        monkeypatch.chdir(tmp_path)
    assert sorted(os.listdir()) == ["dangling", "link", "new", "plain", "real", "sub"] and os.listdir("sub") == []
    assert {tress.decrypt(pathlib.Path(name).read_bytes(), key) for name in ("plain", "real", "new")} == {b"text"}
    assert os.path.islink("link") and os.stat("real").st_mode & 0o777 == 0o640
    for name, error in [("a\0b", ValueError), ("x" * 256, OSError), ("no/x", OSError), ("sub", FileExistsError)]:
        with pytest.raises(error) as refused:
            tress.create(name, key, force=True)
        assert getattr(refused.value, "filename", None) in (name, None) and ".tress-" not in str(refused.value)
    if os.geteuid() == 0:
        os.chmod("sub", 0o1777)
        os.symlink("../real", "sub/planted")
        os.chown("sub/planted", 12345, -1, follow_symlinks=False)
        with pytest.raises(PermissionError):
            tress.create("sub/planted", key, force=True)


@pytest.mark.skipif(os.name != "posix", reason="modes and descriptors of POSIX")
def test_open_descriptors_and_fifos_are_written_into(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    gone = tmp_path / "gone"
    with gone.open("w+b") as target:
        gone.unlink()
        target.write(b"before ")
        target.flush()
        with tress.create(f"/dev/fd/{target.fileno()}", key, force=True) as file:
            file.write(b"text")
        target.seek(7)
        assert tress.decrypt(target.read(), key) == b"text"
        target.truncate(7)
        target.seek(7)
        os.symlink(f"/dev/fd/{target.fileno()}", tmp_path / "link")
        with tress.create(tmp_path / "link", key, force=True) as file:
            file.write(b"text")
        target.seek(7)
        assert tress.decrypt(target.read(), key) == b"text"
        (tmp_path / "link").unlink()
    assert list(tmp_path.iterdir()) == []
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with futures.ThreadPoolExecutor() as pool:
        sealed = pool.submit(fifo.read_bytes)
        with tress.create(fifo, key) as file:
            file.write(b"text")
        assert tress.decrypt(sealed.result(), key) == b"text"
    assert fifo.is_fifo()


@pytest.mark.parametrize("name", ["EIO", "ENOSPC", "EOPNOTSUPP", "ENOSYS", "EBADF", "ENOTTY", "EINVAL"])
def test_only_errors_of_the_disk_fail(name: str, key: tress.KeyPair, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    """fsync(2): EIO and ENOSPC report lost data."""

    def fails(descriptor: int) -> None:
        raise OSError(getattr(errno, name), name)

    def write() -> None:
        with tress.create(tmp_path / "box", key) as file:
            file.write(b"text")

    monkeypatch.setattr(os, "fsync", fails)
    if name in ("EIO", "ENOSPC"):
        with pytest.raises(OSError, match=name):
            write()
        assert list(tmp_path.iterdir()) == []
    else:
        write()
