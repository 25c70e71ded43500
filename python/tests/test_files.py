"""Files and folders, and the command that comes with the package."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
import tress
from conftest import data


def test_files_there_and_back(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    plain = data(3_000_000)
    source, sealed, back = tmp_path / "plain", str(tmp_path / "sealed"), tmp_path / "back"
    source.write_bytes(plain)
    report = tress.encrypt_file(source, sealed, key, aead="aes-256-ccm")
    assert (report.bytes_in, report.bytes_out, report.chunks) == (3_000_000, os.path.getsize(sealed), 184)
    assert report.elapsed_s > 0
    assert tress.decrypt_file(sealed, back, key).bytes_out == 3_000_000
    assert back.read_bytes() == plain == tress.decrypt(pathlib.Path(sealed).read_bytes(), key)
    for start, end in [(0, 1), (16384, 16385), (1_000_000, None), (5, 5), (2_999_999, 3_000_000)]:
        tress.decrypt_file(sealed, back, key, range=(start, end), force=True)
        assert back.read_bytes() == plain[start:end]
    for wrong in [(3_000_000, 3_000_001), (5, 4)]:
        with pytest.raises(ValueError):
            tress.decrypt_file(sealed, back, key, range=wrong, force=True)


def test_folders_there_and_back(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "folder" / "inner"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(data(100_000))
    tress.encrypt_file(tmp_path / "folder", tmp_path / "sealed", key)
    tress.decrypt_file(tmp_path / "sealed", tmp_path / "back", key)
    assert (tmp_path / "back" / "inner" / "a").read_bytes() == data(100_000)


def test_failures_leave_no_files(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    source = tmp_path / "plain"
    source.write_bytes(data(1_000_000))
    with pytest.raises(FileNotFoundError) as missing:
        tress.encrypt_file(tmp_path / "missing", tmp_path / "x", key)
    assert missing.value.filename == str(tmp_path / "missing") and missing.value.errno == 2
    with pytest.raises(tress.TressError) as same:
        tress.encrypt_file(source, source, key, force=True)
    assert same.value.kind == "output-is-input"
    tress.encrypt_file(source, tmp_path / "sealed", key)
    with pytest.raises(FileExistsError) as there:
        tress.encrypt_file(source, tmp_path / "sealed", key)
    assert isinstance(there.value, tress.OutputExists) and there.value.kind == "output-exists"
    tress.encrypt_file(source, tmp_path / "sealed", key, force=True)
    with pytest.raises(tress.WrongKey):
        tress.decrypt_file(tmp_path / "sealed", tmp_path / "back", tress.KeyPair.generate())
    damaged = bytearray((tmp_path / "sealed").read_bytes())
    damaged[-100_000] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(tress.Damaged):
        tress.decrypt_file(tmp_path / "damaged", tmp_path / "back", key)

    def stop(done: int, total: int | None) -> None:
        raise ZeroDivisionError

    big = tmp_path / "big"
    with open(big, "wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(ZeroDivisionError):
        tress.encrypt_file(big, tmp_path / "never", key, progress=stop)
    assert sorted(os.listdir(tmp_path)) == ["big", "damaged", "plain", "sealed"]
    for wrong in [3, None, b"\0"]:
        with pytest.raises((TypeError, ValueError, OSError)):
            tress.encrypt_file(wrong, tmp_path / "x", key)  # type: ignore[arg-type]


def test_progress(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    big, seen = tmp_path / "big", []
    with open(big, "wb") as file:
        file.truncate(400 << 20)
    tress.encrypt_file(big, tmp_path / "x", key, threads=1, progress=lambda *figures: seen.append(figures))
    assert seen and all(total in (None, 400 << 20) for _, total in seen)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_rewrap_and_inspect(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    path, other = tmp_path / "x", tress.KeyPair.generate()
    path.write_bytes(tress.encrypt(data(40_000), [key, tress.RawKey(bytes(16))], name="inner"))
    blind = tress.inspect(path)
    assert blind == {
        "format": "tress",
        "version": "v1",
        "aead": "aes-128-ccm",
        "recipients": ["X25519", "tress-raw-key"],
        "header_bytes": 4096,
        "chunks": 3,
        "plaintext_bytes": 40_000,
        "verified": False,
        "content_type": None,
        "name": None,
    }
    assert tress.inspect(path, key) == blind | {"verified": True, "content_type": "file", "name": "inner"}
    with pytest.raises(tress.WrongKey):
        tress.rewrap_file(path, other, key)
    tress.rewrap_file(path, key, other)
    assert tress.decrypt(path.read_bytes(), other) == data(40_000)
    with pytest.raises(tress.WrongKey):
        tress.inspect(path, key)


def test_the_command_comes_with_the_package(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    assert tress.command().parent == pathlib.Path(sys.executable).parent.resolve() or tress.command().is_file()
    (tmp_path / "key").write_text(key.identity_file())
    (tmp_path / "sealed").write_bytes(tress.encrypt(data(100_000), key))
    for command in ([str(tress.command())], [sys.executable, "-m", "tress"]):
        arguments = [*command, "decrypt", "-i", str(tmp_path / "key"), str(tmp_path / "sealed")]
        assert subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout == data(100_000)
        assert subprocess.run([*command, "no-such-verb"], stderr=subprocess.DEVNULL).returncode == 2
