"""AESCCM and ChaCha20Poly1305: vectors of Wycheproof and NIST, comparison with PyCA, batches, refused arguments."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import cryptography.exceptions
import numpy as np
import pytest
import tress
from conftest import data, vectors
from cryptography.hazmat.primitives.ciphers.aead import AESCCM as PyCA
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305 as PyCAChaCha

FILES = [
    "aes/wycheproof-ccm",
    "aes/cavp-ccm-dvpt",
    "aes/cavp-ccm-vadt",
    "aes/cavp-ccm-vnt",
    "aes/cavp-ccm-vpt",
    "aes/cavp-ccm-vtt",
    "aes/openssl-ccm-lengths",
    "aes/rfc3610",
    "aes/sp800-38c",
    "chacha20poly1305/wycheproof",
]


@pytest.mark.parametrize("file", FILES)
def test_vectors_single_and_batch(file: str) -> None:
    is_ccm = file.startswith("aes/")

    def aead_of(key: bytes, tag_length: int) -> Any:
        return tress.AESCCM(key, tag_length) if is_ccm else tress.ChaCha20Poly1305(key)

    by_key: dict[tuple[bytes, int], list[tuple[bytes, bytes, bytes, bytes, bool]]] = {}
    for group, test in vectors(file):
        # Invalid tests may have no message.
        fields = [bytes.fromhex(test.get(name, "")) for name in ("key", "iv", "aad", "msg", "ct", "tag")]
        key, nonce, aad, plain, cipher_text, tag = fields
        if "aadLength" in test:
            aad = (aad * (test["aadLength"] // len(aad) + 1))[: test["aadLength"]]
        try:
            aead = aead_of(key, group["tagSize"] // 8)
        except ValueError:
            assert test["result"] == "invalid", test
            continue
        if len(nonce) not in (range(7, 14) if is_ccm else [12]):
            assert test["result"] == "invalid", test
            with pytest.raises(ValueError):
                aead.encrypt(nonce, plain, aad)
            continue
        valid = test["result"] == "valid"
        by_key.setdefault((key, group["tagSize"] // 8), []).append((nonce, plain, aad, cipher_text + tag, valid))
        if valid:
            assert aead.encrypt(nonce, plain, aad) == cipher_text + tag, test
            assert aead.decrypt(nonce, cipher_text + tag, aad) == plain, test
        else:
            with pytest.raises(tress.InvalidTag):
                aead.decrypt(nonce, cipher_text + tag, aad)
    assert by_key
    for (key, tag_length), cases in by_key.items():
        aead = aead_of(key, tag_length)
        opened = aead.decrypt_many([(nonce, sealed, aad) for nonce, _, aad, sealed, _ in cases], errors="none")
        assert opened == [plain if valid else None for _, plain, _, _, valid in cases]
    # All messages in one batch, each with its key. Some vectors share key and nonce.
    every = [(aead_of(*key), *case) for key, cases in by_key.items() for case in cases]
    opened = tress.decrypt_many([(aead, nonce, sealed, aad) for aead, nonce, _, aad, sealed, _ in every], errors="none")
    assert opened == [plain if valid else None for _, _, plain, _, _, valid in every]
    good = {
        (key[0], nonce): (aead_of(*key), nonce, plain, aad, sealed)
        for key, cases in by_key.items()
        for nonce, plain, aad, sealed, valid in cases
        if valid
    }
    assert tress.encrypt_many([case[:4] for case in good.values()]) == [case[4] for case in good.values()]


PAIRS: list[tuple[Any, Any, range]] = [
    (tress.AESCCM(data(key), tag), PyCA(data(key), tag), range(7, 14)) for key in (16, 24, 32) for tag in (4, 8, 10, 16)
]
PAIRS.append((tress.ChaCha20Poly1305(data(32)), PyCAChaCha(data(32)), range(12, 13)))


@pytest.mark.parametrize(("ours", "theirs", "nonces"), PAIRS)
def test_tress_and_pyca_read_each_other(ours: Any, theirs: Any, nonces: range) -> None:
    for nonce_length in nonces:
        for length in [0, 1, 15, 16, 17, 1000, 4096, 4097, 60_000]:
            nonce, plain = data(nonce_length), data(length)
            for aad in [None, b"", b"header", data(70_000)]:
                sealed = theirs.encrypt(nonce, plain, aad)
                assert ours.encrypt(nonce, plain, aad) == sealed
                assert ours.decrypt(nonce, sealed, aad) == plain
                buffer = bytearray(len(sealed))
                assert ours.encrypt_into(nonce, plain, aad, buffer) == len(sealed) and buffer == sealed
                back = bytearray(length)
                assert ours.decrypt_into(nonce, sealed, aad, back) == length and back == plain


@pytest.mark.parametrize(
    ("kind", "their_kind", "key", "wrong"),
    [
        (
            tress.AESCCM,
            PyCA,
            bytes(16),
            [(bytes(15), 16), (bytes(16), 3), (bytes(16), 5), (bytes(16), 18), ("k" * 16, 16), (b"", 16), ()],
        ),
        (
            tress.ChaCha20Poly1305,
            PyCAChaCha,
            bytes(32),
            [(bytes(31),), (bytes(33),), ("k" * 32,), (b"",), (bytes(32), 16), ()],
        ),
    ],
)
def test_interface_matches_pyca(kind: Any, their_kind: Any, key: bytes, wrong: list[tuple[Any, ...]]) -> None:
    """Calls return the same as PyCA's, or raise an exception of the same class, except InvalidTag."""

    def outcome(aead: object, call: str, *arguments: object) -> object:
        try:
            return getattr(aead, call)(*arguments)
        except cryptography.exceptions.InvalidTag:
            return "InvalidTag"
        except tress.InvalidTag:
            return "InvalidTag"
        except (ValueError, TypeError, OverflowError) as error:
            return [kind for kind in (ValueError, TypeError, OverflowError) if isinstance(error, kind)]

    ours, theirs = kind(key), their_kind(key)
    nonce, sealed = bytes(12), theirs.encrypt(bytes(12), b"plain", None)
    for call, *arguments in [
        ("encrypt", nonce, b"plain", None),
        ("encrypt", nonce, bytearray(b"plain"), memoryview(b"aad")),
        ("encrypt", bytes(6), b"", None),
        ("encrypt", bytes(14), b"", None),
        ("encrypt", b"", b"", None),
        ("encrypt", bytes(13), bytes(65537), None),
        ("encrypt", nonce, "plain", None),
        ("encrypt", "n", b"", None),
        ("encrypt", nonce, b"", "aad"),
        ("encrypt", nonce, b""),
        ("encrypt", nonce, 5, None),
        ("decrypt", nonce, sealed, None),
        ("decrypt", nonce, sealed, b"x"),
        ("decrypt", nonce, sealed[:15], None),
        ("decrypt", nonce, b"", None),
        ("decrypt", bytes(6), sealed, None),
        ("decrypt", bytes(6), b"", None),
        ("decrypt", nonce, "x" * 30, None),
        ("generate_key", 100),
        ("generate_key", "128"),
        ("encrypt", None, b"", None),
        ("encrypt_into", nonce, b"plain", None, bytearray(20)),
        ("encrypt_into", nonce, b"plain", None, bytearray(22)),
        ("decrypt_into", nonce, sealed, None, bytearray(4)),
        ("decrypt_into", nonce, sealed, None, bytearray(6)),
    ]:
        assert outcome(ours, str(call), *arguments) == outcome(theirs, str(call), *arguments), (call, arguments)
    for given in wrong:
        errors = []
        for one in (kind, their_kind):
            with pytest.raises((ValueError, TypeError)) as raised:
                one(*given)
            errors.append(isinstance(raised.value, TypeError))
        assert errors[0] == errors[1], given


def test_keys_are_generated() -> None:
    for bits in (128, 192, 256):
        assert len(tress.AESCCM.generate_key(bits)) == bits // 8
        assert tress.AESCCM.generate_key(bits) != tress.AESCCM.generate_key(bits)
    assert len(tress.ChaCha20Poly1305.generate_key()) == 32
    assert tress.ChaCha20Poly1305.generate_key() != tress.ChaCha20Poly1305.generate_key()


def test_into_buffers() -> None:
    aead, nonce = tress.AESCCM(bytes(16)), bytes(12)
    for length in [0, 1, 5000, 100_000]:
        plain = data(length)
        memory = bytearray(plain + bytes(16))
        assert aead.encrypt_into(nonce, memoryview(memory)[:length], b"a", memory) == length + 16
        assert memory == PyCA(bytes(16)).encrypt(nonce, plain, b"a")
        assert aead.decrypt_into(nonce, memory, b"a", memoryview(memory)[:length]) == length
        assert memory[:length] == plain
    memory = bytearray(b"x" * 116)
    with pytest.raises(tress.InvalidTag):
        aead.decrypt_into(nonce, bytes(116), None, memoryview(memory)[:100])
    assert memory[:100] == bytes(100) and memory[100:] == b"x" * 16
    with pytest.raises(BufferError):
        aead.encrypt_into(nonce, b"", None, bytes(16))
    with pytest.raises(BufferError):
        aead.encrypt_into(nonce, b"", None, np.zeros(32, np.uint8)[::2])  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        aead.encrypt_into(nonce, bytes(100), memoryview(memory)[3:9], memory)
    with pytest.raises(ValueError):
        aead.encrypt_into(bytes(3), bytes(100), None, memory)


@pytest.mark.parametrize("threads", [0, 1, 2, 7])
@pytest.mark.parametrize("tag", [8, 16])
def test_batches_equal_single_messages(threads: int, tag: int) -> None:
    chance = random.Random(threads)
    key = data(32)
    aead, theirs = (tress.AESCCM(key, 8), PyCA(key, 8)) if tag == 8 else (tress.ChaCha20Poly1305(key), PyCAChaCha(key))
    for count, longest in [(0, 0), (1, 10), (31, 50), (33, 20_000), (700, 3000), (3, 2_000_000)]:
        messages: list[tuple[bytes, bytes, bytes | None]] = [
            (
                data(chance.randint(7, 12) if tag == 8 else 12, str(n)),
                data(chance.randint(0, longest), str(n)),
                data(chance.choice([1, 13, 14, 500])) if n % 3 else None,
            )
            for n in range(count)
        ]
        expected = [theirs.encrypt(*message) for message in messages]
        assert aead.encrypt_many(messages, threads=threads) == expected
        assert aead.encrypt_many(iter(messages), threads=threads) == expected
        sealed = [(nonce, made, aad) for (nonce, _, aad), made in zip(messages, expected, strict=True)]
        assert aead.decrypt_many(sealed, threads=threads) == [plain for _, plain, _ in messages]
        all_sealed = bytearray(sum(map(len, expected)))
        assert aead.encrypt_many_into(messages, all_sealed, threads=threads) == len(all_sealed)
        assert all_sealed == b"".join(expected)
        all_plain = bytearray(sum(len(plain) for _, plain, _ in messages))
        assert aead.decrypt_many_into(sealed, memoryview(all_plain), threads=threads) == len(all_plain)
        assert all_plain == b"".join(plain for _, plain, _ in messages)
        forged = sorted(chance.sample(range(count), count // 3))
        for place in forged:
            nonce, made, aad = sealed[place]
            damaged = bytearray(made)
            damaged[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
            sealed[place] = (nonce, bytes(damaged) if place % 2 else made[: chance.randrange(8)], aad)
        opened = aead.decrypt_many(sealed, threads=threads, errors="none")
        assert opened == [None if n in forged else plain for n, (_, plain, _) in enumerate(messages)]
        if forged:
            with pytest.raises(tress.InvalidTag) as raised:
                aead.decrypt_many(sealed, threads=threads)
            assert raised.value.indices == forged
            # A message that is shorter than its tag has no plaintext in the buffer.
            rooms = [max(len(made) - tag, 0) for _, made, _ in sealed]
            rest = bytearray(b"?" * sum(rooms))
            with pytest.raises(tress.InvalidTag) as raised:
                aead.decrypt_many_into(sealed, rest, threads=threads)
            assert raised.value.indices == forged
            plains = zip(rooms, messages, strict=True)
            assert rest == b"".join(bytes(room) if n in forged else m[1] for n, (room, m) in enumerate(plains))


def test_batches_with_several_keys() -> None:
    keys = [(data(16 + 8 * (n % 3), str(n)), 16 - 2 * (n % 7)) for n in range(300)]
    ours: list[Any] = [tress.AESCCM(*key) for key in keys]
    theirs: list[Any] = [PyCA(*key) for key in keys]
    for n in range(4, 300, 5):
        ours[n], theirs[n] = tress.ChaCha20Poly1305(data(32, str(n))), PyCAChaCha(data(32, str(n)))
    # All messages have the same nonce.
    plain = [(bytes(12), data(n * 11, str(n)), bytes(n % 30) if n % 2 else None) for n in range(300)]
    messages = [(key, *message) for key, message in zip(ours, plain, strict=True)]
    sealed = [key.encrypt(*message) for key, message in zip(theirs, plain, strict=True)]
    for threads in (0, 1, 2):
        assert tress.encrypt_many(iter(messages), threads=threads) == sealed
        received = [(key, nonce, made, aad) for (key, nonce, _, aad), made in zip(messages, sealed, strict=True)]
        assert tress.decrypt_many(received, threads=threads) == [message[1] for message in plain]
        # A message with another key, and one that is shorter than its tag.
        received[7] = (ours[8], *received[7][1:])
        received[70] = (*received[70][:2], b"abc", None)
        opened = tress.decrypt_many(received, threads=threads, errors="none")
        assert [n for n, one in enumerate(opened) if one is None] == [7, 70]
        with pytest.raises(tress.InvalidTag) as raised:
            tress.decrypt_many(received, threads=threads)
        assert raised.value.indices == [7, 70]
    for wrong in [7, [plain[0]], [(keys[0][0], *plain[0])], [(theirs[0], *plain[0])], [(ours[0], "x", b"", None)]]:
        with pytest.raises(TypeError):
            tress.encrypt_many(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            tress.decrypt_many(wrong)  # type: ignore[call-overload]


def test_a_batch_of_one_buffer_that_an_iterator_refills() -> None:
    key, nonce, room = tress.AESCCM(bytes(16)), bytearray(12), bytearray(100)

    def messages() -> Iterator[tuple[bytearray, bytearray, bytearray]]:
        for n in range(5):
            nonce[:], room[:] = bytes([n]) * 12, bytes([n]) * 100
            yield nonce, room, room

    expected = [key.encrypt(bytes([n]) * 12, bytes([n]) * 100, bytes([n]) * 100) for n in range(5)]
    assert key.encrypt_many(messages()) == expected
    assert tress.encrypt_many((key, *message) for message in messages()) == expected


def test_a_nonce_twice_in_a_batch() -> None:
    one, same, other = tress.AESCCM(bytes(16)), tress.AESCCM(bytes(16), 8), tress.AESCCM(bytes(15) + b"1")
    for nonce in [bytes(7), bytes(12), b"nonce no. 01"]:
        before = [(bytes(11), b"a", None), (nonce, b"b", None)]
        after = [(b"later than 1", b"c", None), (nonce, b"d", None)]
        with pytest.raises(ValueError, match="message 3"):
            one.encrypt_many(before + after)
        buf = bytearray(68)
        with pytest.raises(ValueError):
            one.encrypt_many_into(before + after, buf)
        assert buf == bytes(68)
        with pytest.raises(ValueError, match="message 1"):
            tress.encrypt_many([(one, nonce, b"b", None), (same, nonce, b"d", None)])
        # The same nonce with another key, and a nonce with a zero appended.
        assert len(tress.encrypt_many([(one, nonce, b"b", None), (other, nonce, b"d", None)])) == 2
        assert len(one.encrypt_many([(nonce, b"b", None), (nonce + b"\0", b"d", None)])) == 2
    keys = [tress.ChaCha20Poly1305(bytes(31) + last) for last in (b"1", b"1", b"2")]
    with pytest.raises(ValueError, match="message 1"):
        tress.encrypt_many([(key, bytes(12), b"", None) for key in keys])
    assert len(tress.encrypt_many([(key, bytes(12), b"", None) for key in (keys[0], keys[2], one)])) == 3


def test_batches_refuse_wrong_buffers() -> None:
    aead = tress.AESCCM(bytes(16))
    messages = [(bytes(12), bytes(range(50)), b"a"), (bytes(11), bytes(7), None)]
    for wrong in [bytearray(88), bytearray(90), bytearray()]:
        with pytest.raises(ValueError):
            aead.encrypt_many_into(messages, wrong)
    with pytest.raises(BufferError):
        aead.encrypt_many_into(messages, bytes(89))
    with pytest.raises(BufferError):
        aead.encrypt_many_into(messages, memoryview(bytearray(178))[::2])
    with pytest.raises(TypeError):
        aead.encrypt_many_into(messages, None)  # type: ignore[arg-type]
    both = bytearray(200)
    view = memoryview(both)
    parts: list[tuple[bytes | memoryview, bytes | memoryview, memoryview | None]] = [
        (view[:12], b"", None),
        (bytes(12), view[10:], None),
        (bytes(12), b"", view[:3]),
    ]
    for part in parts:
        with pytest.raises(ValueError):
            aead.encrypt_many_into([part], view[: 16 + len(part[1])])
    # After a wrong nonce, no plaintext stays in the buffer.
    with pytest.raises(ValueError):
        aead.encrypt_many_into([messages[0], (bytes(6), bytes(7), None)], view[:89])
    assert both == bytes(200)
    # Input that overlaps with the buffer is not wiped, whatever is wrong with a nonce.
    both[:] = bytes(range(200))
    for nonces in [(bytes(12), bytes(6)), (bytes(12), bytes(12))]:
        with pytest.raises(ValueError, match="message 0 overlap"):
            aead.encrypt_many_into([(nonces[0], view[10:60], None), (nonces[1], b"", None)], view[:82])
    assert both == bytes(range(200))
    assert aead.encrypt_many_into([], bytearray()) == 0


def test_many_refuse_what_is_no_message() -> None:
    aead = tress.AESCCM(bytes(16))
    good = (bytes(12), b"", None)
    for wrong in [7, None, [7], [()], [(b"", b"")], [good, None], [[bytes(12), b"", None]], [(bytes(12), "x", None)]]:
        with pytest.raises(TypeError):
            aead.encrypt_many(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            aead.decrypt_many(wrong)  # type: ignore[arg-type]
    for nonce in [b"", bytes(6), bytes(14)]:
        with pytest.raises(ValueError):
            aead.encrypt_many([good, (nonce, b"", None)])
        with pytest.raises(ValueError):
            aead.decrypt_many([(nonce, bytes(20), None)])
    with pytest.raises(ValueError):
        aead.decrypt_many([], errors="ignore")  # type: ignore[call-overload]

    def fails() -> object:
        yield good
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        aead.encrypt_many(fails())  # type: ignore[arg-type]
