"""The native part of `tress`. Import `tress` instead."""

import os
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal, Self, final, overload, type_check_only

from _typeshed import ReadableBuffer, WriteableBuffer

from ._types import Identities, Path, Recipients

__all__ = [
    "AESCCM",
    "ChaCha20Poly1305",
    "Cobblestone128Decryptor",
    "Cobblestone128Encryptor",
    "Cobblestone256Decryptor",
    "Cobblestone256Encryptor",
    "CobblestoneKey",
    "Decryptor",
    "Encryptor",
    "KeyPair",
    "MemberReader",
    "Passphrase",
    "PrivateKey",
    "PublicKey",
    "RawKey",
    "Reader",
    "Tree",
    "_Aead",
    "__version__",
    "decrypt",
    "decrypt_file",
    "decrypt_into",
    "decrypt_many",
    "encrypt",
    "encrypt_file",
    "encrypt_into",
    "encrypt_many",
    "inspect",
    "plain_size",
    "plan",
    "rewrap_file",
    "rewrap_head",
    "sealed_size",
]

__version__: str

@final
class KeyPair:
    """An age identity and a Noise key, as `tress keygen` makes them."""

    @staticmethod
    def generate() -> KeyPair:
        """Generates a key pair."""

    @staticmethod
    def parse(text: str) -> KeyPair:
        """Reads a key pair from the text of an identity file, or from an `AGE-SECRET-KEY-1…` line alone."""

    @staticmethod
    def load(path: Path) -> KeyPair:
        """Reads a key pair from an identity file."""

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        """Supports `pickle` and `copy` by the path of the identity file, if the key pair was loaded from one."""

    @property
    def recipient(self) -> str:
        """The recipient to encrypt to, `age1…`."""

    @property
    def address(self) -> str | None:
        """The recipient to encrypt to and to send to, `tress1…`; `None` without a Noise key."""

    def identity_file(self) -> str:
        """Returns the text of the identity file, which is secret."""

    def save(self, path: Path) -> None:
        """Writes the identity file so that only its owner can read it (mode 0600). An existing file is not replaced."""

@final
class Passphrase:
    """A passphrase, as the only recipient or as an identity.

    `work_factor` is the binary logarithm of scrypt's cost parameter N for encryption, up to 22. Each step down halves
    the cost of a guess. 18 takes a second; use low values only in tests. `max_work_factor` is the limit for
    decryption, up to 22: a file with a work factor of 20 takes five seconds and 1 GiB of memory.
    """

    def __new__(cls, text: str, *, work_factor: int = 18, max_work_factor: int = 20) -> Passphrase: ...

@final
class RawKey:
    """A key of 16 or 32 random bytes, as a recipient or as an identity. Do not use a password as a key."""

    def __new__(cls, key: ReadableBuffer) -> RawKey: ...
    @classmethod
    def generate(cls, bit_length: int = 256) -> bytes:
        """Generates a key of 128 or 256 bits, and returns it as `bytes`."""

@final
class CobblestoneKey:
    """Key and context of Cobblestone files, as the only recipient, or as an identity, which then opens only these
    files.

    A key of 16 bytes is for Cobblestone-128, one of 32 bytes for Cobblestone-256; with `format` it must be that one.
    The context is any bytes, and not secret.
    """

    def __new__(
        cls, key: ReadableBuffer, context: ReadableBuffer | None = None, *, format: str | None = None
    ) -> CobblestoneKey: ...

def encrypt(
    data: ReadableBuffer,
    recipients: Recipients,
    *,
    aead: str | None = None,
    threads: int = 0,
    name: str | None = None,
    format: str = "tress",
) -> bytes:
    """Encrypts `data`, any object with a contiguous buffer, into a container for `recipients`.

    `threads` is the number of threads; 0 means one on each core. `name` is stored in the container, encrypted.
    `format` may be `age`; a `CobblestoneKey` selects its format itself. Only containers have a name and a choice of
    AEAD, which is `aes-128-ccm` by default; `name` and `aead` raise `Usage` for other formats.
    """

def sealed_size(
    plain_bytes: int,
    recipients: Recipients,
    *,
    aead: str | None = None,
    name: str | None = None,
    format: str = "tress",
) -> int:
    """Length in bytes of what `encrypt` makes of `plain_bytes` bytes with these arguments. Headers of age files have a
    random part: for them it may be up to 512 bytes too much."""

def encrypt_into(
    data: ReadableBuffer,
    buf: WriteableBuffer,
    recipients: Recipients,
    *,
    aead: str | None = None,
    threads: int = 0,
    name: str | None = None,
    format: str = "tress",
) -> int:
    """Encrypts as `encrypt`, into `buf`, which must have at least the length of the result; returns that length. `buf`
    must not share memory with `data`."""

def plain_size(data: ReadableBuffer, identities: Identities) -> int:
    """Length in bytes of the plaintext of a container, or of a file in another format, if all of it verifies."""

def decrypt_into(data: ReadableBuffer, buf: WriteableBuffer, identities: Identities, *, threads: int = 0) -> int:
    """Decrypts as `decrypt`, into `buf`, which must have at least the length of the plaintext; returns that length.
    `buf` must not share memory with `data`. If a chunk is damaged, `buf` is filled with zeros."""

def decrypt(data: ReadableBuffer, identities: Identities, *, threads: int = 0) -> bytes:
    """Verifies and decrypts a container, or a file in another format.

    The plaintext of a folder is a tar stream, with an index behind its end; names and links come from whoever made
    the container. `decrypt_file` unpacks it without links that lead out of the folder; `tarfile` refuses them with
    `filter="data"`.
    """

def rewrap_head(data: ReadableBuffer, identities: Identities, recipients: Recipients) -> tuple[int, bytes]:
    """Makes a new head of a container, for other recipients. Returns the number of bytes at the beginning of the
    container to replace, and their replacement.

    `data` is the beginning of the container: 69 KiB are always enough, and with fewer `NeedMore` may be raised. This
    does not revoke access: a former recipient may have kept the payload key.
    """

def encrypt_file(
    source: Path,
    target: Path,
    recipients: Recipients,
    *,
    aead: str | None = None,
    threads: int = 0,
    name: str | None = None,
    force: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
    format: str = "tress",
    armor: bool = False,
) -> tuple[int, int, int, float]:
    """Encrypts a file or folder into `target`, which appears only when it is complete. Returns bytes read, bytes
    written, number of chunks, and seconds."""

def decrypt_file(
    source: Path,
    target: Path,
    identities: Identities,
    *,
    range: tuple[int, int | None] | None = None,
    threads: int = 0,
    force: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
    format: str | None = None,
) -> tuple[int, int, int, float]:
    """Decrypts a container into the file or folder `target`. Returns bytes read, bytes written, number of chunks, and
    seconds."""

def rewrap_file(path: Path, identities: Identities, recipients: Recipients) -> tuple[int, int, int, float]:
    """Replaces the recipients of a container; its payload is not touched. Returns bytes read, bytes written, number of
    chunks, and seconds."""

def inspect(path: Path, identities: Identities | None = None, *, format: str | None = None) -> dict[str, Any]:
    """Returns the properties of a container or another file. With `identities`, the header, the commitment and the
    last chunk are verified. A file that is not in `format` is refused; a Cobblestone file needs it, or its key."""

@final
class Encryptor:
    """Encrypts a stream into a container, piece by piece, with memory for one batch.

    It belongs to the process that created it. After a fork, two processes would encrypt under one key and nonce, so
    the other process gets `Usage`.
    """

    def __new__(
        cls,
        recipients: Recipients,
        *,
        aead: str | None = None,
        threads: int = 1,
        name: str | None = None,
        format: str = "tress",
    ) -> Encryptor: ...
    def update(self, data: ReadableBuffer) -> bytes:
        """Encrypts the next bytes of the plaintext and returns the finished part of the container."""

    def finalize(self) -> bytes:
        """Returns the rest of the container. Without it the container is truncated."""

@final
class Decryptor:
    """Verifies and decrypts a container as a stream, piece by piece, with memory for one batch."""

    def __new__(cls, identities: Identities, *, threads: int = 1) -> Decryptor: ...
    def update(self, data: ReadableBuffer) -> bytes:
        """Decrypts the next bytes of the container and returns verified plaintext."""

    def finalize(self) -> bytes:
        """Returns the rest of the plaintext. Raises `Damaged` if the container is truncated."""

    @property
    def name(self) -> str | None:
        """The name in the container, or `None`, also until the header was read. It comes from whoever made the
        container, and contains no path."""

    @property
    def content_type(self) -> str | None:
        """`file`, or `tree` for a tar stream (see `decrypt`); `None` until the header was read."""

@final
class Reader:
    """The raw reader of `tress.open`."""

    def __new__(cls, source: Any, identities: Identities, *, threads: int = 0) -> Reader: ...
    def readinto(self, buffer: WriteableBuffer) -> int:
        """Reads verified bytes into a buffer and returns their number; 0 at the end."""

    def read_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """Reads ranges `(start, end)` of the plaintext without the position: each chunk once, those of different
        ranges side by side in lanes. Range n is result n.
        """

    def sealed_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Returns the sorted ranges `(start, end)` of the file that `read_ranges` reads; none of an armored file."""

    def release(self) -> None:
        """Closes the file of a path until the next read. Keys and cached plaintext stay."""

    def seek(self, offset: int, whence: int = 0) -> int:
        """Sets the position, as `io.IOBase.seek`, and returns it."""

    def tell(self) -> int:
        """Returns the position."""

    @property
    def size(self) -> int:
        """Length of the plaintext in bytes."""

    @property
    def name(self) -> str | None:
        """The name in the container, or `None`. It comes from whoever made the container, and contains no path."""

    @property
    def content_type(self) -> str:
        """`file`, or `tree` for a tar stream (see `decrypt`)."""

    def close(self) -> None:
        """Closes the reader and wipes its keys and cached plaintext."""

_MemberRow = tuple[bytes, int, int, int, int, int, int, bytes, bytes, bytes, bool]

@final
class Tree:
    """The container of a folder. Any number of threads may read."""

    def __new__(cls, source: Any, identities: Identities, *, threads: int = 0) -> Tree: ...
    @property
    def has_index(self) -> bool:
        """Whether the container has an index. Without one, opening reads the headers of all members."""

    def part(self, number: int) -> list[_MemberRow]:
        """Returns the members of a part of the index, from 0; no members behind the last part."""

    def count(self) -> int:
        """Returns the number of files and hard links."""

    def find(self, path: bytes) -> _MemberRow | None:
        """Returns the member with this path, or `None`."""

    def open(self, path: bytes) -> MemberReader | None:
        """Returns a reader of the file or hard link with this path, or `None`."""

    def close(self) -> None:
        """Closes the tree and its readers, and wipes its keys when the calls of other threads have ended."""

@final
class MemberReader:
    """The data of a file in a tree."""

    @property
    def size(self) -> int:
        """Length of the file in bytes."""

    def readinto(self, buffer: WriteableBuffer, offset: int) -> int:
        """Reads verified bytes at an offset into a buffer, and returns their number; 0 at the end."""

@type_check_only
class _Cobblestone:
    def __new__(cls, key: ReadableBuffer, context: ReadableBuffer, *, threads: int = 0) -> Self: ...
    def update(self, data: ReadableBuffer) -> bytes:
        """Processes the next bytes and returns all output that is complete."""

    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> int:
        """As `update`, but writes to the beginning of `buf`, and returns the number of bytes. Raises `ValueError` if
        `buf` is too short; the object stays usable."""

    def finalize(self) -> bytes:
        """Returns the rest of the output. Without this call the file is not complete, or may be cut."""

@final
class Cobblestone128Encryptor(_Cobblestone):
    """Makes a Cobblestone-128 file."""

    @staticmethod
    def generate_key() -> bytes:
        """Generates a key."""

@final
class Cobblestone128Decryptor(_Cobblestone):
    """Decrypts a Cobblestone-128 file."""

@final
class Cobblestone256Encryptor(_Cobblestone):
    """Makes a Cobblestone-256 file."""

    @staticmethod
    def generate_key() -> bytes:
        """Generates a key."""

@final
class Cobblestone256Decryptor(_Cobblestone):
    """Decrypts a Cobblestone-256 file."""

_Message = tuple[ReadableBuffer, ReadableBuffer, ReadableBuffer | None]
_KeyedMessage = tuple[_Aead, ReadableBuffer, ReadableBuffer, ReadableBuffer | None]

class _Aead:
    """The methods of `AESCCM` and `ChaCha20Poly1305`."""

    def encrypt(self, nonce: ReadableBuffer, data: ReadableBuffer, associated_data: ReadableBuffer | None) -> bytes:
        """Encrypts `data` and returns the ciphertext followed by the tag. A nonce must never be used twice with a
        key."""

    def decrypt(self, nonce: ReadableBuffer, data: ReadableBuffer, associated_data: ReadableBuffer | None) -> bytes:
        """Verifies and decrypts a result of `encrypt`. Raises `InvalidTag` if it was changed or made under another key
        or nonce.

        Do not verify a tag by encrypting again and comparing with `==`: the run time reveals how much of a forged tag
        is right.
        """

    def encrypt_into(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        buf: WriteableBuffer,
    ) -> int:
        """Encrypts into `buf`, which must have the length of the result, and returns that length. `buf` may share
        memory with `data`. A nonce must never be used twice with a key."""

    def decrypt_into(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        buf: WriteableBuffer,
    ) -> int:
        """Verifies and decrypts into `buf`, which must have the length of the plaintext, and returns that length.
        Until this returns, `buf` may hold unverified plaintext; it is wiped before `InvalidTag` is raised. `buf` may
        share memory with `data`."""

    def encrypt_many(self, messages: Iterable[_Message], *, threads: int = 0) -> list[bytes]:
        """Encrypts a batch of messages, each `(nonce, data, associated_data)`, in lanes and on `threads` threads (0:
        one on each core). Returns a list with the result of `encrypt` for each message.

        A nonce must never be used twice with a key. A repeated nonce in the batch raises `ValueError`, and nothing is
        encrypted.
        """

    @overload
    def decrypt_many(
        self, messages: Iterable[_Message], *, threads: int = 0, errors: Literal["raise"] = "raise"
    ) -> list[bytes]: ...
    @overload
    def decrypt_many(
        self, messages: Iterable[_Message], *, threads: int = 0, errors: Literal["none"]
    ) -> list[bytes | None]:
        """Verifies and decrypts a batch of messages, each `(nonce, data, associated_data)`, in lanes and on threads.
        If any message is forged, raises `InvalidTag` with the indices of all forged messages in `indices`. With
        `errors="none"` returns the other messages, and `None` for each forged one. Test for it with `is None`: an
        empty message, `b""`, is false as well."""

    def encrypt_many_into(self, messages: Iterable[_Message], buf: WriteableBuffer, *, threads: int = 0) -> int:
        """Encrypts as `encrypt_many`, with the concatenated results in `buf`, which must have their total length;
        returns that length. Reusing one buffer saves allocations. A nonce must never be used twice with a key."""

    def decrypt_many_into(self, messages: Iterable[_Message], buf: WriteableBuffer, *, threads: int = 0) -> int:
        """Decrypts as `decrypt_many`, with the concatenated plaintexts in `buf`, which must have their total length;
        returns that length. If any message is forged, its part of `buf` is filled with zeros, and `InvalidTag` is
        raised with the indices of all forged messages in `indices`."""

    @property
    def backend(self) -> str:
        """The backend that this key was prepared for, such as `vaes256`."""

@final
class AESCCM(_Aead):
    """AES-CCM (SP 800-38C) under a key of 16, 24 or 32 bytes. Any number of threads may use one object.

    A nonce has 7 to 13 bytes. It must never be used twice with a key, neither by two threads or processes with separate
    counters nor after a restart. The object does not check this between calls. With a `tag_length` of 4 bytes, one of
    2**32 forgeries passes by chance; the default of 16 makes this negligible.
    """

    def __new__(cls, key: ReadableBuffer, tag_length: int | None = None) -> AESCCM: ...
    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """Generates a key of 128, 192 or 256 bits."""

@final
class ChaCha20Poly1305(_Aead):
    """ChaCha20-Poly1305 (RFC 8439) under a key of 32 bytes, with tags of 16 bytes. Any number of threads may use one
    object.

    A nonce has 12 bytes. It must never be used twice with a key, neither by two threads or processes with separate
    counters nor after a restart. The object does not check this between calls.
    """

    def __new__(cls, key: ReadableBuffer) -> ChaCha20Poly1305: ...
    @staticmethod
    def generate_key() -> bytes:
        """Generates a key."""

def encrypt_many(messages: Iterable[_KeyedMessage], *, threads: int = 0) -> list[bytes]:
    """Encrypts a batch of messages, each `(key, nonce, data, associated_data)` with an `AESCCM` or
    `ChaCha20Poly1305` as key, in lanes and on `threads` threads (0: one on each core). Returns a list with the result
    of the key's `encrypt` for each message.

    A nonce must never be used twice with a key. A repeated nonce in the batch raises `ValueError`, and nothing is
    encrypted.
    """

@overload
def decrypt_many(
    messages: Iterable[_KeyedMessage], *, threads: int = 0, errors: Literal["raise"] = "raise"
) -> list[bytes]: ...
@overload
def decrypt_many(messages: Iterable[_KeyedMessage], *, threads: int = 0, errors: Literal["none"]) -> list[bytes | None]:
    """Verifies and decrypts a batch of messages, each `(key, nonce, data, associated_data)`, in lanes and on threads.
    If any message is forged, raises `InvalidTag` with the indices of all forged messages in `indices`. With
    `errors="none"` returns the other messages, and `None` for each forged one."""

@final
class PrivateKey:
    """A private key: RSA, DSA or Schnorr. Any number of threads may use one object."""

    @staticmethod
    def from_pem(
        pem: str | ReadableBuffer, password: str | ReadableBuffer | None = None, *, max_work_factor: int = 20
    ) -> PrivateKey:
        """Reads a PKCS #8 or PKCS #1 key, as PEM (`str` or bytes) or DER. `password` decrypts an encrypted key.
        `max_work_factor`, 1 to 23, is the limit for the cost of that: 20 takes five seconds and 1 GiB of memory, and
        each step up doubles the time."""

    @staticmethod
    def generate(kind: str) -> PrivateKey:
        """Generates a key: `rsa-2048`, `rsa-3072`, `rsa-4096` or any `rsa-BITS` up to 8192; `dsa-2048`, `dsa-3072`,
        `schnorr-2048` or `schnorr-3072`."""

    def to_pem(self) -> str:
        """Returns the key as PKCS #8 in PEM, which is secret and not encrypted."""

    def public_key(self) -> PublicKey:
        """Returns the public key of this key."""

    @property
    def kind(self) -> str:
        """The type and size of the key, such as `rsa-2048`."""

    def sign(self, message: ReadableBuffer, scheme: str | None = None) -> bytes:
        """Signs a message with `scheme`: `rsa-pss-sha256` (the default for RSA), `rsa-pkcs1-sha256`, `dsa-sha256` or
        `schnorr-sha256`. The first three also exist with `sha384` and `sha512`. `rsa-pss-sha256:32` sets the length of
        the salt in bytes."""

    def sign_batch(
        self,
        messages: Iterable[ReadableBuffer | os.PathLike[str]],
        scheme: str | None = None,
        *,
        prehashed: bool = False,
        threads: int = 0,
    ) -> list[bytes]:
        """Signs a batch of messages on `threads` threads (0: one on each core). On processors with AVX-512 IFMA, eight
        signatures run in parallel lanes. A message is a buffer, or the path of a file to read. With `prehashed`, each
        message is a digest by the scheme's hash function."""

@final
class PublicKey:
    """A public key: RSA, DSA or Schnorr. Any number of threads may use one object."""

    @staticmethod
    def from_pem(pem: str | ReadableBuffer) -> PublicKey:
        """Reads a SubjectPublicKeyInfo or PKCS #1 key, as PEM (`str` or bytes) or DER."""

    def to_pem(self) -> str:
        """Returns the key as SubjectPublicKeyInfo in PEM."""

    @property
    def kind(self) -> str:
        """The type and size of the key, such as `rsa-2048`."""

    def verify(self, signature: ReadableBuffer, message: ReadableBuffer, scheme: str | None = None) -> None:
        """Verifies a signature of `message`, and raises `InvalidSignature` if it is not valid. It returns `None`, so
        do not use the result as a condition. `scheme` is as for `PrivateKey.sign`."""

    def verify_batch(
        self,
        signed: Iterable[tuple[ReadableBuffer, ReadableBuffer | os.PathLike[str]]],
        scheme: str | None = None,
        *,
        prehashed: bool = False,
        threads: int = 0,
    ) -> list[bool]:
        """Verifies a batch of signatures, each `(signature, message)` with messages as for `PrivateKey.sign_batch`.
        Returns a list with `True` for each valid signature. A list of only `False` is true as a condition: use
        `all(...)`."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

def plan(
    size_bytes: int,
    compute_rate: float,
    link_rate: float,
    *,
    sync_cost: float = 1e-05,
    cores: int = 2,
    links: int = 1,
    min_batch: int | None = None,
    buffer: int | None = None,
    strategy: str = "chunks",
) -> dict[str, Any]:
    """Predicts the duration of a transfer of `size_bytes`, and the number of stages, when encryption overlaps sending.

    `compute_rate` is the rate of encryption on one core, and `link_rate` that of the link, both in bytes per second.
    `sync_cost` is in seconds. `strategy` is `serial`, `ctr-split`, `mac-apart` or `chunks`.
    """
