"""Identifies a container's payload without revealing anything about its plaintext.

The identifier in the manifest is the SHA-256 digest of the payload's salt, its commitment and the tags of all its
chunks (docs/reference/formats/container.md). Without the container's key it reveals nothing, so the manifest may be
stored with the containers; a digest of the plaintext would let anybody test guesses. With the key, and after all chunks
are verified, it shows that the payload is the one that was written. A change of recipients does not change it.

Of an age file it is the digest of everything after the header, and of one with an armor, of everything.
"""

from __future__ import annotations

import hashlib
import re

AGE = re.compile(rb"(?P<armor>\s*-----BEGIN AGE )|age-encryption\.org/.*?\n--- [^\n]*\n", re.DOTALL)
"""Matches the header of an age file, or the beginning of an armor."""
_BEGINS_AGE = re.compile(rb"age-encryption\.org/|-----BEGIN AGE |\s")
ALIGNMENT = 4096
LINE = 21
PREFIX = 56
TAG = 16
SEALED_CHUNK = 16384 + TAG
MAX_AGE_FILE = 65536


class PayloadIdHasher:
    """Computes the identifier of a container that is read in pieces of any length. It buffers only the header."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._start = bytearray()
        self._payload = -1
        self._seen = 0
        # The last bytes of the current chunk. If it is the last chunk, they are its tag.
        self._tail = b""
        self._in_chunk = 0
        self._is_age = False

    def update(self, sealed: bytes | bytearray | memoryview) -> None:
        """Processes the next bytes. Raises `ValueError` if they are not the beginning of a container."""
        piece = memoryview(sealed)
        self._seen += len(piece)
        if self._is_age:
            return self._age_file(piece)
        if self._payload < 0 or len(self._start) < self._payload + PREFIX:
            need = (LINE + 4 if self._payload < 0 else self._payload + PREFIX) - len(self._start)
            self._start += piece[:need]
            piece = piece[need:]
            if self._payload < 0 and _BEGINS_AGE.match(self._start):
                self._is_age = True
                return self._age_file(piece)
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

    def _age_file(self, piece: memoryview) -> None:
        """Hashes what follows the header of an age file, or all of an armored one."""
        if self._payload < 0:
            self._start += piece
            header = AGE.match(self._start)
            if header is None:
                return
            self._payload = 0 if header["armor"] else header.end()
            piece = memoryview(bytes(self._start[self._payload :]))
        self._hash.update(piece)

    def _chunks(self, piece: memoryview) -> None:
        """Hashes the tag of every chunk that ends in this piece."""
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
        """Returns the identifier in hexadecimal. Raises `ValueError` if the input is too short for a container."""
        if self._is_age and self._payload >= 0:
            return self._hash.hexdigest()
        if self._payload < 0 or len(self._start) < self._payload + PREFIX or self._in_chunk < TAG:
            raise ValueError("not a container: too short")
        self._hash.update(self._tail)
        return self._hash.hexdigest()

    @property
    def plain_bytes(self) -> int:
        """Length of the plaintext in bytes, from the length of the container. Valid only if all chunks are verified."""
        chunks, rest = divmod(self._seen - self._payload - PREFIX, SEALED_CHUNK)
        return chunks * (SEALED_CHUNK - TAG) + rest - TAG
