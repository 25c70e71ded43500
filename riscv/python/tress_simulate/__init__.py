"""RISC-V programs on simulated machines: one run, or one program on many machines.

    import tress_simulate

    report = tress_simulate.simulate("program.elf", machine="fe310")
    points = tress_simulate.sweep("program.elf", ["raptor"], issue=[1, 2, 4, 8], harts=[1, 2], out="points.jsonl")

Both run the program `tress-simulate`, which is installed with this package. docs/explanation/simulator.md has the rest.
"""

from ._simulate import SimulationError, simulate
from ._sweep import Sweep, sweep

__all__ = ["SimulationError", "Sweep", "simulate", "sweep"]
