"""Runs, and what stands on them: the same as the program's, to the byte."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import JOB, ROOT

import trunkline
from trunkline import Scenario

Program = Callable[..., str]
FLOW = {"run.fidelity": "flow"}


@pytest.fixture(scope="module")
def result() -> trunkline.Result:
    return trunkline.run(Scenario.from_toml(JOB, "small.toml"))


def test_the_build_is_the_programs(job: Path, program: Program) -> None:
    plan = "scenario = \"small.toml\"\nseeds = 1\n[sweep]\ncluster.workers = [2]\n"
    (job.parent / "plan.toml").write_text(plan)
    assert json.loads(program("sweep", "plan.toml", "--plan"))["build"] == trunkline.BUILD


def test_a_result_is_the_programs_to_the_byte(result: trunkline.Result, job: Path, program: Program) -> None:
    printed = program("run", job, "--json", "--quiet", "--out", "by-program")
    folder = job.parent / "by-program"
    assert result.json == printed == (folder / "result.json").read_text()
    assert result.page.text == (folder / "report.html").read_text()
    for name, frame in result.tables.items():
        assert frame.equals(pl.read_parquet(folder / f"{name}.parquet")), name
    assert {path.stem for path in folder.glob("*.parquet")} == set(result.tables)


def test_a_folder_is_the_programs_to_the_byte(job: Path, program: Program) -> None:
    changed = Scenario.load(job).with_({"network.rate": "50 Mbit/s"})
    result = trunkline.run(changed, out=job.parent / "here")
    program("run", job, "--set", 'network.rate="50 Mbit/s"', "--quiet", "--out", "there")
    here, there = job.parent / "here", job.parent / "there"
    files = {path.name for path in there.iterdir()}
    assert {path.name for path in here.iterdir()} == files
    for name in files - {"timing.json"}:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name
    assert result.folder == here
    assert result.page.text == (there / "report.html").read_text()


def test_figures_have_paths(result: trunkline.Result) -> None:
    assert result["job.finish_s"] == result.summary["job"]["finish_s"] > 0
    assert result["job.phases.fetch.start_s"] > 0
    assert result.get("job.nothing") is None
    with pytest.raises(KeyError):
        result["jobs.9.finish_s"]
    assert result.failure is None
    assert "small" in repr(result)


def test_tables_are_frames(result: trunkline.Result) -> None:
    tasks = result.tables["tasks"]
    assert isinstance(tasks, pl.DataFrame)
    assert set(tasks["kind"]) == {"map", "reduce"}
    # Every task ends within the job.
    assert tasks["finish_s"].max() <= result["job.finish_s"]
    assert result.tables["nodes"].height == 3
    arrow = result.tables.arrow("tasks")
    assert len(arrow) == tasks.height and arrow.columns == tasks.columns
    assert isinstance(tasks["start_s"].to_numpy(), np.ndarray)


def test_a_table_is_taken_more_than_once_and_outlives_its_run() -> None:
    arrow = trunkline.run(Scenario.from_toml(JOB).with_(FLOW)).tables.arrow("nodes")
    first, second = pl.DataFrame(arrow), pl.DataFrame(arrow)
    assert first.equals(second) and first["node" if "node" in first.columns else first.columns[0]].len() == 3


def test_the_page_stands_inline(result: trunkline.Result) -> None:
    shown = result._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "allow-scripts" in shown
    # Escaped: the page's own markup does not end the attribute.
    assert '"' not in shown.split('srcdoc="', 1)[1].split('" style=', 1)[0]


def test_a_failed_job_is_no_exception() -> None:
    result = trunkline.run(Scenario.from_toml(JOB).with_({**FLOW, "run.until": "1 s"}))
    assert result.failure is not None and "run.until" in result.failure


def test_repeated_runs_are_the_programs(job: Path, program: Program) -> None:
    scenario = Scenario.load(job).with_(FLOW)
    runs = trunkline.repeat(scenario, 3)
    printed = program("run", job, "--set", "run.fidelity=flow", "--runs", 3, "--json", "--quiet", "--out", "three")
    assert runs.json == printed
    again = trunkline.repeat(scenario, 3, out=job.parent / "mine", threads=1)
    assert again.json == printed
    assert runs.values["seed"].to_list() == [1, 2, 3]
    # The pages of seeds stand in the folder, and without one there are none.
    assert "seed-1/report.html" in again.page.text and "seed-1/report.html" not in runs.page.text
    mean = runs.figures.filter(pl.col("name") == "wordcount: launch to finish")["mean"].item()
    assert mean == pytest.approx(runs.values["wordcount: launch to finish"].mean())


def test_a_comparison_is_the_programs(job: Path, program: Program) -> None:
    (job.parent / "slow.toml").write_text(JOB.replace('"small"', '"slow"').replace("100 Mbit/s", "10 Mbit/s"))
    files = [job, job.parent / "slow.toml"]
    compared = trunkline.compare(*(Scenario.load(file) for file in files), runs=2, out=job.parent / "mine")
    printed = program("compare", *files, "--runs", 2, "--json", "--quiet", "--out", "theirs")
    assert compared.json == printed
    assert compared.page.text == (job.parent / "theirs" / "report.html").read_text()
    figures = compared.figures.filter(pl.col("figure") == "wordcount: launch to finish")
    assert figures["scenario"].to_list() == ["small", "slow"]
    # A tenth of the rate takes longer, and the difference is that of the means.
    assert figures["difference"][1] == pytest.approx(figures["mean"][1] - figures["mean"][0])
    assert figures["difference"][1] > 0


def test_scenarios_of_one_name_are_told_apart(job: Path, program: Program) -> None:
    (job.parent / "twin.toml").write_text(JOB.replace("100 Mbit/s", "50 Mbit/s"))
    files = [job, job.parent / "twin.toml"]
    flow = [Scenario.load(file).with_(FLOW) for file in files]
    printed = program("compare", *files, "--set", "run.fidelity=flow", "--runs", 2, "--json", "--quiet", "--out", "x")
    assert trunkline.compare(*flow, runs=2).json == printed
    # Of one file there are two only here.
    changed = trunkline.compare(flow[0], flow[0].with_({"network.rate": "10 Mbit/s"}), runs=2)
    assert changed.figures["scenario"].unique(maintain_order=True).to_list() == [f"{job} 1", f"{job} 2"]
    with pytest.raises(trunkline.InputError, match="two scenarios cannot have one name"):
        trunkline.compare(*flow, names=["a", "a"])


def test_counts_out_of_range_are_wrong_input(job: Path, tmp_path: Path) -> None:
    calls: list[tuple[str, Callable[[int], object]]] = [
        ("runs", lambda count: trunkline.compare(job, job, runs=count)),
        ("runs", lambda count: trunkline.repeat(job, count)),
        ("runs", lambda count: trunkline.advise(job, runs=count, out=tmp_path / "x")),
        ("seeds", lambda count: trunkline.study("lee2014", seeds=count, out=tmp_path / "x")),
        ("threads", lambda count: trunkline.repeat(job, 2, threads=count)),
    ]
    for name, call in calls:
        for count in (0, -1, 1_000_000):
            with pytest.raises(trunkline.InputError, match=f"{name}: {count} is not a whole number from"):
                call(count)


def test_an_estimate_is_the_programs(job: Path, program: Program) -> None:
    estimate = trunkline.estimate(job)
    assert estimate.json == program("estimate", job, "--json")
    total = estimate.stages.filter(pl.col("stage") == "total")
    assert (total["least_s"] <= total["mean_s"]).all() and (total["mean_s"] <= total["most_s"]).all()


def test_an_estimate_that_cannot_be_made_says_why() -> None:
    with pytest.raises(trunkline.InputError):
        trunkline.estimate(ROOT / "scenarios" / "incast.toml")


def test_advice_is_the_programs(job: Path, program: Program) -> None:
    scenario = Scenario.load(job).with_(FLOW)
    advice = trunkline.advise(scenario, budget=None, runs=2, only=["reducers", "block-size"], out=job.parent / "mine")
    only = ["--only", "reducers", "--only", "block-size"]
    flow = ["--set", "run.fidelity=flow"]
    printed = program("advise", job, *flow, "--all", "--runs", 2, *only, "--json", "--quiet", "--out", "theirs")
    assert advice.json == printed
    assert set(advice.remedies["id"]) == {"reducers", "block-size"}
    assert "reducers" in set(trunkline.remedies()["id"])


def test_advice_refuses_what_it_does_not_know(job: Path) -> None:
    with pytest.raises(trunkline.InputError, match="objective"):
        trunkline.advise(job, objective="beauty", out=job.parent / "x")
    with pytest.raises(trunkline.InputError, match="no-such"):
        trunkline.advise(job, only=["no-such"], out=job.parent / "x")


def test_a_study_is_the_programs(tmp_path: Path, program: Program) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "small.toml").write_text(JOB)
    (tmp_path / "mine" / "study.toml").write_text(STUDY)
    study = trunkline.study(tmp_path / "mine", out=tmp_path / "by-package")
    assert study.json == program("study", tmp_path / "mine", "--json", "--quiet", "--out", "by-program")
    assert study.verdict == "reproduced"
    assert study.curves.height == 2 and study.findings["verdict"].to_list() == ["reproduced"]
    assert "lee2014" in trunkline.studies()["name"].to_list()
    with pytest.raises(trunkline.InputError, match="there is no study"):
        trunkline.study("lee2041", out=tmp_path / "x")


STUDY = """
title = "A slower network takes longer"
about = "Whether it does."
source = "this test"
scenario = "small.toml"
seeds = 2

[[figure]]
id = "rate"
title = "By the network's rate"
metric = "job.finish_s"
unit = "s"
[figure.x]
label = "rate"
unit = "Mbit/s"
set = ["network.rate='{x} Mbit/s'"]
values = [10, 100]
[[figure.series]]
name = "small"
set = ["run.fidelity=flow"]
[[figure.claim]]
text = "It takes 1 s to 1,000 s."
series = ["small"]
rule = "between"
least = 1
most = 1000
"""


def test_an_imported_history_is_the_programs(tmp_path: Path, program: Program) -> None:
    traces = ROOT / "crates" / "history" / "tests" / "traces"
    [history] = sorted((traces / "teragen-unshaped").glob("*.jhist*"))
    imported = trunkline.import_history(history, cluster=traces / "cluster.toml", check=False)
    program("import", history, "--cluster", traces / "cluster.toml", "-o", "job.toml", "--no-check")
    theirs = Scenario.load(tmp_path / "job.toml")
    # One names its history by its whole path, the other from its own folder.
    assert imported.scenario.with_({"job.history": theirs["job.history"]}).digest == theirs.digest
    assert imported.history == history
    assert {"key", "value", "why"} == set(imported.assumed.columns)


def test_an_event_log_is_imported_as_the_program_does(program: Program, tmp_path: Path) -> None:
    logs = ROOT / "crates/history/tests/spark"
    log, cluster = logs / "wordcount-10mbit.lz4", logs / "cluster-10mbit.toml"
    imported = trunkline.import_history(log, cluster=cluster)
    printed = program("import", log, "--cluster", cluster, "-o", "app.toml")
    theirs = Scenario.load(tmp_path / "app.toml")
    # One names its log by its whole path, the other from its own folder.
    assert imported.scenario.with_({"spark.history": theirs["spark.history"]}).digest == theirs.digest
    assert imported.scenario.name == theirs.name and imported.notes == []
    took = imported.check.row(0, named=True)
    assert took["figure"] == "first submission to last end" and abs(took["error"]) <= 0.1
    # The table that the program prints: the same lines, rounded.
    lines = [line for line in printed.splitlines() if line.strip()][-imported.check.height :]
    for line, row in zip(lines, imported.check.iter_rows(named=True), strict=True):
        assert f"{row['recorded']:.1f} {row['unit']}" in line and f"{row['predicted']:.1f} {row['unit']}" in line
    with pytest.raises(trunkline.InputError, match="neither `job` nor `described` nor `written_by`"):
        trunkline.import_history(log, job="job_1")


def test_what_is_no_history_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.jhist").write_text("not a history")
    with pytest.raises(trunkline.InputError, match="x.jhist"):
        trunkline.import_history(tmp_path / "x.jhist")
