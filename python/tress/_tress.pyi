"""The native part of `tress`. Use the package."""

import os
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal, final, overload

from _typeshed import ReadableBuffer, WriteableBuffer

from ._types import Identities, Path, Recipients

__all__ = [
    "AESCCM",
    "Decryptor",
    "Encryptor",
    "KeyPair",
    "Passphrase",
    "PrivateKey",
    "PublicKey",
    "RawKey",
    "Reader",
    "__version__",
    "decrypt",
    "decrypt_file",
    "decrypt_many",
    "encrypt",
    "encrypt_file",
    "encrypt_many",
    "inspect",
    "plan",
    "rewrap_file",
    "rewrap_head",
]

__version__: str

@final
class KeyPair:
    """An age identity and a Noise key, as `tress keygen` makes them."""

    @staticmethod
    def generate() -> KeyPair:
        """A fresh key pair."""

    @staticmethod
    def parse(text: str) -> KeyPair:
        """The key pair in the text of an identity file, or an `AGE-SECRET-KEY-1…` alone."""

    @property
    def recipient(self) -> str:
        """What to encrypt to, `age1…`."""

    @property
    def address(self) -> str | None:
        """What to encrypt and send to, `tress1…`; `None` without a Noise key."""

    def identity_file(self) -> str:
        """The text of an identity file. It is secret."""

    def save(self, path: Path) -> None:
        """Writes the identity file, which only its owner can read (mode 0600). Nothing is replaced."""

@final
class Passphrase:
    """A passphrase, as the only recipient or as an identity.

    `work_factor` is the binary logarithm of how often scrypt mixes, when encrypting: each one less halves what a guess
    costs. 18 takes a second, 20 is the most, and few are for tests. `max_work_factor` is the most that a container may
    cost when it is decrypted: 20 takes five seconds and a GiB of memory for each.
    """

    def __new__(cls, text: str, *, work_factor: int = 18, max_work_factor: int = 20) -> Passphrase: ...

@final
class RawKey:
    """A key of 16 or 32 random bytes, as a recipient or as an identity. A password of that length is none."""

    def __new__(cls, key: ReadableBuffer) -> RawKey: ...
    @classmethod
    def generate(cls, bit_length: int = 256) -> bytes:
        """A fresh key of `bit_length` bits, 128 or 256, as `bytes`."""

def encrypt(
    data: ReadableBuffer,
    recipients: Recipients,
    *,
    aead: str = "aes-128-ccm",
    threads: int = 0,
    name: str | None = None,
) -> bytes:
    """Encrypts `data`, any object with a contiguous buffer, into a container for `recipients`."""

def decrypt(data: ReadableBuffer, identities: Identities, *, threads: int = 0) -> bytes:
    """Verifies and decrypts a container.

    That of a folder gives a tar archive, with names and links of whoever made it: `decrypt_file` unpacks one and
    refuses what leads out of the folder; `tarfile` does so with `filter="data"`.
    """

def rewrap_head(data: ReadableBuffer, identities: Identities, recipients: Recipients) -> tuple[int, bytes]:
    """How many of a container's first bytes to replace, and by what, so that it is one for `recipients`."""

def encrypt_file(
    source: Path,
    target: Path,
    recipients: Recipients,
    *,
    aead: str = "aes-128-ccm",
    threads: int = 0,
    name: str | None = None,
    force: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
) -> tuple[int, int, int, float]:
    """Bytes read, bytes written, chunks, seconds."""

def decrypt_file(
    source: Path,
    target: Path,
    identities: Identities,
    *,
    range: tuple[int, int | None] | None = None,
    threads: int = 0,
    force: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
) -> tuple[int, int, int, float]:
    """Bytes read, bytes written, chunks, seconds."""

def rewrap_file(path: Path, identities: Identities, recipients: Recipients) -> tuple[int, int, int, float]:
    """Bytes read, bytes written, chunks, seconds."""

def inspect(path: Path, identities: Identities | None = None) -> dict[str, Any]:
    """What a container says about itself; what can be is verified where `identities` are given."""

@final
class Encryptor:
    """Makes a container of what is pushed, piece by piece, with memory for one batch.

    It belongs to the process that made it: after a fork two of them would encrypt under one key and nonce, and the
    other one gets `Usage`.
    """

    def __new__(
        cls, recipients: Recipients, *, aead: str = "aes-128-ccm", threads: int = 1, name: str | None = None
    ) -> Encryptor: ...
    def update(self, data: ReadableBuffer) -> bytes:
        """Takes the next bytes of plaintext and returns what is ready of the container."""

    def finalize(self) -> bytes:
        """Returns the rest of the container, without which it is of no use."""

@final
class Decryptor:
    """Verifies and decrypts a container that is pushed, piece by piece, with memory for one batch."""

    def __new__(cls, identities: Identities, *, threads: int = 1) -> Decryptor: ...
    def update(self, data: ReadableBuffer) -> bytes:
        """Takes the next bytes of the container and returns plaintext, all of it verified."""

    def finalize(self) -> bytes:
        """Returns the rest of the plaintext; raises `Damaged` where this is not the container's end."""

    @property
    def name(self) -> str | None:
        """The name that the container keeps, of whoever made it and without a path, once the header was read."""

    @property
    def content_type(self) -> str | None:
        """`file` or `tree` (a tar archive, see `decrypt`), once the header was read."""

@final
class Reader:
    """The reader beneath `tress.open`: `readinto`, `seek` and `tell`."""

    def __new__(cls, source: Any, identities: Identities, *, threads: int = 0) -> Reader: ...
    def readinto(self, buffer: WriteableBuffer) -> int:
        """Reads into a buffer and returns how many bytes; 0 at the end."""

    def seek(self, offset: int, whence: int = 0) -> int:
        """Goes to a place, as `io.IOBase.seek`, and returns it."""

    def tell(self) -> int:
        """The place."""

    @property
    def size(self) -> int:
        """Bytes of plaintext."""

    @property
    def name(self) -> str | None:
        """The name that the container keeps, of whoever made it and without a path."""

    @property
    def content_type(self) -> str:
        """`file` or `tree` (a tar archive, see `decrypt`)."""

    def close(self) -> None:
        """Forgets the keys and what was read."""

_Message = tuple[ReadableBuffer, ReadableBuffer, ReadableBuffer | None]
_KeyedMessage = tuple[AESCCM, ReadableBuffer, ReadableBuffer, ReadableBuffer | None]

@final
class AESCCM:
    """AES-CCM (SP 800-38C) under a key of 16, 24 or 32 bytes. Any number of threads may use one object.

    A nonce must never be used twice with a key: not by two threads or processes that count for
    themselves, not after a restart. Nothing here can know. `tag_length` below 16 lets forgeries pass by chance: one
    of 2**32 with 4 bytes.
    """

    def __new__(cls, key: ReadableBuffer, tag_length: int | None = None) -> AESCCM: ...
    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """A fresh key of 128, 192 or 256 bits."""

    def encrypt(self, nonce: ReadableBuffer, data: ReadableBuffer, associated_data: ReadableBuffer | None) -> bytes:
        """Encrypts `data` and returns it with its tag behind. A nonce is never used twice with a key."""

    def decrypt(self, nonce: ReadableBuffer, data: ReadableBuffer, associated_data: ReadableBuffer | None) -> bytes:
        """Verifies and decrypts what `encrypt` made; raises `InvalidTag` where it is anything else.

        To verify is to call this. Whoever encrypts again and compares tags with `==` tells how much of one was right.
        """

    def encrypt_into(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        buf: WriteableBuffer,
    ) -> int:
        """Encrypts into `buf`, which has to be as long as the result, and returns its length. `buf` may begin where
        `data` does. A nonce is never used twice with a key."""

    def decrypt_into(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        buf: WriteableBuffer,
    ) -> int:
        """Verifies and decrypts into `buf`, which has to be as long as the plaintext, and returns its length. It is
        wiped where `InvalidTag` is raised; until this returns it holds what was not verified."""

    def encrypt_many(self, messages: Iterable[_Message], *, threads: int = 0) -> list[bytes]:
        """Encrypts many messages, `(nonce, data, associated_data)` each, side by side in lanes and on threads.

        A nonce is never used twice with a key. Twice in one batch is a `ValueError`, and nothing is encrypted.
        """

    @overload
    def decrypt_many(
        self, messages: Iterable[_Message], *, threads: int = 0, errors: Literal["raise"] = "raise"
    ) -> list[bytes]: ...
    @overload
    def decrypt_many(
        self, messages: Iterable[_Message], *, threads: int = 0, errors: Literal["none"]
    ) -> list[bytes | None]:
        """Verifies and decrypts many messages. Where any is forged, `InvalidTag` is raised with their places as
        `indices`; with `errors="none"` they are `None` beside the others, and an empty message is `b""`, false as well:
        look with `is None`.
        """

    def encrypt_many_into(self, messages: Iterable[_Message], buf: WriteableBuffer, *, threads: int = 0) -> int:
        """`encrypt_many` into `buf`, as long as all results, one behind the other; returns its length. A nonce is never
        used twice with a key."""

    def decrypt_many_into(self, messages: Iterable[_Message], buf: WriteableBuffer, *, threads: int = 0) -> int:
        """`decrypt_many` into `buf`, as long as all plaintexts; the places of forged messages are zeros."""

    @property
    def backend(self) -> str:
        """The backend that this key was prepared for, such as `vaes256`."""

def encrypt_many(messages: Iterable[_KeyedMessage], *, threads: int = 0) -> list[bytes]:
    """Encrypts many messages under a key each, `(key, nonce, data, associated_data)` with an `AESCCM` as key, side by
    side in lanes and on threads. Returns what the key's `encrypt` returns for each.

    A nonce is never used twice with a key. Twice with one object in one batch is a `ValueError`, and nothing is
    encrypted.
    """

@overload
def decrypt_many(
    messages: Iterable[_KeyedMessage], *, threads: int = 0, errors: Literal["raise"] = "raise"
) -> list[bytes]: ...
@overload
def decrypt_many(
    messages: Iterable[_KeyedMessage], *, threads: int = 0, errors: Literal["none"]
) -> list[bytes | None]:
    """Verifies and decrypts many messages under a key each. Where any is forged, `InvalidTag` is raised with their
    places as `indices`; with `errors="none"` they are `None` beside the others.
    """

@final
class PrivateKey:
    """A private key: RSA, DSA or Schnorr. Any number of threads may use one object."""

    @staticmethod
    def from_pem(pem: str | ReadableBuffer, password: str | ReadableBuffer | None = None) -> PrivateKey:
        """Reads PKCS #8 or PKCS #1, as PEM or DER. `password` opens an encrypted key."""

    @staticmethod
    def generate(kind: str) -> PrivateKey:
        """A fresh key: `rsa-BITS`, `dsa-2048`, `dsa-3072`, `schnorr-2048` or `schnorr-3072`."""

    def to_pem(self) -> str:
        """PKCS #8, PEM. It is secret, and not encrypted."""

    def public_key(self) -> PublicKey:
        """The public half."""

    @property
    def kind(self) -> str:
        """The kind of key, such as `rsa-2048`."""

    def sign(self, message: ReadableBuffer, scheme: str | None = None) -> bytes:
        """Signs a message."""

    def sign_batch(
        self,
        messages: Iterable[ReadableBuffer | os.PathLike[str]],
        scheme: str | None = None,
        *,
        prehashed: bool = False,
        threads: int = 0,
    ) -> list[bytes]:
        """Signs many messages, which are quicker together, on threads. A message may be a path, whose file is read;
        with `prehashed` it is a digest by the scheme's hash function."""

@final
class PublicKey:
    """A public key: RSA, DSA or Schnorr. Any number of threads may use one object."""

    @staticmethod
    def from_pem(pem: str | ReadableBuffer) -> PublicKey:
        """Reads SubjectPublicKeyInfo or PKCS #1, as PEM or DER."""

    def to_pem(self) -> str:
        """SubjectPublicKeyInfo, PEM."""

    @property
    def kind(self) -> str:
        """The kind of key, such as `rsa-2048`."""

    def verify(self, signature: ReadableBuffer, message: ReadableBuffer, scheme: str | None = None) -> None:
        """Raises `InvalidSignature` unless `signature` is one of `message`; returns nothing, so it is no condition."""

    def verify_batch(
        self,
        signed: Iterable[tuple[ReadableBuffer, ReadableBuffer | os.PathLike[str]]],
        scheme: str | None = None,
        *,
        prehashed: bool = False,
        threads: int = 0,
    ) -> list[bool]:
        """Tells of each `(signature, message)` whether it holds; messages are those of `sign_batch`. The list is true
        where none does: use `all(...)`."""

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
    """How long a transfer takes, and in how many stages, when encrypting overlaps sending."""
