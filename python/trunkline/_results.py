"""What calls return: figures by name, tables as data frames, pages."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from trunkline import _trunkline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Advice", "Comparison", "Estimate", "Page", "Result", "Runs", "Study", "Surface", "Tables"]


class Page:
    """A page: one file of HTML, shown inline in a notebook."""

    def __init__(self, text: str, height: int = 800) -> None:
        self.text = text
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page as a file that any browser opens."""
        Path(path).write_text(self.text, encoding="utf-8")

    def _repr_html_(self) -> str:
        inside = html.escape(self.text, quote=True)
        style = f"width:100%;height:{self.height}px;border:1px solid #ccc"
        return f'<iframe srcdoc="{inside}" style="{style}" sandbox="allow-scripts"></iframe>'

    def __repr__(self) -> str:
        return f"<Page of {len(self.text)} characters>"


def _at(document: Any, path: str) -> Any:
    """The value at a path of a JSON document: `job.finish_s`, `jobs.1.finish_s`, `job.phases.fetch.start_s`."""
    place = document
    for part in path.split("."):
        if isinstance(place, list):
            named = [each for each in place if isinstance(each, dict) and each.get("name") == part]
            if named:
                place = named[0]
            elif part.isdecimal() and int(part) < len(place):
                place = place[int(part)]
            else:
                raise KeyError(path)
        elif isinstance(place, dict) and part in place:
            place = place[part]
        else:
            raise KeyError(path)
    return place


class Tables(Mapping[str, pl.DataFrame]):
    """The tables of a run by name, each a polars frame: those that the program writes as Parquet files.

    `docs/reference/results.md` has their columns. Times are in seconds, sizes in bytes, rates in bit/s, energies in
    joules; the column's name says which.
    """

    def __init__(self, tables: list[tuple[str, _trunkline.Table]]) -> None:
        self._tables = dict(tables)
        self._frames: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._frames:
            self._frames[name] = pl.DataFrame(self._tables[name])
        return self._frames[name]

    def arrow(self, name: str) -> _trunkline.Table:
        """The table as it is, for whatever else takes the Arrow C interface: pandas, pyarrow, DuckDB."""
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._tables)

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {len(table)}" for name, table in self._tables.items())
        return f"<Tables, rows of each: {rows}>"


class Result:
    """The result of one run.

    >>> result = trunkline.run(scenario)
    >>> result["job.finish_s"]
    >>> result.tables["tasks"].group_by("kind").len()
    """

    def __init__(self, inner: _trunkline.Outcome) -> None:
        self._inner = inner

    @cached_property
    def json(self) -> str:
        """`result.json`, byte for byte what the program writes."""
        return self._inner.json()

    @cached_property
    def summary(self) -> dict[str, Any]:
        """`result.json` as Python's lists and dictionaries."""
        found: dict[str, Any] = json.loads(self.json)
        return found

    def __getitem__(self, path: str) -> Any:
        """The figure at a path of `result.json`: `job.finish_s`, `traffic.0.goodput_bps`."""
        return _at(self.summary, path)

    def get(self, path: str, default: Any = None) -> Any:
        """The figure at a path, or `default` where the run has none."""
        try:
            return self[path]
        except KeyError:
            return default

    @cached_property
    def tables(self) -> Tables:
        """The tables."""
        return Tables(self._inner.tables())

    @property
    def failure(self) -> str | None:
        """Why a job of it failed, or why the run was given up; none if neither."""
        return self._inner.failure()

    @property
    def folder(self) -> Path | None:
        """The folder of its files, if it was run into one."""
        return None if self._inner.folder is None else Path(self._inner.folder)

    @property
    def page(self) -> Page:
        """The page of the run."""
        return Page(self._inner.page())

    def plot_tasks(self, ax: Axes | None = None) -> Axes:
        """Draws attempts over time, a bar each, by node and kind, those of Spark by stage. Needs matplotlib."""
        from trunkline import _plots

        return _plots.tasks(self, ax)

    def plot_series(self, series: str, of: str | None = None, ax: Axes | None = None) -> Axes:
        """Draws a sampled series (`cpu`, `goodput`, ...), of all that have it or of one. Needs matplotlib."""
        from trunkline import _plots

        return _plots.series(self, series, of, ax)

    def _repr_html_(self) -> str:
        return self.page._repr_html_()

    def __repr__(self) -> str:
        finish = self.get("job.finish_s", self.get("spark.finish_s"))
        told = f", finished at {finish:.1f} s" if isinstance(finish, float) else ""
        return f"<Result of {self.summary['name']!r}, seed {self.summary['seed']}{told}>"


class _Document:
    """A document of JSON with a page."""

    def __init__(self, text: str, page: str) -> None:
        self.json = text
        self.page = Page(page)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The JSON as Python's lists and dictionaries."""
        found: dict[str, Any] = json.loads(self.json)
        return found

    def _repr_html_(self) -> str:
        return self.page._repr_html_()


class Runs(_Document):
    """The runs of several seeds: `runs.json`, byte for byte what the program writes."""

    @cached_property
    def figures(self) -> pl.DataFrame:
        """A row for each figure: `name`, `unit`, `mean`, `half_width_95` (Student's interval), `least`, `greatest`."""
        names = ["name", "unit", "mean", "half_width_95", "least", "greatest"]
        rows = [{name: figure[name] for name in names} for figure in self.document["figures"]]
        numbers = dict.fromkeys(names[2:], pl.Float64)
        return pl.DataFrame(rows, schema={"name": pl.String, "unit": pl.String, **numbers})

    @cached_property
    def values(self) -> pl.DataFrame:
        """A row for each seed, a column for each figure; null where a run has no such figure."""
        columns: dict[str, Any] = {"seed": self.document["seeds"]}
        columns |= {figure["name"]: figure["values"] for figure in self.document["figures"]}
        return pl.DataFrame(columns, strict=False)

    @property
    def failures(self) -> list[str]:
        """Why jobs failed, for each run in which one did."""
        return list(self.document["failures"])

    def __repr__(self) -> str:
        return f"<Runs of {self.document['name']!r}, {len(self.document['seeds'])} seeds>"


class Comparison(_Document):
    """Scenarios side by side over the same seeds: `comparison.json`, byte for byte what the program writes."""

    @cached_property
    def figures(self) -> pl.DataFrame:
        """A row for each figure of each scenario.

        `difference` is the mean of the differences from the first scenario, seed by seed, with half its 95 % interval;
        `significant` says that the interval excludes zero. `count` and `difference_count` say how many seeds have the
        figure: where not all have, there is no interval.
        """
        rows = [
            {"figure": figure["name"], "unit": figure["unit"], **each}
            for figure in self.document["figures"]
            for each in figure["scenarios"]
        ]
        numbers = ["mean", "half_width_95", "difference", "difference_half_width_95"]
        schema = {"figure": pl.String, "unit": pl.String, "scenario": pl.String}
        counts = dict.fromkeys(["count", "difference_count"], pl.Int64)
        typed = {**schema, **dict.fromkeys(numbers, pl.Float64), "significant": pl.Boolean, **counts}
        return pl.DataFrame(rows, schema=typed)

    def __repr__(self) -> str:
        return f"<Comparison over {self.document['runs']} seeds>"


class Study(_Document):
    """A published experiment re-done: `study.json`, byte for byte what the program writes."""

    @property
    def verdict(self) -> str | None:
        """`reproduced`, `not reproduced` or `cannot tell`; none where nothing was judged."""
        found: str | None = self.document["verdict"]
        return found

    @cached_property
    def findings(self) -> pl.DataFrame:
        """A row for each claim and published value: `figure`, `claim`, `place`, `rule`, `verdict`, `detail`."""
        names = {"claim": "text", "place": "place", "rule": "rule", "verdict": "verdict", "detail": "detail"}
        rows = [
            {"figure": figure["id"], **{name: finding[key] for name, key in names.items()}}
            for figure in self.document["figures"]
            for finding in figure["findings"]
        ]
        return pl.DataFrame(rows, schema=dict.fromkeys(["figure", *names], pl.String))

    @cached_property
    def curves(self) -> pl.DataFrame:
        """A row for each point: `figure`, `series`, `assumption`, `x`, `mean`, and `low` to `high`, its 95 % interval.

        Units are those of the figure, in `document["figures"]`.
        """
        rows = [
            {"figure": figure["id"], "series": curve["series"], "assumption": curve["assumption"], **dict(point)}
            for figure in self.document["figures"]
            for curve in figure["curves"]
            for point in (
                zip(["x", "mean", "low", "high"], each, strict=True)
                for each in zip(curve["x"], curve["mean"], curve["low"], curve["high"], strict=True)
            )
        ]
        texts = dict.fromkeys(["figure", "series", "assumption"], pl.String)
        return pl.DataFrame(rows, schema={**texts, **dict.fromkeys(["x", "mean", "low", "high"], pl.Float64)})

    def __repr__(self) -> str:
        return f"<Study {self.document['name']!r}: {self.verdict}>"


class Estimate:
    """How long jobs take, by estimate: what `trunkline estimate --json` prints, byte for byte."""

    def __init__(self, text: str) -> None:
        self.json = text

    @cached_property
    def stages(self) -> pl.DataFrame:
        """A row for each stage of each job: `job`, `stage`, and `least_s`, `mean_s`, `most_s` in seconds.

        Stages are `maps`, `shuffle` (what of it is left after the last map), `reduces` and `total`.
        """
        jobs = json.loads(self.json)["jobs"]
        stages = ["maps", "shuffle", "reduces", "total"]
        return pl.DataFrame([{"job": job["name"], "stage": stage, **job[stage]} for job in jobs for stage in stages])

    def __repr__(self) -> str:
        return f"<Estimate>\n{self.stages}"


class Advice(_Document):
    """What would help a job: `advice.json`, byte for byte what the program writes."""

    @cached_property
    def remedies(self) -> pl.DataFrame:
        """A row for each remedy, those that help first.

        `id`, `name`, `verdict` (`helps`, `not-shown`, `hurts`, `no-gain`, `untried`, `unfit`), `saving` in `unit` with
        half its 95 % interval over seeds, `part` (the same as a part of what it is without), `set` (keys of the
        scenario), `apply` (what to type), `reason`.
        """
        rows = []
        for remedy in self.document["remedies"]:
            saving = remedy["saving"] or {}
            row = {name: remedy[name] for name in ["id", "name", "verdict", "part", "set", "apply", "reason"]}
            half = saving.get("half_width")
            rows.append(row | {"saving": saving.get("mean"), "half_width_95": half, "unit": self.document["unit"]})
        lists = dict.fromkeys(["set", "apply"], pl.List(pl.String))
        numbers = dict.fromkeys(["saving", "half_width_95", "part"], pl.Float64)
        texts = dict.fromkeys(["id", "name", "verdict"], pl.String)
        return pl.DataFrame(rows, schema={**texts, **numbers, "unit": pl.String, **lists, "reason": pl.String})

    @property
    def best(self) -> list[str]:
        """What the best set of remedies sets in the scenario: assignments, as `--set` takes them; none if nothing is
        shown to help."""
        found = self.document["best"]
        return [] if found is None else list(found["set"])

    def __repr__(self) -> str:
        return f"<Advice for {self.document['scenario']!r}>"


class Surface(_Document):
    """A finished sweep: `sweep.json`, byte for byte what the program writes, and the table of its runs."""

    def __init__(self, text: str, table: _trunkline.Table, page: str, folder: Path) -> None:
        super().__init__(text, page)
        self.folder = folder
        self._table = table

    @cached_property
    def runs(self) -> pl.DataFrame:
        """`sweep.parquet`: a row for each run, with the keys that it sets and all its figures that are one value."""
        return pl.DataFrame(self._table)

    @cached_property
    def points(self) -> pl.DataFrame:
        """A row for each point and figure: the swept keys as texts, `figure`, `unit`, `mean`, `half_width_95`,
        `failures`."""
        rows: list[dict[str, Any]] = []
        for point in self.document["points"]:
            keys = {}
            for assignment in point["set"]:
                key, _, value = assignment.partition("=")
                keys[key] = value.strip('"')
            for of, figure in zip(self.document["metrics"], point["figures"], strict=True):
                told = {"figure": of["path"], "unit": of["unit"], "mean": figure["mean"]}
                rows.append(keys | told | {"half_width_95": figure["half_width_95"], "failures": point["failures"]})
        numbers = {"mean": pl.Float64, "half_width_95": pl.Float64}
        return pl.DataFrame(rows, schema_overrides=numbers, infer_schema_length=None)

    def plot(self, figure: str | None = None, ax: Axes | None = None) -> Axes:
        """Draws a figure over the swept keys: a line for one key or two, a map for numbers in both. Needs
        matplotlib."""
        from trunkline import _plots

        return _plots.surface(self, figure, ax)

    def __repr__(self) -> str:
        return f"<Sweep {self.document['name']!r}, {self.document['runs']} runs>"
