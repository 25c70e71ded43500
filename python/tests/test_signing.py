"""Signatures: test vectors of Wycheproof, NIST and RFC 6979; comparison with PyCA."""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections.abc import Iterator

import pytest
import tress
from conftest import ROOT, data, vectors
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, padding, rsa

FILES = sorted(path.stem for path in (ROOT / "vectors" / "sign").glob("*.json") if path.stem != "groups")
SCHEMES = {"RsaPkcs1": "rsa-pkcs1", "RsaPss": "rsa-pss", "Dsa": "dsa", "Schnorr": "schnorr"}


@pytest.mark.parametrize("file", FILES)
def test_vectors(file: str) -> None:
    groups: dict[str, tuple[dict[str, str], list[dict[str, str]]]] = {}
    for group, test in vectors(f"sign/{file}"):
        same = group["publicKey"] + group["type"] + group["sha"] + str(group.get("sLen"))
        groups.setdefault(same, (group, []))[1].append(test)
    checked = 0
    for group, tests in groups.values():
        kind = group["type"].removesuffix("Verify").removesuffix("Sign").removesuffix("Deterministic")
        scheme = f"{SCHEMES[kind]}-{group['sha'].replace('-', '').lower()}"
        pairs = [(bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"])) for test in tests]
        try:
            key = tress.PublicKey.from_pem(bytes.fromhex(group["publicKey"]))
        except tress.Usage as error:
            # Some tests of NIST have an invalid key.
            assert error.kind == "wrong-public-value" and all(test["result"] == "invalid" for test in tests)
            continue
        found = key.verify_batch(pairs, scheme)
        for test, pair, holds in zip(tests, pairs, found, strict=True):
            # Without ":N" in the scheme, salts of every length verify.
            if test["result"] == "invalid" and "sLen" in group and holds:
                assert "s_len" in test["comment"] or "salt" in test["comment"], test
                continue
            assert holds == (test["result"] == "valid"), (test["tcId"], test["comment"])
            checked += 1
            if holds:
                key.verify(*pair, scheme)
            else:
                with pytest.raises(tress.InvalidSignature):
                    key.verify(*pair, scheme)
        if "privateKey" in group:
            private = tress.PrivateKey.from_pem(bytes.fromhex(group["privateKey"]))
            assert private.public_key() == key
            signed = private.sign_batch([message for _, message in pairs], scheme)
            if kind == "RsaPkcs1":
                same = [s == sig for s, (sig, _), t in zip(signed, pairs, tests, strict=True) if t["result"] == "valid"]
                assert same and all(same)
            else:
                # These signatures are random, so they differ each time.
                again = [(s, message) for s, (_, message) in zip(signed, pairs, strict=True)]
                assert all(key.verify_batch(again, scheme))
                assert not {*signed} & {sig for sig, _ in pairs}
    assert checked


HASHES = {"sha256": hashes.SHA256(), "sha384": hashes.SHA384(), "sha512": hashes.SHA512()}


@pytest.mark.parametrize("name", HASHES)
def test_tress_and_pyca_verify_each_other(name: str) -> None:
    chosen, message = HASHES[name], data(5000)
    theirs = rsa.generate_private_key(65537, 2048)
    pem = theirs.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    ours = tress.PrivateKey.from_pem(pem)
    assert ours.kind == ours.public_key().kind == "rsa-2048"
    pss = padding.PSS(padding.MGF1(chosen), chosen.digest_size)
    theirs.public_key().verify(ours.sign(message, f"rsa-pss-{name}"), message, pss, chosen)
    theirs.public_key().verify(ours.sign(message, f"rsa-pkcs1-{name}"), message, padding.PKCS1v15(), chosen)
    ours.public_key().verify(theirs.sign(message, pss, chosen), message, f"rsa-pss-{name}")
    ours.public_key().verify(theirs.sign(message, padding.PKCS1v15(), chosen), message, f"rsa-pkcs1-{name}")
    read = serialization.load_pem_private_key(ours.to_pem().encode(), None)
    assert isinstance(read, rsa.RSAPrivateKey) and read.private_numbers() == theirs.private_numbers()

    dsa_key = tress.PrivateKey.generate("dsa-2048")
    there = serialization.load_pem_public_key(dsa_key.public_key().to_pem().encode())
    assert isinstance(there, dsa.DSAPublicKey)
    there.verify(dsa_key.sign(message, f"dsa-{name}"), message, chosen)


def test_batches_and_passwords(tmp_path: pathlib.Path) -> None:
    key = tress.PrivateKey.generate("rsa-2048")
    messages = [data(n) for n in range(17)]
    signed = key.sign_batch(messages, "rsa-pkcs1-sha256")
    assert signed == [key.sign(message, "rsa-pkcs1-sha256") for message in messages]
    pairs = list(zip(signed, messages, strict=True))
    pairs[3] = (signed[4], messages[3])
    pairs[9] = (b"short", messages[9])
    assert key.public_key().verify_batch(pairs, "rsa-pkcs1-sha256") == [n not in (3, 9) for n in range(17)]
    # An iterator may fill one buffer anew for each item.
    room = bytearray(17)

    def refilled() -> Iterator[bytearray]:
        for n in range(3):
            room[:] = bytes([n]) * 17
            yield room

    signed_now = key.sign_batch(refilled())
    then = [bytes([n]) * 17 for n in range(3)]
    assert key.public_key().verify_batch(zip(signed_now, then, strict=True)) == [True] * 3
    assert key.public_key().verify_batch(zip(signed_now[2:] * 3, refilled(), strict=True)) == [False, False, True]
    assert key.sign_batch([]) == [] and key.public_key().verify_batch([]) == []
    # Messages in files, as digests, and on several threads.
    paths: list[pathlib.Path] = [tmp_path / str(n) for n in range(17)]
    for path, message in zip(paths, messages, strict=True):
        path.write_bytes(message)
    digests = [hashlib.sha256(message).digest() for message in messages]
    for threads in (0, 1, 3):
        assert key.sign_batch([*paths[:9], *messages[9:]], "rsa-pkcs1-sha256", threads=threads) == signed
        assert key.sign_batch(digests, "rsa-pkcs1-sha256", prehashed=True, threads=threads) == signed
        files = list(zip(signed, [paths[1], *paths[1:]], strict=True))
        found = key.public_key().verify_batch(files, "rsa-pkcs1-sha256", threads=threads)
        assert found == [n != 0 for n in range(17)]
        same = list(zip(signed, digests, strict=True))
        assert all(key.public_key().verify_batch(same, "rsa-pkcs1-sha256", prehashed=True, threads=threads))
    with pytest.raises(FileNotFoundError) as missing:
        key.sign_batch([tmp_path / "none"])
    assert missing.value.filename == str(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    for no_file in ["pipe", "."]:
        with pytest.raises(OSError):
            key.sign_batch([tmp_path / no_file])
    no_digests: list[list[bytes | pathlib.Path]] = [[b"short"], [paths[0]]]
    for wrong in no_digests:
        with pytest.raises(ValueError):
            key.sign_batch(wrong, prehashed=True)
        with pytest.raises(ValueError):
            key.public_key().verify_batch([(signed[0], wrong[0])], prehashed=True)
        with pytest.raises(ValueError):
            key.sign_batch([b""], threads=2000)
    schnorr = tress.PrivateKey.generate("schnorr-2048")
    schnorr.public_key().verify(schnorr.sign(b"lanes"), b"lanes")

    pem = serialization.load_pem_private_key(key.to_pem().encode(), None).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"open")
    )
    for password in ["open", b"open", bytearray(b"open")]:
        assert tress.PrivateKey.from_pem(pem, password).public_key() == key.public_key()  # type: ignore[arg-type]
    with pytest.raises(tress.WrongKey):
        tress.PrivateKey.from_pem(pem, "shut")
    assert tress.PrivateKey.from_pem(pem, "open", max_work_factor=18).public_key() == key.public_key()
    for limit in [0, 1, 24]:
        with pytest.raises(tress.TressError) as costly:
            tress.PrivateKey.from_pem(pem, "open", max_work_factor=limit)
        assert costly.value.kind == "work-factor-too-high"
    with pytest.raises(tress.Usage) as raised:
        tress.PrivateKey.from_pem(pem)
    assert raised.value.kind == "encrypted"


def test_wrong_arguments() -> None:
    key = tress.PrivateKey.generate("dsa-2048")
    public = key.public_key()
    for kind in ["rsa", "rsa-", "rsa-x", "rsa-1024", "rsa-2049", "dsa-1024", "ed25519", ""]:
        with pytest.raises(ValueError):
            tress.PrivateKey.generate(kind)
    for scheme in ["rsa-pss-sha256", "schnorr-sha256", "dsa", ""]:
        with pytest.raises(ValueError):
            key.sign(b"", scheme)
        with pytest.raises(ValueError):
            public.verify(b"", b"", scheme)
    for pem in ["", "text", b"\x30\x00", public.to_pem()]:
        with pytest.raises(tress.Usage):
            tress.PrivateKey.from_pem(pem)  # type: ignore[arg-type]
    with pytest.raises(tress.Usage):
        tress.PublicKey.from_pem(key.to_pem())
    for wrong in ["text", 3, None]:
        with pytest.raises(TypeError):
            key.sign(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            public.verify_batch([(b"", wrong)])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        public.verify_batch([b"x"])  # type: ignore[list-item]
    assert "BEGIN" not in repr(key) and repr(public) == "<tress.PublicKey dsa-2048>"
    assert public != tress.PrivateKey.generate("dsa-2048").public_key() and public != 3
