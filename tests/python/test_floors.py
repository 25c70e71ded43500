"""The three floors: nothing in crates/ or python/ depends on lab/ or riscv/, and nothing in riscv/ on lab/, not even for tests.
Inside tress-cipher, the lab and tress bench no file imports from a floor above it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = {"crates": set(), "riscv": {"crates"}, "lab": {"crates", "riscv"}}
MANIFESTS = sorted(path for floor in FLOORS for path in (ROOT / floor).rglob("Cargo.toml") if "target" not in path.parts)
PATHS = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]


def dependencies(table: dict[str, Any]) -> dict[str, Any]:
    """The dependencies of every kind and for every target."""
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
        if place != ROOT:
            assert floor(place) in FLOORS[floor(manifest)] | {floor(manifest)}, name


# Our packages that each Python folder may import and name as a dependency.
PYTHON = {
    "python/tress": {"tress", "tress_dataset"},
    "python/tests": {"tress"},
    "python/dataset": {"tress", "tress_dataset"},
    "riscv/python": {"tress_simulate"},
}


@pytest.mark.parametrize("folder", PYTHON)
def test_no_python_imports_from_above(folder: str) -> None:
    files = list((ROOT / folder).rglob("*.py"))
    found = {name for path in files for name in re.findall(r"^ *(?:import|from) (tress\w*)", path.read_text(), re.M)}
    assert files and found - {"tress_reader"} <= PYTHON[folder]


@pytest.mark.parametrize(("folder", "beneath"), [(".", "crates"), ("crates/cli", "crates"), ("riscv/python", "riscv")])
def test_no_distribution_points_up(folder: str, beneath: str) -> None:
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())
    manifest = ROOT / folder / project["tool"]["maturin"].get("manifest-path", "Cargo.toml")
    assert floor(manifest) == beneath and "dependencies" not in project["project"]


def test_there_is_one_version() -> None:
    """tress-dataset and CITATION.cff have the version of the workspace's Cargo.toml."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    project = tomllib.loads((ROOT / "python" / "dataset" / "pyproject.toml").read_text())["project"]
    assert (project["version"], project["dependencies"]) == (version, [f"tress=={version}"])
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_page_has_the_packages() -> None:
    """The table in docs/contributing/map.md matches the manifests."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    page = (ROOT / "docs/contributing/map.md").read_text()
    for member in members:
        name = tomllib.loads((ROOT / member / "Cargo.toml").read_text())["package"]["name"]
        assert f"| `{member}" in page and f"`{name}`" in page, member
    rows = [line.split("`")[1].rstrip("/") for line in page.splitlines() if line.startswith("| `")]
    assert [row for row in rows if not (ROOT / row).exists()] == []


class Room(NamedTuple):
    """A folder of modules."""

    folder: Path
    # The path of the folder's module from the root of its crate.
    inside: list[str]
    # Its floors, the lowest first, as patterns of modules. The first pattern that matches applies. Modules of one floor may
    # import from each other, unless the pattern is a list of them.
    floors: list[str]


ROOMS = {
    "cipher": Room(ROOT / "crates" / "cipher" / "src", [], [
        r"cpu", r"block", r"error|reveal", r"message", r"engine.*", r"operation", r"block_cipher", r"modes.*", r"lanes(?!/serial).*",
        r"ciphers/define", r"ciphers/reference", r"ciphers/words.*", r"ciphers/\w+/(?!keyed$).+", r"ciphers/\w+/keyed",
        r"ciphers/(rijndael|rc6|lea|pipo)",
        r"ciphers(/\w+)?", r"catalogue|rustcrypto|lanes/serial", r"",
    ]),
    "container": Room(ROOT / "crates" / "container" / "src", [], [
        r"error", r"random|control|threads", r"workers", r"sys(/.*)?", r"source", r"sink", r"formats", r"keys(/.*)?", r"format(/.*)?",
        r"pipeline(/.*)?", r"streaming/parallel", r"streaming/range_reader", r"streaming/reader", r"tree(/\w+)?",
        r"commands(/(?!\w+_tests)(?!fault_walk)\w+)?", r"streaming(/\w+)?",
        r"testing(/.*)?", r".*",
    ]),
    "transfer": Room(ROOT / "crates" / "transfer" / "src", [], [
        r"wire(/(?!\w+_test)\w+)?", r"send(/.*)?", r"receive(/(?!\w+_test)\w+)?", r"testing(/.*)?", r".*",
    ]),
    "lab": Room(ROOT / "lab" / "src", [], [
        r"picture.*", r"interrupted", r"timing.*", r"roofs.*", r"bench.*", r"leaks", r"study.*", r"report.*", r".*",
    ]),
    "bench": Room(ROOT / "lab" / "src" / "bench", ["bench"], [
        r"error", r"call|enough|process|text|work", r"record|theirs|threads", r"compare|machine|messages|sample|table",
        r"keep|matrix|modular|numbers|roofline/bounds|worker", r"options|roofline/(share|picture)|signatures",
        r"roofline|rows|visits", r"command|list|plan|targets", r"builds|run", r"(\w+_test)?", r"roofline/(command|\w+_test)",
    ]),
}  # fmt: skip


def modules(room: Room) -> dict[str, Path]:
    def module(path: Path) -> str:
        name = path.relative_to(room.folder).with_suffix("").as_posix()
        return "" if name in {"mod", "lib"} else name.removesuffix("/mod")

    return {module(path): path for path in room.folder.rglob("*.rs")}


SOURCES = {name: modules(room) for name, room in ROOMS.items()}


def floor_of(room: str, name: str) -> int:
    return next(number for number, pattern in enumerate(ROOMS[room].floors) if re.fullmatch(pattern, name))


def paths(text: str) -> Iterator[list[str]]:
    """The paths after `crate::` and `super::` in code without its tests, with lists in braces expanded."""
    code = re.sub(r"//.*|^ +use super::\*;|^#\[cfg\(test\)\]\n(#.*\n)?mod \w+ \{(.|\n)*?^\}", "", text, flags=re.M)
    before = ""
    while code != before:
        before, code = code, re.sub(r"([\w:]+)::\{([^{}]*)\}", branches, code)
    for found in re.finditer(r"\b(crate|super)((?:::\w+)+)", code):
        yield [found[1], *found[2].split("::")[1:]]


def branches(found: re.Match[str]) -> str:
    return ", ".join(f"{found[1]}::{name.strip()}" for name in found[2].split(",") if name.strip())


def origin(room: str, module: str, name: str) -> str:
    """The module that a name comes from which this module has or re-exports."""
    if not module and f"ciphers/{name}" in SOURCES[room]:
        return f"ciphers/{name}"
    uses = re.finditer(r"^pub(?:\(\w+\))? use ([\w:]+)::(?:(\w+)|\{([\w,\s]+)\});", SOURCES[room][module].read_text(), re.M)
    path = next((found[1].split("::") for found in uses if name in re.findall(r"\w+", found[2] or found[3])), [])
    if path[:1] == ["crate"]:
        return walk(room, "", path[1:])
    return walk(room, module, path) if f"{module}/{''.join(path[:1])}".strip("/") in SOURCES[room] else module


def walk(room: str, module: str, path: list[str]) -> str:
    """The module in which a path from a module ends."""
    for name in path:
        inner = f"{module}/{name}".strip("/")
        if inner not in SOURCES[room]:
            return origin(room, module, name)
        module = inner
    return module


def target(room: str, source: str, path: list[str]) -> str | None:
    """The module in which a path ends, if it belongs to the room."""
    inside = ROOMS[room].inside
    first, *rest = path
    if first == "super":
        rest = source.split("/")[:-1] + rest
    elif rest[: len(inside)] == inside:
        rest = rest[len(inside) :]
    else:
        return None
    return walk(room, "", rest)


def targets(room: str, source: str) -> set[str]:
    """The modules of the room that a module imports from."""
    found = {target(room, source, path) for path in paths(SOURCES[room][source].read_text())}
    return {name for name in found if name not in {None, source}}


@pytest.mark.parametrize(("room", "source"), [(room, name) for room in ROOMS for name in SOURCES[room] if name])
def test_no_file_imports_from_above(room: str, source: str) -> None:
    below = floor_of(room, source)
    lowest = below + ("|" not in ROOMS[room].floors[below])
    assert [name for name in targets(room, source) if floor_of(room, name) >= lowest] == []


@pytest.mark.parametrize("source", [name for name in SOURCES["transfer"] if name.startswith("receive/")])
def test_a_receiver_knows_no_sender(source: str) -> None:
    assert [name for name in targets("transfer", source) if name.startswith("send")] == []


# Rooms in which no files import from each other in a circle.
@pytest.mark.parametrize("room", ["container", "transfer"])
def test_no_circles(room: str) -> None:
    left = {name: targets(room, name) for name in SOURCES[room] if name}
    while free := left.keys() - {name for imports in left.values() for name in imports}:
        left = {name: imports for name, imports in left.items() if name not in free}
    while free := {name for name, imports in left.items() if not imports & left.keys()}:
        left = {name: imports - free for name, imports in left.items() if name not in free}
    assert left == {}
