#!/usr/bin/env python3
"""Writes the RC6 vectors under vectors/rc6/:

    python3 -m venv .venv
    .venv/bin/pip install -r tools/vectors/requirements.txt
    .venv/bin/python tools/vectors/rc6.py [--check]

`--check` writes nothing and fails when a file would change. The cipher below was written from the paper (Rivest,
Robshaw, Sidney, Yin: "The RC6 Block Cipher", version 1.1), independently of the Rust code. Before anything is written, it
has to give the published vectors, and `modes.py` has to agree with OpenSSL.
"""

import layout
import modes
import sets
from layout import OWN, document
from modes import fixed_bytes
from sets import KEY_BITS, test

# (comment, key, plaintext, ciphertext), in the byte order of the AES submission: the paper's appendix; four known
# answers of the submission's files (copied from test suites); T. Krovetz, draft-krovetz-rc6-rc5-vectors-00.
PUBLISHED = [
    ("key of 128 bits, zeros", "00" * 16, "00" * 16, "8fc3a53656b1f778c129df4e9848a41e"),
    ("key of 128 bits", "0123456789abcdef0112233445566778", "02132435465768798a9bacbdcedfe0f1",
     "524e192f4715c6231f51f6367ea43f18"),
    ("key of 192 bits, zeros", "00" * 24, "00" * 16, "6cd61bcb190b30384e8a3f168690ae82"),
    ("key of 192 bits", "0123456789abcdef0112233445566778899aabbccddeeff0", "02132435465768798a9bacbdcedfe0f1",
     "688329d019e505041e52e92af95291d4"),
    ("key of 256 bits, zeros", "00" * 32, "00" * 16, "8f5fbd0510d15fa893fa3fda6e857ec2"),
    ("key of 256 bits", "0123456789abcdef0112233445566778899aabbccddeeff01032547698badcfe",
     "02132435465768798a9bacbdcedfe0f1", "c8241816f0d7e48920ad16a1674e5d48"),
    ("AES submission, variable text", "00" * 16, "80" + "00" * 15, "f71f65e7b80c0c6966fee607984b5cdf"),
    ("AES submission, variable key of 192 bits", "00" * 16 + "80" + "00" * 7, "00" * 16,
     "dd04c176440bbc6686c90aee775bd368"),
    ("AES submission, variable key of 192 bits", "00" * 19 + "10" + "00" * 4, "00" * 16,
     "937fe02d20fcb72f0f57201012b88ba4"),
    ("AES submission, variable key of 128 bits", "00000001" + "00" * 12, "00" * 16,
     "8a380594d7396453771a1dfbe2914c8e"),
    ("draft-krovetz-rc6-rc5-vectors-00, RC6-32/20/16", bytes(range(16)).hex(), bytes(range(16)).hex(),
     "3a96f9c7f6755cfe46f00e3dcd5d2a3c"),
]

# The cipher, for words of W bits. Python's integers are reduced where the paper reduces.

W, LG_W = 32, 5
MASK = 2 ** W - 1


def left(x, y):
    y %= W
    return (x << y | x >> (W - y)) & MASK


def right(x, y):
    return left(x, W - y % W)


def key_schedule(key, rounds):
    c = max(1, -(-len(key) // 4))
    words = [int.from_bytes(key[4 * i:4 * i + 4], "little") for i in range(c)]
    # Odd((e - 2) 2^32) and Odd((phi - 1) 2^32).
    table = [(0xB7E15163 + i * 0x9E3779B9) & MASK for i in range(2 * rounds + 4)]
    a = b = 0
    for step in range(3 * max(c, len(table))):
        i, j = step % len(table), step % c
        a = table[i] = left(table[i] + a + b & MASK, 3)
        b = words[j] = left(words[j] + a + b & MASK, a + b)
    return table


def encrypt_block(table, block):
    a, b, c, d = (int.from_bytes(block[i:i + 4], "little") for i in range(0, 16, 4))
    b, d = b + table[0] & MASK, d + table[1] & MASK
    for i in range(2, len(table) - 2, 2):
        t = left(b * (2 * b + 1) & MASK, LG_W)
        u = left(d * (2 * d + 1) & MASK, LG_W)
        a, b, c, d = b, left(c ^ u, t) + table[i + 1] & MASK, d, left(a ^ t, u) + table[i] & MASK
    a, c = a + table[-2] & MASK, c + table[-1] & MASK
    return b"".join(word.to_bytes(4, "little") for word in (a, b, c, d))


def decrypt_block(table, block):
    a, b, c, d = (int.from_bytes(block[i:i + 4], "little") for i in range(0, 16, 4))
    a, c = a - table[-2] & MASK, c - table[-1] & MASK
    for i in range(len(table) - 4, 0, -2):
        a, b, c, d = d, a, b, c
        t = left(b * (2 * b + 1) & MASK, LG_W)
        u = left(d * (2 * d + 1) & MASK, LG_W)
        c = right(c - table[i + 1] & MASK, t) ^ u
        a = right(a - table[i] & MASK, u) ^ t
    b, d = b - table[0] & MASK, d - table[1] & MASK
    return b"".join(word.to_bytes(4, "little") for word in (a, b, c, d))


def cipher(key, rounds=20):
    table = key_schedule(key, rounds)

    def encrypt(block):
        out = encrypt_block(table, block)
        assert decrypt_block(table, out) == block
        return out

    return encrypt


def check_published():
    for comment, key, plain, sealed in PUBLISHED:
        assert cipher(bytes.fromhex(key))(bytes.fromhex(plain)).hex() == sealed, comment


# The sets


def published():
    for bits in KEY_BITS:
        tests = [test(comment, *map(bytes.fromhex, values)) for comment, *values in PUBLISHED
                 if 4 * len(values[0]) == bits]
        yield {"type": "Rc6Ecb", "keySize": bits, "tests": tests}


def general():
    """Other numbers of rounds and other lengths of keys, from 0 to the maximum."""
    for key_bytes in (0, 1, 3, 4, 5, 8, 15, 16, 17, 32, 33, 100, 254, 255):
        for rounds in (0, 1, 2, 5, 8, 12, 19, 20, 21, 24, 128, 255):
            key, msg = fixed_bytes(f"rc6 general key {key_bytes}", key_bytes), fixed_bytes(f"rc6 general {rounds}", 16)
            tests = [test(f"RC6-32/{rounds}/{key_bytes}", key, msg, cipher(key, rounds)(msg))]
            yield {"type": "Rc6General", "keySize": 8 * key_bytes, "rounds": rounds, "tests": tests}


def files():
    check_published()
    modes.check()
    made = "computed with tools/vectors/rc6.py"
    published_by = ("R. L. Rivest, M. J. B. Robshaw, R. Sidney, Y. L. Yin, The RC6 Block Cipher, "
                    "version 1.1, appendix; where the comment says so, the AES submission or draft-krovetz-rc6-rc5-vectors-00")
    facts = "facts of the paper, the submission and the draft"
    yield "published", document("RC6-ECB", published_by, facts, published())
    yield "ecb", document("RC6-ECB", made, OWN, sets.ecb("rc6", cipher))
    yield "cbc", document("RC6-CBC", made, OWN, sets.cbc("rc6", cipher))
    yield "ctr", document("RC6-CTR", made, OWN, sets.ctr("rc6", cipher))
    yield "ccm", document("RC6-CCM", made, OWN, sets.ccm("rc6", cipher))
    yield "general", document("RC6-32/r/b", made, OWN, general())


if __name__ == "__main__":
    layout.main(__doc__, "rc6", files)
