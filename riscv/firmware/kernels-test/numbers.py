#!/usr/bin/env python3
"""Tests tress-modular's kernels for 32-bit RISC-V, and Modulus on them, under qemu-riscv32 against Python's integers.

    riscv/firmware/kernels-test/numbers.py

Random numbers and those where carries run long, 256 to 4096 bits; sums and differences of any number of digits. Every
kernel's callee-saved registers, guard bytes around its buffers and stack are checked (target.py).
"""

import random
import subprocess
import sys

from target import ROOT, Buffer, Target, built

KERNELS = [ROOT / "crates/modular/src/riscv32/digits.S"]
FUNCTIONS = [f"tress_modular_{name}" for name in ("add", "subtract", "multiply", "square", "reduce")]
STACK = 128

rng = random.Random(2027)
calls = 0


def digits(number, count):
    return number.to_bytes(4 * count, "little")


def number(data):
    return int.from_bytes(data, "little")


def expect(got, want, what):
    global calls
    calls += 1
    if got != want:
        sys.exit(f"FAILED: {what}: {got:#x} instead of {want:#x}")


def numbers(count):
    """Numbers below b^count: the ends of the range, runs of ones and zeros, random ones."""
    bits = 32 * count
    yield from (0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits // 2), 2 ** (bits // 2) - 1, 2**bits - 2 ** (bits // 2))
    yield int("ffffffff00000000" * ((count + 1) // 2), 16) % 2**bits
    yield 2**bits - 1 - rng.randrange(2**32)
    yield from (rng.randrange(2**bits) for _ in range(3))


def moduli(count):
    """Odd numbers of exactly `count` digits: the ends of the range, runs of ones and zeros, random ones."""
    top = 2 ** (32 * (count - 1))
    yield from (2**32 * top - 1, top + 1, 2**31 * top + 1, 2 * top - 1, (2**32 - 1) * top + 1, 2**32 * top - 2**32 + 1)
    yield from (rng.randrange(top, 2**32 * top) | 1 for _ in range(3))


def sums(target):
    for count in (0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64):
        for a in numbers(count) if count else [0]:
            for b in numbers(count) if count else [0]:
                whole = 2 ** (32 * count)
                arguments = Buffer(bytes(4 * count)), Buffer(digits(a, count)), Buffer(digits(b, count)), count
                carry, [result, *_] = target.call("tress_modular_add", *arguments)
                expect(number(result) + carry * whole, a + b, f"{a:#x} + {b:#x}")
                borrow, [result, *_] = target.call("tress_modular_subtract", *arguments)
                expect(number(result) - borrow * whole, a - b, f"{a:#x} - {b:#x}")


def products(target):
    for count in (8, 16, 24, 32, 64, 128):
        some = list(numbers(count))
        for i, a in enumerate(some):
            for b in (some if count < 32 else [some[(5 * i + 2) % len(some)], a]):
                # Earlier contents of the memory must not matter.
                memory = Buffer(rng.randbytes(8 * count))
                _, [result, *inputs] = target.call("tress_modular_multiply", memory, Buffer(digits(a, count)),
                                                   Buffer(digits(b, count)), count)
                expect(number(result), a * b, f"{a:#x} * {b:#x}")
                assert inputs == [digits(a, count), digits(b, count)], "a factor was changed"
            _, [result, *_] = target.call("tress_modular_square", Buffer(rng.randbytes(8 * count + 4)),
                                          Buffer(digits(a, count)), Buffer(rng.randbytes(4 * count + 4)), count)
            expect(number(result), a * a, f"{a:#x} squared")


def remainders(target):
    for count in (8, 16, 24, 32, 64, 128):
        whole = 2 ** (32 * count)
        for n in moduli(count):
            inverse = -pow(n, -1, 2**32) % 2**32
            below = n * whole
            for t in (0, 1, n, below - 1, below // 2, (n - 1) ** 2, (whole - 1) ** 2, rng.randrange(below)):
                _, [_, _, result] = target.call("tress_modular_reduce", Buffer(digits(t, 2 * count)),
                                                Buffer(digits(n, count)), Buffer(rng.randbytes(4 * count)), count, inverse)
                expect(number(result) % n, t * pow(whole, -1, n) % n, f"{t:#x} / b^{count} modulo {n:#x}")
                # If t is below N b^n, the result must be below 2 N.
                expect(t < below and number(result) >= 2 * n, False, "as low as promised")


class Numbers:
    """The program in src/bin/numbers.rs, which computes with Modulus."""

    def __init__(self):
        self.process = subprocess.Popen(["qemu-riscv32", built("numbers")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, operation, *operands):
        """Asks for an operation on a modulus and one or two numbers."""
        request = operation.encode()
        for of in (*operands, 0)[:3]:
            length = (of.bit_length() + 63) // 64
            request += bytes([length]) + of.to_bytes(8 * length, "little")
        self.process.stdin.write(request)
        self.process.stdin.flush()
        size = 8 * ((operands[0].bit_length() + 63) // 64)
        data = self.process.stdout.read(size)
        assert len(data) == size, "the program ended"
        return number(data)


def modulus():
    numbers_of = Numbers()
    # Lengths in 64-bit digits. The first and the third are not whole blocks of the kernels.
    for count in (2, 4, 6, 8, 12, 16, 32, 48):
        for n in moduli(2 * count):
            some = [a for a in numbers(2 * count)] + [n - 1, n, n + 1]
            for i, a in enumerate(some if count < 32 else rng.sample(some, 4)):
                b = some[(5 * i + 3) % len(some)]
                expect(numbers_of.ask("*", n, a, b), a * b % n, f"{a:#x} * {b:#x} modulo {n:#x}")
                expect(numbers_of.ask("*", n, a, a), a * a % n, f"{a:#x} squared modulo {n:#x}")
                expect(numbers_of.ask("v", n, a, 65537), pow(a, 65537, n), f"{a:#x} ^ 65537 modulo {n:#x}")
            whole = rng.randrange(n**2)
            expect(numbers_of.ask("%", n, whole), whole % n, f"{whole:#x} modulo {n:#x}")
            if count <= 16:
                a, e = rng.randrange(n), rng.randrange(2 ** rng.choice([1, 20, 64, 130, 320]))
                expect(numbers_of.ask("^", n, a, e), pow(a, e, n), f"{a:#x} ^ {e:#x} modulo {n:#x}")
                odd = a | 1
                try:
                    want = pow(odd, -1, n)
                except ValueError:
                    want = 0
                expect(numbers_of.ask("/", n, odd), want, f"1 / {odd:#x} modulo {n:#x}")


if __name__ == "__main__":
    target = Target(KERNELS, FUNCTIONS, stack_limit=STACK)
    for part in (sums, products, remainders):
        part(target)
        print(f"{part.__name__}: {calls} checks so far, none failed", flush=True)
    modulus()
    print(f"modulus: {calls} checks in all, none failed")
    print(f"stack (at most {STACK}):", target.stack)
