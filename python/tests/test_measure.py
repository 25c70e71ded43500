"""`plan`, `bench` and `frame` return the same figures as the command."""

from __future__ import annotations

import json
import subprocess

import pytest
import tress


def command(*arguments: str) -> dict[str, object]:
    done = subprocess.run([str(tress.command()), *arguments, "--json"], stdout=subprocess.PIPE, check=True)
    printed: dict[str, object] = json.loads(done.stdout)
    return printed


def test_the_plan_of_the_paper() -> None:
    # Table 1 of the paper: 10 GB, 0.037 us per byte to encrypt, 0.08 us per byte to send, 10 us per barrier.
    plan = tress.plan(10_000_000_000, 1 / 0.037e-6, 1 / 0.08e-6)
    assert plan["stages"] == 8944 and 1.46 < plan["speedup"] < 1.47 and plan["limit"] == "link"


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, []),
        ({"cores": 8, "links": 2, "sync_cost": 1e-3}, ["--cores", "8", "--links", "2", "--sync-cost", "1ms"]),
        ({"min_batch": 1 << 20, "buffer": 1 << 22}, ["--min-batch", "1MiB", "--buffer", "4MiB"]),
        ({"strategy": "mac-apart", "cores": 4}, ["--strategy", "mac-apart", "--cores", "4"]),
    ],
)
def test_plans_are_the_commands(options: dict[str, object], arguments: list[str]) -> None:
    expected = command("plan", "--size", "10GB", "--compute-rate", "1GB", "--link-rate", "125MB", *arguments)
    plan = tress.plan(10**10, 1e9, 125e6, **options)  # type: ignore[arg-type]
    assert list(plan) == list(expected)
    assert plan == {key: pytest.approx(value) if isinstance(value, float) else value for key, value in expected.items()}


def test_wrong_plans() -> None:
    for arguments in [(0, 1.0, 1.0), (1, 0.0, 1.0), (1, -1.0, 1.0), (1, 1.0, float("nan"))]:
        with pytest.raises(ValueError):
            tress.plan(*arguments)
    for options in [{"sync_cost": 0}, {"cores": 0}, {"strategy": "other"}, {"min_batch": 5, "buffer": 4}]:
        with pytest.raises(ValueError):
            tress.plan(1000, 1.0, 1.0, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tress.plan("1", 1.0, 1.0)  # type: ignore[arg-type]


def test_bench() -> None:
    record = tress.bench("^aes-128-ctr$")
    assert {row["name"] for row in record["rows"]} == {"aes-128-ctr"}
    table = tress.frame(record)
    assert len(table) == len(record["rows"]) and (table["bytes_per_s"] > 0).all()
    with pytest.raises(tress.TressError):
        tress.bench("no-such-row")
    with pytest.raises(tress.TressError):
        tress.bench("(")


def test_frames() -> None:
    plans = tress.frame([tress.plan(10**9, 1e9, rate) for rate in (1e8, 1e9)])
    assert list(plans["limit"]) == ["link", "balanced"]
    assert len(tress.frame(tress.plan(10**9, 1e9, 1e8))) == 1
