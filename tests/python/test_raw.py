"""`tress raw` against PyCA's AES and against the Python ciphers of tools/vectors, on random messages and backends.

    TRESS=target/release/tress target/venv/bin/python -m pytest -q tests/python/test_raw.py

CASES is the number of cases for each cipher (default 30), SEED the seed (default: the date; a failure prints it).
"""

import datetime
import json
import os
import pathlib
import random
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers import modes as pyca_modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, ChaCha20Poly1305

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "vectors"))

import lea  # noqa: E402
import modes  # noqa: E402
import pipo  # noqa: E402
import rc6  # noqa: E402
import rijndael  # noqa: E402

TRESS = os.environ.get("TRESS")
CASES = int(os.environ.get("CASES", "30"))
SEED = os.environ.get("SEED", datetime.date.today().isoformat())


def tress(*arguments, data=b"", status=0):
    done = subprocess.run([TRESS, *arguments], input=data, capture_output=True, check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout


def pad(data, size):
    padder = padding.PKCS7(8 * size).padder()
    return padder.update(data) + padder.finalize()


def by_pyca(mode, key, iv, data, aad, tag_bytes):
    if mode == "poly1305":
        return ChaCha20Poly1305(key).encrypt(iv, data, aad)
    if mode == "ccm":
        return AESCCM(key, tag_length=tag_bytes).encrypt(iv, data, aad)
    mode = {"ecb": lambda _: pyca_modes.ECB(), "cbc": pyca_modes.CBC, "ctr": pyca_modes.CTR}[mode](iv)
    return Cipher(algorithms.AES(key), mode).encryptor().update(data)


def by_hand(make, size):
    """The modes of tools/vectors over a cipher of tools/vectors. `make` turns a key into a function that encrypts a block."""

    def encrypt(mode, key, iv, data, aad, tag_bytes):
        one = make(key)
        return {
            "ecb": lambda: modes.ecb(one, size, data),
            "cbc": lambda: modes.cbc(one, iv, data),
            "ctr": lambda: modes.ctr(one, iv, data),
            "ccm": lambda: b"".join(modes.ccm(one, iv, aad, data, tag_bytes)),
        }[mode]()

    return encrypt


def families():
    """(name, bytes of a block, bytes of a key, reference, longest message)."""
    for bits in (128, 192, 256):
        yield f"aes-{bits}", 16, bits // 8, by_pyca, 40_000
        yield f"lea-{bits}", 16, bits // 8, by_hand(lea.cipher, 16), 3000
        yield f"rc6-{bits}", 16, bits // 8, by_hand(rc6.cipher, 16), 3000
    yield "chacha20", 16, 32, by_pyca, 40_000
    for bits in (128, 256):
        yield f"pipo-{bits}", 8, bits // 8, by_hand(lambda key: lambda block: pipo.encrypt_bytes(key, block), 8), 700
    for block in (128, 160, 192, 224, 256):
        for key in (128, 160, 192, 224, 256):
            judge = by_hand(lambda key, size=block // 8: rijndael.Rijndael(key, size).encrypt, block // 8)
            yield f"rijndael-{block}-{key}", block // 8, key // 8, judge, 700


@pytest.mark.skipif(TRESS is None and "CI" not in os.environ, reason="TRESS does not say where the program is")
def test_raw_is_what_others_compute():
    assert TRESS, "TRESS has to say where the program is"
    print(f"SEED={SEED}")
    listed = {entry["name"]: entry for entry in json.loads(tress("ciphers", "--json"))}
    known = list(families())
    assert {name for name, *_ in known} == set(listed)
    for name, size, key_bytes, judge, longest in known:
        draw = random.Random(f"{SEED} {name}")
        backends = [entry["name"] for entry in listed[name]["backends"] if entry["available"]]
        for case in range(CASES if "rijndael" not in name else -(-CASES // 5)):
            one_of_them(draw, name, size, key_bytes, judge, longest, draw.choice(backends), f"{name} case {case}")


def one_of_them(draw, name, size, key_bytes, judge, longest, backend, what):
    mode = draw.choice(["ecb", "cbc", "ctr"] + ["ccm"] * (size == 16)) if "-" in name else "poly1305"
    key = draw.randbytes(key_bytes)
    length = draw.choice([draw.randrange(5 * size), draw.randrange(longest)])
    data, aad, tag_bytes = draw.randbytes(length), b"", 16
    arguments = ["--cipher", f"{name}-{mode}", "--key", key.hex(), "--backend", backend]
    iv = draw.randbytes(size)
    if mode == "ctr" and name.startswith("pipo"):
        # The counter has sixteen bits, and must not overflow.
        iv = iv[:6] + draw.randrange(2**16 - longest // 8 - 1).to_bytes(2, "big")
    if mode == "ccm":
        iv, tag_bytes = iv[:draw.randrange(7, 14)], draw.randrange(4, 18, 2)
    if mode == "poly1305":
        iv = iv[:12]
    if mode in ("ccm", "poly1305"):
        aad = draw.randbytes(draw.randrange(60))
        arguments += ["--aad", aad.hex(), "--tag-length", str(tag_bytes)]
        if len(iv) == 13:
            data = data[:65535]
    if mode != "ecb":
        arguments += ["--iv", iv.hex()]
    given = data
    if mode in ("ecb", "cbc"):
        if draw.random() < 0.5:
            given = pad(data, size)
        else:
            given = data = data[:length - length % size]
            arguments.append("--no-padding")
    expected = judge(mode, key, iv, given, aad, tag_bytes)
    what = f"{what}: {mode}, {len(data)} bytes on {backend}, SEED={SEED}"
    assert tress("raw", "encrypt", *arguments, data=data) == expected, what
    assert tress("raw", "decrypt", *arguments, data=expected) == data, what
    if mode in ("ccm", "poly1305"):
        # After a change of any bit, nothing is written.
        damaged = bytearray(expected)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        assert tress("raw", "decrypt", *arguments, data=bytes(damaged), status=1) == b"", what
