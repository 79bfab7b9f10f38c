"""Sweeps on this machine: the program's folder, to the byte."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import SWEEP

import trunkline
from trunkline import _trunkline


def test_a_plan_is_the_programs(plan: Path, program: Callable[..., str]) -> None:
    read = trunkline.Plan.load(plan, seeds=1, set={"job.input": "16 MiB"})
    # The program names the file as it is given.
    lines = program("sweep", plan, "--plan", "--seeds", 1, "--set", 'job.input="16 MiB"').splitlines()
    assert [read[position] for position in range(len(read))] == [json.loads(line) for line in lines]
    assert (len(read), read.name) == (4, "sweep")


def test_a_sweep_is_the_programs_to_the_byte(plan: Path, program: Callable[..., str]) -> None:
    swept = trunkline.sweep(plan, out=plan.parent / "mine")
    printed = program("sweep", plan, "--json", "--quiet", "--out", "theirs")
    assert swept.json == printed
    theirs = plan.parent / "theirs"
    for file in ("sweep.parquet", "sweep.json", "report.html"):
        assert (theirs / file).read_bytes() == (plan.parent / "mine" / file).read_bytes(), file
    assert swept.runs.equals(pl.read_parquet(theirs / "sweep.parquet"))
    assert swept.points.shape == (4, 7)
    assert swept.points["network.rate"].to_list() == ["10 Mbit/s"] * 2 + ["100 Mbit/s"] * 2


def test_each_goes_on_from_the_others_runs(plan: Path, program: Callable[..., str]) -> None:
    program("sweep", plan, "--only", "1/2", "--quiet", "--out", "shared")
    records = {path: path.stat().st_mtime_ns for path in (plan.parent / "shared" / "runs").iterdir()}
    assert len(records) == 4
    swept = trunkline.sweep(plan, out=plan.parent / "shared")
    assert swept.document["runs"] == 8
    assert all(path.stat().st_mtime_ns == made for path, made in records.items())


def test_what_is_wrong_with_a_plan_has_its_place(plan: Path) -> None:
    plan.write_text(SWEEP.replace("network.rate", "network.speed"))
    with pytest.raises(trunkline.ScenarioError) as raised:
        trunkline.Plan.load(plan)
    line = plan.read_text().splitlines().index('network.speed = ["10 Mbit/s", "100 Mbit/s"]') + 1
    assert raised.value.problems[0].line == line
    with pytest.raises(trunkline.InputError, match="cannot read"):
        trunkline.Plan.load(plan.parent / "nowhere.toml")


def test_plots_are_drawn(plan: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    swept = trunkline.sweep(plan, out=plan.parent / "mine")
    axes = swept.plot()
    # A line for each value of the first key, a mark for each of the last.
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "network.rate = 10 Mbit/s",
        "network.rate = 100 Mbit/s",
    ]
    assert axes.get_ylabel() == "job.finish_s, s"
    means = swept.document["points"]
    drawn = [container.lines[0].get_ydata().tolist() for container in axes.containers]
    assert drawn == [[point["figures"][0]["mean"] for point in means[at : at + 2]] for at in (0, 2)]
    with pytest.raises(KeyError, match="the sweep has job.finish_s"):
        swept.plot("job.nothing")
    result = trunkline.run(trunkline.Scenario.load(plan.parent / "small.toml"))
    # A bar for each attempt.
    bars = sum(len(container) for container in result.plot_tasks().containers)
    assert bars == result.tables["tasks"].height
    cpu = result.plot_series("cpu", of="worker-1")
    (line,) = cpu.get_lines()
    rows = result.tables["samples"].filter((pl.col("series") == "cpu") & (pl.col("of") == "worker-1"))
    assert sum(line.get_ydata()) == pytest.approx(rows["sample"].sum())
    assert line.get_xdata()[-1] == pytest.approx(rows["time_s"].max())
    with pytest.raises(KeyError, match="the run has cpu"):
        result.plot_series("nothing")
    with pytest.raises(KeyError, match="the run has cpu of master, worker-1"):
        result.plot_series("cpu", of="worker-9")


def test_tasks_of_spark_are_drawn_by_their_stages() -> None:
    import matplotlib

    matplotlib.use("agg")
    text = """
    cluster.workers = 2
    [[spark.stage]]
    name = "map"
    tasks = 3
    work = "1 s"
    [[spark.stage]]
    name = "reduce"
    tasks = 2
    parents = ["map"]
    """
    result = trunkline.run(trunkline.Scenario.from_toml(text))
    axes = result.plot_tasks()
    assert sum(len(container) for container in axes.containers) == 5
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["map", "reduce"]
    assert "finished at" in repr(result)


def test_counts_out_of_range_are_wrong_input(plan: Path) -> None:
    for seeds in (0, -1, 10_001, 1.5):
        with pytest.raises(trunkline.InputError, match="seeds: .* is not a whole number from 1 to 10,000"):
            trunkline.Plan.load(plan, seeds=seeds)  # type: ignore[arg-type]
    with pytest.raises(trunkline.InputError, match="threads: -1 is not a whole number from 1 to 1,024"):
        trunkline.sweep(plan, out=plan.parent / "out", threads=-1)
    assert not (plan.parent / "out").exists()


def test_fresh_rows_take_the_place_of_a_lost_runs(plan: Path) -> None:
    read = trunkline.Plan.load(plan)
    out, rows = plan.parent / "out", str(plan.parent / "rows")
    _trunkline.Folder(read._inner, out).lose(3, "its worker died")
    trunkline.sweep(read, out=out, dataset=rows)
    assert sorted(pl.read_parquet(f"{rows}/*.parquet")["failure"])[-1] == "its worker died"
    swept = trunkline.sweep(read, out=out, dataset=rows, fresh=True)
    made = pl.read_parquet(f"{rows}/*.parquet")
    assert set(made["failure"]) == {""} and made.sort("run").equals(swept.runs.sort("run"))


def test_a_store_that_fails_in_its_own_way_is_output(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fsspec.implementations.local import LocalFileSystem

    move = LocalFileSystem.mv

    def refuse(self: LocalFileSystem, path: str, to: str) -> None:
        if "part-" in path:
            raise RuntimeError("no credentials")
        move(self, path, to)

    monkeypatch.setattr(LocalFileSystem, "mv", refuse)
    with pytest.raises(trunkline.OutputError, match="cannot write .*part-000000.parquet: no credentials"):
        trunkline.sweep(plan, out=plan.parent / "out", dataset=str(plan.parent / "rows"))
