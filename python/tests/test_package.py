"""The package itself: examples, docstrings, exported names."""

from __future__ import annotations

import inspect
import os
import pathlib
import re
import sys
import sysconfig
import zipfile

import pytest
import tress
from conftest import ROOT
from tress import _tress

PAGES = ["docs/reference/python.md", "README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big").write_bytes(b"big")
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, example {number + 1}", "exec"), names)


def test_everything_has_a_docstring() -> None:
    for module in (tress, _tress):
        for name in dir(module):
            thing = getattr(module, name)
            if name.startswith("_") or inspect.ismodule(thing) or not callable(thing):
                continue
            assert (thing.__doc__ or "").strip(), name
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                        assert (value.__doc__ or "").strip(), f"{name}.{member}"


def test_exported_names_exist() -> None:
    assert sorted(tress.__all__) == tress.__all__ or set(tress.__all__) <= set(dir(tress))
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None and tress.__version__ == version[1]


def test_the_module_takes_every_python_from_3_11() -> None:
    assert (_tress.__file__ is not None and ".abi3." in _tress.__file__) or os.name == "nt"
    assert not zipfile.is_zipfile(str(_tress.__file__))


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[frame\]'"):
        tress.frame({})


def test_search_for_the_command(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "tress.exe" if os.name == "nt" else "tress"
    installed, scripts, path = (tmp_path / place for place in ("installed", "scripts", "path"))
    record = installed / "tress_cli-0.1.0.dist-info"
    for folder in (record, scripts, path):
        folder.mkdir(parents=True)
    (record / "METADATA").write_text("Name: tress-cli\nVersion: 0.1.0\n")
    (record / "RECORD").write_text(f"{name},,\n")
    monkeypatch.setattr(sys, "path", [str(installed)])
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(scripts))
    monkeypatch.setenv("PATH", str(path))
    with pytest.raises(tress.TressError, match=r"pip install '\./crates/cli'") as caught:
        tress.command()
    assert caught.value.kind == "no-command"
    for place in (path, scripts, installed):
        (place / name).touch(0o755)
        assert tress.command() == place / name
