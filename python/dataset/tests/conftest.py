"""Fixtures of the dataset tests: keys, temporary folders, the S3 server."""

from __future__ import annotations

import multiprocessing.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dataset_support
import pytest


class KeyFixture:
    """Two key pairs, and an independent reader of containers."""

    def __init__(self) -> None:
        import pyrage

        first, second = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
        self.recipient, self.identity = str(first.to_public()), str(first)
        self.other_recipient, self.other_identity = str(second.to_public()), str(second)
        self._first = first

    def read(self, container: bytes) -> bytes:
        """Decrypts a container with the independent reader."""
        import tress_reader

        plain: bytes = tress_reader.decrypt(container, self._first)[0]
        return plain


@pytest.fixture(scope="session", autouse=True)
def _temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sets a temporary folder for lists of failed objects. Its path is short, because sockets use it."""
    tmp_path_factory.getbasetemp()  # created before, so that it stays in the usual place
    multiprocessing.util.get_temp_dir()  # created before, because it outlives the folder
    with (
        tempfile.TemporaryDirectory(prefix="tress-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="session")
def keys() -> KeyFixture:
    return KeyFixture()


@pytest.fixture(scope="session")
def versitygw() -> str:
    """The program of the S3 server, which `tools/setup dataset` installs."""
    program = os.environ.get("VERSITYGW") or str(dataset_support.ROOT / "target" / "tools" / "versitygw")
    found = shutil.which(program)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no versitygw: run tools/setup dataset")
        pytest.skip("no versitygw: run tools/setup dataset; NOTHING ABOUT S3 IS TESTED")
    return found


@pytest.fixture
def server(versitygw: str, tmp_path: Path) -> Iterator[dataset_support.S3Server]:
    """A separate S3 server with a bucket named `bucket`."""
    one = dataset_support.S3Server(versitygw, tmp_path / "s3")
    yield one
    one.stop()
