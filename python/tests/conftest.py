"""What several tests need."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: The program that the package must agree with, of the same sources.
PROGRAM = Path(os.environ.get("TRUNKLINE_PROGRAM", ROOT / "target" / "debug" / "trunkline"))

#: A job of a second: two workers, packets.
JOB = """
name = "small"
cluster.workers = 2
hdfs.replication = 1
network.rate = "100 Mbit/s"
mapreduce.reducers = 2

[job]
workload = "wordcount"
input = "32 MiB"
"""


#: A sweep of four points over it.
SWEEP = """
scenario = "small.toml"
set = ["run.fidelity=flow"]
seeds = 2
metrics = ["job.finish_s"]

[sweep]
network.rate = ["10 Mbit/s", "100 Mbit/s"]
mapreduce.reducers = [1, 2]
"""

#: No test takes so long, in seconds: what hangs fails with the place where it does.
LIMIT_S = 600


@pytest.fixture(autouse=True)
def no_test_hangs() -> Iterator[None]:
    def end(*_: object) -> None:
        raise TimeoutError(f"the test has not ended in {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def plan(job: Path) -> Path:
    """The file of a sweep over the small job."""
    path = job.parent / "sweep.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The file of a small job."""
    path = tmp_path / "small.toml"
    path.write_text(JOB)
    return path


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., str]:
    """Runs the program in the test's folder, and returns what it prints."""

    def run(*words: object, code: int = 0) -> str:
        done = subprocess.run(
            [PROGRAM, *map(str, words)], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    return run
