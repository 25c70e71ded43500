"""Proves PIPO's RV32I kernels equal to PIPO as the paper defines it, for all inputs and keys: python3 prove.py [--zbb] [NAME...]

Needs z3-solver (PyPI) and the assembler; proofs run on all cores. The machine code of each kernel is executed with every bit of data, keys and
nonces a term (terms.py); addresses, lengths and counters are numbers, and a branch or an address that depends on a term
stops the run. The reference is the S-box as a table, the rotations and the key schedule (tools/vectors/pipo.py). In the four-block
kernels each lane has its own key. A proof holds for the number of blocks and the counters named; tests cover the loops.
"""

import concurrent.futures
import itertools
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vectors"))
import pipo
from machine import Machine, assemble
from terms import SAMPLES, Terms

FILES = ["pipo/riscv32/layers.S", "pipo/riscv32/frame.S", "pipo/riscv32/rounds1.S", "pipo/riscv32/ecb4.S", "pipo/riscv32/cbc4.S", "pipo/riscv32/ctr4.S", "pipo/riscv32/one.S",
         "pipo/riscv32/prepare.S", "pipo/riscv32/small4.S", "pipo/riscv32/paper.S"]
KEY, NONCE, CHAIN, IN, OUT, WHERE = (0x80020000 + 0x1000 * i for i in range(6))

pipo.check_against_the_paper()
TABLES = [sum((pipo.S_BOX[v] >> r & 1) << v for v in range(256)) for r in range(8)]
INVERSE_TABLES = [sum((pipo.INVERSE_S_BOX[v] >> r & 1) << v for v in range(256)) for r in range(8)]


def look_up(known, table, values):
    """The values of an S-box's output bit for all samples. `known` caches all eight bits of a column."""
    column = known.get(values)
    if column is None:
        box = pipo.S_BOX if table in TABLES else pipo.INVERSE_S_BOX
        images = [box[sum((v >> sample & 1) << i for i, v in enumerate(values))] for sample in range(SAMPLES)]
        column = known[values] = [sum((image >> r & 1) << s for s, image in enumerate(images)) for r in range(8)]
    return column[(TABLES if table in TABLES else INVERSE_TABLES).index(table)]


class Reference:
    """PIPO over terms: every state bit after a round is a goal."""

    def __init__(self, terms, bits):
        self.t, self.words, self.rounds, self.columns = terms, bits // 64, 9 + bits // 32, {}

    def key(self):
        """The bits of a key: 64-bit words of eight rows of eight bits."""
        return [[[self.t.input() for _ in range(8)] for _ in range(8)] for _ in range(self.words)]

    def round_key(self, key, i):
        rows = [list(row) for row in key[i % self.words]]
        rows[0] = [self.t.xor(bit, i >> j & 1) for j, bit in enumerate(rows[0])]
        return rows

    def goal(self, table, arguments, addends):
        values = self.t.values
        value = look_up(self.columns, table, tuple(values[a] for a in arguments)) if table is not None else 0
        for a in addends:
            value ^= values[a]
        known = self.t.goals.get(value)
        if known is not None:
            assert self.t.equal(known, self.t.leaf(value, (table, tuple(arguments), tuple(addends))))
            return known
        return self.t.leaf(value, (table, tuple(arguments), tuple(addends)))

    def encrypt(self, key, rows, whitened=None):
        """The rows of the ciphertext of `rows`, eight lists of bits. `whitened` are rows to which round key 0 was already added."""
        k = self.round_key(key, 0)
        x = [[(whitened[r][j] if whitened and r in whitened else self.goal(None, (), (rows[r][j], k[r][j])))
              for j in range(8)] for r in range(8)]
        for i in range(1, self.rounds + 1):
            k = self.round_key(key, i)
            x = [[self.goal(TABLES[r], [x[q][(j - pipo.ROTATIONS[r]) % 8] for q in range(8)], [k[r][j]]) for j in range(8)]
                 for r in range(8)]
        return x

    def decrypt(self, key, rows):
        x = rows
        for i in range(self.rounds, 0, -1):
            k = self.round_key(key, i)
            # Bit j of row q before the inverse S-layer is bit j + rotation of that row with its key.
            turned = [[(j + pipo.ROTATIONS[q]) % 8 for j in range(8)] for q in range(8)]
            before = [[self.goal(None, (), (x[q][j], k[q][j])) for j in turned[q]] for q in range(8)]
            x = [[self.goal(INVERSE_TABLES[r], [before[q][j] for q in range(8)], []) for j in range(8)] for r in range(8)]
        k = self.round_key(key, 0)
        return [[self.goal(None, (), (x[r][j], k[r][j])) for j in range(8)] for r in range(8)]


class Kernel:
    """A run of a kernel: the memory, and the expected results."""

    def __init__(self, code, bits):
        self.t = Terms()
        self.r = Reference(self.t, bits)
        self.bits, self.machine = bits, Machine(code, self.t)
        self.wanted = []

    def put(self, address, rows_of_bytes, readonly=True):
        """Bytes, each a list of eight bits."""
        self.machine.memory.put(address, [tuple(b) for b in rows_of_bytes], readonly)

    def put_words(self, address, words):
        self.put(address, [word[8 * i:8 * i + 8] for word in words for i in range(4)])

    def zeros(self, address, length):
        self.machine.memory.put(address, [0] * length)

    def blocks(self, count):
        return [[[self.t.input() for _ in range(8)] for _ in range(8)] for _ in range(count)]

    def form4(self, rows):
        """Packs a row of four lanes into a word."""
        return [rows[i % 4][i // 4] for i in range(32)]

    def prepared(self, keys):
        """The prepared key of four lanes, or of one block if there is one key."""
        row = (lambda rows: self.form4(rows)) if len(keys) == 4 else (lambda rows: rows[0] * 4)
        words = [row([self.r.round_key(k, i)[0] for k in keys]) for i in range(self.r.rounds + 1)]
        return words + [row([k[w][r] for k in keys]) for w in range(self.r.words) for r in range(1, 8)]

    def want(self, address, rows):
        self.wanted.append((address, rows))

    def run(self, name, *arguments):
        self.machine.call(name, *arguments)
        for address, rows in self.wanted:
            for r, bits in enumerate(rows):
                byte = self.machine.memory.bytes[address + r]
                byte = byte if isinstance(byte, tuple) else tuple(byte >> i & 1 for i in range(8))
                for j, (have, want) in enumerate(zip(byte, bits)):
                    if have != want and not (self.t.values[have] == self.t.values[want] and self.t.ask(have, want, 1)):
                        raise AssertionError(f"{name}: bit {j} of the byte at {address + r:x} is not proven")
        return self.machine


def add(t, a, b):
    return [[t.xor(p, q) for p, q in zip(x, y)] for x, y in zip(a, b)]


def ecb(k, name, lanes, direction, count, small=False, paper=None):
    keys = [k.r.key() for _ in range(lanes)]
    if small or paper:
        keys = [keys[0]] * lanes
    if small:
        k.put(KEY, [row for word in keys[0] for row in word])
    elif paper:
        rows = [row for i in range(14) for row in k.r.round_key(keys[0], i)]
        k.put_words(KEY, [row * 4 for row in rows]) if paper == "wide" else k.put(KEY, rows)
    else:
        k.put_words(KEY, k.prepared(keys))
    data = k.blocks(count)
    for i, block in enumerate(data):
        k.put(IN + 8 * i, block)
        k.want(OUT + 8 * i, getattr(k.r, direction)(keys[i % lanes], block))
    k.zeros(OUT, 8 * count)
    arguments = () if paper else (count // lanes,)
    return k.run(name, KEY, IN, OUT, *arguments)


def cbc(k, name, messages, lanes, direction, count, keys=None, wide=None):
    """`messages` chains, each of `count` blocks; `lanes` keys."""
    keys = [k.r.key() for _ in range(lanes)]
    chains = k.blocks(messages)
    for m in range(messages):
        k.put(CHAIN + 8 * m, chains[m], readonly=False)
        data = k.blocks(count)
        for i, block in enumerate(data):
            at = 8 * (count * m + i)
            k.put(IN + at, block)
            if direction == "encrypt":
                chains[m] = k.r.encrypt(keys[m % lanes], add(k.t, block, chains[m]))
                k.want(OUT + at, chains[m])
            else:
                k.want(OUT + at, add(k.t, k.r.decrypt(keys[0], block), chains[m]))
                chains[m] = block
        k.want(CHAIN + 8 * m, chains[m])
    k.zeros(OUT, 8 * count * messages)
    if wide:
        rows = [row for i in range(14) for row in k.r.round_key(keys[0], i)]
        k.put_words(KEY, [row * 4 for row in rows]) if wide == "wide" else k.put(KEY, rows)
        return k.run(name, KEY, CHAIN, IN, OUT)
    same = keys * 4 if direction == "decrypt" else keys
    k.put_words(KEY, k.prepared(same))
    if messages == 4:
        pointers = b"".join((IN + 8 * count * m).to_bytes(4, "little") for m in range(4))
        pointers += b"".join((OUT + 8 * count * m).to_bytes(4, "little") for m in range(4))
        k.machine.memory.put(WHERE, pointers, True)
        return k.run(name, KEY, CHAIN, WHERE, WHERE + 16, count)
    return k.run(name, KEY, CHAIN, IN, OUT, count // 4 if direction == "decrypt" else count)


def ctr(k, name, first, count, four):
    key = k.r.key()
    k0 = k.r.round_key(key, 0)
    # Rows 0 to 5 with their key added may have any value, like the nonce.
    x = [[k.t.input() for _ in range(8)] for _ in range(6)]
    whitened = dict(enumerate(x))
    t = k.t
    a2 = [t.xor(p, t.both(q, r)) for p, q, r in zip(x[2], x[1], x[0])]
    a0 = [t.xor(p, t.either(q, r)) for p, q, r in zip(x[0], a2, x[1])]
    a1 = [t.xor(p, t.either(q, r)) for p, q, r in zip(x[1], a2, a0)]
    b2 = [t.xor(p, 1) for p in a2]
    rows = [a0, a1, b2, x[3], x[4], x[5]]
    k.put_words(NONCE, [k.form4([r] * 4) if four else r * 4 for r in rows])
    k.put_words(KEY, k.prepared([key] * 4 if four else [key]))
    for i, block in enumerate(k.blocks(count)):
        counter = [[0] * 8] * 6 + [[first + i >> 8 + j & 1 for j in range(8)], [first + i >> j & 1 for j in range(8)]]
        k.put(IN + 8 * i, block)
        k.want(OUT + 8 * i, add(t, k.r.encrypt(key, counter, whitened), block))
    k.zeros(OUT, 8 * count)
    return k.run(name, KEY, NONCE, first // 4 if four else first, IN, OUT, count // 4 if four else count)


def paper_ctr(k, name, first, count):
    key, nonce = k.r.key(), [[k.t.input() for _ in range(8)] for _ in range(8)]
    rows = [row for i in range(14) for row in k.r.round_key(key, i)]
    if count == 1:
        k.put(KEY, rows)
        k.put(NONCE, nonce)
    else:
        k.put_words(KEY, [row * 4 for row in rows])
        k.put_words(NONCE, [row * 4 for row in nonce[:6]])
    for i, block in enumerate(k.blocks(count)):
        counter = [[first + i >> 8 + j & 1 for j in range(8)], [first + i >> j & 1 for j in range(8)]]
        k.put(IN + 8 * i, block)
        k.want(OUT + 8 * i, add(k.t, k.r.encrypt(key, nonce if count == 1 else nonce[:6] + counter), block))
    k.zeros(OUT, 8 * count)
    return k.run(name, KEY, NONCE, IN, OUT) if count == 1 else k.run(name, KEY, NONCE, first, IN, OUT)


def prepare(k, name, lanes):
    keys = [k.r.key() for _ in range(lanes)]
    for i, key in enumerate(keys):
        k.put(KEY + 8 * k.r.words * i, [row for word in key for row in word])
    words = k.prepared(keys)
    k.want(OUT, [word[8 * i:8 * i + 8] for word in words for i in range(4)])
    k.zeros(OUT, 4 * len(words))
    return k.run(name, OUT, KEY, k.r.words)


def nonce(k, name, four):
    key = k.r.key()
    k.put_words(KEY, k.prepared([key] * 4 if four else [key]))
    bytes6 = [[k.t.input() for _ in range(8)] for _ in range(6)]
    k.put(NONCE, bytes6)
    t = k.t
    x = add(t, bytes6, k.r.round_key(key, 0)[:6])
    a2 = [t.xor(p, t.both(q, r)) for p, q, r in zip(x[2], x[1], x[0])]
    a0 = [t.xor(p, t.either(q, r)) for p, q, r in zip(x[0], a2, x[1])]
    a1 = [t.xor(p, t.either(q, r)) for p, q, r in zip(x[1], a2, a0)]
    rows = [a0, a1, [t.xor(p, 1) for p in a2], x[3], x[4], x[5]]
    words = [k.form4([r] * 4) if four else r * 4 for r in rows]
    k.want(OUT, [word[8 * i:8 * i + 8] for word in words for i in range(4)])
    k.zeros(OUT, 24)
    return k.run(name, OUT, KEY, NONCE, k.r.words)


def cases():
    for bits in (128, 256):
        p = f"tress_pipo{bits}_"
        for d in ("encrypt", "decrypt"):
            yield p + d + "4", bits, "two groups, four keys", lambda k, n, d=d: ecb(k, n, 4, d, 8)
            yield p + d + "1", bits, "two blocks", lambda k, n, d=d: ecb(k, n, 1, d, 2)
            yield p + "small_" + d + "4", bits, "two groups", lambda k, n, d=d: ecb(k, n, 4, d, 8, small=True)
        yield p + "cbc_encrypt1", bits, "two blocks", lambda k, n: cbc(k, n, 1, 1, "encrypt", 2)
        yield p + "cbc_decrypt4", bits, "two groups", lambda k, n: cbc(k, n, 1, 1, "decrypt", 8)
        yield p + "cbc_x4", bits, "two blocks, four keys", lambda k, n: cbc(k, n, 4, 4, "encrypt", 2)
        yield p + "ctr4", bits, "counters 248 to 279", lambda k, n: ctr(k, n, 248, 32, True)
        yield p + "ctr1", bits, "counters 255 and 256", lambda k, n: ctr(k, n, 255, 2, False)
        yield "tress_pipo_prepare4", bits, "four keys", lambda k, n: prepare(k, n, 4)
        yield "tress_pipo_prepare1", bits, "", lambda k, n: prepare(k, n, 1)
        yield "tress_pipo_nonce4", bits, "", lambda k, n: nonce(k, n, True)
        yield "tress_pipo_nonce1", bits, "", lambda k, n: nonce(k, n, False)
    p = "tress_pipo128_paper_"
    yield p + "encrypt1", 128, "", lambda k, n: ecb(k, n, 1, "encrypt", 1, paper="bytes")
    yield p + "cbc_encrypt1", 128, "", lambda k, n: cbc(k, n, 1, 1, "encrypt", 1, wide="bytes")
    yield p + "ctr1", 128, "all counters", lambda k, n: paper_ctr(k, n, 0, 1)
    yield p + "encrypt4", 128, "", lambda k, n: ecb(k, n, 4, "encrypt", 4, paper="wide")
    yield p + "memory4", 128, "", lambda k, n: ecb(k, n, 4, "encrypt", 4, paper="bytes")
    yield p + "ctr4", 128, "counters 254 to 257", lambda k, n: paper_ctr(k, n, 254, 4)
    yield p + "cbc_decrypt4", 128, "", lambda k, n: cbc(k, n, 1, 1, "decrypt", 4, wide="wide")


def prove(number, has_zbb):
    """Tries to prove a case. Returns whether it succeeded, and a line of output."""
    name, bits, what, proof = next(itertools.islice(cases(), number, None))
    # Rotations use instructions of Zbb or of RV32I.
    code = assemble(FILES, "rv32i_zbb", ["TRESS_ZBB"]) if has_zbb else assemble(FILES)
    start = time.monotonic()
    kernel = Kernel(code, bits)
    try:
        machine, state = proof(kernel, name), "proven"
    except Exception as error:
        machine, state = kernel.machine, f"NOT PROVEN: {error!r}"
        machine.stack = machine.stack_top - machine.lowest
    return state == "proven", (
        f"{state}  {name} ({bits}{', ' + what if what else ''}): {machine.instructions} instructions, {machine.stack} bytes of stack, "
        f"{kernel.t.proven} equalities, {kernel.t.asked} questions to z3, {time.monotonic() - start:.0f} s")


def main():
    names = [name for name in sys.argv[1:] if name != "--zbb"]
    wanted = [(number, what) for number, (name, _, what, _) in enumerate(cases()) if not names or name in names]
    # The longest first, so that no long proof runs alone at the end.
    wanted.sort(key=lambda case: "279" not in case[1])
    failed = not wanted
    with concurrent.futures.ProcessPoolExecutor() as pool:
        proofs = [pool.submit(prove, number, "--zbb" in sys.argv) for number, _ in wanted]
        for proof in concurrent.futures.as_completed(proofs):
            proven, line = proof.result()
            failed |= not proven
            print(line, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
