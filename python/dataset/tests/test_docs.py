"""Runs the examples of docs/reference/datasets.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import KeyFixture
from dataset_support import ROOT, make_tree, read_tree

PAGE = (ROOT / "docs/reference/datasets.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def run(script: str, folder: Path) -> None:
    (folder / "script.py").write_text(script)
    done = subprocess.run([sys.executable, "script.py"], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_first_example(tmp_path: Path) -> None:
    made = make_tree(tmp_path / "photos", {"a.jpg": 10, "b/c.jpg": 20})
    run(BLOCKS[0], tmp_path)
    assert read_tree(tmp_path / "restored") == made


def test_executors(tmp_path: Path, keys: KeyFixture) -> None:
    """Runs the example with threads. Other tests cover the executors that need a cluster."""
    made = make_tree(tmp_path / "photos", {"a.jpg": 10})
    run(BLOCKS[1] + f"\nwith_threads({keys.recipient!r})\n", tmp_path)
    assert sorted(read_tree(tmp_path / "sealed-too")) == [name + ".tress" for name in made]


def test_commands(tmp_path: Path, keys: KeyFixture) -> None:
    """Runs the shell commands, with a folder instead of the bucket and a complete recipient."""
    make_tree(tmp_path / "photos", {"a.jpg": 10, "b/c.jpg": 20})
    (tmp_path / "key.txt").write_text(keys.identity)
    lines = re.findall(r"^tress-dataset (.*)$", PAGE, re.MULTILINE)
    (tmp_path / "manifest.key").write_bytes(bytes(range(32)))
    three = ["encrypt", "verify", "decrypt"]
    assert [line.split()[0] for line in lines] == [*three, "rewrap", *three]
    for line in lines:
        arguments = re.sub(r'"\$\w+"', keys.recipient, line).split()
        done = subprocess.run(
            [sys.executable, "-m", "tress_dataset.command", *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (line, done.stderr)
