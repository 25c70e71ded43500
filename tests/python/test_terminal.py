"""The command at its borders: closed and full streams, signals while a call blocks, prompts, key files of editors.

TRESS=target/release/tress target/venv/bin/python -m pytest -q tests/python/test_terminal.py
"""

import os
import pathlib
import pty
import select
import signal
import socket
import subprocess
import termios
import time

import pytest

TRESS = os.environ["TRESS"]
# Ends a hang only.
LIMIT_S = 900


def run(folder, *arguments, redirect="", **options):
    """Runs the command in a folder, through a shell that redirects its streams."""
    script = f'exec "$0" "$@" {redirect}'
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} | options
    return subprocess.run(["sh", "-c", script, TRESS, *arguments], cwd=folder, timeout=LIMIT_S, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an identity, which `recipient` makes, a signing key, a file, a container and a signature."""
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "in").write_bytes(b"text\n" * 40_000)
    for arguments in (
        ["keygen", "--dsa", "-o", "sign.pem"],
        ["encrypt", "-r", recipient(folder, "me.key"), "-o", "sealed", "in"],
        ["sign", "--key", "sign.pem", "in"],
    ):
        assert run(folder, *arguments).returncode == 0, arguments
    assert run(folder, "keygen", "--public", "sign.pem", redirect="> sign.pub").returncode == 0
    return folder


def recipient(folder, identity, line=0):
    if not (folder / identity).exists():
        assert run(folder, "keygen", "-o", identity).returncode == 0
    shown = subprocess.run([TRESS, "keygen", "--public", identity], cwd=folder, capture_output=True, check=True)
    return shown.stdout.split()[line].decode()


def failed(done):
    """Whether the command failed with one line (and at most a hint)."""
    lines = done.stderr.decode().splitlines()
    return done.returncode == 1 and lines[0].startswith("tress: error: ") and len(lines) <= 2


RAW = ["raw", "encrypt", "--cipher", "aes-128-ctr", "--key", "00" * 16, "--iv", "00" * 16]
WRITERS = [
    "encrypt -r RECIPIENT in",
    "decrypt -i me.key sealed",
    "keygen",
    "keygen --rsa 2048",
    "keygen --public me.key",
    "keygen --public sign.pem",
    "inspect sealed",
    "inspect --json sealed",
    "ciphers",
    "ciphers --json",
    "plan --size 1GB --compute-rate 1GB --link-rate 1GB",
    "completions bash",
    "man",
    "--help",
    "-h",
    "--version",
    "encrypt --help",
]
READERS = [
    "encrypt -r RECIPIENT -o out",
    "decrypt -i me.key -o out",
    "decrypt -i - -o out sealed",
    "encrypt -R - -o out in",
    "encrypt --passphrase-file - -o out in",
    "inspect -",
    "keygen --public -",
    "sign --key sign.pem -",
    "verify --key sign.pub --signature in.sig -",
]


def words(folder, line):
    return [recipient(folder, "me.key") if word == "RECIPIENT" else word for word in line.split()]


@pytest.mark.parametrize("line", [*WRITERS, "raw", "sign"])
@pytest.mark.parametrize("output", ["closed", "full", "pipe"])
def test_output_that_cannot_be_written(folder, line, output):
    arguments = {"raw": [*RAW, "in"], "sign": ["sign", "--key", "sign.pem", "-"]}.get(line) or words(folder, line)
    if output == "pipe":
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as writer, open(folder / "in", "rb") as data:
            done = run(folder, *arguments, stdin=data, stdout=writer)
    else:
        done = run(folder, *arguments, redirect={"closed": "< in >&-", "full": "< in > /dev/full"}[output])
    assert failed(done), (done.returncode, done.stderr)


@pytest.mark.parametrize("line", [*READERS, "raw"])
@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- 2>&- >&-"])
def test_closed_input(folder, line, closed):
    done = run(folder, *([*RAW, "-"] if line == "raw" else words(folder, line)), redirect=closed)
    assert done.returncode == 1 if "2>&-" in closed else failed(done), (done.returncode, done.stderr)
    assert not (folder / "out").exists()


def test_closed_standard_error(folder):
    assert run(folder, *words(folder, "encrypt -r RECIPIENT -f -o new in"), redirect="2>&-").returncode == 0


def wait_for_sleep(process):
    """Waits until the process handles signals and its main thread waits for something."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    asleep = 0
    while asleep < 5 and process.poll() is None:
        fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
        handles = int(fields["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1
        asleep = asleep + 1 if handles and fields["State"].startswith("S") else 0
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
@pytest.mark.parametrize(
    "line",
    [
        "encrypt -r RECIPIENT -o out fifo",
        "decrypt -i me.key -o out fifo",
        "encrypt -r RECIPIENT -o fifo in",
        "decrypt -i me.key -o fifo sealed",
        "decrypt -i fifo sealed",
        "raw encrypt --cipher aes-128-ecb --key 00000000000000000000000000000000 -o out fifo",
        "sign --key sign.pem -f in fifo",
        "verify --key sign.pub --signature fifo in",
        "rewrap -i me.key -r RECIPIENT fifo",
        "send --to ADDRESS -r RECEIVER -i me.key in",
    ],
)
def test_a_signal_ends_a_call_that_blocks(folder, line, number):
    (folder / "fifo").unlink(missing_ok=True)
    os.mkfifo(folder / "fifo")
    before = sorted(os.listdir(folder))
    arguments = words(folder, line)
    with socket.socket() as server:
        # A queue of connections that is full: a further one gets no answer.
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        names = {"ADDRESS": f"127.0.0.1:{server.getsockname()[1]}", "RECEIVER": recipient(folder, "me.key", 1)}
        arguments = [names.get(word, word) for word in arguments]
        process = subprocess.Popen([TRESS, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            wait_for_sleep(process)
            process.send_signal(number)
            # Connecting alone would give up after 10 s.
            process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
        for client in waiting:
            client.close()
    if line.startswith("rewrap"):
        assert process.returncode == 2
    else:
        assert process.returncode == -number
    assert sorted(os.listdir(folder)) == before


class Prompt:
    """The command on a new terminal."""

    def __init__(self, folder, arguments, data=None):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            if data is not None:
                os.dup2(data, 0)
            os.chdir(folder)
            os.execv(TRESS, [TRESS, *arguments])
        self.shown = b""

    def read_until(self, text):
        while text not in self.shown:
            assert select.select([self.terminal], [], [], LIMIT_S)[0], self.shown
            self.shown += os.read(self.terminal, 4096)
        self.shown = self.shown.split(text, 1)[1]

    def echo(self, on=None):
        modes = termios.tcgetattr(self.terminal)
        if on is not None:
            modes[3] |= termios.ECHO
            termios.tcsetattr(self.terminal, termios.TCSANOW, modes)
        return bool(modes[3] & termios.ECHO)


ENCRYPTED = [
    "encrypt -p -o out in",
    "decrypt -p -o out sealed",
    "rewrap -i me.key -p sealed",
    "sign --key locked.pem -p in",
]


@pytest.fixture(scope="module")
def prompts(folder):
    """The folder with keys that are encrypted, so that each command asks."""
    command = ["openssl", "pkcs8", "-topk8", "-in", "sign.pem", "-out", "locked.pem", "-passout", "pass:secret"]
    subprocess.run(command, cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("line", ENCRYPTED)
def test_a_prompt_after_a_stop(prompts, line):
    """A shell restores the terminal when a job stops; the job switches the echo off again when it continues."""
    prompt = Prompt(prompts, line.split())
    prompt.read_until(b"assphrase: ")
    assert not prompt.echo()
    prompt.echo(on=True)
    os.kill(prompt.pid, signal.SIGCONT)
    prompt.read_until(b"assphrase: ")
    assert not prompt.echo()
    os.write(prompt.terminal, b"\x03")
    assert os.waitpid(prompt.pid, 0)[1] == signal.SIGINT


@pytest.mark.parametrize("key", [b"\x03", b"\x1c"])
@pytest.mark.parametrize("line", ENCRYPTED)
def test_a_prompt_that_is_left_restores_the_echo(prompts, line, key):
    prompt = Prompt(prompts, line.split())
    prompt.read_until(b"assphrase: ")
    os.write(prompt.terminal, key)
    assert os.waitpid(prompt.pid, 0)[1] & 0x7F == {b"\x03": signal.SIGINT, b"\x1c": signal.SIGQUIT}[key]
    assert prompt.echo()


@pytest.mark.parametrize("command", ["send", "encrypt"])
def test_a_terminal_that_is_stopped_delays_no_end(folder, command):
    """It shows a progress line, which cannot be erased."""
    serving = ["receive", "--listen", "127.0.0.1:0", "--allow-any", "-i", "me.key", "-o", f"from-{command}"]
    receiver = subprocess.Popen([TRESS, *serving], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    to = receiver.stderr.readline().split()[-1].decode()
    arguments = {"send": ["--to", to, "-i", "me.key", "-"], "encrypt": ["-o", "of-a-stream"]}[command]
    reader, writer = os.pipe()
    started = Prompt(folder, [command, "-r", recipient(folder, "me.key", 1), *arguments], data=reader)
    os.write(writer, bytes(1 << 21))
    started.read_until(b"iB")
    slave = os.open(f"/proc/{started.pid}/fd/2", os.O_RDONLY | os.O_NOCTTY)
    termios.tcflow(slave, termios.TCOOFF)
    os.close(writer)
    assert os.waitpid(started.pid, 0)[1] == 0
    os.close(slave)
    receiver.kill()
    receiver.communicate()


MARK = b"\xef\xbb\xbf"
# The example of age's specification.
POST_QUANTUM = b"AGE-SECRET-KEY-PQ-1XX76JRALNLXDMEW0CRK45QMCCH4X06SE84UN3VPM33W6HWDX0H3SK3ZQFR"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda key: key.replace(b"\n", b" \n"), None),
        (lambda key: key.replace(b"\n", b"\t\r\n\r\n"), None),
        (lambda key: b"".join(b"  " + line + b"\n" for line in key.splitlines()), None),
        (lambda key: key.rstrip(b"\n"), None),
        (lambda key: POST_QUANTUM + b" \n" + key, None),
        (lambda key: MARK + key, b"line 1: begins with a byte order mark (BOM)"),
        (lambda key: b"# a\n" + MARK + key, b"line 2: begins with a byte order mark (BOM)"),
        (lambda key: key.decode().encode("utf-16"), b"line 1: is UTF-16"),
    ],
)
def test_all_commands_read_the_same_key_files(folder, change, fault):
    (folder / "changed").write_bytes(change((folder / "me.key").read_bytes()))
    (folder / "changed").chmod(0o600)
    public = recipient(folder, "me.key").encode() + b"\n"
    (folder / "others").write_bytes(change(public) if b"PQ" not in change(b"") else public)
    address = recipient(folder, "me.key", 1)
    for arguments in (
        ["keygen", "--public", "changed"],
        ["decrypt", "-i", "changed", "sealed"],
        ["encrypt", "-R", "others", "in"],
        ["send", "--to", "127.0.0.1:1", "-r", address, "-i", "changed", "in"],
    ):
        done = run(folder, *arguments)
        if fault is not None:
            assert fault in done.stderr and done.returncode == 2, (arguments, done.stderr)
        elif arguments[0] == "send":
            assert b"127.0.0.1:1: " in done.stderr, done.stderr
        else:
            assert done.returncode == 0, (arguments, done.stderr)


@pytest.mark.parametrize(("begin", "fault"), [(MARK, b"(BOM)"), (b"\xff\xfe", b"UTF-16"), (b"\xfe\xff", b"UTF-16")])
def test_a_passphrase_of_another_encoding(folder, begin, fault):
    (folder / "passphrase").write_bytes(begin + b"secret\r\n")
    done = run(folder, "encrypt", "--passphrase-file", "passphrase", "-o", "out", "in")
    assert done.returncode == 2 and fault in done.stderr and not (folder / "out").exists(), done.stderr


@pytest.mark.parametrize(
    "pem",
    [
        # RFC 1421, 4.6.1.1: the header says that the key is encrypted.
        b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
        b"DEK-Info: AES-128-CBC,00000000000000000000000000000000\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        b"-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
    ],
)
def test_an_ssh_key_in_old_pem(folder, pem):
    (folder / "old").write_bytes(pem)
    done = run(folder, "decrypt", "-i", "old", "sealed")
    assert done.returncode == 2 and b"\nhint: " in done.stderr and b"ssh-keygen -p -o" in done.stderr, done.stderr


@pytest.mark.parametrize("size", [256, 512, 8192])
def test_a_small_stack(size):
    """Without variables, which are on the stack, too. The parser alone needs 220 KiB in a debug build."""
    script = f'ulimit -s {size} && exec "$0" ciphers'
    done = subprocess.run(["sh", "-c", script, TRESS], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={})
    assert done.returncode == 0, (done.returncode, done.stderr)
