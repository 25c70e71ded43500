#!/usr/bin/env python3
"""Converts the test vectors of vectors/ to lines for tests/vectors.c.

    vectors.py HEADER FOLDER CONTAINERS > lines

Extracts the containers to the folder CONTAINERS. Fields of a line are separated by blanks. Bytes are hexadecimal, or
"-" if there are none. A status is its number in the header.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
import tarfile
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

# Errors of the container index whose name in the header differs.
CONTAINER_ERRORS = {
    "WorkFactorTooHigh": "WORK_FACTOR",
    "NoMatchingKey": "NO_MATCHING_KEY",
    "RangeOutOfBounds": "RANGE",
}

# Files that are left out, with the reason. Every other file must be run.
LEFT_OUT = {
    "aes/cavp-cbc-montecarlo.json": "chains of a thousand calls; the other files test the modes",
    "aes/ecb-monte-carlo.json": "chains of ten thousand calls",
    "cobblestone/wycheproof-128.json": "crates/container/tests/formats.rs opens these files",
    "cobblestone/wycheproof-256.json": "the same",
    "container/trees.json": "crates/container/tests/tree_hostile.rs unpacks these trees",
    "rc6/ecb-monte-carlo.json": "chains of ten thousand calls",
    "rc6/general.json": "RC6 with other numbers of rounds, which the interface does not have",
    "sign/groups.json": "domain parameters, no signatures",
}


def statuses(header: str) -> dict[str, int]:
    """Returns the numbers of the header's status codes by name."""
    return {name: int(number) for name, number in re.findall(r"\bTRESS_([A-Z0-9_]+) = (\d+),", header)}


def hexed(text: str) -> str:
    """Returns a field: hexadecimal digits, or a dash."""
    return text or "-"


def cipher_of(folder: str, group: Json) -> str:
    """Returns the cipher's name in the interface."""
    if folder == "rijndael":
        return f"rijndael-{group['blockSize']}-{group['keySize']}"
    return f"{folder}-{group['keySize']}"


def aead_status(test: Json, codes: dict[str, int], nonces: range, tags: range) -> int:
    """Returns the expected status of decryption, with the lengths that the AEAD has."""
    nonce, tag = len(test["iv"]) // 2, len(test["tag"]) // 2
    if test["result"] == "valid":
        return codes["OK"]
    if nonce not in nonces:
        return codes["NONCE_LENGTH"]
    if tag not in tags:
        return codes["TAG_LENGTH"]
    return codes["AUTHENTICATION"]


def cipher_lines(folder: str, group: Json, codes: dict[str, int]) -> Iterator[str]:
    """Returns the lines of a test group of a block cipher."""
    cipher = cipher_of(folder, group)
    kind = re.sub(r"^(Aes|Rc6|Lea|Pipo)", "", group["type"]).lower()
    for test in group["tests"]:
        key, message, sealed = test["key"], test.get("msg", ""), test["ct"]
        if kind == "ecb":
            yield f"ecb {cipher} {key} {hexed(message)} {hexed(sealed)}"
        elif kind == "cbc":
            yield f"cbc {cipher} {key} {test['iv']} {hexed(message)} {hexed(sealed)}"
        elif kind == "cbcpkcs7":
            valid = test["result"] == "valid"
            # Wycheproof has ciphertexts that are empty or not a multiple of the block size.
            whole = len(sealed) % 32 == 0 and sealed != ""
            status = codes["OK"] if valid else codes["PADDING"] if whole else codes["DATA_LENGTH"]
            yield f"pkcs7 {cipher} {status} {key} {test['iv']} {hexed(message)} {hexed(sealed)}"
        elif kind == "ctr":
            status = codes["OK"] if test["result"] == "valid" else codes["COUNTER_EXHAUSTED"]
            yield f"ctr {cipher} {status} {key} {test['iv']} {hexed(message)} {hexed(sealed)}"
        elif kind in ("ccm", "chacha20poly1305"):
            aad = test["aad"]
            if "aadLength" in test:
                length = 2 * test["aadLength"]
                aad = (aad * (length // len(aad) + 1))[:length]
            known = "message" if "msg" in test else "none"
            # SP 800-38C and RFC 8439.
            lengths = (range(7, 14), range(4, 18, 2)) if kind == "ccm" else (range(12, 13), range(16, 17))
            status = aead_status(test, codes, *lengths)
            yield (
                f"{kind} {cipher} {status} {key} {hexed(test['iv'])} {hexed(aad)} {known} {hexed(message)} "
                f"{hexed(sealed)} {hexed(test['tag'])}"
            )
        else:
            sys.exit(f"vectors.py: unknown type {group['type']}")


def sign_lines(group: Json) -> Iterator[str]:
    """Returns the lines of a test group of a signature scheme."""
    kind, digest = group["type"], group["sha"].replace("-", "").lower()
    scheme = {"RsaPkcs1": "rsa-pkcs1", "RsaPss": "rsa-pss", "Dsa": "dsa", "Schnorr": "schnorr"}
    family = re.sub(r"(Deterministic)?(Verify|Sign)$", "", kind)
    name = f"{scheme[family]}-{digest}" + (f":{group['sLen']}" if "sLen" in group else "")
    for test in group["tests"]:
        yield f"verify {name} {test['result']} {group['publicKey']} {hexed(test['msg'])} {hexed(test['sig'])}"
        if "privateKey" in group:
            # DSA and Schnorr signatures are random, and those of PSS have a random salt.
            same = {"RsaPkcs1": "same", "RsaPss": "any"}.get(family, "new")
            yield f"sign {name} {same} {group['privateKey']} {hexed(test['msg'])} {hexed(test['sig'])}"


def container_lines(folder: pathlib.Path, index: Json, codes: dict[str, int]) -> Iterator[str]:
    """Returns the lines of the containers."""
    for group in index["testGroups"]:
        for test in group["tests"]:
            identity = index["identities"][test["identity"]]
            secret = identity["value"] if identity["type"] == "raw-key" else identity["value"].encode().hex()
            if test["result"] == "valid":
                status, chunk = codes["OK"], 0
            else:
                error = test["error"]
                name = CONTAINER_ERRORS.get(error, re.sub(r"(?<!^)(?=[A-Z])", "_", error).upper())
                status, chunk = codes[name], test.get("chunk", 0)
            yield (
                f"container {folder / test['file']} {identity['type']} {secret} {status} {chunk} "
                f"{test.get('plaintextBytes', 0)} {test.get('plaintextSha256', '-')} {test.get('contentType', '-')} "
                f"{hexed((test.get('contentName') or '').encode().hex())}"
            )


def main() -> None:
    """Prints the lines of every file."""
    codes = statuses(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    root, containers = (pathlib.Path(name) for name in sys.argv[2:])
    with tarfile.open(root / "container/containers.tar") as archive:
        archive.extractall(containers)
    for path in sorted(root.glob("*/*.json")):
        name = path.relative_to(root).as_posix()
        folder = path.parent.name
        if name in LEFT_OUT or folder in ("rtl", "noise"):
            continue
        file = json.loads(path.read_text(encoding="utf-8"))
        if folder == "container":
            lines = list(container_lines(containers, file, codes))
        elif folder == "sign":
            lines = [line for group in file["testGroups"] for line in sign_lines(group)]
        else:
            lines = [line for group in file["testGroups"] for line in cipher_lines(folder, group, codes)]
        print(f"file {name} {len(lines)}")
        print("\n".join(lines))


if __name__ == "__main__":
    main()
