"""What several tests need."""

import os
import subprocess
from collections.abc import Callable
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
