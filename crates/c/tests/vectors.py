#!/usr/bin/env python3
"""The known answers of vectors/ as lines for tests/vectors.c.

    vectors.py HEADER FOLDER CONTAINERS > lines

The containers go to files in the folder CONTAINERS. Fields are separated by blanks; bytes are hex, "-" for none. A status is
its number in the header.
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

# What the container's index calls an error, where the header's name is not simply that in capitals.
CONTAINER_ERRORS = {
    "WorkFactorTooHigh": "WORK_FACTOR",
    "NoMatchingKey": "NO_MATCHING_KEY",
    "RangeOutOfBounds": "RANGE",
}

# Files that this program leaves out, each with its reason; every other file has to be run.
LEFT_OUT = {
    "aes/cavp-cbc-montecarlo.json": "chains of a thousand calls: the modes are tested by the others",
    "aes/ecb-monte-carlo.json": "chains of ten thousand calls",
    "rc6/ecb-monte-carlo.json": "chains of ten thousand calls",
    "rc6/general.json": "RC6 with other numbers of rounds, which is not in the interface",
    "sign/groups.json": "domain parameters, no signatures",
}


def statuses(header: str) -> dict[str, int]:
    """Names and numbers of the header's codes."""
    return {name: int(number) for name, number in re.findall(r"\bTRESS_([A-Z0-9_]+) = (\d+),", header)}


def hexed(text: str) -> str:
    """A field: hex, or a dash."""
    return text or "-"


def cipher_of(folder: str, group: Json) -> str:
    """The cipher's name in the interface."""
    if folder == "rijndael":
        return f"rijndael-{group['blockSize']}-{group['keySize']}"
    return f"{folder}-{group['keySize']}"


def ccm_status(test: Json, codes: dict[str, int]) -> int:
    """What decryption comes to, by SP 800-38C's own limits."""
    nonce, tag = len(test["iv"]) // 2, len(test["tag"]) // 2
    if test["result"] == "valid":
        return codes["OK"]
    if not 7 <= nonce <= 13:
        return codes["NONCE_LENGTH"]
    if tag not in (4, 6, 8, 10, 12, 14, 16):
        return codes["TAG_LENGTH"]
    return codes["AUTHENTICATION"]


def cipher_lines(folder: str, group: Json, codes: dict[str, int]) -> Iterator[str]:
    """A group of a block cipher's file."""
    cipher = cipher_of(folder, group)
    kind = re.sub(r"^(Aes|Rc6|Pipo)", "", group["type"]).lower()
    for test in group["tests"]:
        key, message, sealed = test["key"], test.get("msg", ""), test["ct"]
        if kind == "ecb":
            yield f"ecb {cipher} {key} {hexed(message)} {hexed(sealed)}"
        elif kind == "cbc":
            yield f"cbc {cipher} {key} {test['iv']} {hexed(message)} {hexed(sealed)}"
        elif kind == "cbcpkcs7":
            valid = test["result"] == "valid"
            # Wycheproof has ciphertexts that are no whole blocks, or none at all.
            whole = len(sealed) % 32 == 0 and sealed != ""
            status = codes["OK"] if valid else codes["PADDING"] if whole else codes["DATA_LENGTH"]
            yield f"pkcs7 {cipher} {status} {key} {test['iv']} {hexed(message)} {hexed(sealed)}"
        elif kind == "ctr":
            status = codes["OK"] if test["result"] == "valid" else codes["COUNTER_EXHAUSTED"]
            yield f"ctr {cipher} {status} {key} {test['iv']} {hexed(message)} {hexed(sealed)}"
        elif kind == "ccm":
            aad = test["aad"]
            if "aadLength" in test:
                length = 2 * test["aadLength"]
                aad = (aad * (length // len(aad) + 1))[:length]
            known = "message" if "msg" in test else "none"
            status = ccm_status(test, codes)
            yield (
                f"ccm {cipher} {status} {key} {hexed(test['iv'])} {hexed(aad)} {known} {hexed(message)} "
                f"{hexed(sealed)} {hexed(test['tag'])}"
            )
        else:
            sys.exit(f"vectors.py: unknown type {group['type']}")


def sign_lines(group: Json) -> Iterator[str]:
    """A group of a signature scheme's file."""
    kind, digest = group["type"], group["sha"].replace("-", "").lower()
    scheme = {"RsaPkcs1": "rsa-pkcs1", "RsaPss": "rsa-pss", "Dsa": "dsa", "Schnorr": "schnorr"}
    family = re.sub(r"(Deterministic)?(Verify|Sign)$", "", kind)
    name = f"{scheme[family]}-{digest}" + (f":{group['sLen']}" if "sLen" in group else "")
    for test in group["tests"]:
        yield f"verify {name} {test['result']} {group['publicKey']} {hexed(test['msg'])} {hexed(test['sig'])}"
        if "privateKey" in group:
            # Random numbers are in those of DSA and Schnorr.
            same = {"RsaPkcs1": "same", "RsaPss": "any"}.get(family, "new")
            yield f"sign {name} {same} {group['privateKey']} {hexed(test['msg'])} {hexed(test['sig'])}"


def container_lines(folder: pathlib.Path, index: Json, codes: dict[str, int]) -> Iterator[str]:
    """The containers."""
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
    """Every file."""
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
