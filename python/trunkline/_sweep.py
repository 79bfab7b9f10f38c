"""Sweeps: a scenario over any of its keys and seeds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trunkline import _trunkline
from trunkline._calls import PathLike, Progress, _file_name, _told
from trunkline._results import Surface
from trunkline._scenario import _assignments

__all__ = ["Plan", "sweep"]


class Plan:
    """A sweep's plan: every run, checked before any is made.

    >>> plan = trunkline.Plan.load("scenarios/sweeps/incast.toml")
    >>> len(plan), plan[0]["values"]
    """

    def __init__(self, inner: _trunkline.Plan) -> None:
        self._inner = inner

    @classmethod
    def load(
        cls, path: PathLike, set: Mapping[str, object] | Sequence[str] = (), seeds: int | None = None
    ) -> Plan:
        """Reads a sweep's file (`docs/guide/sweep.md`). `set` has keys that all runs set; `seeds`, how many of each
        point, takes the place of the file's."""
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
        """The run at a position: what `trunkline sweep --plan` prints of it."""
        found: dict[str, Any] = json.loads(self._inner.lines()[position])
        return found

    def __repr__(self) -> str:
        return f"<Plan {self.name!r}, {len(self)} runs>"


def _planned(plan: Plan | PathLike) -> Plan:
    return plan if isinstance(plan, Plan) else Plan.load(plan)


def _target(plan: Plan, out: PathLike | None) -> Path:
    return Path(out) if out is not None else Path("results", _file_name(f"sweep-{plan.name}"))


def _finished(plan: Plan, text: str, target: Path) -> Surface:
    page = (target / "report.html").read_text(encoding="utf-8")
    return Surface(text, page, plan._inner.table(target), target)


def sweep(
    plan: Plan | PathLike,
    *,
    out: PathLike | None = None,
    fresh: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Surface:
    """Makes the runs of a sweep on this machine's cores.

    Args:
        plan: the plan, or the sweep's file.
        out: its folder, `results/sweep-NAME` where left out. Finished runs there are not made again, unless `fresh`,
            whoever made them: the program and the package share the folder.
        threads: runs at the same time; the cores of this machine where left out.
    """
    planned = _planned(plan)
    target = _target(planned, out)
    text = planned._inner.make(target, fresh, threads, _told(progress, len(planned)))
    assert text is not None, "all runs are made here"
    return _finished(planned, text, target)
