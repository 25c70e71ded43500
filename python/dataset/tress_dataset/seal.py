"""What identifies a container's payload without saying anything about its plaintext.

The digest in the manifest is the SHA-256 of the payload's salt, its commitment and the tags of all its chunks
(docs/reference/formats/container.md). Who lacks the container's key learns nothing from it, so a manifest may lie where the
containers lie; a digest of the plaintext would let anybody test guesses. Who has the key, and has verified all chunks,
knows by it that the payload is the one that was written. Changing recipients leaves it as it is.
"""

from __future__ import annotations

import hashlib

ALIGNMENT = 4096
LINE = 21
PREFIX = 56
TAG = 16
SEALED_CHUNK = 16384 + TAG
MAX_AGE_FILE = 65536


class Seal:
    """Takes a container in pieces of any length. Memory: some bytes, or the header while it is incomplete."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._start = bytearray()
        self._payload = -1
        self._seen = 0
        # The end of the chunk that has begun: its tag, if it is the last one.
        self._tail = b""
        self._in_chunk = 0

    def update(self, sealed: bytes | bytearray | memoryview) -> None:
        """The next bytes. Raises `ValueError` if they begin no container."""
        piece = memoryview(sealed)
        self._seen += len(piece)
        if self._payload < 0 or len(self._start) < self._payload + PREFIX:
            need = (LINE + 4 if self._payload < 0 else self._payload + PREFIX) - len(self._start)
            self._start += piece[:need]
            piece = piece[need:]
            if self._payload < 0 and len(self._start) >= LINE + 4:
                length = int.from_bytes(self._start[LINE : LINE + 4], "big")
                if length > MAX_AGE_FILE:
                    raise ValueError("not a container: the header is too long")
                end = LINE + 4 + length
                self._payload = end + -end % ALIGNMENT
                need = self._payload + PREFIX - len(self._start)
                self._start += piece[:need]
                piece = piece[need:]
            if self._payload >= 0 and len(self._start) == self._payload + PREFIX:
                self._hash.update(self._start[self._payload :])
        if len(piece):
            self._chunks(piece)

    def _chunks(self, piece: memoryview) -> None:
        """Takes the tag of every chunk that ends in this piece."""
        offset = 0
        while True:
            end = offset + SEALED_CHUNK - self._in_chunk
            if end > len(piece):
                break
            tag = piece[max(offset, end - TAG) : end]
            self._hash.update((self._tail + bytes(tag))[-TAG:] if len(tag) < TAG else tag)
            self._in_chunk = 0
            self._tail = b""
            offset = end
        rest = piece[offset:]
        self._in_chunk += len(rest)
        self._tail = (self._tail + bytes(rest[-TAG:]))[-TAG:]

    def finish(self) -> str:
        """The digest in hexadecimal. Raises `ValueError` for what is too short for a container."""
        if self._payload < 0 or len(self._start) < self._payload + PREFIX or self._in_chunk < TAG:
            raise ValueError("not a container: too short")
        self._hash.update(self._tail)
        return self._hash.hexdigest()

    @property
    def plain_bytes(self) -> int:
        """Length of the plaintext, by the container's own length; true once all chunks have been verified."""
        chunks, rest = divmod(self._seen - self._payload - PREFIX, SEALED_CHUNK)
        return chunks * (SEALED_CHUNK - TAG) + rest - TAG
