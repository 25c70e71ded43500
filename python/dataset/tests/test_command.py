"""The command `tress-dataset`."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tress_dataset
from conftest import KeyFixture
from dataset_support import S3Server, held, leftovers, make_tree, read_tree


def command(*arguments: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | more
    return subprocess.run(
        [sys.executable, "-m", "tress_dataset.command", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
    )


@pytest.fixture
def identity(tmp_path: Path, keys: KeyFixture) -> Path:
    path = tmp_path / "key.txt"
    path.write_text(f"# made for a test\n{keys.identity}\n")
    return path


def test_round_trip(tmp_path: Path, keys: KeyFixture, identity: Path) -> None:
    made = make_tree(tmp_path / "plain", {"a b": 10, "c/d": 70_000})
    (tmp_path / "recipients").write_text(f"# us\n{keys.recipient}\n")
    run = command(
        "encrypt", tmp_path / "plain", tmp_path / "sealed", "-R", tmp_path / "recipients", "--json", "--workers", 1
    )
    assert (run.returncode, run.stdout.count("\n")) == (0, 1), run.stderr
    summary = json.loads(run.stdout)
    assert (summary["objects"], summary["bytes"], summary["ok"]) == (2, 70_010, True)
    assert "2 objects" in run.stderr and "\r" not in run.stderr
    assert keys.read((tmp_path / "sealed" / "a b.tress").read_bytes()) == made["a b"]
    assert command("verify", tmp_path / "sealed", "-i", identity).returncode == 0
    assert command("verify", tmp_path / "sealed", "-i", identity, "--against", tmp_path / "plain").returncode == 0
    assert command("decrypt", tmp_path / "sealed", tmp_path / "back", "-i", identity).returncode == 0
    assert read_tree(tmp_path / "back") == made
    assert command("rewrap", tmp_path / "sealed", "-i", identity, "-r", keys.other_recipient).returncode == 0
    wrong = command("verify", tmp_path / "sealed", "-i", identity)
    assert wrong.returncode == 1 and "tress-dataset: error: a b" in wrong.stderr


def test_shards_of_a_job_array(tmp_path: Path, keys: KeyFixture, identity: Path) -> None:
    made = make_tree(tmp_path / "plain", {f"{n}": n for n in range(30)})
    counts = []
    for number in (1, 2, 3):
        run = command(
            "encrypt",
            tmp_path / "plain",
            tmp_path / "sealed",
            "-r",
            keys.recipient,
            "--shard",
            f"{number}/3",
            "--json",
            "--workers",
            1,
        )
        counts.append(json.loads(run.stdout)["objects"])
    assert sum(counts) == 30 and all(counts)
    assert command("decrypt", tmp_path / "sealed", tmp_path / "back", "-i", identity, "--workers", 1).returncode == 0
    assert read_tree(tmp_path / "back") == made


def test_keys_in_files(tmp_path: Path) -> None:
    made = make_tree(tmp_path / "plain", {"a": 10})
    (tmp_path / "raw").write_bytes(os.urandom(32))
    passphrase = "correct horse\rbattery stäple"  # not ASCII, and with what `read_text` replaces
    (tmp_path / "passphrase").write_bytes(f"{passphrase}\r\n".encode())
    (tmp_path / "same").write_bytes(passphrase.encode())
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for name, (seal, opens) in enumerate(
        (
            (("--key-file", "raw"), ("--key-file", "raw")),
            (("--passphrase-file", "passphrase"), ("--passphrase-file", "same")),
        )
    ):
        sealed, back = tmp_path / f"sealed{name}", tmp_path / f"back{name}"
        run = command("encrypt", tmp_path / "plain", sealed, seal[0], tmp_path / seal[1], **ascii_only)
        assert run.returncode == 0, run.stderr
        assert command("decrypt", sealed, back, opens[0], tmp_path / opens[1]).returncode == 0
        assert read_tree(back) == made
        assert "horse" not in "".join(path.read_text() for path in (sealed / ".tress-dataset").iterdir())
    assert tress_dataset.verify(sealed, tress_dataset.Secret(passphrase), workers=1).objects == 1


def test_wrong_use(tmp_path: Path, keys: KeyFixture, identity: Path) -> None:
    make_tree(tmp_path / "plain", {"a": 1})
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    for arguments in (
        (),
        ("nosuch",),
        ("encrypt", plain),
        ("encrypt", plain, sealed),
        ("encrypt", plain, sealed, "-r", "nonsense"),
        ("encrypt", plain, sealed, "-r", identity.read_text()),
        ("encrypt", plain, sealed, "-r", keys.recipient, "--shard", "4/3"),
        ("encrypt", plain, sealed, "-r", keys.recipient, "--workers", "0"),
        ("encrypt", plain, sealed, "-r", keys.recipient, "--attempts", "0"),
        ("encrypt", plain, plain, "-r", keys.recipient),
        ("encrypt", plain, "nosuch://x", "-r", keys.recipient),
        ("encrypt", plain, sealed, "--key-file", identity),
        ("encrypt", plain, sealed, "-r", keys.recipient, "--manifest-key", identity),
        ("encrypt", plain, sealed, "-r", keys.recipient, "--include", ""),
        ("decrypt", plain, sealed),
        ("decrypt", plain, sealed, "-i", tmp_path / "nowhere"),
        ("encrypt", plain, sealed, "-R", tmp_path / "nowhere"),
        ("encrypt", plain, sealed, "-r", keys.recipient, "--manifest-key", tmp_path / "nowhere"),
    ):
        run = command(*arguments)
        assert run.returncode == (1 if tmp_path / "nowhere" in arguments else 2), (arguments, run.stderr)
        assert run.stderr.startswith("tress-dataset: error: ") and run.stdout == "" and "Traceback" not in run.stderr
        assert keys.identity not in run.stderr
    assert not sealed.exists()


def test_failures_are_reported_with_names(tmp_path: Path, keys: KeyFixture) -> None:
    made = make_tree(tmp_path / "plain", {"good": 1, "bad\nname": 2})
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "bad\nname.tress").write_bytes(b"mine")
    listed = tmp_path / "failed.jsonl"
    arguments = ("encrypt", tmp_path / "plain", tmp_path / "sealed", "-r", keys.recipient, "--failed", listed)
    for mine in ["mine\n", "[1]\n", '{"name": "a"}\n', "\xff"]:
        listed.write_text(mine)
        run = command(*arguments)
        assert run.returncode == 2 and "failed.jsonl" in run.stderr and listed.read_text() == mine, run.stderr
    assert not (tmp_path / "sealed" / "good.tress").exists()
    listed.write_text("")
    for _ in range(2):  # the second run replaces the list of the first
        run = command(*arguments)
        assert run.returncode == 1 and "tress-dataset: error: bad\\nname: " in run.stderr and str(listed) in run.stderr
    assert [json.loads(line)["name"] for line in listed.read_text().splitlines()] == ["bad\nname"]
    assert keys.read((tmp_path / "sealed" / "good.tress").read_bytes()) == made["good"]
    # A run that failed as a whole knows nothing about these objects.
    old = listed.read_text()
    assert command("encrypt", tmp_path / "nowhere", *arguments[2:]).returncode == 1 and listed.read_text() == old
    unwritten = command(*arguments[:-1], tmp_path / "no" / "list")
    assert unwritten.returncode == 2 and "its folder does not exist" in unwritten.stderr
    (tmp_path / "sealed" / "bad\nname.tress").unlink()
    assert command(*arguments).returncode == 0 and listed.read_text() == ""
    nowhere = command("encrypt", tmp_path / "nowhere", tmp_path / "sealed", "-r", keys.recipient)
    assert (
        nowhere.returncode == 1 and nowhere.stderr.startswith("tress-dataset: error: ") and "nowhere" in nowhere.stderr
    )
    assert "Traceback" not in nowhere.stderr


def test_signals(tmp_path: Path, keys: KeyFixture) -> None:
    """The command dies by the signal and leaves no partial object, and its workers end."""
    make_tree(tmp_path / "plain", {f"{n}": 1000 for n in range(400)})
    arguments = ["encrypt", str(tmp_path / "plain"), str(tmp_path / "sealed"), "-r", keys.recipient, "--workers", "2"]
    script = f"""
import signal, sys
sys.path[:0] = {sys.path!r}
from functools import partial
from pathlib import Path
from dataset_support import Held
from tress_dataset import command
if __name__ == "__main__":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    command.encrypt = partial(command.encrypt, _codec=Held(Path({str(tmp_path / "fifo")!r}), 20))
    sys.exit(command.main({arguments!r}))
"""
    (tmp_path / "script.py").write_text(script)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        os.mkfifo(tmp_path / "fifo")
        run = subprocess.Popen([sys.executable, str(tmp_path / "script.py")], stderr=subprocess.PIPE, text=True)
        with held(tmp_path / "fifo"):
            run.send_signal(signal.SIGHUP)
            run.send_signal(number)
            _, errors = run.communicate()  # Returns when the workers have closed the pipe, too.
        (tmp_path / "fifo").unlink()  # A dying worker may still have it open.
        assert run.returncode == -number and "Traceback" not in errors
        if number != signal.SIGKILL:
            assert errors.count("tress-dataset: error: interrupted") == 1
            assert not leftovers(tmp_path)


def test_dry_run_writes_nothing(tmp_path: Path, keys: KeyFixture) -> None:
    make_tree(tmp_path / "plain", {"a": 1, "b\n": 2, "ü": 3})
    arguments = ("encrypt", tmp_path / "plain", tmp_path / "sealed", "-r", keys.recipient, "--dry-run")
    run = command(*arguments, "--json")
    assert run.returncode == 0 and json.loads(run.stdout)["objects"] == 3
    run = command(*arguments, PYTHONIOENCODING="ascii")
    assert run.returncode == 0 and sorted(run.stdout.splitlines()) == ["1\ta", "2\tb\\n", "3\t\\xfc"]
    assert run.stderr.startswith("encrypt: dry run, would process 3 objects, 6 bytes")
    with open("/dev/full", "w") as full:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        line = [sys.executable, "-m", "tress_dataset.command", *map(str, arguments)]
        assert subprocess.run(line, stdout=full, stderr=subprocess.PIPE, env=environment).returncode == 1
    assert not (tmp_path / "sealed").exists()


def test_selected_names(tmp_path: Path, keys: KeyFixture, identity: Path) -> None:
    """Patterns are of the names of plaintexts, for every command. Others are neither missing nor extra."""
    made = make_tree(tmp_path / "plain", {"a.jpg": 1, "d/b.jpg": 2, "d/c.txt": 3, "[x]": 4})
    plain, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    only = ("--include", "*.jpg", "--include", "[[]x]", "--exclude", "d/*")
    for arguments in (
        ("encrypt", plain, sealed, "-r", keys.recipient),
        ("verify", sealed, "-i", identity),
        ("verify", sealed, "-i", identity, "--against", plain),
        ("rewrap", sealed, "-i", identity, "-r", keys.recipient, "--force"),
        ("decrypt", sealed, back, "-i", identity),
    ):
        run = command(*arguments, *only, "--json", "--workers", 1)
        summary = json.loads(run.stdout)
        assert (run.returncode, summary["objects"]) == (0, 2), run.stderr
        suffix = "" if arguments[0] == "encrypt" else ".tress"
        assert {slow["name"] for slow in summary["slowest"]} == {"a.jpg" + suffix, "[x]" + suffix}
        assert all(slow["seconds"] > 0 for slow in summary["slowest"])
    assert read_tree(back) == {name: made[name] for name in ("a.jpg", "[x]")}
    run = command("encrypt", plain, sealed, "-r", keys.recipient, "--workers", 1, "--json")
    assert json.loads(run.stdout)["objects"] == 2 == json.loads(run.stdout)["skipped"]


def test_progress_on_a_terminal(tmp_path: Path, keys: KeyFixture) -> None:
    make_tree(tmp_path / "plain", {f"{n}": 100 for n in range(50)})
    outer, inner = pty.openpty()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    arguments = ["encrypt", str(tmp_path / "plain"), str(tmp_path / "sealed"), "-r", keys.recipient]
    run = subprocess.Popen([sys.executable, "-m", "tress_dataset.command", *arguments], stderr=inner, env=environment)
    os.close(inner)
    text = b""
    while True:
        try:
            piece = os.read(outer, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    assert run.wait() == 0
    assert b"\r" in text and b"objects" in text and b"/s" in text


def test_s3_by_the_environment(tmp_path: Path, keys: KeyFixture, identity: Path, server: S3Server) -> None:
    """Credentials come from the environment. A wrong one is reported, and not shown."""
    make_tree(tmp_path / "plain", {"a": 1, "b": 70_000})
    there = {
        "AWS_ACCESS_KEY_ID": server.access,
        "AWS_SECRET_ACCESS_KEY": server.secret,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    run = command("encrypt", tmp_path / "plain", "s3://bucket/s", "-r", keys.recipient, "--workers", 1, **there)
    assert run.returncode == 0, run.stderr
    assert command("verify", "s3://bucket/s", "-i", identity, "--workers", 1, **there).returncode == 0
    wrong = command(
        "encrypt",
        tmp_path / "plain",
        "s3://bucket/t",
        "-r",
        keys.recipient,
        **(there | {"AWS_SECRET_ACCESS_KEY": "nonsense"}),
    )
    assert wrong.returncode == 1 and wrong.stderr.startswith("tress-dataset: error: s3://bucket/t")
    assert "nonsense" not in wrong.stderr and "Traceback" not in wrong.stderr
