"""Kinds of faults that other programs have: sizes that lie, names that are patterns, sources that do not exist."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import pytest
import tress
import tress_dataset as dataset
from conftest import KeyFixture
from dataset_support import Plain, flip, leftovers, make_tree, read_tree
from tress_dataset import DatasetError, Retry, Summary, UsageError, names, pool
from tress_dataset.errors import BadName
from tress_dataset.names import Item, container_name, plain_name, random_name, random_prefix
from tress_dataset.stores import files, local, open_store, text_without_secrets, without_secrets

QUICK = Retry(attempts=6, first=0.001, longest=0.001)
HOW: dict[str, Any] = {"retry": QUICK, "check": False, "_codec": Plain()}


@pytest.fixture
def threads() -> Any:
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(autouse=True)
def _empty_memory() -> None:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


def found(summary: Summary) -> dict[str, str]:
    return {failure.name: failure.kind for failure in summary.failures}


# Sizes


@pytest.mark.parametrize("kind", ["local", "memory"])
@pytest.mark.parametrize(
    ("reported", "real"), [(0, 10), (4096, 10), (10, 4096), (9, 10), (5 << 20, 10), (10, 5 << 20), (5 << 20, 9 << 20)]
)
def test_sizes_that_lie(
    tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch, kind: str, reported: int, real: int
) -> None:
    """As in /proc and /sys: nothing is stored, nothing agrees, and a second attempt is the last."""
    source = "memory://plain" if kind == "memory" else str(tmp_path / "plain")
    (tmp_path / "plain").mkdir()
    fsspec.core.url_to_fs(source)[0].pipe(source.removeprefix("memory:/") + "/a", bytes(real))
    honest = dataset.encrypt(source, tmp_path / "sealed", "age1x", executor=threads, **HOW)
    assert honest.ok and read_tree(tmp_path / "sealed") == {"a.tress": flip(bytes(real))}
    of_file, of_info = local.describe, files.FilesStore._describe

    def lie(item: Item) -> Item:
        return item if "tress" in item.name else item._replace(size=reported)

    monkeypatch.setattr(local, "describe", lambda *one: lie(of_file(*one)))
    monkeypatch.setattr(files.FilesStore, "_describe", lambda *one: lie(of_info(*one)))
    run = dataset.encrypt(source, tmp_path / "new", "age1x", executor=threads, **HOW)
    assert (found(run), run.objects, run.retried) == ({"a": "changed"}, 0, 1)
    assert read_tree(tmp_path / "new") == {} and not leftovers(tmp_path)
    run = dataset.verify(tmp_path / "sealed", "x", against=source, executor=threads, **HOW)
    assert (found(run), run.retried) == ({"a.tress": "changed"}, 1)


def test_proc(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    """The system's own files with the size 0."""
    place = Path("/proc/sys/kernel/random")
    if not place.is_dir():
        pytest.skip("no /proc: files of the size 0 have not been tested")
    run = dataset.encrypt(place, tmp_path / "sealed", keys.recipient, executor=threads, retry=QUICK, check=False)
    assert found(run)["boot_id"] == "changed" and run.objects == 0


# Names


PATTERNS = ["*", "z*/x", "zz/x", "a*b/c?d/[e]", "aXb/cYd/e", "[ab]", "a", "b", "?", "[!a]", "{a,b}", "**", "x[", "]"]


def test_names_are_no_patterns(tmp_path: Path, threads: Any) -> None:
    """fsspec's `mv` and `rm` take such names as patterns. The decoys are names that these patterns match."""
    made = make_tree(tmp_path / "plain", {name: 10 + number for number, name in enumerate(PATTERNS)})
    memory = fsspec.filesystem("memory")
    for verb in ("new", "again"):
        run = dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", executor=threads, force=verb == "again", **HOW)
        assert (run.objects, run.failed) == (len(made), 0)
        stored = {path: memory.cat_file(path) for path in memory.find("/s") if "/.tress-dataset/" not in path}
        assert stored == {f"/s/{name}.tress": flip(data) for name, data in made.items()}
    assert dataset.decrypt("memory://s", tmp_path / "back", "x", executor=threads, **HOW).ok
    assert read_tree(tmp_path / "back") == made


@pytest.mark.parametrize("letter", ["y", "ü", "€", "\udcff"])
@pytest.mark.parametrize("length", [248, 249, 250, 255])
def test_long_names(tmp_path: Path, threads: Any, letter: str, length: int) -> None:
    """Linux allows 255 bytes, and `.tress` needs six of them."""
    width = len(names.encoded(letter))
    last = letter * (length // width) + "z" * (length % width)
    made = make_tree(tmp_path / "plain", {f"f.tress-long/{last}": 10, last: 20, "x": 5})
    target = tmp_path / "sealed"
    run = dataset.encrypt(tmp_path / "plain", target, "age1x", executor=threads, **HOW)
    assert found(run) == {} and len(read_tree(target)) == 3
    assert dataset.encrypt(tmp_path / "plain", target, "age1x", executor=threads, **HOW).skipped == 3
    assert dataset.verify(target, "x", against=tmp_path / "plain", executor=threads, **HOW).objects == 3
    for part in ("1/2", "2/2"):
        assert dataset.verify(target, "x", executor=threads, part=part, **HOW).ok
    assert dataset.decrypt(target, tmp_path / "back", "x", executor=threads, **HOW).ok
    assert read_tree(tmp_path / "back") == made


def test_names_of_containers_come_back() -> None:
    for longest in (255, None):
        for folder in ("", "a/", "a.tress-long/", "y" * 244 + ".tress-long/"):
            for length in (1, 5, 6, 249, 250, 255):
                try:
                    made = container_name(folder + "n" * length, longest)
                except BadName:
                    assert len(folder) > 240 and length >= 6  # Ambiguous.
                    continue
                assert plain_name(made) == folder + "n" * length
                assert longest is None or max(map(len, made.split("/"))) <= longest


@pytest.mark.parametrize("names_of", [("a", "a.tress/x"), ("a.tress/x", "a"), ("d/a", "d/a.tress/deep/x")])
@pytest.mark.parametrize("url", ["", "memory://"])
@pytest.mark.parametrize("force", [False, True])
def test_a_file_beside_a_folder_of_its_container_name(
    tmp_path: Path, threads: Any, names_of: tuple[str, str], url: str, force: bool
) -> None:
    """One of the two cannot be stored. The message says why, and not that force helps."""
    target = url + str(tmp_path / "sealed")
    for name in names_of:
        make_tree(tmp_path / "plain", {name: 10})
        run = dataset.encrypt(tmp_path / "plain", target, "age1x", executor=threads, force=force, **HOW)
    (failure,) = run.failures
    assert failure.kind == "exists" and "force" not in failure.message and "folder" in failure.message
    assert "a.tress" in failure.message


def test_verify_names_containers(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    """Every kind of finding has the name of the container, as a container that is missing or extra."""
    make_tree(tmp_path / "plain", {name: 100 for name in ("damaged", "gone", "moved", "other", "rewritten")})
    how: dict[str, Any] = {"executor": threads, "check": False}
    sealed = tmp_path / "sealed"
    dataset.encrypt(tmp_path / "plain", sealed, keys.recipient, **how)
    (sealed / "damaged.tress").write_bytes((sealed / "damaged.tress").read_bytes()[:-1])
    (sealed / "gone.tress").unlink()
    (sealed / "moved.tress").write_bytes((sealed / "other.tress").read_bytes())
    (sealed / "extra.tress").write_bytes((sealed / "other.tress").read_bytes())
    dataset.encrypt(tmp_path / "plain", tmp_path / "second", keys.recipient, **how)
    (sealed / "rewritten.tress").write_bytes((tmp_path / "second" / "rewritten.tress").read_bytes())
    kinds = {"moved.tress": "moved", "gone.tress": "missing", "extra.tress": "extra", "rewritten.tress": "differs"}
    run = found(dataset.verify(sealed, keys.identity, **how))
    assert run.pop("damaged.tress") not in kinds.values() and run == kinds


# Temporary files


def test_temporary_names_are_not_guessed(tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who guesses one gets no byte: the file is created exclusively."""
    make_tree(tmp_path / "plain", {"a": 10})
    assert random_name("a") != random_name("a") and names.ignored(random_name("a"))
    with monkeypatch.context() as patch:
        patch.setattr(names, "token_hex", lambda count: "0" * 2 * count)
        memory = fsspec.filesystem("memory")
        memory.pipe(f"/s/{random_name('a.tress')}", b"planted")
        run = dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", executor=threads, **HOW)
        assert run.objects == 0 and memory.cat_file(f"/s/{random_name('a.tress')}") == b"planted"
    assert dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", executor=threads, **HOW).ok


def test_temporary_files_of_dead_runs_are_removed(tmp_path: Path, threads: Any) -> None:
    """When the object is written again: those of the object, and no others."""
    make_tree(tmp_path / "plain", {"in/a": 10})
    memory = fsspec.filesystem("memory")
    dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", executor=threads, **HOW)
    left = [random_name("in/a.tress") for _ in range(3)]
    others = [random_name("in/b.tress"), random_name("a.tress")]
    assert all(name.startswith(random_prefix("in/a.tress")) for name in left)
    memory.pipe({f"/s/{name}": b"half" for name in [*left, *others]})
    dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", executor=threads, force=True, **HOW)
    assert sorted(path for path in memory.find("/s") if "part" in path) == sorted(f"/s/{name}" for name in others)


# Sources


@pytest.mark.parametrize(
    "source", ["nowhere", "plain/*", "plain/a", "memory://nowhere", "memory://plain/a", "memory://p*"]
)
def test_a_source_that_does_not_exist(tmp_path: Path, threads: Any, source: str) -> None:
    """It is an error of every command, and so is a pattern."""
    make_tree(tmp_path / "plain", {"a": 1})
    fsspec.filesystem("memory").pipe("/plain/a", b"1")
    place = source if "://" in source else str(tmp_path / source)
    calls: list[Callable[[], Summary]] = [
        lambda: dataset.encrypt(place, tmp_path / "x", "age1x", executor=threads, **HOW),
        lambda: dataset.decrypt(place, tmp_path / "x", "x", executor=threads, **HOW),
        lambda: dataset.verify(place, "x", executor=threads, **HOW),
        lambda: dataset.verify(tmp_path / "plain", "x", against=place, executor=threads, **HOW),
        lambda: dataset.rewrap(place, "x", "age1x", executor=threads, **HOW),
    ]
    for call in calls:
        with pytest.raises((FileNotFoundError, NotADirectoryError)):
            call()


@pytest.mark.parametrize("kind", ["zip", "tar", "tress-tree"])
@pytest.mark.parametrize("under", ["", "d"])
def test_an_archive_is_a_source(tmp_path: Path, keys: KeyFixture, threads: Any, kind: str, under: str) -> None:
    """Also all of it. Of two objects of one size, the one that has changed is encrypted again."""
    tree = tmp_path / "plain"
    (tmp_path / "key").write_text(keys.identity)
    options = {"identity": str(tmp_path / "key")} if kind == "tress-tree" else {}
    for number, seed, objects in ((0, 1, 2), (1, 2, 2), (2, 2, 0)):
        made = make_tree(tree, {"d/a": 10, "d/in/b": 20}, seed)
        for name in made:
            os.utime(tree / name, (10**9 + seed, 10**9 + seed))
        archive = tmp_path / f"{number}.{kind}"
        if kind == "tress-tree":
            tress.encrypt_file(tree, archive, keys.recipient)
        elif kind == "zip":
            with zipfile.ZipFile(archive, "w") as zipped:
                for name in made:
                    zipped.write(tree / name, name)
        else:
            with tarfile.open(archive, "w") as tar:
                for name in made:
                    tar.add(tree / name, name)
        run = dataset.encrypt(
            f"{kind}://{under}::{archive}",
            tmp_path / "sealed",
            "age1x",
            executor=threads,
            source_options=options,
            **HOW,
        )
        assert (found(run), run.objects, run.skipped) == ({}, objects, 2 - objects)
        start = f"{under}/" if under else ""
        sealed = {f"{name.removeprefix(start)}.tress": flip(data) for name, data in made.items()}
        assert read_tree(tmp_path / "sealed") == sealed


@pytest.mark.parametrize("field", ["modify", "modificationTime", "CRC", ""])
def test_a_change_without_another_size(
    tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    """A store may have another field for the version, or none: then each run encrypts all objects."""
    memory = fsspec.filesystem("memory")
    described = files.FilesStore._describe

    def renamed(store: files.FilesStore, name: str, info: dict[str, Any]) -> Item:
        return described(store, name, {"size": info["size"], field: info["created"]})

    monkeypatch.setattr(files.FilesStore, "_describe", renamed)
    for data, objects in ((b"1", 1), (b"2", 1), (b"", 0 if field else 1)):
        if data:
            memory.pipe("/plain/a", data)
        for target in ("memory://sealed", tmp_path / "sealed"):
            run = dataset.encrypt("memory://plain", target, "age1x", ignore_ctime=True, executor=threads, **HOW)
            assert (run.objects, run.failed, run.skipped) == (objects, 0, 1 - objects)
    assert memory.cat_file("/sealed/a.tress") == flip(b"2") == (tmp_path / "sealed" / "a.tress").read_bytes()
    make_tree(tmp_path / "plain", {"a": 1})
    for objects in (1, 0 if field else 1):
        run = dataset.encrypt(tmp_path / "plain", "memory://second", "age1x", executor=threads, **HOW)
        assert (run.objects, run.failed) == (objects, 0)


@pytest.mark.parametrize(("error", "failures"), [(PermissionError, {"in": "denied"}), (FileNotFoundError, {})])
def test_a_folder_that_cannot_be_listed(
    tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch, error: type[OSError], failures: dict[str, str]
) -> None:
    """Other objects are processed. A root that cannot be listed is an error of the run."""
    memory = fsspec.filesystem("memory")
    memory.pipe({"/plain/a": b"1", "/plain/in/b": b"2", "/plain/other/c": b"3"})
    listed = type(memory).ls

    def ls(fs: Any, path: str, *rest: Any, **more: Any) -> Any:
        if path == refused:
            raise error(path)
        return listed(fs, path, *rest, **more)

    monkeypatch.setattr(type(memory), "ls", ls)
    refused = "/plain/in"
    run = dataset.encrypt("memory://plain", tmp_path / "sealed", "age1x", executor=threads, **HOW)
    assert (found(run), run.objects) == (failures, 2)
    refused = "/plain"
    with pytest.raises(error):
        dataset.encrypt("memory://plain", tmp_path / "sealed", "age1x", executor=threads, **HOW)


# Targets


@pytest.mark.parametrize("again", [False, True])
def test_an_error_is_not_taken_for_a_free_name(
    tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """What no run wrote stays, also in the next run."""
    memory = fsspec.filesystem("memory")
    memory.pipe("/s/a.tress", b"mine")
    make_tree(tmp_path / "plain", {"a": 10})
    described = type(memory).info
    left = 3

    def info(fs: Any, path: str, **more: Any) -> Any:
        nonlocal left
        if path == "/s/a.tress" and (left := left - 1) >= 0:
            raise ConnectionResetError("once")
        return described(fs, path, **more)

    monkeypatch.setattr(type(memory), "info", info)
    monkeypatch.setattr(type(memory), "exists", fsspec.AbstractFileSystem.exists)
    how = HOW | {"retry": Retry(attempts=2 if again else 6, first=0.001, longest=0.001)}
    if again:
        run = dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", executor=threads, **how)
        assert found(run) == {"a": "io"}
    run = dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", executor=threads, **how)
    assert found(run) == {"a": "exists"} and memory.cat_file("/s/a.tress") == b"mine"


@pytest.mark.parametrize("fault", ["error", "size"])
@pytest.mark.parametrize("attempts", [1, 6])
def test_an_error_after_the_object_has_appeared(
    tmp_path: Path, threads: Any, monkeypatch: pytest.MonkeyPatch, fault: str, attempts: int
) -> None:
    """The object belongs to the run, so the next attempt or the next run replaces it."""
    made = make_tree(tmp_path / "plain", {"a": 10})
    stat = files.FilesStore.stat
    calls = 0

    def once(store: files.FilesStore, name: str) -> Item:
        nonlocal calls
        calls += name == "a.tress"
        item = stat(store, name)
        if name != "a.tress" or calls > 1:
            return item
        if fault == "error":
            raise ConnectionResetError("once")
        return item._replace(size=0)

    monkeypatch.setattr(files.FilesStore, "stat", once)
    how = HOW | {"retry": Retry(attempts=attempts, first=0.001, longest=0.001), "executor": threads}
    run = dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", **how)
    assert run.ok == (attempts > 1)
    run = dataset.encrypt(tmp_path / "plain", "memory://s", "age1x", **how)
    assert (run.objects, run.skipped, run.failed) == ((0, 1, 0) if attempts > 1 else (1, 0, 0))
    assert fsspec.filesystem("memory").cat_file("/s/a.tress") == flip(made["a"])


@pytest.mark.parametrize(
    ("source", "target"),
    [("memory://s", "memory:///s/sealed"), ("memory:///s/", "memory://s"), ("memory://", "memory:///x")],
)
def test_a_target_inside_its_source_by_another_address(threads: Any, source: str, target: str) -> None:
    fsspec.filesystem("memory").pipe("/s/a", b"1")
    with pytest.raises(UsageError, match="inside"):
        dataset.encrypt(source, target, "age1x", executor=threads, **HOW)
    assert dataset.encrypt("memory://s", "memory:///s2", "age1x", executor=threads, **HOW).ok


# Addresses


SECRET_URLS = [
    ("sftp://me:pw@host/a", "sftp://host/a"),
    ("simplecache::sftp://me:pw@host/a", "simplecache::sftp://host/a"),
    (
        "zip://in/side::simplecache::https://me:pw@host:8080/a.zip?token=pw#pw",
        "zip://in/side::simplecache::https://host:8080/a.zip",
    ),
    ("zip://a::https://me:pw@one/a::ftp://me:pw@two/b", "zip://a::https://one/a::ftp://two/b"),
    ("sftp://me:p/w@host/a", "sftp://host/a"),
    ("sftp://me:p@pw@host/a@b", "sftp://host/a@b"),
    ("sftp://me:p::w@host/a", "sftp://host/a"),
    ("sftp:/me:pw@host/a", "sftp:/host/a"),
    ("SFTP://pw@host", "SFTP://host"),
    ("https://[::1]:80/a?sig=pw", "https://[::1]:80/a"),
    ("s3://bucket/photos@2x/b:c", "s3://bucket/photos@2x/b:c"),
    ("./a@b::c", "./a@b::c"),
    ("photos", "photos"),
]


@pytest.mark.parametrize(("url", "shown"), SECRET_URLS)
def test_addresses_are_shown_without_secrets(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
    assert text_without_secrets(f"cannot open '{url}': refused", url) == f"cannot open '{shown}': refused"


@pytest.mark.parametrize("url", [url for url, shown in SECRET_URLS if url != shown])
@pytest.mark.parametrize("place", ["source", "target", "argument"])
def test_no_message_has_a_password(tmp_path: Path, url: str, place: str) -> None:
    """Through the command, for the addresses of the table with another password and no server."""
    secret = "hunter2hunter2"
    url = url.replace("pw", secret).replace("p/w", f"p/{secret}").replace("p::w", f"p::{secret}")
    url = url.replace("host", "host.invalid")
    (tmp_path / "plain").mkdir()
    addresses = {"source": [url, tmp_path / "x"], "target": [tmp_path / "plain", url]}.get(
        place, [tmp_path, tmp_path / "y", url]
    )
    run = command("encrypt", *addresses, "--key-file", os.devnull)
    run = run if place == "argument" else command("encrypt", *addresses, "-r", "age1x", "--attempts", 1, "--workers", 1)
    assert run.returncode in (1, 2) and secret not in run.stdout + run.stderr, run.stderr


# Output and processes


def command(*arguments: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    program = [sys.executable, "-m", "tress_dataset.command", *map(str, arguments)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | more
    return subprocess.run(program, env=environment, check=False, **pipes)


@pytest.mark.parametrize("output", ["full", "no reader", "closed"])
@pytest.mark.parametrize("what", ["--help", "--version", "encrypt --help", "json"])
def test_a_result_that_cannot_be_printed(tmp_path: Path, output: str, what: str) -> None:
    """Exit 1 and one line, also when everything else is done."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "key").write_bytes(bytes(16))
    run = ["encrypt", tmp_path / "plain", tmp_path / "x", "--key-file", tmp_path / "key", "--json"]
    arguments = run if what == "json" else what.split()
    printed = command(*arguments)
    assert printed.returncode == 0 and printed.stdout, printed.stderr
    if output == "closed":
        failed = command(*arguments, stdout=None, preexec_fn=lambda: os.close(1))
    elif output == "full":
        with open("/dev/full", "w") as full:
            failed = command(*arguments, stdout=full)
    else:
        reader, writer = os.pipe()
        os.close(reader)
        failed = command(*arguments, stdout=writer)
        os.close(writer)
    lines = [line for line in failed.stderr.splitlines() if not line.startswith("encrypt: ")]
    assert failed.returncode == 1 and len(lines) == 1 and lines[0].startswith("tress-dataset: error: standard output: ")


def test_standard_error_is_closed_or_full(tmp_path: Path) -> None:
    """Then nobody reads messages, and standard output has the result alone."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "key").write_bytes(bytes(16))
    arguments = ["encrypt", tmp_path / "plain", tmp_path / "x", "--key-file", tmp_path / "key", "--json"]
    with open("/dev/full", "w") as full:
        for more in ({"stderr": full}, {"stderr": None, "preexec_fn": lambda: os.close(2)}):
            run = command(*arguments, **more)
            assert run.returncode == 0 and run.stdout.count("\n") == 1 and run.stdout.startswith("{")


def test_no_semaphores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /dev/shm one worker works, and more are an error that says so."""

    def refuse(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(pool.Pool, "_make", refuse)
    make_tree(tmp_path / "plain", {"a": 1})
    with pytest.raises(DatasetError, match="/dev/shm"):
        dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", workers=2, **HOW)
    assert dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", workers=1, **HOW).objects == 1


def test_a_script_on_standard_input(tmp_path: Path) -> None:
    """`python - <<EOF`: the workers do not look for a file of this name."""
    make_tree(tmp_path / "plain", {"a": 1, "b": 2})
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from dataset_support import Plain
import tress_dataset as dataset
plain, sealed = {str(tmp_path / "plain")!r}, {str(tmp_path / "sealed")!r}
print(dataset.encrypt(plain, sealed, "age1x", workers=2, _codec=Plain()).objects)
"""
    run = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, check=False)
    assert (run.stdout, run.returncode) == ("2\n", 0), run.stderr


def test_identities_by_path(tmp_path: Path, keys: KeyFixture, threads: Any) -> None:
    """Any path object, as in `tress.open`."""

    class Somewhere:
        def __fspath__(self) -> str:
            return str(tmp_path / "key.txt")

    make_tree(tmp_path / "plain", {"a": 1})
    (tmp_path / "key.txt").write_text(keys.identity)
    how: dict[str, Any] = {"executor": threads}
    dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, **how)
    for identity in (Somewhere(), [Path(tmp_path / "key.txt"), keys.other_identity]):
        assert dataset.verify(tmp_path / "sealed", identity, **how).objects == 1
        dataset.rewrap(tmp_path / "sealed", identity, [keys.recipient], **how)
    with pytest.raises(UsageError):
        open_store("s3://me:secret@bucket/x", {})
