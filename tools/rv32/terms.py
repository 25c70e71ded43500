"""Words of 32 terms, one for each bit, and proofs about them with an SMT solver.

A term is an input bit, a constant, or AND, OR, XOR of two terms; equal terms are one object. Each term also has its value
for 192 random inputs. A goal is a bit of the reference: its value for those inputs, and its definition over earlier goals
and inputs. When a new term has a goal's values, z3 decides whether it equals the goal's definition for every input. If it
does, the goal's bit replaces the term. So a kernel of many rounds is proven round by round, and no proof
relies on the random values: they only select the questions. Questions of the same shape are asked once.
"""

import random

import z3

from machine import Fault, Integers

SAMPLES = 192
ALL = (1 << SAMPLES) - 1


class Terms:
    def __init__(self, seed=1):
        self.random = random.Random(seed)
        self.ops = [("const",), ("const",)]
        self.values = [0, ALL]
        self.table = {}
        self.goals = {}
        self.definitions = {}
        self.solved = {}
        self.asked = self.proven = 0

    # Terms.

    def input(self):
        """A free input bit."""
        return self.leaf(self.random.getrandbits(SAMPLES))

    def leaf(self, value, definition=None):
        self.ops.append(("leaf",))
        self.values.append(value)
        node = len(self.ops) - 1
        if definition is not None:
            self.definitions[node] = definition
        self.goals.setdefault(value, node)
        return node

    def node(self, op, a, b):
        if a > b:
            a, b = b, a
        if a < 2:
            if op == "xor" and a == 0 or op == "or" and a == 0 or op == "and" and a == 1:
                return b
            if op == "and":
                return 0
            if op == "or":
                return 1
        elif a == b:
            return 0 if op == "xor" else a
        key = (op, a, b)
        known = self.table.get(key)
        if known is not None:
            return known
        x, y = self.values[a], self.values[b]
        value = x ^ y if op == "xor" else x & y if op == "and" else x | y
        self.ops.append(key)
        self.values.append(value)
        new = len(self.ops) - 1
        goal = 0 if value == 0 else 1 if value == ALL else self.goals.get(value)
        if goal is not None and goal != new and self.equal(new, goal):
            new = goal
        self.table[key] = new
        return new

    def xor(self, a, b):
        return self.node("xor", a, b)

    def both(self, a, b):
        return self.node("and", a, b)

    def either(self, a, b):
        return self.node("or", a, b)

    # Proofs.

    def equal(self, term, goal):
        """Whether a term equals a goal for every input."""
        for depth in (0, 1):
            if self.ask(term, goal, depth):
                self.proven += 1
                return True
        return False

    def ask(self, term, goal, depth):
        shape, leaves = [], {}
        definition = self.definitions.get(goal)
        keep = set(definition[1] + definition[2]) if definition else set()
        first = self.serialise(term, shape, leaves, {}, depth, keep)
        second = self.serialise_definition(definition, shape, leaves) if definition else ("leaf", leaves.setdefault(goal, len(leaves)))
        if goal < 2:
            second = ("const", goal)
        key = (tuple(shape), first, second)
        if key not in self.solved:
            self.asked += 1
            bits = [z3.Bool(f"x{i}") for i in range(len(leaves))]
            built = []
            value = lambda ref: bits[ref[1]] if ref[0] == "leaf" else z3.BoolVal(bool(ref[1])) if ref[0] == "const" else built[ref[1]]
            for step in shape:
                if step[0] == "table":
                    built.append(from_table(step[1], [value(r) for r in step[2]]))
                else:
                    op = {"xor": z3.Xor, "and": z3.And, "or": z3.Or}[step[0]]
                    built.append(op(value(step[1]), value(step[2])))
            solver = z3.Solver()
            solver.set("timeout", 60000)
            solver.add(z3.Xor(value(first), value(second)))
            self.solved[key] = solver.check() == z3.unsat
        return self.solved[key]

    def serialise(self, node, shape, leaves, seen, depth, keep=()):
        """Lists the steps of a term over its leaves without naming terms, so that terms of the same shape give the same list. With depth, a
        leaf with a definition is replaced by it, except those in `keep`."""
        stack = [node]
        while stack:
            n = stack[-1]
            if n in seen:
                stack.pop()
                continue
            op = self.ops[n]
            if op[0] == "const":
                seen[n] = ("const", n)
            elif op[0] == "leaf":
                if depth and n in self.definitions and n not in keep:
                    seen[n] = self.serialise_definition(self.definitions[n], shape, leaves)
                else:
                    seen[n] = ("leaf", leaves.setdefault(n, len(leaves)))
            else:
                missing = [m for m in op[1:] if m not in seen]
                if missing:
                    stack.extend(reversed(missing))
                    continue
                shape.append((op[0], seen[op[1]], seen[op[2]]))
                seen[n] = ("step", len(shape) - 1)
            stack.pop()
        return seen[node]

    def serialise_definition(self, definition, shape, leaves):
        """A definition is (table, eight terms, terms to add): a Boolean function of the eight by its table of 256 bits, and
        the sum of it and the others; without a table, just the sum."""
        table, arguments, addends = definition
        seen = {}
        total = None
        if table is not None:
            refs = tuple(self.serialise(a, shape, leaves, seen, 0) for a in arguments)
            shape.append(("table", table, refs))
            total = ("step", len(shape) - 1)
        for a in addends:
            ref = self.serialise(a, shape, leaves, seen, 0)
            if total is None:
                total = ref
            else:
                shape.append(("xor", total, ref))
                total = ("step", len(shape) - 1)
        return total

    # The domain of a machine's words: an integer, or 32 terms.

    @staticmethod
    def const(v):
        return v & 0xFFFFFFFF

    @staticmethod
    def bits(v):
        return tuple(v >> i & 1 for i in range(32)) if isinstance(v, int) else v

    @staticmethod
    def word(bits):
        """An integer if no bit is a term."""
        return sum(b << i for i, b in enumerate(bits)) if all(b < 2 for b in bits) else tuple(bits)

    def op(self, name, a, b):
        if name in ("xor", "and", "or"):
            return self.word([self.node(name, p, q) for p, q in zip(self.bits(a), self.bits(b))])
        if name in ("sll", "srl", "ror"):
            if not isinstance(b, int):
                raise Fault("a shift by a term")
            bits, b = self.bits(a), b & 31
            if name == "ror":
                return self.word(bits[b:] + bits[:b])
            return self.word((0,) * b + bits[:32 - b] if name == "sll" else bits[b:] + (0,) * b)
        if name in ("add", "sub"):
            # a - b = a + ~b + 1, with the carry as a term.
            carry = int(name == "sub")
            out = []
            for p, q in zip(self.bits(a), self.bits(b)):
                q = self.xor(q, 1) if name == "sub" else q
                out.append(self.xor(self.xor(p, q), carry))
                carry = self.either(self.both(p, q), self.both(carry, self.xor(p, q)))
            return self.word(out)
        raise Fault(f"{name} of a term")

    def bytes_of(self, v):
        return Integers.bytes_of(v) if isinstance(v, int) else [v[8 * i:8 * i + 8] for i in range(4)]

    def join(self, parts, fill):
        bits = [bit for p in parts for bit in (p if isinstance(p, tuple) else [p >> i & 1 for i in range(8)])]
        return self.word(bits + [fill] * (32 - len(bits)))

    def word_of(self, parts):
        return self.join(parts, 0)

    def extend(self, parts, signed):
        if signed:
            raise Fault("a signed load of terms")
        return self.join(parts, 0)


def from_table(table, arguments):
    """A Boolean function of eight bits from its 256 values (bit v of the table for the number v)."""
    known = {}

    def build(low, size, level):
        part = table >> low & (1 << size) - 1
        if part == 0:
            return z3.BoolVal(False)
        if part == (1 << size) - 1:
            return z3.BoolVal(True)
        if (part, size) not in known:
            half = size // 2
            known[part, size] = z3.If(arguments[level], build(low + half, half, level - 1), build(low, half, level - 1))
        return known[part, size]

    return build(0, 256, 7)
