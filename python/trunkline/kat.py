"""Placement by key: what laying records out by their key would save a job's shuffle, what it costs, when it does not
pay. The guide is `docs/guide/placement.md`.

>>> from trunkline import kat
>>> placed = kat.plan("visits.tsv", nodes=16)
>>> placed.pays, placed.document["saved_share"]
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from trunkline import _trunkline
from trunkline._calls import PathLike, Progress, _told, _whole
from trunkline.errors import InputError, OutputError

__all__ = ["Jobs", "Placement", "jobs", "plan"]


class Placement:
    """A plan of placement by key.

    Bytes are those of all data, reckoned from what was read, but in `buckets`, `nodes` and `file`: those of what was
    read.
    """

    def __init__(self, inner: _trunkline.Placement) -> None:
        self._inner = inner

    @cached_property
    def json(self) -> str:
        """The figures: what `trunkline kat plan --json` prints, byte for byte."""
        return self._inner.json()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The figures as Python's lists and dictionaries; a name says its unit (`saved_bytes`, `import.*.time_s`)."""
        found: dict[str, Any] = json.loads(self.json)
        return found

    @cached_property
    def file(self) -> str:
        """The plan, bucket by bucket: what `trunkline kat plan -o` writes, byte for byte, and `kat load` reads."""
        return self._inner.file()

    def save(self, path: PathLike, *, force: bool = False) -> None:
        """Writes the plan, whole or not at all. `force` overwrites a file that is there."""
        if not force and Path(path).is_file():
            raise OutputError(f"{os.fspath(path)} exists and is left as it is; force=True overwrites it")
        self._inner.save(path)

    @property
    def pays(self) -> bool:
        """Whether placement pays."""
        return bool(self.document["pays"])

    @property
    def why_not(self) -> str | None:
        """Why it does not; none where it does."""
        found: str | None = self.document["why_not"]
        return found

    @property
    def warning(self) -> str | None:
        """Why the fullest node has much more than its share, and what would help; none where it has not."""
        found: str | None = self.document["warning"]
        return found

    @property
    def runs_to_break_even(self) -> int | None:
        """After how many runs the import is paid back; none where it never is."""
        found: int | None = self.document["runs_to_break_even"]
        return found

    @cached_property
    def _plan(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.file)
        return found

    @cached_property
    def figures(self) -> pl.DataFrame:
        """Three rows, native beside by key: `figure`, `unit`, `native`, `by_key`.

        Bytes between nodes in a run's shuffle, and in a scan whose tasks take a bucket each; the fullest node's load,
        over the mean.
        """
        of = self.document
        rows = [
            ("remote bytes of the shuffle", "bytes", of["remote_bytes_native"], of["remote_bytes_by_key"]),
            ("remote bytes of a scan", "bytes", of["remote_scan_bytes_native"], of["remote_scan_bytes_by_key"]),
            ("fullest node over the mean", "", of["imbalance_by_hash"], of["imbalance"]),
        ]
        schema = {"figure": pl.String, "unit": pl.String, "native": pl.Float64, "by_key": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row", strict=False)

    @cached_property
    def buckets(self) -> pl.DataFrame:
        """A row for each part of the data that stands together: `bucket`, `key`, `part`, `bytes`, `nodes`.

        A bucket is whole where `key` is null; a key that is too heavy for a node stands in parts, numbered from 0.
        `nodes` has the names of those that keep it, `bytes` what was read of it.
        """
        names = [node["name"] for node in self._plan["nodes"]]
        rows = [
            (number, None, None, bucket["bytes"], [names[node] for node in bucket["nodes"]])
            for number, bucket in enumerate(self._plan["buckets"])
        ] + [
            (key["bucket"], key["text"], number, part["bytes"], [names[node] for node in part["nodes"]])
            for key in self._plan["split"]
            for number, part in enumerate(key["parts"])
        ]
        schema: Mapping[str, Any] = {
            "bucket": pl.Int64,
            "key": pl.String,
            "part": pl.Int64,
            "bytes": pl.Int64,
            "nodes": pl.List(pl.String),
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """A row for each node, in their order: `name`, `rack` (null without one), `weight` (a part of the cluster,
        relative), and `bytes`, what was read of all that it keeps, copies among it."""
        rows = [(node["name"], node.get("rack"), node["weight"]) for node in self._plan["nodes"]]
        schema = {"name": pl.String, "rack": pl.String, "weight": pl.Float64}
        nodes = pl.DataFrame(rows, schema=schema, orient="row", strict=False)
        kept = self.buckets.select("bytes", name="nodes").explode("name").group_by("name").agg(pl.col("bytes").sum())
        return nodes.join(kept, on="name", how="left", maintain_order="left").with_columns(pl.col("bytes").fill_null(0))

    @cached_property
    def import_cost(self) -> pl.DataFrame:
        """Two rows, ways to bring the records to their nodes: `queues` (`central`, in one process, or `per_datanode`),
        `time_s`, `memory_bytes` where most is, `transfer_bytes` between nodes, `fits` (in memory)."""
        ways = {"central": "central_queues", "per_datanode": "queue_per_datanode"}
        rows = [{"queues": name, **self.document["import"][key]} for name, key in ways.items()]
        numbers = {"time_s": pl.Float64, "memory_bytes": pl.Int64, "transfer_bytes": pl.Int64}
        return pl.DataFrame(rows, schema={"queues": pl.String, **numbers, "fits": pl.Boolean})

    def __repr__(self) -> str:
        runs = self.runs_to_break_even
        told = f"pays after {runs} runs" if self.pays else f"does not pay: {self.why_not}"
        return f"<Placement of {self.document['bytes']} bytes on {self.document['nodes']} nodes: {told}>"


class Jobs:
    """What histories of jobs say of placement by key."""

    def __init__(self, text: str) -> None:
        #: What `trunkline kat plan --history --json` prints, byte for byte.
        self.json = text

    @cached_property
    def document(self) -> dict[str, Any]:
        """The JSON as Python's lists and dictionaries."""
        found: dict[str, Any] = json.loads(self.json)
        return found

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """A row for each job: `job`, `files` that it reads, `shuffle_bytes`, `reduces`, `pairs_per_record`,
        `saved_bytes` by a layout by its key, `key` (`key_is_rule`: `plan` takes it), `why_not` where there is none."""
        return pl.DataFrame(self.document["jobs"], schema=_JOBS)

    @cached_property
    def files(self) -> pl.DataFrame:
        """A row for each set of files and each key by which jobs reduce it: `files`, `key`, `jobs` (how many),
        `shuffle_bytes`, `saved_bytes`."""
        return pl.DataFrame(self.document["files"], schema=_FILES)

    def __repr__(self) -> str:
        return f"<Jobs on {self.document['nodes']} nodes>\n{self.files}"


_JOBS: Mapping[str, Any] = {
    "job": pl.String,
    "files": pl.String,
    "shuffle_bytes": pl.Int64,
    "reduces": pl.Int64,
    "pairs_per_record": pl.Float64,
    "saved_bytes": pl.Int64,
    "key": pl.String,
    "key_is_rule": pl.Boolean,
    "why_not": pl.String,
}
_FILES: Mapping[str, Any] = {
    "files": pl.String,
    "key": pl.String,
    "jobs": pl.Int64,
    "shuffle_bytes": pl.Int64,
    "saved_bytes": pl.Int64,
}


def _nodes(nodes: int | PathLike | Sequence[str]) -> str:
    if isinstance(nodes, int):
        return str(nodes)
    return os.fspath(nodes) if isinstance(nodes, str | os.PathLike) else ",".join(nodes)


def plan(
    *files: PathLike,
    nodes: int | PathLike | Sequence[str],
    key: str | None = None,
    key_type: str | None = None,
    engine: str = "mapreduce",
    hash: str | None = None,
    buckets: int | None = None,
    replicas: int = 3,
    sample: float | None = None,
    layout: str = "whole",
    value: int | None = None,
    combiner: bool = False,
    present: bool = False,
    second: str | None = None,
    second_type: str | None = None,
    second_copies: int = 1,
    modified: int | None = None,
    redistribute_after: int | None = None,
    rate: str = "1 Gbit/s",
    block: str = "128 MB",
    previous: PathLike | None = None,
    progress: Progress = False,
) -> Placement:
    """Says what placing records by key would save a job's shuffle, what it costs, and when it does not pay.

    Other threads of Python go on meanwhile; Ctrl-C ends it.

    Args:
        files: files of records, or folders of them: text with a record a line, plain or compressed, SequenceFile, Avro
            or Parquet.
        nodes: how many; their names, with optional rack and weight (`a@rack-1=2`); or a file of such names.
        key: where the key of a record is: `first-tab` (of text, where left out), `column:N`, `column:N:DELIMITER`,
            `regex:PATTERN`, `json:PATH`, `tokens`, `line`; `column:NAME` of Avro and Parquet, `key` of SequenceFile.
        key_type: the key's type in the engine, as `text`, `int`, `long`; that of the files where left out.
        engine: who runs the job: `mapreduce`, `spark`, `hive`, `iceberg`.
        hash: the hash by which it partitions; the engine's usual one where left out.
        buckets: 1 to 1,000,000; 64 a node where left out.
        replicas: copies of each record, 1 to 16.
        sample: the part of the records to read, above 0 and up to 1; all up to 1 GB, else 0.01, where left out.
        layout: what is laid out: `whole` records by their first key, `split`, a record for each key with its value,
            or `projected`, the keys alone.
        value: bytes of the value that the job emits with each key, up to 2^30; the whole record where left out.
        combiner: the job has a combiner, or combines on the map side as Spark's `reduceByKey`: what it leaves is
            counted, of all records, and keys too heavy for a node are split.
        present: the data are in HDFS already, and are written anew.
        second: another key for the same data: one of the copies is a second file, laid out by it.
        second_type: its type; `key_type` where left out.
        second_copies: copies of the second file; the first one has the others.
        modified: records modified since `previous`, which stand where they were written.
        redistribute_after: redistribute once so many are modified; as many as fill a block on each node where left out.
        rate: rate of a node's interface, with its unit, for the import's time.
        block: a block of HDFS, with its unit.
        previous: an earlier plan of the same data (`Placement.save`): what has room where it stands stays there.
        progress: whether, or to whom, to tell how far the files are read.
    """
    if not files:
        raise InputError("there are no files of records")
    inner = _trunkline.place(
        list(files),
        _nodes(nodes),
        key,
        key_type,
        engine,
        hash,
        None if buckets is None else _whole("buckets", buckets, 1, 1_000_000),
        _whole("replicas", replicas, 1, 16),
        sample,
        layout,
        None if value is None else _whole("value", value, 0, 1 << 30),
        combiner,
        present,
        second,
        second_type,
        _whole("second_copies", second_copies, 1, 15),
        None if modified is None else _whole("modified", modified, 0, 1 << 63),
        None if redistribute_after is None else _whole("redistribute_after", redistribute_after, 1, 1 << 63),
        rate,
        block,
        previous,
        _told(progress, 1),
    )
    return Placement(inner)


def jobs(*histories: PathLike, nodes: int | PathLike | Sequence[str]) -> Jobs:
    """Says of recorded jobs which of their files, laid out by key, would save which of their shuffles.

    Args:
        histories: files or folders, as `import_history` takes them.
        nodes: as `plan` takes them.
    """
    return Jobs(_trunkline.place_jobs(list(histories), _nodes(nodes)))
