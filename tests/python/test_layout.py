"""Every file of the Rust integration tests is part of a program: cargo does not report a forgotten file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted(path for floor in ("crates", "lab", "riscv") for path in (ROOT / floor).glob("**/tests/main.rs"))


def test_there_are_programs() -> None:
    assert len(PROGRAMS) > 5


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.parts[-3])
def test_every_file_is_named(program: Path) -> None:
    named = set(re.findall(r"^mod (\w+);", program.read_text(), re.MULTILINE))
    own = set(re.findall(r'^name = "(\w+)"', (program.parents[1] / "Cargo.toml").read_text(), re.MULTILINE))
    files = {path.stem for path in program.parent.glob("*.rs")} - {"main"}
    assert files - named - own == set()
