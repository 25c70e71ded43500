"""The commands of README.md run as pasted, and its figures and picture match the record that it names."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from listening import when_it_listens

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
# Commands that build, and the tests that run them in full.
BUILDS = {
    "make demo": "tests/demo in make test",
    "make install": "packaging/stage in make test-packages",
    "make packages": "make packages; make test-packages packs the debug build",
    "pip install .": "make wheel",
    "make -C crates/c install": "crates/c/tests/run in make test-c",
}


def commands(block: str) -> list[str]:
    return [line.split("  ")[0].strip() for line in block.splitlines() if line.strip()]


def test_size() -> None:
    lines = README.splitlines()
    assert len(lines) <= 110
    assert [line for line in lines if len(line) > 100] == []
    assert any(line.startswith("make demo") for line in lines[:15])


@pytest.mark.parametrize("block", [block for block in BLOCKS if not set(commands(block)) & BUILDS.keys()])
def test_commands_run_as_pasted(block: str, tmp_path: pathlib.Path) -> None:
    folder = pathlib.Path(os.environ["TRESS"]).parent
    environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", HOME=str(tmp_path))
    subprocess.run(["bash", "-eu", "-c", when_it_listens(block) + "wait\n"], cwd=tmp_path, env=environment, check=True)
    plain = (tmp_path / "big.img").read_bytes()
    assert (tmp_path / "copy.img").read_bytes() == plain
    assert (tmp_path / "piece").read_bytes() == plain[50_000_000:51_000_000]
    assert [path.read_bytes() == plain for path in tmp_path.glob("incoming/*/big.img")] == [True]
    assert len(list(tmp_path.glob("incoming/*/photos/trip.txt"))) == 1


def test_commands_that_build_exist() -> None:
    assert {line for block in BLOCKS for line in commands(block) if line in BUILDS} == set(BUILDS)
    for command in BUILDS:
        words = command.split()
        if words[0] == "make":
            folder = words[words.index("-C") + 1] if "-C" in words else "."
            assert re.search(rf"^{words[-1]}:", (ROOT / folder / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), command


def test_figures_are_the_record() -> None:
    record = ROOT / re.findall(r"\((bench/record/[^)]*\.json)\)", README)[0]
    processor = re.findall(r"^On an? (.*?),", README, re.MULTILINE)[0]
    generate = [sys.executable, ROOT / "bench/readme"]
    table = subprocess.run([*generate, "table", record], check=True, capture_output=True, text=True).stdout
    assert table in README
    picture = subprocess.run([*generate, "picture", record, processor], check=True, capture_output=True, text=True).stdout
    assert (ROOT / "docs/rates.svg").read_text(encoding="utf-8") == picture


def test_links_lead_to_files() -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README):
        assert link.startswith("https://") or (ROOT / link).exists(), link
