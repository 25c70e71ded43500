"""Instructions of a kernel's call, from QEMU's log, and an estimate of its cycles on the E31 core.

The estimate: one cycle an instruction; one more where the next instruction uses what a lw loaded, two after lb, lbu, lh,
lhu (one if it comes an instruction later); mul four; three for a branch that goes the other way than its last time at
that address (the first time: taken if backward); nothing for calls and returns. No cache misses: code that ran before.
"""

import collections
import re
import subprocess

import target


def disassemble(program):
    text = subprocess.run(["riscv64-unknown-elf-objdump", "-d", "-M", "no-aliases,numeric", str(program)], check=True,
                          capture_output=True, text=True).stdout
    code = {}
    for line in text.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s+([0-9a-f]+)\s+(\S+)\s*([^#<]*)", line)
        if match:
            code[int(match[1], 16)] = (match[3], re.findall(r"x\d+|-?\d+", match[4]), len(match[2]) // 2)
    return code


def registers(name, operands):
    """(written, read) of an instruction."""
    names = [o for o in operands if o.startswith("x")]
    base = name.removeprefix("c.")
    if base.startswith(("sw", "sb", "sh", "b", "jr", "jalr")) and base != "jalr":
        return None, names
    if name.startswith("c.") and base in ("xor", "and", "or", "sub", "add", "addi", "slli", "srli", "srai", "andi"):
        return names[0], names
    return (names[0] if names else None), names[1:]


def trace(files, functions, calls, march="rv32imac"):
    """The addresses of the instructions of the last of the calls."""
    t = target.Target(files, functions, march)
    program = t.program
    for name, *arguments in calls:
        t.call(name, *arguments)
    t.process.stdin.close()
    t2 = target.Target.__new__(target.Target)
    log = program.parent / "log"
    t2.functions, t2.stack, t2.program, t2.folder, t2.stack_limit = t.functions, {}, program, t.folder, t.stack_limit
    t2.process = subprocess.Popen(["qemu-riscv32", "-singlestep", "-d", "exec,nochain", "-D", str(log), str(program)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for name, *arguments in calls:
        t2.call(name, *arguments)
    t2.process.stdin.close()
    t2.process.wait()
    symbols = subprocess.run(["riscv64-unknown-elf-nm", str(program)], check=True, capture_output=True, text=True).stdout
    address = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines()}
    pcs = [int(m[1], 16) for m in re.finditer(r"\[[0-9a-f]+/([0-9a-f]+)/", log.read_text())]
    code = disassemble(program)
    entry = address[calls[-1][0]]
    start = max(i for i, pc in enumerate(pcs) if pc == entry)
    before = pcs[start - 1]
    stop = pcs.index(before + code[before][2], start)
    return pcs[start:stop], code, address, t2.stack


def cycles(pcs, code):
    total = 0
    ready = collections.defaultdict(int)
    last_way = {}
    for i, pc in enumerate(pcs):
        name, operands, size = code[pc]
        written, read = registers(name, operands)
        total = max([total + 1] + [ready[r] for r in read])
        base = name.removeprefix("c.")
        extra = {"lw": 1, "lwsp": 1, "lb": 2, "lbu": 2, "lh": 2, "lhu": 2, "mul": 4, "mulhu": 4}.get(base, 0)
        if written:
            ready[written] = total + 1 + extra
        if base in ("beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez") and i + 1 < len(pcs):
            taken = pcs[i + 1] != pc + size
            backward = taken and pcs[i + 1] < pc
            if last_way.get(pc, backward if taken else False) != taken:
                total += 3
            last_way[pc] = taken
    return total


def report(files, functions, calls, march="rv32imac"):
    pcs, code, _, stack = trace(files, functions, calls, march)
    return len(pcs), cycles(pcs, code), stack[calls[-1][0]]
