"""Sweeps over simulated machines."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tress_simulate import _sweep, simulate, sweep

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "riscv" / "firmware" / "images" / "secrets.elf"
MACHINES = ["fe310", "raptor"]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Replaces `simulate` by a fake that records its calls."""
    calls: list[Any] = []

    def simulate(program: str, **point: Any) -> dict[str, Any]:
        issue = point["issue"]
        calls.append((point["machine"], issue, point["harts"]))
        if issue == 3:
            raise ValueError("no such width")
        return {"exit_code": 0, "cycles": 1000 // (issue or 1), "harts": [{"cycles": 5}]}

    monkeypatch.setattr(_sweep, "simulate", simulate)
    return calls


def test_points_are_what_simulate_says() -> None:
    """Without an executor, points equal single calls of `simulate`."""
    points = sweep(PROGRAM, "raptor", issue=[1, 4], workers=2)
    assert not points.failed and [point["issue"] for point in points] == [1, 4]
    assert points[0]["cycles"] > points[1]["cycles"] > 0
    alone = simulate(PROGRAM, machine="raptor", issue=4)
    assert all(points[1][key] == value for key, value in alone.items())


def test_combinations_failures_and_resuming(tmp_path: Path, counted: list[Any]) -> None:
    out = tmp_path / "points.jsonl"
    how: dict[str, Any] = {"issue": [1, 2, 3], "harts": [None, 4], "out": out}
    with ThreadPoolExecutor(2) as executor:
        points = sweep(PROGRAM, MACHINES, executor=executor, **how)
        assert len(points) == 8 and len(points.failed) == 4 and len(counted) == 12
        assert {point["issue"] for point in points.failed} == {3} and "no such width" in points.failed[0]["error"]
        assert [(p["machine"], p["issue"]) for p in points][:4] == [
            ("fe310", 1),
            ("fe310", 1),
            ("fe310", 2),
            ("fe310", 2),
        ]
        # Only failed points are simulated again, and one more after the last line is damaged.
        sweep(PROGRAM, MACHINES, executor=executor, **how)
        assert len(counted) == 16
        out.write_bytes(out.read_bytes()[:-30])
        again = sweep(PROGRAM, MACHINES, executor=executor, **how)
        assert len(counted) == 21 and list(again) == list(points)
        assert len(sweep(PROGRAM, MACHINES, executor=executor, **how)) == 8 and len(counted) == 25
    rows = [line for line in out.read_text().splitlines() if line.endswith("}")]
    assert len(rows) == 8 and all(json.loads(row)["result"]["exit_code"] == 0 for row in rows)


def test_a_program_that_does_not_end(tmp_path: Path) -> None:
    """With a limit the point fails, and a call with another limit simulates it again."""
    out = tmp_path / "points.jsonl"
    with ThreadPoolExecutor(1) as executor:
        cut = sweep(PROGRAM, "raptor", limit=10, executor=executor, out=out)
        assert not cut and len(cut.failed) == 1 and not out.exists()
        assert len(sweep(PROGRAM, "raptor", limit=10**9, executor=executor, out=out)) == 1


def test_another_program_is_simulated_anew(tmp_path: Path, counted: list[Any]) -> None:
    for data in (b"one", b"two"):
        (tmp_path / "program").write_bytes(data)
        with ThreadPoolExecutor(1) as executor:
            sweep(tmp_path / "program", "fe310", executor=executor, out=tmp_path / "out")
    assert len(counted) == 2
    with pytest.raises(FileNotFoundError):
        sweep(tmp_path / "nothing", "fe310")


def test_another_machine_or_version_is_simulated_anew(
    tmp_path: Path, counted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine file may have any name."""
    for version, data in [("1", b"one"), ("1", b"two"), ("1", b"two"), ("2", b"two")]:
        monkeypatch.setattr(_sweep, "_version", lambda version=version: version)
        (tmp_path / "part").write_bytes(data)
        with ThreadPoolExecutor(1) as executor:
            sweep(PROGRAM, tmp_path / "part", executor=executor, out=tmp_path / "out")
    assert len(counted) == 3


def test_frame(counted: list[Any]) -> None:
    pytest.importorskip("pandas")
    with ThreadPoolExecutor(1) as executor:
        frame = sweep(PROGRAM, "fe310", issue=[1, 2], executor=executor).frame()
    assert list(frame["cycles"]) == [1000, 500] and list(frame["issue"]) == [1, 2]
    assert list(frame["machine"]) == ["fe310", "fe310"] and list(frame["harts"]) == [1, 1]
