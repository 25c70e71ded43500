"""The protocol tress of fsspec over S3, with the server that datasets have."""

from __future__ import annotations

import errno
import random
from pathlib import Path
from typing import Any

import fsspec
import pytest
import tress

PLAIN = random.Random(1).randbytes(12_000_000)


def test_s3(server: Any, tmp_path: Path) -> None:
    pair = tress.KeyPair.generate()
    pair.save(tmp_path / "key")
    (tmp_path / "recipients").write_text(pair.recipient)
    options = {"identity": str(tmp_path / "key"), "recipients": str(tmp_path / "recipients"), "s3": server.options()}
    fs, path = fsspec.url_to_fs("tress::s3://bucket/x", **options)
    with fs.open(path, "wb", block_size=5 << 20) as file:
        file.write(PLAIN)
        assert not fs.exists(path)
    for discarded in ("y", "x"):
        with pytest.raises(ZeroDivisionError), fs.open(f"bucket/{discarded}", "wb") as file:
            file.write(PLAIN)
            raise ZeroDivisionError
    with fs.transaction:
        fs.pipe_file("bucket/t", b"1")
        assert not fs.exists("bucket/t")
    assert sorted(fs.ls("bucket", detail=False)) == ["bucket/t", "bucket/x"] == list(fs.find("bucket", detail=True))
    assert fs.cat_file("bucket/t") == b"1" and fs.size(path) == len(PLAIN) and fs.cat_file(path) == PLAIN
    with fs.open(path) as file:
        assert file.read(10) == PLAIN[:10]
        fs.fs.pipe_file(path, tress.encrypt(PLAIN[::-1], pair))
        with pytest.raises(OSError, match="bucket/x") as caught:
            file.read()
        assert caught.value.errno == errno.ESTALE
    assert fs.cat_ranges([path, path], [5, -9], [10, None]) == [PLAIN[::-1][5:10], PLAIN[::-1][-9:]]
    wrong = server.options(secret="wrong")
    fs = fsspec.filesystem("tress", target_protocol="s3", target_options=wrong, identity=options["identity"])
    with pytest.raises(PermissionError):
        fs.cat_file(path)
