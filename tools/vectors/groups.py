#!/usr/bin/env python3
"""Makes the groups of tress's DSA and Schnorr keys, by FIPS 186-4, A.1.1.2 (p and q from a seed) and A.2.3
(g from the same seed), with SHA-256 and Python's integers alone:

    tools/vectors/groups.py [--check]

The seed is the SHA-256 of a sentence with a number, the first one whose seed gives q and p. So nobody could choose the
groups, and every run gives the same ones. crates/sign tests that its constants are these, and computes them again with
its own arithmetic.
"""

import hashlib
import math
import random
import sys

import layout
from layout import OWN, document

# Product of all odd primes below 100,000: most candidates share a factor with it.
SMALL_PRIMES = math.prod(n for n in range(3, 100_000, 2) if all(n % d for d in range(3, math.isqrt(n) + 1, 2)))
# With --check the groups are compared with those in the file, which were made with all rounds.
ROUNDS = 4 if "--check" in sys.argv else 64


def sha256(data):
    return int.from_bytes(hashlib.sha256(data).digest(), "big")


def is_prime(number):
    """Whether a large number is prime: trial division, then Miller-Rabin with random bases."""
    if number % 2 == 0 or math.gcd(SMALL_PRIMES % number, number) > 1:
        return False
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(ROUNDS):
        power = pow(random.randrange(2, number - 1), odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def q_and_p(bits_p, bits_q, seed):
    """A.1.1.2, steps 3 to 12, for one seed. `None` if the seed gives no q or no p."""
    size = 8 * len(seed)
    blocks = -(-bits_p // 256) - 1
    top_bits = bits_p - 1 - blocks * 256
    u = sha256(seed) % 2 ** (bits_q - 1)
    q = 2 ** (bits_q - 1) + u + 1 - u % 2
    if not is_prime(q):
        return None
    offset = 1
    for counter in range(4 * bits_p):
        w = 0
        for j in range(blocks + 1):
            value = (int.from_bytes(seed, "big") + offset + j) % 2**size
            v = sha256(value.to_bytes(len(seed), "big"))
            w += (v % 2**top_bits if j == blocks else v) << (256 * j)
        x = w + 2 ** (bits_p - 1)
        p = x - (x % (2 * q) - 1)
        if p >= 2 ** (bits_p - 1) and is_prime(p):
            return q, p, counter
        offset += blocks + 1
    return None


def generator(p, q, seed, index):
    """A.2.3."""
    for count in range(1, 2**16):
        w = sha256(seed + b"ggen" + bytes([index]) + count.to_bytes(2, "big"))
        g = pow(w, (p - 1) // q, p)
        if g >= 2:
            return g
    raise AssertionError("no generator")


def group(bits_p, bits_q):
    number = 0
    while True:
        number += 1
        sentence = f"tress group of {bits_p} and {bits_q} bits, number {number}"
        seed = hashlib.sha256(sentence.encode()).digest()
        found = q_and_p(bits_p, bits_q, seed)
        if found:
            q, p, counter = found
            return {
                "comment": sentence, "pSize": bits_p, "qSize": bits_q, "seed": seed.hex(), "counter": counter,
                "index": 1, "p": f"{p:x}", "q": f"{q:x}", "g": f"{generator(p, q, seed, 1):0{bits_p // 4}x}",
            }


def files():
    source = "tools/vectors/groups.py: FIPS 186-4, A.1.1.2 and A.2.3, SHA-256, seeds that are hashes of sentences"
    tests = [{**group(*bits), "result": "valid"} for bits in ((2048, 256), (3072, 256))]
    yield "groups", document("DSA domain parameters", source, OWN, [{"type": "DsaGroup", "sha": "SHA-256", "tests": tests}])


if __name__ == "__main__":
    layout.main(__doc__, "sign", files)
