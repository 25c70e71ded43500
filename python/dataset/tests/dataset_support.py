"""Helpers of the dataset tests: simple codecs, simulated stores, an S3 server, a proxy that refuses requests.

Worker processes import this module, too.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tress_dataset.names import Item, UnreadableEntry
from tress_dataset.stores import Reading, Replace, Store, Writing
from tress_dataset.stores.local import LocalStore
from tress_dataset.worker import STOP

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "python"))


# Codecs


class Plain:
    """A fast codec without encryption: containers are the plaintext with inverted bytes."""

    def seal(self, name: str) -> _Flip:
        return _Flip()

    def seal_whole(self, data: Any, name: str) -> bytes:
        return flip(data)

    def open(self) -> _Flip:
        return _Flip()

    def meter(self) -> _Digest:
        return _Digest()

    def new_head(self, start: bytes) -> tuple[int, bytes]:
        raise NotImplementedError


_FLIPPED = bytes(255 - byte for byte in range(256))


def flip(data: Any) -> bytes:
    return bytes(data).translate(_FLIPPED)


class _Flip:
    content_type: str | None = "file"
    name: str | None = None

    def update(self, data: Any) -> bytes:
        return flip(data)

    def finalize(self) -> bytes:
        return b""


class _Digest:
    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def update(self, sealed: Any) -> None:
        self._digest.update(sealed)

    def finish(self) -> str:
        return self._digest.hexdigest()


class Deadly(Plain):
    """Kills its process at objects that begin with `deadly`. A file in `folder` permits it, and is removed."""

    def __init__(self, folder: str):
        self.folder = folder

    def seal_whole(self, data: Any, name: str) -> bytes:
        if bytes(data).startswith(b"deadly"):
            for permit in Path(self.folder).iterdir():
                permit.unlink(missing_ok=True)
                os.kill(os.getpid(), 9)
        return super().seal_whole(data, name)


class Held(Plain):
    """Encrypts `count` small objects in each process. Then writes to a FIFO, and waits until the run is stopped.

    The driver opens the FIFO first, and so waits for its reader.
    """

    def __init__(self, fifo: Path, count: int):
        self.fifo = fifo
        self.count = count
        self.driver: int | None = None

    def __reduce__(self) -> Any:
        if self.driver is None:
            self.driver = os.open(self.fifo, os.O_WRONLY)
        return Held, (self.fifo, self.count)

    def seal_whole(self, data: Any, name: str) -> bytes:
        with _held:
            _encrypted.append(name)
            number = len(_encrypted)
        if number > self.count:
            self.fifo.write_bytes(b"x")
            while not STOP.is_set():
                time.sleep(0.01)  # A handler of signals sets it, so no lock is held here.
        return super().seal_whole(data, name)


_held = threading.Lock()
_encrypted: list[str] = []


@contextmanager
def held(fifo: Path) -> Iterator[None]:
    """Waits until a process with the codec `Held` holds. Fails if the run ends before."""
    with open(fifo, "rb", buffering=0) as file:
        assert file.read(1) == b"x", "the run has ended"
        yield


# Trees


def make_tree(folder: Path, sizes: Mapping[str, int], seed: int = 1) -> dict[str, bytes]:
    """Creates files of random bytes. Returns their contents by name."""
    rng = random.Random(seed)
    made = {}
    for name, size in sizes.items():
        data = rng.randbytes(size)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        made[name] = data
    return made


def read_tree(folder: Path) -> dict[str, bytes]:
    """Returns the contents of all files by name, except those of the manifest."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith(".tress-dataset/"):
            found[name] = path.read_bytes()
    return found


def leftovers(folder: Path) -> list[str]:
    """Returns temporary files that should not exist."""
    return [str(path) for path in folder.rglob("*.tress-part")]


# Simulated stores that only wait


def open_simulated(url: str, options: Mapping[str, Any]) -> Store:
    """Opens `sim-source:COUNT:SECONDS` or `sim-target:SECONDS:FOLDER`. The target writes a real manifest."""
    kind, _, rest = url.partition(":")
    if kind == "sim-source":
        count, _, seconds = rest.partition(":")
        return SimulatedSource(int(count), float(seconds))
    seconds, _, folder = rest.partition(":")
    return SimulatedTarget(float(seconds), folder)


class SimulatedSource(Store):
    shown = "sim-source"

    def __init__(self, count: int, seconds: float):
        self.count = count
        self.seconds = seconds

    def prepare(self) -> None: ...

    def items(self) -> Iterator[Item | UnreadableEntry]:
        for number in range(self.count):
            yield Item(f"folder-{number // 1000:04}/object-{number:08}.bin", 1000, "1")

    def stat(self, name: str) -> Item:
        return Item(name, 1000, "1")

    def read(self, item: Item) -> Reading:
        time.sleep(self.seconds)
        return _SimulatedReading(item)

    def read_start(self, item: Item, count: int) -> bytes:
        raise NotImplementedError

    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        raise NotImplementedError

    def put(self, name: str, data: bytes) -> None:
        raise NotImplementedError

    def get(self, name: str) -> Iterator[bytes]:
        raise NotImplementedError

    def control(self) -> list[str]:
        return []

    def remove(self, name: str) -> None: ...


class _SimulatedReading(Reading):
    def __init__(self, item: Item):
        self.item = item

    def blocks(self) -> Iterator[bytes]:
        yield bytes(self.item.size)

    def unchanged(self) -> None: ...


class SimulatedTarget(LocalStore):
    """Waits for each object and drops it. Writes the manifest."""

    def __init__(self, seconds: float, folder: str):
        super().__init__(folder)
        self.seconds = seconds

    def occupied(self, name: str) -> bool:
        return False

    def items(self) -> Iterator[Item | UnreadableEntry]:
        return iter(())

    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        if name.startswith(".tress-dataset/"):
            return super().write(name, size, about, replace)
        return _SimulatedWriting(name, self.seconds)


class _SimulatedWriting(Writing):
    def __init__(self, name: str, seconds: float):
        self.name = name
        self.seconds = seconds
        self.size = 0

    def write(self, data: Any) -> None:
        self.size += len(data)

    def commit(self) -> Item:
        time.sleep(self.seconds)
        return Item(self.name, self.size, "1")

    def discard(self) -> None: ...


# A real S3 server


def free_port() -> int:
    """Returns a port outside the range for outgoing connections, which could take it while the server is down.

    Each worker of pytest-xdist has its own range.
    """
    first = 10_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 64 * 300
    while True:
        port = random.randrange(first, first + 300)
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) != 0:
                return port


def listens(process: subprocess.Popen[bytes], port: int) -> bool:
    """Waits until a server accepts connections. Returns False if it ends before."""
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                # Another program may have taken the port.
                return process.poll() is None
        time.sleep(0.01)  # Neither of the servers reports that it is ready.
    return False


class S3Server:
    """The S3 server versitygw for a folder."""

    access = "access-for-tests"
    secret = "secret-for-tests"

    def __init__(self, program: str, folder: Path):
        self.program = program
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        (folder / "data" / "bucket").mkdir(parents=True)
        self.start()

    def start(self) -> None:
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [
                self.program,
                "--access", self.access,
                "--secret", self.secret,
                "--region", "us-east-1",
                "--port", f"127.0.0.1:{self.port}",
                "--quiet",
                "posix", str(self.folder / "data"),
            ],
            stdout=log,
            stderr=log,
        )  # fmt: skip
        if not listens(self.process, self.port):
            raise RuntimeError((self.folder / "log").read_text())

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def options(self, port: int | None = None, secret: str | None = None) -> dict[str, Any]:
        return {
            "key": self.access,
            "secret": secret or self.secret,
            "endpoint_url": f"http://127.0.0.1:{port or self.port}",
            "client_kwargs": {"region_name": "us-east-1"},
            "config_kwargs": {"connect_timeout": 600, "read_timeout": 600},  # for a busy machine
        }


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # With fewer places, a busy machine refuses connections.


class Proxy:
    """A proxy that forwards requests, unless `refuse(number, method, path)` returns a status to answer with."""

    def __init__(self, port: int, refuse: Any):
        self.refused = 0
        lock = threading.Lock()
        count = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def any_method(self) -> None:
                nonlocal count
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length) if length else None
                if self.headers.get("Transfer-Encoding"):
                    raise NotImplementedError("chunked request")
                with lock:
                    count += 1
                    status = refuse(count, self.command, self.path)
                    outer.refused += status is not None
                if status is not None:
                    code = {503: "SlowDown", 500: "InternalError", 403: "AccessDenied"}[status]
                    text = f"<Error><Code>{code}</Code><Message>Please wait.</Message></Error>".encode()
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(text)))
                    self.send_header("Content-Type", "application/xml")
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(text)
                    return
                link = http.client.HTTPConnection("127.0.0.1", port)
                link.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    link.putheader(name, value)
                link.endheaders(body)
                reply = link.getresponse()
                data = reply.read()
                self.send_response(reply.status)
                for name, value in reply.getheaders():
                    if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                        self.send_header(name, value)
                length_there = reply.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
                self.send_header("Content-Length", length_there or "0")
                self.end_headers()
                self.wfile.write(data)
                link.close()

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = any_method

            def log_message(self, *_: Any) -> None: ...

        self.server = _Listener(("127.0.0.1", 0), Handler)
        self.port: int = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def proxy(port: int, refuse: Any) -> Iterator[Proxy]:
    one = Proxy(port, refuse)
    try:
        yield one
    finally:
        one.close()
