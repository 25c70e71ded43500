"""Wrong arguments raise `TypeError` or `ValueError` with a clear message; every type of path is accepted."""

from __future__ import annotations

import array
import copy
import os
import pathlib
import pickle
import runpy
import stat
import time
from collections.abc import Callable
from typing import Any

import numpy
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
        lambda: tress.plan(number, 1e9, 1e9),
        lambda: tress.plan(1, 1e9, 1e9, cores=number),
        lambda: tress.plan(1, 1e9, 1e9, min_batch=number),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()


def test_wrong_types(key: tress.KeyPair, plain: pathlib.Path) -> None:
    wrong: Any
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
    assert (tmp_path / "key.txt").read_text() == key.identity_file()
    with pytest.raises(FileExistsError):
        tress.KeyPair.generate().save(tmp_path / "key.txt")
    assert (tmp_path / "key.txt").read_text() == key.identity_file()


def test_the_work_of_a_passphrase_is_bounded() -> None:
    sealed = tress.encrypt(b"x", tress.Passphrase("p", work_factor=6))
    assert tress.decrypt(sealed, tress.Passphrase("p", max_work_factor=6)) == b"x"
    with pytest.raises(tress.TressError) as refused:
        tress.decrypt(sealed, tress.Passphrase("p", max_work_factor=5))
    assert not isinstance(refused.value, tress.WrongKey)
    for wrong in (0, 21):
        with pytest.raises(tress.Usage):
            tress.Passphrase("p", max_work_factor=wrong)


def test_public_keys_are_pickled() -> None:
    for kind in ("dsa-2048", "schnorr-2048"):
        public = tress.PrivateKey.generate(kind).public_key()
        for made in (pickle.loads(pickle.dumps(public)), copy.copy(public), copy.deepcopy(public)):
            assert made == public and made.kind == kind


def test_arrays_of_no_dimensions(key: tress.KeyPair) -> None:
    assert tress.decrypt(tress.encrypt(np.array(5), key), key) == np.array(5).tobytes()
    buffer = np.array(0, dtype="u8")
    AEAD.decrypt_into(bytes(12), AEAD.encrypt(bytes(12), np.array(7, dtype="u8"), None), None, buffer)
    assert int(buffer) == 7


def test_nonces_and_keys_are_bytes() -> None:
    wide: Any
    for wide in (array.array("H", range(6)), np.zeros(6, dtype="u2"), memoryview(bytes(12)).cast("H")):
        for call in (AEAD.encrypt, AEAD.decrypt):
            with pytest.raises(TypeError, match="nonce"):
                call(wide, bytes(16), None)
        with pytest.raises(TypeError, match="nonce"):
            AEAD.encrypt_many([(wide, b"", None)])
    for kind in (tress.AESCCM, tress.RawKey):
        with pytest.raises(TypeError, match="key"):
            kind(array.array("H", range(8)))
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
    assert len(seen) > 2 and seen[0][0] == 0 and seen[-1] == (700_000, 700_000)
    assert seen == sorted(seen, key=lambda now: now[0])


def test_the_module_of_the_command_can_be_imported() -> None:
    assert "main" in runpy.run_module("tress.__main__", run_name="imported")
