"""A sweep's rows on a real HDFS by WebHDFS, and on a server of S3's protocol by s3fs: `scripts/study-stores` runs it.

TRUNKLINE_STORE is an address there, without anything at it.
"""

import os
from pathlib import Path

import fsspec
import polars as pl
import pytest

import trunkline
from trunkline import _dask

WHERE = os.environ["TRUNKLINE_STORE"]


def rows(fs: fsspec.AbstractFileSystem, root: str) -> pl.DataFrame:
    fs.invalidate_cache()
    return pl.concat([pl.read_parquet(fs.cat_file(name)) for name in fs.ls(root, detail=False)]).sort("run")


def test_a_dataset_is_written_and_mended(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_dask, "PART_ROWS", 3)
    out = plan.parent / "out"
    swept = trunkline.sweep(plan, out=out, dataset=f"{WHERE}/sweep")
    fs, root = fsspec.core.url_to_fs(f"{WHERE}/sweep")
    names = sorted(fs.ls(root, detail=False))
    # Eight runs, three to a file; nothing of the way there is left.
    assert [name.rsplit("/", 1)[1] for name in names] == [f"part-{number:06}.parquet" for number in range(3)]
    assert rows(fs, root).equals(swept.runs.sort("run"))
    # Others leave half of a file, and remove one.
    fs.pipe_file(f"{root}/part-000009.parquet.unfinished", b"PAR1 half")
    fs.rm_file(names[1])
    trunkline.sweep(plan, out=out, dataset=f"{WHERE}/sweep")
    assert rows(fs, root).equals(swept.runs.sort("run"))
    assert len(fs.ls(root, detail=False)) == 3
    # Another sweep's rows are not mixed with them.
    plan.write_text(plan.read_text().replace("seeds = 2", "seeds = 1"))
    with pytest.raises(trunkline.OutputError, match="holds runs of another sweep"):
        trunkline.sweep(plan, out=plan.parent / "other", dataset=f"{WHERE}/sweep")


def test_what_is_not_there_or_not_allowed_is_told_before_any_run(plan: Path) -> None:
    refused = os.environ["TRUNKLINE_STORE_REFUSED"]
    with pytest.raises(trunkline.OutputError, match=f"cannot write a dataset at {refused}: "):
        trunkline.sweep(plan, out=plan.parent / "out", dataset=refused)
    assert not list(plan.parent.glob("out/runs/*"))
