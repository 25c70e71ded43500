"""Crashing workers, other executors, and the cost of scheduling."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest
import tress_dataset as dataset
from conftest import KeyFixture
from dataset_support import Deadly, Plain, held, leftovers, make_tree, open_simulated, read_tree
from tress_dataset import Grouping, Incomplete
from tress_dataset.manifest import Journal
from tress_dataset.pool import Pool

SMALL = Grouping(objects=10, first=10)


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    """After one crash the run starts new processes and completes."""
    made = make_tree(tmp_path / "plain", {f"{n:03}": 50 for n in range(100)})
    (tmp_path / "plain" / "050").write_bytes(b"deadly")
    made["050"] = b"deadly"
    (tmp_path / "permits").mkdir()
    (tmp_path / "permits" / "1").touch()
    codec = Deadly(str(tmp_path / "permits"))
    summary = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", workers=2, grouping=SMALL, _codec=codec)
    assert (summary.objects, summary.failed) == (100, 0)
    assert list((tmp_path / "permits").iterdir()) == []
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", "x", workers=2, _codec=Plain())
    assert read_tree(tmp_path / "back") == made and not leftovers(tmp_path)


def test_workers_have_the_umask_and_the_environment_of_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of the first run, when the fork server started."""
    before = os.umask(0o022)
    try:
        for mask in (0o022, 0o077, 0o027):
            os.umask(mask)
            monkeypatch.setenv("TRESS_TEST", str(mask))
            workers = Pool(None, 1)
            assert workers.submit(os.getenv, "TRESS_TEST").result() == str(mask)
            assert workers.submit(os.umask, mask).result() == mask == os.umask(mask)
            workers.close()
    finally:
        os.umask(before)


def test_an_object_that_kills_every_worker_is_named_and_the_others_are_done(tmp_path: Path) -> None:
    make_tree(tmp_path / "plain", {f"{n:03}": 50 for n in range(100)})
    (tmp_path / "plain" / "050").write_bytes(b"deadly")
    (tmp_path / "permits").mkdir()
    for number in range(50):
        (tmp_path / "permits" / str(number)).touch()
    codec = Deadly(str(tmp_path / "permits"))
    how: dict[str, Any] = {"workers": 2, "check": False}
    summary = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", _codec=codec, **how)
    assert [(failure.name, failure.kind) for failure in summary.failures] == [("050", "worker")]
    assert (summary.failed, summary.objects) == (1, 99)
    again = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", _codec=Plain(), **how)
    assert again.ok and again.objects == 1 and not leftovers(tmp_path)
    assert dataset.verify(tmp_path / "sealed", "x", _codec=Plain(), workers=1).objects == 100


def test_workers_that_all_die(tmp_path: Path) -> None:
    """The run ends, and reports every object."""
    (tmp_path / "plain").mkdir()
    for n in range(40):
        (tmp_path / "plain" / f"{n:03}").write_bytes(b"deadly")
    (tmp_path / "permits").mkdir()
    for number in range(1000):
        (tmp_path / "permits" / str(number)).touch()
    codec = Deadly(str(tmp_path / "permits"))
    grouping = Grouping(objects=20, first=20)
    summary = dataset.encrypt(
        tmp_path / "plain", tmp_path / "sealed", "age1x", workers=2, grouping=grouping, check=False, _codec=codec
    )
    assert (summary.failed, summary.objects, set(summary.kinds)) == (40, 0, {"worker"}) and not leftovers(tmp_path)


def test_the_whole_run_is_killed(tmp_path: Path) -> None:
    """SIGKILL ends the driver and its workers in the middle, twice. The last run completes, without partial objects."""
    made = make_tree(tmp_path / "plain", {f"{n:03}": 3000 for n in range(300)})
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from dataset_support import Held
import tress_dataset as dataset
from tress_dataset import Grouping
if __name__ == "__main__":
    dataset.encrypt({str(tmp_path / "plain")!r}, {str(tmp_path / "sealed")!r}, "age1x", workers=2, concurrency=2,
                    grouping=Grouping(objects=20, first=20), _codec=Held(Path({str(tmp_path / "fifo")!r}), 30))
"""
    (tmp_path / "script.py").write_text(script)
    fifo = tmp_path / "fifo"
    done = 0
    for _ in range(2):
        os.mkfifo(fifo)
        command = [sys.executable, str(tmp_path / "script.py")]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        sealed = tmp_path / "sealed"
        with held(fifo):
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()  # Returns when the workers have closed the pipe, too.
        fifo.unlink()  # A dying worker may still have it open.
        there = {path.name: path.read_bytes() for path in sealed.glob("*.tress")}
        assert all(data == bytes(255 - b for b in made[name.removesuffix(".tress")]) for name, data in there.items())
        done = len(there)
    assert 0 < done < 300
    summary = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", workers=2, _codec=Plain())
    assert summary.objects + summary.skipped == 300 and summary.skipped >= done - 2 * 2 * (Journal.LINES + 2)
    dataset.decrypt(tmp_path / "sealed", tmp_path / "back", "x", workers=2, _codec=Plain())
    assert read_tree(tmp_path / "back") == made and not leftovers(tmp_path)


def test_ctrl_c(tmp_path: Path) -> None:
    """The driver dies by the signal soon, and leaves no partial object."""
    make_tree(tmp_path / "plain", {f"{n:03}": 3000 for n in range(400)})
    script = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # Under nohup it would be ignored.
sys.path[:0] = {sys.path!r}
from pathlib import Path
from dataset_support import Held
import tress_dataset as dataset
if __name__ == "__main__":
    dataset.encrypt({str(tmp_path / "plain")!r}, {str(tmp_path / "sealed")!r}, "age1x", workers=2, concurrency=1,
                    _codec=Held(Path({str(tmp_path / "fifo")!r}), 5))
"""
    (tmp_path / "script.py").write_text(script)
    os.mkfifo(tmp_path / "fifo")
    run = subprocess.Popen([sys.executable, str(tmp_path / "script.py")], stderr=subprocess.PIPE)
    with held(tmp_path / "fifo"):
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate()
    assert run.returncode == -signal.SIGINT and b"KeyboardInterrupt" in errors
    assert not leftovers(tmp_path)
    summary = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", workers=2, _codec=Plain())
    assert summary.skipped >= 5 and summary.objects + summary.skipped == 400


@pytest.mark.parametrize("kind", ["threads", "processes", "dask", "parsl"])
def test_any_executor(tmp_path: Path, keys: KeyFixture, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same with every executor, and the executor stays usable."""
    made = make_tree(tmp_path / "plain", {f"{n % 5}/{n:03}": n * 7 for n in range(100)})

    def run(executor: Any) -> None:
        how: dict[str, Any] = {"executor": executor, "workers": 2, "grouping": SMALL}
        assert dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, **how).objects == 100
        assert dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", keys.recipient, **how).skipped == 100
        assert dataset.decrypt(tmp_path / "sealed", tmp_path / "back", keys.identity, **how).objects == 100
        assert executor.submit(pow, 2, 5).result() == 32

    if kind == "threads":
        with ThreadPoolExecutor(2) as threads:
            run(threads)
    elif kind == "processes":
        import multiprocessing

        with ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as processes:
            run(processes)
    elif kind == "dask":
        distributed = pytest.importorskip("distributed", reason="no dask: NOT TESTED")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            run(client.get_executor(pure=False))
    else:
        pytest.importorskip("parsl", reason="no parsl: NOT TESTED")
        from parsl.concurrent import ParslPoolExecutor
        from parsl.config import Config
        from parsl.executors import HighThroughputExecutor
        from parsl.providers import LocalProvider

        # Parsl starts programs from the folder of the Python executable.
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        provider = LocalProvider(
            init_blocks=1, max_blocks=1, worker_init=f"export PYTHONPATH={':'.join(filter(None, sys.path))}"
        )
        workers = HighThroughputExecutor(
            label="here",
            address="127.0.0.1",
            max_workers_per_node=2,
            cores_per_worker=0.5,
            provider=provider,
            encrypted=False,
        )
        with ParslPoolExecutor(
            Config(executors=[workers], run_dir=str(tmp_path / "runinfo"), usage_tracking=0)
        ) as pool:
            run(pool)
    assert read_tree(tmp_path / "back") == made


def test_a_dask_worker_that_dies(tmp_path: Path) -> None:
    """Dask restarts the task, which continues the work of the first attempt."""
    distributed = pytest.importorskip("distributed", reason="no dask: NOT TESTED")
    make_tree(tmp_path / "plain", {f"{n:03}": 50 for n in range(100)})
    (tmp_path / "plain" / "050").write_bytes(b"deadly")
    (tmp_path / "permits").mkdir()
    (tmp_path / "permits" / "1").touch()
    codec = Deadly(str(tmp_path / "permits"))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        summary = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=executor, _codec=codec)
    assert (summary.objects, summary.failed) == (100, 0) and not list((tmp_path / "permits").iterdir())


def test_a_broken_executor_of_the_caller(tmp_path: Path) -> None:
    """The run cannot restart the caller's executor, so it fails with a hint. The next run continues."""
    import multiprocessing

    make_tree(tmp_path / "plain", {f"{n:03}": 50 for n in range(60)})
    (tmp_path / "plain" / "030").write_bytes(b"deadly")
    (tmp_path / "permits").mkdir()
    (tmp_path / "permits" / "1").touch()
    codec = Deadly(str(tmp_path / "permits"))
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("forkserver")) as processes,
        pytest.raises(Exception) as caught,
    ):
        dataset.encrypt(
            tmp_path / "plain", tmp_path / "sealed", "age1x", executor=processes, grouping=SMALL, _codec=codec
        )
    assert not isinstance(caught.value, Incomplete)
    again = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", workers=1, _codec=codec)
    assert again.objects + again.skipped == 60 and again.ok


def test_failures_of_many_objects_are_all_listed(tmp_path: Path) -> None:
    make_tree(tmp_path / "plain", {f"{n:03}": 50 for n in range(300)})
    (tmp_path / "sealed").mkdir()
    for number in range(300):
        (tmp_path / "sealed" / f"{number:03}.tress").write_bytes(b"mine")
    summary = dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", workers=2, _codec=Plain(), check=False)
    assert (summary.failed, len(summary.failures), summary.kinds) == (300, 20, {"exists": 300})
    assert summary.failed_list is not None
    listed = [json.loads(line)["name"] for line in Path(summary.failed_list).read_text().splitlines()]
    assert sorted(listed) == [f"{n:03}" for n in range(300)]


def resident_kib(field: str) -> int:
    """Returns a memory figure of this process from /proc, in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def sleeps(seconds: float, until: Event, mean: Connection[float, float]) -> None:
    """Sleeps repeatedly, and sends the mean duration of one sleep."""
    started, count = time.perf_counter(), 0
    while count == 0 or not until.is_set():
        time.sleep(seconds)
        count += 1
    mean.send((time.perf_counter() - started) / count)


def test_scheduling_costs_little(tmp_path: Path) -> None:
    """With objects that only wait, the run takes little longer than the waits, and the driver's memory does not grow.

    It has a million objects with TRESS_SOAK; else 10,000, which do not wait. Times are compared only on a
    quiet machine, with TRESS_QUIET. A wait takes longer than requested, so a process next to the run measures how long.
    """
    count, seconds = (1_000_000, 0.02) if os.environ.get("TRESS_SOAK") else (10_000, 0.0)
    concurrency, workers = 48, 2
    Path("/proc/self/clear_refs").write_text("5")  # Resets the peak, which other tests may have raised.
    before = resident_kib("VmHWM")
    forks = multiprocessing.get_context("spawn")
    until, (told, mean) = forks.Event(), forks.Pipe(duplex=False)
    beside = forks.Process(target=sleeps, args=(seconds, until, mean), daemon=True)
    beside.start()
    cpu = time.process_time()
    summary = dataset.encrypt(
        f"sim-source:{count}:{seconds}",
        f"sim-target:{seconds}:{tmp_path}",
        "age1x",
        workers=workers,
        concurrency=concurrency,
        _codec=Plain(),
        _opener=open_simulated,
    )
    cpu = time.process_time() - cpu
    until.set()
    asked, slept = (count * 2 * each / (workers * concurrency) for each in (seconds, told.recv()))
    used = resident_kib("VmHWM") - before
    print(
        f"\n{count} objects: {summary.seconds:.1f} s, waiting alone {slept:.1f} s ({asked:.1f} s asked for),"
        f" driver {cpu:.1f} s, {used / 1024:.0f} MB more than before"
    )
    assert summary.objects == count
    assert used < 200 * 1024
    if seconds and os.environ.get("TRESS_QUIET"):
        # Only the driver's CPU time counts, because the workers run in parallel.
        assert cpu < 0.05 * summary.seconds * os.cpu_count()  # type: ignore[operator]
        assert summary.seconds < 1.05 * slept


class Together(Plain):
    """Waits until eight objects are being encrypted at the same time."""

    def __init__(self) -> None:
        self.eight = threading.Barrier(8)

    def seal_whole(self, data: Any, name: str) -> bytes:
        self.eight.wait()
        return super().seal_whole(data, name)


def test_slow_objects_do_not_hold_others(tmp_path: Path) -> None:
    """A worker processes several objects at the same time."""
    make_tree(tmp_path / "plain", {f"{n:03}": 5 for n in range(40)})
    how: dict[str, Any] = {"concurrency": 20, "grouping": Grouping(objects=40, first=40), "_codec": Together()}
    with ThreadPoolExecutor(1) as executor:
        assert dataset.encrypt(tmp_path / "plain", tmp_path / "sealed", "age1x", executor=executor, **how).objects == 40
