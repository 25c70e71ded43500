"""Encryption of large data with AES-CCM, in the lanes of vector registers and on all cores.

    >>> import tress
    >>> pair = tress.KeyPair.generate()
    >>> sealed = tress.encrypt(b"side by side", pair.recipient)
    >>> tress.decrypt(sealed, pair)
    b'side by side'

- Containers: `encrypt` and `decrypt` in memory, `encrypt_into` and `decrypt_into` in buffers of the caller;
  `encrypt_file`, `decrypt_file`, `rewrap_file` and `inspect` for files and folders; `open`, `create`,
  `encrypt_stream` and `decrypt_stream` for file objects; `open_tree` for single files of a folder; `Encryptor` and
  `Decryptor` piece by piece.
- Recipients and identities: `KeyPair`, `Passphrase`, `RawKey`, and recipients of age as text.
- Other formats: age files and, with a `CobblestoneKey`, Cobblestone files are read like containers, and written with
  `format="age"` or such a key. `Cobblestone128Encryptor` and three more have the interface of PyCA `cryptography`.
- Messages: `AESCCM` and `ChaCha20Poly1305` have the interface of PyCA `cryptography`, and batches; `encrypt_many` and
  `decrypt_many` are for batches of messages under several keys.
- Signatures: `PrivateKey` and `PublicKey` for RSA, DSA and Schnorr, single or in batches.
- Measurements: `plan` predicts the duration of a transfer; `bench` measures this machine.

The command `tress` reads and writes the same containers. `docs/reference/python.md` is the manual.
"""

from ._command import bench, command, frame
from ._errors import (
    Damaged,
    InvalidSignature,
    InvalidTag,
    NeedMore,
    OutputExists,
    TressError,
    Usage,
    WrongKey,
)
from ._files import ContainerFile, ContainerReader, ContainerWriter, create, decrypt_stream, encrypt_stream, open
from ._tree import MemberFile, Tree, TreeMember, open_tree
from ._tress import (
    AESCCM,
    ChaCha20Poly1305,
    Cobblestone128Decryptor,
    Cobblestone128Encryptor,
    Cobblestone256Decryptor,
    Cobblestone256Encryptor,
    CobblestoneKey,
    Decryptor,
    Encryptor,
    KeyPair,
    Passphrase,
    PrivateKey,
    PublicKey,
    RawKey,
    __version__,
    decrypt,
    decrypt_into,
    decrypt_many,
    encrypt,
    encrypt_into,
    encrypt_many,
    inspect,
    plain_size,
    plan,
    rewrap_head,
    sealed_size,
)
from ._verbs import Report, decrypt_file, encrypt_file, rewrap_file

__all__ = [
    "AESCCM",
    "ChaCha20Poly1305",
    "Cobblestone128Decryptor",
    "Cobblestone128Encryptor",
    "Cobblestone256Decryptor",
    "Cobblestone256Encryptor",
    "CobblestoneKey",
    "ContainerFile",
    "ContainerReader",
    "ContainerWriter",
    "Damaged",
    "Decryptor",
    "Encryptor",
    "InvalidSignature",
    "InvalidTag",
    "KeyPair",
    "MemberFile",
    "NeedMore",
    "OutputExists",
    "Passphrase",
    "PrivateKey",
    "PublicKey",
    "RawKey",
    "Report",
    "Tree",
    "TreeMember",
    "TressError",
    "Usage",
    "WrongKey",
    "__version__",
    "bench",
    "command",
    "create",
    "decrypt",
    "decrypt_file",
    "decrypt_into",
    "decrypt_many",
    "decrypt_stream",
    "encrypt",
    "encrypt_file",
    "encrypt_into",
    "encrypt_many",
    "encrypt_stream",
    "frame",
    "inspect",
    "open",
    "open_tree",
    "plain_size",
    "plan",
    "rewrap_file",
    "rewrap_head",
    "sealed_size",
]
