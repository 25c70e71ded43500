"""Helpers of the tests: keys, test vectors, pseudo-random data."""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import tress

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The independent reader of containers.
sys.path.insert(0, str(ROOT / "tests" / "python"))

# Lengths around a chunk of 16 KiB and a batch of 32 chunks, and one that occupies several threads.
LENGTHS = [0, 1, 16383, 16384, 16385, 32 * 16384 - 1, 32 * 16384, 5_000_000]


@pytest.fixture(scope="session")
def key() -> tress.KeyPair:
    return tress.KeyPair.generate()


def data(length: int, seed: str = "") -> bytes:
    """Returns pseudo-random bytes that depend only on `length` and `seed`."""
    return hashlib.shake_128(f"{seed}{length}".encode()).digest(length)


def vectors(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields every test with its group from a file of vectors/."""
    file = json.loads((ROOT / "vectors" / f"{name}.json").read_text(encoding="utf-8"))
    count = 0
    for group in file["testGroups"]:
        for test in group["tests"]:
            count += 1
            yield group, test
    assert count == file["numberOfTests"]
