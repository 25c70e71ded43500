"""The interface between workers and containers. Tests use other codecs."""

from __future__ import annotations

from typing import Any, Protocol

from .keys import RunKeys
from .payload_id import PayloadIdHasher


class Push(Protocol):
    """Encrypts or decrypts a stream of bytes."""

    def update(self, data: Any) -> bytes: ...

    def finalize(self) -> bytes: ...


class Opening(Push, Protocol):
    """Decrypts a container. Returns only verified bytes."""

    @property
    def content_type(self) -> str | None:
        """`file` or `tree`; `None` until the header was read."""

    @property
    def name(self) -> str | None:
        """The name in the container; `None` until the header was read."""


class Meter(Protocol):
    """Computes the identifier of a container's payload."""

    def update(self, sealed: Any) -> None: ...

    def finish(self) -> str: ...


class Codec(Protocol):
    """Makes and opens containers. It is pickled and sent to workers."""

    def seal(self, name: str) -> Push: ...

    def seal_whole(self, data: Any, name: str) -> bytes: ...

    def open(self) -> Opening: ...

    def meter(self) -> Meter: ...

    def new_head(self, start: bytes) -> tuple[int, bytes]: ...


class TressCodec:
    """The codec for containers of Tress."""

    def __init__(self, keys: RunKeys, aead: str = "aes-128-ccm", threads: int = 1):
        self.keys = keys
        self.aead = aead
        self.threads = threads
        self._parsed: tuple[list[Any], list[Any]] | None = None

    def __reduce__(self) -> tuple[type[TressCodec], tuple[RunKeys, str, int]]:
        return TressCodec, (self.keys, self.aead, self.threads)

    def _keys(self) -> tuple[list[Any], list[Any]]:
        if self._parsed is None:
            self._parsed = (self.keys.seal_with(), self.keys.open_with())
        return self._parsed

    def seal(self, name: str) -> Push:
        import tress

        push: Push = tress.Encryptor(self._keys()[0], aead=self.aead, threads=self.threads, name=name)
        return push

    def seal_whole(self, data: Any, name: str) -> bytes:
        import tress

        sealed: bytes = tress.encrypt(data, self._keys()[0], aead=self.aead, threads=self.threads, name=name)
        return sealed

    def open(self) -> Opening:
        import tress

        opening: Opening = tress.Decryptor(self._keys()[1], threads=self.threads)
        return opening

    def meter(self) -> Meter:
        return PayloadIdHasher()

    def new_head(self, start: bytes) -> tuple[int, bytes]:
        import tress

        old, head = tress.rewrap_head(start, self._keys()[1], self._keys()[0])
        return int(old), bytes(head)


class TreeInside(ValueError):
    """The container holds a folder, which is not one object."""

    kind = "tree"
