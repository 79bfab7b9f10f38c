"""What is too long for every test run: `scripts/study` runs it, with the wheel.

A scheduler that is killed ten times, what a run costs beside a bare pool of processes, and what a cluster of a thousand
threads leaves idle.
"""

import multiprocessing
import os
import random
import resource
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from conftest import SWEEP
from test_dask import Cluster

import trunkline
from trunkline import _trunkline

RATES = '["10 Mbit/s", "20 Mbit/s", "30 Mbit/s", "40 Mbit/s", "50 Mbit/s", "60 Mbit/s", "70 Mbit/s", "80 Mbit/s"]'
#: The overhead of a run that is promised, in seconds of processor.
MOST_S = 0.005
#: How long a run of a large sweep takes, in seconds.
LONG_S = 20.0

#: A worker that waits as long as a long run takes, and then makes a short one: with many threads, two cores are a
#: cluster of as many for those who hand runs out.
LONG = f"""
import time
from trunkline import _trunkline
whole = _trunkline.make_run
def make_run(order):
    time.sleep({LONG_S})
    return whole(order)
def dask_setup(worker):
    _trunkline.make_run = make_run
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (tmp_path / "dask").mkdir()
    cluster = Cluster(tmp_path / "dask")
    yield cluster
    cluster.end()


def planned(job: Path, seeds: int) -> trunkline.Plan:
    """A sweep of 16 points."""
    path = job.parent / "sweep.toml"
    path.write_text(SWEEP.replace('["10 Mbit/s", "100 Mbit/s"]', RATES).replace("seeds = 2", f"seeds = {seeds}"))
    return trunkline.Plan.load(path)


def test_none_is_lost_and_none_is_twice_where_the_scheduler_is_killed_ten_times(job: Path, cluster: Cluster) -> None:
    plan, draw = planned(job, 125), random.Random(22)
    assert len(plan) == 2000
    # A kill may be half a second late, in which two workers make some 180 runs: it has to come before the last.
    moments = sorted(draw.sample(range(20, 1500), 10))
    out, rows = job.parent / "out", job.parent / "rows"
    killed: list[int] = []
    for moment in [*moments, None]:
        for _ in range(2):
            cluster.worker()
        timer: list[threading.Timer] = []

        def kill_soon(
            there: int, *_: float, moment: int | None = moment, timer: list[threading.Timer] = timer
        ) -> None:
            if moment is not None and there >= moment and not timer:
                # At any moment within a task.
                timer.append(threading.Timer(draw.uniform(0.0, 0.5), cluster.scheduler.kill))
                timer[0].start()

        call = {"client": cluster.address, "out": out, "dataset": str(rows), "progress": kill_soon}
        if moment is None:
            swept = trunkline.sweep(plan, **call)  # type: ignore[arg-type]
            break
        with pytest.raises((trunkline.SchedulerLost, trunkline.MissingError)):
            trunkline.sweep(plan, **call)  # type: ignore[arg-type]
        killed.append(len([name for name in (out / "runs").iterdir() if not name.name.startswith(".")]))
        # The workers end with their scheduler, or are ended here: as on a cluster that is started anew.
        cluster.end()
        cluster.processes.clear()
        cluster.scheduler = cluster.start_scheduler()
    print(f"\nscheduler killed ten times, with so many of 2,000 runs kept: {killed}")
    names = [plan[position]["run"] for position in range(len(plan))]
    assert sorted(swept.runs["run"]) == sorted(names) and swept.runs["run"].n_unique() == 2000
    made = pl.read_parquet(rows / "*.parquet")
    assert sorted(made["run"]) == sorted(names)
    assert set(made["failure"]) == {""}
    assert swept.json == trunkline.sweep(plan, out=job.parent / "alone").json


def of_processes(cluster: Cluster, which: slice = slice(None)) -> float:
    """Seconds of processor that a cluster's processes have taken: its scheduler, then its workers."""
    ticks = 0
    for process in cluster.processes[which]:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """Seconds of processor of this process and of those that it has waited for."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in each)


def test_the_overhead_of_a_run(job: Path, cluster: Cluster) -> None:
    plan = planned(job, 625)
    runs = len(plan)
    assert runs == 10_000
    folder = _trunkline.Folder(plan._inner, job.parent / "orders")
    orders = [folder.order(position) for position in range(runs)]
    began, before = time.monotonic(), spent()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for _ in pool.imap_unordered(_trunkline.make_run, orders, chunksize=64):
            pass
        pool.close()
        pool.join()
    bare, wall = spent() - before, time.monotonic() - began
    print(f"\n{runs} runs, bare pool of 2 processes: {wall:.1f} s, {bare:.1f} s of processor")

    began, before = time.monotonic(), spent()
    alone = trunkline.sweep(plan, out=job.parent / "alone", threads=2)
    here, wall = spent() - before, time.monotonic() - began
    print(f"on 2 threads: {wall:.1f} s, {here:.1f} s of processor, {1e3 * (here - bare) / runs:.2f} ms more a run")

    for _ in range(2):
        cluster.worker()
    cluster.wait_for(2)
    began, before = time.monotonic(), spent() + of_processes(cluster)
    swept = trunkline.sweep(plan, client=cluster.address, out=job.parent / "dask-out")
    there, wall = spent() + of_processes(cluster) - before, time.monotonic() - began
    more = 1e3 * (there - bare) / runs
    print(f"on 2 Dask workers: {wall:.1f} s, {there:.1f} s of processor, {more:.2f} ms more a run")
    assert swept.json == alone.json
    assert (here - bare) / runs <= MOST_S and (there - bare) / runs <= MOST_S


def test_one_two_and_four_workers_make_the_same_bytes(job: Path, cluster: Cluster) -> None:
    plan = planned(job, 125)
    tables = []
    for workers in (1, 2, 4):
        while len(cluster.processes) <= workers:
            cluster.worker()
        cluster.wait_for(workers)
        began, before = time.monotonic(), [spent(), of_processes(cluster, slice(1)), of_processes(cluster, slice(1, None))]
        swept = trunkline.sweep(plan, client=cluster.address, out=job.parent / f"out-{workers}")
        wall = time.monotonic() - began
        after = [spent(), of_processes(cluster, slice(1)), of_processes(cluster, slice(1, None))]
        each = [1e3 * (now - then) / len(plan) for then, now in zip(before, after, strict=True)]
        print(
            f"\n{len(plan)} runs on {workers} workers: {wall:.1f} s; a run takes {each[0]:.2f} ms of the client, "
            f"{each[1]:.2f} ms of the scheduler, {each[2]:.2f} ms of the workers"
        )
        tables.append(swept.json)
    assert tables[0] == tables[1] == tables[2]


def test_a_thousand_threads_are_kept_busy(job: Path, cluster: Cluster) -> None:
    plan = planned(job, 250)
    workers, threads = 20, 50
    # Dask looks at what every thread does a hundred times a second. Beside a run's own processor that is nothing; here
    # all threads share two.
    cluster.environment["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"
    for _ in range(workers):
        cluster.worker(preload=LONG, threads=threads)
    cluster.wait_for(workers)
    began = time.monotonic()
    before = spent(), of_processes(cluster, slice(1)), of_processes(cluster, slice(1, None))
    trunkline.sweep(plan, client=cluster.address, out=job.parent / "out")
    wall, runs = time.monotonic() - began, len(plan)
    client, scheduler = spent() - before[0], of_processes(cluster, slice(1)) - before[1]
    # The work of all workers is done on this machine's processors, and waits for them.
    here = (of_processes(cluster, slice(1, None)) - before[2]) / (os.cpu_count() or 1)
    ideal = runs * LONG_S / (workers * threads)
    print(
        f"\n{runs} runs of {LONG_S:.0f} s on {workers * threads} threads of {workers} workers: {wall:.1f} s, at best "
        f"{ideal:.0f} s and {here:.0f} s for the workers' own on these processors; a run takes {1e3 * client / runs:.2f} ms "
        f"of the client and {1e3 * scheduler / runs:.2f} ms of the scheduler, each a thread: so "
        f"{LONG_S * runs / max(client, scheduler):.0f} threads at most"
    )
    assert wall < 1.25 * (ideal + here)
