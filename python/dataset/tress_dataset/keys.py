"""Keys that are sent to workers. Their representation never shows a secret."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

from .errors import UsageError

PUBLIC = ("age1", "tress1", "ssh-")


class Secret:
    """A passphrase (text) or raw key (16 or 32 bytes). Messages and `repr` never show it."""

    __slots__ = ("_value",)

    def __init__(self, value: str | bytes):
        if isinstance(value, bytes) and len(value) not in (16, 32):
            raise UsageError(f"a raw key must have 16 or 32 bytes, this one has {len(value)}")
        if isinstance(value, str) and not value:
            raise UsageError("the passphrase is empty")
        self._value = value

    def __repr__(self) -> str:
        return "Secret(passphrase)" if isinstance(self._value, str) else "Secret(raw key)"

    def __reduce__(self) -> tuple[type[Secret], tuple[str | bytes]]:
        return Secret, (self._value,)

    def raw(self) -> bytes:
        """Returns a raw key. Raises `UsageError` for a passphrase."""
        if isinstance(self._value, str):
            raise UsageError("a manifest key is a raw key, not a passphrase")
        return self._value

    def native(self) -> Any:
        """Returns the key object of `tress`."""
        import tress

        return tress.Passphrase(self._value) if isinstance(self._value, str) else tress.RawKey(self._value)


@dataclass(frozen=True)
class RunKeys:
    """Recipients and identities of a run."""

    recipients: tuple[str, ...] = ()
    """Public recipients (`age1…`, `tress1…`, `ssh-…`), which may be shown."""
    to: tuple[Secret, ...] = ()
    """Passphrase or raw keys to encrypt to."""
    _identities: tuple[str, ...] = field(default=(), repr=False)
    opens: tuple[Secret, ...] = ()
    """Passphrase or raw keys to decrypt with."""

    def seal_with(self) -> list[Any]:
        """Returns the recipients for `tress.Encryptor`."""
        return [*self.recipients, *(secret.native() for secret in self.to)]

    def open_with(self) -> list[Any]:
        """Returns the identities for `tress.Decryptor`."""
        return [*self._identities, *(secret.native() for secret in self.opens)]

    @property
    def slow(self) -> bool:
        """Whether every object needs a key from a passphrase, which takes a second and 256 MiB."""
        return any("passphrase" in repr(secret) for secret in (*self.to, *self.opens))

    def recipients_id(self) -> str | None:
        """Returns an identifier of the recipients for the manifest; `None` if a secret is among them."""
        if self.to:
            return None
        return hashlib.sha256("\n".join(sorted(self.recipients)).encode()).hexdigest()[:32]


def recipients(given: Any) -> tuple[tuple[str, ...], tuple[Secret, ...]]:
    """Splits recipients into public ones and secrets. They may be texts, `Secret`, or objects of `tress`."""
    public: list[str] = []
    secrets: list[Secret] = []
    for one in _several(given):
        if isinstance(one, str):
            public.extend(_lines(one))
        elif isinstance(one, Secret):
            secrets.append(one)
        else:
            recipient = getattr(one, "recipient", None)
            if isinstance(recipient, str):
                public.append(recipient)
            else:
                secrets.append(_secret(one))
    for text in public:
        if not text.startswith(PUBLIC):
            # The message does not show it: it may be an identity that was passed by mistake.
            raise UsageError("unknown kind of recipient: expected age1..., tress1... or ssh-...")
    return tuple(public), tuple(secrets)


def identities(given: Any) -> tuple[tuple[str, ...], tuple[Secret, ...]]:
    """Splits identities into texts of identity files and secrets. Reads files that are given as a path object."""
    texts: list[str] = []
    secrets: list[Secret] = []
    for one in _several(given):
        if isinstance(one, PathLike):
            texts.append(Path(fsdecode(one)).read_text(encoding="utf-8"))
        elif isinstance(one, str):
            texts.append(one)
        elif isinstance(one, Secret):
            secrets.append(one)
        else:
            file = getattr(one, "identity_file", None)
            if callable(file):
                texts.append(file())
            else:
                secrets.append(_secret(one))
    return tuple(texts), tuple(secrets)


def _secret(one: Any) -> Secret:
    """Converts a `tress.Passphrase` or `tress.RawKey`, and refuses other types."""
    for attribute in ("text", "value", "key", "data"):
        value = getattr(one, attribute, None)
        if isinstance(value, str | bytes) and type(one).__name__ in ("Passphrase", "RawKey"):
            return Secret(value)
    raise UsageError(
        f"a key cannot be of type {type(one).__name__}: use str, or tress_dataset.Secret for a passphrase or raw key"
    )


def _several(given: Any) -> Iterable[Any]:
    if given is None:
        return ()
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return given
    return (given,)


def _lines(text: str) -> list[str]:
    """Returns the recipients of a text with one recipient per line."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
