"""Placement by key: what the program finds, and frames of it."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT

import trunkline
from trunkline import kat

Program = Callable[..., str]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of users, one of whom has a third of them, with two numbers."""
    draw, file = random.Random(5), tmp_path_factory.mktemp("kat") / "visits.tsv"
    users = [0 if draw.random() < 0.3 else draw.randrange(500) for _ in range(4000)]
    file.write_text("".join(f"user-{user}\t{draw.randrange(90)}\t{'x' * draw.randrange(60)}\n" for user in users))
    return file


def test_plans_are_the_programs(visits: Path, program: Program, tmp_path: Path) -> None:
    names = "a@r1=2,b@r1,c@r2,d@r2"
    asked = [
        ({"nodes": 8}, ["--nodes", 8]),
        ({"nodes": names.split(","), "replicas": 2, "present": True}, ["--nodes", names, "--replicas", 2, "--present"]),
        (
            {"nodes": 5, "key": "tokens", "layout": "split", "value": 4, "engine": "spark", "buckets": 40},
            [*"--nodes 5 --key tokens --layout split --value 4 --engine spark --buckets 40".split()],
        ),
        (
            {"nodes": 4, "second": "column:2", "second_type": "long", "sample": 0.5}
            | {"block": "1 MB", "rate": "10 Mbit/s"},
            ["--nodes", 4, "--second", "column:2", "--second-type", "long", "--sample", 0.5]
            + ["--block", "1 MB", "--rate", "10 Mbit/s"],
        ),
        ({"nodes": 8, "combiner": True, "value": 8}, [*"--nodes 8 --combiner --value 8".split()]),
        (
            {"nodes": 4, "second": "column:2", "second_copies": 2},
            [*"--nodes 4 --second column:2 --second-copies 2".split()],
        ),
        ({"nodes": 1, "key": "column:1:\t", "hash": "bucket", "engine": "iceberg"}, None),
    ]
    for number, (given, words) in enumerate(asked):
        placed = kat.plan(visits, **given)  # type: ignore[arg-type]
        if words is None:
            assert not placed.pays and placed.why_not == "one node exchanges nothing with itself"
            continue
        output = tmp_path / f"{number}.json"
        assert placed.json == program("kat", "plan", visits, *words, "--json", "--quiet", "-o", output)
        assert placed.file == output.read_text()


def test_a_plan_goes_on_from_another(visits: Path, program: Program, tmp_path: Path) -> None:
    before = tmp_path / "before.json"
    kat.plan(visits, nodes=4).save(before)
    with pytest.raises(trunkline.OutputError, match="is left as it is"):
        kat.plan(visits, nodes=5).save(before)
    placed = kat.plan(visits, nodes=5, previous=before)
    assert placed.json == program("kat", "plan", visits, "--nodes", 5, "--previous", before, "--json", "--quiet")
    assert placed.document["moved_bytes"] > 0


def test_frames_say_what_stands_where(visits: Path) -> None:
    placed = kat.plan(visits, nodes=["a@r1=2", "b", "c"], replicas=1)
    read = visits.stat().st_size
    # One copy of each record: what nodes keep is what the file has.
    assert placed.nodes["bytes"].sum() == placed.buckets["bytes"].sum() == read
    assert placed.nodes.select("name", "rack").rows() == [("a", "r1"), ("b", None), ("c", None)]
    assert placed.buckets.filter(pl.col("key").is_null()).height == 3 * 64
    heavy = placed.buckets.filter(pl.col("key") == "user-0")
    # A power of two, so that a record's part is some bits of its hash.
    assert heavy["part"].to_list() == list(range(heavy.height)) and heavy.height > 1
    assert heavy.height.bit_count() == 1
    native, by_key = placed.figures.row(0)[2:]
    assert native == pytest.approx(read * 2 / 3, rel=0.2) and by_key < native
    assert placed.import_cost["queues"].to_list() == ["central", "per_datanode"]
    assert (placed.import_cost["time_s"] > 0).all()
    assert "on 3 nodes" in repr(placed)


def test_jobs_are_the_programs(program: Program) -> None:
    traces = ROOT / "crates/history/tests/traces"
    found = kat.jobs(traces / "wordcount-combine-unshaped", traces / "terasort-unshaped", nodes=4)
    words = ["--history", traces / "wordcount-combine-unshaped", "--history", traces / "terasort-unshaped"]
    assert found.json == program("kat", "plan", *words, "--nodes", 4, "--json")
    assert found.jobs.height == len(json.loads(found.json)["jobs"])
    assert found.files.columns == ["files", "key", "jobs", "shuffle_bytes", "saved_bytes"]


def test_what_is_wrong_is_told(visits: Path, tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, object], str]] = [
        ({"engine": "flink"}, "engine: flink is none of mapreduce, spark, hive, iceberg"),
        ({"layout": "half"}, "layout: half is none of whole, split, projected"),
        ({"key": "column:0"}, "key: "),
        ({"sample": 1.5}, "sample: a part is above 0 and at most 1"),
        ({"rate": "1 bit/s"}, "rate: a rate is 1 kbit/s or more"),
        ({"block": "1 KB"}, "block: a block has 1 MB or more"),
        ({"replicas": 17}, "replicas: 17 is not a whole number from 1 to 16"),
        ({"buckets": 0}, "buckets: 0 is not"),
        ({"nodes": 0}, "nodes 0"),
        ({"previous": visits}, "is no plan of"),
    ]
    for given, message in wrong:
        with pytest.raises(trunkline.InputError, match=message):
            kat.plan(visits, **({"nodes": 4} | given))  # type: ignore[arg-type]
    with pytest.raises(trunkline.InputError, match="cannot read"):
        kat.plan(tmp_path / "nowhere", nodes=4)
    with pytest.raises(trunkline.InputError, match="no files"):
        kat.plan(nodes=4)
    with pytest.raises(trunkline.OutputError, match="cannot write"):
        kat.plan(visits, nodes=4).save(tmp_path / "nowhere" / "plan.json")


def test_progress_is_told_and_may_stop_it(visits: Path) -> None:
    class Enough(Exception):
        pass

    told: list[float] = []

    def tell(ended: int, part: float, _: float) -> None:
        told.append(ended + part)

    kat.plan(visits, nodes=4, progress=tell)
    assert told[-1] == 1.0

    def stop(*_: float) -> None:
        raise Enough

    with pytest.raises(Enough):
        kat.plan(visits, nodes=4, progress=stop)
