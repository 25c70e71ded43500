"""File systems for fsspec: `tress::` encrypts the files of another one, `tress-tree://` reads members of a container.

fsspec imports this package at the first use of these protocols: the distribution has entry points for them.
"""

from __future__ import annotations

from .files import TressFileSystem
from .tree import TressTreeFileSystem

__all__ = ["TressFileSystem", "TressTreeFileSystem"]
