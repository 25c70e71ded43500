"""The files of vectors/ are what their generators write: those of tools/vectors that need nothing but Python. `tools/vectors/check`
runs the others too."""

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "vectors"


# The slowest first, so that workers side by side end together.
@pytest.mark.parametrize("generator", ["groups", "pipo", "rijndael", "schnorr"])
def test_the_generator_writes_what_is_kept(generator):
    done = subprocess.run([sys.executable, FOLDER / f"{generator}.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
