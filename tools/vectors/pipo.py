#!/usr/bin/env python3
"""Writes the PIPO vectors under vectors/pipo/; needs nothing but Python:

    tools/vectors/pipo.py          # write the files
    tools/vectors/pipo.py --check  # write nothing, fail when a file would change

No package carries PIPO vectors, so this program implements the cipher: a block is one number, its columns go through
a table of the 8-bit S-box, and the R-layer is a permutation of 64 bits. The table is composed from the S-boxes of
five and three bits as in the paper. Before anything is written, the program checks the values that the paper prints:
the table, both ciphertexts, and the states at the start of rounds 1 and 2.

Kim et al., "PIPO: A Lightweight Block Cipher with Efficient Higher-Order Masking Software Implementations", ICISC 2020.
"""

import hashlib

import layout
from layout import OWN, document

# Test vectors of the paper, as numbers.
PLAINTEXT = 0x098552F6_1E270026
KEY_128 = 0x6DC416DD_779428D2_7E1D20AD_2E152297
KEY_256 = 0x009A3AA4_76A96DB5_54A71206_26D15633_6DC416DD_779428D2_7E1D20AD_2E152297
CIPHERTEXT_128 = 0x6B6B2981_AD5D0327
CIPHERTEXT_256 = 0x816DAE6F_B6523889
STATES_128 = [0x7798725B_303222B1, 0xC8890CFA_E4D98D6E]
S_BOX_ROWS = {
    0: "5ef9fc003f85ba5b1837b2c671c3749d",
    1: "a7940de1ca68532e4962eb97a40e2dd0",
    7: "b59a1ff344f641304c67ee12218ba8d5",
}


# The cipher


def bit(number, index):
    return number >> index & 1


def bits(*values):
    """The number whose bits are these, the lowest first."""
    return sum(value << index for index, value in enumerate(values))


def s5_first(x):
    """Five bits: rows 3 to 7, the lowest row the lowest bit."""
    x3, x4, x5, x6, x7 = (bit(x, i) for i in range(5))
    x5 ^= x7 & x6
    x4 ^= x3 & x5
    x7 ^= x4
    x6 ^= x3
    x3 ^= x4 | x5
    x5 ^= x7
    x4 ^= x5 & x6
    return bits(x3, x4, x5, x6, x7)


def s3(x):
    """Three bits: rows 0 to 2."""
    x0, x1, x2 = (bit(x, i) for i in range(3))
    x2 ^= x1 & x0
    x0 ^= x2 | x1
    x1 ^= x2 | x0
    return bits(x0, x1, 1 - x2)


def s5_second(c):
    """Five bits: two (rows 5 and 6) are outputs, three (rows 3, 4 and 7) are added to rows 0 to 2."""
    c3, c4, b5, a6, c7 = (bit(c, i) for i in range(5))
    c6 = a6 ^ (c7 & b5)
    for_row_2 = c7 ^ c6
    d6 = c6 ^ (c4 | c3)
    for_row_0 = c3 ^ b5
    d5 = b5 ^ (d6 | c4)
    for_row_1 = c4 ^ (for_row_0 & for_row_2)
    return d5, d6, for_row_0, for_row_1, for_row_2


def s_box(value):
    """The unbalanced bridge: S3's output is added to that of the first S5, which goes through the second S5 and back into rows 0 to 2."""
    three, five = s3(value & 7), s5_first(value >> 3)
    b0, b1, b2 = (bit(three, i) for i in range(3))
    five ^= bits(b2, b0, 0, 0, b1)
    d5, d6, for_row_0, for_row_1, for_row_2 = s5_second(five)
    c3, c4, _, _, c7 = (bit(five, i) for i in range(5))
    return bits(c7, b0 ^ for_row_0, b2 ^ for_row_2, d6, d5, c4, c3, b1 ^ for_row_1)


S_BOX = [s_box(value) for value in range(256)]
INVERSE_S_BOX = [S_BOX.index(value) for value in range(256)]

# Rotation of each row to the left, in bits.
ROTATIONS = (0, 7, 4, 3, 6, 5, 1, 2)
# The new place of bit i of a block. Row i // 8 is a byte.
R_LAYER = [8 * row + (column + left) % 8 for row, left in enumerate(ROTATIONS) for column in range(8)]


def by_bytes(places):
    """A permutation of 64 bits as a table for each byte: the 64-bit result of each value."""
    return [[sum(bit(value, i) << places[8 * byte + i] for i in range(8)) for value in range(256)] for byte in range(8)]


# Columns become bytes, and back.
TRANSPOSE = by_bytes([8 * column + row for row in range(8) for column in range(8)])
FORWARD = by_bytes(R_LAYER)
BACKWARD = by_bytes([R_LAYER.index(i) for i in range(64)])


def permute(block, tables):
    return sum(table[byte] for table, byte in zip(tables, block.to_bytes(8, "little")))


def substitute(block, table):
    """Passes each of the eight columns through the table. Bit r of a value is in row r."""
    columns = permute(block, TRANSPOSE).to_bytes(8, "little")
    return permute(int.from_bytes(columns.translate(bytes(table)), "little"), TRANSPOSE)


def round_keys(key, key_bits):
    words = [key >> (64 * i) & (2**64 - 1) for i in range(key_bits // 64)]
    return [words[i % len(words)] ^ i for i in range({128: 14, 256: 18}[key_bits])]


def states(key, key_bits, block):
    """The state after each round key: the first is the input of round 1, the last is the ciphertext."""
    first, *others = round_keys(key, key_bits)
    block ^= first
    yield block
    for round_key in others:
        block = permute(substitute(block, S_BOX), FORWARD) ^ round_key
        yield block


def encrypt(key, key_bits, block):
    *_, last = states(key, key_bits, block)
    return last


def decrypt(key, key_bits, block):
    first, *others = round_keys(key, key_bits)
    for round_key in reversed(others):
        block = substitute(permute(block ^ round_key, BACKWARD), INVERSE_S_BOX)
    return block ^ first


def check_against_the_paper():
    assert sorted(S_BOX) == list(range(256))
    for row, values in S_BOX_ROWS.items():
        assert bytes(S_BOX[16 * row:16 * row + 16]).hex() == values, row
    for key, key_bits, ciphertext in ((KEY_128, 128, CIPHERTEXT_128), (KEY_256, 256, CIPHERTEXT_256)):
        assert encrypt(key, key_bits, PLAINTEXT) == ciphertext, key_bits
        assert decrypt(key, key_bits, ciphertext) == PLAINTEXT, key_bits
    assert list(states(KEY_128, 128, PLAINTEXT))[:2] == STATES_128


# Modes on bytes. The least significant byte of block and key comes first.


def number(data):
    return int.from_bytes(data, "little")


def encrypt_bytes(key, block):
    out = encrypt(number(key), 8 * len(key), number(block)).to_bytes(8, "little")
    assert decrypt(number(key), 8 * len(key), number(out)) == number(block)
    return out


def blocks(data):
    return [data[i:i + 8] for i in range(0, len(data), 8)]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def ecb(key, message):
    return b"".join(encrypt_bytes(key, block) for block in blocks(message))


def cbc(key, iv, message):
    out = [iv]
    for block in blocks(message):
        out.append(encrypt_bytes(key, xor(block, out[-1])))
    return b"".join(out[1:])


def ctr(key, iv, message):
    """CTR with a counter in the last two bytes, big-endian. `None` if the counter would overflow."""
    first = int.from_bytes(iv[6:], "big")
    if first + len(blocks(message)) > 2**16:
        return None
    counters = [iv[:6] + (first + i).to_bytes(2, "big") for i in range(len(blocks(message)))]
    return b"".join(xor(block, encrypt_bytes(key, counter)) for block, counter in zip(blocks(message), counters))


# Tests

KEY_BITS = (128, 256)
# Counts around a block and around the batches of backends, which have 8 to 64 blocks.
BLOCK_COUNTS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129)
BYTE_COUNTS = (*range(10), 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513,
               1023, 1024, 1025)


def random(label, length):
    """Reproducible bytes: SHAKE128 of a label."""
    return hashlib.shake_128(f"tress pipo {label}".encode()).digest(length)


def test(comment, key, message, ciphertext, iv=None, **more):
    values = {"comment": comment, "key": key.hex(), "iv": iv and iv.hex(), "msg": message.hex(),
              "ct": ciphertext.hex(), "result": "valid", **more}
    return {name: value for name, value in values.items() if value is not None}


def published():
    for bits_of_key, key, ct in ((128, KEY_128, CIPHERTEXT_128), (256, KEY_256, CIPHERTEXT_256)):
        one = test(f"PIPO-64/{bits_of_key}", key.to_bytes(bits_of_key // 8, "little"),
                   PLAINTEXT.to_bytes(8, "little"), ct.to_bytes(8, "little"))
        yield {"type": "PipoEcb", "keySize": bits_of_key, "tests": [one]}


def single_bits():
    """Every single bit of a block under a zero key, every single bit of a key with a zero block, and all ones."""
    for key_bits in KEY_BITS:
        zero = bytes(key_bits // 8)
        cases = [(f"bit {i} of the block", zero, (1 << i).to_bytes(8, "little")) for i in range(64)]
        cases += [(f"bit {i} of the key", (1 << i).to_bytes(key_bits // 8, "little"), bytes(8))
                  for i in range(key_bits)]
        cases += [("all zero", zero, bytes(8)), ("all ones", b"\xff" * len(zero), b"\xff" * 8)]
        tests = [test(comment, key, message, ecb(key, message)) for comment, key, message in cases]
        yield {"type": "PipoEcb", "keySize": key_bits, "tests": tests}


def s_box_columns():
    """Every value in every column, under a zero key, so that the first S-layer gets the block unchanged. Column j of
    block v has the value v + 37 j."""
    message = b""
    for value in range(256):
        columns = [(value + 37 * column) % 256 for column in range(8)]
        message += bytes(bits(*(bit(columns[column], row) for column in range(8))) for row in range(8))
    for key_bits in KEY_BITS:
        zero = bytes(key_bits // 8)
        yield {"type": "PipoEcb", "keySize": key_bits,
               "tests": [test("all values in all columns", zero, message, ecb(zero, message))]}


def ecb_lengths():
    for key_bits in KEY_BITS:
        tests = []
        for count in BLOCK_COUNTS:
            key, message = random(f"ecb key {key_bits} {count}", key_bits // 8), random(f"ecb {count}", 8 * count)
            tests.append(test(f"{count} blocks", key, message, ecb(key, message)))
        yield {"type": "PipoEcb", "keySize": key_bits, "tests": tests}


def cbc_lengths():
    for key_bits in KEY_BITS:
        tests = []
        for count in BLOCK_COUNTS:
            key, message = random(f"cbc key {key_bits} {count}", key_bits // 8), random(f"cbc {count}", 8 * count)
            iv = random(f"cbc iv {count}", 8)
            tests.append(test(f"{count} blocks", key, message, cbc(key, iv, message), iv))
        yield {"type": "PipoCbc", "keySize": key_bits, "ivSize": 64, "tests": tests}


def ctr_lengths():
    for key_bits in KEY_BITS:
        tests = []
        for count in BYTE_COUNTS:
            key, message = random(f"ctr key {key_bits} {count}", key_bits // 8), random(f"ctr {count}", count)
            # Far enough from the counter's last value.
            iv = random(f"ctr iv {count}", 7) + b"\x00"
            iv = iv[:6] + bytes([iv[6] % 0xF0]) + random(f"ctr low {count}", 1)
            tests.append(test(f"{count} bytes", key, message, ctr(key, iv, message), iv))
        yield {"type": "PipoCtr", "keySize": key_bits, "ivSize": 64, "tests": tests}


def ctr_borders():
    """Carries from the last byte, and the counter's limit: the last possible block, and one more."""
    for key_bits in KEY_BITS:
        key, tests = random(f"border key {key_bits}", key_bits // 8), []
        nonces = [random("border nonce", 6), b"\xff" * 6]
        for first in (0x0000, 0x00FF, 0x00FE, 0x00C0, 0x01C1, 0xFEFF, 0x7FFF):
            message = random(f"border {first}", 8 * 130)
            iv = nonces[0] + first.to_bytes(2, "big")
            tests.append(test(f"130 blocks from {first:#06x}", key, message, ctr(key, iv, message), iv))
        for nonce in nonces:
            for left in (1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 130):
                iv = nonce + (2**16 - left).to_bytes(2, "big")
                for size, what in ((8 * left, "to the end"), (8 * left - 3, "not quite to the end")):
                    message = random(f"end {left}", size)
                    tests.append(test(f"{left} blocks left, {what}", key, message, ctr(key, iv, message), iv))
                for size, what in ((8 * left + 1, "a byte too many"), (8 * left + 8, "a block too many")):
                    message = random(f"past {left}", size)
                    assert ctr(key, iv, message) is None
                    tests.append(test(f"{left} blocks left, {what}", key, message, b"", iv, result="invalid",
                                      flags=["CounterExhausted"]))
        yield {"type": "PipoCtr", "keySize": key_bits, "ivSize": 64, "tests": tests}


# Writing


MADE = ("computed with tools/vectors/pipo.py, which is checked against the published values", OWN)
EXHAUSTED = {"CounterExhausted": "the message has more blocks than the 16-bit counter has values left"}
FILES = {
    "published": ("PIPO-ECB", "the paper, appendix: test vectors of PIPO-64/128 and PIPO-64/256",
                  "facts of the paper", published),
    "single-bits": ("PIPO-ECB", *MADE, single_bits),
    "s-box-columns": ("PIPO-ECB", *MADE, s_box_columns),
    "ecb-lengths": ("PIPO-ECB", *MADE, ecb_lengths),
    "cbc-lengths": ("PIPO-CBC", *MADE, cbc_lengths),
    "ctr-lengths": ("PIPO-CTR", *MADE, ctr_lengths),
    "ctr-borders": ("PIPO-CTR", *MADE, ctr_borders, EXHAUSTED),
}


def files():
    check_against_the_paper()
    for name, (algorithm, source, licence, groups, *notes) in FILES.items():
        yield name, document(algorithm, source, licence, groups(), *notes)


if __name__ == "__main__":
    layout.main(__doc__, "pipo", files)
