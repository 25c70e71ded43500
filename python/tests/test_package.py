"""The package itself: examples, docstrings, what is exported."""

from __future__ import annotations

import inspect
import os
import pathlib
import re
import sys
import zipfile

import pytest
import tress
from conftest import ROOT
from tress import _tress

PAGES = ["docs/python.md", "README.md"]


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


def test_what_is_exported_is_there() -> None:
    assert sorted(tress.__all__) == tress.__all__ or set(tress.__all__) <= set(dir(tress))
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None and tress.__version__ == version[1]


def test_the_module_takes_every_python_from_3_11() -> None:
    assert (_tress.__file__ is not None and ".abi3." in _tress.__file__) or os.name == "nt"
    assert not zipfile.is_zipfile(str(_tress.__file__))


def test_a_missing_dependency_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from tress.dataset.stores import open_store

    for missing, use, extra in (
        ("pandas", lambda: tress.frame({}), "frame"),
        ("s3fs", lambda: open_store("s3://bucket/x", {}), "s3"),
        ("fsspec", lambda: open_store("sftp://host/x", {}), "sftp"),
        ("fsspec", lambda: open_store("memory://x", {}), "dataset"),
    ):
        with monkeypatch.context() as patch:
            for store in ("s3", "files"):
                patch.delitem(sys.modules, f"tress.dataset.stores.{store}", raising=False)
            patch.setitem(sys.modules, missing, None)
            with pytest.raises((ImportError, ValueError)) as caught:
                use()
        assert f"pip install '.[{extra}]'" in str(caught.value)
