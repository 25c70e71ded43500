"""Containers in memory: the independent reader, test vectors, refused arguments."""

from __future__ import annotations

import array
import json
import mmap
import tarfile
import tempfile
from typing import Any

import numpy as np
import pyrage
import pytest
import tress
import tress_reader
from conftest import LENGTHS, ROOT, data

CONTAINERS = ROOT / "vectors" / "container"
INDEX = json.loads((CONTAINERS / "index.json").read_text())


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("aead", ["aes-128-ccm", "aes-256-ccm"])
def test_the_independent_reader_opens_what_is_encrypted(key: tress.KeyPair, length: int, aead: str) -> None:
    identity = pyrage.x25519.Identity.from_str(key.identity_file().splitlines()[-1])
    sealed = tress.encrypt(data(length), key.recipient, aead=aead, name="a name")
    assert tress_reader.decrypt(sealed, identity) == (data(length), b"file", "a name")


@pytest.mark.parametrize("length", LENGTHS)
def test_containers_of_the_independent_writer_open(key: tress.KeyPair, length: int) -> None:
    recipient = pyrage.x25519.Recipient.from_str(key.recipient)
    sealed = tress_reader.encrypt(data(length), lambda content: pyrage.encrypt(content, [recipient]), name="n")
    assert tress.decrypt(sealed, key) == data(length)
    assert tress.decrypt(sealed, key, threads=1) == data(length)


@pytest.mark.parametrize(
    "test",
    [t for g in INDEX["testGroups"] for t in g["tests"]],
    ids=lambda test: str(test["name"]),
)
def test_every_vector_opens_or_fails_as_it_says(test: dict[str, str]) -> None:
    entry = INDEX["identities"][test["identity"]]
    value = entry["value"]
    identity: Any = value
    if entry["type"] == "passphrase":
        identity = tress.Passphrase(value)
    elif entry["type"] == "raw-key":
        identity = tress.RawKey(bytes.fromhex(value))
    with tarfile.open(CONTAINERS / "containers.tar") as archive:
        file = archive.extractfile(test["file"])
        assert file
        sealed = file.read()
    if test["result"] == "valid":
        import hashlib

        decryptor = tress.Decryptor(identity)
        plain = decryptor.update(sealed)
        assert (decryptor.name, decryptor.content_type) == (test["contentName"], test["contentType"])
        plain += decryptor.finalize()
        assert hashlib.sha256(plain).hexdigest() == test["plaintextSha256"]
        assert tress.decrypt(sealed, identity) == plain
        return
    expected = "".join(f"-{c.lower()}" if c.isupper() else c for c in test["error"]).lstrip("-")
    with pytest.raises(tress.TressError) as raised:
        tress.decrypt(sealed, identity)
    assert raised.value.kind == expected
    wrong_key = test["error"] in ("NoMatchingKey", "WrongPassphrase")
    assert isinstance(raised.value, tress.WrongKey) == wrong_key
    assert isinstance(raised.value, tress.Damaged) == (not wrong_key and test["error"] != "WorkFactorTooHigh")


@pytest.mark.parametrize("kind", ["container", "age", "cobblestone"])
@pytest.mark.parametrize("length", LENGTHS)
def test_buffers_of_the_caller(key: tress.KeyPair, kind: str, length: int) -> None:
    to: Any = tress.CobblestoneKey(bytes(32), b"x") if kind == "cobblestone" else key
    more: Any = {"format": "age"} if kind == "age" else {}
    most = tress.sealed_size(length, to, **more)
    sealed = bytearray(most + 5)
    size = tress.encrypt_into(data(length), memoryview(sealed)[:most], to, **more)
    assert most - 512 <= size <= most if kind == "age" else size == most
    assert sealed[size:] == bytes(most + 5 - size) and tress.plain_size(sealed[:size], to) == length
    plain: Any = np.full(length + 3, 7, np.uint8)
    assert tress.decrypt_into(sealed[:size], plain, to, threads=1) == length
    assert plain.tobytes() == data(length) + b"\7\7\7"
    for wrong, error in [(bytearray(max(size - 257, 0)), tress.Usage), (bytes(size), BufferError), (3, TypeError)]:
        with pytest.raises(error):
            tress.encrypt_into(data(length), wrong, to, **more)  # type: ignore[arg-type]
    with pytest.raises(tress.Usage, match="overlap"):
        tress.decrypt_into(memoryview(sealed)[:size], sealed, to)
    sealed[size - 1] ^= 1
    if length:
        with pytest.raises(tress.Usage, match=f"at least {length} bytes long, and has {length - 1}"):
            tress.decrypt_into(sealed[:size], bytearray(length - 1), to)
        with pytest.raises(tress.Damaged):
            tress.decrypt_into(sealed[:size], plain, to)
        assert not plain.any()


def test_every_type_of_key(key: tress.KeyPair) -> None:
    raw = tress.RawKey(tress.RawKey.generate())
    passphrase = tress.Passphrase("correct horse", work_factor=4)
    assert key.address is not None
    for recipient, identity in [
        (key, key),
        (key.recipient, key.identity_file()),
        (key.address, [tress.KeyPair.generate(), key]),
        ([raw, key.recipient], raw),
        (raw, (raw,)),
        (passphrase, tress.Passphrase("correct horse")),
    ]:
        assert tress.decrypt(tress.encrypt(b"lanes", recipient), identity) == b"lanes"  # type: ignore[arg-type]
    with pytest.raises(tress.WrongKey):
        tress.decrypt(tress.encrypt(b"", passphrase), tress.Passphrase("wrong"))
    with pytest.raises(tress.WrongKey):
        tress.decrypt(tress.encrypt(b"", raw), tress.RawKey(bytes(16)))


def test_key_pairs_read_back() -> None:
    key = tress.KeyPair.generate()
    read = tress.KeyPair.parse(key.identity_file())
    assert (read.recipient, read.address) == (key.recipient, key.address)
    # An identity of age has no Noise key. The example is from age's documentation.
    age = tress.KeyPair.parse("AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33")
    assert age.address is None


def test_every_buffer_is_accepted(key: tress.KeyPair) -> None:
    plain = data(40_000)
    numbers = np.frombuffer(plain, dtype=np.float64).reshape(50, 100)
    with tempfile.TemporaryFile() as file:
        file.write(plain)
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            assert tress.decrypt(tress.encrypt(mapped, key), key) == plain
    for buffer in [
        bytearray(plain),
        memoryview(plain),
        numbers,
        array.array("d", numbers.ravel()),
        memoryview(b"x" + plain)[1:],
    ]:
        sealed = tress.encrypt(buffer, key)  # type: ignore[arg-type]
        assert tress.decrypt(bytearray(sealed), key) == plain
        assert tress.decrypt(np.frombuffer(sealed, np.uint8), key) == plain  # type: ignore[arg-type]
    assert tress.decrypt(tress.encrypt(np.zeros((0, 3)), key), key) == b""  # type: ignore[arg-type]


def test_what_is_no_buffer_or_has_gaps_is_refused(key: tress.KeyPair) -> None:
    for wrong in ["text", 7, None, [1, 2], object()]:
        with pytest.raises(TypeError):
            tress.encrypt(wrong, key)  # type: ignore[arg-type]
    with pytest.raises(BufferError):
        tress.encrypt(memoryview(bytes(10))[::2], key)
    with pytest.raises(BufferError):
        tress.encrypt(np.zeros((4, 4)).T[1:], key)  # type: ignore[arg-type]


def test_wrong_arguments(key: tress.KeyPair) -> None:
    for recipients in ["", "nobody", "age1qqq", [], (), [tress.Passphrase("p", work_factor=2), key]]:
        with pytest.raises(tress.Usage):
            tress.encrypt(b"", recipients)  # type: ignore[arg-type]
    for wrong in [b"age1", 3, None, [3], [b"x"]]:
        with pytest.raises(TypeError):
            tress.encrypt(b"", wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            tress.decrypt(b"", wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        tress.encrypt(b"", key, aead="aes-192-ccm")
    with pytest.raises(ValueError):
        tress.encrypt(b"", key, name="a/b")
    for threads in (-1, 1025, 1_000_000, 1 << 70):
        with pytest.raises(tress.Usage):
            tress.encrypt(b"", key, threads=threads)
    for length in [0, 15, 17, 33]:
        with pytest.raises(ValueError):
            tress.RawKey(bytes(length))
    with pytest.raises(ValueError):
        tress.RawKey.generate(192)
    with pytest.raises(ValueError):
        tress.Passphrase("")
    with pytest.raises(ValueError):
        tress.KeyPair.parse("")
    with pytest.raises(ValueError):
        tress.decrypt(b"", [])


def test_no_secret_is_shown(key: tress.KeyPair) -> None:
    secret = key.identity_file().splitlines()[-1]
    for shown in [key, tress.Passphrase("hunter2"), tress.RawKey(b"0123456789 bytes")]:
        assert secret[20:] not in repr(shown) and "hunter2" not in repr(shown) and "0123456789" not in repr(shown)
    with pytest.raises(tress.Usage) as raised:
        tress.encrypt(b"", secret)
    assert secret[20:40] not in str(raised.value)


def test_keys_are_neither_pickled_nor_copied(key: tress.KeyPair) -> None:
    """So no key reaches another process, a cache or a file by accident."""
    import copy
    import pickle

    signer = tress.PrivateKey.generate("dsa-2048")
    passphrase = tress.Passphrase("p", work_factor=2)
    aead = tress.AESCCM(bytes(16))
    for secret in [key, tress.RawKey(bytes(16)), passphrase, aead, signer, tress.Encryptor(key), tress.Decryptor(key)]:
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError):
                call(secret)


def test_a_new_head_is_for_the_new_recipients(key: tress.KeyPair) -> None:
    other = tress.KeyPair.generate()
    sealed = tress.encrypt(data(100_000), key)
    old_bytes, head = tress.rewrap_head(sealed[:70_000], key, [other, other])
    assert tress.decrypt(head + sealed[old_bytes:], other) == data(100_000)
    with pytest.raises(tress.WrongKey):
        tress.decrypt(head + sealed[old_bytes:], key)
    for length in [0, 1, 5, 10, 4095, old_bytes + 55]:
        with pytest.raises(tress.NeedMore):
            tress.rewrap_head(sealed[:length], key, other)
    with pytest.raises(tress.Damaged):
        tress.rewrap_head(b"something else" * 1000, key, other)


def test_exceptions_cross_processes(key: tress.KeyPair) -> None:
    import pickle

    with pytest.raises(tress.Damaged) as raised:
        tress.decrypt(tress.encrypt(b"", key)[:-1], key)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert type(copy) is type(raised.value) and copy.kind == raised.value.kind and str(copy) == str(raised.value)
    forged = pickle.loads(pickle.dumps(tress.InvalidTag("x", indices=[3])))
    assert forged.indices == [3]
    there = pickle.loads(pickle.dumps(tress.OutputExists("there")))
    assert there.kind == "output-exists" and isinstance(there, FileExistsError)
