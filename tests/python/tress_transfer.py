"""A sender of the transfer protocol, written from docs/reference/formats/transfer.md alone, with PyCA `cryptography` for Noise.

It is simple and has no threads: a control connection, data connections, and messages as bytes.
"""

import contextlib
import hmac
import os
import re
import socket

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

import age_by_hand
import tress_reader

GREETING = b"tress/v2 transfer\n"
NAME = b"Noise_IK_25519_ChaChaPoly_SHA256"
MAX_PLAINTEXT = 16384
CHUNK = tress_reader.CHUNK

# Keys


def bech32(text, prefix):
    """Decodes the bytes, without checking the checksum."""
    head, _, digits = text.lower().rpartition("1")
    assert head == prefix
    bits = "".join(f"{'qpzry9x8gf2tvdw0s3jn54khce6mua7l'.index(c):05b}" for c in digits[:-6])
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) // 8 * 8, 8))


def noise_secret(identity_file):
    """The Noise key of an identity file."""
    (text,) = re.findall(r"(?m)^# tress noise key: (\S+) *$", identity_file)
    return bech32(text, "tress-noise-key-")


def noise_public(address):
    """The Noise key in an address."""
    data = bech32(address, "tress")
    assert len(data) == 65 and data[0] == 1
    return data[33:]


# Noise IK: The Noise Protocol Framework, revision 34, sections 5 and 7.5.


def private(data):
    return X25519PrivateKey.from_private_bytes(data)


def dh(secret, public):
    return secret.exchange(X25519PublicKey.from_public_bytes(public))


class Cipher:
    def __init__(self, key):
        self.aead, self.count = ChaCha20Poly1305(key), 0

    def nonce(self):
        self.count += 1
        return bytes(4) + (self.count - 1).to_bytes(8, "little")

    def seal(self, plaintext, ad=b""):
        return self.aead.encrypt(self.nonce(), plaintext, ad)

    def open(self, ciphertext, ad=b""):
        return self.aead.decrypt(self.nonce(), ciphertext, ad)


def hkdf(chain, material):
    key = hmac.digest(chain, material, "sha256")
    first = hmac.digest(key, b"\1", "sha256")
    return first, hmac.digest(key, first + b"\2", "sha256")


class Handshake:
    """One end. `static` and `ephemeral` are secret keys. `remote` is the receiver's public key at the sender, None at the receiver."""

    def __init__(self, static, ephemeral, remote=None, prologue=GREETING):
        self.static, self.ephemeral, self.remote = private(static), private(ephemeral), remote
        self.hash = self.chain = NAME
        receiver = remote or age_by_hand.public_bytes(self.static)
        self.mix_hash(prologue)
        self.mix_hash(receiver)

    def mix_hash(self, data):
        self.hash = sha256(self.hash + data)

    def mix_key(self, shared):
        self.chain, key = hkdf(self.chain, shared)
        self.cipher = Cipher(key)

    def seal(self, plaintext):
        sealed = self.cipher.seal(plaintext, self.hash)
        self.mix_hash(sealed)
        return sealed

    def open(self, sealed):
        plaintext = self.cipher.open(sealed, self.hash)
        self.mix_hash(sealed)
        return plaintext

    def write_first(self, payload=b""):
        public = age_by_hand.public_bytes(self.ephemeral)
        self.mix_hash(public)
        self.mix_key(dh(self.ephemeral, self.remote))
        static = self.seal(age_by_hand.public_bytes(self.static))
        self.mix_key(dh(self.static, self.remote))
        return public + static + self.seal(payload)

    def read_first(self, message):
        self.peer = message[:32]
        self.mix_hash(self.peer)
        self.mix_key(dh(self.static, self.peer))
        self.remote = self.open(message[32:80])
        self.mix_key(dh(self.static, self.remote))
        return self.open(message[80:])

    def write_second(self, payload=b""):
        public = age_by_hand.public_bytes(self.ephemeral)
        self.mix_hash(public)
        self.mix_key(dh(self.ephemeral, self.peer))
        self.mix_key(dh(self.ephemeral, self.remote))
        return public + self.seal(payload)

    def read_second(self, message):
        self.mix_hash(message[:32])
        self.mix_key(dh(self.ephemeral, message[:32]))
        self.mix_key(dh(self.static, message[:32]))
        return self.open(message[32:])

    def split(self):
        """The ciphers from the sender and from the receiver."""
        return tuple(map(Cipher, hkdf(self.chain, b"")))


def sha256(data):
    return age_by_hand.hashlib.sha256(data).digest()


def frame(cipher, message):
    sealed = cipher.seal(message)
    return len(sealed).to_bytes(2, "big") + sealed


# Messages


def number(value, size):
    return value.to_bytes(size, "big")


def begin(streams):
    return b"\x01" + number(streams, 2)


def join(ticket, stream):
    return b"\x02" + ticket + number(stream, 2)


def metadata(mode=0xFFFF, seconds=0, nanoseconds=2**32 - 1):
    return number(mode, 2) + number(seconds % 2**64, 8) + number(nanoseconds, 4)


NOTHING_KEPT = metadata()


def entry(kind, name, data=NOTHING_KEPT, more=b""):
    return bytes([kind]) + data + number(len(name), 2) + name + more


def small(size, name, identity=bytes(32), data=NOTHING_KEPT):
    return entry(1, name, data, number(size, 8) + identity)


def folder(name, data=NOTHING_KEPT):
    return entry(2, name, data)


def link(target, name, data=NOTHING_KEPT):
    return entry(3, name, data, number(len(target), 2) + target)


def listing(list_number, *entries):
    return b"\x03" + number(list_number, 4) + b"".join(entries)


def pack_end(list_number, *void):
    return b"\x08" + number(list_number, 4) + b"".join(number(index, 2) for index in void)


def offer(file, size, name, identity=bytes(32), restart=False, flags=None, data=NOTHING_KEPT):
    flags = (size is not None) | restart << 1 if flags is None else flags
    return b"\x04" + number(file, 4) + bytes([flags]) + number(size or 0, 8) + identity + data + name


def finish(file, size):
    return b"\x05" + number(file, 4) + number(size, 8)


def holes(file, *ranges):
    return b"\x0b" + number(file, 4) + number(len(ranges), 2) + b"".join(number(at, 8) for pair in ranges for at in pair)


def abandon(file):
    return b"\x06" + number(file, 4)


def lost(stream):
    return b"\x07" + number(stream, 2)


PING, BYE = b"\x09", b"\x0a"


def key(file, aead, input_key, prefix):
    return b"\x10" + number(file, 4) + bytes([aead]) + input_key + prefix


def batch(file, first, size):
    return b"\x11" + number(file, 4) + number(first, 8) + number(size, 4)


class Connection:
    """A connection after the handshake. `receive` returns None if the receiver has closed it, and `send` does nothing then."""

    def __init__(self, address, static, remote):
        self.socket = socket.create_connection(address, timeout=600)
        handshake = Handshake(static, os.urandom(32), remote)
        self.socket.sendall(GREETING + handshake.write_first())
        assert self.take(18) == GREETING
        assert handshake.read_second(self.take(48)) == b""
        self.outgoing, self.incoming = handshake.split()

    def take(self, size):
        data = b""
        while len(data) < size:
            try:
                part = self.socket.recv(size - len(data))
            except ConnectionError:
                part = b""
            if not part:
                return None
            data += part
        return data

    def send(self, message, then=b""):
        # The receiver may refuse a message before it has read all of it.
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(frame(self.outgoing, message) + then)

    def receive(self):
        length = self.take(2)
        sealed = length and self.take(int.from_bytes(length, "big"))
        try:
            return sealed and self.incoming.open(sealed)
        except InvalidTag:
            raise AssertionError("a message that does not verify") from None

    def answer(self):
        """The next message that is not `Progress`."""
        while (message := self.receive()) is not None and message[0] == 0x46:
            pass
        return message

    def ask(self, message):
        self.send(message)
        return self.answer()

    def close(self):
        self.socket.close()


class Sealer:
    """A new key for a file and a data connection. It may only seal ascending chunk numbers."""

    def __init__(self, file, aead=b"aes-128-ccm"):
        self.file, self.aead = file, aead
        self.input_key, salt = os.urandom(tress_reader.AEADS[aead][1]), os.urandom(24)
        self.cipher, self.base_nonce, commitment = tress_reader.derive(aead, self.input_key, salt)
        self.prefix = salt + commitment

    def key(self):
        return key(self.file, 1 + list(tress_reader.AEADS).index(self.aead), self.input_key, self.prefix)

    def seal(self, plaintext, first, count):
        """Seals chunks of a file."""
        parts = [plaintext[at * CHUNK : (at + 1) * CHUNK] for at in range(first, first + count)]
        nonces = [tress_reader.chunk_nonce(self.base_nonce, first + at) for at in range(count)]
        return b"".join(self.cipher.encrypt(nonce, part, None) for nonce, part in zip(nonces, parts, strict=True))
