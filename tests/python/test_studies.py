"""Cells of the book's pages that simulated studies compute are what the studies find: the same on every computer."""

import json
import math
import os
import pathlib
import re
import subprocess
from decimal import Decimal

PAPERS = pathlib.Path(__file__).resolve().parents[2] / "docs/papers"
SCHEDULES = ["indexes compared", "a division per step", "two divisions per step"]
ISSUES = [f"issue {width}" for width in (1, 2, 4, 8, 16)]


def both(first: str, then: str) -> list[tuple[str, str]]:
    """A figure of the paper and ours in ECB and CBC, for each cipher."""
    part = [("", ""), (first, f", ECB, {then}"), (first, f", CBC, {then}")]
    return [(place, name and cipher + name) for cipher in ("Rijndael", "RC6") for place, name in part]


def series(part: str, name: str, ends: list[str]) -> list[tuple[str, str]]:
    return [(part, f"{name}, {end}") for end in ends]


def schedules(load: str) -> list[tuple[str, str]]:
    return [("", ""), *(("key-setup", f"RC6, {schedule}, {load}") for schedule in SCHEDULES)]


def choice(name: str) -> list[tuple[str, str]]:
    return [("open", f"{cipher}, {name}") for cipher in ("Rijndael", "RC6")]


WIDER = [*ISSUES, "issue 32", "without limits"]
# Rows of the page by their first cell, with the part and the row of the study for each number; no part for the paper's.
ROWS = {
    "one block, issue 16 (Fig. 6), ECB / CBC": both("width", "issue 16"),
    "one message of 1024 blocks, issue 8 (Fig. 7)": both("blocks", "1024 blocks"),
    "128 messages of one block, issue 8 (Fig. 8)": both("messages", "128 messages"),
    "4 messages, 4 processors of issue 2 (Fig. 10)": both("harts", "256 blocks, 4 threads"),
    "one block": schedules("1 block"),
    "one message of 1024 blocks": schedules("1024 blocks"),
    "128 messages of one block, a key schedule in each": schedules("128 messages, a key schedule in each"),
    "128 blocks, one key schedule": schedules("128 messages, one key schedule"),
    "as above": choice("as in the parts above"),
    **{name: choice(name) for name in ("one integer unit", "four integer units", "eight integer units", "two ports",
                                       "reorder buffer of 16", "multiplications in 34 cycles")},
    "Rijndael, IPC": series("beyond", "Rijndael", WIDER),
    "RC6, IPC": series("beyond", "RC6", WIDER),
    "RC6, one chain": series("lanes", "RC6", ISSUES),
    "RC6, two lanes": series("lanes", "RC6, two lanes", ISSUES),
    "Rijndael, one chain, tables": series("lanes", "Rijndael", ISSUES),
    "Rijndael, bitsliced, 16 lanes": series("lanes", "Rijndael, bitsliced", ISSUES),
}


def sections(study: str, folder: pathlib.Path, *options: str) -> dict[str, dict]:
    """The sections of a run of a study, by part."""
    subprocess.run([os.environ["TRESS"], "study", study, "--out", folder, *options], check=True, capture_output=True)
    return {path.stem: json.loads(path.read_text())["section"] for path in (folder / study).glob("*.json")}


def rows_of_page(name: str) -> list[list[str]]:
    """The rows of the page's tables as cells, without bold letters."""
    lines = (PAPERS / name).read_text().splitlines()
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def compare(shown: str, found: float, name: str) -> None:
    """The cell is the study's figure, as it prints that with four digits, rounded to the decimals of the cell."""
    printed = Decimal(f"{found:.{max(1, 3 - int(math.log10(found)))}f}")
    unit = Decimal(10) ** -len(shown.partition(".")[2])
    assert abs(Decimal(shown) - printed) <= unit / 2, f"{name}: {shown} on the page, {printed} found"


def test_block_parallelism(tmp_path: pathlib.Path) -> None:
    found = sections("block-parallelism", tmp_path)
    simulated = {(part, row["what"]): row["simulated"] for part, section in found.items()
                 for row in reversed(section["rows"]) if row["simulated"] is not None}
    compared = set()
    for first, *cells in rows_of_page("block-parallelism.md"):
        numbers = [number for cell in cells for number in re.split(r" / |, ", cell)]
        if first in ROWS and first not in compared:
            compared.add(first)
            for number, (part, name) in zip(numbers, ROWS[first], strict=True):
                if part:
                    compare(number, simulated[part, name], name)
    assert compared == set(ROWS)


def test_pipo_riscv(tmp_path: pathlib.Path) -> None:
    found = sections("pipo-riscv", tmp_path)
    longer = r"(?<=CCM), constant time|, ECB(?=, with key schedule)| \(Kwak, Kim and Seo\)"
    for part, columns, count in (("table-5", 7, 9), ("ciphers", 3, 11)):
        rows = {re.sub(longer, "", name): cells[:columns] for name, *cells in found[part]["tables"][0]["rows"]}
        shown = {name: cells for name, *cells in rows_of_page("pipo-riscv.md") if name in rows}
        assert shown == {name: rows[name] for name in shown}
        assert len(shown) == count


def test_aes_strategies(tmp_path: pathlib.Path) -> None:
    section = sections("aes-strategies", tmp_path, "--part", "harts")["harts"]
    gains = {name: cells for name, *cells in section["tables"][0]["rows"]}
    cycles = [row["simulated"] for row in section["rows"] if row["what"].startswith("a barrier, ")]
    shown = {name: cells for name, *cells in rows_of_page("aes-strategies.md") if len(cells) == 6}
    # The study's rows have each issue width first, the columns of the page each number of harts.
    found = {**gains, "a barrier, cycles": [*cycles[::2], *cycles[1::2]]}
    assert {*shown} == {*found, "what a hart takes", "---"}
    for name, cells in found.items():
        for cell, figure in zip(shown[name], cells, strict=True):
            compare(cell, float(figure), name)
    drawn = (tmp_path / "aes-strategies/harts.svg").read_text()
    assert drawn == (PAPERS.parent / "images/aes-strategies-harts.svg").read_text()
