"""Threads that share objects, the interpreter lock, Ctrl-C, memory leaks."""

from __future__ import annotations

import functools
import gc
import io
import os
import pathlib
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import pytest
import tress
from conftest import data
from cryptography.hazmat.primitives.ciphers.aead import AESCCM as PyCA

CALLS = int(os.environ.get("TRESS_LEAK_CALLS", "400000"))


def test_threads_on_one_cipher() -> None:
    aead, theirs = tress.AESCCM(bytes(32)), PyCA(bytes(32))

    def work(seed: int) -> None:
        for n in range(40):
            nonce, plain = data(12, f"{seed}-{n}"), data((n * 997) % 40_000)
            sealed = aead.encrypt(nonce, plain, b"a")
            assert sealed == theirs.encrypt(nonce, plain, b"a")
            assert aead.decrypt_many([(nonce, sealed, b"a")] * 5) == [plain] * 5

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))


def test_threads_on_one_reader_and_one_encryptor(key: tress.KeyPair) -> None:
    plain = data(3_000_000)
    sealed = tress.encrypt(plain, key)
    reader = tress.ContainerReader(io.BytesIO(sealed), key)

    def read(seed: int) -> None:
        for _ in range(100):
            buffer = bytearray(1000)
            # Threads share the position, as for any file, so a read returns some part of the plaintext.
            reader.seek((seed * 98_765) % 2_000_000)
            count = reader.readinto(buffer)
            assert bytes(buffer[:count]) in plain

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(16)))
    encryptor, out, lock = tress.Encryptor(key), [b""], threading.Lock()

    def push(_: int) -> None:
        with lock:
            out.append(encryptor.update(b"x" * 10_000))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(push, range(100)))
    assert tress.decrypt(b"".join(out) + encryptor.finalize(), key) == b"x" * 1_000_000

    # Without a lock, the order of pieces is arbitrary, but every call succeeds.
    wild = tress.Encryptor(key)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: wild.update(b"x" * 100_000), range(50)))
    wild.finalize()


class Meanwhile(io.BytesIO):
    """The first `write` first calls a function."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__()
        self.calls = [call]

    def write(self, piece: Any, /) -> int:
        if self.calls:
            self.calls.pop()()
        return super().write(piece)


def test_threads_on_one_new_file(key: tress.KeyPair) -> None:
    """The second thread writes while the target has the beginning of the container."""
    with ThreadPoolExecutor(1) as pool:
        second: list[Future[int]] = []

        def write() -> None:
            second.append(pool.submit(file.write, b"b" * 600_000))
            # Without a lock, the other write is complete before this one.
            wait(second, 0.2)

        target = Meanwhile(write)
        with tress.create(target, key) as file:
            file.write(b"a" * 600_000)
            assert second[0].result() == 600_000
    assert tress.decrypt(target.getvalue(), key) == b"a" * 600_000 + b"b" * 600_000


@pytest.mark.parametrize("is_block", [False, True])
def test_threads_that_close_one_file(
    key: tress.KeyPair, is_block: bool, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    file = tress.create(path, key)
    with ThreadPoolExecutor(1) as pool:
        second: list[Future[None]] = []

        def synchronise(_: int) -> None:
            if not second:
                second.append(pool.submit(file.close))
                wait(second, 0.2)

        monkeypatch.setattr(os, "fsync", synchronise)
        if is_block:
            with file:
                file.write(b"lanes")
        else:
            file.write(b"lanes")
            file.close()
        second[0].result()
    assert tress.decrypt(path.read_bytes(), key) == b"lanes" and os.listdir(tmp_path) == ["x"]


def test_a_signal_handler_in_the_middle_of_a_write(key: tress.KeyPair) -> None:
    """The lock does not stop the thread that holds it. Its bytes would get before those of the interrupted call."""
    for name, arguments in (("write", [bytes(600_000)]), ("close", [])):
        target = Meanwhile(bytes)
        file = tress.create(target, key)
        target.calls = [functools.partial(getattr(file, name), *arguments)]
        with pytest.raises(tress.Usage):
            file.write(bytes(600_000))
        with pytest.raises(tress.Usage):
            file.close()

    def caught() -> None:
        with pytest.raises(tress.Usage):
            file.close()

    target = Meanwhile(caught)
    with tress.create(target, key) as file:
        file.write(b"a" * 600_000)
    assert tress.decrypt(target.getvalue(), key) == b"a" * 600_000


def test_a_buffer_that_is_written_meanwhile(key: tress.KeyPair) -> None:
    """Encryption reads a mixture of old and new bytes, and its tag is valid for that mixture."""
    plain, stop = bytearray(8 << 20), threading.Event()
    aead, nonce = tress.AESCCM(bytes(16)), bytes(11)

    def write() -> None:
        new, old = b"\xff" * len(plain), bytes(len(plain))
        while not stop.is_set():
            plain[:] = new
            plain[:] = old

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(10):
            opened = [
                aead.decrypt(nonce, aead.encrypt(nonce, plain, None), None),
                *aead.decrypt_many([(nonce, aead.encrypt_many([(nonce, plain, None)])[0], None)]),
                tress.decrypt(tress.encrypt(plain, key), key),
            ]
            assert all(len(one) == len(plain) and set(one) <= {0, 255} for one in opened)
            with pytest.raises(tress.InvalidTag):
                aead.decrypt(nonce, plain, None)
    finally:
        stop.set()
        writer.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_an_encryptor_belongs_to_its_process(key: tress.KeyPair) -> None:
    """After a fork, both processes would encrypt under one key and nonce."""
    encryptor = tress.Encryptor(key)
    sealed = encryptor.update(b"lanes")
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (lambda: encryptor.update(bytes(1 << 20)), encryptor.finalize):
            try:
                call()  # type: ignore[no-untyped-call]
            except tress.Usage:
                refused += 1
        os._exit(0 if refused == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert tress.decrypt(sealed + encryptor.finalize(), key) == b"lanes"


FORKED = """
import os, sys, threading, tress

way, folder = sys.argv[1:]
path, key = os.path.join(folder, "x"), tress.RawKey(bytes(16))
file = tress.create(path, key, force=True)

def refused(call, *arguments):
    try:
        call(*arguments)
    except tress.Usage:
        return
    os._exit(3)

def hold():
    with file._lock:
        held.set()
        done.wait()

held, done = threading.Event(), threading.Event()
if way == "thread":
    threading.Thread(target=hold).start()
    held.wait()
elif way == "store":
    from fsspec.implementations.dirfs import DirFileSystem
    from fsspec.implementations.local import LocalFileSystem
    from tress._fsspec.writing import _Upload

    file.discard()
    file = tress.ContainerWriter(_Upload(DirFileSystem(folder, LocalFileSystem()), "x", True), tress.Encryptor(key))
    local = file._output._file._file
    local.f.close()
    local.f = open(local.path, "wb", 1 << 20)  # Buffers may be as large as the blocks of the file system.
    file._output = file._output._file  # As a new file of the protocol tress: it would be a file object of the caller.
if way != "thread":
    file.write(b"a" * 600_000)
if way.startswith("block"):
    file.__enter__()
if way == "block closed":
    file.close()
child = os.fork()
if child == 0:
    if way in ("close", "thread", "block close"):
        refused(file.close)
        file.close()
    if way == "write":
        refused(file.write, b"x" * 600_000)
    if way == "discard":
        file.discard()
    if way == "del":
        del file
    if way == "block raises":
        file.__exit__(KeyError, KeyError(), None)
    if way == "block closed":
        refused(file.__exit__, None, None, None)
    if way == "store":
        refused(file.close)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
done.set()
if way == "thread":
    file.write(b"a" * 600_000)
if way.startswith("block"):
    file.__exit__(None, None, None)
file.close()
with open(path, "rb") as sealed:
    assert tress.decrypt(sealed.read(), key) == b"a" * 600_000
assert os.listdir(folder) == ["x"]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize(
    "way",
    ["exit", "close", "write", "discard", "del", "block raises", "block close", "block closed", "thread", "store"],
)
def test_a_new_file_belongs_to_its_process(way: str, tmp_path: pathlib.Path) -> None:
    """Whatever a child of a fork does with the file, the parent completes it."""
    # Python warns of a fork beside threads.
    warnings = ["-W", "error::ResourceWarning", "-W", "ignore::DeprecationWarning"]
    command = [sys.executable, *warnings, "-c", FORKED, way, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


READING = """
import io, os, sys, threading, tress
from fsspec.implementations.memory import MemoryFileSystem
from tress._fsspec import TressFileSystem

way, folder = sys.argv[1:]
key, plain, inside, done = tress.KeyPair.generate(), os.urandom(1 << 20), threading.Event(), threading.Event()

def wait():
    if threading.current_thread().name == "reading":
        inside.set()
        done.wait()

class Source(io.BytesIO):
    def read(self, size=-1):
        wait()
        return super().read(size)

class Store(MemoryFileSystem):
    def cat_file(self, *arguments, **options):
        wait()
        return super().cat_file(*arguments, **options)

key.save(os.path.join(folder, "key"))
if way == "open":
    opened = lambda: tress.open(Source(tress.encrypt(plain, key)), key, threads=1)
elif way == "tree":
    os.mkdir(os.path.join(folder, "tree"))
    with open(os.path.join(folder, "tree", "x"), "wb") as file:
        file.write(plain)
    tress.encrypt_file(os.path.join(folder, "tree"), os.path.join(folder, "sealed"), key)
    with open(os.path.join(folder, "sealed"), "rb") as file:
        sealed = file.read()
    opened = lambda: tress.open_tree(Source(sealed), key, threads=1)["x"]
else:
    Store().pipe_file("/x", tress.encrypt(plain, key))
    opened = lambda: TressFileSystem(fs=Store(), identity=os.path.join(folder, "key")).open("/x")

file, other = opened(), opened()
other.seek(7)
found = []
thread = threading.Thread(target=lambda: found.append(file.read(300_000)), name="reading")
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    for call in (lambda: file.read(9), lambda: file.seek(500_000), file.tell, lambda: file.read(9)):
        try:
            call()
        except tress.Usage:
            continue
        os._exit(3)
    if other.read(9) != plain[7:16]:
        os._exit(4)
    file.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
done.set()
thread.join()
assert found == [plain[:300_000]] and file.read(9) == plain[300_000:300_009]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("way", ["open", "tree", "fsspec"])
def test_a_file_that_a_thread_reads_belongs_to_its_process(way: str, tmp_path: pathlib.Path) -> None:
    """In a child of a fork it raises `Usage`: its buffer has a lock that no thread there releases."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", READING, way, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_reader_moves_no_position_of_its_file(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    """After a fork, both processes have one position."""
    path = tmp_path / "x.tress"
    path.write_bytes(tress.encrypt(bytes(100_000), key))
    with tress.open(path, key, threads=1) as file:
        links = [int(name) for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")]
        (number,) = [number for number in links if os.readlink(f"/proc/self/fd/{number}") == str(path)]
        for place in (5, 40_000, 99_990):
            os.lseek(number, 7, os.SEEK_SET)
            assert file.seek(place) == place and file.read(10) == bytes(10)
            assert os.lseek(number, 0, os.SEEK_CUR) == 7


def test_the_interpreter_lock_is_released(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    """Another thread runs during a long call. It could not if the call held the interpreter lock."""
    runs, stop, turn = [0], threading.Event(), threading.Lock()
    turn.acquire()

    def other() -> None:
        while turn.acquire() and not stop.is_set():
            runs[0] += 1

    thread = threading.Thread(target=other)
    thread.start()
    interval = sys.getswitchinterval()
    # From here on no thread gives up the lock of the interpreter, unless it waits or calls a function that gives it up.
    sys.setswitchinterval(10_000)
    try:
        big = bytes(4 << 20)
        aead = tress.AESCCM(bytes(16))
        sealed = tress.encrypt(big, key)
        calls: list[Callable[[], object]] = [
            lambda: tress.encrypt(big, key, threads=1),
            lambda: tress.decrypt(sealed, key, threads=1),
            lambda: aead.encrypt(bytes(11), big, None),
            lambda: aead.encrypt_many([(bytes(11), big, None)]),
            lambda: tress.Encryptor(key).update(big),
            lambda: tress.Decryptor(key).update(sealed[:2000]),
            lambda: tress.PrivateKey.generate("rsa-3072"),
        ]
        for place, call in enumerate(calls):
            before = runs[0]
            # The system may give the other thread no core during the first calls.
            for _ in range(1000):
                if turn.locked():
                    turn.release()
                call()
                if runs[0] > before:
                    break
            assert runs[0] > before, place
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        if turn.locked():
            turn.release()
        thread.join()


INTERRUPTED = """
import os, signal, sys, threading, time, tress
key = tress.KeyPair.generate()
path = sys.argv[1]
big = os.path.join(path, "big")
with open(big, "wb") as file:
    file.truncate(64 << 30)
zeros = bytes(1 << 20)
aead = tress.AESCCM(bytes(16))
messages = [(n.to_bytes(11, "big"), zeros, None) for n in range(4000)]
input = open(big, "rb")
calls = dict(
    file=lambda: tress.encrypt_file(big, os.path.join(path, "x"), key, threads=1),
    many=lambda: aead.encrypt_many(messages, threads=1),
    stream=lambda: tress.encrypt_stream(input, open(os.devnull, "wb"), key, threads=1),
)
start = time.process_time()
aead.encrypt_many(messages[:400], threads=1)
tenth = time.process_time() - start
begun = threading.Lock()
begun.acquire()
def interrupt():
    begun.acquire()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
# The other thread gets the lock of the interpreter when the call gives it up, so in the middle of the call.
sys.setswitchinterval(10_000)
begun.release()
start = time.process_time()
try:
    calls[sys.argv[2]]()
except KeyboardInterrupt:
    # The stream has not ended, or the call had no time for all messages. The test looks for an output of the file.
    is_early = time.process_time() - start < 8 * tenth if sys.argv[2] == "many" else input.tell() < 64 << 30
    print("interrupted" if is_early else "too late")
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
@pytest.mark.parametrize("call", ["file", "many", "stream"])
def test_ctrl_c_ends_a_long_call(call: str, tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path), call]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "interrupted\n", done.stderr
    assert os.listdir(tmp_path) == ["big"]


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc/self/statm")
def test_nothing_leaks(key: tress.KeyPair) -> None:
    aead, message = tress.AESCCM(bytes(16)), bytes(64)
    buffer, out = bytearray(message), bytearray(80)
    messages = [(n.to_bytes(12, "big"), message, None) for n in range(10)]
    forged = bytes(80)
    sealed = tress.encrypt(message, key)
    encryptor = tress.Encryptor(key)

    def small() -> None:
        aead.encrypt(b"0123456789ab", buffer, b"aad")
        aead.encrypt_into(b"0123456789ab", buffer, None, out)
        encryptor.update(buffer)
        try:
            aead.decrypt(b"0123456789ab", forged, None)
        except tress.InvalidTag:
            pass

    def large() -> None:
        aead.encrypt_many(messages)
        aead.decrypt_many([(bytes(12), forged, None)], errors="none")
        tress.decrypt(sealed, key)
        with tress.open(io.BytesIO(sealed), key, threads=1) as file:
            file.read()
        for wrong in (b"", sealed[:-1]):
            try:
                tress.decrypt(wrong, key)
            except tress.TressError:
                pass

    def round_(calls: int) -> None:
        for _ in range(calls // 4):
            small()
        for _ in range(calls // 500):
            large()
        gc.collect()

    round_(CALLS // 10)
    before = resident()
    tracemalloc.start()
    round_(2000)
    first = tracemalloc.take_snapshot()
    round_(CALLS // 20)
    second = tracemalloc.take_snapshot()
    tracemalloc.stop()
    grown = sum(
        entry.size_diff
        for entry in second.compare_to(first, "filename")
        if "tracemalloc" not in entry.traceback[0].filename
    )
    assert grown < 100_000
    round_(CALLS)
    # A leak of one object of 80 bytes per call would add up to twice as much. The heap may grow by a few megabytes.
    assert resident() - before < 40 * CALLS


REFUSED = """
import os, resource, sys, tress
aead, key = tress.AESCCM(bytes(16)), tress.KeyPair.generate()
messages = [(number.to_bytes(12, "big"), bytes(100_000), None) for number in range(40)]
large = [(number.to_bytes(12, "big"), bytes(4 << 20), None) for number in range(20)]
expected = aead.encrypt_many(messages, threads=1)
os.chdir(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
if os.geteuid() == 0:
    # RLIMIT_NPROC does not apply to root, so become another user, who owns the folder.
    os.chown(".", 54321, -1)
    os.chown("plain", 54321, -1)
    os.setresuid(54321, 54321, 54321)
assert aead.encrypt_many(messages, threads=8) == expected
for call in (lambda: tress.encrypt_file("plain", "x", key), lambda: aead.encrypt_many(large, threads=8)):
    try:
        call()
    except tress.TressError as error:
        assert error.kind == "no-thread", error
    else:
        raise SystemExit("not refused")
assert os.listdir("/proc/self/cwd") == ["plain"]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of threads is Linux's: NOT TESTED")
def test_threads_that_the_system_refuses(tmp_path: pathlib.Path) -> None:
    """Fewer threads do the work, or the call raises an error; it never panics."""
    (tmp_path / "plain").write_bytes(bytes(1000))
    done = subprocess.run(
        [sys.executable, "-c", REFUSED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
