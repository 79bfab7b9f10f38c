"""Static plots, for papers. They need matplotlib (`pip install trunkline[plots]`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from trunkline.errors import InputError, MissingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trunkline._results import Result, Surface


#: Labels of an axis of texts.
MOST_LABELS = 6


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingError("plots need matplotlib: pip install trunkline[plots]") from error
    return pyplot.figure(layout="constrained").add_subplot()


def tasks(result: Result, ax: Axes | None) -> Axes:
    ax = _axes(ax)
    attempts = result.tables["tasks"].select("node", "kind", "start_s", "finish_s")
    if "spark_tasks" in result.tables:
        # Of an application of Spark by its stages.
        named = dict(enumerate(stage["name"] for stage in result.summary["spark"]["stages"]))
        kind = pl.col("stage").replace_strict(named, return_dtype=pl.String)
        stages = result.tables["spark_tasks"].select("node", kind=kind, start_s="launch_s", finish_s="finish_s")
        attempts = pl.concat([attempts, stages])
    attempts = attempts.sort("node", "start_s")
    # The lowest lane of its node that is free takes an attempt.
    lanes: list[tuple[str, float]] = []
    kinds = sorted(attempts["kind"].unique())
    for kind_number, kind in enumerate(kinds):
        ax.barh([], [], color=f"C{kind_number}", label=kind)
    for row in attempts.iter_rows(named=True):
        node, start, finish = str(row["node"]), row["start_s"], row["finish_s"]
        free = (n for n, (of, until) in enumerate(lanes) if of == node and until <= start)
        lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append((node, finish))
        lanes[lane] = (node, finish)
        ax.barh(lane, finish - start, left=start, color=f"C{kinds.index(row['kind'])}", height=0.8)
    names = [node for node, _ in lanes]
    first = [n for n, node in enumerate(names) if n == 0 or names[n - 1] != node]
    ax.set_yticks(first, [names[n] for n in first])
    ax.invert_yaxis()
    ax.set_xlabel("time, s")
    ax.legend()
    return ax


def series(result: Result, name: str, of: str | None, ax: Axes | None) -> Axes:
    samples = result.tables["samples"].filter(pl.col("series") == name)
    if samples.is_empty():
        known = ", ".join(sorted(result.tables["samples"]["series"].unique()))
        raise KeyError(f"{name}: the run has {known}")
    if of is not None:
        known = ", ".join(sorted(samples["of"].unique()))
        samples = samples.filter(pl.col("of") == of)
        if samples.is_empty():
            raise KeyError(f"{of}: the run has {name} of {known}")
    ax = _axes(ax)
    every = np.unique(result.tables["samples"]["time_s"].to_numpy())
    # A row stands at the end of its step; the first step ends after one.
    step = float(np.diff(every).min()) if len(every) > 1 else float(every[0])
    for (who,), rows in samples.group_by("of", maintain_order=True):
        at = np.rint(rows["time_s"].to_numpy() / step).astype(int) - 1
        # Steps without a row are zero.
        values = np.zeros(int(at.max()) + 1)
        values[at] = rows["sample"].to_numpy()
        ax.plot(step * np.arange(1, len(values) + 1), values, label=str(who))
    ax.set_xlabel("time, s")
    ax.set_ylabel(name)
    ax.legend()
    return ax


def surface(swept: Surface, figure: str | None, ax: Axes | None) -> Axes:
    axes: list[dict[str, Any]] = swept.document["axes"]
    metrics: list[dict[str, str]] = swept.document["metrics"]
    number = 0 if figure is None else next((n for n, m in enumerate(metrics) if m["path"] == figure), -1)
    if number < 0:
        raise KeyError(f"{figure}: the sweep has {', '.join(metric['path'] for metric in metrics)}")
    if len(axes) > 2:
        raise InputError(f"a plot shows two keys, and this sweep has {len(axes)}: its page shows all")
    ax = _axes(ax)
    points = swept.document["points"]
    across = axes[-1]
    labels = [value["text"] if isinstance(value, dict) else str(value) for value in across["values"]]
    rows: dict[tuple[int, ...], list[Any]] = {tuple(point["at"][:-1]): [] for point in points}
    for point in points:
        rows[tuple(point["at"][:-1])].append(point["figures"][number])
    for place, cells in rows.items():
        mean = np.array([np.nan if cell["mean"] is None else cell["mean"] for cell in cells])
        half = np.array([cell["half_width_95"] or 0.0 for cell in cells])
        of = axes[0]["values"][place[0]] if place else None
        label = None if of is None else f"{axes[0]['key']} = {of['text'] if isinstance(of, dict) else of}"
        ax.errorbar(range(len(mean)), mean, yerr=half, marker="o", capsize=3, label=label)
    # As many labels as can be read.
    stride = max(-(-len(labels) // MOST_LABELS), 1)
    ax.set_xticks(range(0, len(labels), stride), labels[::stride])
    ax.set_xlabel(across["key"])
    unit = metrics[number]["unit"]
    ax.set_ylabel(f"{metrics[number]['path']}, {unit}" if unit else metrics[number]["path"])
    if len(axes) > 1:
        ax.legend()
    return ax
