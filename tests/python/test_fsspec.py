"""The protocols tress and tress-tree of fsspec: its own tests, bytes and listings compared with the plaintext, faults of stores, and the
libraries that read through them."""

import errno
import gc
import io
import json
import logging
import multiprocessing
import os
import pickle
import random
import shutil
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import duckdb
import fsspec
import h5py
import numpy
import pandas
import polars
import pyarrow.dataset
import pyarrow.fs
import pytest
import tress
import xarray
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.tests import abstract

PAIR, RAW = tress.KeyPair.generate(), bytes(range(16))
PLAIN = random.Random(1).randbytes(1_500_000)
SEALED, SEALED_CHUNK = tress.encrypt(PLAIN, PAIR), 16_400


class Store(MemoryFileSystem):
    """A store that counts requests, and fails as a test says."""

    protocol = ("memory", "store")
    store, pseudo_dirs = {}, [""]
    reads, fault = [], staticmethod(lambda data: data)

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("store://", "memory://"))

    def cat_file(self, path, start=None, end=None, **kwargs):
        data = super().cat_file(path, start=start, end=end)
        self.reads.append(len(data))
        return type(self).fault(data)


fsspec.register_implementation("store", Store)


@pytest.fixture(scope="session")
def options(tmp_path_factory):
    """The names of key files."""
    folder = tmp_path_factory.mktemp("keys")
    PAIR.save(folder / "key.txt")
    (folder / "recipients").write_text(f"# one\n\n{PAIR.recipient}\n")
    (folder / "raw").write_bytes(RAW)
    return {"identity": str(folder / "key.txt"), "recipients": str(folder / "recipients")}


@pytest.fixture(autouse=True)
def empty_stores():
    for kind in (MemoryFileSystem, Store):
        kind.store.clear()
        kind.pseudo_dirs[:] = [""]
        kind.clear_instance_cache()
    fsspec.get_filesystem_class("tress").clear_instance_cache()
    Store.reads, Store.fault = [], staticmethod(lambda data: data)


@pytest.fixture
def fs(options):
    return fsspec.filesystem("tress", target_protocol="store", **options)


class Fixtures(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, options):
        return fsspec.filesystem("tress", target_protocol="store", **options)

    @pytest.fixture
    def fs_path(self, fs):
        return ""

    @pytest.fixture
    def fs_join(self):
        return lambda *parts: "/".join(map(str, parts))


class OnDisk(Fixtures):
    @pytest.fixture(params=["store", "file", "simplecache"])
    def fs(self, request, options):
        target = {"target_protocol": "store"} if request.param == "simplecache" else {}
        return fsspec.filesystem("tress", target_protocol=request.param, target_options=target, **options)

    @pytest.fixture
    def fs_path(self, fs, tmp_path):
        return str(tmp_path) if fs.fs.protocol[0] == "file" else ""


class TestCopy(abstract.AbstractCopyTests, Fixtures):
    pass


class TestGet(abstract.AbstractGetTests, Fixtures):
    pass


class TestPut(abstract.AbstractPutTests, Fixtures):
    pass


class TestOpen(abstract.AbstractOpenTests, OnDisk):
    pass


class TestPipe(abstract.AbstractPipeTests, OnDisk):
    pass


def test_neither_package_imports_the_other():
    for first, second in [("tress", "fsspec"), ("fsspec", "tress")]:
        code = f"import sys, {first}; assert '{second}' not in sys.modules; import tress, fsspec; "
        code += "assert 'tress._fsspec' not in sys.modules; "
        subprocess.run([sys.executable, "-c", code + "fsspec.filesystem('tress'); fsspec.get_filesystem_class('tress-tree')"], check=True)


FORMATS = {
    "tress": ({}, lambda plain: tress.encrypt(plain, PAIR)),
    "age": ({"format": "age"}, lambda plain: tress.encrypt(plain, PAIR.recipient, format="age")),
    "cobblestone-128": ({"context": "c"}, lambda plain: tress.encrypt(plain, tress.CobblestoneKey(RAW, b"c"))),
    "raw key": ({}, lambda plain: tress.encrypt(plain, tress.RawKey(RAW))),
}


@pytest.mark.parametrize("name", FORMATS)
def test_reads_are_those_of_the_plaintext(name, options, tmp_path):
    more, seal = FORMATS[name]
    if name not in ("tress", "age"):
        options = {"key_file": options["identity"].replace("key.txt", "raw")}
    if name.startswith("cobblestone"):
        more = more | {"format": name}
    rng = random.Random(name)
    for size in (0, 1, 16384, 16385, len(PLAIN)):
        plain = PLAIN[:size]
        fs = fsspec.filesystem("tress", target_protocol="store", **options, **more)
        local = fsspec.filesystem("tress", **options, **more)
        Store().pipe_file("/x", seal(plain))
        (tmp_path / "x").write_bytes(seal(plain))
        fs.pipe_file("/written", plain)
        for system, path in [(fs, "/x"), (local, str(tmp_path / "x")), (fs, "/written")]:
            assert system.size(path) == size and system.cat_file(path) == plain
            with system.open(path) as file, io.BytesIO(plain) as expected:
                assert file.size == size and not file.closed and file.seekable()
                for _ in range(60):
                    where = rng.choice([(rng.randrange(size + 9), 0), (-rng.randrange(size + 1), 2), (0, 1)])
                    assert file.seek(*where) == expected.seek(*where)
                    read, count = rng.choice(["read", "readline"]), rng.choice([0, 1, 4096, 30_000, 200_000, -1])
                    assert getattr(file, read)(count) == getattr(expected, read)(count)
            places = [None, 1 << 70, -(1 << 70), *(rng.randint(-size - 9, size + 9) for _ in range(20))]
            ranges = [(rng.choice(places), rng.choice(places)) for _ in range(40)]
            starts, ends = map(list, zip(*ranges, strict=True))
            slices = [plain[start:end] for start, end in ranges]
            assert [system.cat_file(path, start, end) for start, end in ranges] == slices
            assert system.cat_ranges([path] * len(ranges), starts, ends) == slices
            assert system.tail(path, 7) == plain[-7:] and system.head(path, 7) == plain[:7]


def test_handles_share_blocks_and_requests_fit_the_access(fs):
    fs.pipe_file("/x", PLAIN)
    Store.reads.clear()
    with fs.open("/x") as one, fs.open("/x") as other:
        assert len(Store.reads) == 2  # The head and the last chunk.
        for place in (500_000, 1_000_000):
            for file in (one, other):
                file.seek(place)
                assert file.read(4096) == PLAIN[place : place + 4096]
        one.seek(300_000 - 10)
        assert one.read(20_000) == PLAIN[300_000 - 10 : 320_000 - 10]
        assert Store.reads[2:] == [SEALED_CHUNK, SEALED_CHUNK, 2 * SEALED_CHUNK]
    Store.reads.clear()
    with fs.open("/x") as file:
        assert b"".join(iter(lambda: file.read(4096), b"")) == PLAIN
    assert len(Store.reads) < 12 and sum(Store.reads) < 1.1 * len(PLAIN)
    Store.reads.clear()
    with fs.open("/x") as file:
        for place, length in [(200_001, 300_000), (900_000, 140_000)]:
            file.seek(place)
            assert file.read(length) == PLAIN[place : place + length]
    assert len(Store.reads) == 2 and sum(Store.reads) < 1.1 * 440_000
    for step, requests in [(10_000, 2), (200_000, 7)]:
        fs.invalidate_cache()
        fs.cat_file("/x", 0, 1)
        Store.reads.clear()
        starts = list(range(100_000, len(PLAIN), step))
        assert fs.cat_ranges(["/x"] * len(starts), starts, [one + 9 for one in starts]) == [PLAIN[one : one + 9] for one in starts]
        assert 0 < len(Store.reads) <= requests and (step < 20_000 or set(Store.reads) == {SEALED_CHUNK})


def test_the_next_bytes_are_fetched_meanwhile(fs, monkeypatch):
    """Every byte once, and what fails ahead is requested again."""
    monkeypatch.setattr("tress._fsspec.reading._EAGER", 1)
    monkeypatch.setattr("tress._fsspec.reading.FETCH", 100_000)
    fs.pipe_file("/x", PLAIN)
    for fails in (False, True):
        threads = []

        def fault(data, threads=threads, fails=fails):
            threads.append(threading.current_thread().name)
            if fails and threads[-1] == "tress-ahead":
                raise ConnectionError
            return data

        Store.reads.clear()
        Store.fault = staticmethod(fault)
        fs.invalidate_cache()
        with fs.open("/x") as file:
            assert file.read() == PLAIN
        assert "tress-ahead" in threads and sum(Store.reads) < (2.1 if fails else 1.1) * len(PLAIN)


def test_ranges_are_fetched_together(fs, monkeypatch):
    """One call of the store for many ranges, and for each 32 MiB of them. A damaged chunk is an error of its ranges only."""
    fs.pipe_file("/x", PLAIN)
    starts = list(range(1, len(PLAIN) - 70_000, 70_000))
    expected = [PLAIN[start : start + 9] for start in starts]
    calls, cat_ranges = [], Store.cat_ranges
    monkeypatch.setattr(Store, "cat_ranges", lambda *args, **more: calls.append(len(args[1])) or cat_ranges(*args, **more))
    assert fs.cat_ranges(["/x"] * len(starts), starts, [start + 9 for start in starts]) == expected and calls == [len(starts)]
    assert fs.cat_ranges(["/x"] * len(starts), starts, [start + 9 for start in starts], max_gap=70_000) == expected and calls[1:] == [1]
    monkeypatch.setattr("tress._fsspec.reading._GROUP", 20)
    assert fs.cat_ranges(["/x"] * len(starts), starts[::-1], [start + 9 for start in starts[::-1]]) == expected[::-1]
    assert len(calls) == 2 + -(-len(starts) // 3)

    sealed = bytearray(Store.store["/x"].getvalue())
    sealed[-len(sealed) // 2] ^= 1
    Store().pipe_file("/x", bytes(sealed))
    found = fs.cat_ranges(["/x"] * len(starts), starts, [start + 60_000 for start in starts])
    assert sum(isinstance(one, tress.Damaged) for one in found) == 1
    assert all(one == PLAIN[start : start + 60_000] for one, start in zip(found, starts, strict=True) if isinstance(one, bytes))
    with pytest.raises(tress.Damaged, match="/x"):
        fs.cat_ranges(["/x"] * len(starts), starts, [start + 60_000 for start in starts], on_error="raise")
    Store.fault = staticmethod(raises(PermissionError(errno.EACCES, "no", "/x")))
    assert [type(one) for one in fs.cat_ranges(["/x"] * 2, [0, 700_000], [1, 700_001])] == [PermissionError] * 2


def test_a_local_file_is_open_only_while_a_handle_is(options, tmp_path):
    """A deleted file takes space as long as it is open. Its keys stay, so that the next read is quick."""
    path = str(tmp_path / "x")
    (tmp_path / "x").write_bytes(SEALED)
    fs = fsspec.filesystem("tress", **options)

    def opened():
        return [one for one in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{one}") == path]

    assert fs.size(path) == len(PLAIN) and opened() == []
    with fs.open(path) as one, fs.open(path) as other:
        assert one.read(5) == other.read(5) == PLAIN[:5] and len(opened()) == 1
        other.close()
        os.rename(path, f"{path}y")
        one.seek(900_000)
        assert one.read(5) == PLAIN[900_000:900_005]
    os.rename(f"{path}y", path)
    assert opened() == [] and fs.cat_file(path, 100_000, 100_005) == PLAIN[100_000:100_005] and opened() == []
    assert fs.cat_ranges([path], 200_000, 200_005) == [PLAIN[200_000:200_005]] and opened() == []
    abandoned = fs.open(path)
    abandoned.read(1)
    del abandoned
    assert opened() == []
    os.unlink(path)
    pytest.raises(FileNotFoundError, fs.cat_file, path)


def test_listings_open_files_only_for_sizes(fs):
    fs.pipe_file("/d/one", b"four")
    sealed = Store.store.pop("/d/one")
    Store.store.update((f"/d/{number % 10}/{number}", sealed) for number in range(10_000))
    Store.reads.clear()
    assert len(fs.find("/d", detail=True)) == 10_000 == len(fs.glob("/d/*/*"))
    assert fs.ls("/d/3")[0]["size"] is None and fs.isfile("/d/3/3") and fs.isdir("/d/3") and fs.exists("/d")
    assert Store.reads == []
    assert [one["size"] for one in fs.ls("/d/3", sizes=True)] == [4] * 1000
    count = len(Store.reads)
    assert count == 1000 and fs.du("/d/3") == 4000 and fs.ls("/d/3")[0]["size"] == 4 and len(Store.reads) == count
    info = fs.info("/d/3/3")
    assert (info["size"], info["encrypted_size"], info["type"]) == (4, sealed.size, "file")


def replaced(data):
    Store.fault = staticmethod(lambda data: data)
    Store().pipe_file("/x", tress.encrypt(PLAIN[::-1], PAIR))
    return Store().cat_file("/x", 600_000, 600_000 + len(data))


def raises(error):
    def fault(data):
        raise error

    return fault


def removed(data):
    Store.store.clear()
    raise FileNotFoundError(errno.ENOENT, "gone", "/x")


FAULTS = {  # what the store does in the middle; the error, and its number or kind
    "nothing": (lambda data: b"", OSError, errno.EIO),
    "too much": (lambda data: data + b"1", OSError, errno.EIO),
    "wrong bytes": (lambda data: bytes(len(data)), tress.Damaged, None),
    "another version": (replaced, OSError, errno.ESTALE),
    "late": (raises(TimeoutError(errno.ETIMEDOUT, "late", "/x")), TimeoutError, errno.ETIMEDOUT),
    "no permission": (raises(PermissionError(errno.EACCES, "no", "/x")), PermissionError, errno.EACCES),
    "removed": (removed, FileNotFoundError, None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_in_the_middle(name, fs, tmp_path):
    fault, error, number = FAULTS[name]
    fs.pipe_file("/x", PLAIN)
    with fs.open("/x") as file:
        assert file.read(30_000) == PLAIN[:30_000]
        for call in [lambda: fs.cat_file("/x", 600_000), lambda: fs.get_file("/x", tmp_path / "x"), lambda: file.read()]:
            Store.fault = staticmethod(fault)
            with pytest.raises(error, match="/x") as caught:
                call()
            assert number in (getattr(caught.value, "kind", None), getattr(caught.value, "errno", None))
            if name == "another version":  # The next call reads the new one, an open handle does not.
                assert fs.cat_file("/x") == PLAIN[::-1]
                with pytest.raises(OSError, match="changed while"):
                    file.seek(900_000)
                    file.read(1)
                break
            if name == "removed":
                break
        assert os.listdir(tmp_path) == []
        Store.fault = staticmethod(lambda data: data)
        if name not in ("another version", "removed"):
            file.seek(600_000)
            assert file.read() == PLAIN[600_000:]


def test_a_store_may_answer_in_pieces(fs):
    fs.pipe_file("/x", PLAIN)
    Store.fault = staticmethod(lambda data: data[: max(len(data) // 2, 1)])
    assert fs.cat_file("/x", 10, -10) == PLAIN[10:-10]


INVALID = {
    "no encrypted file": (b"plain text", tress.Damaged),
    "empty": (b"", tress.Damaged),
    "truncated": (SEALED[:-1], tress.Damaged),
    "head only": (SEALED[:4100], tress.Damaged),
    "wrong key": (tress.encrypt(b"", tress.KeyPair.generate()), tress.WrongKey),
}


@pytest.mark.parametrize("protocol", ["tress", "tress-tree"])
@pytest.mark.parametrize("name", INVALID)
def test_invalid_files(name, protocol, options, tmp_path):
    sealed, error = INVALID[name]
    Store().pipe_file("/bad", sealed)
    (tmp_path / "bad").write_bytes(sealed)
    for target, path in [("store", "/bad"), ("file", str(tmp_path / "bad"))]:
        fs = fsspec.filesystem(protocol, fo=path, target_protocol=target, **options)
        for call in [fs.info, fs.open, fs.cat_file] if protocol == "tress" else [fs.ls, fs.open]:
            with pytest.raises(error, match=f"^{path}: "):
                call(path if protocol == "tress" else "")
        if protocol == "tress":
            assert fs.exists(path) and [one["name"] for one in fs.ls(path)] == [path]
            assert isinstance(fs.cat_ranges([path], 0, 1)[0], error)


def test_misuse(fs):
    fs.pipe_file("/d/x", PLAIN)
    with fs.open("/d/x") as file:
        for call in (lambda: file.seek(-1), lambda: file.seek(0, 9), lambda: file.write(b"")):
            pytest.raises(ValueError, call)
    calls = [(lambda: fs.open("/d/x", mode), io.UnsupportedOperation) for mode in ("ab", "r+b", "a+b")]
    calls += [(call, ValueError) for call in (file.read, file.tell, lambda: file.seek(0), lambda: file.readinto(bytearray(1)))]
    calls += [(lambda call=call: call("/none"), FileNotFoundError) for call in (fs.open, fs.info, fs.cat_file, fs.ls)]
    calls += [(lambda: type(fs)(fs=AsyncFileSystemWrapper(Store()), **fs.keys.options).open("/y", "wb"), io.UnsupportedOperation)]
    calls += [(lambda: fs.open("/d"), IsADirectoryError), (lambda: fs.cat_ranges("/d/x", 0, 1), TypeError)]
    for call, error in calls:
        pytest.raises(error, call)
    assert fs.cat_file("/d/x") == PLAIN


class Upload(fsspec.spec.AbstractBufferedFile):
    """An upload that the store completes at the end, as that of S3."""

    def _initiate_upload(self):
        self.parts = []

    def _upload_chunk(self, final=False):
        self.parts.append(self.buffer.getvalue())
        if final and self.autocommit:
            self.commit()

    def commit(self):
        self.fs.pipe_file(self.path, b"".join(self.parts))


class Bucket(Store):
    """A store with uploads, and without names for files that are not complete."""

    protocol = "bucket"

    def _open(self, path, mode="rb", autocommit=True, data=None, **kwargs):
        if mode == "rb" or data is not None:
            return super()._open(path, mode, data=data)
        return Upload(self, path, mode, block_size=100_000, autocommit=autocommit)


fsspec.register_implementation("bucket", Bucket)


class Bare(Store):
    """A store whose new files have neither `commit` nor `discard`."""

    protocol = "bare"

    def _open(self, path, mode="rb", **kwargs):
        return io.BytesIO()


@pytest.mark.parametrize("target", ["store", "file", "bucket", "simplecache"])
def test_files_appear_when_they_are_complete(target, options, tmp_path):
    more = {"target_options": {"target_protocol": "store"}} if target == "simplecache" else {}
    fs = fsspec.filesystem("tress", target_protocol=target, **more, **options)
    folder = str(tmp_path) if target == "file" else "/d"
    fs.makedirs(folder, exist_ok=True)
    path = f"{folder}/x[1]*"
    with fs.open(path, "wb") as file:
        file.write(PLAIN)
        assert not fs.exists(path)
    assert fs.cat_file(path) == PLAIN
    with pytest.raises(ZeroDivisionError), fs.open(path, "wb") as file:
        file.write(PLAIN[:1000])
        raise ZeroDivisionError
    assert fs.cat_file(path) == PLAIN
    with fs.transaction:
        for name in ("a", "b"):
            fs.pipe_file(f"{folder}/{name}", b"1")
            assert not fs.exists(f"{folder}/{name}")
    with fs.transaction:  # A block may be longer.
        fs.open(f"{folder}/c", "wb").__enter__().write(PLAIN)
    assert fs.cat_file(f"{folder}/c") == PLAIN
    fs.rm_file(f"{folder}/c")
    with pytest.raises(ZeroDivisionError), fs.transaction:
        fs.pipe_file(f"{folder}/c", b"1")
        raise ZeroDivisionError
    fs.pipe_file(f"{folder}/a", b"22")
    assert fs.cat([f"{folder}/a", f"{folder}/b"]) == {f"{folder}/a": b"22", f"{folder}/b": b"1"}
    assert sorted(fs.ls(folder, detail=False)) == [f"{folder}/a", f"{folder}/b", path]


@pytest.mark.parametrize("target", ["arrow", "zip", "bare"])
def test_stores_whose_files_cannot_be_discarded(target, options, tmp_path):
    """An exception keeps the old file, adds no member to an archive, and closes what was open."""
    path = "x" if target == "zip" else f"{tmp_path}/x"
    if target == "arrow":
        store = ArrowFSWrapper(pyarrow.fs.LocalFileSystem())
    else:
        store = fsspec.filesystem("zip", fo=f"{tmp_path}/x.zip", mode="w") if target == "zip" else Bare()
    fs = fsspec.filesystem("tress", fs=store, **options)
    fs.pipe_file(path, PLAIN)
    with pytest.raises(ZeroDivisionError), fs.open(path, "wb") as file:
        file.write(PLAIN * 2)
        raise ZeroDivisionError
    assert file._output._file.closed
    if target == "bare":
        return
    with fs.transaction, fs.open(f"{path}1", "wb") as one, fs.open(f"{path}2", "wb") as two:
        one.write(b"1")
        two.write(b"2")
    if target == "zip":
        store.close()
        store = fsspec.filesystem("zip", fo=f"{tmp_path}/x.zip")
    found = {name: tress.decrypt(store.cat_file(name), PAIR) for name in store.find(os.path.dirname(path))}
    assert found == {path: PLAIN, f"{path}1": b"1", f"{path}2": b"2"}


@pytest.mark.parametrize("target", ["store", "file", "bucket"])
@pytest.mark.filterwarnings("ignore:.*ZipFile:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("mode", "compression"), [("w", None), ("wt", "gzip"), ("wb", "infer"), ("xb", "bz2"), ("x", "zip")])
def test_text_and_compression_end_with_their_file(mode, compression, target, options, tmp_path):
    fs = fsspec.filesystem("tress", target_protocol=target, **options)
    folder = str(tmp_path) if target == "file" else "/d"
    fs.makedirs(folder, exist_ok=True)
    data = PLAIN[:50_000] if "b" in mode else PLAIN[:50_000].hex()

    def opened(name, mode=mode):
        return fs.open(f"{folder}/{name}.gz", mode, compression=compression)

    with opened("block") as file:
        file.write(data)
        assert not fs.exists(f"{folder}/block.gz")
    file.close()
    closed = opened("closed")
    closed.write(data)
    closed.close()
    with pytest.raises(ZeroDivisionError), opened("none") as file:
        file.write(data)
        raise ZeroDivisionError
    for in_cycle in (False, True):
        with pytest.warns(ResourceWarning, match="none"):
            abandoned = [opened("none")]
            abandoned[0].write(data)
            abandoned += [abandoned] * in_cycle
            del abandoned
            gc.collect()
    with fs.transaction:
        with opened("later") as file:
            file.write(data)
            file.close()
        with pytest.raises(ZeroDivisionError), opened("none") as file:
            raise ZeroDivisionError
        assert not fs.exists(f"{folder}/later.gz")
    assert sorted(fs.ls(folder, detail=False)) == [f"{folder}/{name}.gz" for name in ("block", "closed", "later")]
    for name in ("block", "closed", "later"):
        with opened(name, "rb" if "b" in mode else "r") as file:
            assert file.read() == data


@pytest.mark.parametrize("target", ["store", "file", "bucket"])
def test_new_files_replace_none(target, options, tmp_path, monkeypatch):
    fs = fsspec.filesystem("tress", target_protocol=target, **options)
    path = f"{tmp_path}/x" if target == "file" else "/x"
    with pytest.raises(FileExistsError), fs.open(path, "xb") as file:
        file.write(PLAIN)
        fs.fs.pipe_file(path, SEALED)
    pytest.raises(FileExistsError, fs.open, path, "xb")
    assert fs.cat_file(path) == PLAIN and fs.fs.find(os.path.dirname(path)) == [path]
    fs.fs.rm_file(path)
    monkeypatch.setattr(type(fs.fs), "info", lambda *_, **__: raises(PermissionError(errno.EACCES, "no", path))(b""))
    pytest.raises(PermissionError, fs.open, path, "xb")


def test_a_fetched_file_keeps_mode_and_link_of_the_old_one(fs, tmp_path):
    fs.pipe_file("/x", PLAIN)
    private, link, modes = tmp_path / "private", tmp_path / "link", []
    private.touch(0o600)
    link.symlink_to("private")

    def fault(data):
        modes.extend(one.stat().st_mode & 0o777 for one in tmp_path.iterdir())
        return data

    Store.fault = staticmethod(fault)
    for local in (private, link):
        fs.get_file("/x", local)
        assert private.read_bytes() == PLAIN and private.stat().st_mode & 0o777 == 0o600 and link.is_symlink()
        private.write_bytes(b"")
    assert set(modes) == {0o600}
    fs.get_file("/x", tmp_path / "new" / "x")
    assert (tmp_path / "new" / "x").read_bytes() == PLAIN and sorted(os.listdir(tmp_path)) == ["link", "new", "private"]


def test_a_failed_write_fails_the_transaction(fs, monkeypatch):
    with pytest.raises(tress.Usage), fs.transaction:
        file = fs.open("/half", "wb")
        with monkeypatch.context() as patch, pytest.raises(OSError):
            patch.setattr(file._output._file, "write", lambda data: (_ for _ in ()).throw(OSError))
            file.write(PLAIN)
    assert not fs.exists("/half")


def test_a_store_that_refuses_the_end_keeps_the_old_file(fs, monkeypatch):
    fs.pipe_file("/x", b"old")
    monkeypatch.setattr(Store, "cp_file", lambda *_, **__: raises(OSError(errno.ENOSPC, "full"))(b""))
    with pytest.raises(OSError, match="full"):
        fs.pipe_file("/x", PLAIN)
    assert fs.cat_file("/x") == b"old" and list(Store.store) == ["/x"]


def test_options_name_files(fs, options, tmp_path, monkeypatch, caplog):
    secret = PAIR.identity_file().splitlines()[-1]
    for wrong in [PAIR, secret, PAIR.identity_file(), tress.RawKey(RAW), RAW, [PAIR], 5]:
        for option in ("identity", "recipients", "key_file"):
            with pytest.raises(tress.Usage) as caught:
                fsspec.filesystem("tress", **{option: wrong})
            assert secret not in str(caught.value)
    for wrong in [{"recipients": PAIR.recipient}, {"format": "zip"}, {"context": "c"}, {"context": b"c"}, {"anon": True}]:
        pytest.raises(tress.Usage, lambda wrong=wrong: fsspec.filesystem("tress", **wrong))
    Store().pipe_file("/x", tress.encrypt(b"1", PAIR))
    # zarr takes FileNotFoundError for an empty part of an array.
    (tmp_path / "short").write_bytes(b"12")
    for wrong in [{}, *({option: str(tmp_path / name)} for option in ("identity", "key_file") for name in ("none", "", "short"))]:
        with pytest.raises(tress.Usage, match=f"{tmp_path}.*: " if wrong else "TRESS_IDENTITY"):
            fsspec.filesystem("tress", target_protocol="store", **wrong).cat_file("/x")
    pytest.raises(tress.Usage, lambda: fsspec.filesystem("tress", target_protocol="store").open("/y", "wb"))

    caplog.set_level(logging.DEBUG)
    fs.pipe_file("/y", b"2")
    other = pickle.loads(pickle.dumps(fs))
    with fs.open("/y") as file:
        shown = [fs.to_json(), repr(fs), str(file), repr(file), str(fs.storage_options), fs.unstrip_protocol("/y"), caplog.text]
        shown += [repr(pickle.dumps(one)) for one in (fs, file)]
        assert other == fs and pickle.loads(pickle.dumps(file)).read() == b"2"
        assert fsspec.AbstractFileSystem.from_json(fs.to_json()).cat_file("/y") == b"2"
    assert not any(secret[15:40] in one or "SECRET" in one for one in shown) and json.loads(fs.to_json())["identity"] == options["identity"]

    monkeypatch.chdir(os.path.dirname(options["identity"]))
    relative = fsspec.filesystem("tress", target_protocol="store", identity="key.txt")
    stored = pickle.dumps(relative)
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(stored).cat_file("/y") == relative.cat_file("/y") == b"2"
    for name in ("one", "other"):  # A name means another file in another folder.
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        pair = tress.KeyPair.generate()
        (tmp_path / name / "to").write_text(str(pair.recipient))
        fsspec.filesystem("tress", target_protocol="store", recipients="to").pipe_file("/y", b"2")
        assert tress.decrypt(Store().cat_file("/y"), pair) == b"2"
    (tmp_path / "other" / "to").unlink()
    (tmp_path / "other").rmdir()
    assert fsspec.filesystem("tress", target_protocol="store", **options).exists("/y")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRESS_IDENTITY", options["identity"])
    monkeypatch.setenv("TRESS_RECIPIENTS", options["recipients"])
    blind = fsspec.filesystem("tress", target_protocol="store")
    blind.pipe_file("/z", b"3")
    assert blind.cat_file("/z") == fs.cat_file("/z") == b"3"


def test_urls_in_chains(options, tmp_path):
    with fsspec.open("tress::store://d/x", "wb", **options) as file:
        file.write(b"1")
    assert tress.decrypt(Store().cat_file("/d/x"), PAIR) == b"1"
    for url in ["tress::store://d/x", "tress::simplecache::store://d/x", "tress::filecache::store://d/x"]:
        with fsspec.open(url, **options) as file:
            assert file.read() == b"1"
    for chain, stores_plaintext in [("tress::simplecache", False), ("simplecache::tress", True)]:
        cache = tmp_path / chain.replace(":", "")
        keys = {"tress": options} if stores_plaintext else options
        with fsspec.open(f"{chain}::store://d/x", simplecache={"cache_storage": str(cache)}, **keys) as file:
            assert file.read() == b"1"
        assert ([one.read_bytes() for one in cache.iterdir()] == [b"1"]) == stores_plaintext
    (tmp_path / "x").write_bytes(Store().cat_file("/d/x"))
    for url in [f"tress::{tmp_path}/x", f"tress://{tmp_path}/x", f"tress::file://{tmp_path}/x"]:
        fs, path = fsspec.url_to_fs(url, **options)
        assert path == f"{tmp_path}/x" and fs.cat_file(url) == b"1" == fs.cat_file(fs.unstrip_protocol(path))
    for path in (f"{tmp_path}/x", url):
        assert fs.exists(path=path) and fs.isfile(path=path) and fs.modified(path=path)
        fs.cp_file(path1=path, path2=f"{path}y")
        fs.mv(path1=f"{path}y", path2=f"{path}z")
        fs.rm_file(path=f"{path}z")
        assert not fs.exists(path=f"{path}z")
    assert fsspec.get_mapper(f"tress::{tmp_path}", **options).getitems(["x"]) == {"x": b"1"}


def test_threads_and_a_forked_process(options, tmp_path):
    Store().pipe_file("/x", SEALED)
    (tmp_path / "x").write_bytes(SEALED)
    for target, path in [("store", "/x"), ("file", str(tmp_path / "x"))]:
        fs = fsspec.filesystem("tress", target_protocol=target, **options)
        file = fs.open(path)

        def wrong(seed, fs=fs, path=path):
            rng = random.Random(seed)
            with fs.open(path) as file:
                starts = [file.seek(rng.randrange(len(PLAIN))) for _ in range(30)]
                return sum(file.seek(start) != start or file.read(5000) != PLAIN[start : start + 5000] for start in starts)

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(wrong, range(6))) == [0] * 6
        file.seek(100_000)
        child = os.fork()
        if child == 0:
            try:
                os._exit(wrong(7) or file.read(100_000) != PLAIN[100_000:200_000])
            finally:
                os._exit(1)
        assert wrong(8) == 0 and file.read(100_000) == PLAIN[100_000:200_000] and os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("target", ["store", "file"])
def test_threads_that_share_a_handle_read_each_byte_once(target, options, tmp_path, monkeypatch):
    path = str(tmp_path / "x") if target == "file" else "/x"
    fs = fsspec.filesystem("tress", target_protocol=target, **options)
    fs.pipe_file(path, PLAIN)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with fs.open(path) as file, ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: list(iter(lambda: file.read(1000), b"")), range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert sorted(piece for pieces in found for piece in pieces) == sorted(PLAIN[start : start + 1000] for start in range(0, len(PLAIN), 1000))


def test_handles_that_nobody_closed_are_collected_during_a_read(fs):
    """In the reading thread, or in another one that it waits for."""
    fs.pipe_file("/x", PLAIN)

    def elsewhere():
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join()

    for collect in (gc.collect, elsewhere):
        fs.invalidate_cache()
        abandoned = fs.open("/x")
        abandoned.itself = abandoned
        del abandoned
        with fs.open("/x") as file:
            plain, found = file._plain, []

            def fault(data, collect=collect, plain=plain, found=found):
                collect()
                found.append(plain._handles)
                return data

            Store.fault = staticmethod(fault)
            assert file.read(300_000) == PLAIN[:300_000] and found == [2] and plain._handles == 1
            Store.fault = staticmethod(lambda data: data)
        assert plain._handles == 0


def test_members_of_a_folder(options, tmp_path, monkeypatch):
    folder = tmp_path / "etc"
    (folder / "cron.d").mkdir(parents=True)
    (folder / "hosts").write_bytes(PLAIN[:50_000])
    (folder / "cron.d" / "a b").write_bytes(b"12")
    os.link(folder / "hosts", folder / "same")
    os.symlink("hosts", folder / "link")
    tress.encrypt_file(folder, tmp_path / "etc.tress", PAIR)
    Store().pipe_file("/etc.tress", (tmp_path / "etc.tress").read_bytes())
    for outer in [f"{tmp_path}/etc.tress", "store://etc.tress", "simplecache::store://etc.tress"]:
        fs, path = fsspec.url_to_fs(f"tress-tree://hosts::{outer}", identity=options["identity"])
        assert path == "hosts" and fs.cat_file(path, 10, -10) == PLAIN[10:49_990]
        assert fs.ls("", detail=False) == ["cron.d", "hosts", "link", "same"]
        assert fs.find("", withdirs=True) == ["cron.d", "cron.d/a b", "hosts", "link", "same"]
        assert fs.glob("**/a*") == ["cron.d/a b"] and fs.isdir("cron.d") and [fs.size(name) for name in ("hosts", "same")] == [50_000] * 2
        assert fs.cat_ranges(["cron.d/a b", "hosts", "none"], [0, 5, 0], [1, 6, 1])[:2] == [b"1", PLAIN[5:6]]
        for name, error in [("cron.d", IsADirectoryError), ("none", FileNotFoundError), ("link", io.UnsupportedOperation)]:
            pytest.raises(error, lambda fs=fs, name=name: fs.open(name))
        pytest.raises(io.UnsupportedOperation, lambda fs=fs: fs.open("new", "wb"))
        for wanted, names in [("", ["cron.d", "hosts", "same"]), ("*", ["hosts", "same"])]:
            with pytest.warns(UserWarning, match="link"):
                fs.get(wanted, str(tmp_path / "got"), recursive=not wanted)
            assert sorted(os.listdir(tmp_path / "got")) == names and (tmp_path / "got" / "same").read_bytes() == PLAIN[:50_000]
            shutil.rmtree(tmp_path / "got")
        pytest.raises(io.UnsupportedOperation, lambda fs=fs: fs.get("link", str(tmp_path / "got")))
        with fs.open("hosts") as file:
            file.seek(7)
            assert pickle.loads(pickle.dumps(file)).read(3) == PLAIN[7:10] and "SECRET" not in repr(pickle.dumps(fs))
    # A process in another folder has the same keys.
    monkeypatch.chdir(os.path.dirname(options["identity"]))
    fs, path = fsspec.url_to_fs(f"tress-tree://hosts::{tmp_path}/etc.tress", identity="key.txt")
    stored = pickle.dumps(fs)
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(stored).cat_file(path, 0, 9) == PLAIN[:9]
    (folder / "hosts").write_bytes(b"new")
    tress.encrypt_file(folder, tmp_path / "etc.tress", PAIR, force=True)
    with fsspec.open(f"tress-tree://hosts::{tmp_path}/etc.tress", identity=options["identity"]) as file:
        assert file.read() == b"new"
    (tmp_path / "empty").mkdir()
    tress.encrypt_file(tmp_path / "empty", tmp_path / "empty.tress", PAIR)
    fs = fsspec.filesystem("tress-tree", fo=f"{tmp_path}/empty.tress", identity=options["identity"])
    assert fs.exists("") and fs.isdir("/") and fs.find("") == []


FRAME = pandas.DataFrame({"number": range(20_000), "half": [number / 2 for number in range(20_000)], "text": ["lane"] * 20_000})


def by_pandas(url, options):
    FRAME.to_parquet(f"{url}/p", storage_options=options)
    FRAME.to_csv(f"{url}/c.csv", index=False, storage_options=options)
    assert pandas.read_parquet(f"{url}/p", columns=["half"], storage_options=options).equals(FRAME[["half"]])
    assert pandas.read_csv(f"{url}/c.csv", storage_options=options).equals(FRAME)
    fs, path = fsspec.url_to_fs(url, **options)
    for mode, compression in [("w", None), ("w", "gzip"), ("wb", "gzip")]:
        with fs.open(f"{path}/c", mode, compression=compression) as file:
            FRAME.to_csv(file, index=False)
        with fs.open(f"{path}/c", compression=compression) as file:
            assert pandas.read_csv(file).equals(FRAME)


def by_pyarrow(url, options):
    fs, path = fsspec.url_to_fs(url, **options)
    table = pyarrow.Table.from_pandas(FRAME.assign(part=FRAME.number % 3))
    pyarrow.dataset.write_dataset(table, path, filesystem=fs, format="parquet", partitioning=["part"])
    found = pyarrow.dataset.dataset(path, filesystem=fs, partitioning=["part"])
    assert found.count_rows() == 20_000 and found.to_table(filter=pyarrow.dataset.field("number") == 7).num_rows == 1


def by_polars(url, options):
    """polars opens URLs by its own stores, so it gets the open file."""
    frame = polars.from_pandas(FRAME)
    for write, read in [(frame.write_parquet, polars.read_parquet), (frame.write_csv, polars.read_csv), (frame.write_ipc, polars.read_ipc)]:
        with fsspec.open(f"{url}/f", "wb", **options) as file:
            write(file)
        with fsspec.open(f"{url}/f", **options) as file:
            assert read(file).equals(frame)
    FRAME.to_parquet(f"{url}/f", storage_options=options)
    with fsspec.open(f"{url}/f", **options) as file:
        assert polars.scan_parquet(file).filter(polars.col("number") == 7).select("half").collect().item() == 3.5


class AsTorchReads(io.RawIOBase):
    """The calls that torch.load makes: the length by `seek` to the end, then `seek` and `readinto` for each part of a ZIP archive."""

    def __init__(self, file):
        self.file, self.start, self.place = file, file.tell(), 0
        self.size = file.seek(0, io.SEEK_END) - self.start

    seekable = readable = lambda self: True

    def seek(self, place, whence=io.SEEK_SET):
        self.place = place + (0, self.place, self.size)[whence]
        return self.place

    def readinto(self, buffer):
        self.file.seek(self.start + self.place)
        count = self.file.readinto(buffer)
        self.place += count
        return count


class Samples:
    """A Dataset for torch's DataLoader, which pickles it for its workers: a file object, and a sample at each index."""

    def __init__(self, file):
        self.file = file

    def __len__(self):
        return self.file.size // 1000

    def __getitem__(self, number):
        self.file.seek(1000 * number)
        return self.file.read(1000)


def sample(data, number):
    return data[number]


def by_torch(url, options):
    """The wheel of torch on PyPI needs gigabytes of libraries for CUDA, so this makes its calls."""
    with fsspec.open(f"{url}/t.pt", "wb", **options) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"weight": 0}))
        archive.writestr("archive/data/0", PLAIN)
    with fsspec.open(f"{url}/t.pt", **options) as file:
        assert file.read(4) == b"PK\3\4" and file.seek(0) == 0
        with zipfile.ZipFile(AsTorchReads(file)) as archive:
            assert pickle.loads(archive.read("archive/data.pkl")) == {"weight": 0} and archive.read("archive/data/0") == PLAIN
    fs, path = fsspec.url_to_fs(url, **options)
    fs.pipe_file(f"{path}/samples", PLAIN)
    data, order = Samples(fs.open(f"{path}/samples")), random.Random(2).sample(range(1500), 60)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found = pool.map(sample, [data] * 60, order)
    assert len(data) == 1500 and list(found) == [PLAIN[1000 * number :][:1000] for number in order]


def by_duckdb(url, options):
    fs, path = fsspec.url_to_fs(url, **options)
    FRAME.to_parquet(f"{url}/p", storage_options=options)
    with duckdb.connect() as connection:
        connection.register_filesystem(fs)
        assert connection.sql(f"select sum(number) from read_parquet('tress://{path}/*')").fetchall() == [(FRAME.number.sum(),)]


def by_xarray(url, options):
    data = xarray.Dataset({"height": (("x", "y"), numpy.arange(90_000.0).reshape(300, 300))})
    data.to_zarr(f"{url}/z", storage_options=options, encoding={"height": {"chunks": (100, 100)}}, consolidated=False)
    with xarray.open_zarr(f"{url}/z", storage_options=options, chunks=None, consolidated=False) as found:
        assert found.equals(data) and float(found.height[150, 7]) == 45_007


def by_zipfile(url, options):
    with fsspec.open(f"{url}/z.zip", "wb", **options) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", PLAIN)
    with fsspec.open(f"{url}/z.zip", **options) as file, zipfile.ZipFile(file) as archive:
        assert archive.read("a") == PLAIN


def by_h5py(url, options):
    target = io.BytesIO()
    with h5py.File(target, "w") as file:
        file["a"] = numpy.arange(100_000)
    fs, path = fsspec.url_to_fs(url, **options)
    fs.pipe_file(f"{path}/h", target.getvalue())
    with fs.open(f"{path}/h") as source, h5py.File(source) as file:
        assert file["a"][77_777] == 77_777


LIBRARIES = [by_pandas, by_pyarrow, by_polars, by_duckdb, by_xarray, by_zipfile, by_h5py, by_torch]


@pytest.mark.parametrize("target", ["memory", "file"])
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda one: one.__name__)
def test_libraries(library, target, options, tmp_path):
    url = f"tress::{target}://" + (str(tmp_path) if target == "file" else "data")
    fs, path = fsspec.url_to_fs(url, **options)
    fs.makedirs(path, exist_ok=True)
    library(url, options)
    sealed = fs.fs.find(path)
    assert sealed and all(tress.decrypt(fs.fs.cat_file(one), PAIR) == fs.cat_file(one) for one in sealed)
