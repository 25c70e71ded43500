#!/usr/bin/env python3
"""Writes the Monte Carlo tests of the AES submissions, ECB: vectors/aes/ecb-monte-carlo.json and vectors/rc6/ecb-monte-carlo.json:

    python3 -m venv .venv
    .venv/bin/pip install -r tools/vectors/requirements.txt
    .venv/bin/python tools/vectors/monte_carlo.py [--check]

NIST, "Description of Known Answer Tests and Monte Carlo Tests for Advanced Encryption Standard (AES) Candidate Algorithm
Submissions" (1998): key and block begin with zeros; an outer round is 10,000 calls, each on the output of the one before, and
its last two outputs, as many bits of them as the key has, are added to the key. AES is OpenSSL's, and has to end where
the submission's ecb_e_m.txt and ecb_d_m.txt end; RC6 is the one of rc6.py. `--check` writes nothing and fails when a file would
change.
"""

import argparse
import json
import pathlib
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import layout
import rc6
from modes import xor

OUT = pathlib.Path(__file__).resolve().parents[2] / "vectors"
INNER_ROUNDS = 10_000
KEY_BITS = (128, 192, 256)

# The outputs of the last of 400 outer rounds in the files of Rijndael's submission.
AES_ENDS = {
    ("encrypt", 128): "a04377abe259b0d0b5ba2d40a501971b",
    ("encrypt", 192): "4e46f8c5092b29e29a971a0cd1f610fb",
    ("encrypt", 256): "1f6763df807a7e70960d4cd3118e601a",
    ("decrypt", 128): "f5bf8b37136f2e1f6bec6f572021e3ba",
    ("decrypt", 192): "f1a81b68f6e5a6271a8cb24e7d9491ef",
    ("decrypt", 256): "4de0c6df7cb1697284604d60271bc59a",
}


def aes(key, direction):
    cipher = Cipher(algorithms.AES(key), modes.ECB())
    return (cipher.encryptor() if direction == "encrypt" else cipher.decryptor()).update


def rc6_32_20(key, direction):
    table, one = rc6.key_schedule(key, 20), rc6.encrypt_block if direction == "encrypt" else rc6.decrypt_block
    return lambda block: one(table, block)


def outer_rounds(make, direction, bits, count):
    """(key, input, output) of each outer round."""
    key, block = bytes(bits // 8), bytes(16)
    for _ in range(count):
        call, given = make(key, direction), block
        for _ in range(INNER_ROUNDS):
            before, block = block, call(block)
        yield key, given, block
        key = xor(key, (before + block)[-len(key):])


def document(name, prefix, source, licence, make, kept):
    number, groups = 0, []
    for direction in ("encrypt", "decrypt"):
        for bits in KEY_BITS:
            tests, rounds = [], list(outer_rounds(make, direction, bits, kept[-1] + 1))
            if prefix == "Aes":
                assert rounds[-1][2].hex() == AES_ENDS[direction, bits]
            for outer in kept:
                number += 1
                key, given, output = rounds[outer]
                msg, ct = (given, output) if direction == "encrypt" else (output, given)
                tests.append({"tcId": number, "comment": f"{direction}, outer round {outer}", "outerRound": outer,
                              "key": key.hex(), "msg": msg.hex(), "ct": ct.hex(), "result": "valid"})
            groups.append({"type": f"{prefix}EcbMonteCarlo", "direction": direction, "keySize": bits, "tests": tests})
    head = {"algorithm": name, "source": source, "licence": licence, "numberOfTests": number}
    return layout.dumps({**head, "testGroups": groups})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a file would change")
    options = parser.parse_args()
    rc6.check_published()
    made = "computed with tools/vectors/monte_carlo.py"
    changed = []
    for folder, *arguments in (
        ("aes", "AES-ECB", "Aes", f"Monte Carlo test of the AES submissions: round 399 as published with Rijndael, the others {made}",
         "facts of the submission", aes, (0, 1, 399)),
        ("rc6", "RC6-ECB", "Rc6", f"Monte Carlo test of the AES submissions, {made}", rc6.OWN, rc6_32_20, (0, 1, 9)),
    ):
        path = OUT / folder / "ecb-monte-carlo.json"
        text = document(*arguments)
        if not path.exists() or path.read_text() != text:
            changed.append(str(path))
            if not options.check:
                path.write_text(text)
    if options.check and changed:
        sys.exit(f"these would change: {', '.join(changed)}")


if __name__ == "__main__":
    main()
