"""A small RV32I machine over any type of word: integers to run a kernel, terms to prove it.

It decodes uncompressed machine code, executes one function call, counts instructions, checks the calling convention, and every
access against its alignment and the buffers it was given.
Addresses and branch conditions have to be integers: a kernel whose control flow or addresses depend on a term stops with
an error, so a run over terms is a proof that they do not.
"""

import struct
import subprocess
import tempfile
from pathlib import Path

M = 0xFFFFFFFF
STOP = 0xFFFFFFF0
NAMES = ("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6").split()
SAVED = [2, 3, 4, 8, 9] + list(range(18, 28))
KERNELS = Path(__file__).resolve().parents[2] / "crates/cipher/src/ciphers"


class Fault(Exception):
    """An action that a kernel must not perform."""


def sign(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def assemble(files, march="rv32i", symbols=(), tools="riscv64-unknown-elf-"):
    """Assembles .S files as one, with these symbols defined. Returns the code and the addresses of functions."""
    defined = [word for symbol in symbols for word in ("--defsym", f"{symbol}=1")]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        text = "".join((KERNELS / file).read_text() for file in files)
        (base / "k.S").write_text(text)
        run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True).stdout
        run(tools + "as", f"-march={march}", "-mabi=ilp32", *defined, str(base / "k.S"), "-o", str(base / "k.o"))
        symbols = [line.split()[2] for line in run(tools + "nm", str(base / "k.o")).splitlines() if " T " in line]
        run(tools + "ld", "-melf32lriscv", "-Ttext=0x1000", "-e", "0", str(base / "k.o"), "-o", str(base / "k.elf"))
        run(tools + "objcopy", "-O", "binary", "--only-section=.text", str(base / "k.elf"), str(base / "k.bin"))
        addresses = {}
        for line in run(tools + "nm", str(base / "k.elf")).splitlines():
            parts = line.split()
            if parts[2] in symbols:
                addresses[parts[2]] = int(parts[0], 16)
        return Code((base / "k.bin").read_bytes(), 0x1000, addresses)


class Code:
    def __init__(self, code, base, addresses):
        self.base, self.addresses = base, addresses
        self.bytes = code
        self.decoded = {}

    def at(self, pc):
        if pc not in self.decoded:
            (word,) = struct.unpack_from("<I", self.bytes, pc - self.base)
            self.decoded[pc] = decode(word)
        return self.decoded[pc]


def decode(w):
    """(operation, rd, rs1, rs2, immediate)"""
    op, rd, f3, rs1, rs2, f7 = w & 127, w >> 7 & 31, w >> 12 & 7, w >> 15 & 31, w >> 20 & 31, w >> 25
    i = sign(w >> 20, 12)
    if op == 0x33:
        name = {(0, 0): "add", (0, 32): "sub", (1, 0): "sll", (2, 0): "slt", (3, 0): "sltu", (4, 0): "xor", (5, 0): "srl",
                (5, 32): "sra", (6, 0): "or", (7, 0): "and"}.get((f3, f7))
        if name:
            return name, rd, rs1, rs2, 0
    elif op == 0x13:
        if f3 == 1 and f7 == 0:
            return "slli", rd, rs1, 0, rs2
        if f3 == 5 and f7 in (0, 32, 48):
            return {0: "srli", 32: "srai", 48: "rori"}[f7], rd, rs1, 0, rs2
        name = {0: "addi", 2: "slti", 3: "sltiu", 4: "xori", 6: "ori", 7: "andi"}.get(f3)
        if name:
            return name, rd, rs1, 0, i
    elif op == 0x03 and f3 in (0, 1, 2, 4, 5):
        return {0: "lb", 1: "lh", 2: "lw", 4: "lbu", 5: "lhu"}[f3], rd, rs1, 0, i
    elif op == 0x23 and f3 in (0, 1, 2):
        return {0: "sb", 1: "sh", 2: "sw"}[f3], 0, rs1, rs2, sign(f7 << 5 | rd, 12)
    elif op == 0x63 and f3 in (0, 1, 4, 5, 6, 7):
        imm = sign((w >> 31) << 12 | (w >> 7 & 1) << 11 | (w >> 25 & 63) << 5 | (w >> 8 & 15) << 1, 13)
        return {0: "beq", 1: "bne", 4: "blt", 5: "bge", 6: "bltu", 7: "bgeu"}[f3], 0, rs1, rs2, imm
    elif op == 0x37:
        return "lui", rd, 0, 0, w & 0xFFFFF000
    elif op == 0x17:
        return "auipc", rd, 0, 0, w & 0xFFFFF000
    elif op == 0x6F:
        imm = sign((w >> 31) << 20 | (w >> 12 & 255) << 12 | (w >> 20 & 1) << 11 | (w >> 21 & 1023) << 1, 21)
        return "jal", rd, 0, 0, imm
    elif op == 0x67:
        return "jalr", rd, rs1, 0, i
    raise Fault(f"instruction {w:08x} is not one of RV32I and Zbb that a kernel may use")


class Integers:
    """Words are integers."""

    @staticmethod
    def const(v):
        return v & M

    @staticmethod
    def op(name, a, b):
        if name == "xor":
            return a ^ b
        if name == "and":
            return a & b
        if name == "or":
            return a | b
        if name == "sll":
            return a << (b & 31) & M
        if name == "srl":
            return a >> (b & 31)
        if name == "ror":
            return (a >> (b & 31) | a << (-b & 31)) & M
        if name == "sra":
            return sign(a, 32) >> (b & 31) & M
        if name == "add":
            return a + b & M
        if name == "sub":
            return a - b & M
        if name == "sltu":
            return int(a < b)
        if name == "slt":
            return int(sign(a, 32) < sign(b, 32))
        raise Fault(name)

    @staticmethod
    def bytes_of(v):
        return [v >> 8 * i & 255 for i in range(4)]

    @staticmethod
    def word_of(parts):
        return sum(p << 8 * i for i, p in enumerate(parts))

    @staticmethod
    def extend(parts, signed):
        v = sum(p << 8 * i for i, p in enumerate(parts))
        return sign(v, 8 * len(parts)) & M if signed else v


class Memory:
    """Buffers, each with a base. Bytes are values of the domain. Every other address is out of bounds."""

    def __init__(self):
        self.bytes = {}
        self.readonly = set()

    def put(self, address, data, readonly=False):
        for i, byte in enumerate(data):
            self.bytes[address + i] = byte
            if readonly:
                self.readonly.add(address + i)

    def get(self, address, length):
        return [self.bytes[address + i] for i in range(length)]


class Machine:
    def __init__(self, code, domain=Integers, memory=None):
        self.code, self.domain, self.memory = code, domain, memory or Memory()
        self.stack_top = 0x80010000
        self.lowest = self.stack_top

    def call(self, function, *arguments, limit=10_000_000):
        """Runs a function and returns a0. Updates .instructions and .stack."""
        d = self.domain
        # A different value in every register.
        x = [0] * 32
        for r in range(1, 32):
            x[r] = d.const(0xC0DE0000 + r * 0x101)
        x[1], x[2] = STOP, self.stack_top
        for i, value in enumerate(arguments):
            x[10 + i] = value
        before = list(x)
        self.x = x
        self.stack_bytes = {}
        self.lowest = self.stack_top
        pc = self.code.addresses[function]
        self.instructions = 0
        while pc != STOP:
            name, rd, rs1, rs2, imm = self.code.at(pc)
            self.instructions += 1
            if self.instructions > limit:
                raise Fault("no end")
            following = pc + 4
            value = None
            if name in ("lw", "lb", "lbu", "lh", "lhu"):
                size = {"w": 4, "b": 1, "h": 2}[name[1]]
                parts = self.load(self.address(x[rs1], imm), size)
                value = d.word_of(parts) if size == 4 else d.extend(parts, name in ("lb", "lh"))
            elif name in ("sw", "sb", "sh"):
                size = {"w": 4, "b": 1, "h": 2}[name[1]]
                self.store(self.address(x[rs1], imm), d.bytes_of(x[rs2])[:size])
            elif name[0] == "b":
                a, b = x[rs1], x[rs2]
                if not (isinstance(a, int) and isinstance(b, int)):
                    raise Fault(f"branch on a term at {pc:x}")
                s, t = sign(a, 32), sign(b, 32)
                taken = {"beq": a == b, "bne": a != b, "blt": s < t, "bge": s >= t, "bltu": a < b, "bgeu": a >= b}[name]
                if taken:
                    following = pc + imm & M
            elif name == "jal":
                value, following = following, pc + imm & M
            elif name == "jalr":
                if not isinstance(x[rs1], int):
                    raise Fault(f"jump to a term at {pc:x}")
                value, following = following, x[rs1] + imm & M & ~1
            elif name == "lui":
                value = d.const(imm)
            elif name == "auipc":
                value = d.const(pc + imm)
            elif name[-1] == "i" or name == "sltiu":
                value = self.compute("sltu" if name == "sltiu" else name[:-1], x[rs1], imm & M)
            else:
                value = self.compute(name, x[rs1], x[rs2])
            if value is not None and rd:
                x[rd] = value
            pc = following
        for r in SAVED:
            if x[r] is not before[r] and not (isinstance(x[r], int) and x[r] == before[r]):
                raise Fault(f"{NAMES[r]} is not what it was")
        self.stack = self.stack_top - self.lowest
        return x[10]

    def compute(self, name, a, b):
        if isinstance(a, int) and isinstance(b, int):
            return Integers.op(name, a, b)
        return self.domain.op(name, a, b)

    def address(self, base, offset):
        if not isinstance(base, int):
            raise Fault("address from a term")
        return base + offset & M

    def load(self, address, size):
        if address % size:
            raise Fault(f"read of {size} bytes at {address:08x}")
        where = self.stack_bytes if self.on_stack(address) else self.memory.bytes
        try:
            return [where[address + i] for i in range(size)]
        except KeyError:
            raise Fault(f"read of {size} bytes at {address:08x}") from None

    def store(self, address, parts):
        if address % len(parts):
            raise Fault(f"write of {len(parts)} bytes at {address:08x}")
        if self.on_stack(address):
            self.lowest = min(self.lowest, address)
            where = self.stack_bytes
        else:
            where = self.memory.bytes
        for i, part in enumerate(parts):
            if where is self.memory.bytes and (address + i not in where or address + i in self.memory.readonly):
                raise Fault(f"write at {address + i:08x}")
            if where is self.stack_bytes and address + i < self.x[2]:
                raise Fault("write below sp")
            where[address + i] = part

    def on_stack(self, address):
        return self.stack_top - 4096 <= address < self.stack_top
