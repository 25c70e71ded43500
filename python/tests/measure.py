"""Compares `AESCCM` with PyCA's: alternating in one process; prints medians and quartiles of the ratios.

Times are wall-clock times, so run it on an idle machine. For results of 16 MB in total, the C library fetches memory
from the system and returns it in each call; both times include this.

pip install . && pip install cryptography && python python/tests/measure.py [ROUNDS]
"""

from __future__ import annotations

import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import cryptography
import tress
from cryptography.hazmat.primitives.ciphers.aead import AESCCM as PyCA


def seconds(call: Callable[[], object], repeat: int) -> float:
    """Returns the mean time of a call in seconds."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    spent = time.perf_counter() - start
    gc.enable()
    return spent / repeat


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], repeat: int, rounds: int) -> None:
    """Runs both calls alternately, and prints the ratio of their times."""
    made, expected = ours(), theirs()
    assert made == (b"".join(expected) if isinstance(made, bytearray) and isinstance(expected, list) else expected)
    ratios, times = [], []
    for turn in range(rounds):
        pair = {}
        for side in ("ours", "theirs") if turn % 2 else ("theirs", "ours"):
            pair[side] = seconds(ours if side == "ours" else theirs, repeat)
        ratios.append(pair["theirs"] / pair["ours"])
        times.append(pair["ours"])
    low, middle, high = statistics.quantiles(ratios, n=4)
    spent = statistics.median(times) * 1e6
    print(f"{name:44} {middle:6.2f}x  ({low:.2f} to {high:.2f})   ours {spent:10.2f} us", flush=True)


def one_by_one(call: Callable[..., bytes], messages: list[tuple[bytes, bytes, None]]) -> list[bytes]:
    """Calls `call` for each message, as programs without `encrypt_many` do."""
    return [call(*message) for message in messages]


def main() -> None:
    """Runs all comparisons."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 41
    pool = ThreadPoolExecutor(2)
    key, nonce = os.urandom(16), os.urandom(12)
    ours, theirs = tress.AESCCM(key), PyCA(key)
    print(f"tress {tress.__version__} ({ours.backend}), cryptography {cryptography.__version__}, {os.cpu_count()} CPUs")
    for size in (64, 1024, 16384):
        plain = os.urandom(size)
        sealed = theirs.encrypt(nonce, plain, None)
        repeat = 20_000_000 // (size * 10 + 10_000)
        compare(
            f"encrypt, {size} bytes",
            partial(ours.encrypt, nonce, plain, None),
            partial(theirs.encrypt, nonce, plain, None),
            repeat,
            rounds,
        )
        compare(
            f"decrypt, {size} bytes",
            partial(ours.decrypt, nonce, sealed, None),
            partial(theirs.decrypt, nonce, sealed, None),
            repeat,
            rounds,
        )
    for size in (1024, 16384):
        messages = [(os.urandom(12), os.urandom(size), None) for _ in range(1000)]
        packets = [(message[0], theirs.encrypt(*message), None) for message in messages]
        for threads in (1, 0):
            compare(
                f"encrypt_many, 1000 x {size}, " + ("1 thread" if threads else "all cores"),
                partial(ours.encrypt_many, messages, threads=threads),
                partial(one_by_one, theirs.encrypt, messages),
                4,
                rounds,
            )
        keys = [os.urandom(16) for _ in messages]
        our_keys, their_keys = [tress.AESCCM(key) for key in keys], [PyCA(key) for key in keys]
        keyed = [(key, *message) for key, message in zip(our_keys, messages, strict=True)]

        def each(keys: list[PyCA] = their_keys, messages: list[tuple[bytes, bytes, None]] = messages) -> list[bytes]:
            return [key.encrypt(*message) for key, message in zip(keys, messages, strict=True)]

        for threads in (1, 0):
            compare(
                f"1000 keys, 1000 x {size}, " + ("1 thread" if threads else "all cores"),
                partial(tress.encrypt_many, keyed, threads=threads),
                each,
                4,
                rounds,
            )
        # PyCA 50 releases the interpreter's lock from 2 KiB on, so its users have a pool of threads.
        pairs = list(zip(their_keys, messages, strict=True))
        halves = [pairs[:500], pairs[500:]]

        def pooled(halves: list[list[tuple[PyCA, tuple[bytes, bytes, None]]]] = halves) -> list[bytes]:
            found = pool.map(lambda half: [key.encrypt(*message) for key, message in half], halves)
            return [packet for half in found for packet in half]

        compare(
            f"1000 keys, 1000 x {size}, all, 2 threads of PyCA",
            partial(tress.encrypt_many, keyed),
            pooled,
            4,
            rounds,
        )
        sealed_all = bytearray(sum(len(packet) for _, packet, _ in packets))
        plain_all = bytearray(sum(len(plain) for _, plain, _ in messages))

        def into(messages: list[tuple[bytes, bytes, None]] = messages, buffer: bytearray = sealed_all) -> bytearray:
            ours.encrypt_many_into(messages, buffer)
            return buffer

        def out_of(packets: list[tuple[bytes, bytes, None]] = packets, buffer: bytearray = plain_all) -> bytearray:
            ours.decrypt_many_into(packets, buffer)
            return buffer

        compare(
            f"encrypt_many_into, 1000 x {size}, all cores",
            into,
            partial(one_by_one, theirs.encrypt, messages),
            4,
            rounds,
        )
        compare(
            f"decrypt_many_into, 1000 x {size}, all cores",
            out_of,
            partial(one_by_one, theirs.decrypt, packets),
            4,
            rounds,
        )
        compare(
            f"decrypt_many, 1000 x {size}, all cores",
            partial(ours.decrypt_many, packets),
            partial(one_by_one, theirs.decrypt, packets),
            4,
            rounds,
        )


if __name__ == "__main__":
    main()
