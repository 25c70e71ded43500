"""What may be given as recipients and identities."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from ._tress import KeyPair, Passphrase, RawKey

if TYPE_CHECKING:
    from typing_extensions import Buffer
else:
    # Python itself names it since 3.12.
    from typing import Any as Buffer

__all__ = ["Buffer", "Identities", "Key", "Path", "Recipients"]

Key: TypeAlias = str | KeyPair | Passphrase | RawKey
"""Text (`age1…`, `tress1…`, `ssh-…`; of an identity, `AGE-SECRET-KEY-1…` or an identity file), or an object."""

Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
"""Of a file or folder."""

Recipients: TypeAlias = Key | Iterable[Key]
"""One recipient or several."""

Identities: TypeAlias = Key | Iterable[Key]
"""One identity or several."""
