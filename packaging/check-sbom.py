#!/usr/bin/env python3
"""Compares a bill of materials (CycloneDX, JSON) with the crates that cargo compiles into the command.

    packaging/check-sbom.py [--prune] FILE

--prune first removes crates that go only into other packages of the workspace or into tests, which cargo-cyclonedx cannot
distinguish. Then it checks that the file lists exactly the compiled crates, with version, checksum and licence, that every edge
has both ends, and that it contains no path of this machine.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def expected() -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The crates that the build uses, and those of them that are linked into the program."""
    def tree(edges: str) -> set[tuple[str, str]]:
        line = ["cargo", "tree", "--locked", "-p", "tress", "--no-default-features", "-e", edges, "--prefix", "none",
                "--format", "{p}"]
        text = subprocess.run(line, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        pairs = (line.split()[:2] for line in text.splitlines() if line)
        return {(name, version.removeprefix("v")) for name, version in pairs}
    return tree("normal,build"), tree("normal,no-proc-macro")


def checksums() -> dict[tuple[str, str], str]:
    """The checksums of Cargo.lock."""
    lock = (ROOT / "Cargo.lock").read_text()
    found = re.findall(r'name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"', lock)
    return {(name, version): checksum for name, version, checksum in found}


def prune(path: Path) -> None:
    """Removes the crates that the build does not use, and their edges."""
    bom = json.loads(path.read_text())
    most, _ = expected()
    gone = {part["bom-ref"] for part in bom["components"] if (part["name"], part["version"]) not in most}
    bom["components"] = [part for part in bom["components"] if part["bom-ref"] not in gone]
    bom["dependencies"] = [edge for edge in bom["dependencies"] if edge["ref"] not in gone]
    for edge in bom["dependencies"]:
        if "dependsOn" in edge:
            edge["dependsOn"] = [ref for ref in edge["dependsOn"] if ref not in gone]
    path.write_text(json.dumps(bom, indent=2) + "\n")


def main(path: Path) -> None:
    """Prints the errors and exits with 1, or prints the number of components."""
    bom = json.loads(path.read_text())
    wrong: list[str] = []
    if bom.get("bomFormat") != "CycloneDX" or not re.fullmatch(r"1\.\d", bom.get("specVersion", "")):
        wrong.append("not a CycloneDX file")
    components = {(part["name"], part["version"]): part for part in bom["components"]}
    here = bom["metadata"]["component"]
    held = set(components) | {(here["name"], here["version"])}
    most, least = expected()
    wrong += [f"{name} {version} is missing" for name, version in sorted(least - held)]
    # Crates that only tests need may be listed with another scope.
    required = {key for key, part in components.items() if part.get("scope", "required") == "required"}
    wrong += [f"{name} {version} does not go in" for name, version in sorted(required - most)]
    if str(ROOT) in path.read_text():
        wrong.append("it contains the path of the folder that it was made in")
    sums = checksums()
    for key, part in sorted(components.items()):
        listed = [each["content"] for each in part.get("hashes", []) if each["alg"] == "SHA-256"]
        if key in sums and listed != [sums[key]]:
            wrong.append(f"{key[0]} {key[1]} has another checksum in Cargo.lock")
        if not part.get("licenses"):
            wrong.append(f"{key[0]} {key[1]} has no licence")
        if not part.get("purl", "").startswith("pkg:cargo/"):
            wrong.append(f"{key[0]} {key[1]} has no package URL")
    names = {part["bom-ref"] for part in [*bom["components"], here]}
    for edge in bom["dependencies"]:
        wrong += [f"an edge leads to {ref}" for ref in [edge["ref"], *edge.get("dependsOn", [])] if ref not in names]
    if wrong:
        sys.exit("\n".join(f"packaging/check-sbom.py: {line}" for line in wrong))
    print(f"{path}: {len(components)} components, as cargo has them")


if __name__ == "__main__":
    if sys.argv[1] == "--prune":
        prune(Path(sys.argv[2]))
    main(Path(sys.argv[-1]))
