"""The container format between two implementations: tress, and tress_reader.py, which was written from the page.

    tools/setup python
    TRESS=target/release/tress target/venv/bin/python tests/python/test_container.py

Or `TRESS=... target/venv/bin/python -m pytest tests/python`. Exit status 0 when everything agrees. Without TRESS only the
vectors are run through the Python reader, and the program says so; with CI set, a missing TRESS is a failure.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import pyrage

import age_by_hand as age
import tress_reader as tress

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "container"
LENGTHS = [0, 1, 16383, 16384, 16385, 3 * 16384 + 1000]
# pyrage has no kinds of errors, so these cannot be distinguished.
ALIKE = {"NoMatchingKey", "WrongPassphrase", "WorkFactorTooHigh", "HeaderDamaged", "HeaderTooLarge"}


def identity(entry):
    value = entry["value"]
    match entry["type"]:
        case "age":
            return pyrage.x25519.Identity.from_str(value)
        case "ssh":
            return pyrage.ssh.Identity.from_buffer(value.encode())
        case "raw-key":
            return bytes.fromhex(value)
        case "passphrase":
            return value


def run_vectors():
    index = json.loads((VECTORS / "index.json").read_text(encoding="utf-8"))
    tests = [test for group in index["testGroups"] for test in group["tests"]]
    archive = tarfile.open(VECTORS / "containers.tar")
    for test in tests:
        container = archive.extractfile(test["file"]).read()
        try:
            plaintext, kind, name = tress.decrypt(container, identity(index["identities"][test["identity"]]))
        except tress.ContainerError as error:
            expected = test.get("error")
            assert error.kind == expected or {error.kind, expected} <= ALIKE, (test["name"], error.kind)
            assert error.chunk == test.get("chunk"), test["name"]
        else:
            # The Python reader does not limit the number of stanzas.
            if test.get("error") == "HeaderTooLarge" and test["name"] == "stanzas-1025":
                continue
            assert test["result"] == "valid", test["name"]
            assert hashlib.sha256(plaintext).hexdigest() == test["plaintextSha256"], test["name"]
            assert (kind.decode(), name) == (test["contentType"], test["contentName"]), test["name"]
    return len(tests)


def call(program, *arguments, data=None):
    return subprocess.run([program, *map(str, arguments)], input=data, capture_output=True, check=True)


def both_ways(program, folder):
    call(program, "keygen", "-o", folder / "alice")
    secret = next(line for line in (folder / "alice").read_text().split("\n") if line.startswith("AGE-SECRET-KEY-1"))
    alice = pyrage.x25519.Identity.from_str(secret)
    (folder / "key").write_bytes(bytes(range(32)))
    (folder / "passphrase").write_text("correct horse\n")
    raw = bytes(range(32))
    ways = [
        # Options of tress encrypt, the identity here, how this side encrypts, options of tress decrypt.
        (["-r", alice.to_public()], alice, lambda c: pyrage.encrypt(c, [alice.to_public()]), ["-i", folder / "alice"]),
        (
            ["--key-file", folder / "key"],
            raw,
            lambda c: age.seal(c, [age.raw_key(raw)], os.urandom),
            ["--key-file", folder / "key"],
        ),
        (
            ["--passphrase-file", folder / "passphrase"],
            "correct horse",
            lambda c: age.seal(c, [age.scrypt("correct horse", 10)], os.urandom),
            ["--passphrase-file", folder / "passphrase"],
        ),
    ]
    count = 0
    for seal_options, key, seal, open_options in ways:
        for aead in ["aes-128-ccm", "aes-256-ccm"]:
            for length in LENGTHS:
                if isinstance(key, str) and length != LENGTHS[-1]:
                    continue  # scrypt takes a second each time
                plaintext = hashlib.shake_256(b"%d" % length).digest(length)
                (folder / "plain").write_bytes(plaintext)
                call(program, "encrypt", *seal_options, "--aead", aead, "-o", folder / "sealed", folder / "plain")
                read, kind, _ = tress.decrypt((folder / "sealed").read_bytes(), key)
                assert (read, kind) == (plaintext, b"file"), (aead, length)

                container = tress.encrypt(plaintext, seal, aead=aead.encode(), name="plain")
                opened = call(program, "decrypt", *open_options, "-", data=container)
                assert opened.stdout == plaintext, (aead, length)
                (folder / "sealed").unlink()
                count += 2
    return count


def test_vectors():
    assert run_vectors() > 0


def test_both_ways(tmp_path):
    program = os.environ.get("TRESS")
    if program is None:
        import pytest

        (pytest.fail if os.environ.get("CI") else pytest.skip)("set TRESS to the command")
    assert both_ways(os.path.abspath(program), tmp_path) > 0


def main():
    print(f"{run_vectors()} vectors agree with the Python reader")
    program = os.environ.get("TRESS")
    if program is None:
        print("SKIPPED: set TRESS to the command to test it against the Python reader", file=sys.stderr)
        sys.exit(1 if os.environ.get("CI") else 0)
    with tempfile.TemporaryDirectory() as folder:
        print(f"{both_ways(os.path.abspath(program), pathlib.Path(folder))} containers agree with {program}")


if __name__ == "__main__":
    main()
