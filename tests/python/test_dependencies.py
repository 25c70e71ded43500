"""docs/dependencies.md and its record are what cargo and the sources say; `tools/dependencies --write` mends what is not."""

import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools/dependencies"


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    """What the program defines."""
    return runpy.run_path(str(TOOL))


def test_the_page_and_the_record() -> None:
    checked = subprocess.run([TOOL], cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_what_it_finds(tool: dict[str, Any]) -> None:
    """A crate too many or too few, a row that nobody filled in, another number."""
    page = "<!-- direct -->\n| crate | of | for | why |\n|---|---|---|---|\n| a | x | f | w |\n| b | x | ? | w |\n\nend"
    complaints: list[str] = []
    mended = tool["mended"](page, "direct", {"a": ["a", "y"], "b": ["b", "x"], "c": ["c", "x"]}, complaints)
    assert "| a | y | f | w |" in mended and "| c | x | ? | ? |" in mended
    assert [complaint.split(": ")[1].split(" ")[0] for complaint in complaints] == ["a", "b", "c", "c"]
    complaints = []
    tool["mended"](page, "direct", {}, complaints)
    assert sorted(complaints) == ["direct: a is no longer there", "direct: b is no longer there"]


def test_unsafe_is_counted(tool: dict[str, Any]) -> None:
    source = 'unsafe { a() }\n// unsafe { b() }\nlet text = "unsafe { c() }";\nunsafe fn d() {}\ntype E = unsafe fn(u8);\n'
    source += """// one " alone\nfn f<'a>(x: &'a str) -> char { unsafe { g('"') } } /* unsafe { */ let r = r#"unsafe { " "#;\n"""
    left = tool["without_comments"](source)
    assert left.count("unsafe {") == 2 and left.count("unsafe") == 4
    counts = tool["unsafe_code"]()
    assert counts["tress-stream"][1:] == ["0", "0", "0"] and int(counts["tress-cipher"][1]) > 0


def test_a_checksum_that_changes(tool: dict[str, Any]) -> None:
    """What was said of a version holds for its checksum alone."""
    (name, version), checksum = next(iter(tool["locked"]().items()))
    line = f"{tool['RECORD_HEAD']}\n{name}\t{version}\t{checksum[:-1]}x\tall of it\n"
    complaints: list[str] = []
    assert f"{name}\t{version}\t{checksum}\tnot read" in tool["record"](line, complaints)
    assert any(name in complaint for complaint in complaints)
