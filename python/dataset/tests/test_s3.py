"""S3, with real containers and a real server that the tests start, stop, throttle and disturb."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest
from conftest import KeyFixture
from dataset_support import Plain, S3Server, make_tree, proxy, read_tree

pytest.importorskip("s3fs", reason="no s3fs: NOTHING ABOUT S3 IS TESTED")

import tress_dataset as dataset
from tress_dataset import Grouping, Incomplete, Retry
from tress_dataset.errors import Changed, Exists
from tress_dataset.names import Item
from tress_dataset.stores import Replace
from tress_dataset.stores.s3 import S3Store

QUICK = Retry(attempts=4, first=0.02, longest=0.1)
NAMES = [
    "a b/ü ñ",
    "100%",
    "line\nend",
    "plus+and&amp;",
    "q?versionId=x#y",
    "*",
    "'quotes\"",
    "deep/" * 10 + "x",
    "tab\t.x",
]


@pytest.fixture
def threads() -> Any:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def store(server: S3Server, prefix: str = "", port: int | None = None) -> S3Store:
    return S3Store(f"s3://bucket/{prefix}", server.options(port))


def uploads(server: S3Server) -> list[Any]:
    """Returns incomplete uploads."""
    return list(store(server).call("list_multipart_uploads").get("Uploads") or ())


def test_round_trip(tmp_path: Path, keys: KeyFixture, server: S3Server) -> None:
    """Unusual names in processes; empty objects, and objects of one request, of several parts, and above 100 MiB."""
    sizes = {name: 10 + n for n, name in enumerate(NAMES)} | {
        "empty": 0,
        "n/some": 9 << 20,
        "n/parts": 25 << 20,
        "n/large": 101 << 20,
    }
    made = make_tree(tmp_path / "plain", sizes)
    there: dict[str, Any] = {"target_options": server.options()}
    summary = dataset.encrypt(
        tmp_path / "plain", "s3://bucket/sealed", keys.recipient, workers=2, concurrency=4, **there
    )
    assert (summary.objects, summary.bytes) == (len(sizes), sum(sizes.values()))
    assert dataset.encrypt(tmp_path / "plain", "s3://bucket/sealed", keys.recipient, workers=2, **there).skipped == len(
        sizes
    )
    found = store(server, "sealed")
    for name in ("100%", "line\nend", "n/some"):
        with found.read(found.stat(name + ".tress")) as reading:
            assert keys.read(b"".join(reading.blocks())) == made[name]
            assert reading.about["tress-plaintext-bytes"] == str(sizes[name])
    assert dataset.verify("s3://bucket/sealed", keys.identity, workers=2, **there).objects == len(sizes)
    assert uploads(server) == []
    # From S3 to S3, and from S3 to a folder.
    both = {"source_options": server.options(), **there}
    dataset.decrypt("s3://bucket/sealed", "s3://bucket/plain", keys.identity, workers=2, **both)
    dataset.decrypt("s3://bucket/sealed", tmp_path / "back", keys.identity, workers=2, source_options=server.options())
    assert read_tree(tmp_path / "back") == made
    plain = store(server, "plain")
    for name in NAMES:
        with plain.read(plain.stat(name)) as reading:
            assert b"".join(reading.blocks()) == made[name]


def test_rewrap_copies_the_payload_in_the_store(
    tmp_path: Path, keys: KeyFixture, server: S3Server, threads: Any
) -> None:
    sizes = {"small": 100, "five": (5 << 20) - 16384, "large": 30 << 20, "edge": 5 << 20}
    made = make_tree(tmp_path / "plain", sizes)
    there: dict[str, Any] = {"target_options": server.options(), "executor": threads}
    dataset.encrypt(tmp_path / "plain", "s3://bucket/sealed", keys.recipient, **there)
    sent = 0
    lock = threading.Lock()

    def count(number: int, method: str, path: str) -> None:
        nonlocal sent
        with lock:
            sent += method == "PUT" and "partNumber" in path

    with proxy(server.port, count) as between:
        options = server.options(between.port)
        first = dataset.rewrap(
            "s3://bucket/sealed",
            keys.identity,
            keys.other_recipient,
            executor=threads,
            target_options=options,
            retry=QUICK,
        )
    assert first.objects == 4 and sent == 4, "large and edge: a part and a copy each"
    assert dataset.rewrap("s3://bucket/sealed", keys.identity, keys.other_recipient, **there).skipped == 4
    assert dataset.verify("s3://bucket/sealed", keys.other_identity, **there).objects == 4
    assert dataset.encrypt(tmp_path / "plain", "s3://bucket/sealed", keys.recipient, **there).skipped == 4
    found = store(server, "sealed")
    assert found.call("head_object", Key="sealed/large.tress")["Metadata"]["tress-plaintext-bytes"] == str(30 << 20)
    dataset.decrypt(
        "s3://bucket/sealed", tmp_path / "back", keys.other_identity, source_options=server.options(), executor=threads
    )
    assert read_tree(tmp_path / "back") == made
    with pytest.raises(Incomplete):
        dataset.verify("s3://bucket/sealed", keys.identity, **there)
    assert uploads(server) == []


def test_throttling_is_waited_for(tmp_path: Path, keys: KeyFixture, server: S3Server) -> None:
    """A third of the requests that write or read is refused. All are done, and the summary counts the retries."""
    made = make_tree(tmp_path / "plain", {f"{n:02}": 1000 for n in range(40)} | {"large": 40 << 20})
    chance = random.Random(5)

    def refuse(number: int, method: str, path: str) -> int | None:
        return 503 if method != "DELETE" and chance.random() < 0.33 else None

    with proxy(server.port, refuse) as between:
        there: dict[str, Any] = {
            "target_options": server.options(between.port),
            "retry": Retry(first=0.01, longest=0.05),
        }
        with ThreadPoolExecutor(2) as threads:
            summary = dataset.encrypt(
                tmp_path / "plain", "s3://bucket/s", keys.recipient, executor=threads, check=False, **there
            )
        assert between.refused > 10
    assert summary.ok, summary.failures
    assert summary.objects == 41 and summary.retried > 0
    dataset.decrypt("s3://bucket/s", tmp_path / "back", keys.identity, source_options=server.options(), workers=1)
    assert read_tree(tmp_path / "back") == made and uploads(server) == []


def test_one_object_that_always_fails_is_named(tmp_path: Path, server: S3Server, threads: Any) -> None:
    make_tree(tmp_path / "plain", {f"{n:02}": 100 for n in range(30)})
    with proxy(
        server.port, lambda number, method, path: 500 if method == "PUT" and "/17.tress" in path else None
    ) as between:
        there: dict[str, Any] = {"target_options": server.options(between.port), "executor": threads, "_codec": Plain()}
        with pytest.raises(Incomplete) as caught:
            dataset.encrypt(tmp_path / "plain", "s3://bucket/s", "age1x", retry=QUICK, **there)
    summary = caught.value.summary
    assert [(failure.name, failure.attempts) for failure in summary.failures] == [("17", 4)]
    assert (summary.objects, summary.retried) == (29, 3)
    assert summary.failed_list is not None and summary.failed_list.startswith("s3://bucket/s/.tress-dataset/failed-")
    again = dataset.encrypt(
        tmp_path / "plain", "s3://bucket/s", "age1x", target_options=server.options(), executor=threads, _codec=Plain()
    )
    assert (again.objects, again.skipped) == (1, 29)


def test_an_answer_that_is_lost(tmp_path: Path, server: S3Server) -> None:
    """The object is written but the answer is lost. The next attempt finds the object and recognises it."""
    make_tree(tmp_path / "plain", {"a": 100})
    at = store(server)
    about = {"tress-run": "this"}
    for _ in range(2):
        with at.write("x", 3, about, Replace.NEVER) as out:
            out.write(b"abc")
            out.commit()
    with at.write("x", 3, {"tress-run": "other"}, Replace.NEVER) as out, pytest.raises(Exists):
        out.write(b"abc")
        out.commit()
    at.put("foreign", b"precious")
    for replace in (Replace.NEVER, Replace.OURS):
        with at.write("foreign", 3, about, replace) as out, pytest.raises(Exists):
            out.write(b"abc")
            out.commit()
        with at.write("foreign", 30 << 20, about, replace) as out, pytest.raises(Exists):
            out.write(bytes(30 << 20))
            out.commit()
    assert b"".join(at.get("foreign")) == b"precious" and uploads(server) == []


class NewHeads:
    """Gives objects that begin with `old!` another beginning."""

    def new_head(self, start: bytes) -> tuple[int, bytes]:
        assert start.startswith(b"old!")
        return 4, os.urandom(8)


@pytest.mark.parametrize("case", ["lost", "other", 412, 501])
@pytest.mark.parametrize("size", [100, 30 << 20])
def test_rewrap_replaces_what_it_read(
    server: S3Server, monkeypatch: pytest.MonkeyPatch, size: int, case: str | int
) -> None:
    """An answer may be lost, another program may replace the object. Some stores take tags without quotes, or none."""
    at = store(server)
    real, place = at.fs._call_s3, {"Bucket": at.bucket, "Key": at.key("x")}

    async def call(method: str, **arguments: Any) -> Any:
        if method not in ("put_object", "complete_multipart_upload") or "IfMatch" not in arguments:
            return await real(method, **arguments)
        if isinstance(case, int):
            if case == 501 or '"' in arguments["IfMatch"]:
                error = OSError("refused")
                error.response = {"ResponseMetadata": {"HTTPStatusCode": case}}  # type: ignore[attr-defined]
                raise error
            del arguments["IfMatch"]
        if case == "other":
            await real("put_object", **place, Body=b"other")
        reply = await real(method, **arguments)
        if case == "lost":
            raise ConnectionError("lost")
        return reply

    at.put("x", b"old!" + bytes(size))
    listed = at.stat("x")
    monkeypatch.setattr(at.fs, "_call_s3", call)
    if case == "other":
        with pytest.raises(Changed):
            at.rewrap(listed, cast(Any, NewHeads()))
        assert b"".join(at.get("x")) == b"other"
    else:
        assert at.rewrap(listed, cast(Any, NewHeads())) == (listed, at.stat("x"))
        assert b"".join(at.get("x"))[8:] == bytes(size) and at.stat("x").size == 8 + size
    assert uploads(server) == []


@pytest.mark.parametrize("size", [10, 30 << 20])
def test_an_object_that_changes_while_it_is_read(server: S3Server, size: int) -> None:
    at = store(server)
    at.put("x", bytes(size))
    listed = at.stat("x")
    at.put("x", b"y" * size)
    with at.read(listed) as reading:
        assert b"".join(reading.blocks()) == b"y" * size, "the listing was old; this is one version"
        assert reading.item == at.stat("x") != listed
    if size > 10:
        with at.read(at.stat("x")) as reading, pytest.raises(Changed):
            blocks = reading.blocks()
            next(blocks)
            at.put("x", b"z" * size)
            list(blocks)
    at.remove("x")
    with pytest.raises(FileNotFoundError), at.read(listed) as reading:
        list(reading.blocks())


def test_an_upload_that_is_given_up_leaves_nothing(server: S3Server) -> None:
    at = store(server)
    with pytest.raises(KeyError), at.write("x", 30 << 20, {}, Replace.NEVER) as out:
        out.write(bytes(20 << 20))
        raise KeyError
    assert uploads(server) == [] and list(at.items()) == []
    # The next process that writes the object removes an upload of a killed process.
    at.call("create_multipart_upload", Key="x")
    at.call("create_multipart_upload", Key="xyz")
    with at.write("x", 30 << 20, {"tress-run": "r"}, Replace.OURS) as out:
        out.write(bytes(30 << 20))
        assert out.commit().size == 30 << 20
    assert [upload["Key"] for upload in uploads(server)] == ["xyz"]


def test_the_server_stops_and_starts(tmp_path: Path, keys: KeyFixture, server: S3Server) -> None:
    """The server restarts during a run. The run waits and continues, and nothing is lost."""
    made = make_tree(tmp_path / "plain", {f"{n:03}": 20_000 for n in range(150)} | {"large": 60 << 20})

    def interrupt(number: int, method: str, path: str) -> None:
        """Stops the server at one request, which also breaks the requests in flight, and starts it at a later one."""
        if number == 60:
            server.stop()
        elif number == 70:
            server.start()

    with proxy(server.port, interrupt) as between:
        summary = dataset.encrypt(
            tmp_path / "plain",
            "s3://bucket/s",
            keys.recipient,
            workers=2,
            concurrency=4,
            target_options=server.options(between.port),
            check=False,
        )
    assert summary.ok, summary.failures
    assert summary.objects == 151 and summary.retried > 0
    dataset.decrypt("s3://bucket/s", tmp_path / "back", keys.identity, source_options=server.options(), workers=2)
    assert read_tree(tmp_path / "back") == made


def test_the_server_stays_away(tmp_path: Path, keys: KeyFixture, server: S3Server, threads: Any) -> None:
    """Each object is reported, and the next run processes them."""
    made = make_tree(tmp_path / "plain", {f"{n:03}": 2000 for n in range(50)})
    down = threading.Event()

    def refuse(number: int, method: str, path: str) -> int | None:
        if number > 40:
            down.set()
        return 500 if down.is_set() else None

    with proxy(server.port, refuse) as between:
        there: dict[str, Any] = {"target_options": server.options(between.port), "executor": threads, "retry": QUICK}
        with pytest.raises((Incomplete, OSError)):
            dataset.encrypt(tmp_path / "plain", "s3://bucket/s", keys.recipient, **there)
    there["target_options"] = server.options()
    again = dataset.encrypt(tmp_path / "plain", "s3://bucket/s", keys.recipient, **there)
    assert again.ok and again.objects + again.skipped == 50
    dataset.decrypt(
        "s3://bucket/s", tmp_path / "back", keys.identity, source_options=server.options(), executor=threads
    )
    assert read_tree(tmp_path / "back") == made


def test_wrong_credentials_end_the_run_at_once(tmp_path: Path, keys: KeyFixture, server: S3Server) -> None:
    make_tree(tmp_path / "plain", {f"{n}": 100 for n in range(100)})
    asked = 0

    def count(number: int, method: str, path: str) -> None:
        nonlocal asked
        asked = number

    with proxy(server.port, count) as between, pytest.raises(PermissionError) as caught:
        dataset.encrypt(
            tmp_path / "plain",
            "s3://bucket/s",
            keys.recipient,
            target_options=server.options(between.port, secret="wrong"),
            workers=1,
        )
    assert 0 < asked < 5 and "wrong" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        dataset.encrypt(tmp_path / "plain", "s3://nosuch/s", keys.recipient, target_options=server.options(), workers=1)


@pytest.mark.parametrize("source", ["s3://nosuch", "s3://nosuch/a", "s3://bucket/nosuch", "s3://bucket/a/b"])
def test_a_source_that_does_not_exist(tmp_path: Path, server: S3Server, threads: Any, source: str) -> None:
    """A bucket, a prefix, and an object as a prefix. The error has the source's address."""
    store(server, "a").put("b", b"1")
    how: dict[str, Any] = {"executor": threads, "_codec": Plain()}
    calls: tuple[Callable[[], object], ...] = (
        lambda: dataset.encrypt(source, tmp_path / "x", "age1x", source_options=server.options(), **how),
        lambda: dataset.decrypt(source, tmp_path / "x", "x", source_options=server.options(), **how),
        lambda: dataset.verify(source, "x", target_options=server.options(), **how),
        lambda: dataset.rewrap(source, "x", "age1x", target_options=server.options(), **how),
        lambda: dataset.verify(tmp_path, "x", against=source, source_options=server.options(), **how),
    )
    for call in calls:
        with pytest.raises(FileNotFoundError) as caught:
            call()
        assert source in str(getattr(caught.value, "place", source))


def test_refused_objects_are_not_tried_again(tmp_path: Path, server: S3Server, threads: Any) -> None:
    make_tree(tmp_path / "plain", {f"{n}": 100 for n in range(5)})
    with proxy(
        server.port, lambda number, method, path: 403 if method == "PUT" and "/3.tress" in path else None
    ) as between:
        with pytest.raises(Incomplete) as caught:
            dataset.encrypt(
                tmp_path / "plain",
                "s3://bucket/s",
                "age1x",
                target_options=server.options(between.port),
                executor=threads,
                _codec=Plain(),
            )
        assert between.refused == 1
    assert [(f.name, f.kind, f.attempts) for f in caught.value.summary.failures] == [("3", "denied", 1)]


def test_damage_in_the_store(tmp_path: Path, keys: KeyFixture, server: S3Server, threads: Any) -> None:
    make_tree(tmp_path / "plain", {f"{n}": 20_000 for n in range(5)})
    there: dict[str, Any] = {"target_options": server.options(), "executor": threads}
    dataset.encrypt(tmp_path / "plain", "s3://bucket/s", keys.recipient, **there)
    at = store(server, "s")
    data = bytearray(b"".join(at.get("2.tress")))
    data[-100] ^= 4
    at.put("2.tress", bytes(data))
    at.remove("4.tress")
    with pytest.raises(Incomplete) as caught:
        dataset.verify("s3://bucket/s", keys.identity, **there)
    assert sorted(failure.name for failure in caught.value.summary.failures) == ["2.tress", "4.tress"]
    again = dataset.encrypt(tmp_path / "plain", "s3://bucket/s", keys.recipient, **there)
    assert (again.objects, again.skipped) == (2, 3)
    assert dataset.verify("s3://bucket/s", keys.identity, **there).ok


def test_names_that_escape(tmp_path: Path, keys: KeyFixture, server: S3Server) -> None:
    """A bucket may have any keys; none leads out of the target folder."""

    class Lying(S3Store):
        def items(self) -> Any:
            for name in ("../x.tress", "/etc/x.tress", "a//x.tress", "a/../../x.tress", ".tress", "plain"):
                yield Item(name, 5, "t")
            yield from super().items()

    at = store(server, "s")
    at.put("good.tress", bytes(255 - b for b in b"good"))
    (tmp_path / "back").mkdir()

    def opener(url: str, options: Any) -> Any:
        from tress_dataset.stores import open_store

        return Lying(url, options) if url.startswith("s3") else open_store(url, options)

    with ThreadPoolExecutor(1) as threads, pytest.raises(Incomplete) as caught:
        dataset.decrypt(
            "s3://bucket/s",
            tmp_path / "back",
            "x",
            source_options=server.options(),
            executor=threads,
            _codec=Plain(),
            _opener=opener,
        )
    assert caught.value.summary.kinds == {"name": 6}
    assert read_tree(tmp_path / "back") == {"good": b"good"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "s3"]


def test_a_killed_run_continues(tmp_path: Path, keys: KeyFixture, server: S3Server) -> None:
    """SIGKILL ends the driver and its workers while they process large and small objects."""
    made = make_tree(
        tmp_path / "plain", {f"{n:03}": 10_000 for n in range(200)} | {f"large{n}": 40 << 20 for n in range(3)}
    )

    def kill(number: int, method: str, path: str) -> None:
        if number == 200:
            os.killpg(run.pid, signal.SIGKILL)

    with proxy(server.port, kill) as between:
        script = f"""
import sys
sys.path[:0] = {sys.path!r}
import tress_dataset as dataset
from tress_dataset import Grouping
if __name__ == "__main__":
    dataset.encrypt({str(tmp_path / "plain")!r}, "s3://bucket/s", {keys.recipient!r}, workers=2, concurrency=2,
                    grouping=Grouping(objects=20, first=20), target_options={server.options(between.port)!r})
"""
        (tmp_path / "script.py").write_text(script)
        run = subprocess.Popen([sys.executable, str(tmp_path / "script.py")], start_new_session=True)
        assert run.wait() == -signal.SIGKILL
    assert 0 < len(list(store(server, "s").items())) < 203
    how: dict[str, Any] = {"workers": 2, "grouping": Grouping(objects=20, first=20), "target_options": server.options()}
    summary = dataset.encrypt(tmp_path / "plain", "s3://bucket/s", keys.recipient, check=False, **how)
    assert summary.ok, summary.failures
    assert summary.objects + summary.skipped == 203
    dataset.decrypt("s3://bucket/s", tmp_path / "back", keys.identity, source_options=server.options(), workers=2)
    assert read_tree(tmp_path / "back") == made
