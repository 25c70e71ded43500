"""The storage options that name key files.

fsspec puts options into its cache of instances, tokens, pickles and JSON, so that no option is a key.
"""

from __future__ import annotations

import os
import pathlib
from typing import Any

from .._errors import Usage
from .._tress import CobblestoneKey, RawKey

# Formats with a key and a context instead of recipients.
_COBBLESTONE = ("cobblestone-128", "cobblestone-256")
# Beginnings of keys, which are no names of files.
_KEYS = ("AGE-", "-----", "age1", "tress1", "ssh-")


class Keys:
    """The names of key files, which are read whenever a file is opened or created."""

    def __init__(self, identity: Any, recipients: Any, key_file: Any, format: str, context: str) -> None:
        """Raises `Usage` if an option is no name of a file."""
        if format not in ("tress", "age", *_COBBLESTONE):
            raise Usage("format must be tress, age, cobblestone-128 or cobblestone-256", "usage")
        if not isinstance(context, str) or (context and format not in _COBBLESTONE):
            raise Usage("context must be text, and is for Cobblestone files only", "usage")
        # For Encryptor, to which a Cobblestone key says its format.
        self.written = {} if format in _COBBLESTONE else {"format": format}
        self._format, self._context = format, context
        named = {"identity": identity, "recipients": recipients, "key_file": key_file}
        self.paths = {option: _paths(option, paths) for option, paths in named.items()}

    @property
    def options(self) -> dict[str, Any]:
        """The storage options with these files, by their absolute paths."""
        return {option: found if found[1:] else found[0] for option, found in self.paths.items() if found}

    def identities(self) -> list[Any]:
        """Returns what opens files."""
        found = [pathlib.Path(path) for path in self._files("identity", "TRESS_IDENTITY")]
        for path in found:
            _content(path, 0)
        return self._with_raw_keys(found, "identity", "TRESS_IDENTITY")

    def recipients(self) -> list[Any]:
        """Returns what new files are encrypted to."""
        found: list[Any] = []
        for path in self._files("recipients", "TRESS_RECIPIENTS"):
            lines = map(str.strip, _content(path).decode("utf-8-sig", "replace").splitlines())
            found += [line for line in lines if line and not line.startswith("#")]
        return self._with_raw_keys(found, "recipients", "TRESS_RECIPIENTS")

    def _files(self, option: str, variable: str) -> list[str]:
        """Returns the files of an option. The environment counts only if the options name no keys."""
        if self._format in _COBBLESTONE or self.paths[option] or self.paths["key_file"]:
            return self.paths[option]
        return [os.path.abspath(path) for path in os.environ.get(variable, "").split(os.pathsep) if path]

    def _with_raw_keys(self, found: list[Any], option: str, variable: str) -> list[Any]:
        files = self.paths["key_file"]
        found += [self._raw_key(path) for path in files]
        if not found:
            wanted = "key_file" if self._format in _COBBLESTONE else f"{option} or key_file, or the variable {variable}"
            raise Usage(f"no keys: name a file of them with the storage option {wanted}", "usage")
        return found

    def _raw_key(self, path: str) -> RawKey | CobblestoneKey:
        key = _content(path)
        try:
            if self._format in _COBBLESTONE:
                return CobblestoneKey(key, self._context.encode(), format=self._format)
            return RawKey(key)
        except Usage as error:
            raise Usage(f"{path}: {error}", error.kind) from None


def _paths(option: str, named: Any) -> list[str]:
    """Returns absolute paths, which hold for a process with another current folder, too."""
    several = [] if named is None else [named] if isinstance(named, str | os.PathLike) else named
    if not isinstance(several, list | tuple) or not all(isinstance(one, str | os.PathLike) for one in several):
        raise Usage(f"{option} must name files: fsspec stores options, so they are not keys", "usage")
    paths = [os.fsdecode(one) for one in several]
    if any(path.startswith(_KEYS) or "\n" in path for path in paths):
        raise Usage(f"{option} must name a file that has the keys, not a key", "usage")
    return [os.path.abspath(path) for path in paths]


def _content(path: Any, count: int = -1) -> bytes:
    """Reads a key file. A missing one is no `FileNotFoundError`, which zarr takes for an empty part of an array."""
    try:
        with open(path, "rb") as file:
            return file.read(count)
    except OSError as error:
        raise Usage(f"{os.fspath(path)}: cannot read this key file: {error.strerror}", "usage") from error
