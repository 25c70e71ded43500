"""docs/contributing/dependencies.md has exactly one row for each third-party crate that our manifests name."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTIONS = ("dependencies", "dev-dependencies", "build-dependencies")


def asked() -> set[str]:
    """Third-party crates that a manifest of the workspace names."""
    names = set()
    for folder in tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]:
        manifest = tomllib.loads((ROOT / folder / "Cargo.toml").read_text())
        for part in [manifest, *manifest.get("target", {}).values()]:
            for section in SECTIONS:
                for name, wanted in part.get(section, {}).items():
                    names.add(wanted.get("package", name) if isinstance(wanted, dict) else name)
    return {name for name in names if not name.startswith("tress-")}


def test_the_table() -> None:
    rows = re.findall(r"^\| ([a-z0-9_-]+) \| (.+) \| (.+) \|$", (ROOT / "docs/contributing/dependencies.md").read_text(), re.MULTILINE)
    names = [name for name, *_ in rows if name != "crate"]
    assert names == sorted(asked())
