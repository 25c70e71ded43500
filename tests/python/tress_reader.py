"""A reader and writer of tress containers, written from docs/reference/formats/container.md alone.

Uses PyCA `cryptography` for AES-CCM and HKDF, and `pyrage` for age. Holds everything in memory: it is meant to be simple
and independent, not fast.

    tress_reader.py decrypt IDENTITY_FILE CONTAINER > PLAINTEXT
"""

import hmac
import os
import sys

import pyrage
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

import age_by_hand

AEADS = {b"aes-128-ccm": (b"AEAD_AES_128_CCM", 16), b"aes-256-ccm": (b"AEAD_AES_256_CCM", 32)}
CHUNK = 16384
TAG = 16
SEALED_CHUNK = CHUNK + TAG
ALIGNMENT = 4096
MAX_AGE_FILE = 65536


class ContainerError(Exception):
    """`kind` is a name from the page's table, `chunk` the number of the chunk for kinds that have one."""

    def __init__(self, kind, chunk=None):
        super().__init__(kind if chunk is None else f"{kind} {chunk}")
        self.kind = kind
        self.chunk = chunk


# Writing


def first_line(version, aead):
    return b"tress/v%d %s\n" % (version, aead)


def write_frame(aead, age_file, version=1):
    """Writes first line, length, age file and padding."""
    frame = first_line(version, aead) + len(age_file).to_bytes(4, "big") + age_file
    return frame + bytes(-len(frame) % ALIGNMENT)


def write_content(aead, kind, name, input_key):
    line = b"" if name is None else b"name " + name.encode() + b"\n"
    return b"aead " + aead + b"\ntype " + kind + b"\n" + line + b"\n" + input_key


def write_payload(aead, input_key, plaintext, random=os.urandom, version=1):
    salt = random(24)
    cipher, base_nonce, commitment = derive(aead, input_key, salt, version)
    payload = salt + commitment
    for number in range(len(plaintext) // CHUNK + 1):
        chunk = plaintext[number * CHUNK : (number + 1) * CHUNK]
        payload += cipher.encrypt(chunk_nonce(base_nonce, number), chunk, None)
    return payload


def encrypt(plaintext, seal_age, aead=b"aes-128-ccm", kind=b"file", name=None, random=os.urandom, version=1):
    """Makes a container. `seal_age` turns the content into an age file."""
    input_key = random(AEADS[aead][1])
    age_file = seal_age(write_content(aead, kind, name, input_key))
    return write_frame(aead, age_file, version) + write_payload(aead, input_key, plaintext, random, version)


# Both


def derive(aead, input_key, salt, version=1):
    iana_name, key_bytes = AEADS[aead]
    info = b"c2sp.org/chunked-encryption@v1+" + iana_name + b"\0" + salt + first_line(version, aead)
    output = HKDFExpand(SHA256(), key_bytes + 12 + 32, info).derive(input_key)
    return AESCCM(output[:key_bytes], TAG), output[key_bytes : key_bytes + 12], output[key_bytes + 12 :]


def chunk_nonce(base_nonce, number):
    return bytes(a ^ b for a, b in zip(base_nonce, number.to_bytes(12, "big"), strict=True))


# Reading


def read_first_line(container):
    """Returns the version and the AEAD's name."""
    if not container.startswith(b"tress/"):
        raise ContainerError("NotAContainer")
    end = container[:64].find(b"\n")
    if end < 0:
        raise ContainerError("Truncated" if len(container) < 64 else "NotAContainer")
    version = {b"tress/v1 ": 1, b"tress/v2 ": 2}.get(container[:9])
    if version is None:
        raise ContainerError("UnknownVersion")
    aead = container[9:end]
    if aead not in AEADS:
        raise ContainerError("UnknownAead")
    return version, aead


def read_frame(container):
    """Returns the AEAD's name, the age file, and the payload."""
    version, aead = read_first_line(container)
    end = len(first_line(version, aead))
    start = end + 4
    if len(container) < ALIGNMENT:
        raise ContainerError("Truncated")
    length = int.from_bytes(container[end:start], "big")
    if length > MAX_AGE_FILE:
        raise ContainerError("HeaderTooLarge")
    payload = start + length + -(start + length) % ALIGNMENT
    if len(container) < payload:
        raise ContainerError("Truncated")
    if any(container[start + length : payload]):
        raise ContainerError("HeaderPadding")
    return aead, container[start : start + length], container[payload:]


def read_content(content):
    """Returns AEAD, type, name or None, and input key."""
    head, separator, input_key = content.partition(b"\n\n")
    lines = head.split(b"\n")
    good = separator and len(lines) in (2, 3) and lines[0].startswith(b"aead ") and lines[1] in (b"type file", b"type tree")
    name = None
    if good and len(lines) == 3:
        good = lines[2].startswith(b"name ")
        try:
            name = lines[2][5:].decode()
        except UnicodeDecodeError:
            good = False
        else:
            control = any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in name)
            good = good and 0 < len(lines[2]) - 5 <= 255 and name not in (".", "..") and not set(name) & set("/\\")
            good = good and not control
    aead = lines[0][5:]
    if not good or aead not in AEADS or len(input_key) != AEADS[aead][1]:
        raise ContainerError("HeaderDamaged")
    return aead, lines[1][5:], name, input_key


def open_age(age_file, identity):
    """Decrypts the content with a `pyrage` identity, a passphrase (str) or a raw key (bytes)."""
    try:
        if isinstance(identity, bytes):
            return age_by_hand.open_with_raw_key(age_file, identity)
        if isinstance(identity, str):
            return pyrage.passphrase.decrypt(age_file, identity)
        return pyrage.decrypt(age_file, [identity])
    except age_by_hand.AgeError as error:
        raise ContainerError(error.kind) from None
    except pyrage.DecryptError as error:
        # pyrage distinguishes failures only by text. All others are reported as one kind.
        text = str(error)
        kind = "NoMatchingKey" if "No matching keys" in text else "HeaderDamaged"
        raise ContainerError(kind) from error


def decrypt(container, identity):
    """Returns plaintext, type and name."""
    version, _ = read_first_line(container)
    outer_aead, age_file, payload = read_frame(container)
    aead, kind, name, input_key = read_content(open_age(age_file, identity))
    if version == 2 and kind != b"tree":
        raise ContainerError("HeaderDamaged")
    if aead != outer_aead:
        raise ContainerError("AeadMismatch")
    if len(payload) < 56:
        raise ContainerError("Truncated")
    cipher, base_nonce, commitment = derive(aead, input_key, payload[:24], version)
    if not hmac.compare_digest(commitment, payload[24:56]):
        raise ContainerError("Commitment")
    chunks = payload[56:]
    if len(chunks) % SEALED_CHUNK < TAG:
        raise ContainerError("Truncated")
    plaintext = b""
    for number in range(len(chunks) // SEALED_CHUNK + 1):
        sealed = chunks[number * SEALED_CHUNK : (number + 1) * SEALED_CHUNK]
        try:
            plaintext += cipher.decrypt(chunk_nonce(base_nonce, number), sealed, None)
        except InvalidTag:
            raise ContainerError("ChunkDamaged", number) from None
    return plaintext, kind, name


def main():
    if len(sys.argv) != 4 or sys.argv[1] != "decrypt":
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.startswith("AGE-SECRET-KEY-1")]
    with open(sys.argv[3], "rb") as file:
        container = file.read()
    try:
        plaintext, _, _ = decrypt(container, pyrage.x25519.Identity.from_str(lines[0]))
    except ContainerError as error:
        sys.exit(f"tress_reader: {sys.argv[3]}: {error}")
    sys.stdout.buffer.write(plaintext)


if __name__ == "__main__":
    main()
