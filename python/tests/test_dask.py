"""Sweeps on Dask: the same folder, whoever dies on the way."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from conftest import PROGRAM, SWEEP

import trunkline
from trunkline import _dask

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = [
    # A slow machine takes long to start a worker.
    pytest.mark.filterwarnings("ignore:the Dask cluster has had no worker"),
]

#: A worker whose process ends on one run, as one that takes too much memory does.
DEADLY = """
import json, os, tomllib
from trunkline import _dask, _trunkline
whole = _trunkline.make_run
def make_run(order):
    scenario = tomllib.loads(json.loads(order)["scenario"])
    if (scenario["network"]["rate"], scenario["mapreduce"]["reducers"], scenario["run"]["seed"]) == ("10 Mbit/s", 2, 3):
        os._exit(9)
    return whole(order)
def dask_setup(worker):
    _trunkline.make_run = make_run
"""

#: A worker whose runs take long enough to be sent one by one.
SLOW = """
import time
from trunkline import _trunkline
whole = _trunkline.make_run
def make_run(order):
    time.sleep(0.6)
    return whole(order)
def dask_setup(worker):
    _trunkline.make_run = make_run
"""

#: A worker of another build.
FOREIGN = """
from trunkline import _trunkline
_trunkline.BUILD = "f" * 64
"""


class Cluster:
    """A scheduler and workers, each a process, found by the scheduler's address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        path = os.pathsep.join(path for path in sys.path if path)
        self.environment = os.environ | {"PYTHONPATH": path, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
        #: A scheduler, or a worker, that has Dask and not the package.
        self.bare = {name: value for name, value in self.environment.items() if name != "PYTHONPATH"}
        self.scheduler = self.start_scheduler()

    def start(self, *words: object, bare: bool = False) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli." + str(words[0]), *map(str, words[1:])],
                cwd=self.folder,
                env=self.bare if bare else self.environment,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        words = ["--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--no-jupyter", "--scheduler-file", file]
        # It hands runs on, and needs the package for none of that.
        scheduler = self.start("dask_scheduler", *words, bare=True)
        while not file.exists() or not file.read_text().rstrip().endswith("}"):
            assert scheduler.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        import json

        self.address: str = json.loads(file.read_text())["address"]
        return scheduler

    def worker(
        self, preload: str | None = None, nanny: bool = False, bare: bool = False, threads: int = 1
    ) -> subprocess.Popen[bytes]:
        """`nanny`: another process starts it again when it dies."""
        words: list[object] = [self.address, "--nthreads", threads, "--no-dashboard", "--host", "127.0.0.1"]
        words.append("--nanny" if nanny else "--no-nanny")
        if preload is not None:
            (self.folder / "preload.py").write_text(preload)
            words += ["--preload", self.folder / "preload.py"]
        return self.start("dask_worker", *words, bare=bare)

    def wait_for(self, workers: int) -> None:
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(workers)

    def end(self) -> None:
        for process in self.processes:
            # A worker's nanny has a child of its own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(tmp_path / "cluster")
    yield cluster
    cluster.end()


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of one worker, for tests that leave it as it is."""
    cluster = Cluster(tmp_path_factory.mktemp("standing"))
    cluster.worker()
    yield cluster
    cluster.end()


@pytest.fixture
def plan(plan: Path) -> Path:
    """Enough runs to be stopped among them."""
    plan.write_text(SWEEP.replace("seeds = 2", "seeds = 5"))
    return plan


def files(folder: Path) -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return found | {f"runs/{path.name}": path.read_bytes() for path in (folder / "runs").iterdir()}


def test_workers_by_address_make_the_same_bytes(plan: Path, cluster: Cluster, program: Callable[..., str]) -> None:
    alone = trunkline.sweep(plan, out=plan.parent / "alone", threads=1)
    for workers in (1, 2):
        cluster.worker()
        cluster.wait_for(workers)
        told: list[int] = []
        dataset = plan.parent / f"dataset-{workers}"
        swept = trunkline.sweep(
            plan,
            client=cluster.address,
            out=plan.parent / f"on-{workers}",
            dataset=str(dataset),
            progress=lambda there, *_: told.append(there),
        )
        assert files(plan.parent / f"on-{workers}") == files(plan.parent / "alone")
        assert swept.json == alone.json
        assert told[-1] == 20
        rows = pl.read_parquet(dataset / "*.parquet")
        assert rows.sort("run").equals(alone.runs.sort("run"))
    # The program starts the package; what it prints and leaves is the same.
    python = {"TRUNKLINE_PYTHON": sys.executable, "PYTHONPATH": cluster.environment["PYTHONPATH"]}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in python.items():
            patch.setenv(name, value)
        printed = program("sweep", plan, "--dask", cluster.address, "--json", "--quiet", "--out", "by-program")
    assert printed == alone.json
    assert files(plan.parent / "by-program") == files(plan.parent / "alone")


def test_a_sweep_goes_on_after_its_scheduler_was_killed(plan: Path, cluster: Cluster) -> None:
    cluster.worker(SLOW)
    out, dataset = plan.parent / "out", str(plan.parent / "dataset")

    def kill(there: int, *_: float) -> None:
        if there >= 3:
            cluster.scheduler.kill()

    with pytest.raises(trunkline.SchedulerLost, match="of 20 runs are kept; the same call goes on from there"):
        trunkline.sweep(plan, client=cluster.address, out=out, dataset=dataset, progress=kill)
    kept = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert 3 <= len(kept) < 20
    cluster.scheduler = cluster.start_scheduler()
    cluster.worker()
    swept = trunkline.sweep(plan, client=cluster.address, out=out, dataset=dataset)
    # None lost, none twice, none made again.
    assert swept.runs["run"].n_unique() == swept.runs.height == 20
    assert all(path.stat().st_mtime_ns == made for path, made in kept.items())
    rows = pl.read_parquet(Path(dataset) / "*.parquet")
    assert sorted(rows["run"]) == sorted(swept.runs["run"])
    assert swept.json == trunkline.sweep(plan, out=plan.parent / "alone").json


def test_a_dataset_fills_without_a_cluster_and_holds_one_sweep(plan: Path) -> None:
    dataset = plan.parent / "rows"
    swept = trunkline.sweep(plan, out=plan.parent / "out", dataset=str(dataset), threads=1)
    parts = {path: path.read_bytes() for path in dataset.iterdir()}
    assert pl.read_parquet(dataset / "*.parquet").sort("run").equals(swept.runs.sort("run"))
    # What is there is not written again; what a call that was killed has left goes.
    (dataset / "part-000007.parquet.unfinished").write_bytes(b"half")
    trunkline.sweep(plan, out=plan.parent / "out", dataset=str(dataset))
    assert {path: path.read_bytes() for path in dataset.iterdir()} == parts
    with pytest.raises(trunkline.OutputError, match="holds runs of another sweep"):
        other = trunkline.Plan.load(plan, set={"job.input": "16 MiB"})
        trunkline.sweep(other, out=plan.parent / "other", dataset=str(dataset))


def test_a_run_that_ends_its_worker_is_marked(plan: Path, cluster: Cluster) -> None:
    cluster.worker(DEADLY, nanny=True)
    swept = trunkline.sweep(plan, client=cluster.address, out=plan.parent / "out")
    lost = swept.runs.filter(pl.col("failure") != "")
    assert set(lost["failure"]) == {"its worker died on it, again and again (memory?)"}
    assert lost.select("seed", "set.network.rate", "set.mapreduce.reducers").rows() == [(3, "10 Mbit/s", 2.0)]
    assert lost["job.finish_s"].is_null().all()
    others = swept.runs.filter(pl.col("failure") == "")
    alone = trunkline.sweep(plan, out=plan.parent / "alone")
    assert others.select("run", "job.finish_s").equals(
        alone.runs.filter(pl.col("run").is_in(others["run"].implode())).select("run", "job.finish_s")
    )


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_a_worker_takes_to_its_grave_is_made_again(
    plan: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = cluster.worker()
    take = _dask._Sweep.take

    def late(sweep: _dask._Sweep) -> bool:
        # What has come back is not fetched until its worker has died and another is there.
        if sweep.under_way and worker.poll() is None:
            (first, *_) = sweep.under_way
            until(lambda: first.status == "finished")
            worker.kill()
            worker.wait()
            until(lambda: first.status == "lost")
            cluster.worker()
        return take(sweep)

    monkeypatch.setattr(_dask._Sweep, "take", late)
    swept = trunkline.sweep(plan, client=cluster.address, out=plan.parent / "out")
    assert worker.poll() is not None
    assert swept.runs.equals(trunkline.sweep(plan, out=plan.parent / "alone").runs)


def test_a_worker_of_another_build_is_refused(plan: Path, cluster: Cluster) -> None:
    cluster.worker(FOREIGN)
    with pytest.raises(trunkline.InputError) as raised:
        trunkline.sweep(plan, client=cluster.address, out=plan.parent / "out")
    said = str(raised.value)
    assert "ffffffffffff" in said and trunkline.BUILD[:12] in said and said.count(trunkline.__version__) == 2
    assert not list((plan.parent / "out" / "runs").iterdir())


def test_a_worker_without_the_package_is_told(plan: Path, cluster: Cluster) -> None:
    cluster.worker(bare=True)
    with pytest.raises(trunkline.MissingError, match="cannot load trunkline .*No module named 'trunkline'"):
        trunkline.sweep(plan, client=cluster.address, out=plan.parent / "out")


def test_a_worker_without_the_package_that_joins_is_told(plan: Path, cluster: Cluster) -> None:
    worker = cluster.worker()

    def replace(*_: float) -> None:
        # The next tasks can only go to one that nobody has asked for its build.
        if worker.poll() is None:
            worker.kill()
            worker.wait()
            cluster.worker(bare=True)

    with pytest.raises(trunkline.MissingError, match="cannot load trunkline"):
        trunkline.sweep(plan, client=cluster.address, out=plan.parent / "out", progress=replace)


#: A client with an address, a plan and a folder, that kills itself once it has kept the second run. The first tasks
#: are of one run each; those after may hold all that is left, and another process would see them kept too late.
CLIENT = """
import os
import signal
import sys
import trunkline


def end(there, *_):
    if there >= 2:
        os.kill(os.getpid(), signal.SIGKILL)


plan, address, out, dataset = sys.argv[1:]
trunkline.sweep(plan, client=address, out=out, dataset=dataset, progress=end)
"""


def kept(folder: Path) -> dict[str, int]:
    """The records in a sweep's folder, with when they were written in nanoseconds."""
    runs = folder / "runs"
    there = runs.glob("[0-9a-f]*.json") if runs.is_dir() else []
    return {record.name: record.stat().st_mtime_ns for record in there}


def test_a_sweep_goes_on_after_its_client_was_killed(plan: Path, standing: Cluster) -> None:
    out, rows = plan.parent / "out", plan.parent / "rows"
    words = [sys.executable, "-c", CLIENT, str(plan), standing.address, str(out), str(rows)]
    client = subprocess.run(words, env=standing.environment, stderr=subprocess.PIPE, timeout=60)
    assert client.returncode == -signal.SIGKILL, client.stderr.decode()
    before = kept(out)
    assert len(before) == 2
    swept = trunkline.sweep(plan, client=standing.address, out=out, dataset=str(rows))
    # What was kept is not made again.
    after = kept(out)
    assert len(after) == 20 and all(after[name] == when for name, when in before.items())
    alone = trunkline.sweep(plan, out=plan.parent / "alone", threads=1)
    assert swept.json == alone.json and files(out) == files(plan.parent / "alone")
    made = pl.read_parquet(rows / "*.parquet")
    assert made.sort("run").equals(alone.runs.sort("run"))
    assert [name.suffix for name in rows.iterdir()] == [".parquet"] * len(list(rows.iterdir()))


def test_the_program_passes_a_wish_to_stop_on(plan: Path, standing: Cluster) -> None:
    out = plan.parent / "out"
    # Enough that it is not over by then.
    plan.write_text(plan.read_text().replace("seeds = 5", "seeds = 60"))
    words = [PROGRAM, "sweep", plan, "--dask", standing.address, "--quiet", "--out", out]
    environment = standing.environment | {"TRUNKLINE_PYTHON": sys.executable}
    program = subprocess.Popen(
        [*map(str, words)], env=environment, stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    while len(kept(out)) < 5 and program.poll() is None:
        time.sleep(0.01)
    # To the program alone, as a service manager or a batch system may.
    program.terminate()
    _, said = program.communicate()
    assert program.returncode == 130, said
    assert "finished runs are kept; the same command goes on from there" in said
    with pytest.raises(ProcessLookupError):
        os.killpg(program.pid, 0)


def test_what_progress_raises_is_raised(plan: Path, standing: Cluster) -> None:
    def full(*_: float) -> None:
        raise OSError("the log's disk is full")

    with pytest.raises(OSError, match="the log's disk is full") as raised:
        trunkline.sweep(plan, client=standing.address, out=plan.parent / "out", progress=full)
    assert type(raised.value) is OSError


def test_a_closed_client_is_told(plan: Path, standing: Cluster) -> None:
    client = distributed.Client(standing.address, set_as_default=False)

    def close(*_: float) -> None:
        client.close()

    for _ in range(2):
        with pytest.raises(trunkline.MissingError, match="the Dask client is closed: make another"):
            trunkline.sweep(plan, client=client, out=plan.parent / "out", progress=close)


def test_a_cluster_without_workers_is_told(plan: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_dask, "NO_WORKER_S", 0.0)
    # As an error it ends the sweep, which would wait.
    with warnings.catch_warnings(action="error"), pytest.raises(RuntimeWarning, match="has had no worker for"):
        trunkline.sweep(plan, client=cluster.address, out=plan.parent / "out")


def test_what_is_not_there_is_told(plan: Path, program: Callable[..., str]) -> None:
    soon = dask.config.set({"distributed.comm.timeouts.connect": "2 s"})
    with soon, pytest.raises(trunkline.MissingError, match="no Dask scheduler at tcp://127.0.0.1:1"):
        trunkline.sweep(plan, client="tcp://127.0.0.1:1", out=plan.parent / "out")
    (plan.parent / "file").write_text("")
    with pytest.raises(trunkline.OutputError, match="cannot write a dataset"):
        trunkline.sweep(plan, client="tcp://127.0.0.1:1", out=plan.parent / "out", dataset=f"{plan.parent}/file/x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRUNKLINE_PYTHON", "/nowhere/python3")
        program("sweep", plan, "--dask", "tcp://127.0.0.1:1", code=4)
