#!/usr/bin/env python3
"""Writes the vectors under vectors/rijndael/ with an independent implementation:

    python3 tools/vectors/rijndael.py [--check]

Rijndael after J. Daemen, V. Rijmen: "AES Proposal: Rijndael" (version 2, 1999), with blocks and keys of 128 to 256 bits;
ECB, CBC and CTR after SP 800-38A, CCM after SP 800-38C. Nothing but Python's own library. Before it writes anything it
checks itself against published values: four of Rijndael, and the AES vectors under vectors/aes/. `--check` writes nothing
and fails when a file would change.
"""

import hashlib
import json

import layout
from layout import OWN, VECTORS, document

SIZES = (16, 20, 24, 28, 32)

# Key and plaintext are leading bits of e and pi in hexadecimal.
KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfe")
PLAINTEXT = bytes.fromhex("3243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c8")
PUBLISHED = {
    (16, 16): "3925841d02dc09fbdc118597196a0b32",
    (24, 24): "725ae43b5f3161de806a7c93e0bca93c967ec1ae1b71e1cf",
    (32, 16): "7d15479076b69a46ffb3b3beae97ad8313f622f67fedb487de9f06b9ed9c8f19",
    (32, 32): "a49406115dfb30a40418aafa4869b7c6a886ff31602a7dd19c889dc64f7e4e7a",
}


# The cipher


def multiply(a, b):
    """Multiplication in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1."""
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(14, 7, -1):
        if product >> bit & 1:
            product ^= 0x11b << (bit - 8)
    return product


def s_box():
    """The inverse in the field, then the affine map: bit i of the result is the sum of five bits and a constant's."""
    table = []
    for a in range(256):
        inverse = next((b for b in range(256) if multiply(a, b) == 1), 0)
        bits = [inverse >> i & 1 for i in range(8)]
        image = [bits[i] ^ bits[(i + 4) % 8] ^ bits[(i + 5) % 8] ^ bits[(i + 6) % 8] ^ bits[(i + 7) % 8] for i in range(8)]
        table.append(sum(bit << i for i, bit in enumerate(image)) ^ 0x63)
    return table


S = s_box()
INVERSE_S = [S.index(value) for value in range(256)]
TIMES = {factor: [multiply(factor, value) for value in range(256)] for factor in (1, 2, 3, 9, 11, 13, 14)}
SHIFTS = {4: (0, 1, 2, 3), 5: (0, 1, 2, 3), 6: (0, 1, 2, 3), 7: (0, 1, 2, 4), 8: (0, 1, 3, 4)}


class Rijndael:
    """The state is a list of columns, each a list of four bytes."""

    def __init__(self, key, block_bytes):
        self.block_bytes = block_bytes
        self.nb, nk = block_bytes // 4, len(key) // 4
        self.rounds = max(self.nb, nk) + 6
        words = [list(key[4 * i:4 * i + 4]) for i in range(nk)]
        constant = 1
        while len(words) < self.nb * (self.rounds + 1):
            temp, position = list(words[-1]), len(words) % nk
            if position == 0:
                temp = [S[byte] for byte in temp[1:] + temp[:1]]
                temp[0] ^= constant
                constant = multiply(constant, 2)
            elif nk > 6 and position == 4:
                temp = [S[byte] for byte in temp]
            words.append([a ^ b for a, b in zip(words[-nk], temp)])
        self.round_keys = [words[self.nb * r:self.nb * (r + 1)] for r in range(self.rounds + 1)]

    def add(self, state, round_number):
        keys = self.round_keys[round_number]
        return [[a ^ b for a, b in zip(column, key)] for column, key in zip(state, keys)]

    def shift(self, state, sign):
        shifts = SHIFTS[self.nb]
        return [[state[(c + sign * shifts[r]) % self.nb][r] for r in range(4)] for c in range(self.nb)]

    @staticmethod
    def mix(state, factors):
        rows = [factors[-r:] + factors[:-r] if r else factors for r in range(4)]
        tables = [[TIMES[factor] for factor in row] for row in rows]
        return [[t[0][a] ^ t[1][b] ^ t[2][c] ^ t[3][d] for t in tables] for a, b, c, d in state]

    def columns(self, block):
        assert len(block) == self.block_bytes
        return [list(block[4 * c:4 * c + 4]) for c in range(self.nb)]

    def encrypt(self, block):
        state = self.add(self.columns(block), 0)
        for number in range(1, self.rounds + 1):
            state = self.shift([[S[byte] for byte in column] for column in state], 1)
            if number < self.rounds:
                state = self.mix(state, [2, 3, 1, 1])
            state = self.add(state, number)
        return bytes(sum(state, []))

    def decrypt(self, block):
        state = self.add(self.columns(block), self.rounds)
        for number in range(self.rounds - 1, -1, -1):
            state = [[INVERSE_S[byte] for byte in column] for column in self.shift(state, -1)]
            state = self.add(state, number)
            if number:
                state = self.mix(state, [14, 11, 13, 9])
        return bytes(sum(state, []))


# Modes


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def blocks(cipher, data):
    return [data[i:i + cipher.block_bytes] for i in range(0, len(data), cipher.block_bytes)]


def ecb(cipher, data):
    return b"".join(cipher.encrypt(block) for block in blocks(cipher, data))


def cbc(cipher, iv, data):
    chain, out = iv, []
    for block in blocks(cipher, data):
        chain = cipher.encrypt(xor(block, chain))
        out.append(chain)
    return b"".join(out)


def ctr(cipher, counter, data):
    number, bits, out = int.from_bytes(counter, "big"), 8 * cipher.block_bytes, []
    for i, block in enumerate(blocks(cipher, data)):
        stream = cipher.encrypt(((number + i) % (1 << bits)).to_bytes(cipher.block_bytes, "big"))
        out.append(xor(block, stream))
    return b"".join(out)


def ccm(cipher, nonce, aad, data, tag_bytes):
    """SP 800-38C section 6.1 with the formatting of its appendix A; associated data below 65,280 bytes."""
    q = 15 - len(nonce)
    formatted = bytes([64 * bool(aad) + 8 * ((tag_bytes - 2) // 2) + q - 1]) + nonce + len(data).to_bytes(q, "big")
    if aad:
        assert len(aad) < 0xff00
        formatted += len(aad).to_bytes(2, "big") + aad
        formatted += bytes(-len(formatted) % 16)
    formatted += data + bytes(-len(data) % 16)
    mac = cbc(cipher, bytes(16), formatted)[-16:]
    first = bytes([q - 1]) + nonce + bytes(q)
    stream = ctr(cipher, first, bytes(16) + data)
    return stream[16:], xor(mac, stream)[:tag_bytes]


# Checks against published values


def check():
    for (block_bytes, key_bytes), expected in PUBLISHED.items():
        cipher = Rijndael(KEY[:key_bytes], block_bytes)
        assert cipher.encrypt(PLAINTEXT[:block_bytes]).hex() == expected, (block_bytes, key_bytes)
        assert cipher.decrypt(bytes.fromhex(expected)) == PLAINTEXT[:block_bytes], (block_bytes, key_bytes)
    checked = 0
    for name in ("fips197", "sp800-38a-ecb", "sp800-38a-cbc", "sp800-38a-ctr", "rfc3610", "cavp-ecb-keysbox",
                 "cavp-ecb-mmt", "cavp-cbc-mmt"):
        for group in json.loads((VECTORS / "aes" / f"{name}.json").read_text())["testGroups"]:
            for test in group["tests"]:
                key, iv, aad, msg = (bytes.fromhex(test.get(field, "")) for field in ("key", "iv", "aad", "msg"))
                cipher, kind = Rijndael(key, 16), group["type"]
                if kind == "AesCcm":
                    ct, tag = ccm(cipher, iv, aad, msg, len(test["tag"]) // 2)
                    assert (ct.hex(), tag.hex()) == (test["ct"], test["tag"]), (name, test["tcId"])
                else:
                    ct = {"AesEcb": lambda: ecb(cipher, msg), "AesCbc": lambda: cbc(cipher, iv, msg),
                          "AesCtr": lambda: ctr(cipher, iv, msg)}[kind]()
                    assert ct.hex() == test["ct"], (name, test["tcId"])
                    if kind == "AesEcb":
                        assert b"".join(cipher.decrypt(block) for block in blocks(cipher, ct)) == msg
                checked += 1
    return checked


# Writing


def fixed_bytes(label, length):
    """Reproducible bytes: SHAKE-128 of a label."""
    return hashlib.shake_128(f"tress rijndael {label}".encode()).digest(length)


def pairs():
    return [(block_bytes, key_bytes) for block_bytes in SIZES for key_bytes in SIZES]


def group(kind, block_bytes, key_bytes, tests, **more):
    return {"type": kind, "blockSize": 8 * block_bytes, "keySize": 8 * key_bytes, **more, "tests": tests}


def test(comment, key, msg, ct, iv=None, **more):
    row = {"comment": comment, "key": key.hex(), "iv": iv and iv.hex(), "msg": msg.hex(), "ct": ct.hex(), **more}
    return {**{name: value for name, value in row.items() if value is not None}, "result": "valid"}


def constants(chosen):
    groups = []
    for block_bytes, key_bytes in chosen:
        key, msg = KEY[:key_bytes], PLAINTEXT[:block_bytes]
        row = test("leading bits of two constants", key, msg, Rijndael(key, block_bytes).encrypt(msg))
        groups.append(group("Ecb", block_bytes, key_bytes, [row]))
    return groups


def ecb_groups():
    groups = []
    for block_bytes, key_bytes in pairs():
        rows = []
        for count in (1, 2, 3, 9, 26):
            label = f"ecb {block_bytes} {key_bytes} {count}"
            key, msg = fixed_bytes(label + " key", key_bytes), fixed_bytes(label, count * block_bytes)
            rows.append(test(f"{count} blocks", key, msg, ecb(Rijndael(key, block_bytes), msg)))
        # One bit at a time, in each byte of the key and of the block.
        for byte in range(max(block_bytes, key_bytes)):
            key, msg = bytearray(key_bytes), bytearray(block_bytes)
            if byte < key_bytes:
                key[byte] = 0x80 >> byte % 8
            if byte < block_bytes:
                msg[byte] = 1 << byte % 8
            rows.append(test(f"a bit in byte {byte}", key, msg, Rijndael(key, block_bytes).encrypt(msg)))
        groups.append(group("Ecb", block_bytes, key_bytes, rows))
    return groups


def cbc_groups():
    groups = []
    for block_bytes, key_bytes in pairs():
        rows = []
        for count in (0, 1, 3, 4, 5, 8, 17):
            label = f"cbc {block_bytes} {key_bytes} {count}"
            key, iv = fixed_bytes(label + " key", key_bytes), fixed_bytes(label + " iv", block_bytes)
            msg = fixed_bytes(label, count * block_bytes)
            rows.append(test(f"{count} blocks", key, msg, cbc(Rijndael(key, block_bytes), iv, msg), iv))
        groups.append(group("Cbc", block_bytes, key_bytes, rows))
    return groups


def ctr_groups():
    groups = []
    for block_bytes, key_bytes in pairs():
        rows = []
        # Carries out of the last 1, 2, 4, 8 and 9 bytes, and out of the block.
        for length, carried in ((1, 0), (7, 1), (block_bytes - 1, 2), (block_bytes + 1, 4), (5 * block_bytes + 3, 4),
                                (27 * block_bytes + 2, 8), (3 * block_bytes, 9), (25 * block_bytes - 1, block_bytes)):
            label = f"ctr {block_bytes} {key_bytes} {length} {carried}"
            key, counter = fixed_bytes(label + " key", key_bytes), bytearray(fixed_bytes(label + " iv", block_bytes))
            if carried:
                counter[-carried:] = b"\xff" * carried
            msg = fixed_bytes(label, length)
            rows.append(test(f"{length} bytes, the counter's last {carried} all ones", key, msg,
                             ctr(Rijndael(key, block_bytes), bytes(counter), msg), counter))
        groups.append(group("Ctr", block_bytes, key_bytes, rows))
    return groups


def ccm_groups():
    groups = []
    for key_bytes in SIZES:
        for i, (length, aad_bytes) in enumerate(((0, 0), (1, 5), (15, 14), (16, 15), (17, 30), (64, 0), (65, 100),
                                                 (260, 33))):
            label = f"ccm {key_bytes} {i}"
            key, nonce = fixed_bytes(label + " key", key_bytes), fixed_bytes(label + " nonce", 7 + i % 7)
            aad, msg, tag_bytes = fixed_bytes(label + " aad", aad_bytes), fixed_bytes(label, length), 4 + 2 * (i % 7)
            ct, tag = ccm(Rijndael(key, 16), nonce, aad, msg, tag_bytes)
            row = test(f"{length} bytes of message, {aad_bytes} of associated data", key, msg, ct, nonce,
                       aad=aad.hex(), tag=tag.hex())
            groups.append(group("Ccm", 16, key_bytes, [row], ivSize=8 * len(nonce), tagSize=8 * tag_bytes))
    return groups


def files():
    print(f"agrees with {len(PUBLISHED)} published values of Rijndael and {check()} AES vectors")
    made = "computed with tools/vectors/rijndael.py"
    published = "Published values of Rijndael; key and plaintext are leading bits of e and pi in hexadecimal"
    like = f"{made}; key and plaintext as in published.json"
    yield "published", document("Rijndael-ECB", published, f"facts; {OWN}", constants(PUBLISHED))
    yield "constants", document("Rijndael-ECB", like, OWN, constants(pairs()))
    yield "ecb", document("Rijndael-ECB", made, OWN, ecb_groups())
    yield "cbc", document("Rijndael-CBC", made, OWN, cbc_groups())
    yield "ctr", document("Rijndael-CTR", made, OWN, ctr_groups())
    yield "ccm", document("Rijndael-CCM", made, OWN, ccm_groups())


if __name__ == "__main__":
    layout.main(__doc__, "rijndael", files)
