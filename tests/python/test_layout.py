"""Every file of the Rust integration tests is part of a program, and comments have one width: no compiler checks this."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# rustfmt keeps code within 120.
COMMENT_COLUMNS = 140
PROGRAMS = sorted(path for floor in ("crates", "lab", "riscv") for path in (ROOT / floor).glob("**/tests/main.rs"))


def test_there_are_programs() -> None:
    assert len(PROGRAMS) > 5


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.parts[-3])
def test_every_file_is_named(program: Path) -> None:
    named = set(re.findall(r"^mod (\w+);", program.read_text(), re.MULTILINE))
    own = set(re.findall(r'^name = "(\w+)"', (program.parents[1] / "Cargo.toml").read_text(), re.MULTILINE))
    files = {path.stem for path in program.parent.glob("*.rs")} - {"main"}
    assert files - named - own == set()


def test_comments_have_one_width() -> None:
    tracked = subprocess.run(["git", "ls-files", "*.rs"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    wide = []
    for name in tracked.split():
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            text = line.strip()
            if text.startswith("//") and not text.startswith("//! |") and len(line) > COMMENT_COLUMNS:
                wide.append(f"{name}:{number}: {len(line)}")
    assert wide == []
