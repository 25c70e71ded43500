"""Every published crate has a page, both licences and the metadata that a registry requires; `make publishable` packages it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [path.parent for floor in ("crates", "riscv") for path in sorted((ROOT / floor).glob("*/Cargo.toml"))]
MANIFESTS = {folder: tomllib.loads((folder / "Cargo.toml").read_text()) for folder in FOLDERS}
PACKAGES = {folder: manifest["package"] for folder, manifest in MANIFESTS.items() if "package" in manifest}
PUBLISHED = {folder: package for folder, package in PACKAGES.items() if package.get("publish", True)}


def test_what_make_packages() -> None:
    (line,) = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("PUBLISHED :=")]
    assert line.split()[2:] == [package["name"] for package in PUBLISHED.values()]


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_package(folder: Path) -> None:
    package = PUBLISHED[folder]
    assert (folder / package.get("readme", "README.md")).is_file()
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (folder / licence).resolve() == ROOT / licence
    assert package["description"] and 1 <= len(package["keywords"]) <= 5 and package["rust-version"]["workspace"]
    assert not (folder / "tests").exists() or package["exclude"] == ["/tests"]
