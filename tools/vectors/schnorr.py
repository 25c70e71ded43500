#!/usr/bin/env python3
"""Writes vectors/sign/schnorr.json: Schnorr signatures as in docs/explanation/signatures.md, with Python's standard library alone.

    tools/vectors/schnorr.py [--check]
"""

import hashlib
import hmac
import json

import layout
from layout import OWN, VECTORS, document

LABEL = b"tress schnorr-sha256"
IDENTIFIER = bytes.fromhex("061469 83b6ddd8baa0c6dae48797d39bd6ddbcc28533")


def tlv(tag, content):
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    size = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def integer(number):
    return tlv(2, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def nonce(q, x, digest):
    """RFC 6979, 3.2, with the label as additional data (3.6)."""
    def mac(key, message):
        return hmac.new(key, message, hashlib.sha256).digest()

    seed = x.to_bytes(32, "big") + (int.from_bytes(digest, "big") % q).to_bytes(32, "big") + LABEL
    v, k = b"\x01" * 32, b"\x00" * 32
    for separator in (b"\x00", b"\x01"):
        k = mac(k, v + separator + seed)
        v = mac(k, v)
    while True:
        v = mac(k, v)
        candidate = int.from_bytes(v, "big")
        if 0 < candidate < q:
            return candidate
        k = mac(k, v + b"\x00")
        v = mac(k, v)


def challenge(p, q, g, y, r, digest):
    size = (p.bit_length() + 7) // 8
    numbers = [(p, size), (q, 32), (g, size), (y, size), (r, size)]
    return hashlib.sha256(LABEL + b"".join(n.to_bytes(s, "big") for n, s in numbers) + digest).digest()


def sign(p, q, g, x, message):
    digest = hashlib.sha256(message).digest()
    k = nonce(q, x, digest)
    e = challenge(p, q, g, pow(g, x, p), pow(g, k, p), digest)
    s = (k + int.from_bytes(e, "big") * x) % q
    return e + s.to_bytes(32, "big")


def verifies(p, q, g, y, message, signature):
    e, s = signature[:32], int.from_bytes(signature[32:], "big")
    r = pow(g, s, p) * pow(y, q - int.from_bytes(e, "big") % q, p) % p
    return e == challenge(p, q, g, y, r, hashlib.sha256(message).digest())


def groups():
    for source in json.loads((VECTORS / "sign" / "groups.json").read_text())["testGroups"][0]["tests"]:
        p, q, g = (int(source[name], 16) for name in "pqg")
        x = int.from_bytes(hashlib.sha256(b"a secret of " + source["comment"].encode()).digest(), "big") % q
        y = pow(g, x, p)
        algorithm = tlv(0x30, IDENTIFIER + tlv(0x30, integer(p) + integer(q) + integer(g)))
        tests = []
        for message in (b"", b"sample", bytes(range(256))):
            signature = sign(p, q, g, x, message)
            assert verifies(p, q, g, y, message, signature)
            tests.append({
                "comment": f"message of {len(message)} bytes", "flags": [], "msg": message.hex(),
                "sig": signature.hex(), "result": "valid",
            })
        yield {
            "type": "SchnorrSign", "sha": "SHA-256",
            "publicKey": tlv(0x30, algorithm + tlv(3, b"\x00" + integer(y))).hex(),
            "privateKey": tlv(0x30, integer(0) + algorithm + tlv(4, integer(x))).hex(),
            "tests": tests,
        }


def files():
    source = "tools/vectors/schnorr.py, which follows docs/explanation/signatures.md with Python's integers"
    yield "schnorr", document("Schnorr", source, OWN, groups())


if __name__ == "__main__":
    layout.main(__doc__, "sign", files)
