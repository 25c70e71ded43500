"""Runs PyCA's tests of AESCCM, ChaCha20Poly1305 and Cobblestone with the classes of Tress."""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
import urllib.request

import cryptography
import pytest
import tress
from conftest import ROOT

VERSION = "50.0.2"
SOURCE = (
    "https://files.pythonhosted.org/packages/9d/af/182eb91b0df3fe75c4d9f26fe70684569566745f6ba7e5c9c73a862c5252/"
    f"cryptography-{VERSION}.tar.gz"
)
SHA256 = "7b46165bb56eb4704e2eaaf86f3c940d19154535d9b0ca7d6d590b04060e00d5"
# Files, the tests in them, and how many pass at least.
TESTS = [
    ("hazmat/primitives/test_aead.py", "TestAESCCM", 28),
    ("hazmat/primitives/test_aead.py", "TestChaCha20Poly1305", 20),
    ("test_cobblestone.py", "", 90),
]

# Calls after the end of a stream raise `Usage`, as everywhere in Tress.
PLUGIN = """
import tress
from cryptography import cobblestone, exceptions
from cryptography.hazmat.primitives.ciphers import aead

aead.AESCCM, aead.ChaCha20Poly1305 = tress.AESCCM, tress.ChaCha20Poly1305
exceptions.AlreadyFinalized = tress.Usage
for name in tress.__all__:
    if hasattr(cobblestone, name):
        setattr(cobblestone, name, getattr(tress, name))
"""


def source() -> bytes:
    """Returns PyCA's source distribution, cached in target/."""
    kept = ROOT / "target" / f"cryptography-{VERSION}.tar.gz"
    for pause in (1, 5, 20, None):
        if kept.exists():
            break
        try:
            with urllib.request.urlopen(SOURCE, timeout=60) as response:
                part = kept.with_suffix(f".{os.getpid()}")
                part.write_bytes(response.read())
                part.rename(kept)
        except (OSError, http.client.HTTPException):
            if pause is None:
                raise
            time.sleep(pause)
    archive = kept.read_bytes()
    assert hashlib.sha256(archive).hexdigest() == SHA256
    return archive


@pytest.mark.parametrize(("file", "which", "count"), TESTS)
def test_pycas_tests(file: str, which: str, count: int, tmp_path: pathlib.Path) -> None:
    assert cryptography.__version__ == VERSION, "the tests are those of the version that is installed"
    with tarfile.open(fileobj=io.BytesIO(source())) as archive:
        archive.extractall(tmp_path, [member for member in archive if "/tests/" in member.name])
    tests = tmp_path / f"cryptography-{VERSION}"
    (tests / "as_pyca.py").write_text(PLUGIN, encoding="utf-8")
    line = [sys.executable, "-m", "pytest", "-q", "-p", "as_pyca", "-p", "no:cacheprovider", "-k", which]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}
    run = subprocess.run([*line, f"tests/{file}"], cwd=tests, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed and int(passed[1]) >= count, run.stdout


def test_invalid_tag_is_pycas_if_imported() -> None:
    """InvalidTag derives from PyCA's class only in programs that import PyCA. Tress never imports it."""
    program = """
import sys, tress
def caught():
    try:
        tress.AESCCM(bytes(16)).decrypt(bytes(12), bytes(20), None)
    except tress.InvalidTag as error:
        return error
assert "cryptography" not in sys.modules
assert type(caught()).__mro__[2].__module__ == "tress._errors", type(caught()).__mro__
import cryptography.exceptions
assert isinstance(caught(), cryptography.exceptions.InvalidTag)
assert isinstance(caught(), tress.Damaged) and caught().indices == [] and caught().kind == "cipher-authentication"
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(tress.InvalidTag):
        tress.AESCCM(bytes(16)).decrypt(bytes(12), b"", None)
