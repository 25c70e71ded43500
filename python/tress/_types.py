"""Types of arguments: recipients, identities, paths."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from ._tress import CobblestoneKey, KeyPair, Passphrase, RawKey

if TYPE_CHECKING:
    from typing_extensions import Buffer
else:
    # collections.abc.Buffer exists only since Python 3.12.
    from typing import Any as Buffer

__all__ = ["Buffer", "Identities", "Key", "Path", "Recipients"]

Key: TypeAlias = str | KeyPair | Passphrase | RawKey | CobblestoneKey
"""A key: text or an object. A recipient as text is `age1…`, `tress1…` or `ssh-…`; an identity as text is
`AGE-SECRET-KEY-1…` or the content of an identity file."""

Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
"""A path of a file or folder."""

Recipients: TypeAlias = Key | Iterable[Key]
"""One recipient or several."""

Identity: TypeAlias = Key | os.PathLike[str]
"""An identity: a key, or the path object of an identity file. Text is an identity itself, not a path."""

Identities: TypeAlias = Identity | Iterable[Identity]
"""One identity or several."""
