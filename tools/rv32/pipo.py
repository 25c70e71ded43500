"""PIPO from the paper: Kim et al., ICISC 2020. Slow and plain: what the kernels are held against."""

# The S-box as the paper's table gives it would do as well; these are the formulas of its listing, on bits or on bytes.
ROTATIONS = [0, 7, 4, 3, 6, 5, 1, 2]


def s_layer(x):
    x = list(x)
    x[5] ^= x[7] & x[6]
    x[4] ^= x[3] & x[5]
    x[7] ^= x[4]
    x[6] ^= x[3]
    x[3] ^= x[4] | x[5]
    x[5] ^= x[7]
    x[4] ^= x[5] & x[6]
    x[2] ^= x[1] & x[0]
    x[0] ^= x[2] | x[1]
    x[1] ^= x[2] | x[0]
    x[2] ^= 0xFF
    x[7] ^= x[1]
    x[3] ^= x[2]
    x[4] ^= x[0]
    t = [x[7], x[3], x[4]]
    x[6] ^= t[0] & x[5]
    t[0] ^= x[6]
    x[6] ^= t[2] | t[1]
    t[1] ^= x[5]
    x[5] ^= x[6] | t[2]
    t[2] ^= t[1] & t[0]
    x[2] ^= t[0]
    t[0] = x[1] ^ t[2]
    x[1] = x[0] ^ t[1]
    x[0] = x[7]
    x[7] = t[0]
    t[1] = x[3]
    x[3] = x[6]
    x[6] = t[1]
    t[2] = x[4]
    x[4] = x[5]
    x[5] = t[2]
    return x


SBOX = []
for value in range(256):
    image = s_layer([255 if value >> r & 1 else 0 for r in range(8)])
    SBOX.append(sum((image[r] & 1) << r for r in range(8)))
INVERSE_SBOX = [SBOX.index(v) for v in range(256)]


def round_keys(key):
    words = [list(key[8 * i:8 * i + 8]) for i in range(len(key) // 8)]
    rounds = 13 if len(key) == 16 else 17
    return [[words[i % len(words)][0] ^ i] + words[i % len(words)][1:] for i in range(rounds + 1)]


def add(a, b):
    return [p ^ q for p, q in zip(a, b)]


def rotate(v, k):
    return (v << k | v >> 8 - k) & 255


def encrypt(key, block):
    keys = round_keys(key)
    x = add(block, keys[0])
    for k in keys[1:]:
        x = s_layer(x)
        x = add([rotate(v, n) for v, n in zip(x, ROTATIONS)], k)
    return bytes(x)


def decrypt(key, block):
    keys = round_keys(key)
    x = list(block)
    for k in keys[:0:-1]:
        x = [rotate(v, 8 - n) for v, n in zip(add(x, k), ROTATIONS)]
        out = [0] * 8
        for j in range(8):
            v = INVERSE_SBOX[sum((x[r] >> j & 1) << r for r in range(8))]
            for r in range(8):
                out[r] |= (v >> r & 1) << j
        x = out
    return bytes(add(x, keys[0]))


def spread(byte):
    """A row that is the same in all four lanes."""
    return sum(0xF << 4 * j for j in range(8) if byte >> j & 1)


def prepared(keys):
    """The prepared key of four lanes; `keys` is one key or a list of four."""
    lanes = [keys] * 4 if isinstance(keys, (bytes, bytearray)) else keys
    schedules = [round_keys(k) for k in lanes]
    word = lambda i, r: sum(1 << 4 * j + b for b in range(4) for j in range(8) if schedules[b][i][r] >> j & 1)
    out = [word(i, 0) for i in range(len(schedules[0]))]
    for i in range(len(lanes[0]) // 8):
        out += [word(i, r) for r in range(1, 8)]
    return out


assert encrypt(bytes.fromhex("9722152ead201d7ed2289477dd16c46d"), bytes.fromhex("2600271ef6528509")).hex() == "27035dad81296b6b"


def prepared_rows(key, form):
    """The prepared key of one key, with its rows in any form."""
    keys = round_keys(key)
    return [form(k[0]) for k in keys] + [form(keys[i][r]) for i in range(len(key) // 8) for r in range(1, 8)]


def prepared_nonce(key, nonce, form):
    """What round 1 of CTR has of the nonce: a0 a1 b2 of the S-layer, and rows 3 to 5 with their key."""
    x = add(nonce, key[:6])
    x[2] ^= x[1] & x[0]
    x[0] ^= x[2] | x[1]
    x[1] ^= x[2] | x[0]
    x[2] ^= 0xFF
    return [form(v) for v in x]


def cbc_encrypt(key, chain, data):
    out = b""
    for i in range(0, len(data), 8):
        chain = encrypt(key, add(chain, data[i:i + 8]))
        out += chain
    return out


def cbc_decrypt(key, chain, data):
    out = b""
    for i in range(0, len(data), 8):
        out += bytes(add(decrypt(key, data[i:i + 8]), chain))
        chain = data[i:i + 8]
    return out


def ctr(key, nonce, counter, data):
    out = b""
    for i in range(0, len(data), 8):
        stream = encrypt(key, nonce + (counter + i // 8).to_bytes(2, "big"))
        out += bytes(p ^ q for p, q in zip(data[i:i + 8], stream))
    return out


def repeat(byte):
    """A row of one block, four times in a word."""
    return byte * 0x01010101
