"""The three floors: nothing in crates/ depends on lab/ or riscv/, nothing in riscv/ on lab/, also not for tests."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = {"crates": set(), "riscv": {"crates"}, "lab": {"crates", "riscv"}}
# Until the simulator has a Python package of its own.
TO_GO = {"crates/python": {"tress-sim"}}
MANIFESTS = sorted(path for floor in FLOORS for path in (ROOT / floor).rglob("Cargo.toml") if "target" not in path.parts)
PATHS = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]


def dependencies(table: dict[str, Any]) -> dict[str, Any]:
    """Of every kind, and for every target."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key.endswith("dependencies") and isinstance(value, dict):
            found |= value
        elif isinstance(value, dict):
            found |= dependencies(value)
    return found


def floor(path: Path) -> str:
    return path.resolve().relative_to(ROOT).parts[0]


def test_there_are_manifests() -> None:
    assert {floor(path) for path in MANIFESTS} == FLOORS.keys() and len(MANIFESTS) > 15


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_nothing_points_up(manifest: Path) -> None:
    for name, value in dependencies(tomllib.loads(manifest.read_text())).items():
        is_path = isinstance(value, dict) and "path" in value
        place = manifest.parent / value["path"] if is_path else ROOT / PATHS.get(name, {}).get("path", "")
        if place != ROOT and name not in TO_GO.get(str(manifest.parent.relative_to(ROOT)), ()):
            assert floor(place) in FLOORS[floor(manifest)] | {floor(manifest)}, name


def test_the_page_has_the_packages() -> None:
    """ARCHITECTURE.md's table is what the manifests say."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    page = (ROOT / "ARCHITECTURE.md").read_text()
    for member in members:
        name = tomllib.loads((ROOT / member / "Cargo.toml").read_text())["package"]["name"]
        assert f"| `{member}" in page and f"`{name}`" in page, member
    rows = [line.split("`")[1].rstrip("/") for line in page.splitlines() if line.startswith("| `")]
    assert [row for row in rows if not (ROOT / row).exists()] == []
