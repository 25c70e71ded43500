"""Searches the memory of a process that has stopped itself for keys that it should have wiped.

Tests programs that use the libraries for C and Python, like `crates/cli/tests/memory` tests the command. It searches for
pieces of eight bytes, because a copy is rarely complete. Each piece is searched for unchanged and in the forms that
implementations store: limbs (all bytes reversed), 32-bit words reversed (SHA-256), and both pads of HMAC. Keys are computed
from files and standards alone.

    memory_scan.py PROCESS [raw=FILE] [identity=FILE] [pem=FILE] [text=FILE] [container=FILE]

waits until the process has stopped itself, and prints what it finds. Exits with status 1 if it finds something. A container is
opened by the raw key, or else by the identity.
"""

from __future__ import annotations

import base64
import hmac
import os
import pathlib
import re
import sys
import time
from collections.abc import Collection

import age_by_hand
import tress_reader
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

PIECE = 8
PAGE = 4096


class Secrets:
    """The secrets to search for."""

    def __init__(self) -> None:
        self.pieces: dict[bytes, str] = {}

    def add(self, name: str, secret: bytes) -> Secrets:
        """Adds a secret."""
        if len(secret) < PIECE:
            raise ValueError(f"{name} is too short to be distinguished from other data")
        words = b"".join(secret[at : at + 4][::-1] for at in range(0, len(secret) // 4 * 4, 4))
        self._add(name, secret)
        self._add(f"{name} as limbs", secret[::-1])
        self._add(f"{name} as words", words)
        for pad in [0x36, 0x5C]:
            self._add(f"{name} with pad {pad:#x}", bytes(byte ^ pad for byte in secret))
            self._add(f"{name} as words with pad {pad:#x}", bytes(byte ^ pad for byte in words))
        return self

    def _add(self, name: str, data: bytes) -> None:
        for start in [*range(0, len(data) + 1 - PIECE, PIECE), len(data) - PIECE]:
            piece = data[start : start + PIECE]
            # Pieces with few different bytes occur everywhere.
            if len(set(piece)) >= 5:
                self.pieces.setdefault(piece, f"{name}, byte {start}")

    def raw(self, key: bytes) -> Secrets:
        """Adds a raw key and its schedule."""
        self.add("raw key", key)
        return self.schedule("raw key", key)

    def schedule(self, name: str, key: bytes) -> Secrets:
        """Adds every round key of AES."""
        schedule = aes_schedule(key)
        for number in range(len(schedule) // 16):
            self.add(f"round key {number} of {name}", schedule[16 * number :][:16])
        return self

    def identity(self, text: str) -> Secrets:
        """Adds the keys of an identity file, as text and as bytes."""
        for name, prefix in [("identity", "AGE-SECRET-KEY-1"), ("Noise key", "TRESS-NOISE-KEY-1")]:
            for digits in re.findall(f"^{prefix}([A-Z0-9]+)$", text, flags=re.MULTILINE):
                self.add(f"{name} as text", digits.encode()).add(f"{name} as lower text", digits.lower().encode())
                # Without the first and last byte, in which X25519 clears and sets bits.
                self.add(name, bech32_data(digits)[1:31])
        return self

    def pem(self, text: str) -> Secrets:
        """Adds every secret number of a signing key in PEM, and the end of its text."""
        body = "".join(line for line in text.splitlines() if not line.startswith("-"))
        numbers = list(long_numbers(base64.b64decode(body)))
        # RSA: n, d, p, q, d mod p - 1, d mod q - 1, 1 / q, all secret except n. Groups: p, q, g, x, of which only x is secret.
        public = {7: 1, 4: 3}[len(numbers)]
        for index, number in enumerate(numbers[public:], public):
            self.add(f"number {index}", number)
        return self.add("PEM text", body.rstrip("=")[-40:].encode())

    def container(self, container: bytes, key: bytes | str) -> Secrets:
        """Adds all secrets of a container, which a raw key or an identity's text opens (docs/reference/formats/container.md)."""
        aead, age_file, payload = tress_reader.read_frame(container)
        file_key = file_key_of(age_file, key)
        nonce_and_rest = age_by_hand.parse(age_file)[3]
        stream_key = age_by_hand.hkdf(file_key, nonce_and_rest[:16], b"payload")
        content = age_by_hand.stream(stream_key, nonce_and_rest[16:], False)
        input_key = tress_reader.read_content(content)[3]
        name, key_bytes = tress_reader.AEADS[aead]
        # First block of HKDF-Expand.
        info = b"c2sp.org/chunked-encryption@v1+" + name + b"\0" + payload[:24] + b"tress/v1 " + aead + b"\n"
        payload_key = hmac.digest(input_key, info + b"\1", "sha256")[:key_bytes]
        self.add("age's file key", file_key).add("input key", input_key).add("payload key", payload_key)
        return self.schedule("the payload", payload_key)

    def find(self, process: int, without: Collection[str] = ()) -> list[str]:
        """All matches in the writable memory of a process, except in mappings with these names."""
        found, seen = [], 0
        for start, mapping, data in memory(process):
            if mapping in without:
                continue
            seen += len(data)
            for piece, name in self.pieces.items():
                at = data.find(piece)
                if at >= 0:
                    found.append(f"{name}, at {start + at:#x} in {mapping}")
        if seen < 30_000:
            raise AssertionError(f"only {seen} bytes of memory were seen")
        return found


def memory(process: int) -> list[tuple[int, str, bytes]]:
    """Writable memory of a process without zero pages: address, name and bytes of each run of pages."""
    runs = []
    with open(f"/proc/{process}/maps", encoding="utf-8") as maps, open(f"/proc/{process}/mem", "rb", 0) as file:
        for line in maps:
            span, rights, *_ = line.split()
            name = line.split()[5] if len(line.split()) > 5 else "anonymous memory"
            if not rights.startswith("rw"):
                continue
            start, end = (int(text, 16) for text in span.split("-"))
            for at in range(start, end, 1 << 20):
                file.seek(at)
                try:
                    data = file.read(min(1 << 20, end - at))
                except OSError:
                    break  # Nobody's to read.
                # A secret across two reads is found by its pieces in either of them.
                for first, page in pages(data):
                    runs.append((at + first, name, page))
    return runs


def pages(data: bytes) -> list[tuple[int, bytes]]:
    """Runs of pages that are not zero."""
    runs: list[tuple[int, bytes]] = []
    start = None
    for at in range(0, len(data) + 1, PAGE):
        is_zero = not data[at : at + PAGE].strip(b"\0")
        if is_zero and start is not None:
            runs.append((start, data[start:at]))
            start = None
        elif not is_zero and start is None:
            start = at
    if start is not None:
        runs.append((start, data[start:]))
    return runs


def file_key_of(age_file: bytes, key: bytes | str) -> bytes:
    """The file key that a stanza wraps."""
    for kind, arguments, body in age_by_hand.parse(age_file)[0]:
        if isinstance(key, bytes) and kind == age_by_hand.RAW_KEY_TYPE:
            wrapping = age_by_hand.hkdf(key, age_by_hand.unb64(arguments[0]), b"tress/v1 raw-key")
        elif isinstance(key, str) and kind == "X25519":
            digits = re.findall(r"^AGE-SECRET-KEY-1([A-Z0-9]+)$", key, flags=re.MULTILINE)[0]
            secret = X25519PrivateKey.from_private_bytes(bech32_data(digits))
            share = age_by_hand.unb64(arguments[0])
            shared = secret.exchange(X25519PublicKey.from_public_bytes(share))
            salt = share + age_by_hand.public_bytes(secret)
            wrapping = age_by_hand.hkdf(shared, salt, b"age-encryption.org/v1/X25519")
        else:
            continue
        return ChaCha20Poly1305(wrapping).decrypt(bytes(12), body, None)
    raise ValueError("no stanza for this key")


def bech32_data(digits: str) -> bytes:
    """Decodes the 32 bytes after a Bech32 prefix, before six characters of checksum (BIP 173)."""
    number = 0
    for digit in digits[:-6]:
        number = number << 5 | "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".index(digit)
    return (number >> (5 * len(digits[:-6]) - 256)).to_bytes(32, "big")


def long_numbers(der: bytes) -> list[bytes]:
    """The long numbers of a DER structure, in order, without leading zeros."""
    numbers: list[bytes] = []
    while len(der) > 2:
        tag, length, rest = der[0], der[1], der[2:]
        if length & 0x80:
            count = length & 0x7F
            length, rest = int.from_bytes(rest[:count], "big"), rest[count:]
        content, der = rest[:length], rest[length:]
        if tag in (0x30, 0x04):
            numbers += long_numbers(content)
        elif tag == 0x02 and length > 16:
            numbers.append(content.lstrip(b"\0"))
    return numbers


def multiply(a: int, b: int) -> int:
    """Multiplication in the field of AES (FIPS 197, section 4.2)."""
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
    return product


def s_box(byte: int) -> int:
    """FIPS 197, section 5.1.1: the inverse in the field, then the affine map."""
    inverse = next((other for other in range(256) if multiply(byte, other) == 1), 0)
    box = 0x63
    for turn in range(5):
        box ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
    return box


def aes_schedule(key: bytes) -> bytes:
    """The AES key schedule (FIPS 197, section 5.2)."""
    words = [key[at : at + 4] for at in range(0, len(key), 4)]
    size, constant = len(words), 1
    while len(words) < 4 * (size + 7):
        word, index = words[-1], len(words)
        if index % size == 0:
            word = bytes(map(s_box, word[1:] + word[:1]))
            word, constant = bytes([word[0] ^ constant]) + word[1:], multiply(constant, 2)
        elif size > 6 and index % size == 4:
            word = bytes(map(s_box, word))
        words.append(bytes(a ^ b for a, b in zip(word, words[index - size], strict=True)))
    return b"".join(words)


# FIPS 197, appendix A.3.
assert aes_schedule(bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")).endswith(
    bytes.fromhex("706c631e")
)


def wait_until_stopped(process: int) -> None:
    """Waits until the process has stopped itself. Raises an error if it ends first."""
    try:
        found = os.waitid(os.P_PID, process, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        stopped = found is not None and found.si_code == os.CLD_STOPPED
    except ChildProcessError:  # The child of another process, which can only be asked.
        while (state := pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1][0]) not in "TZX":
            time.sleep(0.01)
        stopped = state == "T"
    if not stopped:
        raise AssertionError("it ended before it stopped itself")


def main() -> None:
    """Searches for the secrets in the files that the arguments name."""
    process, *given = sys.argv[1:]
    files = {name: pathlib.Path(path) for name, path in (word.split("=", 1) for word in given)}
    # Then its files are complete.
    wait_until_stopped(int(process))
    secrets = Secrets()
    if "raw" in files:
        secrets.raw(files["raw"].read_bytes())
    if "identity" in files:
        secrets.identity(files["identity"].read_text())
    if "pem" in files:
        secrets.pem(files["pem"].read_text())
    if "text" in files:
        secrets.add("text", files["text"].read_bytes())
    if "container" in files:
        key = files["raw"].read_bytes() if "raw" in files else files["identity"].read_text()
        secrets.container(files["container"].read_bytes(), key)
    found = secrets.find(int(process))
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
