"""The PEP 517 backend of the package: maturin's, which is given `tress` and the programs that it runs as well.

maturin puts either a native module or programs into a wheel, not both. But it does take a folder of files that are
installed as they are (`[tool.maturin] data`): this builds the programs by cargo, in the profile that maturin builds in,
and puts them there. Where TRESS_COMMAND names a program, that one is taken instead, with what lies beside it.
"""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

import maturin

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ["tress", "tress-lab", "tress-simulate"]
SCRIPTS = ROOT / "target" / "wheel-data" / "scripts"

Settings = Mapping[str, Any] | None

build_sdist = maturin.build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """The command and the native module, in a wheel."""
    _build_command(config_settings)
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """The same for an installation that uses the sources where they are."""
    _build_command(config_settings)
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """maturin asks for the folder of files here too."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def _build_command(settings: Settings) -> None:
    given = os.environ.get("TRESS_COMMAND")
    beside = [pathlib.Path(given).with_name(name) for name in PROGRAMS] if given else []
    shutil.rmtree(SCRIPTS, ignore_errors=True)
    SCRIPTS.mkdir(parents=True)
    for program in [path for path in beside if path.is_file()] or _built_by_cargo(settings):
        shutil.copy2(program, SCRIPTS)


def _built_by_cargo(settings: Settings) -> list[str]:
    command = [os.environ.get("CARGO", "cargo"), "build", "--locked", "--bins"]
    command += [word for name in PROGRAMS for word in ("--package", name)]
    command += [*_cargo_arguments(settings), "--message-format", "json-render-diagnostics"]
    print(f"Running `{shlex.join(command)}`", flush=True)
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    messages = (json.loads(line) for line in built.stdout.splitlines() if line.startswith("{"))
    programs = [message["executable"] for message in messages if message.get("executable")]
    if len(programs) != len(PROGRAMS):
        raise SystemExit(f"cargo has built {len(programs)} programs, and not {len(PROGRAMS)}")
    return programs


def _cargo_arguments(settings: Settings) -> list[str]:
    """Profile and target, as maturin is told them; its own default is release."""
    given = maturin.get_maturin_pep517_args(settings)
    profile, arguments = "release", []
    for place, argument in enumerate(given):
        name, _, value = argument.partition("=")
        value = value or "".join(given[place + 1 : place + 2])
        if name == "--profile":
            profile = value
        elif name == "--target":
            arguments = ["--target", value]
    return ["--profile", profile, *arguments]
