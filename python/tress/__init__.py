"""Large data under AES-CCM, in the lanes of vector registers and on all cores.

- `encrypt`, `decrypt`: whole containers in memory, of any buffer; `encrypt_file`, `decrypt_file`, `rewrap_file`,
`inspect`: files and folders; `open`, `create`, `encrypt_stream`, `decrypt_stream`: file objects; `Encryptor`,
`Decryptor`: piece by piece.
- `KeyPair`, `Passphrase`, `RawKey`: who may open a container, beside any recipient of age as text.
- `AESCCM`: single messages with the interface of PyCA `cryptography`, and many at once; `encrypt_many`, `decrypt_many`:
many under a key each.
- `PrivateKey`, `PublicKey`: RSA, DSA and Schnorr signatures, one or many at once.
- `plan`, `bench`: how long a transfer takes, what this machine does.

The format of containers, and the command that reads the same, are those of Tress; see `docs/reference/python.md`.
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
from ._files import ContainerReader, ContainerWriter, create, decrypt_stream, encrypt_stream, open
from ._tress import (
    AESCCM,
    Decryptor,
    Encryptor,
    KeyPair,
    Passphrase,
    PrivateKey,
    PublicKey,
    RawKey,
    __version__,
    decrypt,
    decrypt_many,
    encrypt,
    encrypt_many,
    inspect,
    plan,
    rewrap_head,
)
from ._verbs import Report, decrypt_file, encrypt_file, rewrap_file

__all__ = [
    "AESCCM",
    "ContainerReader",
    "ContainerWriter",
    "Damaged",
    "Decryptor",
    "Encryptor",
    "InvalidSignature",
    "InvalidTag",
    "KeyPair",
    "NeedMore",
    "OutputExists",
    "Passphrase",
    "PrivateKey",
    "PublicKey",
    "RawKey",
    "Report",
    "TressError",
    "Usage",
    "WrongKey",
    "__version__",
    "bench",
    "command",
    "create",
    "decrypt",
    "decrypt_file",
    "decrypt_many",
    "decrypt_stream",
    "encrypt",
    "encrypt_file",
    "encrypt_many",
    "encrypt_stream",
    "frame",
    "inspect",
    "open",
    "plan",
    "rewrap_file",
    "rewrap_head",
]
