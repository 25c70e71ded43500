"""Writes the figures of kernels, four numbers each, as a file of vectors: PROGRAM.elf FIGURES. The names come from the program,
or from `ALL` in riscv/firmware/programs/src/kernels/mod.rs, in its order."""

import hashlib
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "vectors"))
import layout  # noqa: E402

program, figures = (pathlib.Path(name) for name in sys.argv[1:])
rows = re.search(rb"rows of [^\n]*\n((?:[a-z][a-z0-9_]* [0-9]+\n)+)", program.read_bytes())
if rows:
    names = rows[1].decode().splitlines()
else:
    source = pathlib.Path("riscv/firmware/programs/src/kernels/mod.rs").read_text()
    names = re.findall(r'Kernel \{ name: "([^"]+)"', source)
numbers = [int(line) for line in figures.read_text().split()]
if len(numbers) != 4 * len(names):
    sys.exit(f"{len(numbers)} numbers for {len(names)} kernels")
kernels = [
    {"name": name, "first_cycles": first, "cycles": cycles, "instructions": instructions, "result": result}
    for name, first, cycles, instructions, result in zip(names, *(numbers[place::4] for place in range(4)))
]
document = {
    "source": "Rocket (Maven Central edu.berkeley.cs:rocketchip_2.12:1.2.6) configured by tools/rtl/E31.scala, run under "
    "Verilator by tools/rtl/check; the memory outside the core answers a cycle after it is asked",
    "program": str(program),
    "program_sha256": hashlib.sha256(program.read_bytes()).hexdigest(),
    "kernels": kernels,
}
sys.stdout.write(layout.dumps(document))
