"""age and Cobblestone files: what pyrage and PyCA write and read, in every interface."""

from __future__ import annotations

import io
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any, cast

import pyrage
import pytest
import tress
from conftest import ROOT, data
from cryptography import cobblestone

LENGTHS = [0, 1, 16383, 16384, 16385, 65535, 65536, 65537, 524287, 524288, 524289, 3_000_000]
KEYS = ROOT / "crates" / "cli" / "tests" / "fixtures" / "keys"


def check_opens(sealed: bytes, plain: bytes, key: Any, folder: pathlib.Path) -> None:
    """Opens a file in every way."""
    assert tress.decrypt(sealed, key) == plain
    copy = io.BytesIO()
    tress.decrypt_stream(io.BytesIO(sealed), copy, key)
    assert copy.getvalue() == plain
    (folder / "sealed").write_bytes(sealed)
    tress.decrypt_file(folder / "sealed", folder / "back", key, range=(len(plain) // 3, None), force=True)
    assert (folder / "back").read_bytes() == plain[len(plain) // 3 :]
    with tress.open(folder / "sealed", key) as file:
        assert file.seek(len(plain) // 2) == len(plain) // 2 and file.read() == plain[len(plain) // 2 :]
    found = tress.inspect(folder / "sealed", key)
    assert found["verified"] and found["plaintext_bytes"] == len(plain) and found["version"] == "v1"


def sealed_in_all_ways(plain: bytes, key: Any, folder: pathlib.Path, format: str = "tress") -> list[bytes]:
    (folder / "plain").write_bytes(plain)
    tress.encrypt_file(folder / "plain", folder / "out", key, force=True, format=format)
    stream, created = io.BytesIO(), io.BytesIO()
    tress.encrypt_stream(io.BytesIO(plain), stream, key, format=format)
    with tress.create(created, key, format=format) as file:
        file.write(plain)
    whole = tress.encrypt(plain, key, format=format)
    return [(folder / "out").read_bytes(), stream.getvalue(), created.getvalue(), whole]


@pytest.mark.parametrize("kind", ["x25519", "ssh", "passphrase", "post-quantum"])
def test_age_files_there_and_back(kind: str, tmp_path: pathlib.Path) -> None:
    theirs, recipient, key, to = (cast(Any, None) for _ in range(4))
    if kind == "x25519":
        theirs = pyrage.x25519.Identity.generate()
        recipient, key, to = str(theirs.to_public()), str(theirs), theirs.to_public()
    elif kind == "ssh":
        key, secret = KEYS / "ssh_ed25519", (KEYS / "ssh_ed25519").read_bytes()
        line = next(line for line in (KEYS / "recipients.txt").read_text().splitlines() if line[:11] == "ssh-ed25519")
        theirs, recipient, to = pyrage.ssh.Identity.from_buffer(secret), line, pyrage.ssh.Recipient.from_str(line)
    elif kind == "passphrase":
        recipient = key = tress.Passphrase("side by side", work_factor=10, max_work_factor=22)
    else:
        key = tmp_path / "key"
        subprocess.run([tress.command(), "keygen", "--pq", "-o", key], check=True, stdout=subprocess.DEVNULL)
        recipient = next(word for word in key.read_text().split() if word.startswith("age1pq1"))
    for length in LENGTHS if kind == "x25519" else [0, 65536, 100_000]:
        plain = data(length)
        for sealed in sealed_in_all_ways(plain, recipient, tmp_path, format="age"):
            assert sealed.startswith(b"age-encryption.org/v1\n")
            if kind == "passphrase":
                assert pyrage.passphrase.decrypt(sealed, "side by side") == plain
            elif theirs is not None:
                assert pyrage.decrypt(sealed, [theirs]) == plain
            check_opens(sealed, plain, key, tmp_path)
        tress.encrypt_file(tmp_path / "plain", tmp_path / "text", recipient, format="age", armor=True, force=True)
        text = (tmp_path / "text").read_bytes()
        assert text.startswith(b"-----BEGIN AGE ENCRYPTED FILE-----\n")
        check_opens(text, plain, key, tmp_path)
        if theirs is not None:
            assert pyrage.decrypt(text, [theirs]) == plain
            for armored in (False, True):
                check_opens(pyrage.encrypt(plain, [to], armored=armored), plain, key, tmp_path)
    assert tress.inspect(tmp_path / "out", format="age")["format"] == "age"


def pushed(stream: Any, twin: Any, whole: bytes, piece: int, spare: int) -> Any:
    """Each call returns as much as PyCA's, and PyCA's advice for the length of a buffer is enough."""
    out = b""
    for at in range(0, len(whole), piece):
        part = whole[at : at + piece]
        buffer = bytearray(len(part) + len(part) // 1024 + spare)
        count = stream.update_into(part, buffer)
        assert count == len(twin.update(part))
        out += buffer[:count]
    return out + stream.finalize()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("key_bytes", [16, 32])
def test_cobblestone_files_there_and_back(key_bytes: int, length: int, tmp_path: pathlib.Path) -> None:
    names = [f"Cobblestone{8 * key_bytes}{name}" for name in ("Encryptor", "Decryptor")]
    (ours, opens), (pyca, pyca_opens) = ([getattr(module, name) for name in names] for module in (tress, cobblestone))
    key, plain, context = ours.generate_key(), data(length), b"a context"
    both = tress.CobblestoneKey(key, context)
    files = sealed_in_all_ways(plain, both, tmp_path)
    for encryptor in (pyca(key, context), ours(key, context), ours(key, context, threads=3)):
        files.append(encryptor.update(plain) + encryptor.finalize())
    for sealed in files:
        decryptor = pyca_opens(key, context)
        assert decryptor.update(sealed) + decryptor.finalize() == plain
    for sealed in files[:1] + files[4:]:
        check_opens(sealed, plain, both, tmp_path)
    with tress.open(tmp_path / "sealed", key, format=f"cobblestone-{8 * key_bytes}", context=context) as file:
        assert file.read() == plain
    for piece in [999_999, 16400, 5000]:
        sealed = pushed(ours(key, context), pyca(key, context), plain, piece, 16456)
        assert pushed(opens(key, context), pyca_opens(key, context), sealed, piece, 16400) == plain


def test_wrong_formats_and_keys(key: tress.KeyPair, tmp_path: pathlib.Path) -> None:
    raw, path = bytes(range(16)), tmp_path / "sealed"
    path.write_bytes(tress.encrypt(b"plain", tress.CobblestoneKey(raw)))
    cases: list[tuple[Any, str, Callable[[], object]]] = [
        (tress.Damaged, "commitment", lambda: tress.inspect(path, tress.CobblestoneKey(raw, b"other"))),
        (tress.Damaged, "not-a-container", lambda: tress.decrypt(path.read_bytes(), key)),
        (tress.Damaged, "other-format", lambda: tress.inspect(path, format="age")),
        (tress.Damaged, "armor-damaged", lambda: tress.decrypt(b"-----BEGIN AGE ENCRYPTED FILE-----\n!\n", key)),
        (tress.Usage, "key-file-length", lambda: tress.CobblestoneKey(bytes(17))),
        (tress.Usage, "key-file-length", lambda: tress.CobblestoneKey(b"0123456789abcdef")),
        (tress.Usage, "key-file-length", lambda: tress.open(path, raw, format="cobblestone-256")),
        (tress.Usage, "usage", lambda: tress.open(path, raw, format="age")),
        (tress.Usage, "usage", lambda: tress.encrypt(b"", key, format="pgp")),
        (tress.Usage, "usage", lambda: tress.encrypt(b"", key, format="age", name="n")),
        (tress.Usage, "usage", lambda: tress.encrypt(b"", key, format="age", aead="aes-128-ccm")),
        (tress.Usage, "usage", lambda: tress.encrypt_file(path, tmp_path / "no", key, armor=True)),
        (tress.Usage, "usage", lambda: tress.encrypt_file(tmp_path, tmp_path / "no", key, format="age")),
    ]
    for failing, kind, call in cases:
        with pytest.raises(failing) as raised:
            call()
        assert raised.value.kind == kind, raised.value
    assert not (tmp_path / "no").exists()
    buffer = bytearray(100_000)
    with pytest.raises(ValueError):
        tress.Cobblestone128Encryptor(raw, b"").update_into(memoryview(buffer)[:50_000], buffer)


@pytest.mark.parametrize("format", ["tress", "age"])
def test_the_content_of_a_short_file_is_known_at_the_end(key: tress.KeyPair, format: str) -> None:
    decryptor = tress.Decryptor(key)
    plain = decryptor.update(tress.encrypt(b"plain", key, format=format)) + decryptor.finalize()
    assert (plain, decryptor.content_type) == (b"plain", "file")
