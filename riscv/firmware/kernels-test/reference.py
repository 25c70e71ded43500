"""One-block AES (FIPS 197) and RC6 (the paper), written from their definitions, for lengths that no test vector has."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tools/rv32-aes"))
from circuit import sbox

S = sbox()  # computed from the definition, not from a circuit


def double(x):
    return x << 1 ^ (0x11B if x & 0x80 else 0)


class Aes:
    block = 16

    def __init__(self, key):
        w, nk, rcon = [list(key[i : i + 4]) for i in range(0, len(key), 4)], len(key) // 4, 1
        self.rounds = nk + 6
        for i in range(nk, 4 * (self.rounds + 1)):
            t = w[i - 1]
            if i % nk == 0:
                t = [S[x] for x in t[1:] + t[:1]]
                t[0] ^= rcon
                rcon = double(rcon)
            elif nk > 6 and i % nk == 4:
                t = [S[x] for x in t]
            w.append([a ^ b for a, b in zip(w[i - nk], t)])
        self.keys = [sum(w[4 * r : 4 * r + 4], []) for r in range(self.rounds + 1)]

    def encrypt(self, block):
        x = [a ^ b for a, b in zip(block, self.keys[0])]
        for r in range(1, self.rounds + 1):
            x = [S[x[(i + 4 * (i % 4)) % 16]] for i in range(16)]
            if r < self.rounds:
                y = []
                for c in range(0, 16, 4):
                    a = x[c : c + 4]
                    y += [double(a[i]) ^ double(a[(i + 1) % 4]) ^ a[(i + 1) % 4] ^ a[(i + 2) % 4] ^ a[(i + 3) % 4]
                          for i in range(4)]
                x = y
            x = [a ^ b for a, b in zip(x, self.keys[r])]
        return bytes(x)


MASK = 0xFFFFFFFF


def left(x, n):
    return (x << n % 32 | x >> (32 - n % 32)) & MASK if n % 32 else x


class Rc6:
    def __init__(self, key):
        words = list(struct.unpack(f"<{len(key) // 4}I", key))
        self.s = [(0xB7E15163 + i * 0x9E3779B9) & MASK for i in range(44)]
        a = b = 0
        for n in range(132):
            i, j = n % 44, n % len(words)
            a = self.s[i] = left((self.s[i] + a + b) & MASK, 3)
            b = words[j] = left((words[j] + a + b) & MASK, a + b & 31)

    def encrypt(self, block):
        a, b, c, d = struct.unpack("<4I", block)
        b, d = b + self.s[0] & MASK, d + self.s[1] & MASK
        for i in range(1, 21):
            t, u = left(b * (2 * b + 1) & MASK, 5), left(d * (2 * d + 1) & MASK, 5)
            a, c = left(a ^ t, u) + self.s[2 * i] & MASK, left(c ^ u, t) + self.s[2 * i + 1] & MASK
            a, b, c, d = b, c, d, a
        return struct.pack("<4I", a + self.s[42] & MASK, b, c + self.s[43] & MASK, d)


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def blocks(data):
    return [data[i : i + 16] for i in range(0, len(data), 16)]


def ecb(cipher, data):
    return b"".join(cipher.encrypt(b) for b in blocks(data))


def cbc(cipher, iv, data):
    out = []
    for b in blocks(data):
        iv = cipher.encrypt(xor(iv, b))
        out.append(iv)
    return b"".join(out)


def ctr(cipher, counter, data):
    n = int.from_bytes(counter, "big")
    return b"".join(xor(b, cipher.encrypt(((n + i) % 2**128).to_bytes(16, "big"))) for i, b in enumerate(blocks(data)))


def ccm(cipher, nonce, aad, data, tag_length):
    """Ciphertext and tag (SP 800-38C)."""
    q = 15 - len(nonce)
    head = bytes([64 * bool(aad) + (tag_length - 2) // 2 * 8 + q - 1]) + nonce + len(data).to_bytes(q, "big")
    if aad:
        prefix = struct.pack(">H", len(aad)) if len(aad) < 0xFF00 else b"\xff\xfe" + struct.pack(">I", len(aad))
        head += prefix + aad
    mac = bytes(16)
    for part in (head, data):
        for b in blocks(part):
            mac = cipher.encrypt(xor(mac, b.ljust(16, b"\0")))
    zero = bytes([q - 1]) + nonce + bytes(q)
    first = zero[:-1] + b"\1"
    return ctr(cipher, first, data), xor(mac, cipher.encrypt(zero))[:tag_length]
