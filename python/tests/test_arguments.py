"""Wrong arguments raise `TypeError` or `ValueError` with a clear message; every type of path is accepted."""

from __future__ import annotations

import array
import copy
import ctypes
import io
import os
import pathlib
import pickle
import runpy
import stat
import time
from collections.abc import Callable
from typing import Any

import numpy
import pyarrow
import pytest
import tress
from conftest import data

AEAD = tress.AESCCM(bytes(16))
# mypy does not accept numpy arrays as buffers.
np: Any = numpy
MESSAGE = (bytes(12), b"x", None)


@pytest.fixture
def plain(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "plain").write_bytes(data(1000))
    return tmp_path / "plain"


@pytest.mark.parametrize("threads", [-1, 1025, 1_000_000, 1 << 70])
def test_wrong_numbers_of_threads(key: tress.KeyPair, plain: pathlib.Path, threads: int) -> None:
    sealed = tress.encrypt(b"", key, threads=1024)
    (plain.parent / "sealed").write_bytes(sealed)
    calls: list[Callable[[], object]] = [
        lambda: tress.encrypt(b"", key, threads=threads),
        lambda: tress.decrypt(sealed, key, threads=threads),
        lambda: tress.Encryptor(key, threads=threads),
        lambda: tress.Decryptor(key, threads=threads),
        lambda: tress.create(plain.parent / "x", key, threads=threads),
        lambda: tress.open(plain.parent / "sealed", key, threads=threads),
        lambda: tress.encrypt_file(plain, plain.parent / "x", key, threads=threads),
        lambda: tress.decrypt_file(plain.parent / "sealed", plain.parent / "x", key, threads=threads),
        lambda: AEAD.encrypt_many([MESSAGE], threads=threads),
        lambda: tress.encrypt_many([(AEAD, *MESSAGE)], threads=threads),
        lambda: tress.decrypt_many([(AEAD, *MESSAGE)], threads=threads),
        lambda: AEAD.decrypt_many([MESSAGE], threads=threads),
        lambda: AEAD.encrypt_many_into([MESSAGE], bytearray(17), threads=threads),
    ]
    for call in calls:
        with pytest.raises(tress.Usage, match="1 to 1024"):
            call()


@pytest.mark.parametrize("number", [-1, 1 << 70])
def test_other_wrong_numbers(key: tress.KeyPair, plain: pathlib.Path, number: int) -> None:
    calls: list[Callable[[], object]] = [
        lambda: tress.AESCCM(bytes(16), tag_length=number),
        lambda: tress.AESCCM.generate_key(number),
        lambda: tress.RawKey.generate(number),
        lambda: tress.Passphrase("p", work_factor=number),
        lambda: tress.Passphrase("p", max_work_factor=number),
        lambda: tress.PrivateKey.from_pem("", max_work_factor=number),
        lambda: tress.decrypt_file(plain, plain.parent / "x", key, range=(number, None)),
        lambda: tress.decrypt_file(plain, plain.parent / "x", key, range=(0, number)),
        lambda: tress.sealed_size(number, key),
        lambda: tress.plan(number, 1e9, 1e9),
        lambda: tress.plan(1, 1e9, 1e9, cores=number),
        lambda: tress.plan(1, 1e9, 1e9, min_batch=number),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()


def test_wrong_types(key: tress.KeyPair, plain: pathlib.Path) -> None:
    wrong: Any
    for wrong in (np.array(["text", None]), np.zeros(2, dtype=[("a", "u8"), ("b", "O")])):
        with pytest.raises(TypeError):
            tress.encrypt(wrong, key)
    assert len(tress.encrypt(np.zeros(2, dtype=[("Open", "f8")]), key)) > 16
    for wrong in ("4", 1.5, b"4", None, []):
        with pytest.raises(TypeError):
            tress.encrypt(b"", key, threads=wrong)
        with pytest.raises(TypeError):
            AEAD.encrypt_many([], threads=wrong)
    for wrong in (5, None, ["x"]):
        calls: list[Callable[[], object]] = [
            lambda wrong=wrong: tress.encrypt_file(wrong, "x", key),  # type: ignore[misc]
            lambda wrong=wrong: tress.encrypt_file(plain, wrong, key),  # type: ignore[misc]
            lambda wrong=wrong: tress.rewrap_file(wrong, key, key),  # type: ignore[misc]
            lambda wrong=wrong: tress.inspect(wrong),  # type: ignore[misc]
            lambda wrong=wrong: tress.open(wrong, key),  # type: ignore[misc]
            lambda wrong=wrong: tress.create(wrong, key),  # type: ignore[misc]
            lambda wrong=wrong: tress.encrypt_stream(wrong, open(os.devnull, "wb"), key),  # type: ignore[misc]
            lambda wrong=wrong: tress.encrypt_stream(open(os.devnull, "rb"), wrong, key),  # type: ignore[misc]
            lambda wrong=wrong: tress.decrypt_stream(wrong, open(os.devnull, "wb"), key),  # type: ignore[misc]
            lambda wrong=wrong: key.save(wrong),  # type: ignore[misc]
        ]
        for call in calls:
            with pytest.raises(TypeError):
                call()


class Own(os.PathLike[Any]):
    def __init__(self, path: Any):
        self.path = path

    def __fspath__(self) -> Any:
        return self.path


@pytest.mark.parametrize("of", [str, os.fsencode, pathlib.Path, Own, lambda path: Own(os.fsencode(path))])
def test_every_kind_of_path(key: tress.KeyPair, plain: pathlib.Path, of: Callable[[str], Any]) -> None:
    folder = str(plain.parent)
    sealed, back, made = of(f"{folder}/sealed"), of(f"{folder}/back"), of(f"{folder}/made")
    tress.encrypt_file(of(str(plain)), sealed, key)
    tress.rewrap_file(sealed, key, key)
    tress.decrypt_file(sealed, back, key)
    assert pathlib.Path(folder, "back").read_bytes() == data(1000)
    assert tress.inspect(sealed, key)["name"] == "plain"
    with tress.open(sealed, key) as file:
        assert file.read() == data(1000)
    with tress.create(made, key) as writer:
        writer.write(b"made")
    assert tress.decrypt(pathlib.Path(folder, "made").read_bytes(), key) == b"made"


def test_identity_files_are_private(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    before = os.umask(0)
    try:
        key.save(tmp_path / "key.txt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "key.txt").stat().st_mode) == 0o600
    saved = (tmp_path / "key.txt").read_text()
    # The first line is the time of writing.
    assert saved.splitlines()[1:] == key.identity_file().splitlines()[1:]
    with pytest.raises(FileExistsError):
        tress.KeyPair.generate().save(tmp_path / "key.txt")
    assert (tmp_path / "key.txt").read_text() == saved


def test_the_work_of_a_passphrase_is_bounded() -> None:
    sealed = tress.encrypt(b"x", tress.Passphrase("p", work_factor=6))
    assert tress.decrypt(sealed, tress.Passphrase("p", max_work_factor=6)) == b"x"
    with pytest.raises(tress.TressError) as refused:
        tress.decrypt(sealed, tress.Passphrase("p", max_work_factor=5))
    assert not isinstance(refused.value, tress.WrongKey)
    for wrong in (0, 23):
        with pytest.raises(tress.Usage):
            tress.Passphrase("p", max_work_factor=wrong)


def test_public_keys_are_pickled() -> None:
    for kind in ("dsa-2048", "schnorr-2048"):
        public = tress.PrivateKey.generate(kind).public_key()
        for made in (pickle.loads(pickle.dumps(public)), copy.copy(public), copy.deepcopy(public)):
            assert made == public and made.kind == kind


class Pair(ctypes.Structure):
    _fields_ = [("one", ctypes.c_uint16), ("two", ctypes.c_uint64)]


BUFFERS: list[Any] = [
    (ctypes.c_ubyte * 100)(*range(100)),
    (ctypes.c_uint32 * 3 * 5)(),
    (ctypes.c_ubyte * 0)(),
    ctypes.c_double(1.5),
    Pair(1, 2),
    np.arange(5).astype("M8[s]"),
    np.ones((3, 4), dtype="f2"),
    np.zeros((0, 3)),
    np.array(7, dtype="u8"),
    pyarrow.py_buffer(b"arrow"),
]


@pytest.mark.parametrize("buffer", BUFFERS, ids=lambda buffer: type(buffer).__name__)
def test_every_buffer_is_data(key: tress.KeyPair, buffer: Any) -> None:
    """Also those without strides, or of a type that `memoryview` does not have. ctypes and numpy tell their bytes."""
    as_bytes = buffer.tobytes() if hasattr(buffer, "tobytes") else bytes(buffer)
    assert tress.decrypt(tress.encrypt(buffer, key), key) == as_bytes
    assert AEAD.encrypt_many([(bytes(12), buffer, buffer)]) == [AEAD.encrypt(bytes(12), as_bytes, as_bytes)]
    if not isinstance(buffer, pyarrow.Buffer):
        into = copy.copy(buffer)
        sealed = AEAD.encrypt(bytes(12), bytes(range(len(as_bytes))), None)
        assert AEAD.decrypt_into(bytes(12), sealed, None, into) == len(as_bytes)
        assert bytes(into.tobytes() if hasattr(into, "tobytes") else into) == bytes(range(len(as_bytes)))


def test_what_is_no_buffer(key: tress.KeyPair) -> None:
    closed = memoryview(bytearray(5))
    closed.release()
    wrong: list[tuple[Any, type[Exception]]] = [
        ("text", TypeError),
        (np.zeros(10)[::2], BufferError),
        (np.zeros((3, 4)).T, BufferError),
        (memoryview(bytes(10))[::2], BufferError),
        (closed, ValueError),
    ]
    for given, error in wrong:
        with pytest.raises(error):
            tress.encrypt(given, key)
    for readonly in (bytes(5), memoryview(bytes(5)), np.frombuffer(bytes(5), dtype="u1")):
        with pytest.raises(BufferError):
            AEAD.encrypt_into(bytes(12), b"", None, readonly)


def test_identities_by_path(key: tress.KeyPair, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call takes a path object. Text is never a path, and the message says so without the text."""
    monkeypatch.chdir(tmp_path)
    key.save("me.key")
    pathlib.Path("x.tress").write_bytes(tress.encrypt(b"plain", key))
    sealed = pathlib.Path("x.tress").read_bytes()
    out = io.BytesIO()
    me: Any
    ways: list[Any] = [pathlib.Path("me.key"), Own("me.key"), [Own(b"me.key")], tress.KeyPair.load("me.key")]
    for number, me in enumerate(ways):
        assert tress.decrypt(sealed, me) == tress.open("x.tress", me).read() == b"plain"
        assert tress.decrypt_file("x.tress", f"back{number}", me).bytes_out == 5
        assert tress.decrypt_stream(io.BytesIO(sealed), out, me) == 5
        assert tress.inspect("x.tress", me)["verified"]
        assert tress.rewrap_head(sealed, me, key)[0] > 0
        tress.rewrap_file("x.tress", me, key)
        decryptor = tress.Decryptor(me)
        assert decryptor.update(sealed) + decryptor.finalize() == b"plain"
    texts = [("me.key", "is a path and no identity"), ("your.key", "path"), (str(tmp_path / "me.key"), "path")]
    for text, words in texts:
        with pytest.raises(tress.Usage, match=words) as caught:
            tress.open("x.tress", text)
        assert text not in str(caught.value)
        assert caught.value.kind == "bad-identity"
    for call in (tress.KeyPair.load, lambda path: tress.open("x.tress", path)):
        with pytest.raises(FileNotFoundError) as missing:
            call(pathlib.Path("your.key"))
        assert missing.value.filename == "your.key"
    with pytest.raises(tress.Usage):
        tress.open("x.tress", pathlib.Path("x.tress"))
    assert "SECRET" not in repr(tress.KeyPair.load("me.key"))


def test_pickles_have_paths(key: tress.KeyPair, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pickle of a key or of an open container has no secret, and works in another folder."""
    monkeypatch.chdir(tmp_path)
    key.save("me.key")
    secret = key.identity_file().split()[-1].encode()
    pathlib.Path("x.tress").write_bytes(tress.encrypt(data(100_000), key))
    loaded = tress.KeyPair.load("me.key")
    ways: list[Any] = [pathlib.Path("me.key"), loaded, [loaded], (Own("me.key") for _ in range(1))]
    pickles = [pickle.dumps(loaded)]
    for identities in ways:
        with tress.open("x.tress", identities) as file:
            file.seek(99_990)
            pickles += [pickle.dumps(file), pickle.dumps(file.raw)]
    assert not any(secret in one for one in pickles)
    monkeypatch.chdir("/")
    first, *others = map(pickle.loads, pickles)
    assert first.recipient == copy.copy(first).recipient == key.recipient
    # The raw file is where the buffer has read to.
    assert [len(file.read()) for file in others[::2]] == [10] * 4
    assert all(file.read() in (b"", data(100_000)[-10:]) for file in others[1::2])
    monkeypatch.chdir(tmp_path)
    for unable in (
        tress.open("x.tress", key),
        tress.open("x.tress", key.identity_file()),
        tress.open(open("x.tress", "rb"), loaded),
        tress.open("x.tress", loaded.identity_file()).raw,
    ):
        with pytest.raises(TypeError):
            pickle.dumps(unable)


def test_arrays_of_no_dimensions(key: tress.KeyPair) -> None:
    assert tress.decrypt(tress.encrypt(np.array(5), key), key) == np.array(5).tobytes()
    buffer = np.array(0, dtype="u8")
    AEAD.decrypt_into(bytes(12), AEAD.encrypt(bytes(12), np.array(7, dtype="u8"), None), None, buffer)
    assert int(buffer) == 7


def test_nonces_and_keys_are_bytes() -> None:
    wide: Any
    # The last three are single values of a length that a nonce may have.
    rows: list[Any] = [array.array("H", range(6)), np.zeros(6, dtype="u2"), memoryview(bytes(12)).cast("H")]
    rows.append((ctypes.c_uint16 * 6)())
    for wide in [*rows, np.array(5, dtype="u8"), np.array(0, dtype="M8[s]"), ctypes.c_uint64(5)]:
        for call in (AEAD.encrypt, AEAD.decrypt):
            with pytest.raises(TypeError, match="nonce"):
                call(wide, bytes(16), None)
        with pytest.raises(TypeError, match="nonce"):
            AEAD.encrypt_many([(wide, b"", None)])
    for kind in (tress.AESCCM, tress.ChaCha20Poly1305, tress.RawKey):
        for wide in (array.array("H", range(8)), np.array(0, dtype="c16")):
            with pytest.raises(TypeError, match="key"):
                kind(wide)
    assert AEAD.encrypt(np.zeros(12, dtype="u1"), array.array("H", [1]), None)


def test_a_message_that_is_too_long_is_refused_before_it_is_copied() -> None:
    class Sparse:
        """1 GiB of memory that was never written."""

        bytes = np.zeros(1 << 30, dtype="u1")

    started = time.process_time()
    calls: list[Callable[[], object]] = [
        lambda: AEAD.encrypt(bytes(12), Sparse.bytes, None),
        lambda: AEAD.decrypt(bytes(12), Sparse.bytes, None),
        lambda: AEAD.encrypt_many([(bytes(12), Sparse.bytes, None)]),
    ]
    for call in calls:
        with pytest.raises(tress.Usage):
            call()
    assert time.process_time() - started < 0.5


def test_progress_of_small_files(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    (tmp_path / "plain").write_bytes(data(700_000))
    seen: list[tuple[int, int | None]] = []
    tress.encrypt_file(tmp_path / "plain", tmp_path / "sealed", key, progress=lambda *now: seen.append(now))
    assert seen[0][0] == 0 and seen[-1] == (700_000, 700_000)
    assert seen == sorted(seen, key=lambda now: now[0])


def test_the_module_of_the_command_can_be_imported() -> None:
    assert "main" in runpy.run_module("tress.__main__", run_name="imported")
