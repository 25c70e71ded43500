"""Keys in memory: a program that has used the package and dropped its objects has no key in its memory.

The program stops itself, and is searched. Python does not wipe `bytes` and `str`, so the program reads keys into a
`bytearray` that it wipes. The stack of its main thread is not searched: a Python program cannot overwrite it.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

import memory_scan
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
    key = tress.AESCCM(secret)
    secret[:] = bytes(len(secret))
    messages = [(bytes([number]) * 12, bytes(600), None) for number in range(40)]
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


def find_secrets(role: str, path: pathlib.Path, secrets: memory_scan.Secrets) -> list[str]:
    """Runs a role and returns the secrets found in its memory, including keys of a container that it wrote."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM, role, str(path)]) as child:
        try:
            memory_scan.wait_until_stopped(child.pid)
            container = path.with_name(path.name + ".tress")
            if container.exists():
                secrets.container(container.read_bytes(), path.read_bytes())
            return secrets.find(child.pid, without=["[stack]"])
        finally:
            child.kill()


def test_search_finds_a_kept_secret(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(data(400, "kept"))
    assert find_secrets("keep", path, memory_scan.Secrets().add("kept", data(400, "kept")))


@pytest.mark.parametrize("role", ["raw", "cipher"])
def test_raw_keys(tmp_path: pathlib.Path, role: str) -> None:
    path = tmp_path / "key"
    path.write_bytes(tress.RawKey.generate())
    assert find_secrets(role, path, memory_scan.Secrets().raw(path.read_bytes())) == []


@pytest.mark.parametrize("kind", ["rsa-2048", "dsa-2048", "schnorr-2048"])
def test_signing_keys(tmp_path: pathlib.Path, kind: str) -> None:
    path = tmp_path / "key"
    path.write_text(tress.PrivateKey.generate(kind).to_pem(), encoding="utf-8")
    assert find_secrets("sign", path, memory_scan.Secrets().pem(path.read_text(encoding="utf-8"))) == []


def test_key_pairs(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "key"
    path.write_text(tress.KeyPair.generate().identity_file(), encoding="utf-8")
    secrets = memory_scan.Secrets().identity(path.read_text(encoding="utf-8"))
    secrets.pieces = {piece: name for piece, name in secrets.pieces.items() if "as text" not in name}
    assert find_secrets("text", path, secrets) == []
