"""Sweeps: a scenario over any of its keys and seeds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trunkline import _trunkline
from trunkline._calls import PathLike, Progress, _threads, _told, _whole
from trunkline._results import Surface
from trunkline._scenario import _assignments

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Plan", "sweep"]


class Plan:
    """A sweep's plan: every run, checked before any is made.

    >>> plan = trunkline.Plan.load("scenarios/sweeps/incast.toml")
    >>> len(plan), plan[0]["values"]
    """

    def __init__(self, inner: _trunkline.Plan) -> None:
        self._inner = inner

    @classmethod
    def load(cls, path: PathLike, set: Mapping[str, object] | Sequence[str] = (), seeds: int | None = None) -> Plan:
        """Reads a sweep's file (`docs/guide/sweep.md`). `set` has keys that all runs set; `seeds`, how many of each
        point, takes the place of the file's."""
        if seeds is not None:
            seeds = _whole("seeds", seeds, 1, 10_000)
        return cls(_trunkline.Plan(os.fspath(path), _assignments(set), seeds))

    @property
    def name(self) -> str:
        """Its name: that of its file."""
        return self._inner.name

    @property
    def build(self) -> str:
        """The build that must make its runs."""
        return self._inner.build

    def __len__(self) -> int:
        return len(self._inner)

    def __getitem__(self, position: int) -> dict[str, Any]:
        """The run at a position, from 0: what `trunkline sweep --plan` prints of it."""
        line = self._inner.line(position) if position >= 0 else None
        if line is None:
            raise IndexError(position)
        found: dict[str, Any] = json.loads(line)
        return found

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[position] for position in range(len(self)))

    def __repr__(self) -> str:
        return f"<Plan {self.name!r}, {len(self)} runs>"


def sweep(
    plan: Plan | PathLike,
    *,
    client: Client | str | None = None,
    out: PathLike | None = None,
    dataset: str | None = None,
    fresh: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Surface:
    """Makes the runs of a sweep: on this machine's cores, or on a Dask cluster.

    Args:
        plan: the plan, or the sweep's file.
        client: a `distributed.Client`, or a scheduler's address, as `tcp://head:8786`. Its workers need this package
            of the same build, and no file: what a run needs is sent to it.
        out: its folder, `results/sweep-NAME` where left out. Finished runs there are not made again, unless `fresh`,
            whoever made them: the program and the package, with a cluster or without, share the folder.
        dataset: a folder, by any path that fsspec knows (`s3://bucket/sweep`, `hdfs://...`), in which rows of runs
            stand as Parquet files: on a cluster soon after the runs are made, here when all are.
        threads: runs at the same time on this machine; its cores where left out.

    With a cluster, a run that ends its worker again and again (memory) is marked by its `failure`, and the sweep goes
    on. Where the client, a worker or the scheduler dies, the same call goes on from what the folder keeps.
    """
    planned = plan if isinstance(plan, Plan) else Plan.load(plan)
    threads = _threads(threads)
    target = Path(out) if out is not None else Path("results", _trunkline.file_name(f"sweep-{planned.name}"))
    told = _told(progress, len(planned))
    parts = None
    if client is not None:
        from trunkline import _dask

        _dask.hand_out(planned, target, client, dataset, fresh, told)
        fresh, told = False, None
    elif dataset is not None:
        from trunkline import _dask

        # Before the runs, so that a path that cannot be written is found at once.
        parts = _dask.Dataset(dataset, planned, _trunkline.Folder(planned._inner, target), fresh)
    made = planned._inner.make(target, fresh, threads, told)
    assert made is not None, "all runs are there by now"
    if parts is not None:
        parts.add(range(len(planned)))
        parts.flush()
    page = (target / "report.html").read_text(encoding="utf-8")
    return Surface(*made, page, target)
