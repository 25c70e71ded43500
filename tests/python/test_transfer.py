"""The transfer protocol between `tress receive` and the sender of tress_transfer.py, which was written from the page.

    TRESS=target/release/tress target/venv/bin/python -m pytest -q tests/python/test_transfer.py
"""

import json
import os
import pathlib
import re
import subprocess
import threading

import pytest

import age_by_hand as age
import tress_transfer as wire
from tress_transfer import CHUNK

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "noise" / "ik.json"
SENDER = bytes(range(32, 64))
REFUSED = {reason: bytes([0x49, reason]) for reason in range(1, 13)}


class Receiver:
    def __init__(self, program, folder):
        made = subprocess.run([program, "keygen", "-o", folder / "key"], capture_output=True, text=True, check=True)
        address = re.search(r"tress1\S+", made.stderr + made.stdout)[0]
        self.remote = wire.noise_public(address)
        secret = wire.noise_secret((folder / "key").read_text())
        assert age.public_bytes(wire.private(secret)) == self.remote
        command = [program, "receive", "--listen", "127.0.0.1:0", "-i", folder / "key", "--allow-any", "-o", folder / "in"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        port = re.search(r"127\.0\.0\.1:(\d+)", self.process.stderr.readline())[1]
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.address = ("127.0.0.1", int(port))
        self.folder = folder / "in" / age.public_bytes(wire.private(SENDER))[:16].hex()

    def connect(self):
        return wire.Connection(self.address, SENDER, self.remote)


@pytest.fixture(scope="module")
def receiver(tmp_path_factory):
    program = os.environ.get("TRESS")
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("set TRESS to the command")
    receiver = Receiver(os.path.abspath(program), tmp_path_factory.mktemp("receiver"))
    yield receiver
    receiver.process.terminate()
    receiver.process.wait()


class Session:
    """A control connection and a number of data connections."""

    def __init__(self, receiver, streams=1):
        self.receiver, self.control = receiver, receiver.connect()
        admitted = self.control.ask(wire.begin(streams))
        assert admitted[0] == 0x41 and len(admitted) == 35
        self.ticket, self.granted = admitted[1:33], int.from_bytes(admitted[33:], "big")

    def join(self, stream, answer=b"\x42"):
        data = self.receiver.connect()
        assert data.ask(wire.join(self.ticket, stream)) == answer
        return data

    def list(self, number, *entries):
        """The statuses of a list."""
        answer = self.control.ask(wire.listing(number, *entries))
        assert answer[:5] == b"\x43" + wire.number(number, 4)
        return answer[5:]

    def offer(self, file, plaintext, name, **more):
        return self.control.ask(wire.offer(file, len(plaintext), name, **more))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.control.close()


def test_the_vectors_of_noise():
    test = json.loads(VECTORS.read_text())["testGroups"][0]["tests"][0]
    names = ["init_static", "init_ephemeral", "init_remote_static", "resp_static", "resp_ephemeral", "handshake_hash"]
    values = {name: bytes.fromhex(test[name]) for name in names}
    messages = [[bytes.fromhex(m[key]) for key in ("payload", "ciphertext")] for m in test["messages"]]
    prologue = bytes.fromhex(test["prologue"])
    sender = wire.Handshake(values["init_static"], values["init_ephemeral"], values["init_remote_static"], prologue)
    receiver = wire.Handshake(values["resp_static"], values["resp_ephemeral"], None, prologue)
    assert sender.write_first(messages[0][0]) == messages[0][1]
    assert receiver.read_first(messages[0][1]) == messages[0][0]
    assert receiver.write_second(messages[1][0]) == messages[1][1]
    assert sender.read_second(messages[1][1]) == messages[1][0]
    assert sender.hash == receiver.hash == values["handshake_hash"]
    ciphers = sender.split()
    for index, (payload, sealed) in enumerate(messages[2:]):
        assert ciphers[index % 2].seal(payload) == sealed


@pytest.fixture
def session(receiver):
    with Session(receiver, 2) as session:
        yield session


PLAIN = age.hashlib.shake_256(b"transfer").digest(40 * CHUNK + 5)
PROTOCOL = REFUSED[11]


def send_chunks(data, file, plaintext, first, count):
    """Sends one batch under a new key."""
    sealer = wire.Sealer(file)
    sealed = sealer.seal(plaintext, first, count)
    data.send(sealer.key())
    data.send(wire.batch(file, first, len(sealed)), sealed)


def number(value):
    return wire.number(value, 4)


def test_a_file_over_two_connections(receiver, session):
    assert session.granted == 2
    one, two = session.join(0), session.join(1023)
    assert session.offer(1, PLAIN, b"d/file", data=wire.metadata(0o640, 7, 8)) == b"\x44" + number(1) + bytes(2)
    send_chunks(two, 1, PLAIN, 32, 9)
    send_chunks(one, 1, PLAIN, 0, 32)
    assert session.control.ask(wire.finish(1, len(PLAIN))) == b"\x48" + number(1)
    file = receiver.folder / "d" / "file"
    assert file.read_bytes() == PLAIN
    assert (file.stat().st_mode & 0o7777, file.stat().st_mtime_ns) == (0o640, 7_000_000_008)
    # The same version is complete. Another version is refused, even with `restart` (bit 1).
    assert session.offer(2, PLAIN, b"d/file") == b"\x45" + number(2)
    assert session.control.ask(wire.offer(3, None, b"d/file")) == b"\x45" + number(3)
    assert session.offer(4, PLAIN[:-1], b"d/file") == REFUSED[5]
    assert session.offer(5, PLAIN, b"d/file", identity=b"2" * 32, restart=True) == REFUSED[5]
    for file, name, data in [(7, b"first", b"1"), (2**32 - 1, b"second", b"22")]:
        assert session.offer(file, data, name)[0] == 0x44
        send_chunks(one, file, data, 0, 1)
        assert session.control.ask(wire.finish(file, len(data)))[0] == 0x48
    # The batches of both connections are counted, and no file is arriving.
    session.control.send(wire.PING)
    counts = [wire.number(stream, 2) + wire.number(batches, 8) for stream, batches in [(0, 3), (1023, 1)]]
    last = session.control.receive()
    while last[13:15] == b"\0\2" and last[1:5] != bytes(4):
        last = session.control.receive()
    assert last == b"\x46" + bytes(12) + b"\0\2" + b"".join(counts)
    session.control.send(wire.BYE)
    assert session.control.answer() is None


def test_holes(receiver, session):
    content = PLAIN[:CHUNK] + bytes(38 * CHUNK) + PLAIN[39 * CHUNK :]
    assert session.offer(1, content, b"holes")[0] == 0x44
    session.control.send(wire.holes(1, (1, 20), (30, 39)))
    session.control.send(wire.holes(1, (15, 31)))
    data = session.join(0)
    send_chunks(data, 1, content, 39, 2)
    send_chunks(data, 1, content, 0, 1)
    assert session.control.ask(wire.finish(1, len(content))) == b"\x48" + number(1)
    file = receiver.folder / "holes"
    assert file.read_bytes() == content and file.stat().st_blocks * 512 < 10 * CHUNK


def test_a_list_and_its_pack(receiver, session):
    one, two = session.join(0), session.join(1)
    sizes = {b"p/a": 5, b"p/void": 3, b"p/b": 40_000, b"p/empty": 0}
    at = wire.metadata(0o604, -2, 999_999_999)
    names = list(sizes)
    wanted = [wire.small(sizes[name], name, data=at) for name in names]
    statuses = session.list(1, wire.small(1, b"../x"), *wanted, wire.folder(b"p"), wire.link(b"a", b"p/link"), wire.link(b"..", b"p/up"))
    assert statuses == b"\4" + b"\xff" * 4 + b"\0\0\0"
    assert session.list(2, wire.link(b"../..", b"p/out"), wire.link(b"/etc", b"p/root"), wire.link(b"b", b"p/link")) == b"\4\4\5"
    content = PLAIN[:5] + bytes(3) + PLAIN[5:40_005]
    # The end of the pack comes between its batches, the second of which is on another connection.
    send_chunks(one, 1, content, 1, 2)
    session.control.send(wire.pack_end(1, 2))
    send_chunks(two, 1, content, 0, 1)
    assert session.control.answer() == b"\x43" + number(1) + b"\4\0\xff\0\0\0\0\0"
    folder = receiver.folder / "p"
    assert {path.name for path in folder.iterdir()} == {"a", "b", "empty", "link", "up"}
    assert [(folder / name).read_bytes() for name in ("a", "b", "empty")] == [PLAIN[:5], PLAIN[5:40_005], b""]
    assert ((folder / "a").stat().st_mode & 0o7777, (folder / "a").stat().st_mtime_ns) == (0o604, -1_000_000_001)
    # Everything is there. Another version is not, and neither is the void file.
    last = session.list(3, *wanted, wire.small(5, b"p/a", identity=b"2" * 32), wire.folder(b"p", wire.metadata(0o757, 3, 4)))
    assert last == b"\0\xff\0\0\5\0"
    assert (folder.stat().st_mode & 0o7777, folder.stat().st_mtime_ns) == (0o755, 3_000_000_004)
    # A file may come while a pack does, but the session does not end before the pack.
    assert session.offer(4, b"1", b"while a pack is coming")[0] == 0x44
    send_chunks(one, 4, b"1", 0, 1)
    assert session.control.ask(wire.finish(4, 1))[0] == 0x48
    assert session.control.ask(wire.BYE) == PROTOCOL


def test_what_belongs_to_a_version(receiver, session):
    identity, name = b"v" * 32, b"version"
    assert session.offer(1, PLAIN, name, identity=identity)[0] == 0x44
    data = session.join(0)
    send_chunks(data, 1, PLAIN, 3, 2)
    data.close()
    assert session.control.answer() == b"\x47" + bytes(2) + wire.number(1, 8)
    session.control.close()
    with Session(receiver) as next_session:
        # The answer comes after the old session has released the file, unless a slow disk holds that up for long.
        for file in range(1, 30):
            if (answer := next_session.offer(file, PLAIN, name, identity=identity)) != REFUSED[3]:
                break
        assert answer == b"\x44" + number(file) + b"\0\1" + wire.number(3, 8) + wire.number(5, 8)
    for more, size, answer in [
        ({"identity": b"w" * 32}, len(PLAIN), REFUSED[6]),
        ({"identity": identity}, len(PLAIN) + 1, REFUSED[6]),
        ({"identity": identity}, None, REFUSED[6]),
        ({"identity": b"w" * 32, "restart": True}, len(PLAIN), b"\x44" + number(1) + bytes(2)),
    ]:
        with Session(receiver) as other:
            assert other.control.ask(wire.offer(1, size, name, **more)) == answer


OFFER = wire.offer(1, 100, b"violation")
LIST = wire.listing(1, wire.small(5, b"violation in a list"), wire.folder(b"of lists"))
CONTROL = [
    ("bye while a file is coming", [OFFER, wire.BYE]),
    ("two files", [OFFER, wire.offer(2, 5, b"second file")]),
    ("number 0", [wire.offer(0, 5, b"number 0")]),
    ("finish of another file", [OFFER, wire.finish(2, 100)]),
    ("finish with another size", [OFFER, wire.finish(1, 101)]),
    ("finish of nothing", [wire.finish(1, 1)]),
    ("holes of nothing", [wire.holes(1, (0, 1))]),
    ("holes of another file", [OFFER, wire.holes(2, (0, 1))]),
    ("holes beyond the file", [OFFER, wire.holes(1, (0, 2))]),
    ("holes without a size", [wire.offer(1, None, b"stream"), wire.holes(1, (0, 1))]),
    ("holes that touch", [wire.offer(1, 5 * CHUNK, b"touch"), wire.holes(1, (0, 1), (1, 2))]),
    ("empty hole", [wire.offer(1, 5 * CHUNK, b"empty"), wire.holes(1, (1, 1))]),
    ("bye while a pack is coming", [LIST, wire.BYE]),
    ("list with an old number", [LIST, LIST]),
    ("offer with the number of a list", [LIST, OFFER]),
    ("end of no pack", [wire.pack_end(1)]),
    ("end of another pack", [LIST, wire.pack_end(2)]),
    ("void entry that is not in the pack", [LIST, wire.pack_end(1, 1)]),
    ("void entry that is not in the list", [LIST, wire.pack_end(1, 2)]),
    ("void entries that do not rise", [LIST, wire.pack_end(1, 0, 0)]),
    ("more than 16 MiB", [wire.listing(1, wire.small(2**24, b"16 MiB")), wire.listing(2, wire.small(1, b"more"))]),
    ("sizes beyond 64 bits", [wire.listing(1, wire.small(2**64 - 1, b"2^64"), wire.small(1, b"more"))]),
    ("empty list", [wire.listing(1)]),
    ("unknown type of an entry", [wire.listing(1, wire.entry(4, b"a"))]),
    ("part of an entry", [LIST[:-1]]),
    ("mode of ten bits", [wire.listing(1, wire.folder(b"a", wire.metadata(0o1000)))]),
    ("a second of nanoseconds", [wire.listing(1, wire.folder(b"a", wire.metadata(0, 0, 10**9)))]),
    ("begin again", [wire.begin(1)]),
    ("join", [wire.join(bytes(32), 1)]),
    ("key", [wire.Sealer(1).key()]),
    ("batch", [wire.batch(1, 0, 16400)]),
    ("message of the receiver", [b"\x42"]),
    ("unknown type", [b"\x0c"]),
    ("no bytes", [b""]),
    ("bytes behind", [wire.PING + b"x"]),
    ("unknown flag", [wire.offer(1, 1, b"a", flags=5)]),
    ("size that is not known", [wire.offer(1, 1, b"a", flags=0)]),
    ("empty name", [wire.listing(1, wire.folder(b""))]),
    ("name of 4096 bytes", [wire.listing(1, wire.folder(b"a" * 4096))]),
    ("offer without a name", [wire.offer(1, 1, b"")]),
    ("AEAD 3", [wire.key(1, 3, bytes(16), bytes(56))]),
]


@pytest.mark.parametrize(("name", "messages"), CONTROL, ids=[case[0] for case in CONTROL])
def test_violations_on_the_control_connection(session, name, messages):
    *before, last = messages
    for message in before:
        assert session.control.ask(message)[0] in {0x43, 0x44}
    assert session.control.ask(last) == PROTOCOL, name
    assert session.control.answer() is None


@pytest.mark.parametrize("length", [0, 15, 16, 17, 16401])
def test_frames_that_are_no_message(session, length):
    session.control.socket.sendall(wire.number(length, 2) + bytes(length))
    assert session.control.answer() == PROTOCOL
    assert session.control.answer() is None


@pytest.mark.parametrize("first", [wire.PING, wire.begin(0), wire.begin(1) + b"x", b"", OFFER])
def test_first_messages(receiver, first):
    connection = receiver.connect()
    assert connection.ask(first) == PROTOCOL
    assert connection.answer() is None


def test_what_is_no_violation(session):
    control = session.control
    names = [b"../a", b"/a", b"a//b", b"a/", b"./a", b".TRESS/a", b"a\0b", b"c" * 256, b"/".join([b"a"] * 129)]
    kinds = [wire.folder, lambda name: wire.small(1, name), lambda name: wire.link(b"x", name)]
    for list_number, kind in enumerate(kinds, 1):
        assert session.list(list_number, *map(kind, names)) == b"\4" * len(names)
    assert control.ask(wire.offer(10, 100, b"violation"))[0] == 0x44
    assert session.list(11, wire.folder(b"while a file is coming")) == b"\0"
    control.send(wire.abandon(2))
    control.send(wire.abandon(10))
    control.send(wire.lost(2000))
    assert control.ask(wire.lost(7)) == b"\x47\0\7" + bytes(8)
    session.join(7, REFUSED[2])
    control.send(wire.PING)
    assert control.receive() == b"\x46" + bytes(14)
    assert control.ask(wire.offer(12, 100, b"violation"))[0] == 0x44
    # The number of an abandoned file must not be reused.
    control.send(wire.abandon(12))
    assert control.ask(wire.offer(10, 100, b"violation")) == PROTOCOL


def test_joining(receiver, session):
    kept = [session.join(3), session.join(4)]
    session.join(3, REFUSED[2])
    session.join(1024, REFUSED[2])
    session.join(5, REFUSED[3])
    session.control.send(wire.lost(3))
    session.control.send(wire.PING)
    # When the receiver answers this, it has read `Lost`. After a pause, it may already have closed the connection.
    replies = [session.control.receive()]
    while replies[-1][0] != 0x46:
        replies.append(session.control.receive())
    kept.append(session.join(6))
    assert (replies[:-1] or [session.control.answer()]) == [b"\x47\0\3" + bytes(8)]
    assert kept[0].answer() is None
    other = receiver.connect()
    assert other.ask(wire.join(bytes(32), 0)) == REFUSED[2]
    assert other.answer() is None


def sealed_of(first, size, file=1, key_of=1):
    return [wire.Sealer(key_of).key(), (wire.batch(file, first, size), bytes(size))]


DATA = [
    ("no key", sealed_of(0, 16400)[1:]),
    ("key of another file", sealed_of(0, 16400, key_of=2)),
    ("file that is not coming", sealed_of(0, 16400, file=2, key_of=2)),
    ("chunk that does not verify", sealed_of(0, 16400)),
    ("33 chunks", sealed_of(0, 33 * 16400)),
    ("beyond the end", sealed_of(41, 16400)),
    ("a short chunk in the middle", sealed_of(0, 100)),
    ("a long last chunk", sealed_of(40, 16400)),
    ("no chunk", sealed_of(0, 0)),
    ("less than a tag", sealed_of(40, 15)),
    ("number 2^64 - 1", sealed_of(2**64 - 1, 16400)),
    ("commitment", [wire.key(1, 1, bytes(16), bytes(56))]),
    ("unknown AEAD", [wire.key(1, 3, bytes(16), bytes(56))]),
    ("message of the control connection", [wire.PING]),
    ("bye", [wire.BYE]),
]


@pytest.mark.parametrize(("name", "messages"), DATA, ids=[case[0] for case in DATA])
def test_violations_on_a_data_connection(session, name, messages):
    data = session.join(0)
    assert session.offer(1, PLAIN, b"data")[0] == 0x44
    for message in messages:
        data.send(*message) if isinstance(message, tuple) else data.send(message)
    assert data.answer() is None, name
    assert session.control.answer() == b"\x47" + bytes(10)
    # The session continues.
    session.control.send(wire.abandon(1))
    assert session.list(2, wire.folder(b"after")) == b"\0"


PACK_DATA = [
    ("chunk that does not verify", sealed_of(0, 57)),
    ("more than the pack", sealed_of(0, 58)),
    ("less than the pack", sealed_of(0, 56)),
    ("beyond the end", sealed_of(1, 16)),
    ("pack that is not coming", sealed_of(0, 57, file=2, key_of=2)),
]


@pytest.mark.parametrize(("name", "messages"), PACK_DATA, ids=[case[0] for case in PACK_DATA])
def test_violations_in_packs(receiver, session, name, messages):
    data = session.join(0)
    assert session.list(1, wire.small(41, b"pack data")) == b"\xff"
    session.control.send(wire.pack_end(1))
    for message in messages:
        data.send(*message) if isinstance(message, tuple) else data.send(message)
    assert data.answer() is None, name
    assert session.control.answer() == b"\x47" + bytes(10)
    assert not (receiver.folder / "pack data").exists()


def test_unknown_sizes(session):
    data = session.join(0)
    assert session.control.ask(wire.offer(1, None, b"stream"))[0] == 0x44
    send_chunks(data, 1, PLAIN, 40, 1)
    # The end of the stream is known: a chunk beyond it is refused.
    data.send(wire.Sealer(1).key())
    data.send(wire.batch(1, 40, 32800), bytes(32800))
    assert data.answer() is None
    assert session.control.answer() == b"\x47" + bytes(2) + wire.number(1, 8)
    assert session.control.ask(wire.finish(1, 5)) == PROTOCOL
