#!/usr/bin/env python3
"""`tress receive` with 500 clients, 450 of them silent, slow or hostile: files of the others arrive, memory and handles are bounded.

    tests/load/receive.py [--minutes 10] [--clients 500] [--honest 50] [--tress PROGRAM]

There are five kinds of hostile clients, a fifth each. They
- connect and send nothing, and connect again when they are closed;
- send a byte per second of a possible handshake;
- send random bytes, again and again;
- connect and close, together some thirty times a second;
- run `tress send` with accepted keys, and stop or are killed in the middle.
They use two hundred addresses of 127.0.0.0/8. Honest clients send files of 0 bytes to 4 MiB, one after the other, with three
tries each, since the receiver may close the oldest unauthenticated connections. Received files are compared. The program prints a
summary, and exits with status 1 after any error.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MEMORY_MB = 256
"""Limit on memory: far more than a receiver needs for 256 connections, and less than one more buffer for each hostile client."""


TRIES = 3
"""Runs of `tress send` for each file: a repeated command resumes. Failed tries are counted and printed."""


class Load:
    """One run."""

    def __init__(self, tress: str, folder: Path, clients: int, honest: int, seconds: float):
        self.tress, self.folder, self.seconds = tress, folder, seconds
        self.honest, self.hostile = honest, clients - honest
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.wrong: list[str] = []
        self.counts: dict[str, int] = {}
        self.slowest = 0.0

    def count(self, what: str, number: int = 1) -> None:
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def keygen(self, name: str) -> tuple[Path, str]:
        """An identity and its address."""
        path = self.folder / name
        subprocess.run([self.tress, "keygen", "-o", path], check=True, capture_output=True)
        shown = subprocess.run(
            [self.tress, "keygen", "--public", path], check=True, capture_output=True, text=True
        ).stdout
        return path, next(word for word in shown.split() if word.startswith("tress1"))

    def run(self) -> None:
        """Runs the clients, and checks the receiver."""
        secret, self.address = self.keygen("receiver.key")
        people = [self.keygen(f"sender-{number}.key") for number in range(10)]
        allow = self.folder / "allow.txt"
        allow.write_text("".join(f"{address}\n" for _, address in people))
        incoming = self.folder / "incoming"
        incoming.mkdir()
        line = [self.tress, "receive", "--listen", "127.0.0.1:0", "-i", secret, "--allow", allow, "-o", incoming]
        log = (self.folder / "receiver.log").open("w")
        receiver = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=log, text=True)
        threading.Thread(target=self.arrivals, args=(receiver,), daemon=True).start()
        self.port = self.wait_for_port(receiver)
        # One transfer first, for handles that a receiver opens once and keeps.
        warm = self.folder / "warm"
        warm.write_bytes(b"warm")
        if self.send(people[0][0], warm).wait(60) != 0:
            sys.exit("tests/load/receive.py: not even one file arrives")
        before = self.look(receiver)
        kinds = [self.silent, self.slow, self.noisy, self.brief, self.stopping]
        threads = [threading.Thread(target=self.again, args=(kinds[n % 5], n)) for n in range(self.hostile)]
        threads += [threading.Thread(target=self.sends, args=(n, people[n % 9][0])) for n in range(self.honest)]
        self.stopped_identity = people[9][0]
        for thread in threads:
            thread.start()
        peak = {"threads": 0, "handles": 0}
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and receiver.poll() is None:
            time.sleep(1)
            now = self.look(receiver)
            peak = {name: max(value, now[name]) for name, value in peak.items()}
        self.over.set()
        for thread in threads:
            thread.join()
        if receiver.poll() is not None:
            self.wrong.append(f"the receiver ended with {receiver.returncode}")
            return
        # Sessions of stopped senders end after 30 seconds of silence.
        for _ in range(60):
            after = self.look(receiver)
            if after["handles"] <= before["handles"] and after["threads"] <= before["threads"]:
                break
            time.sleep(1)
        else:
            self.wrong.append(f"handles and threads were {before}, and are {after}")
        receiver.send_signal(signal.SIGINT)
        receiver.wait(30)
        print(
            f"receiver: {after['peak_mb']} MB at most, {peak['threads']} threads, {peak['handles']} handles; then {after['handles']}"
        )
        if after["peak_mb"] > MEMORY_MB:
            self.wrong.append(f"{after['peak_mb']} MB, where {MEMORY_MB} are allowed")

    def wait_for_port(self, receiver: subprocess.Popen[str]) -> int:
        for _ in range(100):
            text = (self.folder / "receiver.log").read_text()
            for word in text.split():
                if word.startswith("127.0.0.1:"):
                    return int(word.rstrip(".,;").rpartition(":")[2])
            time.sleep(0.1)
        receiver.kill()
        sys.exit("tests/load/receive.py: the receiver says no port")

    def look(self, receiver: subprocess.Popen[str]) -> dict[str, int]:
        """Memory, threads and handles of the receiver."""
        process = Path(f"/proc/{receiver.pid}")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        return {
            "peak_mb": int(status["VmHWM"].split()[0]) // 1024,
            "threads": int(status["Threads"]),
            "handles": len(list((process / "fd").iterdir())),
        }

    def arrivals(self, receiver: subprocess.Popen[str]) -> None:
        """Counts the files that the receiver reports as complete."""
        assert receiver.stdout is not None
        for line in receiver.stdout:
            self.count("reported")

    # Honest clients

    def sends(self, number: int, identity: Path) -> None:
        """Sends files, one after the other."""
        rng = random.Random(number)
        turn = 0
        self.over.wait(rng.uniform(0, 15))
        while not self.over.is_set():
            turn += 1
            path = self.folder / f"file-{number}-{turn}"
            data = rng.randbytes(rng.choice([0, 1, 16_384, 100_000, 1 << 20, 4 << 20]))
            path.write_bytes(data)
            begin = time.monotonic()
            for attempt in range(TRIES):
                run = self.send(identity, path)
                try:
                    _, said = run.communicate(timeout=120)
                except subprocess.TimeoutExpired:
                    run.kill()
                    said = "it took two minutes"
                if run.returncode == 0:
                    break
                self.count(f"lost at try {attempt + 1}")
                time.sleep(rng.uniform(0.5, 2))
            spent = time.monotonic() - begin
            with self.lock:
                self.slowest = max(self.slowest, spent)
            if run.returncode != 0:
                self.count("failed")
                with self.lock:
                    self.wrong.append(f"{path.name}, {len(data)} bytes, after {spent:.1f} s: {said.strip()[-200:]}")
            else:
                self.count("sent")
                self.count("bytes", len(data))
                found = list((self.folder / "incoming").glob(f"*/{path.name}"))
                if len(found) != 1 or found[0].read_bytes() != data:
                    with self.lock:
                        self.wrong.append(f"{path.name}: arrived {len(found)} times, or is another")
                for one in found:
                    one.unlink()
            path.unlink()
            self.over.wait(rng.uniform(5, 20))

    def send(self, identity: Path, path: Path) -> subprocess.Popen[str]:
        line = [self.tress, "send", "--to", f"127.0.0.1:{self.port}", "-r", self.address, "-i", identity, path]
        return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    # Hostile clients

    def again(self, kind: object, number: int) -> None:
        rng = random.Random(1000 + number)
        while not self.over.is_set():
            try:
                kind(rng, f"127.1.{number % 200 // 50}.{number % 50 + 1}")  # type: ignore[operator]
            except OSError:
                pass
            self.over.wait(rng.uniform(0.01, 0.5))

    def connect(self, here: str) -> socket.socket:
        link = socket.socket()
        link.settimeout(1)
        link.bind((here, 0))
        link.connect(("127.0.0.1", self.port))
        self.count("hostile connections")
        return link

    def until_closed(self, link: socket.socket) -> None:
        while not self.over.is_set():
            try:
                if not link.recv(4096):
                    return
            except TimeoutError:
                continue

    def silent(self, _: random.Random, here: str) -> None:
        with self.connect(here) as link:
            self.until_closed(link)

    def slow(self, rng: random.Random, here: str) -> None:
        with self.connect(here) as link:
            while not self.over.wait(1):
                link.send(rng.randbytes(1))

    def noisy(self, rng: random.Random, here: str) -> None:
        with self.connect(here) as link:
            link.sendall(rng.randbytes(rng.choice([1, 47, 48, 96, 1000, 70_000])))
            self.until_closed(link)

    def brief(self, rng: random.Random, here: str) -> None:
        self.connect(here).close()
        self.over.wait(2)

    def stopping(self, rng: random.Random, _: str) -> None:
        """An accepted sender that stops in the middle of a file. Only a few run at a time, because they use processor time."""
        if rng.random() > 0.1:
            self.over.wait(20)
            return
        path = self.folder / f"stopped-{rng.randrange(1 << 40)}"
        path.write_bytes(bytes(8 << 20))
        run = self.send(self.stopped_identity, path)
        self.over.wait(rng.uniform(0, 0.5))
        run.send_signal(signal.SIGSTOP)
        self.count("stopped senders")
        self.over.wait(rng.uniform(0, 20))
        run.kill()
        run.communicate()
        path.unlink()


def main() -> None:
    """Parses the arguments, runs the test, prints a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--honest", type=int, default=50)
    parser.add_argument("--tress", default="target/release/tress")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    threading.stack_size(256 << 10)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="tress-load-", dir=memory) as folder:
        load = Load(os.path.abspath(given.tress), Path(folder), given.clients, given.honest, given.minutes * 60)
        load.run()
    counts = ", ".join(f"{count} {what}" for what, count in sorted(load.counts.items()))
    print(f"{given.minutes:g} minutes: {counts}; the slowest file took {load.slowest:.1f} s")
    for line in load.wrong[:20]:
        print(f"wrong: {line}")
    if load.wrong:
        sys.exit(f"tests/load/receive.py: {len(load.wrong)} things went wrong")


if __name__ == "__main__":
    main()
