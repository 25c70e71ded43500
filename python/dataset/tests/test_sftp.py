"""SFTP, with an OpenSSH server that the test starts."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import KeyFixture
from dataset_support import Plain, flip, free_port, leftovers, listens, make_tree, read_tree

pytest.importorskip("paramiko", reason="no paramiko: SFTP IS NOT TESTED")

import tress_dataset as dataset
from tress_dataset import Retry, names

QUICK = Retry(attempts=3, first=0.05, longest=0.2)


class SshServer:
    def __init__(self, folder: Path):
        program = shutil.which("sshd") or "/usr/sbin/sshd"
        if not os.path.exists(program):
            if os.environ.get("CI"):
                pytest.fail("no sshd: run tools/setup dataset")
            pytest.skip("no sshd: run tools/setup dataset; SFTP IS NOT TESTED")
        folder.mkdir()
        self.port = free_port()
        for name in ("host", "client"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
        (folder / "config").write_text(
            f"""Port {self.port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/client.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PidFile none
Subsystem sftp internal-sftp
"""
        )
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        (folder / ".ssh").mkdir()
        public = (folder / "host.pub").read_text().split()
        (folder / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {public[0]} {public[1]}\n")
        self.options: dict[str, Any] = {
            "port": self.port,
            "username": pwd.getpwuid(os.geteuid()).pw_name,
            "key_filename": str(folder / "client"),
            "look_for_keys": False,
            "allow_agent": False,
        }
        self.process = subprocess.Popen([program, "-D", "-f", str(folder / "config"), "-E", str(folder / "log")])
        if not listens(self.process, self.port):
            raise RuntimeError((folder / "log").read_text())


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    one = SshServer(tmp_path / "ssh")
    monkeypatch.setenv("HOME", str(tmp_path / "ssh"))
    yield one
    one.process.kill()
    one.process.wait()


def test_round_trip(tmp_path: Path, keys: KeyFixture, ssh: SshServer) -> None:
    sizes = {"a b/ü": 10, "100%": 5, "empty": 0, "line\nend": 3, "large": 9 << 20} | {f"n/{n}": 100 for n in range(30)}
    made = make_tree(tmp_path / "plain", sizes)
    url = f"sftp://127.0.0.1{tmp_path}/sealed"
    how: dict[str, Any] = {"target_options": ssh.options, "retry": QUICK}
    with ThreadPoolExecutor(1) as threads:
        assert (
            dataset.encrypt(tmp_path / "plain", url, keys.recipient, executor=threads, concurrency=3, **how).objects
            == 35
        )
        assert dataset.encrypt(tmp_path / "plain", url, keys.recipient, executor=threads, **how).skipped == 35
        assert dataset.verify(url, keys.identity, executor=threads, **how).objects == 35
        dataset.rewrap(url, keys.identity, keys.other_recipient, executor=threads, **how)
        dataset.decrypt(
            url, tmp_path / "back", keys.other_identity, executor=threads, source_options=ssh.options, retry=QUICK
        )
    assert read_tree(tmp_path / "back") == made and not leftovers(tmp_path)


@pytest.mark.parametrize("chain", ["", "simplecache::"])
def test_an_unknown_server_is_refused(tmp_path: Path, keys: KeyFixture, ssh: SshServer, chain: str) -> None:
    """The host key is missing in known_hosts, or differs."""
    make_tree(tmp_path / "plain", {"a": 1})
    known = tmp_path / "ssh" / ".ssh" / "known_hosts"
    other = (tmp_path / "ssh" / "client.pub").read_text().split()
    for text in ("", f"[127.0.0.1]:{ssh.port} {other[0]} {other[1]}\n"):
        known.write_text(text)
        with pytest.raises(PermissionError):
            dataset.encrypt(
                tmp_path / "plain",
                f"{chain}sftp://127.0.0.1{tmp_path}/sealed",
                keys.recipient,
                workers=1,
                target_options={"sftp": dict(ssh.options)} if chain else ssh.options,
            )
    assert not (tmp_path / "sealed").exists()


@pytest.mark.parametrize("name", ["a", "in/b*"])
def test_a_planted_temporary_file_is_not_written_to(
    tmp_path: Path, ssh: SshServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Not even by somebody who guesses its name, or has the file open. A link there is not followed."""
    made = make_tree(tmp_path / "plain", {name: 10})
    how: dict[str, Any] = {"target_options": ssh.options, "retry": QUICK, "check": False, "_codec": Plain()}
    plants: list[Callable[[Path], Any]] = [
        lambda path: path.write_bytes(b""),
        lambda path: path.symlink_to(tmp_path / "victim"),
    ]
    with ThreadPoolExecutor(1) as threads:
        for number, plant in enumerate(plants):
            sealed = tmp_path / f"sealed{number}"
            how |= {"executor": threads}
            with monkeypatch.context() as patch:
                patch.setattr(names, "token_hex", lambda count: "0" * 2 * count)
                part = sealed / names.random_name(f"{name}.tress")
                part.parent.mkdir(parents=True)
                plant(part)
                run = dataset.encrypt(tmp_path / "plain", f"sftp://127.0.0.1{sealed}", "age1x", **how)
                assert run.objects == 0
            assert part.read_bytes() == b"" if part.exists() else not (tmp_path / "victim").exists()
            part.unlink()
            assert dataset.encrypt(tmp_path / "plain", f"sftp://127.0.0.1{sealed}", "age1x", **how).ok
            assert read_tree(sealed) == {f"{name}.tress": flip(made[name])} and not leftovers(tmp_path)
