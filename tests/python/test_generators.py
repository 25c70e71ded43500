"""The files of vectors/ equal the output of their generators. Runs the generators that need only Python; `tools/vectors/check`
runs all of them."""

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "vectors"


# The slowest first, so that parallel workers end at about the same time.
@pytest.mark.parametrize("generator", ["groups", "pipo", "rijndael", "schnorr"])
def test_the_generator_writes_what_is_kept(generator):
    done = subprocess.run([sys.executable, FOLDER / f"{generator}.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
