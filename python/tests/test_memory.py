"""Keys in memory: a program that has used the package and dropped its objects has no key in its memory.

The program stops itself, and is searched. Python does not wipe `bytes` and `str`, so the program reads keys into a
`bytearray` that it wipes. The stack of its main thread is not searched: a Python program cannot overwrite it.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
import tress
from conftest import data

PROGRAM = """
import gc, os, signal, sys
import tress

def read(path):
    secret = bytearray(os.stat(path).st_size)
    with open(path, "rb", 0) as file:
        assert file.readinto(secret) == len(secret)
    return secret

def keep(path):
    # Leaves the secret in memory, so that the search must find it.
    bytes(read(path))

def raw(path):
    secret = read(path)
    key = tress.RawKey(secret)
    secret[:] = bytes(len(secret))
    plain = bytes(range(256)) * 10_000
    container = tress.encrypt(plain, key)
    assert tress.decrypt(container, key) == plain
    opened = tress.Decryptor(key)
    assert opened.update(container) + opened.finalize() == plain
    with open(path + ".tress", "wb") as file:
        file.write(container)
    assert tress.open(path + ".tress", key).read() == plain

def cipher(path):
    secret = read(path)
    keys = [tress.AESCCM(secret), tress.ChaCha20Poly1305(secret)]
    secret[:] = bytes(len(secret))
    messages = [(bytes([number]) * 12, bytes(600), None) for number in range(40)]
    for key in keys:
        sealed = key.encrypt_many(messages, threads=2)
        key.decrypt(messages[0][0], sealed[0], None)

def sign(path):
    secret = read(path)
    key = tress.PrivateKey.from_pem(secret)
    secret[:] = bytes(len(secret))
    key.sign(b"one")
    key.sign_batch([bytes([number]) for number in range(20)])

def text(path):
    # The text of the identity stays in Python's memory, and is not searched for.
    pair = tress.KeyPair.parse(read(path).decode())
    pairs = [pair] * 9
    assert tress.decrypt(tress.encrypt(b"plain", pair), pairs) == b"plain"
    pair.identity_file()

globals()[sys.argv[1]](sys.argv[2])
gc.collect()
os.kill(os.getpid(), signal.SIGSTOP)
"""


def find_secrets(role: str, path: pathlib.Path, **secrets: pathlib.Path) -> list[str]:
    """Runs a role and returns the secrets found in its memory (`crates/cli/tests/memory/memory_scan.rs`)."""
    if "MEMORY_SCAN" not in os.environ:
        assert "CI" not in os.environ, "MEMORY_SCAN does not name the program memory_scan"
        pytest.skip("set MEMORY_SCAN")
    with subprocess.Popen([sys.executable, "-c", PROGRAM, role, str(path)]) as child:
        try:
            command = [os.environ["MEMORY_SCAN"], str(child.pid), *(f"{kind}={file}" for kind, file in secrets.items())]
            found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        finally:
            child.kill()
    return [line for line in found.splitlines() if not line.endswith(" in [stack]")]


def test_search_finds_a_kept_secret(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "secret"
    path.write_text(data(400, "kept").hex(), encoding="utf-8")
    assert find_secrets("keep", path, text=path)


@pytest.mark.parametrize("role", ["raw", "cipher"])
def test_raw_keys(tmp_path: pathlib.Path, role: str) -> None:
    path = tmp_path / "key"
    path.write_bytes(tress.RawKey.generate())
    container = {"container": path.with_name(path.name + ".tress")} if role == "raw" else {}
    assert find_secrets(role, path, raw=path, **container) == []


@pytest.mark.parametrize("kind", ["rsa-2048", "dsa-2048", "schnorr-2048"])
def test_signing_keys(tmp_path: pathlib.Path, kind: str) -> None:
    path = tmp_path / "key"
    path.write_text(tress.PrivateKey.generate(kind).to_pem(), encoding="utf-8")
    assert find_secrets("sign", path, pem=path) == []


def test_key_pairs(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "key"
    path.write_text(tress.KeyPair.generate().identity_file(), encoding="utf-8")
    assert [line for line in find_secrets("text", path, identity=path) if "as text" not in line] == []
