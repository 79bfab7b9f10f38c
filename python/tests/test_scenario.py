"""Scenarios as objects."""

import ast
import pickle
import runpy
import tomllib
import warnings
from pathlib import Path

import pytest
from conftest import JOB, ROOT

import trunkline
from trunkline import Scenario, ScenarioError, ScenarioWarning
from trunkline._scenario import _in_toml


def test_keys_are_read_and_set() -> None:
    scenario = Scenario.from_toml(JOB)
    assert scenario.name == "small"
    assert scenario["cluster.workers"] == 2
    assert scenario["network.rate"] == "100 Mbit/s"
    scenario["network.rate"] = "10 Mbit/s"
    scenario["cluster.workers"] = 4
    scenario["network.rate"] = "20 Mbit/s"
    assert (scenario["network.rate"], scenario["cluster.workers"]) == ("20 Mbit/s", 4)
    assert scenario.changes == ["cluster.workers=4", 'network.rate="20 Mbit/s"']
    del scenario["network.rate"]
    assert scenario["network.rate"] == "100 Mbit/s"
    with pytest.raises(KeyError):
        scenario["network.rat"]
    with pytest.raises(KeyError):
        del scenario["network.rate"]


def test_the_only_job_has_two_names() -> None:
    for text in (JOB, JOB.replace("[job]", "[[job]]")):
        scenario = Scenario.from_toml(text)
        scenario["job.0.input"] = "1 MiB"
        assert (scenario["job.input"], scenario["job.0.input"]) == ("1 MiB", "1 MiB")
        scenario["job.input"] = "2 MiB"
        assert scenario["job.0.input"] == "2 MiB"
        assert len(scenario.changes) == 1


def test_a_list_and_a_table_can_be_set() -> None:
    scenario = Scenario.from_toml(JOB)
    scenario["faults"] = []
    scenario["network.shape"] = [{"rate": "10 Mbit/s"}]
    assert scenario["network.shape.0.rate"] == "10 Mbit/s"


def test_an_error_has_line_and_column() -> None:
    with pytest.raises(ScenarioError) as raised:
        Scenario.from_toml('name = "x"\n\n[network]\nrate = "10 Mbit"\nspeed = 3\n', "mine.toml")
    problems = raised.value.problems
    # The value stands behind `rate = `, the wrong key at the line's begin.
    assert [(one.file, one.line, one.column) for one in problems] == [("mine.toml", 4, 8), ("mine.toml", 5, 1)]
    assert problems[0].text == 'rate = "10 Mbit"'
    assert "`speed` is not a key here" in problems[1].message
    assert "mine.toml:5:1: `speed` is not a key here" in str(raised.value)
    assert raised.value.exit_code == 2
    assert isinstance(raised.value, ValueError)


def test_a_wrong_value_leaves_the_scenario_as_it_was() -> None:
    scenario = Scenario.from_toml(JOB)
    before = scenario.to_toml(resolved=True)
    with pytest.raises(ScenarioError, match="--set:1:"):
        scenario["network.rate"] = "fast"
    with pytest.raises(TypeError):
        scenario["network.rate"] = object()
    assert scenario.to_toml(resolved=True) == before


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(trunkline.InputError, match="cannot read .*nowhere.toml"):
        Scenario.load(tmp_path / "nowhere.toml")


def test_warnings_are_pythons() -> None:
    with pytest.warns(ScenarioWarning, match=r"small.toml:\d+:\d+: "):
        Scenario.from_toml(JOB + '\n[run]\nfidelity = "flow"\n[tcp]\nvegas-beta = 5\n', "small.toml")


def test_copies_do_not_share_changes() -> None:
    scenario = Scenario.from_toml(JOB)
    other = scenario.with_({"network.rate": "10 Mbit/s"})
    copy = scenario.copy()
    copy["cluster.workers"] = 3
    assert (scenario["network.rate"], other["network.rate"]) == ("100 Mbit/s", "10 Mbit/s")
    assert (scenario["cluster.workers"], copy["cluster.workers"]) == (2, 3)
    assert scenario != other and scenario == scenario.copy() and scenario.digest != other.digest
    assert scenario.with_(["network.rate=10 Mbit/s"]) == other


def test_a_scenario_goes_to_other_processes_and_to_files(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(JOB).with_({"run.seed": 7})
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    for resolved in (False, True):
        scenario.save(tmp_path / "saved.toml", resolved)
        assert Scenario.load(tmp_path / "saved.toml").digest == scenario.digest


def test_errors_go_to_other_processes() -> None:
    errors = trunkline.errors
    plain = [errors.InternalError, errors.InputError, errors.MissingError, errors.SchedulerLost, errors.OutputError]
    with pytest.raises(ScenarioError) as raised:
        Scenario.from_toml("[network]\nrate = 3\nspeed = 4\n", "mine.toml")
    for error in [*(kind("why") for kind in (*plain, errors.TrunklineError, errors.Interrupted)), raised.value]:
        there = pickle.loads(pickle.dumps(error))
        assert (type(there), str(there), there.exit_code) == (type(error), str(error), error.exit_code)
        assert getattr(there, "problems", None) == getattr(error, "problems", None)


def test_any_text_can_be_set() -> None:
    scenario = Scenario.from_toml(JOB)
    for text in ("a \U0001f600 cluster", 'quotes " and \\', "\x7f\x1f\t\n", "h\u00f6her", "\u2028"):
        scenario["name"] = text
        assert scenario.name == scenario["name"] == text
    value = {"\U0001f600": ["\x7f"]}
    assert tomllib.loads(f"x = {_in_toml(value)}") == {"x": value}


def test_ready_scenarios_come_back_as_they_are_written() -> None:
    for name in ("terasort", "mobile-terasort", "object-store", "incast"):
        scenario = Scenario.load(ROOT / "scenarios" / f"{name}.toml")
        # A resolved text has every key, also those that have no effect there.
        with warnings.catch_warnings(action="ignore", category=ScenarioWarning):
            assert Scenario.from_toml(scenario.to_toml(resolved=True), "x").digest == scenario.digest, name


def test_completion_comes_from_the_schema() -> None:
    scenario = Scenario.from_toml(JOB)
    offered = scenario._ipython_key_completions_()
    assert {"network.rate", "job.0.input", "tcp.min-rto"} <= set(offered)
    # What is offered is a key: its value can be read, or it is one that may be left out.
    properties = trunkline.schema()["properties"]
    assert {key.split(".")[0] for key in offered} <= set(properties)
    kind, default, meaning = trunkline.documented()["network.rate"]
    assert kind.startswith("rate") and default and meaning


def test_the_keys_for_editors_are_current() -> None:
    made = runpy.run_path(str(Path(__file__).parent / "generate_keys.py"))["text"]()
    assert (ROOT / "python" / "trunkline" / "_keys.py").read_text() == made, "run python/tests/generate_keys.py"


def test_the_notebook_calls_what_there_is() -> None:
    """The long notebook runs in `make study`; here each of its cells is code, and names what the package has."""
    read = runpy.run_path(str(Path(__file__).parent / "run_notebook.py"))["cells"]
    code = [ast.parse(text) for text in read(ROOT / "python" / "examples" / "dask-sweep.ipynb")]
    named = [node for cell in code for node in ast.walk(cell) if isinstance(node, ast.Attribute)]
    own = {node.attr for node in named if isinstance(node.value, ast.Name) and node.value.id == "trunkline"}
    assert own >= {"import_history", "advise", "sweep"} and all(hasattr(trunkline, name) for name in own)
