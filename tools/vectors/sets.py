"""The sets of vectors of RC6 and LEA, whose blocks are four words of 32 bits: ECB, CBC, CTR and CCM.

`name` is the family as in names of files, such as `rc6`. `cipher` turns a key into a function that encrypts a block.
"""

import modes
from modes import fixed_bytes

KEY_BITS = (128, 192, 256)


def test(comment, key, msg, ct, **more):
    hexed = {name: value.hex() if isinstance(value, bytes) else value for name, value in more.items()}
    return {"comment": comment, "key": key.hex(), **hexed, "msg": msg.hex(), "ct": ct.hex(), "result": "valid"}


def ecb(name, cipher):
    """Single bits of key and plaintext, words at the limits of rotation and multiplication, then many blocks."""
    for bits in KEY_BITS:
        tests = []
        for bit in range(0, bits, 3):
            key = (1 << bit).to_bytes(bits // 8, "little")
            tests.append(test(f"bit {bit} of the key", key, bytes(16), cipher(key)(bytes(16))))
        key = fixed_bytes(f"{name} ecb key {bits}", bits // 8)
        for bit in range(0, 128, 3):
            msg = (1 << bit).to_bytes(16, "little")
            tests.append(test(f"bit {bit} of the plaintext", key, msg, cipher(key)(msg)))
        for word in (0, 1, 0x1f, 0x20, 0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaaa, 0xffff0000, 0xffffffff):
            msg = word.to_bytes(4, "little") * 4
            tests.append(test(f"plaintext words {word:08x}", key, msg, cipher(key)(msg)))
        for count in (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65):
            msg = fixed_bytes(f"{name} ecb message {bits} {count}", 16 * count)
            tests.append(test(f"{count} blocks", key, msg, modes.ecb(cipher(key), 16, msg)))
        yield {"type": f"{name.title()}Ecb", "keySize": bits, "tests": tests}


def cbc(name, cipher):
    for bits in KEY_BITS:
        tests = []
        for count in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65, 130):
            key, iv = (fixed_bytes(f"{name} cbc {what} {bits} {count}", size) for what, size in
                       (("key", bits // 8), ("iv", 16)))
            msg = fixed_bytes(f"{name} cbc message {bits} {count}", 16 * count)
            tests.append(test(f"{count} blocks", key, msg, modes.cbc(cipher(key), iv, msg), iv=iv))
        yield {"type": f"{name.title()}Cbc", "keySize": bits, "tests": tests}


def ctr(name, cipher):
    """Lengths at the edges of blocks and batches, and counters with a carry out of 8 to 128 bits."""
    carries = {
        "the counter wraps past 2^128": "ff" * 16,
        "the counter wraps past 2^128 in the third block": "ff" * 15 + "fd",
        "a carry out of the low 64 bits": "00112233445566778" + "f" * 15,
        "a carry out of the low 64 bits in the ninth block": "0011223344556677" + "f" * 14 + "f7",
        "a carry out of the low 32 bits": "00112233445566778899aabb" + "f" * 8,
        "a carry out of the low 32 bits in the fortieth block": "00112233445566778899aabb" + "ffffffd8",
        "the low 32 bits end with a batch of 32 blocks": "00112233445566778899aabb" + "ffffffe0",
        "the low 32 bits end with a batch of 16 blocks": "00112233445566778899aabb" + "fffffff0",
        "a carry out of the low 8 bits": "00112233445566778899aabbccddee" + "ff",
    }
    for bits in KEY_BITS:
        key, tests = fixed_bytes(f"{name} ctr key {bits}", bits // 8), []
        for length in (1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024,
                       1025):
            counter = fixed_bytes(f"{name} ctr counter {length}", 16)
            msg = fixed_bytes(f"{name} ctr message {length}", length)
            tests.append(test(f"{length} bytes", key, msg, modes.ctr(cipher(key), counter, msg), iv=counter))
        for comment, counter in carries.items():
            counter, msg = bytes.fromhex(counter), fixed_bytes(f"{name} ctr message {comment}", 1057)
            tests.append(test(comment, key, msg, modes.ctr(cipher(key), counter, msg), iv=counter))
        yield {"type": f"{name.title()}Ctr", "keySize": bits, "tests": tests}


def ccm(name, cipher):
    """Lengths at the edges of blocks and batches and of the encoding of the associated data's length, and damaged messages."""
    sizes = [(length, 0) for length in (*range(9), 15, 16, 17, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1023, 1024,
                                        1025)]
    sizes += [(20, length) for length in (1, 13, 14, 15, 29, 30, 31, 45, 46, 47, 255, 256, 257)]
    sizes += [(33, length) for length in (65279, 65280, 65281, 70000)]
    count = 0
    for bits in KEY_BITS:
        for msg_bytes, aad_bytes in sizes:
            count += 1
            nonce_bytes, tag_bytes = 7 + count % 7, 4 + 2 * (count // 7 % 7)
            key = fixed_bytes(f"{name} ccm key {count}", bits // 8)
            nonce = fixed_bytes(f"{name} ccm nonce {count}", nonce_bytes)
            # The associated data repeats 97 bytes, a prime number, so that neighbouring blocks differ.
            pattern = fixed_bytes(f"{name} ccm associated data {count}", min(aad_bytes, 97))
            aad = (pattern * (aad_bytes // 97 + 1))[:aad_bytes]
            msg = fixed_bytes(f"{name} ccm message {count}", msg_bytes)
            ct, tag = modes.ccm(cipher(key), nonce, aad, msg, tag_bytes)
            more = {"aadLength": aad_bytes} if aad_bytes > 97 else {}
            comment = f"{msg_bytes} bytes of message, {aad_bytes} of associated data"
            tests = [test(comment, key, msg, ct, iv=nonce, aad=pattern, **more, tag=tag)]
            if msg_bytes % 8 == 0 and aad_bytes < 64:
                wrong = bytes([tag[0] ^ 1 << count % 8]) + tag[1:]
                tests.append({**tests[0], "tag": wrong.hex(), "result": "invalid", "flags": ["ModifiedTag"],
                              "comment": f"{comment}, a bit of the tag changed"})
            yield {"type": f"{name.title()}Ccm", "keySize": bits, "ivSize": 8 * nonce_bytes, "tagSize": 8 * tag_bytes,
                   "tests": tests}
