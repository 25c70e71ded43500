"""Allocates registers: turns straight-line code over named values into RV32I.

A program is a list of instructions on values (each assigned once). A value may have a home, an offset from the stack
pointer, where it may be stored. Registers are assigned in program order. When none is free, the value whose next use is
furthest away loses its register (L. Belady, 1966). If memory does not have the value, it is first stored to its home.
"""

from dataclasses import dataclass, field

REGISTERS = ["a0", "a1", "a2", "a3", "a4", "a5", "s0", "s1", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6",
             "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "ra"]


@dataclass
class Op:
    name: str  # mnemonic
    out: str | None  # value assigned
    ins: list  # values read
    immediate: object = None  # shift, offset or address
    note: str = ""


@dataclass
class Program:
    ops: list = field(default_factory=list)
    homes: dict = field(default_factory=dict)  # value -> offset
    stored: set = field(default_factory=set)  # values whose home holds them at the beginning
    counter: int = 0

    def fresh(self):
        self.counter += 1
        return f"v{self.counter}"

    def op(self, name, *ins, immediate=None, out=None, note=""):
        out = out or self.fresh()
        self.ops.append(Op(name, out, list(ins), immediate, note))
        return out

    def xor(self, a, b, **k):
        return self.op("xor", a, b, **k)

    def and_(self, a, b, **k):
        return self.op("and", a, b, **k)

    def or_(self, a, b, **k):
        return self.op("or", a, b, **k)

    def sll(self, a, n, **k):
        return self.op("slli", a, immediate=n, **k)

    def srl(self, a, n, **k):
        return self.op("srli", a, immediate=n, **k)

    def ror(self, a, n, **k):
        """Rotation to the right, which RV32I lacks."""
        low = self.srl(a, n)
        return self.or_(low, self.sll(a, 32 - n), **k)

    def load(self, base, offset, **k):
        return self.op("lw", base, immediate=offset, **k)

    def store(self, value, base, offset):
        self.ops.append(Op("sw", None, [value, base], offset))

    def memory(self, offset, name=None):
        """A value that is already in the frame."""
        name = name or self.fresh()
        self.homes[name] = offset
        self.stored.add(name)
        return name

    def home(self, value, offset):
        self.homes[value] = offset

    def swapmove(self, a, b, mask, n):
        """Exchanges the bits of `b` under the mask with the bits of `a` that are n places higher."""
        t = self.and_(self.xor(self.srl(a, n), b), mask)
        return self.xor(a, self.sll(t, n)), self.xor(b, t)


def allocate(program, registers=REGISTERS, pinned=None, at_end_stored=(), at_end_in=None, start_in=None):
    """Returns lines of assembly. `pinned`: value -> register for the whole program. `start_in`: value -> register at entry.
    `at_end_stored`: values to be stored in their homes at the end. `at_end_in`: values to be left in registers."""
    pinned = dict(pinned or {})
    uses = {}
    for index, op in enumerate(program.ops):
        for value in op.ins:
            uses.setdefault(value, []).append(index)
    end = len(program.ops)
    for value in list(at_end_stored) + list(at_end_in or {}):
        uses.setdefault(value, []).append(end)
    where = dict(pinned)
    for value, register in (start_in or {}).items():
        where[value] = register
    free = [r for r in registers if r not in where.values()]
    in_memory = set(program.stored)
    slots = {}  # offset -> value whose content is there
    for value in program.stored:
        slots[program.homes[value]] = value
    lines = []
    peak = 0

    def next_use(value, index):
        for use in uses.get(value, []):
            if use >= index:
                return use
        return None

    def save(value, index):
        offset = program.homes[value]
        old = slots.get(offset)
        if old is not None and old != value and next_use(old, index) is not None:
            if old not in where:
                raise RuntimeError(f"{value} would overwrite {old}")
            in_memory.discard(old)
        slots[offset] = value
        in_memory.add(value)
        lines.append(("sw", None, [where[value], "sp"], offset, value))

    def take(index, keep, wanted=None):
        if wanted and wanted in free:
            free.remove(wanted)
            return wanted
        if free:
            return free.pop(0)
        best = None
        for value, register in where.items():
            if value in pinned or value in keep:
                continue
            use = next_use(value, index)
            use = end + 2 if use is None else use
            clean = value in in_memory
            if not clean:
                if value not in program.homes:
                    continue
                old = slots.get(program.homes[value])
                if old is not None and next_use(old, index) is not None and old not in where:
                    continue
            score = (use + (8 if clean else 0), clean)
            if best is None or score > best[0]:
                best = (score, value, register)
        if best is None:
            raise RuntimeError(f"no register at {index}")
        _, value, register = best
        if value not in in_memory:
            save(value, index)
        del where[value]
        return register

    def release(index):
        for value in [v for v in where if v not in pinned and next_use(v, index) is None]:
            free.append(where.pop(value))

    wanted = at_end_in or {}
    for index, op in enumerate(program.ops):
        for value in op.ins:
            if value not in where:
                register = take(index, op.ins)
                where[value] = register
                lines.append(("lw", register, ["sp"], program.homes[value], value))
        ins = [where[v] for v in op.ins]
        release(index + 1)
        if op.out is None:
            lines.append((op.name, None, ins, op.immediate, op.note))
            continue
        register = take(index + 1, [], wanted.get(op.out))
        where[op.out] = register
        lines.append((op.name, register, ins, op.immediate, op.note or op.out))
        peak = max(peak, len(where))
        release(index + 1)
    for value in at_end_stored:
        if value not in in_memory:
            if value not in where:
                raise RuntimeError(value)
            save(value, end)
    # A parallel move of the values to their final registers.
    moves = {}
    for value, register in wanted.items():
        if value not in where:
            lines.append(("lw", register, ["sp"], program.homes[value], value))
        elif where[value] != register:
            moves[register] = where[value]
    while moves:
        ready = [r for r in moves if r not in moves.values()]
        if ready:
            lines.append(("mv", ready[0], [moves.pop(ready[0])], None, "move"))
        else:
            spare = next(r for r in registers if r not in moves and r not in where.values())
            register = next(iter(moves))
            lines.append(("mv", spare, [moves[register]], None, "move"))
            moves[register] = spare
    allocate.where = dict(where)
    return lines


def apart(a, b):
    """Whether two instructions may be exchanged."""
    if ({a[1]} & set(b[2]) or {b[1]} & set(a[2]) or {a[1]} & {b[1]}) - {None}:
        return False
    memory = a[0] in ("lw", "sw") and b[0] in ("lw", "sw") and "sw" in (a[0], b[0])
    return not (memory and a[2][-1] == b[2][-1] and a[3] == b[3])


def waits(lines, i):
    """Whether the next instruction has to wait for this one: the value of a load is available a cycle later."""
    return 0 <= i < len(lines) - 1 and lines[i][0] == "lw" and lines[i][1] in lines[i + 1][2]


def stalls(lines):
    return sum(waits(lines, i) for i in range(len(lines)))


def schedule(lines, window=40):
    """Moves instructions by a few places to avoid waiting for loads."""
    lines = list(lines)
    for i in range(len(lines) - 1):
        if not waits(lines, i):
            continue
        before = stalls(lines[max(0, i - window - 2) : i + window + 2])

        def attempt(source, target):
            moved = lines[:]
            moved.insert(target, moved.pop(source))
            if stalls(moved[max(0, i - window - 2) : i + window + 2]) < before:
                lines[:] = moved
                return True
            return False

        done = False
        for j in range(i - 1, max(i - window, -1), -1):  # the load further up
            if not apart(lines[j], lines[i]):
                break
            if attempt(i, j):
                done = True
                break
        for k in range(i + 2, min(i + window, len(lines))):  # or another instruction between
            if done:
                break
            if all(apart(lines[m], lines[k]) for m in range(i + 1, k)):
                done = attempt(k, i + 1)
        for k in range(i - 1, max(i - window, -1), -1):  # from either side
            if done:
                break
            if all(apart(lines[m], lines[k]) for m in range(k + 1, i + 1)):
                done = attempt(k, i)
    return lines


def text(lines, notes=True):
    out = []
    for name, register, ins, immediate, note in lines:
        if name == "lw":
            body = f"{name}\t{register}, {immediate}({ins[0]})"
        elif name == "sw":
            body = f"{name}\t{ins[0]}, {immediate}({ins[1]})"
        elif name in ("lui", "li"):
            body = f"{name}\t{register}, {immediate}"
        elif immediate is not None:
            body = f"{name}\t{register}, {ins[0]}, {immediate}"
        else:
            body = f"{name}\t{register}, {', '.join(ins)}"
        if notes and note and not note.startswith("v") and name != "mv":
            body = f"{body:<28}# {note}"
        out.append("\t" + body)
    return "\n".join(out) + "\n"
