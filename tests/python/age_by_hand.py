"""Makes and opens age files with PyCA `cryptography` alone, following https://c2sp.org/age.

An age library lacks two things: stanzas of unknown types (tress raw keys), and reproducible test vectors. Here every random
byte comes from a source that the caller passes.
"""

import base64
import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_public_key

STREAM_CHUNK = 65536
RAW_KEY_TYPE = "tress-raw-key"


class AgeError(Exception):
    """An age file that cannot be opened; `kind` is a name from the container page's table."""

    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


def b64(data):
    return base64.b64encode(data).rstrip(b"=").decode()


def unb64(text):
    data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    if b64(data) != text:
        raise AgeError("HeaderDamaged")
    return data


def hkdf(key, salt, info, length=32):
    return HKDF(SHA256(), length, salt or None, info).derive(key)


def wrap(key, file_key):
    return ChaCha20Poly1305(key).encrypt(bytes(12), file_key, None)


def public_bytes(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


# Recipients: functions from the file key and a source of random bytes to (type, arguments, body).


def x25519(public):
    def stanza(file_key, random):
        ephemeral = X25519PrivateKey.from_private_bytes(random(32))
        share = public_bytes(ephemeral)
        shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public))
        key = hkdf(shared, share + public, b"age-encryption.org/v1/X25519")
        return "X25519", [b64(share)], wrap(key, file_key)

    return stanza


def scrypt(passphrase, work_factor):
    def stanza(file_key, random):
        salt = random(16)
        label = b"age-encryption.org/v1/scrypt"
        key = Scrypt(label + salt, 32, 1 << work_factor, 8, 1).derive(passphrase.encode())
        return "scrypt", [b64(salt), str(work_factor)], wrap(key, file_key)

    return stanza


def ssh_ed25519(public_line):
    """`public_line` is a line of OpenSSH: the type, and the key in base64."""
    blob = base64.b64decode(public_line.split()[1])
    p = 2**255 - 19
    y = int.from_bytes(blob[-32:], "little") & (2**255 - 1)
    # The birational map of RFC 7748, section 4.1.
    montgomery = ((1 + y) * pow(1 - y, -1, p) % p).to_bytes(32, "little")

    def stanza(file_key, random):
        label = b"age-encryption.org/v1/ssh-ed25519"
        ephemeral = X25519PrivateKey.from_private_bytes(random(32))
        share = public_bytes(ephemeral)
        tweak = X25519PrivateKey.from_private_bytes(hkdf(b"", blob, label))
        shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(montgomery))
        shared = tweak.exchange(X25519PublicKey.from_public_bytes(shared))
        key = hkdf(shared, share + montgomery, label)
        tag = hashlib.sha256(blob).digest()[:4]
        return "ssh-ed25519", [b64(tag), b64(share)], wrap(key, file_key)

    return stanza


def rsa_padding():
    return OAEP(MGF1(SHA256()), SHA256(), b"age-encryption.org/v1/ssh-rsa")


def ssh_rsa(public_line):
    """`public_line` is a line of OpenSSH: the type, and the key in base64."""
    tag = hashlib.sha256(base64.b64decode(public_line.split()[1])).digest()[:4]
    public = load_ssh_public_key(public_line.encode())
    return lambda file_key, random: ("ssh-rsa", [b64(tag)], public.encrypt(file_key, rsa_padding()))


def raw_key(key):
    def stanza(file_key, random):
        salt = random(16)
        return RAW_KEY_TYPE, [b64(salt)], wrap(hkdf(key, salt, b"tress/v1 raw-key"), file_key)

    return stanza


def encode_stanza(kind, arguments, body):
    text = b64(body)
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    # The last line is always shorter than 64 characters, and may be empty.
    if not lines or len(lines[-1]) == 64:
        lines.append("")
    return "-> " + " ".join([kind, *arguments]) + "\n" + "".join(line + "\n" for line in lines)


def stream(key, plaintext, seal):
    cipher = ChaCha20Poly1305(key)
    step = STREAM_CHUNK if seal else STREAM_CHUNK + 16
    starts = range(0, max(len(plaintext), 1), step)
    output = b""
    for number, start in enumerate(starts):
        nonce = number.to_bytes(11, "big") + bytes([start + step >= len(plaintext)])
        chunk = plaintext[start : start + step]
        output += cipher.encrypt(nonce, chunk, None) if seal else cipher.decrypt(nonce, chunk, None)
    return output


def seal(plaintext, recipients, random):
    """An age file for these recipients. A stanza in place of a recipient is written unchanged."""
    file_key = random(16)
    header = "age-encryption.org/v1\n"
    for recipient in recipients:
        header += encode_stanza(*(recipient if isinstance(recipient, tuple) else recipient(file_key, random)))
    header = (header + "---").encode()
    mac = hmac.digest(hkdf(file_key, b"", b"header"), header, "sha256")
    nonce = random(16)
    payload = stream(hkdf(file_key, nonce, b"payload"), plaintext, True)
    return header + b" " + b64(mac).encode() + b"\n" + nonce + payload


def parse(age_file):
    """The stanzas, the authenticated bytes, the MAC and the rest."""
    end = age_file.index(b"\n---")
    mac_end = age_file.index(b"\n", end + 1)
    lines = age_file[:end].decode("ascii").split("\n")
    if lines[0] != "age-encryption.org/v1":
        raise AgeError("HeaderDamaged")
    stanzas, at = [], 1
    while at < len(lines):
        if not lines[at].startswith("-> "):
            raise AgeError("HeaderDamaged")
        kind, *arguments = lines[at][3:].split(" ")
        body, at = "", at + 1
        while len(lines[at]) == 64:
            body, at = body + lines[at], at + 1
        stanzas.append((kind, arguments, unb64(body + lines[at])))
        at += 1
    return stanzas, age_file[: end + 4], unb64(age_file[end + 5 : mac_end].decode("ascii")), age_file[mac_end + 1 :]


def open_with_raw_key(age_file, key):
    """Decrypts an age file that has a raw key stanza for this key."""
    try:
        stanzas, header, mac, rest = parse(age_file)
    except (ValueError, IndexError, UnicodeDecodeError):
        raise AgeError("HeaderDamaged") from None
    for kind, arguments, body in stanzas:
        if kind != RAW_KEY_TYPE:
            continue
        salt = unb64(arguments[0]) if len(arguments) == 1 else b""
        if len(salt) != 16 or len(body) != 32:
            raise AgeError("HeaderDamaged")
        try:
            file_key = ChaCha20Poly1305(hkdf(key, salt, b"tress/v1 raw-key")).decrypt(bytes(12), body, None)
        except InvalidTag:
            continue
        if not hmac.compare_digest(hmac.digest(hkdf(file_key, b"", b"header"), header, "sha256"), mac):
            raise AgeError("HeaderDamaged")
        try:
            return stream(hkdf(file_key, rest[:16], b"payload"), rest[16:], False)
        except InvalidTag:
            raise AgeError("HeaderDamaged") from None
    raise AgeError("NoMatchingKey")
