"""Runs the code cells of examples/frames.ipynb with the S3 server of the tests. Its kept output is from Jupyter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tress
from dataset_support import ROOT, S3Server

NOTEBOOK = json.loads((ROOT / "python/dataset/examples/frames.ipynb").read_text())
CELLS = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_output_is_kept() -> None:
    outputs = [cell["outputs"] for cell in CELLS]
    assert all(outputs) and not [one for several in outputs for one in several if one["output_type"] == "error"]
    assert [one for several in outputs for one in several if "image/png" in one.get("data", {})]


def test_cells(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "AWS_ENDPOINT_URL": server.options()["endpoint_url"],
        "AWS_ACCESS_KEY_ID": server.access,
        "AWS_SECRET_ACCESS_KEY": server.secret,
        "AWS_DEFAULT_REGION": "us-east-1",
        "MPLBACKEND": "agg",
    }.items():
        monkeypatch.setenv(name, value)
    names: dict[str, Any] = {}
    for number, cell in enumerate(CELLS):
        exec(compile("".join(cell["source"]), f"code cell {number}", "exec"), names)
    assert names["read"].equals(names["frame"]) and names["opened"].equals(names["field"])
    assert names["first"].equals(names["frame"][["sensor_00"]]) and not names["changed"].equals(names["frame"])
    with pytest.raises(tress.Damaged):
        pd.read_parquet("tress::s3://bucket/frames/encrypted.parquet", storage_options=names["keys"])
    # Independently: containers start with these bytes, so no object is in clear.
    stored = server.folder / "data/bucket/frames"
    objects = [stored / "encrypted.parquet", *(path for path in stored.glob("encrypted.zarr/**/*") if path.is_file())]
    assert len(objects) > 16 and {path.read_bytes()[:6] for path in objects} == {b"tress/"}
