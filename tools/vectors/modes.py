"""Modes of operation over any block cipher, written like their standards. They compute the vectors of ciphers that
OpenSSL lacks. `check` compares them with OpenSSL's modes with AES.

A cipher is a function from a block to a block. A block has the length of the initialisation vector.
"""

import hashlib
import itertools

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM


def fixed_bytes(label, length):
    """Pseudorandom bytes that are the same in every run."""
    return hashlib.shake_128(label.encode()).digest(length)


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def blocks(data, size):
    return [data[i:i + size] for i in range(0, len(data), size)]


def ecb(encrypt, size, data):
    return b"".join(encrypt(block) for block in blocks(data, size))


def cbc(encrypt, iv, data):
    """SP 800-38A section 6.2."""
    out = []
    for block in blocks(data, len(iv)):
        iv = encrypt(xor(iv, block))
        out.append(iv)
    return b"".join(out)


def ctr(encrypt, counter, data):
    """SP 800-38A section 6.5. The whole block is a big-endian counter that wraps."""
    size, number, out = len(counter), int.from_bytes(counter, "big"), []
    for block in blocks(data, size):
        out.append(xor(encrypt(number.to_bytes(size, "big"))[:len(block)], block))
        number = (number + 1) % (1 << (8 * size))
    return b"".join(out)


def ccm(encrypt, nonce, aad, data, tag_bytes):
    """SP 800-38C section 6.1 with the formatting of appendix A: (ciphertext, tag)."""
    q = 15 - len(nonce)
    flags = (64 if aad else 0) + 8 * ((tag_bytes - 2) // 2) + (q - 1)
    head = bytes([flags]) + nonce + len(data).to_bytes(q, "big")
    if aad:
        if len(aad) < 0xff00:
            head += len(aad).to_bytes(2, "big")
        else:
            assert len(aad) < 1 << 32
            head += b"\xff\xfe" + len(aad).to_bytes(4, "big")
    y = bytes(16)
    for part in (head + aad, data):
        for block in blocks(part, 16):
            y = encrypt(xor(y, block.ljust(16, b"\0")))
    counter = bytes([q - 1]) + nonce + bytes(q)
    stream = ctr(encrypt, counter, bytes(16) + data)
    return stream[16:], xor(y, stream[:16])[:tag_bytes]


def check():
    """Compares every mode with AES to OpenSSL's."""
    for bits, length in itertools.product((128, 192, 256), (0, 1, 15, 16, 17, 32, 100, 1000)):
        key, iv = fixed_bytes(f"check key {bits}", bits // 8), fixed_bytes(f"check iv {length}", 16)
        data = fixed_bytes(f"check data {length}", length)
        whole = data[:length // 16 * 16]
        raw = Cipher(algorithms.AES(key), modes.ECB())

        def encrypt(block):
            return raw.encryptor().update(block)

        def openssl(mode, data):
            return Cipher(algorithms.AES(key), mode).encryptor().update(data)

        assert ecb(encrypt, 16, whole) == openssl(modes.ECB(), whole)
        assert cbc(encrypt, iv, whole) == openssl(modes.CBC(iv), whole)
        for counter in (iv, b"\xff" * 16, b"\x01" * 8 + b"\xff" * 8):
            assert ctr(encrypt, counter, data) == openssl(modes.CTR(counter), data)
        aad_lengths = (0, 1, 14, 15, 65279, 65280, 70000)
        for nonce_bytes, tag_bytes, aad_bytes in zip(range(7, 14), range(4, 18, 2), aad_lengths):
            aad = fixed_bytes(f"check associated data {aad_bytes}", aad_bytes)
            sealed = AESCCM(key, tag_length=tag_bytes).encrypt(iv[:nonce_bytes], data, aad)
            assert b"".join(ccm(encrypt, iv[:nonce_bytes], aad, data, tag_bytes)) == sealed
