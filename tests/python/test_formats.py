"""Tests the examples and tables in docs/reference/formats.

    TRESS=target/release/tress target/venv/bin/python -m pytest -q tests/python/test_formats.py

The Python readers and writers give the bytes of the examples, and the command opens them.
"""

import base64
import dataclasses
import hashlib
import io
import os
import pathlib
import re
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import age_by_hand as age
import tress_reader
import tress_transfer as wire
import tress_tree as tree

FORMATS = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/formats"
CONTAINER, TREE, TRANSFER = (f"example-{name}.txt" for name in ("container", "tree", "transfer"))
PLAIN = b"hello, lanes\n"


def section(file, title):
    """The text below this heading, up to the next one."""
    text = (FORMATS / file).read_text(encoding="utf-8")
    return re.split(r"(?m)^#+ ", text.partition(f"# {title}\n")[2])[0]


def values(file, title):
    """The bytes in hexadecimal beside or below a name."""
    rows = re.findall(r"(?m)^(\S.*?)(?:\n {4}| {2,})([0-9a-f]+)$", section(file, title))
    return {name: bytes.fromhex(value) for name, value in rows}


def dump(file, title):
    """The bytes of a dump. Missing bytes are zero, and the last line is the length."""
    lines = re.findall(r"(?m)^([0-9a-f]{8})(?:  ((?:[0-9a-f]{2} )*[0-9a-f]{2}))?(?: .*)?$", section(file, title))
    data = bytearray(int(lines[-1][0], 16))
    for offset, text in lines[:-1]:
        row = bytes.fromhex(text)
        data[int(offset, 16) : int(offset, 16) + len(row)] = row
    return bytes(data)


@pytest.fixture
def tress():
    program = os.environ.get("TRESS")
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("set TRESS to the command")

    def run(*arguments, data=None):
        command = [os.path.abspath(program), *arguments]
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout

    return run


def test_the_container(tress, tmp_path):
    known, shown = values(CONTAINER, "Values"), dump(CONTAINER, "Bytes")
    drawn = ["input key", "age file key", "salt of the stanza", "nonce of the age file", "salt of the payload"]
    random = io.BytesIO(b"".join(known[name] for name in drawn)).read
    raw = known["raw key"]
    seal = lambda content: age.seal(content, [age.raw_key(raw)], random)  # noqa: E731
    made = tress_reader.encrypt(PLAIN, seal, name="hello.txt", random=random)
    assert made == shown
    assert age.hkdf(raw, known["salt of the stanza"], b"tress/v1 raw-key") == known["wrapping key"]
    assert age.open_with_raw_key(tress_reader.read_frame(shown)[1], raw) == known["content"]
    assert tress_reader.decrypt(shown, raw) == (PLAIN, b"file", "hello.txt")
    # key || base nonce || commitment by HMAC, as the page says.
    hmac = tress_reader.hmac
    info = b"c2sp.org/chunked-encryption@v1+AEAD_AES_128_CCM\0" + known["salt of the payload"] + shown[:21]
    first = hmac.digest(known["input key"], info + b"\1", "sha256")
    second = hmac.digest(known["input key"], first + info + b"\2", "sha256")
    assert (first + second)[:60] == known["payload key"] + known["base nonce"] + known["commitment"]
    (tmp_path / "key").write_bytes(raw)
    assert tress("decrypt", "--key-file", tmp_path / "key", "-", data=shown) == PLAIN


def test_the_tree(tress, tmp_path):
    shown = dump(TREE, "Bytes")
    at = 1_769_860_800 * tree.NANOSECONDS
    owner = tree.Owner(1000, 100, b"ada", b"users")
    entries = [
        tree.Entry((), "folder", 0o755, at, owner=owner),
        tree.Entry((b"hello.txt",), "file", 0o644, at + 250_000_000, PLAIN, owner=owner),
    ]
    assert tree.check_index(shown) == entries
    assert tree.write(entries) == shown
    (tmp_path / "key").write_bytes(bytes(16))
    root = tmp_path / "folder"
    root.mkdir()
    (root / "hello.txt").write_bytes(PLAIN)
    for path, entry in [(root / "hello.txt", entries[1]), (root, entries[0])]:
        path.chmod(entry.mode)
        os.utime(path, ns=(0, entry.time_ns))
    sealed = tress("encrypt", "--key-file", tmp_path / "key", root)
    assert tress_reader.read_first_line(sealed)[0] == 2
    plaintext, kind, name = tress_reader.decrypt(sealed, bytes(16))
    assert (kind, name) == (b"tree", "folder")
    # Owners are those of the user who runs the test, and a system may set attributes.
    made = tree.check_index(plaintext)
    assert tree.write(made) == plaintext
    assert tree.write([dataclasses.replace(entry, owner=owner, attributes={}) for entry in made]) == shown


def test_the_index_of_the_tree():
    """The fields of both entries are the bytes of the block."""
    plaintext = dump(TREE, "Bytes")
    lines, tar_length = tree.read_index(plaintext)
    block = bytes.fromhex("".join(re.findall(r"(?m)^((?:[0-9a-f]{2} )+) ", section(TREE, "Index"))))
    assert plaintext[tar_length:].startswith(block)
    assert [block] == [made for _, _, made in tree.write_blocks(lines)]


def test_the_fields_of_a_header():
    rows = re.findall(r"(?m)^\| ([0-9]+) \| ([0-9]+) \| `([a-z]+)` \|", section("container.md", "Trees"))
    assert {name: (int(offset), int(size)) for offset, size, name in rows} == tree.FIELDS


def test_the_transfer():
    keys = values(TRANSFER, "Keys")
    remote = age.public_bytes(wire.private(keys["receiver's static secret key"]))
    sender = wire.Handshake(keys["sender's static secret key"], keys["sender's ephemeral secret key"], remote)
    receiver = wire.Handshake(keys["receiver's static secret key"], keys["receiver's ephemeral secret key"])
    first = sender.write_first()
    assert wire.GREETING + first == dump(TRANSFER, "The sender's first bytes")
    assert receiver.read_first(first) == b""
    second = receiver.write_second()
    assert wire.GREETING + second == dump(TRANSFER, "The receiver's first bytes")
    assert sender.read_second(second) == b""
    assert remote == keys["receiver's static public key"]
    assert receiver.remote == keys["sender's static public key"]
    assert sender.hash == receiver.hash == keys["hash of the handshake"]
    assert wire.hkdf(sender.chain, b"") == (keys["key from the sender"], keys["key from the receiver"])
    to_receiver, to_sender = sender.split()
    assert wire.frame(to_receiver, wire.begin(2)) == dump(TRANSFER, "Begin, for two data connections")
    admitted = b"\x41" + keys["ticket"] + b"\0\2"
    assert wire.frame(to_sender, admitted) == dump(TRANSFER, "Admitted, with two data connections")


def test_the_messages_of_a_transfer():
    container, ticket = dump(CONTAINER, "Bytes"), values(TRANSFER, "Keys")["ticket"]
    input_key, prefix = values(CONTAINER, "Values")["input key"], container[4096:][:56]
    messages = values(TRANSFER, "Messages")
    made = {
        "Join, 0": wire.join(ticket, 0),
        "List, 1, a folder d with mode 0755 and no time": wire.listing(1, wire.folder(b"d", wire.metadata(0o755))),
        "Statuses, 1, complete": b"\x43" + wire.number(1, 4) + b"\0",
        "Offer, 2, 13 bytes, d/hello.txt, mode 0644, no time": wire.offer(
            2, 13, b"d/hello.txt", identity=b"\x11" * 32, data=wire.metadata(0o644)
        ),
        "Key, 2, aes-128-ccm": wire.key(2, 1, input_key, prefix),
        "Batch, 2, chunk 0, 29 bytes": wire.batch(2, 0, len(container[4096 + 56 :])),
        "Finish, 2, 13 bytes": wire.finish(2, 13),
        "Bye": wire.BYE,
        "Resume, 2, nothing": b"\x44" + wire.number(2, 4) + wire.number(0, 2),
        "Confirmed, 2": b"\x48" + wire.number(2, 4),
        "List, 3, a file d/small of 13 bytes with mode 0644, 1 s and 2 ns after 1970": wire.listing(
            3, wire.small(13, b"d/small", b"\x11" * 32, wire.metadata(0o644, 1, 2))
        ),
        "Statuses, 3, wanted": b"\x43" + wire.number(3, 4) + b"\xff",
        "Batch, 3, chunk 0, 29 bytes": wire.batch(3, 0, 29),
        "PackEnd, 3, nothing void": wire.pack_end(3),
        "Statuses, 3, complete": b"\x43" + wire.number(3, 4) + b"\0",
    }
    for title, file, synced in [("Progress, 2, one chunk, one batch of connection 0", 2, 1), ("Progress after that", 0, 0)]:
        streams = wire.number(1, 2) + wire.number(0, 2) + wire.number(1, 8)
        made[title] = b"\x46" + wire.number(file, 4) + wire.number(synced, 8) + streams
    assert messages == made


def ssh_keys(kind):
    key = ed25519.Ed25519PrivateKey.generate() if kind == "ssh-ed25519" else rsa.generate_private_key(65537, 2048)
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return key, public, key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


def unwrap(key, public, arguments, body):
    """The file key in a stanza, as the page says."""
    blob = base64.b64decode(public.split()[1])
    assert age.unb64(arguments[0]) == hashlib.sha256(blob).digest()[:4]
    if public.startswith("ssh-rsa "):
        assert len(arguments) == 1
        return key.decrypt(body, age.rsa_padding())
    assert len(arguments) == 2
    seed = key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    secret = X25519PrivateKey.from_private_bytes(hashlib.sha512(seed).digest()[:32])
    label, share = b"age-encryption.org/v1/ssh-ed25519", age.unb64(arguments[1])
    tweak = X25519PrivateKey.from_private_bytes(age.hkdf(b"", blob, label))
    shared = secret.exchange(age.X25519PublicKey.from_public_bytes(share))
    shared = tweak.exchange(age.X25519PublicKey.from_public_bytes(shared))
    wrapping = age.hkdf(shared, share + age.public_bytes(secret), label)
    return age.ChaCha20Poly1305(wrapping).decrypt(bytes(12), body, None)


@pytest.mark.parametrize("kind", ["ssh-ed25519", "ssh-rsa"])
def test_ssh_stanzas(tress, tmp_path, kind):
    key, public, secret = ssh_keys(kind)
    (tmp_path / "identity").write_bytes(secret)
    recipient = age.ssh_ed25519(public) if kind == "ssh-ed25519" else age.ssh_rsa(public)
    made = tress_reader.encrypt(PLAIN, lambda content: age.seal(content, [recipient], os.urandom))
    assert tress("decrypt", "-i", tmp_path / "identity", "-", data=made) == PLAIN

    sealed = tress("encrypt", "-r", public, data=PLAIN)
    _, age_file, _ = tress_reader.read_frame(sealed)
    stanzas, header, mac, _ = age.parse(age_file)
    (arguments, body), *_ = [(arguments, body) for found, arguments, body in stanzas if found == kind]
    file_key = unwrap(key, public, arguments, body)
    assert tress_reader.hmac.digest(age.hkdf(file_key, b"", b"header"), header, "sha256") == mac
