"""Runs of a sweep on a Dask cluster.

The client keeps the sweep's folder, which is that of a sweep on one machine. It sends a run with all that it needs (an
order, a few KB), and keeps the record that comes back at once. Few orders are under way at a time, so that neither the
scheduler nor the client holds more with 100,000 runs than with 100.
"""

from __future__ import annotations

import contextlib
import queue
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from trunkline import _trunkline
from trunkline.errors import InputError, InternalError, MissingError, OutputError, SchedulerLost, TrunklineError

if TYPE_CHECKING:
    from distributed import Client, Future

    from trunkline._sweep import Plan

Told = Callable[[int, float, float], object] | None

#: A task is worth so many seconds of runs: what Dask takes for a task, some milliseconds, is little beside it.
TASK_S = 0.5
#: The most runs of a task.
MOST_RUNS = 64
#: Tasks under way for each thread of the cluster: one that runs, one that waits.
AHEAD = 2
#: Rows of a file of the dataset.
PART_ROWS = 1000
#: How often it is looked whether the scheduler is there, in seconds.
LOOK_S = 1.0
#: After how long without a worker it is said that the sweep waits for one, in seconds.
NO_WORKER_S = 10.0

CLOSED = "the Dask client is closed: make another"


def about() -> tuple[str, str]:
    """The package's version and build, where this runs."""
    return _trunkline.__version__, _trunkline.BUILD


def _by_value(name: str) -> Callable[..., Any]:
    """A function of this module for a worker. The scheduler reads it, too, and need not have the package: pickled by
    value, as functions within functions are, it names the package only where it is called."""

    def there(*given: Any) -> Any:
        from importlib import import_module

        return getattr(import_module("trunkline._dask"), name)(*given)

    return there


def make_runs(orders: list[str]) -> list[tuple[str, float]]:
    """On a worker: makes runs. Returns their records, and the seconds that each took."""
    made = []
    for order in orders:
        began = time.monotonic()
        record = _trunkline.make_run(order)
        made.append((record, time.monotonic() - began))
    return made


@contextlib.contextmanager
def _connected(client: Client | str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingError("sweeps on Dask need it: pip install trunkline[dask]") from error
    if not isinstance(client, str):
        if client.status != "running":
            raise MissingError(CLOSED)
        yield client
        return
    try:
        connected = Client(client, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise MissingError(f"there is no Dask scheduler at {client}: {error}") from error
    with connected:
        yield connected


def _same_build(client: Client, workers: list[str], build: str) -> list[str]:
    """Refuses workers that would give other numbers, or none. Returns those that are as they should be: one that has
    gone meanwhile is not."""
    found: Any = client.run(_by_value("about"), workers=workers, on_error="return")
    ours = f"trunkline {_trunkline.__version__} of build {build[:12]}"
    for worker, answer in sorted(found.items()):
        if isinstance(answer, ImportError):
            raise MissingError(f"worker {worker} cannot load trunkline ({answer}); this is {ours}: install it there")
        if isinstance(answer, OSError):
            continue
        if isinstance(answer, BaseException):
            raise MissingError(f"worker {worker} does not answer: {answer!r}") from answer
        version, other = answer
        if other != build:
            theirs = f"trunkline {version} of build {other[:12]}"
            raise InputError(f"worker {worker} has {theirs}, and this is {ours}: it may give other numbers")
    return [worker for worker, answer in found.items() if isinstance(answer, tuple | list)]


def hand_out(
    plan: Plan, target: Path, client: Client | str, dataset: str | None, fresh: bool, told: Told
) -> None:
    """Has the runs made that a sweep's folder lacks, and keeps their records there."""
    folder = _trunkline.Folder(plan._inner, target)
    parts = None if dataset is None else Dataset(dataset, plan, folder, fresh)
    missing = sorted_all(plan, folder) if fresh else folder.missing()
    if parts is not None:
        left = set(missing)
        parts.add(position for position in range(len(plan)) if position not in left)
    if missing:
        with _connected(client) as connected:
            _Sweep(plan, folder, parts, connected, missing, told).go()
    if parts is not None:
        parts.flush()


def sorted_all(plan: Plan, folder: _trunkline.Folder) -> list[int]:
    """All positions: what is there is made again, after what is not."""
    missing = folder.missing()
    left = set(missing)
    return missing + [position for position in range(len(plan)) if position not in left]


class _Sweep:
    """A sweep while its runs are under way."""

    def __init__(
        self,
        plan: Plan,
        folder: _trunkline.Folder,
        parts: Dataset | None,
        client: Client,
        missing: list[int],
        told: Told,
    ) -> None:
        self.plan, self.folder, self.parts, self.client, self.told = plan, folder, parts, client, told
        self.waiting = deque(missing)
        #: Runs of tasks on whose worker it died. Dask blames every task that a worker had, so each of these runs goes
        #: once more with nothing else under way: the one that ends its worker then is the one that did before.
        self.suspects: deque[int] = deque()
        self.on_trial = False
        self.make_runs = _by_value("make_runs")
        self.under_way: dict[Future[Any], list[int]] = {}
        self.done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self.there = len(plan) - len(missing)
        self.known: set[str] = set()
        self.threads, self.looked = 0, -LOOK_S
        #: Since when there has been no worker; none once that has been said.
        self.alone_since: float | None = time.monotonic()
        #: Seconds of a run, by those that have come back.
        self.run_s: float | None = None

    def go(self) -> None:
        try:
            while self.waiting or self.suspects or self.under_way:
                # What `progress` raises is the caller's own.
                if self.step() and self.told is not None:
                    self.told(self.there, 0.0, 0.0)
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(list(self.under_way), force=True)

    def step(self) -> bool:
        """Sends what there is room for, and keeps what comes back; whether something did."""
        try:
            self.send()
            return self.take()
        except TrunklineError:
            raise
        except OSError as error:
            raise SchedulerLost(f"{error}; {self.kept()}") from error
        except Exception as error:
            # Another thread may have closed it. Dask then says so, or finds that what it calls is gone.
            if self.client.status != "running":
                raise MissingError(f"{CLOSED}; {self.kept()}") from error
            raise

    def kept(self) -> str:
        return f"{self.there} of {len(self.plan)} runs are kept; the same call goes on from there"

    def send(self) -> None:
        """Keeps every thread busy."""
        if time.monotonic() > self.looked + LOOK_S:
            self.look_at_workers()
        room = AHEAD * self.threads - len(self.under_way)
        if self.suspects or self.on_trial:
            if not self.under_way and self.threads > 0:
                self.on_trial = bool(self.suspects)
                if self.on_trial:
                    self.submit([self.suspects.popleft()])
                    return
            else:
                return
        size = 1 if self.run_s is None else int(min(max(TASK_S / max(self.run_s, 1e-6), 1), MOST_RUNS))
        for _ in range(room):
            if not self.waiting:
                return
            self.submit([self.waiting.popleft() for _ in range(min(size, len(self.waiting)))])

    def submit(self, positions: list[int]) -> None:
        orders = [self.folder.order(position) for position in positions]
        # No key of Dask's own: a run that is asked for again is to be made again.
        future = self.client.submit(self.make_runs, orders, pure=False)
        self.under_way[future] = positions
        future.add_done_callback(self.done.put)

    def look_at_workers(self) -> None:
        """Workers come and go. Those that have come are asked for their build before any run is sent."""
        workers: Any = self.client.nthreads()
        come = [worker for worker in workers if worker not in self.known]
        if come:
            self.known.update(_same_build(self.client, come, self.plan.build))
        self.threads = sum(threads for worker, threads in workers.items() if worker in self.known)
        self.looked = time.monotonic()
        if self.alone_since is None:
            return
        if self.threads > 0:
            self.alone_since = self.looked
        elif self.looked >= self.alone_since + NO_WORKER_S:
            self.alone_since = None
            said = f"the Dask cluster has had no worker for {NO_WORKER_S:.0f} s: the sweep waits for one"
            warnings.warn(said, RuntimeWarning, stacklevel=2)

    def take(self) -> bool:
        """Waits for a task, and keeps what it has made; whether one came back."""
        try:
            future = self.done.get(timeout=LOOK_S)
        except queue.Empty:
            if self.client.status != "running":
                raise SchedulerLost(f"the Dask scheduler is gone; {self.kept()}") from None
            return False
        positions = self.under_way.pop(future)
        if future.status == "finished":
            self.keep(positions, future.result())
        elif future.status == "error":
            self.failed(positions, future)
        elif future.status == "lost":
            # Its worker died with what it had made, before this could be fetched.
            self.waiting.extendleft(reversed(positions))
        else:
            raise SchedulerLost(f"the Dask scheduler has given up a task ({future.status}); {self.kept()}")
        future.release()
        return True

    def keep(self, positions: list[int], made: list[tuple[str, float]]) -> None:
        for position, (record, seconds) in zip(positions, made, strict=True):
            self.folder.keep(position, record)
            self.there += 1
            # A mean that forgets: points may differ.
            self.run_s = seconds if self.run_s is None else 0.9 * self.run_s + 0.1 * seconds
        if self.parts is not None:
            self.parts.add(positions)

    def failed(self, positions: list[int], future: Future[Any]) -> None:
        from distributed.scheduler import KilledWorker

        error: Any = future.exception()
        if not isinstance(error, KilledWorker):
            at = self.plan._inner.words(positions[0]) if len(positions) == 1 else f"{len(positions)} runs"
            if isinstance(error, TrunklineError):
                raise error
            if isinstance(error, ImportError):
                # Dask gives tasks to a worker that has joined before it is asked for its build.
                said = f"a worker that has joined cannot load trunkline ({error}): install it there"
                raise MissingError(f"{said}; {self.kept()}") from error
            raise InternalError(f"at {at}: {error!r}; {self.kept()}") from error
        if not self.on_trial:
            self.suspects.extend(positions)
            return
        # The words of Dask name the worker, which differs from time to time.
        self.folder.lose(positions[0], "its worker died on it, again and again (memory?)")
        self.there += 1
        if self.parts is not None:
            self.parts.add(positions)


@contextlib.contextmanager
def _writing(what: str) -> Iterator[None]:
    """Whatever goes wrong with a file system: each kind of store has exceptions of its own."""
    try:
        yield
    except TrunklineError:
        raise
    except Exception as error:
        raise OutputError(f"cannot write {what}: {error}") from error


class Dataset:
    """Rows of runs as Parquet files in a folder: each whole or not there, each run once."""

    def __init__(self, path: str, plan: Plan, folder: _trunkline.Folder, fresh: bool) -> None:
        """`fresh`: what it holds of this sweep goes, as all runs are made again."""
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingError("datasets need fsspec: pip install trunkline[dask]") from error
        self.folder, self.path = folder, path
        names = {plan[position]["run"]: position for position in range(len(plan))}
        self.waiting: list[int] = []
        self.has: set[int] = set()
        with _writing(f"a dataset at {path}"):
            self.fs, self.root = url_to_fs(path)
            # A store may keep listings of what others have changed since.
            self.fs.invalidate_cache()
            # A path without a slash before it begins with a bucket or container, which is not made here: its name may
            # be a slip, and folders in it need not be made.
            if self.root.startswith("/"):
                self.fs.makedirs(self.root, exist_ok=True)
            # Who may list may not be allowed to write: the way that a part takes is tried before any run is made.
            self.fs.pipe_file(f"{self.root}/trial.unfinished", b"")
            self.fs.mv(f"{self.root}/trial.unfinished", f"{self.root}/moved.unfinished")
            self.fs.rm(f"{self.root}/moved.unfinished")
            there = self.names(".parquet")
            self.number = 1 + max((_number(name) for name in there), default=-1)
            for name in there:
                with self.fs.open(name, "rb") as file:
                    table = pl.read_parquet(file, columns=["run"])
                others = set(table["run"]) - set(names)
                if others:
                    raise OutputError(f"{path} holds runs of another sweep or build, and is left as it is")
                self.has |= {names[run] for run in table["run"]}
            # What a call that was ended has left.
            for name in self.names(".unfinished") + (there if fresh else []):
                self.fs.rm(name)
            if fresh:
                self.has.clear()

    def names(self, ending: str) -> list[str]:
        try:
            return [name for name in self.fs.ls(self.root, detail=False) if name.endswith(ending)]
        except FileNotFoundError:
            # An object store has no folder that is empty.
            return []

    def add(self, positions: Any) -> None:
        """Adds the rows of runs whose records are kept."""
        for position in positions:
            if position not in self.has:
                self.has.add(position)
                self.waiting.append(position)
        while len(self.waiting) >= PART_ROWS:
            self.write(PART_ROWS)

    def flush(self) -> None:
        """Writes what waits."""
        if self.waiting:
            self.write(len(self.waiting))

    def write(self, rows: int) -> None:
        now, self.waiting = self.waiting[:rows], self.waiting[rows:]
        frame = pl.DataFrame(self.folder.table(now))
        name = f"{self.root}/part-{self.number:06}.parquet"
        with _writing(name):
            with self.fs.open(f"{name}.unfinished", "wb") as file:
                frame.write_parquet(file)
            self.fs.mv(f"{name}.unfinished", name)
        self.number += 1


def _number(name: str) -> int:
    stem = name.rsplit("/", 1)[-1].removeprefix("part-").removesuffix(".parquet")
    return int(stem) if stem.isdecimal() else -1
