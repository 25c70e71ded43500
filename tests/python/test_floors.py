"""The three floors: nothing in crates/ depends on lab/ or riscv/, nothing in riscv/ on lab/, also not for tests.
Inside tress-cipher no file imports from a floor above it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
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


CIPHER = ROOT / "crates" / "cipher" / "src"
# The floors inside tress-cipher, the lowest first: patterns of modules. The first that matches counts.
CIPHER_FLOORS = [
    r"cpu", r"block", r"error|reveal", r"engine.*", r"operation", r"block_cipher", r"modes.*", r"lanes.*", r"ciphers/fixed_key",
    r"ciphers/\w+/(?!keyed$).+", r"ciphers/\w+/keyed", r"ciphers/(rijndael|rc6|pipo)", r"ciphers(/\w+)?", r"catalogue|rustcrypto", r"",
]  # fmt: skip


def module(path: Path) -> str:
    return path.relative_to(CIPHER).with_suffix("").as_posix().removesuffix("/mod").removesuffix("lib")


SOURCES = {module(path): path for path in CIPHER.rglob("*.rs")}


def cipher_floor(name: str) -> int:
    return next(number for number, pattern in enumerate(CIPHER_FLOORS) if re.fullmatch(pattern, name))


def paths(text: str) -> Iterator[list[str]]:
    """What `crate::...` and `super::...` name in code, lists in braces one by one."""
    code = re.sub(r"//.*|^ +use super::\*;", "", text, flags=re.M)
    for found in re.finditer(r"\b(crate|super)((?:::\w+)*)(?:::\{([^}]*)\})?", code):
        names = re.findall(r"(?:^|,)\s*(\w+)", found[3] or "") if found[3] else [""]
        if found[2] or found[3]:
            yield from ([found[1], *found[2].split("::")[1:], *filter(None, [name])] for name in names)


# What the root of the crate hands on, and from where.
ROOT_NAMES = {
    name: [*found[1].split("::"), name]
    for found in re.finditer(r"^pub use (\w+)::\{?([\w, ]+)\}?;", SOURCES[""].read_text(), re.M)
    for name in re.findall(r"\w+", found[2])
} | {name.split("/")[1]: name.split("/") for name in SOURCES if re.fullmatch(r"ciphers/\w+", name)}


def target(source: str, path: list[str]) -> str:
    """The module in which a path ends."""
    first, *rest = path
    below = source.split("/")[:-1] if first == "super" else []
    if first == "crate" and rest and rest[0] in ROOT_NAMES:
        rest = ROOT_NAMES[rest[0]] + rest[1:]
    whole = below + rest
    return next("/".join(whole[:end]) for end in range(len(whole), -1, -1) if "/".join(whole[:end]) in SOURCES)


@pytest.mark.parametrize("source", [source for source in SOURCES if source])
def test_no_file_of_the_cipher_imports_from_above(source: str) -> None:
    above = {target(source, path) for path in paths(SOURCES[source].read_text())}
    assert [name for name in above if cipher_floor(name) > cipher_floor(source)] == []
