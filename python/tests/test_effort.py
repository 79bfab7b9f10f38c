"""Calls that take time: progress, interruption, other threads."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from conftest import JOB, ROOT

import trunkline
from trunkline import Scenario

#: Minutes of simulation, if nobody stops it.
LONG = Scenario.from_toml(JOB).with_({"job.input": "64 GiB"})


def test_progress_is_told_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, float, float]] = []
    trunkline.repeat(Scenario.from_toml(JOB), 2, progress=lambda *far: told.append(far))
    ended, part, now = told[-1]
    assert ended == 2 and part == 0.0 and now > 0.0
    assert all(before[0] <= after[0] for before, after in zip(told, told[1:], strict=False))
    trunkline.run(Scenario.from_toml(JOB), progress=True)
    assert "100.0%" in capsys.readouterr().err


def test_an_exception_of_progress_stops_the_run(tmp_path: Path) -> None:
    def tell(*_: float) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        trunkline.run(LONG, out=tmp_path / "long", progress=tell)
    assert list(tmp_path.iterdir()) == []


def test_other_threads_go_on() -> None:
    """A thread that can only go on where the run lets the interpreter go stops it: within this time, nothing else
    makes a thread of Python give way."""
    begun, stop = threading.Event(), threading.Event()

    def other() -> None:
        begun.wait()
        stop.set()

    class Stopped(Exception):
        pass

    told = 0

    def tell(*_: float) -> None:
        nonlocal told
        begun.set()
        told += 1
        if stop.is_set():
            raise Stopped
        assert told < 600, "the run holds the interpreter"

    before = sys.getswitchinterval()
    thread = threading.Thread(target=other)
    thread.start()
    sys.setswitchinterval(1e6)
    try:
        with pytest.raises(Stopped):
            trunkline.run(LONG, progress=tell)
    finally:
        sys.setswitchinterval(before)
        begun.set()
        thread.join()


def test_threads_of_python_run_side_by_side() -> None:
    """No lock of the package keeps two runs apart: each waits, within its run, until the other runs, too. That other
    threads go on during a run is the test above: waiting at a barrier lets the interpreter go by itself."""
    both = threading.Barrier(2, timeout=60)
    scenario, failed = Scenario.from_toml(JOB), []

    def one() -> None:
        met = False

        def tell(*_: float) -> None:
            nonlocal met
            if not met:
                met = True
                both.wait()

        try:
            trunkline.run(scenario, progress=tell)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_ctrl_c_leaves_nothing_partial(tmp_path: Path) -> None:
    text = f"""
        import sys, trunkline
        scenario = trunkline.Scenario.from_toml({LONG.to_toml()!r})
        tell = lambda *far: print("runs", flush=True)
        try:
            trunkline.run(scenario, out="results", progress=tell)
        except KeyboardInterrupt:
            sys.exit(42)
    """
    words = [sys.executable, "-c", textwrap.dedent(text)]
    path = os.pathsep.join(sys.path)
    environment = os.environ | {"PYTHONPATH": path}
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout is not None and child.stdout.readline() == "runs\n"
        child.send_signal(signal.SIGINT)
        child.stdout.read()
        assert child.wait(timeout=120) == 42
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(trunkline.OutputError, match="it is not a folder"):
        trunkline.run(Scenario.from_toml(JOB), out=tmp_path / "file" / "results")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("mine")
    with pytest.raises(trunkline.OutputError, match="is not a result folder"):
        trunkline.run(Scenario.from_toml(JOB), out=tmp_path / "mine")


def test_the_types_are_checked() -> None:
    """mypy, strictly, over the package: its own annotations and the stubs of what is written in Rust."""
    words = [sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / "target" / "python" / "mypy")]
    done = subprocess.run(words, cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stubs_name_what_there_is() -> None:
    import ast

    import trunkline._trunkline as inner

    stubs = ast.parse((ROOT / "python" / "trunkline" / "_trunkline.pyi").read_text())
    named = {node.name: node for node in stubs.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert set(named) == {name for name in vars(inner) if not name.startswith("__")} - {"BUILD"}
    for name, node in named.items():
        if isinstance(node, ast.ClassDef):
            own = {name for name in vars(getattr(inner, name)) if not name.startswith("__") or "arrow" in name}
            said = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            assert own == {each for each in said if not each.startswith("__") or "arrow" in each}, name
            continue
        signature = getattr(inner, name).__text_signature__
        said = [argument.arg for argument in node.args.args]
        assert signature == f"({', '.join(said)})", name
