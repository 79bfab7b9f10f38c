"""Runs, and what stands on them."""

from __future__ import annotations

import operator
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import polars as pl

from trunkline import _trunkline
from trunkline._results import Advice, Comparison, Estimate, Result, Runs, Study
from trunkline._scenario import Scenario
from trunkline.errors import InputError

__all__ = ["advise", "compare", "estimate", "import_history", "remedies", "repeat", "run", "studies", "study"]

PathLike: TypeAlias = str | os.PathLike[str]
#: `True` shows a line on standard error; a function is called with the runs that have ended, the part that is done of
#: those that go (0 to 1 of each, added up), and the simulated time of the furthest in seconds.
Progress: TypeAlias = bool | Callable[[int, float, float], object]


def _told(progress: Progress, runs: int) -> Callable[[int, float, float], object] | None:
    if progress is False:
        return None
    if progress is not True:
        return progress
    began = time.monotonic()

    def line(ended: int, part: float, now: float) -> None:
        done = min((ended + part) / max(runs, 1), 1.0)
        of = f"{ended} of {runs} runs, " if runs > 1 else ""
        simulated = f"simulated {now:.1f} s, " if now > 0.0 else ""
        text = f"\r{done:6.1%}  {of}{simulated}{time.monotonic() - began:.0f} s"
        print(text, end="\n" if done >= 1.0 else "", file=sys.stderr, flush=True)

    return line


def _scenario(scenario: Scenario | PathLike) -> Scenario:
    return scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)


def _whole(name: str, value: int, least: int, most: int) -> int:
    """A whole number within its range, which is that of the program's option."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise InputError(f"{name}: {value!r} is not a whole number from {least:,} to {most:,}")
    return number


def _threads(threads: int | None) -> int | None:
    return None if threads is None else _whole("threads", threads, 1, 1024)


def run(
    scenario: Scenario | PathLike,
    *,
    out: PathLike | None = None,
    capture: str | None = None,
    progress: Progress = False,
) -> Result:
    """Simulates a scenario once. Other threads of Python go on meanwhile; Ctrl-C ends it and leaves nothing partial.

    Args:
        scenario: the scenario, or its file.
        out: a folder for `result.json`, tables and page, as `trunkline run --out` leaves them; whole or not at all.
        capture: a link whose packets are written there, too, as `--pcap` does.
        progress: whether, or to whom, to tell how far it is.

    Returns:
        The result. A job that fails is no exception: see `Result.failure`.
    """
    if capture is not None and out is None:
        raise InputError("packets are captured into a folder: name `out`")
    return Result(_trunkline.run(_scenario(scenario)._inner, out, capture, _told(progress, 1)))


def repeat(
    scenario: Scenario | PathLike,
    runs: int,
    *,
    out: PathLike | None = None,
    fresh: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Runs:
    """Simulates a scenario with several seeds, from its own on: each figure's mean with its 95 % interval.

    Args:
        runs: how many, 1 to 10,000.
        out: a folder for the results of each seed, as `trunkline run --runs --out` leaves them. Finished seeds there
            are not run again, unless `fresh`.
        threads: runs at the same time; the cores of this machine where left out. Results do not depend on it.
    """
    runs, threads = _whole("runs", runs, 1, 10_000), _threads(threads)
    inner = _scenario(scenario)._inner
    return Runs(*_trunkline.repeat(inner, runs, out, fresh, threads, _told(progress, runs)))


def compare(
    *scenarios: Scenario | PathLike,
    runs: int = 5,
    names: Sequence[str] | None = None,
    out: PathLike | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Comparison:
    """Simulates scenarios over the same seeds and puts them side by side; the first is what others are compared with.

    Args:
        scenarios: two or more.
        runs: seeds of each, from the first one's on.
        names: what to call them; their own names where left out, or their files where names are the same.
        out: a folder for `comparison.json` and the page.
    """
    runs, threads = _whole("runs", runs, 1, 10_000), _threads(threads)
    if len(scenarios) < 2:
        raise InputError("there is nothing to compare: name two scenarios")
    read = [_scenario(scenario) for scenario in scenarios]
    called = list(names) if names is not None else [scenario.name for scenario in read]
    if len(called) != len(read):
        raise InputError(f"{len(called)} names for {len(read)} scenarios")
    if len(set(called)) < len(called):
        if names is not None:
            raise InputError("two scenarios cannot have one name")
        # As the program does; of one file with changes there may be several.
        called = [str(scenario.path or scenario.name) for scenario in read]
        if len(set(called)) < len(called):
            called = [f"{name} {number}" for number, name in enumerate(called, 1)]
    inner = [scenario._inner for scenario in read]
    return Comparison(*_trunkline.compare(inner, called, runs, out, threads, _told(progress, runs * len(read))))


def estimate(scenario: Scenario | PathLike) -> Estimate:
    """How long the jobs of a scenario take, with bounds, estimated without a simulation: in milliseconds."""
    return Estimate(_trunkline.estimate(_scenario(scenario)._inner))


def studies() -> pl.DataFrame:
    """The published experiments that the package holds: `name`, `title`, `source`."""
    return pl.DataFrame(_trunkline.studies(), schema=["name", "title", "source"], orient="row")


def study(
    name: PathLike,
    *,
    quick: bool = False,
    seeds: int | None = None,
    figures: Sequence[str] = (),
    out: PathLike | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Study:
    """Re-does a published experiment, and says of each claim: reproduced, not reproduced, cannot tell.

    Args:
        name: one of `studies()`, or a folder with a `study.toml`.
        quick: fewer points, fewer seeds, shorter runs: a look, not a verdict to quote.
        seeds: seeds of each point, in place of the study's.
        figures: only these, by their ids.
        out: its folder, `results/studies/NAME` where left out. Finished runs there are not made again.
    """
    if seeds is not None:
        seeds = _whole("seeds", seeds, 1, 1000)
    threads = _threads(threads)
    called = Path(name).name or "study"
    folder = out if out is not None else Path("results", "studies", f"{called}-quick" if quick else called)
    told = _told(progress, 0)
    return Study(*_trunkline.study(os.fspath(name), list(figures), quick, seeds, folder, threads, told))


def remedies() -> pl.DataFrame:
    """The remedies that `advise` knows: `id`, `name`."""
    return pl.DataFrame(_trunkline.remedies(), schema=["id", "name"], orient="row")


def advise(
    scenario: Scenario | PathLike,
    *,
    objective: str = "time",
    budget: str | None = "2 min",
    runs: int = 5,
    keep: Sequence[str] = (),
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    out: PathLike | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Advice:
    """Ranks the remedies that would help a job: what each saves, how sure that is, and what to type.

    Args:
        objective: what is to become less: `time`, `energy`, `cost`, or `ptc:ALPHA`.
        budget: runs of remedies that are not over by then are given up; `None` for as long as it takes.
        runs: seeds of what is confirmed, 2 to 1,000.
        keep: keys of the scenario that must stay as they are.
        only, without: remedies, by their ids (`remedies()`).
        out: its folder, `results/advise-NAME` where left out. Finished runs there are not made again.
    """
    runs, threads = _whole("runs", runs, 2, 1000), _threads(threads)
    if only and without:
        raise InputError("`only` leaves nothing for `without` to take away: give one of them")
    read = _scenario(scenario)
    folder = Path(out) if out is not None else Path("results", _trunkline.file_name(f"advise-{read.name}"))
    lists = list(keep), list(only), list(without)
    inner = read._inner
    text = _trunkline.advise(inner, objective, budget, runs, *lists, folder, threads, _told(progress, 0))
    return Advice(text, (folder / "report.html").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Imported:
    """A recorded job, or an application of Spark, as a scenario."""

    #: The scenario.
    scenario: Scenario
    #: The file of its history.
    history: Path
    #: What the history does not say: `key`, `value`, `why`.
    assumed: pl.DataFrame
    #: What else a reader should know, sentences: of an event log of Spark.
    notes: list[str]
    #: The scenario's run beside the record: `figure`, `unit`, `recorded`, `predicted`, `error` (a part of 1).
    check: pl.DataFrame

    def __repr__(self) -> str:
        return f"<Imported {self.scenario.name!r}>"


def import_history(
    *files: PathLike,
    cluster: PathLike | None = None,
    job: str | None = None,
    described: PathLike | None = None,
    written_by: PathLike | None = None,
    check: bool = True,
    progress: Progress = False,
) -> Imported:
    """Turns the history of a real job into a calibrated scenario, as `trunkline import` does.

    Args:
        files: its history, compressed or not, its `job_*_conf.xml`, or folders of such; or the event log of an
            application of Spark, a file or the folder of a rolling log.
        cluster: a scenario whose machines, network and settings are the cluster's.
        job: which job of several, by its identifier.
        described: the run's description, a TOML file, as `--run` takes it.
        written_by: the history of the job that wrote the input, where its own does not say where that is.
        check: whether the scenario is run beside the record.
    """
    if not files:
        raise InputError("there is no history")
    told = _told(progress, 1)
    found = _trunkline.import_history(list(files), cluster, job, described, written_by, check, told)
    text, name, history, assumed, notes, lines = found
    rows = [
        (figure, unit, recorded, predicted, predicted / recorded - 1.0 if predicted and recorded > 0.0 else None)
        for figure, unit, recorded, predicted in lines
    ]
    numbers = dict.fromkeys(["recorded", "predicted", "error"], pl.Float64)
    schema = {"figure": pl.String, "unit": pl.String, **numbers}
    return Imported(
        Scenario.from_toml(text, name),
        Path(history),
        pl.DataFrame(assumed, schema=dict.fromkeys(["key", "value", "why"], pl.String), orient="row"),
        list(notes),
        pl.DataFrame(rows, schema=schema, orient="row"),
    )
