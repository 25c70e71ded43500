#!/usr/bin/env python3
"""Writes the Monte Carlo tests of the AES submissions, ECB: vectors/aes/ecb-monte-carlo.json and vectors/rc6/ecb-monte-carlo.json:

    python3 -m venv .venv
    .venv/bin/pip install -r tools/vectors/requirements.txt
    .venv/bin/python tools/vectors/monte_carlo.py [--check]

NIST, "Description of Known Answer Tests and Monte Carlo Tests for Advanced Encryption Standard (AES) Candidate Algorithm
Submissions" (1998): key and block are zero at first. An outer round is 10,000 calls, each on the output of the one before.
Then as many bits of the last two outputs as the key has are added to the key. AES is OpenSSL's, and its last outputs have to
equal those of the submission's ecb_e_m.txt and ecb_d_m.txt. RC6 is the one of rc6.py. `--check` writes nothing and fails when a
file would change.
"""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import layout
import rc6
from layout import OWN, document
from modes import xor

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


def groups(prefix, make, kept):
    for direction in ("encrypt", "decrypt"):
        for bits in KEY_BITS:
            tests, rounds = [], list(outer_rounds(make, direction, bits, kept[-1] + 1))
            if prefix == "Aes":
                assert rounds[-1][2].hex() == AES_ENDS[direction, bits]
            for outer in kept:
                key, given, output = rounds[outer]
                msg, ct = (given, output) if direction == "encrypt" else (output, given)
                tests.append({"comment": f"{direction}, outer round {outer}", "outerRound": outer, "key": key.hex(),
                              "msg": msg.hex(), "ct": ct.hex(), "result": "valid"})
            yield {"type": f"{prefix}EcbMonteCarlo", "direction": direction, "keySize": bits, "tests": tests}


def files():
    rc6.check_published()
    made = "computed with tools/vectors/monte_carlo.py"
    of_aes = f"Monte Carlo test of the AES submissions: round 399 as published with Rijndael, the others {made}"
    of_rc6 = f"Monte Carlo test of the AES submissions, {made}"
    yield "aes/ecb-monte-carlo", document("AES-ECB", of_aes, "facts of the submission", groups("Aes", aes, (0, 1, 399)))
    yield "rc6/ecb-monte-carlo", document("RC6-ECB", of_rc6, OWN, groups("Rc6", rc6_32_20, (0, 1, 9)))


if __name__ == "__main__":
    layout.main(__doc__, ".", files)
